# Makes single edits to the PTX of a kernel whose threads load C before they need it,
# each of which C they have for what they store, and asks `blockscale verify` about
# each. Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_addends_ahead.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
# The epilogue comes behind the main loop.
epilogue = ptx.some(r"tcgen05\.mma")[-1]
LOADS = [at for at in ptx.some(r"ld\.global\.") if at > epilogue]
SUMS = [at for at in ptx.some(r"tcgen05\.ld") if at > epilogue]


def moved(at, by):
    """The load of a line from so many bytes behind its place."""
    address = re.search(r"\[(%rd\d+)(\+\d+)?\]", ptx.lines[at])
    there = int(address.group(2) or 0)
    return ptx.replaced(at, r"\[%rd\d+(\+\d+)?\]",
                        f"[{address.group(1)}+{there + by}]")


def loads():
    """Those of C of the first chunk stand in front of the sums."""
    ahead = [at for at in LOADS if at < SUMS[0]]
    assert ahead and len(ahead) < len(LOADS)
    for at in LOADS:
        name = f"line {at + 1}, '{ptx.lines[at].strip()}'"
        bytes_of = 16 if ".v4." in ptx.lines[at] else 2
        yield f"no {name}", ptx.dropped(at)
        for by in (bytes_of, -bytes_of):
            yield f"{name}: {by:+} bytes", moved(at, by)


def following():
    """Which chunk is loaded next, and whether one is: the condition stands in front
    of the loads behind the sums."""
    first = [at for at in LOADS if at > SUMS[0]][0]
    for at in [at for at in ptx.some(r"@%p\d+ bra") if SUMS[0] < at < first]:
        name = f"line {at + 1}, '{ptx.lines[at].strip()}'"
        yield f"{name}: the other way", ptx.replaced(at, "@", "@!")


def all_mutations():
    yield from loads()
    yield from following()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
