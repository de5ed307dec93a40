# Makes single edits to the PTX of a kernel that multiplies with mma.sync, and
# asks `blockscale verify` about each. Prints one line per edit that nobody
# noticed, then how many there were.
#
# usage: mutate_warp.py FILE.mlir FILE.ptx FOLDER CHIP
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations

source, ptx_path, folder, chip = sys.argv[1:5]
with open(ptx_path) as file:
    text = file.read()

# The instruction and its operands: d, a, b, c, metadata if A is sparse, and of
# kinds that have them scales of A and of B with their byte and thread ids.
MMA = re.compile(
    r"mma\.s(?:ync|p::)[^\n]*\n\s*(\{.*?\}),\s*(\{.*?\}),\s*(\{.*?\}),\s*(\{.*?\})"
    r"(?:,(?:\s*(%r\d+),\s*(?:0x)?0,)?\s*(%r\d+), \{(%rs\d+), (%rs\d+)\},\s*(%r\d+), \{(%rs\d+), (%rs\d+)\})?;")
(D, A, B, C, METADATA, SFA, BYTE_A, THREAD_A, SFB, BYTE_B,
 THREAD_B) = range(1, 12)
constants = {name: int(value) for name, value in
             re.findall(r"mov\.b16 \t(%rs\d+), (\d+);", text)}


def edited(match, group, replacement):
    assert match.group(group) != replacement
    return text[:match.start(group)] + replacement + text[match.end(group):]


def found(pattern):
    return list(re.finditer(pattern, text))


def scale_ids(name, mma, scales):
    """Each id replaced by every other that the instruction has."""
    for group, side, what, legal in (
        (BYTE_A, "A", "byte", range(0, 4, scales)),
        (THREAD_A, "A", "thread", range(2)),
        (BYTE_B, "B", "byte", range(0, 4, scales)),
        (THREAD_B, "B", "thread", range(4)),
    ):
        for value in legal:
            if value != constants[mma.group(group)]:
                yield (f"{what} id {value} for {side} of {name}",
                       edited(mma, group, str(value)))


def all_mutations():
    mmas = list(MMA.finditer(text))
    vector = re.search(r"scale_vec::(\d)X", text)
    scales = int(vector.group(1)) if vector else 0
    for number in range(0, len(mmas), 5):
        mma, name = mmas[number], f"mma {number}"
        if scales:
            yield from scale_ids(name, mma, scales)
        if number % 10 == 0:
            yield f"drop {name}", edited(mma, 0, "")
    first = mmas[0]
    if scales:
        yield "registers of scales exchanged", edited(
            first, 0, first.group(0).replace(first.group(SFA), "%tmp").replace(
                first.group(SFB), first.group(SFA)).replace(
                    "%tmp", first.group(SFB)))
    for group, name in ((A, "A"), (B, "B"), (C, "C")):
        other = next(m for m in mmas if m.group(group) != first.group(group))
        yield f"another {name}", edited(first, group, other.group(group))
    for number in range(0, len(mmas), 3) if first.group(METADATA) else ():
        used = mmas[number].group(METADATA)
        for other in sorted({m.group(METADATA) for m in mmas} - {used}):
            yield f"metadata {other} for mma {number}", edited(
                mmas[number], METADATA, other)
    for mine, other in ((".f32.bf16.bf16.f32", ".f32.f16.f16.f32"),
                        (".s32.s8.s8.s32", ".s32.u8.s8.s32"),
                        (".s32.s8.s8.s32", ".s32.s8.u8.s32")):
        if mine in first.group(0):
            yield f"elements of {other}", edited(
                first, 0, first.group(0).replace(mine, other))
    # The shift of 4-bit elements of padded rows.
    for load in found(r"ldmatrix[^\n]*b4x16_p64 \{(.*?)\}")[:2]:
        for register in load.group(1).split(", "):
            shift = re.search(
                rf"shl\.b32 \t(%r\d+), {register}, 2;", text)
            yield f"no shift of {register}", edited(
                shift, 0, f"mov.b32 \t{shift.group(1)}, {register};")
    for load in found(r"b4x16_p64")[:1]:
        yield "6-bit load", edited(load, 0, "b6x16_p32")
    for load in found(r"b6x16_p32")[:1]:
        yield "4-bit load", edited(load, 0, "b4x16_p64")
    loads = found(r"ldmatrix[^\n]*\[(%rd\d+)(?:\+\d+)?\];")
    for number, load in enumerate(loads[1:4]):
        yield f"address of ldmatrix 0 for {number + 1}", edited(
            load, 1, loads[0].group(1))
    # Rows that lie together in memory: turned, each of its line of K and its rows.
    for number, load in enumerate(found(r"ldmatrix[^\n]*(\.trans)[^\n]*\[%rd\d+()")[::3]):
        yield f"no turn {number}", edited(load, 1, "")
    for load in found(r"ldmatrix[^\n]*\.trans[^\n]*\[%rd\d+(\+\d+)\];")[::3]:
        offset = int(load.group(1))
        for other, what in ((128, "line"), (16, "rows"), (2048, "step")):
            yield (f"another {what} at {load.group(0)}",
                   edited(load, 1, f"+{offset + other}"))
    for number, load in enumerate(found(r"ld\.shared\.b32 \t%r\d+, \[(%rd\d+)\];")):
        yield f"scales or metadata 4 bytes further {number}", edited(
            load, 1, load.group(1) + "+4")
    # A tail keeps the scales before the end of K by a mask.
    if scales > 1:
        masks = [m for m in found(r"and\.b32 +\t(%r\d+), (%r\d+), (-?\d+);")
                 if m.group(1) in (mmas[-1].group(SFA), mmas[-1].group(SFB))]
        assert masks
        for number, mask in enumerate(masks):
            yield f"no mask {number}", edited(mask, 3, "-1")
    for number, load in enumerate(found(r"cp\.async\.bulk\.tensor[^\n]*;")):
        yield f"drop load {number}", edited(load, 0, "")
    for number, wait in enumerate(
            found(r"mbarrier\.try_wait\.parity[^\n]* (%r\d+);")):
        yield f"parity of wait {number}", edited(
            wait, 0, mutations.flipped(wait.group(0), wait.group(1)))
    yield "drop expect_tx", edited(
        found(r"mbarrier\.arrive\.expect_tx[^\n]*;")[0], 0, "")
    yield "drop release", edited(
        found(r"mbarrier\.arrive\.shared[^\n]*;")[0], 0, "")


mutations.report(
    ((name, mutated.splitlines()) for name, mutated in all_mutations()), folder,
    mutations.verifier(source, f"--target={chip}", "--num-sms=2"))
