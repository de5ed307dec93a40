# Makes single edits to how blocks of K are added up under scales of their own, by
# an epilogue or by the warps that multiply, and asks `blockscale verify` about each:
# scales of another block, row or column, a sum that is not multiplied or not added, a
# block that is left out.
#
# usage: mutate_promoted.py FILE.mlir FILE.ptx FOLDER BLOCKS [OPTIONS OF verify]
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
blocks = int(sys.argv[4])
ptx = Ptx.read(ptx_path)
lines, places = ptx.lines, ptx.places
# Of a byte where loads are of bytes, which are numbers of e4m3 or e5m3 then.
of_bytes = bool(places(r"ld\.global\.b8"))
SCALE_BYTES = 1 if of_bytes else 4


def moved(at, step):
    """The load reads so many bytes further."""
    offset = re.search(r"\[%rd\d+(\+(-?\d+))?\]", lines[at])
    return ptx.replaced(at, r"(\[%rd\d+)(\+-?\d+)?\]",
                        rf"\g<1>+{int(offset.group(2) or 0) + step}]")


def spread(found, count):
    """So many of them, from the first to the last."""
    if len(found) <= count:
        return found
    return [found[i * (len(found) - 1) // (count - 1)] for i in range(count)]


def all_mutations():
    loads = r"ld\.global\.b8" if of_bytes else r"ld\.global\.b32"
    for number, at in enumerate(spread(ptx.some(loads), 24)):
        for name, step in (("next block", 1), ("block before", -1),
                           ("next row", blocks)):
            yield f"{name} for scale {number}", moved(at, step * SCALE_BYTES)
    # A window of scales at once, in halves.
    for number, at in enumerate(places(r"ld\.global\.v2\.b64")):
        for name, step in (("behind", 16), ("before", -16)):
            yield f"half a window {name} load {number}", moved(at, step)
    # What one lane has for all, of each block of a window.
    for number, at in enumerate(places(r"shfl\.sync\.idx")):
        lane = int(re.search(r", (\d+), 31, -1;", lines[at])[1])
        for name, other in (("next", lane + 1), ("last", 31)):
            yield f"scale of the {name} lane by exchange {number}", ptx.replaced(
                at, r", \d+, 31, -1;", f", {other}, 31, -1;")
    # The scales of an accumulator in shared memory, of rows and of columns.
    stores = [at for at in places(r"st\.shared\.b32")
              if re.search(r"shfl|mul\.rn\.f32|mbarrier\.try_wait",
                           "\n".join(lines[at - 60:at]))]
    for number, at in enumerate(spread(stores, 8)):
        yield f"without store {number} of scales", ptx.dropped(at)
        yield f"store {number} of scales a place further", moved(at, 4)
    of_scales = [at for at in places(r"ld\.shared\.(?:v[24]\.)?b32")
                 if any("tcgen05.ld" in line for line in lines[at:at + 40])]
    for number, at in enumerate(of_scales):
        for name, step in (("next row or column", 4), ("next 32 rows", 128)):
            yield f"{name} for load {number} of scales", moved(at, step)
    for number, at in enumerate(spread(ptx.some(r"fma\.rn\.f32x2"), 8)):
        yield f"no factor in sum {number}", ptx.replaced(
            at, r"fma\.rn\.f32x2(\s+%rd\d+), (%rd\d+), %rd\d+, (%rd\d+)",
            r"add.rn.f32x2\1, \2, \3")
        yield f"nothing before sum {number}", ptx.replaced(
            at, r"fma\.rn\.f32x2(\s+%rd\d+), (%rd\d+), (%rd\d+), %rd\d+",
            r"mul.rn.f32x2\1, \2, \3")
    for number, at in enumerate(spread(places(r"mul\.rn\.f32 "), 8)):
        yield f"sum for product {number} of scales", ptx.replaced(
            at, r"mul\.", "add.")
    for name, pattern, new in () if not of_bytes else (
            ("exponent", r"shl\.b32 .*, (?:19|20);", ", 21;"),
            ("bias", r"mul\.rn\.f32 .*, 0f7[7BD][08]00000;", ", 0f7C000000;"),
            ("magnitude", r"and\.b(?:16|32) .*, 127;", ", 63;")):
        for number, at in enumerate(spread(places(pattern), 3)):
            yield f"{name} {number} of a scale", ptx.replaced(
                at, r", \w+;", new)
    # Warps that multiply have their sums at hand.
    of_warps = bool(places(r"mma\.sync"))
    for number, at in enumerate([] if of_warps else ptx.some(r"tcgen05\.ld\.")):
        yield f"column for load {number}", ptx.replaced(
            at, r"\[(%r\d+)(\+\d+)?\]", r"[\1+1]")
    # What begins or ends a block, in every role.
    for number, at in enumerate(places(rf"setp\.(?:ne|eq)\S*\s+%p\d+, %r\d+, {blocks};")):
        yield f"a block less by comparison {number}", ptx.added(
            at, r", (\d+);", -1)
        yield f"a block more by comparison {number}", ptx.added(
            at, r", (\d+);", 1)
    # The first instruction of a block overwrites what the accumulator had.
    for number, at in enumerate([] if of_warps else ptx.some(r"tcgen05\.mma\.")):
        flag = re.search(r", (%p\d+|0|1);", lines[at])
        if not flag:
            continue
        yield f"accumulation of instruction {number}", ptx.replaced(
            at, r", (%p\d+|0|1);", ", %flipped;" if flag[1][0] == "%"
            else f", {1 - int(flag[1])};")


mutations.report(all_mutations(), folder,
                 mutations.verifier(source, "--num-sms=2", *sys.argv[5:]))
