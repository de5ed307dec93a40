#!/usr/bin/env python3
"""The formula by which schedules are chosen against the timeline, for real layers.

usage: two_models.py BLOCKSCALE [--format=NVFP4] [--part=B200]
                     [--rows=1,16,64,128,512,4096] [--worst=3]

Asks `blockscale explain schedule --replay=1` for the layers of workload_times.py:
the schedule that the formula takes, compiled, run on the emulator for its first
tile and put on the timeline. Prints by rows how far the two are apart, and where
most. By two models of ours, nothing is measured. A second or two for each layer with
few rows, longer with many.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import workload_times


def compare(program, format_name, part, rows):
    """Formula and timeline in microseconds, with what the formula says that the
    product waits for, by layer."""
    workload_times.ROWS = (rows,)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layers.mlir"
        path.write_text(workload_times.module(format_name))
        text = subprocess.run(
            [program, "explain", "schedule", str(path), "--replay=1",
             f"--target={workload_times.PARTS[part][0]}", "--format=json"],
            check=True, capture_output=True, text=True).stdout
    layers = list(workload_times.LAYERS)
    found = {}
    for product in json.loads(text):
        first = product["schedules"][0]
        layer = layers[int(product["function"][1:].split("_")[0])]
        found[layer] = (first["microseconds"], first["timeline_microseconds"],
                        first["limit"], first["schedule"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("--format", default="NVFP4",
                        choices=list(workload_times.FORMATS))
    parser.add_argument("--part", default="B200",
                        choices=list(workload_times.PARTS))
    parser.add_argument("--rows", default="1,16,64,128,512,4096")
    parser.add_argument("--worst", type=int, default=3)
    options = parser.parse_args()
    print("| M | median difference | largest | above 30 % | where most |\n"
          "| --- | --- | --- | --- | --- |")
    everything = []
    for rows in map(int, options.rows.split(",")):
        found = compare(options.program, options.format, options.part, rows)
        off = sorted(((abs(one[0] / one[1] - 1), layer)
                      for layer, one in found.items()), reverse=True)
        everything += [distance for distance, _ in off]
        worst = ", ".join(
            f"{layer} {found[layer][0]:.2f} against {found[layer][1]:.2f} "
            f"({found[layer][2]})" for _, layer in off[:options.worst])
        print(f"| {rows} | {statistics.median(d for d, _ in off):.1%} | "
              f"{off[0][0]:.1%} | {sum(d > 0.3 for d, _ in off)} of {len(off)} "
              f"| {worst} |", flush=True)
    print(f"\n{len(everything)} products: median "
          f"{statistics.median(everything):.1%}, largest "
          f"{max(everything):.1%}, {sum(d > 0.3 for d in everything)} above "
          "30 %")


if __name__ == "__main__":
    main()
