# Makes single edits to the PTX of a kernel of clusters, each of how its warps and
# CTAs begin together and of how they end, and asks `blockscale verify` about each.
# Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_ends.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
lines = ptx.lines


def dropped():
    """What all wait for, or say, once."""
    for pattern in (r"barrier\.cluster\.arrive", r"barrier\.cluster\.wait",
                    r"\tbar\.sync", r"tcgen05\.alloc", r"tcgen05\.dealloc",
                    r"mbarrier\.init"):
        for number, at in enumerate(ptx.places(pattern)):
            yield f"drop {pattern} {number}: '{lines[at].strip()}'", ptx.dropped(at)


def initialised():
    """Each barrier by a thread of its own, for as many arrivals as come."""
    threads = r"setp\.gt\.u32\s+%p\d+, %r\d+, (\d+);"
    last = ptx.some(r"mbarrier\.init")[-1]
    for at in [at for at in ptx.places(threads) if at < last]:
        yield f"a barrier less: '{lines[at].strip()}'", ptx.added(at, threads, -1)
    count = r"mbarrier\.init\S+\s+\[[^\]]+\], (%r\d+);"
    found = {ptx.definition(re.search(count, lines[at])[1], at)
             for at in ptx.places(count)}
    for at in sorted(found):
        yield (f"an arrival more: '{lines[at].strip()}'",
               ptx.added(at, r"mov\.b32\s+%r\d+, (\d+);", 1))


def allocation():
    """Tensor memory is used when it is there."""
    alloc = ptx.some(r"tcgen05\.alloc")[0]
    arrival = next(at for at in ptx.some(r"mbarrier\.arrive") if at > alloc)
    yield "no word of the allocation", ptx.dropped(arrival)
    # Behind the wait they read where it is.
    where = ptx.some(r"\tld\.shared\.b32")[0]
    wait = [at for at in ptx.some(r"try_wait\.parity") if at < where][-1]
    again = next(at for at in ptx.some(r"\t@%p\d+ bra") if at > wait)
    yield ("no wait for the allocation",
           lines[:wait] + lines[again + 1:])


def early():
    """The cluster ends when nobody reads tensor memory of it any more."""
    arrivals = ptx.places(r"barrier\.cluster\.arrive")
    reads = ptx.places(r"tcgen05\.ld")
    for at in arrivals:
        before = [read for read in reads if read < at]
        if before:
            moved = ptx.dropped(at)
            moved[before[-1]] = lines[at] + "\n" + moved[before[-1]]
            yield "the cluster ends before the last sums are read", moved


def all_mutations():
    yield from dropped()
    yield from initialised()
    yield from allocation()
    yield from early()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest", "random"), equivalent=[
                     (r"drop barrier\\.cluster\\.arrive 1",
                      "of a cluster without a tile, which no grid has")])
