# Makes single edits to the PTX of a kernel whose tiles have two instructions beside each
# other: what each of them multiplies, which scales it takes and where its sums go, which
# rows of B come to which place, and, where both find their scales in one region, how far
# apart those lie and when the sums of a tile are handed over. Prints one line for each
# edit that nobody noticed, then how many there were.
#
# usage: mutate_wide.py FILE.mlir FILE.ptx FOLDER [VERIFY OPTIONS...]
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
lines = ptx.lines
MMA = (r"tcgen05\.mma\S+ \[(%r\d+)\], (%rd\d+), (%rd\d+), (%r\d+), \[(%r\d+)\], "
       r"\[(%r\d+)\]")


def operands(at):
    """Sums, A, B, descriptor, scales of A and of B."""
    return re.search(MMA, lines[at]).groups()


multiplications = ptx.some(r"tcgen05\.mma")
FIRST = multiplications[0]
SECOND = next(at for at in multiplications
              if operands(at)[0] != operands(FIRST)[0])
[LOAD] = ptx.some(r"tcgen05\.ld")
COPIES = [at for at in ptx.some(r"tcgen05\.cp") if at < FIRST]
# The register that the first copy to a region of its own names, too.
HAS_REGIONS = any(f"[{operands(SECOND)[5]}]" in lines[at] for at in COPIES)


def numbers(name, at, *differences):
    for difference in differences:
        yield (f"{name}: {difference:+}",
               ptx.added(at, r", (-?\d+);", difference))


def instructions():
    """Of each register of the second one, what makes it another than the first's."""
    sums, _, ofB, descriptor, _, scales = operands(SECOND)
    yield from numbers("sums", ptx.definition(sums, SECOND), -64, 64)
    yield from numbers("scales of B", ptx.definition(scales, SECOND), -2, 2, 6)
    for name, position in (("sums", 0), ("B", 2), ("descriptor", 3), ("scales", 5)):
        own, other = operands(SECOND)[position], operands(FIRST)[position]
        yield (f"{name} of the first one",
               ptx.replaced(SECOND, re.escape(own) + r"\b", other))
    own = operands(FIRST)[3]
    wrong = re.sub(re.escape(own) + r"\b", descriptor, lines[FIRST])
    # Its definition comes later.
    definition = lines[ptx.definition(descriptor, SECOND)]
    yield "descriptor of the second one", ptx.edited(
        FIRST, f"{definition}\n{wrong}")
    for at in multiplications:
        yield f"drop instruction, line {at + 1}", ptx.dropped(at)


def words():
    """The scales of the following steps of K lie further apart than one instruction's
    would."""
    for at in multiplications[1:]:
        scales = operands(at)[5]
        where = ptx.definition(scales, at)
        if scales not in (operands(FIRST)[5], operands(SECOND)[5]):
            yield from numbers(f"word of scales, line {at + 1}", where, -4)


def shifts():
    """Every other tile begins in the middle of 128 rows of scales."""
    scales = ptx.definition(operands(FIRST)[5], FIRST)
    shift = re.search(r", (%r\d+), ", lines[scales])[1]
    yield "no shift", ptx.replaced(ptx.definition(shift, scales), r", \d+;", ", 0;")


def copies():
    """To the three regions of scales, and what brings those."""
    for number, at in enumerate(COPIES):
        yield f"drop copy {number}", ptx.dropped(at)
    for number, at in enumerate(ptx.some(r"cp\.async\.bulk\.tensor\.4d")):
        yield f"drop load of scales {number}", ptx.dropped(at)
        group = re.search(r"\{%r\d+, %r\d+, (%r\d+),", lines[at])[1]
        later = re.sub(re.escape(group) + r"\b", "%other", lines[at])
        yield f"group of scales {number}: +1", ptx.edited(
            at, f"\t{{ .reg .b32 %other;\n\tadd.s32 \t%other, {group}, 1;\n"
                f"{later} }}")


def boxes():
    for number, at in enumerate(ptx.some(r"cp\.async\.bulk\.tensor\.3d")):
        target, row = re.search(r"\[(%rd\d+)\], \[%rd\d+, \{%r\d+, (%r\d+)",
                                lines[at]).groups()
        yield f"drop load {number}", ptx.dropped(at)
        if number == 0:
            continue
        later = re.sub(re.escape(row) + r"\b", "%other", lines[at])
        yield f"row of box {number}: +32", ptx.edited(
            at, f"\t{{ .reg .b32 %other;\n\tadd.s32 \t%other, {row}, 32;\n"
                f"{later} }}")
        place = ptx.definition(target, at)
        address = re.search(r", (%r\d+);", lines[place])[1]
        yield from numbers(f"place of box {number}",
                           ptx.definition(address, place), -4096)
    [expected] = ptx.some(r"arrive\.expect_tx")
    size = re.search(r", (%r\d+);", lines[expected])[1]
    yield from numbers("bytes", ptx.definition(size, expected), -4096)


def accumulators():
    """Where the next tile's sums lie, for who multiplies and for who stores."""
    for name, before in (("multiplied", FIRST), ("stored", LOAD)):
        place = [at for at in ptx.some(r"shl\.b32.*, 7;") if at < before][-1]
        yield from numbers(f"next accumulator, {name}", place, -1, 1)


def chunks():
    """From the first column on or from the last, until the next tile may begin."""
    last = [at for at in ptx.some(r"mov\.b32 \t%r\d+, 9;") if at < LOAD][-1]
    yield from numbers("last chunk", last, -1)
    count = [at for at in ptx.some(r"setp\.ne\.b32.*, 10;")][-1]
    yield from numbers("chunks", count, -1)
    shared = [at for at in ptx.some(r"setp\.\w+\.b32.*, 5;") if at > LOAD][0]
    yield from numbers("last shared chunk", shared, -1, 5)


def all_mutations():
    own = (copies,) if HAS_REGIONS else (words, shifts, accumulators, chunks)
    for family in (instructions, boxes, *own):
        yield from family()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
