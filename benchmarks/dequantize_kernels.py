#!/usr/bin/env python3
"""Predicted times of kernels that dequantise over those of their bytes.

usage: dequantize_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]

By the formula of quantize_kernels.py, of instructions that the emulator counts in 128
rows. Nothing is measured.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

from quantize_kernels import (BANDWIDTH, CLOCK, FORMATS, INPUTS, ISSUED, ROWS, SMS,
                              save)

NAMES = ("MXFP8", "MXFP8 e5m2", "MXFP6 e2m3", "MXFP6 e3m2", "MXFP4", "NVFP4")


def module(columns, result, element, spec):
    a = (f'!blockscale.tensor<?x{columns}x{element}, "{spec}", '
         "layout = tiled_128x4>")
    d = f"tensor<?x{columns}x{result}>"
    return (f"func.func @d(%a: {a}) -> {d} {{\n  %0 = blockscale.dequantize %a : {a} "
            f"to {d}\n  return %0 : {d}\n}}\n")


def instructions(blockscale, folder, columns, result, format_):
    """Of a kernel with ROWS rows, of codes and scales of bits that alternate."""
    element, spec, _, block, _ = format_
    (folder / "d.mlir").write_text(module(columns, result, element, spec))
    subprocess.run([blockscale, "compile", folder / "d.mlir", "--no-cubin", "-o",
                    folder], check=True)
    plan = json.loads((folder / "d.plan.json").read_text())["kernels"][0]
    save(folder / "a.npy", ROWS * int(plan["data"][0]["linePitch"]) // 2, "f16")
    save(folder / "s.npy", ROWS * -(-columns // block // 4) * 4 // 2, "f16")
    command = [blockscale, "emulate", folder / "d.ptx", "--plan",
               folder / "d.plan.json", "--in", f"a_data={folder}/a.npy", "--in",
               f"a_scales={folder}/s.npy", "--set", f"M={ROWS}", "--counters"]
    if spec.startswith("multi"):
        save(folder / "t.npy", 1, "f32")
        command += ["--in", f"a_tensor_scale={folder}/t.npy"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"^instructions (\d+)$", text, re.MULTILINE)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("blockscale")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    arguments = parser.parse_args()
    count = arguments.rows * arguments.columns
    print("| operand | result | MB | instructions | us of bytes | us of instructions "
          "| time over bytes |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            format_ = FORMATS[name]
            for result, size in INPUTS.items():
                issued = instructions(arguments.blockscale, Path(folder),
                                      arguments.columns, result, format_)
                issued = issued * arguments.rows // ROWS
                moved = count * (size + format_[2] / 8 + 1 / format_[3])
                memory = moved / BANDWIDTH / 1e6
                work = issued / (SMS * ISSUED * CLOCK * 1e3)
                print(f"| {name} | {result} | {moved / 1e6:.2f} | {issued:,} | "
                      f"{memory:.2f} | {work:.2f} | "
                      f"{max(memory, work) / memory:.2f} |", flush=True)


if __name__ == "__main__":
    main()
