#!/usr/bin/env python3
"""Predicted times of the products of real layers over what bounds them.

usage: workload_times.py BLOCKSCALE [--base=BLOCKSCALE] [--full] [--split]

Asks `blockscale explain schedule` for the schedule that it takes for each layer
below with M = 1, 16, 64, 128, 512 and 4096 rows, in NVFP4 and MXFP8 with a bf16
result, on B200 and B300, and divides the predicted time by the larger of memory
time and tensor-core time, and a launch. By the model, nothing is measured.
With --base also those of another program. --full prints each layer, --split the
products whose K is split.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import math
import re
import subprocess
import tempfile
from pathlib import Path

# N and K of the dense layers of public models, M counts tokens.
LAYERS = {
    "Llama-3-8B qkv": (6144, 4096), "Llama-3-8B o": (4096, 4096),
    "Llama-3-8B gate_up": (28672, 4096), "Llama-3-8B down": (4096, 14336),
    "Llama-3.3-70B qkv": (10240, 8192), "Llama-3.3-70B o": (8192, 8192),
    "Llama-3.3-70B gate_up": (57344, 8192),
    "Llama-3.3-70B down": (8192, 28672),
    "Llama-3.3-70B gate_up, 8 GPUs": (7168, 8192),
    "Llama-3.3-70B down, 8 GPUs": (8192, 3584),
    "Llama-3.1-405B qkv": (18432, 16384), "Llama-3.1-405B o": (16384, 16384),
    "Llama-3.1-405B gate_up": (106496, 16384),
    "Llama-3.1-405B down": (16384, 53248), "Qwen3-32B qkv": (10240, 5120),
    "Qwen3-32B o": (5120, 8192), "Qwen3-32B gate_up": (51200, 5120),
    "Qwen3-32B down": (5120, 25600), "DeepSeek-V3 q_a + kv_a": (2112, 7168),
    "DeepSeek-V3 kv_a": (576, 7168), "DeepSeek-V3 q_b": (24576, 1536),
    "DeepSeek-V3 kv_b": (32768, 512), "DeepSeek-V3 o": (7168, 16384),
    "DeepSeek-V3 shared gate_up": (4096, 7168),
    "DeepSeek-V3 shared down": (7168, 2048),
    "DeepSeek-V3 w1": (18432, 7168), "DeepSeek-V3 w2": (7168, 18432),
    "gpt-oss-120b qkv": (5120, 2880), "gpt-oss-120b o": (2880, 4096),
    "image DiT up": (12288, 3072), "image DiT down": (3072, 12288),
}
ROWS = (1, 16, 64, 128, 512, 4096)
# Element, scales, bytes of an element with its share of a scale.
FORMATS = {"NVFP4": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 0.5625),
           "MXFP8": ("f8E4M3FN", "e8m0_t32", 1.03125)}
# Terabytes a second of memory; petaflops of 148 SMs at the boost clock
# (lib/HW/Part.cpp), 32768 a cycle and SM in NVFP4, 49152 with K = 96, half of
# 32768 in MXFP8.
PARTS = {"B200": ("sm_100a", 7.0, {"NVFP4": 9.53, "MXFP8": 4.76}),
         "B300": ("sm_103a", 7.2, {"NVFP4": 14.78, "MXFP8": 4.93})}
LAUNCH = 1.5


def module(format_name, layers=tuple(LAYERS), all_rows=ROWS):
    """Functions `lI_M` of the I-th layer of all."""
    element, scales, _ = FORMATS[format_name]
    text = []
    for i, (layer, (n, k)) in enumerate(LAYERS.items()):
        if layer not in layers:
            continue
        for m in all_rows:
            a, b = (f'!blockscale.tensor<{rows}x{k}x{element}, "{scales}", '
                    "layout = tiled_128x4>" for rows in (m, n))
            d = f"tensor<{m}x{n}xbf16>"
            text.append(f"func.func @l{i}_{m}(%a: {a}, %b: {b}) -> {d} {{\n"
                        f"  %d = blockscale.matmul %a, %b : {a}, {b} -> {d}\n"
                        f"  return %d : {d}\n}}\n")
    return "".join(text)


def schedules(program, format_name, part):
    """Schedules by layer and rows, that which is taken first: microseconds and
    text of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layers.mlir"
        path.write_text(module(format_name))
        text = subprocess.run(
            [program, "explain", "schedule", str(path),
             f"--target={PARTS[part][0]}", "--format=json"],
            check=True, capture_output=True, text=True).stdout
    found = {}
    for product in json.loads(text):
        layer, m = map(int, re.fullmatch(r"l(\d+)_(\d+)",
                                         product["function"]).groups())
        found[list(LAYERS)[layer], m] = [
            (one["microseconds"], one["schedule"])
            for one in product["schedules"]]
    return found


def bound(layer, m, format_name, part):
    n, k = LAYERS[layer]
    _, terabytes, petaflops = PARTS[part]
    bytes_there = (m + n) * k * FORMATS[format_name][2] + 2 * m * n
    return LAUNCH + max(bytes_there / terabytes / 1e6,
                        2 * m * n * k / petaflops[format_name] / 1e9)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Case:
    """Times over bounds of a format on a part, one column for each program."""

    def __init__(self, programs, format_name, part):
        self.name = f"{format_name}, {part}"
        self.taken = [
            {key: listed[0] for key, listed
             in schedules(one, format_name, part).items()}
            for one in programs]
        self.ratios = [
            {key: one[key][0] / bound(*key, format_name, part) for key in one}
            for one in self.taken]

    def print_summary(self):
        for m in ROWS:
            columns = []
            for ratios in self.ratios:
                there = {layer: ratios[layer, m] for layer in LAYERS}
                worst = max(there, key=there.get)
                columns.append(f"{mean(there.values()):.2f} | "
                               f"{there[worst]:.2f} ({worst})")
            print(f"| {self.name} | {m} | {' | '.join(columns)} |")

    def print_layers(self):
        print(f"\n{self.name}\n\n| layer | N x K | "
              + " | ".join(f"M = {m}" for m in ROWS) + " |")
        print("| --- | --- |" + " --- |" * len(ROWS))
        for layer, (n, k) in LAYERS.items():
            cells = [" -> ".join(dict.fromkeys(
                f"{ratios[layer, m]:.2f}" for ratios in self.ratios))
                for m in ROWS]
            print(f"| {layer} | {n} x {k} | {' | '.join(cells)} |")

    def print_splits(self):
        for key, (time, text) in self.taken[-1].items():
            if "parts" not in text:
                continue
            before = "" if len(self.taken) == 1 else \
                f"{self.taken[0][key][0]:.2f} -> "
            print(f"{self.name}, {key[0]}, M = {key[1]}: {before}{time:.2f} us, "
                  f"{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--base")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--split", action="store_true")
    args = parser.parse_args()
    programs = [args.base, args.program] if args.base else [args.program]
    cases = [Case(programs, format_name, part)
             for format_name in FORMATS for part in PARTS]
    titles = ["before: mean | worst"] * bool(args.base) + ["mean | worst"]
    print(f"| operands, part | M | {' | '.join(titles)} |")
    print("| --- | --- |" + " --- | --- |" * len(programs))
    for case in cases:
        case.print_summary()
    for i in range(len(programs)):
        ratios = [ratio for case in cases for ratio in case.ratios[i].values()]
        print(f"{programs[i]}: geometric mean {mean(ratios):.3f}, worst "
              f"{max(ratios):.2f} of {len(ratios)} products")
    for case in cases:
        if args.full:
            case.print_layers()
        if args.split:
            case.print_splits()


if __name__ == "__main__":
    main()
