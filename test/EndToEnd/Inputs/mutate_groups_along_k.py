# Makes single edits to the PTX of a kernel whose K is in groups, each of how a role goes
# through the groups or of where it finds elements and scales, and asks `blockscale
# verify` about each. Prints one line per edit that nobody noticed, then how many there
# were.
#
# usage: mutate_groups_along_k.py FILE.mlir FILE.ptx FOLDER ROLES VERIFY-FLAGS...
#   ROLES  how many roles go through the groups
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder, roles, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
STEP = 32  # elements of FP8
LOAD = r"\tld\.global\.b32 \t%r\d+, \[%rd\d+\];"
SWAPS = [(r"min\.s32", "max.s32"), (r"max\.s32", "min.s32"),
         (r"setp\.gt", "setp.ge"), (r"setp\.eq", "setp.ne"),
         (r"selp\.b32 \t(%\w+), (%?\w+), (%?\w+)", r"selp.b32 \t\1, \3, \2")]
BINARY = r"\t(?:add|sub)\.[su](?:32|64) \t(%\w+), (%\w+), (%\w+|-?\d+);"


def walks():
    """From the step to the next group to the first wait for the tile that it found, or
    to where the first of its scales is loaded."""
    for load in ptx.some(LOAD):
        if re.search(r"\tmul\.wide\.s32 .*, 4;", ptx.lines[load - 2]):
            yield load - 2, min(at for at in ptx.places(r"mbarrier\.try_wait|ld\.global")
                                if at > load)


def edits():
    found = list(walks())
    assert len(found) == int(roles), f"{len(found)} roles go through groups"
    for begin, end in found:
        for at in range(begin, end):
            line = ptx.lines[at]
            name = f"line {at + 1}, '{line.strip()}'"
            if "%rd" in line and "cvt" in line:
                continue
            for pattern, other in SWAPS:
                if re.search(pattern, line):
                    yield f"{name}: {other}", ptx.replaced(at, pattern, other)
            if re.search(BINARY, line):
                kind = "b64" if "64" in line.split()[0] else "b32"
                yield (f"{name}: the first alone", ptx.replaced(
                    at, BINARY, rf"\tmov.{kind} \t\1, \2;"))
            # A tile has an instruction at least, so that the guard of its loop is idle.
            if re.search(r"\tsetp\.eq\.b32 .*, 0;", ptx.lines[at - 1]):
                continue
            if re.search(r"^\t(ld\.global|@.* bra)", line):
                yield f"drop {name}", ptx.dropped(at)
    # How many instructions a warp multiplies of a stage that a group does not fill.
    products = ptx.places("mma.sync") or [0]
    for at in range(products[0], products[-1]):
        line = ptx.lines[at]
        if re.search(r"\tsetp\.lt\.u32 .*, \d+;", line):
            name = f"line {at + 1}, '{line.strip()}'"
            yield f"{name}: one more", ptx.added(at, r", (\d+);", STEP)
            yield f"drop what follows {name}", ptx.dropped(at + 1)
    # The first element of K of loads, and the tile of scales.
    begin, end = found[0][1], ptx.places(r"cp\.async\.bulk\.tensor\.[23]d")[-1]
    for at in range(begin, end):
        if re.search(r"\tadd\.s32 \t%r\d+, %r\d+, %r\d+;", ptx.lines[at]):
            yield (f"line {at + 1}, '{ptx.lines[at].strip()}': the first alone",
                   ptx.replaced(at, BINARY, r"\tmov.b32 \t\1, \2;"))


mutations.report(edits(), folder, mutations.verifier(source, *flags))
