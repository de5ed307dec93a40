# Makes single edits to the PTX of a kernel whose rows are gathered by number, each of
# how lanes find the numbers, of what they load by them or of how the epilogue finds the
# scale of a row, and asks `blockscale verify` about each. Prints one line per edit that
# nobody noticed, then how many there were.
#
# usage: mutate_gathered.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx, line_edits

source, ptx_path, folder, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
GATHER = (r"tile::gather4\S* \[%rd\d+\], \[%rd\d+, "
          r"\{(%r\d+), (%r\d+), (%r\d+), (%r\d+), (%r\d+)\}\], \[%rd\d+\]")


def regions():
    """Where a lane's first row in a box is found; from its number in the product to the
    load by numbers; and, where rows have scales, from a row to its scale."""
    lane = ptx.some(r"\tand\.b32 \t%r\d+, %r\d+, 124;")[0]
    yield lane - 1, lane + 3
    gather = ptx.some(GATHER)[-1]
    four = [at for at in ptx.some(r"\tld\.global\.v2\.b64") if at < gather][-1]
    count = [at for at in ptx.some(r"\tsetp\.lt\.s32 \t%p\d+, %r\d+, 4;")
             if at < four][-1]
    count = ptx.definition(re.search(r", (%r\d+), 4;", ptx.lines[count]).group(1), count)
    yield count - 2, gather
    for at in ptx.places(r"\tsetp\.ge\.u32 \t%p\d+, %r\d+, %r\d+;"):
        yield at - 11, at + 8


def edits():
    for begin, end in regions():
        for at in range(begin, end):
            line = ptx.lines[at]
            name = f"line {at + 1}, '{line.strip()}'"
            if "mbarrier" in line or "tensor.3d" in line:
                continue
            yield from line_edits(ptx, at, ops=("add", "sub", "shl", "and"))
            if re.search(r"\tselp\.b32 \t%r\d+, %r\d+, -1,", line):
                yield (f"{name}: no row", ptx.replaced(
                    at, r"selp\.b32 \t(%r\d+), %r\d+, -1, %p\d+",
                    r"mov.b32 \t\1, -1"))
                yield (f"{name}: every row", ptx.replaced(
                    at, r"selp\.b32 \t(%r\d+), (%r\d+), -1, %p\d+",
                    r"mov.b32 \t\1, \2"))
    for at in ptx.some(GATHER):
        column, *rows = re.search(GATHER, ptx.lines[at]).groups()
        braced = r"\{%r\d+, %r\d+, %r\d+, %r\d+, %r\d+\}"
        for i in range(4):
            other = [column, *rows]
            other[i + 1] = rows[(i + 1) % 4]
            yield (f"line {at + 1}: row {i} as the one after it", ptx.replaced(
                at, braced, "{" + ", ".join(other) + "}"))
        yield (f"line {at + 1}: the elements of another row's number", ptx.replaced(
            at, braced, "{" + ", ".join([rows[0], *rows]) + "}"))
        yield f"drop line {at + 1}, the load", ptx.dropped(at)


EQUIVALENT = [
    (r".*selp\.b32 .*: every row", "what rows behind the group's end are, nobody stores"),
    (r".*'setp\.gt\.s32 .*, [0-3];': (setp\.ge|-1)", "a row more behind the group's end, "
     "which nobody stores"),
    (r".*'and\.b32 .*, 124;': \+1", "four times a number has no lowest bit"),
    (r".*'(and\.b64 .*, 15;': (the first alone|-1)|setp\.ne\.b64 .*, 0;': [+-]1)",
     "the numbers are loaded one by one, or where their address has bit 2 or 3"),
]
EQUIVALENT += [
    (rf"line {at}, 'setp\.ge\.s32", "the row behind the group's end has the scale of row "
     "0, and is not stored") for at in ptx.places(r"\tsetp\.ge\.u32")]
# Groups begin at multiples of four rows or not, and end with each number of rows of four.
RUNS = [mutations.verifier(source, *flags, f"--seed={seed}", f"--m={rows}")
        for seed, rows in ((4, "453,455"), (5, "465,467"), (1, "391"))]
mutations.report(edits(), folder, mutations.missed_by_all(*RUNS), equivalent=EQUIVALENT)
