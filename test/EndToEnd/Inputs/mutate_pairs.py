# Makes single edits to what follows the sums of a product, of pairs of columns or less
# the terms of zero points, and asks `blockscale verify` about each: gate for up, the
# bias or the term of another column, a row or column of D that is somewhere else, a
# bound that is off by one, a sign or a store left out.
#
# usage: mutate_pairs.py FILE.mlir FILE.ptx FOLDER EVERY COLUMNS [OPTION...]
#
# Of edits of the same kind there are EVERY at most, from the first place to the last.
# The last piece of a row has COLUMNS of D.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
every, columns, options = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:]
ptx = Ptx.read(ptx_path)
work = ptx.places(r"tcgen05\.ld|mma\.sync|st\.global")
first, last = [at for at in ptx.places(r"^\$L") if at < work[0]][-1], work[-1]


def places(pattern):
    return [at for at in ptx.places(pattern) if first < at <= last]


def spread(found):
    if len(found) <= every:
        return found
    return [found[i * (len(found) - 1) // (every - 1)] for i in range(every)]


# A pattern and what takes its place.
REPLACED = [
    ("gate's sum for up's", r"(mov\.b64\s+)\{(%r\d+), (%r\d+)\}, ", r"\1{\3, \2}, "),
    ("a neighbour's number", r"(mov\.b64\s+%rd\d+), \{(%r\d+), (?!\2\})(%r\d+)\}",
     r"\1, {\3, \2}"),
    ("gate less up", r"(sub\.rn\.f32(?:x2)?\s+%\w+), (%\w+), (%\w+)", r"\1, \3, \2"),
    ("the first operand twice",
     r"((?:add|sub|mul|fma)\.rn\.f32(?:x2)?\s+%\w+), (%\w+), (%\w+)",
     r"\1, \2, \2"),
    ("pieces of a row exchanged", r"(st\.global\S+\s+\[\S+\]), \{(%\w+), (%\w+)",
     r"\1, {\3, \2"),
    ("pieces of a row exchanged", r"(ld\.global\S+\s+)\{(%\w+), (%\w+)",
     r"\1{\3, \2"),
    ("the whole for its half", r"shr\.[us]32(\s+%r\d+), (%r\d+), 1;", r"mov.b32\1, \2;"),
    ("the other alignment", r"(setp\.)ne(\.b64\s)", r"\1eq\2"),
    ("a term added", r"neg\.f32(\s+%r\d+), ", r"mov.b32\1, ")]

# Where the last piece of a row ends in sums, and in elements of D.
for end in (2 * columns, columns):
    REPLACED.append((f"a column less of {end}",
                     rf"setp\.lt(\.s32\s+%p\d+, %r\d+, {end};)", r"setp.le\1"))
    REPLACED.append((f"a column more than {end}",
                     rf"(setp\.lt\.s32\s+%p\d+, %r\d+), {end + 1};",
                     rf"\1, {end};"))

COUNTED = [("another extent", r"sub\.s32\s+%r\d+, (\d+), %r\d+;", 2),
           ("another pitch", r"mul\.(?:wide|lo)\.\w+\s+%\w+, %\w+, (\d+);", 1),
           ("another pitch", r"mad\.\S+\s+%\w+, %\w+, (\d+),", 1)]


def all_mutations():
    for name, pattern, text in REPLACED:
        found = spread(places(pattern))
        # Sums are counted first.
        found = found[-1:] if name.endswith(f" {columns}") else found
        for at in found:
            yield f"{name}: {at}: {ptx.lines[at]}", ptx.replaced(at, pattern, text)
    for name, pattern, step in COUNTED:
        for at in spread(places(pattern)):
            yield f"{name}: {at}: {ptx.lines[at]}", ptx.added(at, pattern, step)
    address = r"\[(%rd\d+)(?:\+(-?\d+))?\]"
    for name, pattern in (("a load", r"ld\.global"), ("a store", r"st\.global")):
        for width, step in (("v", 16), ("b", 4)):
            for at in spread(places(rf"{pattern}\.{width}")):
                offset = int(re.search(address, ptx.lines[at])[2] or 0)
                yield f"{name} elsewhere: {at}: {ptx.lines[at]}", ptx.replaced(
                    at, address, rf"[\g<1>+{offset + step}]")
    for at in spread(places(r"st\.global")):
        yield f"a store left out: {at}: {ptx.lines[at]}", ptx.dropped(at)


mutations.report(all_mutations(), folder, mutations.missed_by_all(
    *(mutations.verifier(source, f"--conditions={conditions}", *options)
      for conditions in ("plain", "harsh"))))
