# Makes single edits to the PTX of a kernel that stores D by TMA, each of how its
# boxes are written, stored or used again, and asks `blockscale verify` about
# each. Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_stores.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import boxes
import mutations
from mutations import Ptx

source, ptx_path, folder, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
STORE = r"cp\.async\.bulk\.tensor\.3d\.global\.shared::cta.*\.bulk_group"
WAIT = r"cp\.async\.bulk\.wait_group\.read"


def waits():
    # The last one is only for memory that goes with the CTA: protocol.py.
    for number, at in enumerate(ptx.some(WAIT)[:-1]):
        yield f"drop wait {number}", ptx.dropped(at)
        yield (f"wait {number} for one less",
               ptx.added(at, r"read\s+(\d+);", 1))
    for number, at in enumerate(ptx.some(r"cp\.async\.bulk\.commit_group")):
        yield f"drop commit {number}", ptx.dropped(at)


def fences():
    fences = ptx.some(r"fence\.proxy\.async")
    for number, store in enumerate(ptx.some(STORE)):
        before = [at for at in fences if at < store]
        assert before, f"no fence in front of store {number}"
        yield f"no fence in front of store {number}", ptx.dropped(before[-1])
        # Behind the store instead.
        lines = ptx.dropped(before[-1])
        yield (f"the fence behind store {number}",
               lines[:store + 1] + [ptx.lines[before[-1]]] + lines[store + 1:])


def stores():
    for number, at in enumerate(ptx.some(STORE)):
        yield f"no store {number}", ptx.dropped(at)
        column, row, box = re.search(
            r"\{(%r\d+), (%r\d+), %r\d+\}\], \[(%rd\d+)\]",
            ptx.lines[at]).groups()
        yield from boxes.displaced(ptx, at, f"store {number}", column, row, box)


def all_mutations():
    yield from waits()
    yield from fences()
    yield from stores()
    yield from boxes.row_pieces(ptx, r"st\.shared\.v4\.(b32|u32)")


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
