# Makes single edits to a PTX file that change what the kernel computes, and
# asks `blockscale verify` about each. Prints one line per edit that nobody
# noticed, then how many there were. On silicon most of them would be silent.
#
# usage: mutate.py FILE.mlir FILE.ptx FOLDER
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
ptx = Ptx.read(ptx_path)
lines, places, definition = ptx.lines, ptx.some, ptx.definition
edited, replaced, added = ptx.edited, ptx.replaced, ptx.added

MMA = r"tcgen05\.mma.*\[(%r\d+)\], (%rd\d+), (%rd\d+), (%r\d+), \[(%r\d+)\], \[(%r\d+)\]"
copies = places(r"tcgen05\.cp")
mmas = places(MMA)
loads = places(r"cp\.async\.bulk\.tensor")
operands = [re.search(MMA, lines[at]).groups() for at in mmas]


def short_k_mutations():
    for kind, group in (("copy", copies), ("mma", mmas), ("load", loads)):
        for number, at in enumerate(group[:8]):
            yield f"drop {kind} {number}", edited(at, "")
    for number, at in enumerate(places(r"mbarrier\.arrive\.expect_tx")[:2]):
        yield f"drop expect_tx {number}", edited(at, "")
        size = lines[at].rsplit(" ", 1)[1].rstrip(";")
        yield f"expect fewer bytes {number}", added(
            definition(size, at), r", (\d+);", -16
        )
    # The scales of the next instruction, and those of the other operand.
    for number in range(3):
        a, b = operands[number][4:6]
        next_a, next_b = operands[number + 1][4:6]
        # Instructions may have scales in one word, those that share B have its
        # scales in common.
        if next_a != a:
            yield f"A scales of mma {number + 1} for {number}", replaced(
                mmas[number], rf"\[{a}\]", f"[{next_a}]"
            )
        if next_b != b:
            yield f"B scales of mma {number + 1} for {number}", replaced(
                mmas[number], rf"\[{b}\]", f"[{next_b}]"
            )
    a, b = operands[0][4:6]
    yield "scales exchanged", replaced(
        mmas[0], rf"\[{a}\], \[{b}\]", f"[{b}], [{a}]"
    )
    # Descriptors: the start by 32 bytes, the swizzle from 128 to 64 bytes.
    for side in (1, 2):
        at = definition(operands[1][side], mmas[1])
        yield f"start of operand {side}", added(at, r", (-?\d+);", 2)
        yield f"swizzle of operand {side}", added(at, r", (-?\d+);", 1 << 62)
    # The instruction descriptor: a scale id of 2, ue8m0 for ue4m3, half of N,
    # a negated A.
    at = definition(operands[0][3], mmas[0])
    for name, difference in (
        ("SFA id", 2 << 29),
        ("SFB id", 2 << 4),
        ("scale type", 1 << 23),
        ("N", -(1 << 17)),
        ("negate A", 1 << 13),
    ):
        yield f"instruction descriptor: {name}", added(at, r", (-?\d+);", difference)
    yield "accumulator's column", replaced(
        mmas[0], rf"\[{re.escape(operands[0][0])}\]", f"[{operands[0][4]}]"
    )
    # A box at the coordinates of the other operand, and a box of the wrong K.
    for first, second in ((0, 1), (2, 3)):
        row = re.search(r"\{.*, (%r\d+), (%r\d+)\}", lines[loads[second]]).group(1)
        own = re.search(r"\{.*, (%r\d+), (%r\d+)\}", lines[loads[first]]).group(1)
        yield f"coordinates of load {second} for {first}", replaced(
            loads[first], rf"{own}(?=, %r\d+\}})", row
        )
    # K tiles of 256 elements start every 128.
    inner = re.search(r"\{(%r\d+)", lines[loads[0]]).group(1)
    yield "K coordinate", added(definition(inner, loads[0]), r", (\d+);", -1)
    for number, at in enumerate(places(r"mbarrier\.try_wait\.parity")):
        parity = re.search(r"(%r\d+);", lines[at]).group(1)
        yield f"parity of wait {number}", edited(
            at, mutations.flipped(lines[at], parity))
    yield "drop the last commit", edited(places(r"tcgen05\.commit")[-1], "")
    yield "lanes of the accumulator", replaced(
        places(r"tcgen05\.ld")[0], r"32x32b\.x32", "16x64b.x32"
    )


