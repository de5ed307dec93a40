# Makes single edits to the PTX of a kernel whose rows are in groups, each of how a
# role goes through the groups or of what it does with a group's place, and asks
# `blockscale verify` about each. Prints one line per edit that nobody noticed, then
# how many there were.
#
# usage: mutate_groups.py FILE.mlir FILE.ptx FOLDER GROUPS ROLES VERIFY-FLAGS...
#
# ROLES: how many go through the groups.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx, line_edits

source, ptx_path, folder, groups, roles, *flags = sys.argv[1:]
ptx = Ptx.read(ptx_path)
# An offset, from an address that moves on to the next one.
LOAD = r"\tld\.global\.b32 \t(%r\d+), \[(%rd\d+)\];"


def walks():
    """From the first line that is about a role's groups to its first wait for the
    tile that it found."""
    for load in ptx.some(LOAD):
        address = re.search(LOAD, ptx.lines[load]).group(2)
        steps = ptx.places(rf"\tadd\.s64 \t{address}, {address}, 4;")
        if not steps:
            continue
        begin = max(at for at in ptx.places(r"\tmul\.wide\.s32 .*, 4;")
                    if at < load)
        end = min(at for at in ptx.places("mbarrier.try_wait") if at > begin)
        yield begin, end


def edits():
    found = list(walks())
    assert len(found) == int(roles), f"{len(found)} roles go through groups"
    for begin, end in found:
        for at in range(begin, end):
            if "%rd" in ptx.lines[at] and "cvt" in ptx.lines[at]:
                continue
            yield from line_edits(ptx, at)
    # A bias of each group, and the last row of the group.
    for at in ptx.some(r"\tmad\.lo\.s64 .*, 544, "):
        yield "the bias of the first group", ptx.replaced(at, "544", "0")
    for at in ptx.some(r"\tsetp\.lt\.s32 \t%p\d+, %r\d+, %r\d+;"):
        if at > found[-1][1]:
            yield (f"line {at + 1}: the row behind the group",
                   ptx.replaced(at, r"\.lt", ".le"))


EQUIVALENT = [
    (r".*'and\.b32 .*, -128;': \+1", "each group before adds a row at most, which is "
     "lost where rows become whole groups of 128"),
    (rf".*'setp\.lt\.s32 .*, {groups};': ", "behind the last group there is nothing, "
     "and nothing is loaded for it"),
    (r".*'and\.b32 .*, (128|-64);': \+1", "what is masked has been shifted to the left, so "
     "that its last bit is 0"),
    (r".*'bfe\.u32 .*, 1, 25;': ", "the numbers of tiles of 64 columns are below 2^25, so "
     "that bits 1 to 24 are all there is"),
    (r".*'mul\.hi\.u32 .*, 715827883;': \+1", "up to 2^29 tiles the quotient by 6 is the "
     "same"),
]
mutations.report(edits(), folder, mutations.verifier(source, *flags),
                 equivalent=EQUIVALENT)
