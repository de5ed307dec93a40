# Makes single edits to the PTX of a kernel whose tiles are computed in halves: which half
# each instruction multiplies and into which accumulator, whose scales are there then,
# when the halves are handed over and waited for, and which columns of D they become.
# Prints one line for each edit that nobody noticed, then how many there were.
#
# usage: mutate_halves.py FILE.mlir FILE.ptx FOLDER [VERIFY OPTIONS...]
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
multiplications = ptx.some(r"tcgen05\.mma")
commits = ptx.some(r"tcgen05\.commit")
copies = ptx.some(r"tcgen05\.cp")
[LOAD] = ptx.some(r"tcgen05\.ld")
# The first instruction of each stage and half.
firsts = [at for before, at in zip([0] + multiplications, multiplications)
          if any(before < other < at for other in copies + commits)
          or lines[at].split("]")[0] != lines[before].split("]")[0]]


def instructions():
    for at in firsts:
        yield f"drop instruction, line {at + 1}", ptx.dropped(at)
        sums, scales = re.search(r"\[(%r\d+)\], .*\[(%r\d+)\], %p", lines[at]).groups()
        others = {re.search(r"\[(%r\d+)\], %p", lines[other])[1]
                  for other in multiplications} - {scales}
        for other in others:
            yield f"scales of the other half, line {at + 1}", ptx.replaced(
                at, rf"\[{scales}\]", f"[{other}]")
        for by in (-128, 128):
            yield f"sums: {by:+}, line {at + 1}", ptx.edited(
                at, f"\t{{ .reg .b32 %other;\n\tadd.s32 \t%other, {sums}, {by};\n"
                    + lines[at].replace(f"[{sums}]", "[%other]", 1) + " }")


def scales():
    for at in copies:
        yield f"drop copy, line {at + 1}", ptx.dropped(at)


def orders():
    """What is handed over or released behind other instructions, or never."""
    for at in commits:
        yield f"drop commit, line {at + 1}", ptx.dropped(at)
        before = [each for each in multiplications + copies if each < at][-1]
        early = (lines[:before] + [lines[at]] + lines[before:at] + lines[at + 1:])
        yield f"commit too early, line {at + 1}", early
    for at in ptx.some(r"mbarrier\.arrive\.release\S+ _,"):
        yield f"drop arrival, line {at + 1}", ptx.dropped(at)


def waits():
    for at in ptx.some(r"mbarrier\.try_wait"):
        if at < copies[0] - 20:
            continue
        yield from mutations.edits_of_wait(ptx, at)


def columns():
    """Of the right half, and of the second part of what a thread loads at once, in D."""
    [half] = [at for at in ptx.some(r"mov\.b32 \t%r\d+, 1;") if commits[-1] < at < LOAD]
    [part] = [at for at in ptx.some(r"mov\.b32 \t%r\d+, 32;") if LOAD < at]
    for at in (half, part):
        yield f"columns of the one before, line {at + 1}", ptx.replaced(
            at, r", \d+;", ", 0;")
    address = re.search(r"\[(%r\d+)\]", lines[LOAD])[1]
    yield f"columns of lanes, line {LOAD + 1}", ptx.edited(
        LOAD, f"\txor.b32 \t{address}, {address}, 64;\n" + lines[LOAD])


def all_mutations():
    for family in (instructions, scales, orders, waits, columns):
        yield from family()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
