# Makes single edits to the PTX of a kernel that loads C by TMA, each of how its
# boxes come, are read or used again, and asks `blockscale verify` about each.
# Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_addends.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
PLACES = (r"\[(%rd\d+)\], \[%rd\d+, \{(%r\d+), (%r\d+), %r\d+\}\], "
          r"\[(%rd\d+)\]")


def behind(pattern, first):
    return [at for at in ptx.some(pattern) if at > first]


# The epilogue comes behind the main loop.
multiplied = ptx.some(r"tcgen05\.mma")[-1]
LOADS = behind(r"cp\.async\.bulk\.tensor\.3d\.shared", multiplied)
EXPECTED = behind(r"mbarrier\.arrive\.expect_tx", multiplied)
READ = r"ld\.shared\.v(4\.(b32|u32|f32)|2\.(b64|u64))"
assert len(LOADS) == len(EXPECTED) > 1


def loads():
    for number, at in enumerate(LOADS):
        name = f"load {number}"
        yield f"no {name}", ptx.dropped(at)
        box, column, row, barrier = re.search(PLACES, ptx.lines[at]).groups()
        yield from boxes.displaced(ptx, at, name, column, row, box)
        change = f"\t{{}}.s64 \t{barrier}, {barrier}, 8;"
        yield (f"{name} signals another barrier",
               ptx.edited(at, "\n".join([change.format("add"), ptx.lines[at],
                                         change.format("sub")])))


def expected():
    for number, at in enumerate(EXPECTED):
        yield f"nobody expects load {number}", ptx.dropped(at)
        bytes_of = re.search(r", (%r\d+);", ptx.lines[at]).group(1)
        for by in (16, -16):
            change = f"\tadd.s32 \t{bytes_of}, {bytes_of}, {{}};"
            yield (f"load {number} of {by:+} bytes",
                   ptx.edited(at, "\n".join([change.format(by), ptx.lines[at],
                                             change.format(-by)])))


def waits():
    """The wait for a box stands in front of the first piece of a row."""
    tried = ptx.some(r"mbarrier\.try_wait")
    for at in sorted({[at for at in tried if at < read][-1]
                      for read in ptx.some(READ)}):
        name = f"wait in line {at + 1}"
        done = re.search(r"[\t ](%?[pP]\d+), ", ptx.lines[at]).group(1)
        yield f"no {name}", ptx.edited(at, f"\tsetp.eq.u32 {done}, 0, 0;")
        parity = re.search(r"(%r\d+)(, %?r?\d+)?;", ptx.lines[at]).group(1)
        yield f"the other parity of {name}", ptx.edited(
            at, mutations.flipped(ptx.lines[at], parity))
        barrier = re.search(r"\[(%rd\d+)\]", ptx.lines[at]).group(1)
        change = f"\t{{}}.s64 \t{barrier}, {barrier}, 8;"
        yield (f"another box of {name}",
               ptx.edited(at, "\n".join([change.format("add"), ptx.lines[at],
                                         change.format("sub")])))


def rounds():
    """Lanes read a box before the next load into it. Those in front of a tile's
    first loads meet at elect.sync, too; with a round for each tile there are no
    others."""
    between = [at for at in behind(r"bar\.warp\.sync", ptx.some(READ)[-1])
               if at < LOADS[-1]]
    for number, at in enumerate(between):
        yield f"drop bar.warp.sync {number}", ptx.dropped(at)


def all_mutations():
    yield from loads()
    yield from expected()
    yield from waits()
    yield from rounds()
    yield from boxes.row_pieces(ptx, READ)


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