def k96_mutations():
    """Edits of what only kernels with K = 96 have."""
    # Where rows continue: the address of a stage in bits 16 to 29 of a
    # descriptor. Two operands in three stages; no instruction crosses into the
    # first one.
    nexts = places(r"shl\.b32 \t%r\d+, %r\d+, 12;")[-4:]
    for number, at in enumerate(nexts):
        yield f"next buffer {number}", replaced(at, ", 12;", ", 11;")
    # Ids of the instruction before, and K = 64.
    for number in range(1, len(mmas)):
        own, before = operands[number][3], operands[number - 1][3]
        yield f"ids of mma {number - 1} for {number}", replaced(
            mmas[number], rf"{own}, \[", f"{before}, ["
        )
    at = definition(operands[0][3], mmas[0])
    yield "instruction descriptor: K", added(at, r", (-?\d+);", 1 << 31)
    # A word of scales where the next one belongs.
    for number in (1, len(copies) - 2):
        own, other = (
            re.search(r"\[(%r\d+)\]", lines[copies[i]]).group(1)
            for i in (number, number + 1)
        )
        yield f"word of copy {number}", replaced(
            copies[number], rf"\[{own}\]", f"[{other}]"
        )


def wide_mutations():
    """Edits of what only kernels for sm_107 have."""
    # The code of K in bits 3 and 31, or in bit 31 of mxf8f6f4.
    at = definition(operands[0][3], mmas[0])
    is_fp4 = "kind::mxf4" in lines[mmas[0]]
    codes = ({"64": -(1 << 3), "96": (1 << 31) - (1 << 3), "none": 1 << 31}
             if is_fp4 else {"32": 1 << 31})
    for name, difference in codes.items():
        yield f"instruction descriptor: K of {name}", added(
            at, r", (-?\d+);", difference)
    has_rows = "tiled_128x16" in open(source).read()
    for name, difference in (("scale type of two bits", 2 << 23),
                             ("layout of A's scales",
                              (-1 if has_rows else 1) << 26)):
        yield f"instruction descriptor: {name}", added(
            at, r", (-?\d+);", difference)
    # The second word of a row's scales: that of the next instruction, of
    # another group of rows, or none.
    for number in range(len(copies) - 1):
        own, other = (re.search(r"\[(%r\d+)\]", lines[copies[i]]).group(1)
                      for i in (number, number + 1))
        if own != other:
            yield f"word of copy {number}", replaced(
                copies[number], rf"\[{own}\]", f"[{other}]")
    # The upper bit of 15 of start addresses, which those have that lie above
    # 256 KiB.
    with open(ptx_path.removesuffix(".ptx") + ".plan.json") as file:
        plan = json.load(file)
    if plan["kernels"][0]["sharedMemoryBytes"] > 1 << 18:
        # LLVM leaves out low bits that are zero.
        starts = places(r"and\.b32 .*, 32[67]\d\d;")
        yield "14 bits of start addresses", [
            re.sub(r"(?<=, )32[67]\d\d(?=;)",
                   lambda mask: str(int(mask[0]) & 16383), line)
            if number in starts else line for number, line in enumerate(lines)]
    for word in ("alloc", "dealloc"):
        for at in ptx.places(rf"tcgen05\.{word}\.exclusive"):
            yield f"{word} that is not exclusive", replaced(
                at, r"\.exclusive", "")
            yield f"{word} of fewer columns", added(at, r", (\d+);", -32)
            yield f"{word} of more columns than there are", added(
                at, r", (\d+);", 32)
    for at in ptx.places(r"collector::b"):
        yield "one instruction of a pair that shares B", edited(at, "")


def all_mutations():
    yield from short_k_mutations()
    if "sm_107a" in open(source).read():
        yield from wide_mutations()
    if "mma_k = 96" in open(source).read():
        yield from k96_mutations()


mutations.report(all_mutations(), folder,
                 mutations.verifier(source, "--num-sms=2"))
