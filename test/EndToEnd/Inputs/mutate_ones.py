# Makes single edits to how a kernel stores scales of 1, which one of its operands has
# beside those of the other, and how they get to tensor memory: another number in a part of
# them, a part that nobody stores, no fence in front of the copy, no copy or one to where
# the other operand's scales lie. Prints one line for each edit that nobody noticed, then
# how many there were.
#
# usage: mutate_ones.py FILE.mlir FILE.ptx FOLDER [VERIFY OPTIONS...]
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
ptx = Ptx.read(ptx_path)
lines = ptx.lines
copies = ptx.some(r"tcgen05\.cp")
# The first one is that of scales of 1, once for all tiles.
others = sorted({re.search(r"\[(%\w+)", lines[at])[1] for at in copies})


def stores():
    for at in ptx.some(r"st\.shared\.v4\.b32"):
        words = re.search(r"\{(\d+), (\d+), (\d+), (\d+)\};", lines[at])
        if not words:
            continue
        for i in range(1, 5):
            begin, end = words.span(i)
            # One step less of one scale.
            word = int(words[i]) - (1 << 8 * (i - 1))
            yield f"number {i} of store, line {at + 1}", ptx.edited(
                at, f"{lines[at][:begin]}{word}{lines[at][end:]}")
        yield f"drop store, line {at + 1}", ptx.dropped(at)
        branch = [i for i in ptx.places(r"setp\.\w+\.u?s?32 \t%p\d+, %r\d+, \d+;")
                  if i < at]
        if branch:
            yield f"threads of store, line {at + 1}", ptx.added(
                branch[-1], r", (\d+);", -1)


def fences():
    before = ptx.some(r"bar\.sync|barrier\.(cluster|cta)")[0]
    for at in ptx.some(r"fence\.proxy\.async"):
        if at < before:
            yield f"drop fence, line {at + 1}", ptx.dropped(at)


def all_mutations():
    yield from stores()
    yield from fences()
    at = copies[0]
    yield "drop copy", ptx.dropped(at)
    register = re.search(r"\[(%\w+)", lines[at])[1]
    for other in others:
        if other != register:
            yield f"copy to {other}", ptx.replaced(
                at, re.escape(register) + r"\b", other)


mutations.report(all_mutations(), folder,
                 mutations.verifier(source, *sys.argv[4:]),
                 ("immediate", "latest"))
