# What the scripts share that edit how boxes of D or C go through shared memory.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re


def displaced(ptx, at, name, column, row, box):
    """The copy of a box by TMA at a line, from and to other places; the registers
    hold its coordinates, and its address in shared memory."""
    for what, register, distance in (
            ("column", column, 32), ("column", column, 1), ("row", row, 32),
            ("row", row, 1), ("box", box, 2048), ("box", box, 128)):
        size = "s64" if register == box else "s32"
        change = f"\t{{}}.{size} \t{register}, {register}, {distance};"
        yield (f"the {what} of {name} {distance} further on",
               ptx.edited(at, "\n".join([change.format("add"), ptx.lines[at],
                                         change.format("sub")])))


def row_pieces(ptx, pattern):
    """The pieces of a row in a box, which the swizzle moves."""
    for number, at in enumerate(ptx.some(pattern)):
        yield f"drop piece {number} of a row", ptx.dropped(at)
        # The other half of the row, or of the swizzle.
        address = re.search(r"\[(%rd\d+)\]", ptx.lines[at]).group(1)
        for bit in (16, 32, 128):
            flip = f"\txor.b64 \t{address}, {address}, {bit};"
            yield (f"piece {number} of a row at ^ {bit}",
                   ptx.edited(at, "\n".join([flip, ptx.lines[at], flip])))
