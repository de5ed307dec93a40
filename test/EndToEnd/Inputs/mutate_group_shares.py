# Makes single edits to the PTX of a kernel that shares out the tiles of groups of rows,
# each of how all tiles are counted or of how a role goes through its shares and the
# groups, and asks `blockscale verify` about each. Prints one line per edit that nobody
# noticed, then how many there were.
#
# usage: mutate_group_shares.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx, arithmetic

source, ptx_path, folder, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
# All groups are counted before the roles, each of which reads the offsets again, from an
# address that moves on.
LOAD = r"\tld\.global\.b32 \t%r\d+, \[(%rd\d+)\];"
FIRST, *OTHERS = ptx.some(LOAD)
WALKS = [at for at in OTHERS for address in re.findall(LOAD, ptx.lines[at])
         if ptx.places(rf"\tadd\.s64 \t{address}, {address}, 4;")]
assert len(WALKS) == 3, f"{len(WALKS)} roles go through groups"


def counting():
    """From the first offset to the end of the loop over all of them."""
    return FIRST, min(at for at in ptx.places(r"^\t@%p\d+ bra") if at > FIRST)


def walk(load):
    """From the bounds of a role's share to the group of its next tile."""
    begin = max(at for at in ptx.some(r"\tmin\.u32") if at < load)
    begin = max(at for at in ptx.some(r"\tmin\.u32") if at < begin)
    return begin, load


SWAPS = [(r"min\.([su])32", r"max.\g<1>32"), (r"max\.([su])32", r"min.\g<1>32"),
         (r"selp\.b32 \t(%\w+), (%?\w+), (%?\w+)", r"selp.b32 \t\1, \3, \2")]


def edits():
    # The role that multiplies goes through the groups as well, but needs none.
    for begin, end in (counting(), walk(WALKS[0]), walk(WALKS[-1])):
        for at in range(begin, end + 1):
            line = ptx.lines[at]
            name = f"line {at + 1}, '{line.strip()}'"
            for pattern, other in SWAPS:
                if re.search(pattern, line):
                    yield f"{name}: {other}", ptx.replaced(at, pattern, other)
            if re.search(arithmetic(["add", "sub"]), line):
                kind = "b64" if "64" in line.split()[0] else "b32"
                yield (f"{name}: the first alone", ptx.replaced(
                    at, arithmetic(["add", "sub"]), rf"\tmov.{kind} \t\1, \2;"))
            if re.search(r"^\tld\.global", line):
                yield f"drop {name}", ptx.dropped(at)


mutations.report(edits(), folder, mutations.verifier(source, *flags))
