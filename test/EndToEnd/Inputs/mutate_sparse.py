# Makes single edits to the PTX of a sparse product, and to its metadata in
# memory by way of the tensor map, and asks `blockscale verify` about each.
# Prints one line per edit that nobody noticed, then how many there were.
#
# usage: mutate_sparse.py FILE.mlir FILE.ptx FOLDER
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
ptx = Ptx.read(ptx_path)
lines, places, definition = ptx.lines, ptx.some, ptx.definition
edited = ptx.edited

# D, A, B, metadata and instruction descriptor; scales where the kind has any.
MMA = (r"tcgen05\.mma\.sp.*\[(%r\d+)\], (%rd\d+), (%rd\d+), "
       r"\[(%r\d+)\], (%r\d+)(?:, \[(%r\d+)\], \[(%r\d+)\])?")


def added(at, difference):
    """The last number of a line, changed."""
    return ptx.added(at, r", (-?\d+);", difference)


def moved(at, group, difference):
    """A tensor-memory operand of an MMA, that many columns further on."""
    register = re.search(MMA, lines[at]).group(group)
    text = [f"\tadd.s32 \t{register}, {register}, {difference};", lines[at],
            f"\tsub.s32 \t{register}, {register}, {difference};"]
    return lines[:at] + text + lines[at + 1:]


def all_mutations():
    mmas = places(MMA)
    metadata = places(r"tcgen05\.cp\.cta_group::1\.128x128b")
    for number, at in enumerate(mmas[:4]):
        register = re.search(MMA, lines[at]).group(5)
        idesc = definition(register, at)
        yield f"sparsity bit of mma {number}", added(idesc, -4)
        yield f"selector of mma {number}", added(idesc, 1)
        for columns in (2, -2, 1, 4):
            yield (f"metadata of mma {number} {columns} columns on",
                   moved(at, 4, columns))
        for group, name in ((6, "A"), (7, "B")):
            if not re.search(MMA, lines[at]).group(group):
                continue
            yield f"scales of {name} of mma {number}", moved(at, group, 4)
        yield f"drop mma {number}", edited(at, "")
    for number, at in enumerate(metadata):
        yield f"drop the copy of metadata {number}", edited(at, "")
        yield f"shape of the copy of metadata {number}", edited(
            at, lines[at].replace("128x128b", "32x128b.warpx4"))
        source_register = re.search(r", (%rd\d+);", lines[at]).group(1)
        target = re.search(r"\[(%r\d+)\]", lines[at]).group(1)
        yield f"source of the copy of metadata {number}", (
            lines[:at] + [f"\tadd.s64 \t{source_register}, {source_register}, 1;"]
            + lines[at:])
        yield f"target of the copy of metadata {number}", (
            lines[:at] + [f"\tadd.s32 \t{target}, {target}, 4;"] + lines[at:])
    # The load of metadata: another row, another tile of K, none at all.
    load = [at for at in places(r"cp\.async\.bulk\.tensor\.4d")][-1]
    _, row, tile, _ = re.search(r"\{(%r\d+), (%r\d+), (%r\d+), (%r\d+)\}",
                                lines[load]).groups()
    for name, register, difference in (("row", row, 1), ("row", row, 128),
                                       ("tile", tile, 1)):
        yield f"{name} of metadata + {difference}", (
            lines[:load] + [f"\tadd.s32 \t{register}, {register}, {difference};"]
            + [lines[load]]
            + [f"\tsub.s32 \t{register}, {register}, {difference};"]
            + lines[load + 1:])
    yield "drop the load of metadata", edited(load, "")


# With scales the tensor core takes the selector as 0, whatever the descriptor says
# (PTX ISA 9.4, the sparsity selector of tcgen05.mma.sp).
scaled = any(re.search(MMA, line) and re.search(MMA, line).group(6) for line in lines)
mutations.report(all_mutations(), folder,
                 mutations.verifier(source, "--num-sms=2"),
                 equivalent=[("selector of mma", "taken as 0 with scales")]
                 if scaled else [])
