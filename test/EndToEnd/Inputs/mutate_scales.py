# Makes single edits to what a kernel's epilogue does with scales that cover all of
# K, and asks `blockscale verify` about each, with pointers that are aligned and
# with others: rows that are read at once and number by number.
#
# usage: mutate_scales.py FILE.mlir FILE.ptx FOLDER VERIFY-FLAGS...
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
lines, places = ptx.lines, ptx.places
# Bytes of what an instruction loads.
WIDTHS = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}


def all_mutations():
    for number, at in enumerate(places(r"ld\.global")):
        width = re.search(r"\.(b\d+) ", lines[at].replace("\t", " ")).group(1)
        vector = re.search(r"\.v(\d)\.", lines[at])
        step = WIDTHS[width] * int(vector.group(1) if vector else 1)
        offset = re.search(r"\[%rd\d+(\+(\d+))?\]", lines[at])
        moved = int(offset.group(2) or 0) + step
        yield f"next scale for load {number}", ptx.replaced(
            at, r"(\[%rd\d+)(\+\d+)?\]", rf"\g<1>+{moved}]")
    products = places(r"mul\.rn\.f32")
    for number, at in enumerate(products):
        yield f"sum for product {number}", ptx.replaced(at, r"mul\.", "add.")
    # Rows that share a scale: half as many.
    loads = places(r"ld\.global")
    for number, at in enumerate(places(r"shr\.u32 \t%r\d+, %r\d+, \d+;")):
        near = any(0 < load - at < 12 for load in loads)
        if near:
            yield f"group {number}", ptx.added(at, r", (\d+);", -1)


mutations.report(all_mutations(), folder, mutations.missed_by_all(
    *(mutations.verifier(source, "--num-sms=2", f"--conditions={conditions}", *flags)
      for conditions in ("plain", "harsh"))))
