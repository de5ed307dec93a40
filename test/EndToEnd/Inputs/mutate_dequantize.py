# Makes single edits to a kernel that dequantises, adds up or changes layouts, and asks
# `blockscale verify` about each: another row, block or matrix, another code or scale, a
# factor or a bound that is left out, a store that is left out.
#
# usage: mutate_dequantize.py FILE.mlir FILE.ptx FOLDER EVERY [OPTION...]
#
# Of edits of the same kind there are EVERY at most, from the first place to the last.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

import mutations
from elementwise_mutations import COUNTED, REPLACED, Edits
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
every, options = int(sys.argv[4]), sys.argv[5:]
ptx = Ptx.read(ptx_path)

# A pattern and what takes its place: the first group stays in front.
REPLACED = REPLACED + [
    ("no bound above", r"(\s)min\.NaN\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("no bound below", r"(\s)max\.NaN\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("a bound that a NaN becomes", r"(\smin)\.NaN\.f32", r"\1.f32"),
    ("a bound that a NaN becomes", r"(\smax)\.NaN\.f32", r"\1.f32"),
    ("the same sign", r"(\s)neg\.f32", r"\1mov.b32"),
    ("a factor left out", r"(\s)mul\.rn\.f32(\s+%r\d+), (%r\d+), ([^;]+);",
     r"\1mov.b32\2, \3;"),
    ("a value left out", r"(\s)mul\.rn\.f32(\s+%r\d+), (%r\d+), (%r\d+);",
     r"\1mov.b32\2, \4;"),
    ("a sum left out", r"(\s)add\.rn\.f32(\s+%r\d+), (%r\d+), ([^;]+);",
     r"\1mov.b32\2, \3;"),
    ("a sum left out", r"(\s)add\.rn\.f32(\s+%r\d+), (%r\d+), (%r\d+);",
     r"\1mov.b32\2, \4;"),
    ("a zero point left out", r"(\s)sub\.rn\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("the other bound", r"(\s)min\.u32", r"\1max.u32"),
    ("another format", r"(cvt\.rn\.f16x2\.)e4m3x2", r"\1e5m2x2"),
    ("another format", r"(cvt\.rn\.f16x2\.)e2m3x2", r"\1e3m2x2"),
    ("the numbers exchanged", r"(cvt\.rn\.bf16x2\.f32\s+%\w+), (%r\d+), (%r\d+);",
     r"\1, \3, \2;"),
    ("the numbers exchanged", r"(cvt\.rn\.f16x2\.f32\s+%\w+), (%r\d+), (%r\d+);",
     r"\1, \3, \2;"),
    ("the bytes exchanged",
     r"(prmt\.b32\s+%r\d+), (%r\d+), (%r\d+), (0x(?:5140|7362|5410|7632)U;)",
     r"\1, \3, \2, \4"),
    ("other bytes", r"(prmt\.b32\s+.*, )0x5140U", r"\g<1>0x7362U"),
    ("other bytes", r"(prmt\.b32\s+.*, )0x7632U", r"\g<1>0x5410U"),
    ("another rounding", r"(cvt\.)rn(\.bf16x2\.f32)", r"\1rz\2")]

# A number that is changed by so much.
COUNTED = COUNTED + [
    ("another factor", r"mul\.lo\.s32\s+%r\d+, %\w+, (\d+);", 1),
    ("another lane", r"shfl\.sync\.bfly\.b32\s+%r\d+(?:\|%p\d+)?, %r\d+, (\d+),", 1)]


edits = Edits(ptx, every)


def all_mutations():
    yield from edits.replaced(REPLACED)
    yield from edits.counted(COUNTED)
    yield from edits.masked("+")
    yield from edits.moved(ptx.some(r"(ld|st)\.global"))
    yield from edits.left_out("a store left out", ptx.some(r"st\.global"))


# Of words the last scales are numbers 3, 7 and 11 of a row.
EQUIVALENT = [(r"(the other comparison|another bound): .*setp\.gt\.u32\s+%p2, %r\d+, 10;",
               "no scale of this place in a word is number 10"),
              # Of two halves of a word, 0x7fff each.
              (r"the other comparison: .*setp\.gt\.s32\s+%p\d+, %r\d+, -1;",
               "sums of magnitudes have no lowest bit")]


def equivalent_of_sums():
    """Edits of kernels that add up tiles that change nothing: of the conditions of the
    store, which is at the end, and of the order of the first two numbers."""
    stores = "all lanes of a tile have its sum, and those behind the last one repeat it"
    for line in ptx.lines[ptx.some(r"bra\s")[-1] - 7:]:
        if re.search(r"setp|@%p\d+ bra", line):
            yield f"the other (comparison|branch): .*{re.escape(line.strip())}", stores
    at = ptx.some(r"add\.rn\.f32")[0]
    halves = [one if one.startswith("%rs") else
              re.findall(r"%rs\d+", ptx.lines[ptx.definition(one, at)])[0]
              for one in re.findall(r"%rs?\d+", ptx.lines[at])[1:]]
    for pair in (halves, halves[::-1]):
        yield (rf"the halves exchanged: .*{{{', '.join(pair)}}}",
               "the first two numbers of a piece are added to each other")


if "tile_sums" in pathlib.Path(source).read_text():
    EQUIVALENT = list(equivalent_of_sums())
mutations.report(all_mutations(), folder, mutations.missed_by(source, *options),
                 equivalent=EQUIVALENT)
