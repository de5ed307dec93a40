# Makes single edits to the PTX of a kernel for a cluster, each of something that
# its CTAs have to agree on, and asks `blockscale verify` about each. Prints one
# line per edit that nobody noticed, then how many there were.
#
# usage: mutate_cluster.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
lines, places, definition = ptx.lines, ptx.places, ptx.definition
edited, dropped = ptx.replaced, ptx.dropped


def constants(register, before):
    """Lines that set constants which the register is made from by shifts, ors
    and conversions."""
    at = definition(register, before)
    if re.search(r"mov\.b(16|32) .*, \d+;", lines[at]):
        return [at]
    if not re.search(r"\t(shl|or|cvt)\.", lines[at]):
        return []
    inputs = re.findall(r"(%rs?\d+)", lines[at])[1:]
    if "\tshl." in lines[at]:
        inputs = inputs[:1]
    return [c for r in inputs for c in constants(r, at)]


def masks():
    """Each CTA's bit taken out of each mask."""
    for at in places(r"multicast::cluster"):
        register = re.search(r"(%rs\d+);", lines[at]).group(1)
        verb = re.search(r"\t(tcgen05\.commit|cp\.async)", lines[at]).group(1)
        found = sorted(set(constants(register, at)))
        assert found, f"no constant of the mask in {lines[at]}"
        for place in found:
            bits = int(re.search(r", (\d+);", lines[place]).group(1))
            for bit in range(bits.bit_length()):
                if bits >> bit & 1:
                    yield (f"line {at + 1}: {verb} without bit {bit} of {bits}",
                           edited(place, r", \d+;", f", {bits & ~(1 << bit)};"))


def offsets():
    """The CTA's share of a coordinate left out."""
    for number, at in enumerate(places(r"cp\.async\.bulk\.tensor\.3d")[:2]):
        row = re.search(r"\{%r\d+, (%r\d+)", lines[at]).group(1)
        place = definition(row, at)
        if re.search(r"\t(or|add)\.\w+ ", lines[place]):
            for side in (r"\3", r"\4"):
                yield (f"first row of load {number} from {side}",
                       edited(place, r"\t(or|add)\.\w+ \t(%r\d+), (%r\d+), (%r\d+);",
                              rf"\tmov.b32 \t\2, {side};"))


def all_mutations():
    yield from masks()
    yield from offsets()
    for number, at in enumerate(places(r"\tcp\.async\.bulk\.tensor")):
        yield f"drop load {number}", dropped(at)
    for at in places(r"mbarrier\.arrive\.expect_tx"):
        size = lines[at].rsplit(" ", 1)[1].rstrip(";")
        place = definition(size, at)
        half = int(re.search(r", (\d+);", lines[place]).group(1)) // 2
        yield "expect half of the bytes", edited(place, r", \d+;", f", {half};")
    # The peer's share: barriers of the leader, scales behind the end of K in words
    # that instructions read; whole words behind it, which none reads, are set
    # to 0 by stores of another type.
    for number, at in enumerate(places(r"\tmapa\.")):
        head, rank = lines[at].rstrip(";").rsplit(", ", 1)
        flipped = str(1 - int(rank)) if rank.isdigit() else "%flipped"
        text = f"{head}, {flipped};"
        if not rank.isdigit():
            text = ("\t{ .reg .b32 %flipped;\n"
                    f"\txor.b32 \t%flipped, {rank}, 1;\n{text} }}")
        yield (f"map {number} to the other CTA of the pair",
               ptx.edited(at, text))
    for number, at in enumerate(places(r"\tst\.shared::cluster\.v4\.b32")):
        yield f"drop store {number} to the other CTA", dropped(at)
    for number, at in enumerate(places(r"mbarrier\.arrive\.release.*shared::cluster")):
        yield f"drop remote arrival {number}", dropped(at)
    for number, at in enumerate(places(r"tcgen05\.commit")):
        yield f"drop commit {number}", dropped(at)


mutations.report(all_mutations(), folder, mutations.verifier(source, *flags))
