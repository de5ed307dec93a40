# Makes single edits to the PTX of a kernel whose clusters compute all parts of K of
# a tile, each of something that the CTAs have to agree on when they exchange their
# sums, and asks `blockscale verify` about each. Prints one line per edit that
# nobody noticed, then how many there were.
#
# usage: mutate_exchange.py FILE.mlir FILE.ptx FOLDER UNITS PARTS VERIFY-FLAGS...
#
# UNITS is the number of stages of the whole K, PARTS that of its parts.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx, flipped

source, ptx_path, folder, units, parts, *flags = sys.argv[1:]
units, parts = int(units), int(parts)
ptx = Ptx.read(ptx_path)
lines = ptx.lines
sends = ptx.some(r"\tst\.async\.weak\.shared::cluster\.mbarrier")
loads = [at for at in ptx.some(r"\tld\.shared\.v(4\.[bf]32|2\.b64)")
         if at > sends[-1]]
base = lines[ptx.some(r"\tld\.shared\.b32")[0]].split()[1].rstrip(",")
WAIT = r"\tmbarrier\.try_wait\.parity.*, (%p\d+|\S+), \[(\S+)\], (%?r?\d+);"


def sums():
    for number, at in enumerate(sends):
        yield f"drop store {number} of sums", ptx.dropped(at)
        yield (f"store {number} of sums 16 bytes further",
               ptx.replaced(at, r"\[(%rd?\d+)(\+\d+)?\], \{",
                            lambda m: f"[{m[1]}+{int(m[2] or 0) + 16}], {{"))
        first, second = re.search(r"\{(%\w+), ?(%\w+)", lines[at]).groups()
        yield (f"store {number} of sums with two exchanged",
               ptx.replaced(at, rf"{first}, ?{second}", f"{second}, {first}"))
    for number, at in enumerate(loads):
        yield (f"load {number} of sums 16 bytes further",
               ptx.replaced(at, r"\[(%rd?\d+)(\+\d+)?\];",
                            lambda m: f"[{m[1]}+{int(m[2] or 0) + 16}];"))


def places():
    """The CTA that sums go to, and whose barrier counts them."""
    for number, at in enumerate(
            at for at in ptx.some(r"\tmapa\.") if at < loads[-1] + 200):
        head, rank = lines[at].rstrip(";").rsplit(", ", 1)
        yield (f"map {number} to another CTA",
               ptx.edited(at, "\t{ .reg .b32 %other;\n"
                          f"\txor.b32 \t%other, {rank}, 1;\n{head}, %other; }}"))


def barriers():
    for number, at in enumerate(ptx.some(r"mbarrier\.arrive\.expect_tx")):
        yield f"drop announcement {number}", ptx.dropped(at)
        yield (f"announcement {number} of 16 bytes more",
               ptx.edited(at, announced(at)))
    # Those of the epilogue stand around the stores and loads of sums.
    waits = [at for at in ptx.some(r"\tmbarrier\.try_wait\.parity")
             if at > ptx.some(r"tcgen05\.mma")[-1]]
    for number, at in enumerate(waits):
        parity = lines[at].rstrip(";").rsplit(", ", 1)[1]
        if re.search(r"%r\d+$", parity):
            yield f"wait {number} for the other parity", ptx.edited(
                at, flipped(lines[at], parity))
    for number, at in enumerate(
            ptx.some(r"mbarrier\.arrive\.release\.cluster.*shared::cluster")):
        yield f"drop remote arrival {number}", ptx.dropped(at)
    [release] = [at for at in ptx.some(r"\tbar\.warp\.sync") if at > loads[-1]][:1]
    yield "release without waiting for other lanes", ptx.dropped(release)
    # The lanes that arrive, each at the barrier of another CTA.
    lanes = [re.search(r"(%r\d+), %laneid", lines[at]).group(1)
             for at in ptx.some(r"\tmov\.u32 .*%laneid;")]
    for at in ptx.some(rf"\tsetp\.\w+\.[su]32 .*({'|'.join(lanes)}), "
                       rf"({parts - 1}|{parts});"):
        yield (f"line {at + 1}: release one CTA less",
               ptx.added(at, r", (\d+);", -1))


def announced(at):
    head, size = lines[at].rstrip(";").rsplit(", ", 1)
    return ("\t{ .reg .b32 %more;\n"
            f"\tadd.s32 \t%more, {size}, 16;\n{head}, %more; }}")


def derived(at, registers):
    """Whether the line computes a place or a condition from the registers, which
    its result then joins."""
    found = re.match(r"\t(?:shl|or|add|sub|and|bfe|setp\.\w+|selp)\.[bus](?:32|64) \t"
                     r"(%\w+), (.*);", lines[at])
    if not found or lines[at].startswith("\tselp.b64"):
        return False
    if not registers & set(re.findall(r"%\w+", found[2])):
        return False
    registers.add(found[1])
    return True


def own_slices():
    """Which slice a CTA keeps, which of the others' it has, and where it takes its
    own sums from."""
    rank = lines[ptx.some(r"%cluster_ctarank;")[0]].split()[1].rstrip(",")
    registers = {rank}
    first = ptx.some(r"tcgen05\.mma")[-1]
    for at in range(first, loads[-1]):
        if derived(at, registers):
            yield from mutations.line_edits(ptx, at, ops=("add", "sub", "or"))
    for predicate in sorted({lines[at].rstrip(";").split(", ")[-1]
                             for at in ptx.places(r"\tselp\.b(64|32) .*%\w+, %\w+, %p")
                             if first < at}):
        choices = [at for at in ptx.places(rf"\tselp\.\w+ .*%\w+, %\w+, {predicate};")
                   if first < at]
        exchanged = list(lines)
        for at in choices:
            head, one, other, _ = re.split(r", ", lines[at])
            exchanged[at] = f"{head}, {other}, {one}, {predicate};"
        yield f"own sums and others' exchanged where {predicate}", exchanged


def ranges():
    """Borders of the parts of K."""
    for at in ptx.some(rf"\t(mul\.lo|mad\.lo|add)\.\w+ .*, {units}(;|, )"):
        yield (f"line {at + 1}: {units - 1} units",
               ptx.replaced(at, rf", {units}(?=;|, )", f", {units - 1}"))


def all_mutations():
    yield from sums()
    yield from places()
    yield from own_slices()
    yield from barriers()
    yield from ranges()


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags),
                 completions=("immediate", "latest"), equivalent=[
                     ("release without waiting for other lanes",
                      "the emulator counts what lanes of a warp read as ordered "
                      "before what each of them releases; PTX does not"),
                     (rf"line \d+, 'add\.s32 .*, {base};': the first alone",
                      "the tensor memory of a CTA starts at column 0"),
                     (r"line \d+, 'and\.b32 .*, (16|32);': \+1",
                      "the lower bits of a chunk's first column are zero"),
                     (r"line \d+, 'setp\.gt\.u32 .*': setp\.ge",
                      "a CTA sends no sums to itself")])
