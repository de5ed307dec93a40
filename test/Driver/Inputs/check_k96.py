"""Compares decoded MMAs of K = 96 with the sequences that CUTLASS computes.

    check_k96.py ORACLE TRACE BLOCK N STAGES

ORACLE is the folder of k96_sequence.csv and k96_smem_desc.csv, TRACE the lines
of `verify --trace --num-sms=1` of a product with blocks of BLOCK, one tile of N
columns and a ring of STAGES. The first eight MMAs are the first K tile. Tensor
memory holds 6 words of scales of each row, so columns are compared modulo 6
words; CUTLASS's buffers lie elsewhere in shared memory, so addresses are
compared from the start of their buffer on.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import csv
import re
import sys

ROW_BYTES, WORDS = 128, 6


def rows(folder, name):
    with open(f"{folder}/{name}.csv") as file:
        return [{key: value for key, value in row.items()}
                for row in csv.DictReader(file)]


def split(descriptor):
    value = int(descriptor, 16)
    return (value & 0x3FFF) << 4, (value >> 16 & 0x3FFF) << 4, value >> 32


def check_addresses(oracle, events, side, extent, stages):
    """The descriptors of one operand against every buffer set of the oracle."""
    base = split(events[0][f"{side}_desc"])[0]
    checked = 0
    for row in rows(oracle, "k96_smem_desc"):
        index = int(row["mma_index"])
        start, lbo, high = split(row["descriptor"])
        buffers = [int(row[f"buf{i}_base"]) for i in range(3)]
        first, last = int(row["start_buffer"]), int(row["next_buffer"])
        found = split(events[index][f"{side}_desc"])
        own = [base + i % stages * extent * ROW_BYTES for i in range(3)]
        wanted = (start - buffers[first] + own[first],
                  lbo - buffers[last] + own[last], high)
        if found != wanted:
            sys.exit(f"{side} of MMA {index}: {found}, CUTLASS has {wanted}")
        checked += 1
    return checked


def check_scales(oracle, events, operand, block, extent):
    """Columns and ids of one operand."""
    stride = 8 if extent > 128 else 4
    base = int(events[0][f"scale_{operand.lower()}"], 16)
    checked = 0
    for row in rows(oracle, "k96_sequence"):
        key = (row["operand"], int(row["block_size"]), int(row["mn_extent"]),
               row["k_tile"])
        if key != (operand, block, extent, "768"):
            continue
        index = int(row["mma_index"])
        event = events[index]
        found = (int(event[f"scale_{operand.lower()}"], 16) - base,
                 event[f"scale_id_{operand.lower()}"])
        wanted = int(row["column_offset"]) % (WORDS * stride), row["sf_id"]
        if found != wanted:
            sys.exit(f"scales of {operand} of MMA {index}: {found}, "
                     f"CUTLASS has {wanted}")
        checked += 1
    return checked


def main():
    oracle, trace = sys.argv[1:3]
    block, n, stages = map(int, sys.argv[3:])
    with open(trace) as file:
        events = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in file]
    events = [e for e in events if e.get("event") == "mma"][:8]
    if {e["k"] for e in events} != {"96"}:
        sys.exit("the first K tile has other instructions than K = 96")
    addresses = (check_addresses(oracle, events, "a", 128, stages)
                 + check_addresses(oracle, events, "b", n, stages))
    scales = (check_scales(oracle, events, "A", block, 128)
              + check_scales(oracle, events, "B", block, n))
    print(f"{addresses} addresses and {scales} scales agree")


if __name__ == "__main__":
    main()
