# Makes single edits to the PTX of a kernel whose warps take tiles in turns: of which
# tiles and rows a group has, when it may multiply, when the turn passes, and where the
# ring goes on behind the other group's tile; and asks `blockscale verify` about each.
# Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_turns.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
[role] = ptx.some(r"setmaxnreg\.inc")
waits = ptx.some(r"mbarrier\.try_wait")
# Of the consumers: for the turn, for stages, and for the stage that K ends in.
turn, *stages = [at for at in waits if at > role]
arrivals = [at for at in ptx.some(r"mbarrier\.arrive\.shared") if at > role]


def last_before(at, pattern):
    return [i for i in ptx.some(pattern) if i < at][-1]


def numbers(name, at, *others):
    """Other numbers than the last one of a line."""
    for other in others:
        yield (f"{name}: {other}",
               ptx.replaced(at, r", -?\d+;", f", {other};"))


def counts():
    """Arrivals of warps on what says that stages are read, and of turns."""
    for number, at in enumerate(ptx.some(r"mbarrier\.init")[1:]):
        count = re.search(r"\], (%r\d+);", ptx.lines[at]).group(1)
        yield from numbers(f"arrivals {number}", ptx.definition(count, at),
                           3, 5, 8)


def groups():
    thread = re.search(r"(%r\d+), %tid\.x",
                       ptx.lines[ptx.some(r"%tid\.x")[0]]).group(1)
    yield from numbers("warps of a group",
                       last_before(turn, rf"shr\.u32.*{thread}, 7"), 6, 8)
    yield from numbers("warp of a group",
                       last_before(turn, rf"and\.b32.*{thread}, 96"), 224, 64)
    at = last_before(turn, r"setp\.ne\.b32 .*, %r\d+, %r\d+;")
    yield "the other group's tiles", ptx.replaced(at, r"setp\.ne", "setp.eq")
    yield from numbers("every tile", last_before(at, r"and\.b32 .*, 1;"), 0, 3)


def turns():
    yield from mutations.edits_of_wait(ptx, turn)
    parity = re.search(r", (%r\d+);", ptx.lines[turn]).group(1)
    # Of which group and turn it is.
    at = ptx.definition(parity, turn)
    _, first, second = re.search(r"(%r\d+), (%r\d+), (%r\d+);",
                                 ptx.lines[at]).groups()
    for number, one in enumerate((first, second)):
        yield (f"parity of turns without {number}", ptx.edited(
            at, f"\tmov.b32 \t{parity}, {one};"))
    count = re.search(r"bfe\.u32 .*, (%r\d+), 1, 1;",
                      ptx.lines[last_before(turn, r"bfe\.u32")]).group(1)
    at = ptx.some(rf"add\.s32 .*{count}, {count}, 1;")[0]
    yield from numbers("number of the tile", at, 2, 3)


def passing():
    """The turn passes between the wait for the last stage and its release."""
    [at] = [at for at in arrivals if stages[-1] < at < arrivals[-1]]
    yield "no pass", ptx.dropped(at)
    address = re.search(r"\[(%rd\d+)\]", ptx.lines[at]).group(1)
    word = re.search(r", (%r\d+);",
                     ptx.lines[ptx.definition(address, at)]).group(1)
    own = ptx.definition(word, at)
    yield ("pass to itself",
           ptx.replaced(own, r"xor\.b32 (\s*%r\d+, %r\d+), 8;", r"mov.b32 \1;"))
    # As soon as the group may multiply: the other one waits for stages whose round
    # before is not read.
    condition = last_before(at, r"@%p\d+ bra")
    pieces = [ptx.lines[i] for i in range(condition - 1, at + 2)]
    assert "bar.warp.sync" in pieces[0] and pieces[-1].startswith("$L"), pieces
    behind = [i for i in ptx.some(r"@%p\d+ bra") if i > turn][0] + 1
    lines = ptx.lines
    yield ("pass at once", lines[:behind] + pieces + lines[behind:condition - 1]
           + lines[at + 2:])
    yield ("pass twice", lines[:at] + [lines[at], re.sub(
        r"%rd\d+,", "%again,", "\t{ .reg .b64 %again; " + lines[at].strip()
        + " }")] + lines[at + 1:])


def ring():
    """The way around the other group's tile: its stages, and rounds."""
    for at in stages:
        yield from mutations.edits_of_wait(ptx, at)
    slot = ptx.some(r"mul\.hi\.u32 .*, -1431655765;")
    [at] = [at for at in slot if at > role
            and re.search(r"add\.s32 .*, 4;", ptx.lines[at - 1])]
    yield from numbers("stages of the other's tile", at - 1, 3, 5)
    steps = re.search(r"(%r\d+),", ptx.lines[at - 1]).group(1)
    after = next(i for i in ptx.some(rf"sub\.s32 .*, {steps}, %r\d+;") if i > at)
    yield "no round", ptx.replaced(
        after, rf"sub\.s32 (\s*%r\d+, {steps}), %r\d+;", r"mov.b32 \1;")
    flip = next(i for i in ptx.some(r"xor\.b32") if i > after)
    result, first, second = re.search(r"(%r\d+), (%r\d+), (%r\d+);",
                                      ptx.lines[flip]).groups()
    for one in {first, second} - {result}:
        yield (f"parity of the round is {one}",
               ptx.edited(flip, f"\tmov.b32 \t{result}, {one};"))
    yield "parity of the round stays", ptx.dropped(flip)


def all_mutations():
    yield from counts()
    yield from groups()
    yield from turns()
    yield from passing()
    yield from ring()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
