# Makes single edits to the PTX of a kernel whose scales have a ring of their own:
# the producer's wait for a stage of it, when the stage is released, where the ring
# ends, and stages of the other ring in place of its own. Prints one line for each
# edit that nobody noticed, then how many there were.
#
# usage: mutate_scale_ring.py FILE.mlir FILE.ptx FOLDER STAGES SCALE_STAGES
#                             [VERIFY OPTIONS...]
#
# The two numbers are those of the schedule, and no others that rings have.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder, stages, scale_stages = sys.argv[1:6]
ptx = Ptx.read(ptx_path)
lines = ptx.lines
loads = ptx.some(r"cp\.async\.bulk\.tensor")
copies = ptx.some(r"tcgen05\.cp")


def drain():
    """The lines from the producer's wait for its last stages to its end, which what
    clusters do at theirs makes up for (protocol.py)."""
    end = next(at for at in ptx.some(r"^\tbar\.warp\.sync") if at > loads[-1])
    waits = [at for at in ptx.some(r"try_wait") if loads[-1] < at < end]
    return range(waits[0], end) if waits else range(0)


drained = drain()


def rings():
    """For each step around the rings the line that compares the next stage of scales
    with the end of theirs, its condition, and the registers that hold the stage of A
    and B and that of scales."""
    def steps(size):
        for at in ptx.some(rf"setp\.eq\.b32 \t%p\d+, %r\d+, {size};"):
            condition = re.search(r"(%p\d+),", lines[at])[1]
            slot = ptx.some(rf"selp\.b32 \t%r\d+, 0, .*{condition};")[0]
            if at not in drained:
                yield at, condition, re.search(r"(%r\d+)", lines[slot])[1]

    for (_, _, other), (at, condition, own) in zip(
            steps(stages), steps(scale_stages), strict=True):
        yield at, condition, other, own


def ends():
    for number, (at, condition, _, _) in enumerate(rings()):
        for by in (1, -1):
            yield f"end of ring {number}: {by:+}", ptx.added(at, r", (\d+);", by)
        # A stage that is not left, and a parity that stays.
        for place in ptx.some(rf"selp\.b32 \t%r\d+, .*{condition};"):
            yield (f"drop step {number}: '{lines[place].strip()}'",
                   ptx.dropped(place))


def other_stages():
    seen = set()
    for number, (_, _, other, own) in enumerate(rings()):
        for at in ptx.places(rf"shl\.b32 \t%r\d+, {own}, \d+;"):
            if at not in seen and at not in drained:
                seen.add(at)
                yield (f"stage of A in place of '{lines[at].strip()}'",
                       ptx.replaced(at, rf"{own},", f"{other},"))


def waits():
    # Between loads of one stage.
    for at in ptx.some(r"mbarrier\.try_wait"):
        if not loads[0] < at < loads[-1]:
            continue
        yield from mutations.edits_of_wait(ptx, at)


def releases():
    for at in ptx.some(r"tcgen05\.commit"):
        before = [i for i in ptx.some(r"tcgen05\.(cp|mma|commit)") if i < at][-1]
        if "tcgen05.cp" not in lines[before]:
            continue
        yield f"drop release, line {at + 1}", ptx.dropped(at)
        label = [i for i in ptx.some(r"^\$L|tcgen05\.(mma|commit)") if i < at][-1]
        for copy in copies:
            if label < copy < at:
                late = lines[:copy] + lines[copy + 1:at + 1] + [lines[copy]]
                yield (f"release in front of copy, line {copy + 1}",
                       late + lines[at + 1:])
        mask = re.search(r"(%rs\d+);", lines[at])
        if mask:
            yield f"release in one CTA, line {at + 1}", ptx.edited(
                at, f"\tand.b16 \t{mask[1]}, {mask[1]}, 1;\n" + lines[at])


def all_mutations():
    for family in (ends, other_stages, waits, releases):
        yield from family()


mutations.report(all_mutations(), folder,
                 mutations.verifier(source, *sys.argv[6:]),
                 ("immediate", "latest", "random"))
