#!/usr/bin/env python3
"""Instructions to compile the products of real layers, of one state against another.

usage: compile_workloads.py BASE NEW [--every=25] [--first=0]

BASE and NEW are two `blockscale` programs. Of the products of workload_times.py (31
layers, six numbers of rows, two formats, two parts, 744 in all) every so many-th is
compiled to PTX by both with the schedule that each takes, and valgrind's cachegrind
counts the instructions of the process. Prints millions of both, NEW's share, and the
schedule that NEW takes; exits with 1 if a share is above 1.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import workload_times
from compare_states import count_instructions


def products():
    """Format, part, layer and rows of each, those of one module together."""
    for format_name in workload_times.FORMATS:
        for part in workload_times.PARTS:
            for layer in workload_times.LAYERS:
                for m in workload_times.ROWS:
                    yield format_name, part, layer, m


def schedule(program, path, target):
    """The one that `explain schedule` says is taken."""
    text = subprocess.run(
        [program, "explain", "schedule", str(path), target, "--format=json"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(text)[0]["schedules"][0]["schedule"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    print("| product | before, M | now, M | share | schedule |\n"
          "| --- | --- | --- | --- | --- |")
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.mlir"
        for format_name, part, layer, m in \
                list(products())[options.first::options.every]:
            path.write_text(workload_times.module(format_name, [layer], [m]))
            target = f"--target={workload_times.PARTS[part][0]}"
            counts = [count_instructions(
                [program, "compile", str(path), target, "--emit=ptx"]) / 1e6
                for program in (options.base, options.new)]
            shares.append(counts[1] / counts[0])
            print(f"| {format_name}, {part}, {layer}, M = {m} | {counts[0]:.1f} | "
                  f"{counts[1]:.1f} | {shares[-1]:.3f} | "
                  f"{schedule(options.new, path, target)} |", flush=True)
    print(f"\n{len(shares)} products: {min(shares):.3f} to {max(shares):.3f}, "
          f"mean {workload_times.mean(shares):.3f}, "
          f"{sum(share > 1 for share in shares)} above 1")
    return 1 if max(shares) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
