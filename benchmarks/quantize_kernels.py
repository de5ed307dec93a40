#!/usr/bin/env python3
"""Predicted times of kernels that quantise over those of their bytes.

usage: quantize_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]
                           [--transposed | --both-ways]

Compiles a kernel for each format and type of input and runs 128 rows of it on the
emulator, which counts instructions, warp by warp. A kernel takes the larger of its
bytes over the bandwidth of the memory and of its instructions over four for each SM
and cycle, of a B200. By that formula: nothing is measured, and an instruction of PTX
counts as one, also where the machine has several for it, as for products of 64 bits.
With --transposed kernels read the transpose of what they quantise, with --both-ways
they quantise a matrix and its transpose alike.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

# SMs, clock in GHz and terabytes a second of a B200 (lib/HW/Part.cpp), and what an
# SM issues in a cycle.
SMS, CLOCK, BANDWIDTH, ISSUED = 148, 1.965, 7.0, 4
ROWS = 128
INPUTS = {"bf16": 2, "f16": 2, "f32": 4}
# Element, scales, bits of an element, elements of a block, what the op says.
FORMATS = {
    "MXFP8": ("f8E4M3FN", "e8m0_t32", 8, 32, ""),
    "MXFP8, round_up": ("f8E4M3FN", "e8m0_t32", 8, 32, "rule(round_up)"),
    "MXFP8, min_error": ("f8E4M3FN", "e8m0_t32", 8, 32, "rule(min_error)"),
    "NVFP4, min_error": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16,
                         "rule(min_error)"),
    "MXFP8 e5m2": ("f8E5M2", "e8m0_t32", 8, 32, ""),
    "MXFP6 e2m3": ("f6E2M3FN", "e8m0_t32", 6, 32, ""),
    "MXFP6 e3m2": ("f6E3M2FN", "e8m0_t32", 6, 32, ""),
    "MXFP4": ("f4E2M1FN", "e8m0_t32", 4, 32, ""),
    "NVFP4": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16, ""),
    "MXFP8, 32 x 32": ("f8E4M3FN", "e8m0_t32_t32", 8, 32, ""),
    "NVFP4, 16 x 16": ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", 4, 16, ""),
    "MXFP8, ties away": ("f8E4M3FN", "e8m0_t32", 8, 32, "rounding(away)"),
    "MXFP8, stochastic": ("f8E4M3FN", "e8m0_t32", 8, 32,
                          "rounding(stochastic, seed = 1)"),
    "NVFP4, stochastic": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16,
                          "rounding(stochastic, seed = 1)"),
}


def module(columns, source, element, spec, words, ways):
    x, y = f"tensor<?x{columns}x{source}>", f"tensor<{columns}x?x{source}>"
    form = f'x{element}, "{spec}", layout = tiled_128x4>'
    factor = ""
    if spec.startswith("multi"):
        factor = ", %t: tensor<f32>"
        words = "tensor_scale(%t : tensor<f32>) " + words
    results, transpose, text = [], "", ""
    if "transposed" in ways:
        # Of a matrix that is read both ways columns are the static size.
        read, made = (x, y) if "rows" in ways else (y, x)
        transpose = (f"  %c = arith.constant {int('rows' not in ways)} : index\n"
                     f"  %n = tensor.dim %x, %c : {read}\n"
                     f"  %e = tensor.empty(%n) : {made}\n"
                     f"  %y = linalg.transpose ins(%x : {read}) outs(%e : {made}) "
                     f"permutation = [1, 0]\n")
    for i, way in enumerate(ways):
        value = "%y" if way == "transposed" else "%x"
        turned = way == "transposed" and "rows" in ways
        results.append(f"!blockscale.tensor<{columns}x?" + form if turned else
                       f"!blockscale.tensor<?x{columns}" + form)
        text += (f"  %{i} = blockscale.quantize {value} {words} : "
                 f"{y if turned else x} to {results[-1]}\n")
    read = y if ways == ["transposed"] else x
    types, values = ", ".join(results), ", ".join(f"%{i}" for i in range(len(ways)))
    return (f"func.func @q(%x: {read}{factor}) -> ({types}) {{\n{transpose}{text}"
            f"  return {values} : {types}\n}}\n")


def save(path, count, element):
    """A .npy file of `count` numbers, all 1.0."""
    bits = {"bf16": (b"\x80\x3f", "<u2"), "f16": (b"\x00\x3c", "<f2"),
            "f32": (b"\x00\x00\x80\x3f", "<f4")}[element]
    header = (f"{{'descr': '{bits[1]}', 'fortran_order': False, "
              f"'shape': ({count},), }}")
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") +
                     header.encode() + bits[0] * count)


def instructions(blockscale, folder, columns, source, format_, ways):
    """Of a kernel with ROWS rows."""
    element, spec, _, _, words = format_
    (folder / "q.mlir").write_text(
        module(columns, source, element, spec, words, ways))
    subprocess.run([blockscale, "compile", folder / "q.mlir", "--no-cubin", "-o",
                    folder], check=True)
    save(folder / "x.npy", ROWS * columns, source)
    command = [blockscale, "emulate", folder / "q.ptx", "--plan",
               folder / "q.plan.json", "--in", f"x={folder}/x.npy", "--set",
               f"M={ROWS}", "--counters"]
    if spec.startswith("multi"):
        save(folder / "t.npy", 1, "f32")
        command += ["--in", f"tensor_scale={folder}/t.npy"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"^instructions (\d+)$", text, re.MULTILINE)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("blockscale")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--transposed", action="store_true")
    which.add_argument("--both-ways", action="store_true")
    arguments = parser.parse_args()
    ways = (["transposed"] if arguments.transposed else
            ["rows", "transposed"] if arguments.both_ways else ["rows"])
    count = arguments.rows * arguments.columns
    print("| result | input | MB | instructions | us of bytes | us of instructions "
          "| time over bytes |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, format_ in FORMATS.items():
            for source, size in INPUTS.items():
                issued = instructions(arguments.blockscale, Path(folder),
                                      arguments.columns, source, format_, ways)
                issued = issued * arguments.rows // ROWS
                moved = count * (size + len(ways) * (format_[2] / 8 + 1 / format_[3]))
                memory = moved / BANDWIDTH / 1e6
                work = issued / (SMS * ISSUED * CLOCK * 1e3)
                print(f"| {name} | {source} | {moved / 1e6:.2f} | {issued:,} | "
                      f"{memory:.2f} | {work:.2f} | "
                      f"{max(memory, work) / memory:.2f} |", flush=True)


if __name__ == "__main__":
    main()
