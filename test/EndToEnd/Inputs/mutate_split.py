# Makes single edits to the PTX of a kernel that splits K, each of something that
# the CTAs of an output tile have to agree on, and asks `blockscale verify` about
# each. Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_split.py FILE.mlir FILE.ptx FOLDER UNITS VERIFY-FLAGS...
#
# UNITS is the number of stages of the whole K; of a kernel that shares out tiles
# UNITS:EACH:LONGER, with the stages of a share and how many have one more.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

import mutations
from mutations import Ptx

source, ptx_path, folder, numbers, *flags = sys.argv[1:]
units, *of_shares = numbers.split(":")
ptx = Ptx.read(ptx_path)
lines, definition = ptx.lines, ptx.definition
[atom] = ptx.some(r"atom\.acq_rel\.gpu\.global\.inc\.u32")
SYNC = r"\tbar(rier)?\.(cta\.)?sync(\.aligned)?\s+1, \d+;"
RED = r"\tbar(?:rier)?\.(?:cta\.)?red\.or\.pred(?:\.aligned)?\s+(%p\d+), 1, \d+, (%p\d+);"


def arrival():
    for order in ("relaxed", "acquire", "release"):
        yield f"the counter {order}", ptx.replaced(atom, "acq_rel", order)
    yield "the counter for the CTA alone", ptx.replaced(atom, r"\.gpu", ".cta")
    for count in (1, 3):
        yield (f"count to {count}",
               ptx.replaced(atom, r"\], %r\d+;", f"], {count};"))
    [sync] = ptx.some(SYNC)
    yield "no barrier before the counter", ptx.dropped(sync)
    [red] = ptx.some(RED)
    yield "last only if all say so", ptx.replaced(red, r"\.or\.", ".and.")
    yield ("each thread for itself",
           ptx.replaced(red, RED, r"\tmov.pred \t\1, \2;"))


def sums():
    # Those of D stand behind the counter.
    stores = [at for at in ptx.some(r"\tst\.global\.v\d\.") if at < atom]
    assert stores, "no sums are stored before the counter"
    for number, at in enumerate(stores):
        yield f"drop store {number} of sums", ptx.dropped(at)


def ranges():
    """Borders of the parts of K."""
    for at in ptx.some(rf"\t(mul\.lo|mad\.lo|add)\.\w+ .*, {units}(;|, )"):
        yield (f"line {at + 1}: {int(units) - 1} units",
               ptx.replaced(at, rf", {units}(?=;|, )", f", {int(units) - 1}"))


def shares(each, longer):
    """Borders of shares, and the places of their sums."""
    # The third role, the epilogue, only asks in which tiles borders lie.
    roles = 2
    borders = ptx.some(rf"\tmin\.u32 .*, {longer};")
    for number, at in enumerate(borders[:2 * roles]):
        for by in (-1, 1):
            yield (f"longer share {number} {by:+}",
                   ptx.added(at, r", (\d+);", by))
    lengths = ptx.some(rf"\t(mad|mul)\.lo\.s32 .*, {each}(;|, )")
    for number, at in enumerate(lengths[:roles]):
        yield (f"length of share {number}",
               ptx.replaced(at, rf", {each}(?=;|, )", f", {int(each) - 1}"))
    # A tile that has all of its K is stored at once.
    [whole] = [at for at in ptx.some(rf"\tsetp\.eq\.b32 .*, {units};")
               if at < atom]
    yield "a part for a whole tile", ptx.added(whole, r", (\d+);", -1)
    # Of the first part of a tile, as it is read, and of the second.
    behind = [at for at in ptx.some(r"\tor\.b32 .*, 1;|\tadd\.s32 .*, 2;")
              if at > atom]
    for number, at in enumerate(behind[:2]):
        yield f"place of part {number}", ptx.added(at, r", (\d+);", 1)


def all_mutations():
    yield from arrival()
    yield from sums()
    yield from shares(*of_shares) if of_shares else ranges()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"))
