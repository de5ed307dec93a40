# Makes single edits to the PTX of a kernel whose epilogue has eight warps, each of
# which rows and chunks of columns a warp has, when it releases an accumulator or when
# the main loop waits for that, and asks `blockscale verify` about each. Prints one line
# per edit that nobody noticed, then how many there were.
#
# usage: mutate_epilogue.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
[load] = ptx.some(r"tcgen05\.ld")
[tid] = {re.search(r"(%r\d+), %tid", ptx.lines[at]).group(1)
         for at in ptx.some(r", %tid\.x")}


def last_before(at, pattern):
    return [i for i in ptx.some(pattern) if i < at][-1]


def first_behind(at, pattern):
    return [i for i in ptx.some(pattern) if i > at][0]


def numbers(name, at, *others):
    """Other numbers than the last one of a line."""
    for other in others:
        yield (f"{name}: {other}",
               ptx.replaced(at, r", -?\d+;", f", {other};"))


def arrivals():
    # The barrier that is initialised last says that accumulators may be overwritten.
    at = ptx.some(r"mbarrier\.init")[-1]
    count = re.search(r"\], (%r\d+);", ptx.lines[at]).group(1)
    yield from numbers("arrivals", ptx.definition(count, at), 1, 4, 7, 9)


def places():
    yield from numbers("warps", last_before(load, rf"setp.*{tid}, 255"), 127, 223)
    yield from numbers("row", last_before(load, rf"and\.b32.*{tid}, 127"), 63, 255)
    yield from numbers("warps of a quarter",
                       last_before(load, rf"shr\.u32.*{tid}, 7"), 6, 8)
    yield from numbers("lanes", last_before(load, r"and\.b32.*, 6291456"),
                       2097152, 4194304, 14680064)


def chunks():
    # From the first column on and, where accumulators overlap, from the last.
    yield from numbers("last chunk", last_before(load, r"xor\.b32.*, 7"), 3, 5)
    yield from numbers("next chunk", ptx.some(r"add\.s32.*, 2;")[-1], 1, 3, 4)
    yield from numbers("next chunk backwards", ptx.some(r"add\.s32.*, -2;")[-1],
                       -1, -3)
    yield from numbers("chunks", ptx.some(r"setp\.lt\.u32.*, 6;")[-1], 4, 5)


def releases():
    yield from numbers("last shared chunk", first_behind(load, r"setp.*, 1;"), 0, 3)
    arrive = first_behind(load, r"mbarrier\.arrive")
    yield "no release", ptx.dropped(arrive)
    # The load behind it: what lies between load and condition goes along.
    condition = first_behind(load, r"setp")
    behind = first_behind(arrive, r"^\$L")
    lines = ptx.lines
    yield ("release in front of the load",
           lines[:load] + lines[condition:behind + 1] + lines[load:condition]
           + lines[behind + 1:])


def waits():
    """The main loop's wait for a release, behind the first copies of scales."""
    multiply = ptx.some(r"tcgen05\.mma")[0]
    wait = last_before(multiply, r"mbarrier\.try_wait")
    parity = re.search(r"(%r\d+);", ptx.lines[wait]).group(1)
    yield "other parity", ptx.edited(
        wait, mutations.flipped(ptx.lines[wait], parity))
    # Where it does not: at a tile's other stages.
    skip = last_before(wait, r"@%p\d+ bra")
    yield "a wait at the other stages", ptx.replaced(skip, "@", "@!")
    yield "no wait", ptx.replaced(skip, r"@%p\d+ bra", "bra")


def all_mutations():
    yield from arrivals()
    yield from places()
    yield from chunks()
    yield from releases()
    yield from waits()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
