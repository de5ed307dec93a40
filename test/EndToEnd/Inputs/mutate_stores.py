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
    [store] = ptx.some(STORE)
    before = [at for at in fences if at < store]
    assert before, "no fence in front of the store"
    yield "no fence in front of the store", ptx.dropped(before[-1])
    # Behind the store instead.
    lines = ptx.dropped(before[-1])
    yield ("the fence behind the store",
           lines[:store + 1] + [ptx.lines[before[-1]]] + lines[store + 1:])


def stores():
    [at] = ptx.some(STORE)
    yield "no store", ptx.dropped(at)
    names = re.search(r"\{(%r\d+), (%r\d+), %r\d+\}\], \[(%rd\d+)\]",
                      ptx.lines[at])
    column, row, box = names.groups()
    for what, name, distance in (("column", column, 32), ("column", column, 1),
                                 ("row", row, 32), ("row", row, 1),
                                 ("box", box, 2048), ("box", box, 128)):
        size = "s64" if name == box else "s32"
        change = f"\t{{}}.{size} \t{name}, {name}, {distance};"
        yield (f"the {what} {distance} further on",
               ptx.edited(at, "\n".join([change.format("add"), ptx.lines[at],
                                         change.format("sub")])))


def rows():
    """The pieces of a row, which the swizzle moves."""
    pieces = ptx.some(r"st\.shared\.v4\.(b32|u32)")
    for number, at in enumerate(pieces):
        yield f"drop piece {number} of a row", ptx.dropped(at)
        # The other half of the row, or of the swizzle.
        address = re.search(r"\[(%rd\d+)\]", ptx.lines[at]).group(1)
        for bit in (16, 32, 128):
            flip = f"\txor.b64 \t{address}, {address}, {bit};"
            yield (f"piece {number} of a row at ^ {bit}",
                   ptx.edited(at, "\n".join([flip, ptx.lines[at], flip])))


def all_mutations():
    yield from waits()
    yield from fences()
    yield from stores()
    yield from rows()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
