#!/usr/bin/env python3
"""How long the tensor core waits for epilogues, by the timeline.

usage: epilogues.py BLOCKSCALE [--schedule=FIELDS] [--sizes=MxNxK,...]
                    [--results=plain,c,quantised,groups,groups-quantised]
                    [--formats=NVFP4,MXFP8]

Verifies a cluster of each product on B200 with `--report`: with D in bf16, with a C in
bf16, quantised in the format of the operands, and of two groups of rows on four SMs,
which have some twenty tiles each. Prints cycles of the cluster, microseconds without
launch and the share of the time in which the tensor core waits for the epilogue or has
nothing to do any more. --schedule=FIELDS, such as "stores = tma", asks for another
schedule than is taken. By the model, nothing is measured. Seconds for each row.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import workload_times

RESULTS = ("plain", "c", "quantised", "groups", "groups-quantised")
SIZES = "4096x4096x4096,2048x4096x4096,4096x4096x14336,512x7168x2048"
# N and K of groups, whose rows are counted at launch.
GROUPS, GROUP_SIZE, GROUP_ROWS, GROUP_SMS = 2, (2048, 4096), 1025, 4


def function(format_name, result, m, n, k, schedule):
    """A product with such a result."""
    element, scales, _ = workload_times.FORMATS[format_name]
    has_groups, is_quantised = "groups" in result, "quantised" in result
    rows = "?" if has_groups else m

    def tensor(shape, layout):
        return f'!blockscale.tensor<{shape}x{element}, "{scales}", layout = {layout}>'
    layout = "grouped_128x4" if has_groups else "tiled_128x4"
    a = tensor(f"{rows}x{k}", layout)
    b = tensor(f"{GROUPS}x{n}x{k}" if has_groups else f"{n}x{k}", "tiled_128x4")
    d, q = f"tensor<{rows}x{n}xbf16>", tensor(f"{rows}x{n}", layout)
    ends = f"tensor<{GROUPS}xi32>"
    arguments, types, clauses, of_quantize = f"%a: {a}, %b: {b}", f"{a}, {b}", "", ""
    if result == "c":
        arguments, types, clauses = f"{arguments}, %c: {d}", f"{types}, {d}", " c(%c)"
    if has_groups:
        arguments += f", %ends: {ends}"
        clauses = of_quantize = f" groups(%ends : {ends})"
    if is_quantised and format_name == "NVFP4":
        arguments += ", %t: tensor<f32>"
        of_quantize += " tensor_scale(%t : tensor<f32>)"
    if schedule:
        clauses += f" schedule(#blockscale.schedule<{schedule}>)"
    text = (f"func.func @product({arguments}) -> {q if is_quantised else d} {{\n"
            f"  %d = blockscale.matmul %a, %b{clauses} : {types} -> {d}\n")
    if is_quantised:
        return (f"{text}  %q = blockscale.quantize %d{of_quantize} : {d} to {q}\n"
                f"  return %q : {q}\n}}\n")
    return f"{text}  return %d : {d}\n}}\n"


def report(program, format_name, result, size, schedule):
    """Cycles, microseconds and share of the epilogue in percent."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.mlir"
        path.write_text(function(format_name, result, *size, schedule))
        command = [program, "verify", str(path), "--target=sm_100a", "--data=exact",
                   "--tiles=1", "--report"]
        if "groups" in result:
            command += [f"--num-sms={GROUP_SMS}", f"--m={GROUP_ROWS}"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return tuple(float(re.search(rf"^ *{name} +([\d.]+)", done.stdout, re.M)[1])
                 for name in ("cycles of a cluster", "microseconds", "epilogue"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("--schedule", default="")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--results", default=",".join(RESULTS))
    parser.add_argument("--formats", default=",".join(workload_times.FORMATS))
    options = parser.parse_args()
    print("| operands | result | M x N x K | cycles | us | epilogue |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for format_name in options.formats.split(","):
        for result in options.results.split(","):
            sizes = [tuple(map(int, size.split("x"))) for size in options.sizes.split(",")]
            if "groups" in result:
                sizes = [(GROUP_ROWS, *GROUP_SIZE)]
            for size in sizes:
                cycles, microseconds, share = report(
                    options.program, format_name, result, size, options.schedule)
                print(f"| {format_name} | {result} | {' x '.join(map(str, size))} | "
                      f"{cycles:.0f} | {microseconds:.2f} | {share:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
