#!/usr/bin/env python3
"""The formula by which schedules are chosen against the timeline, for products drawn
at random.

usage: two_models_at_random.py BLOCKSCALE [--targets=sm_120a] [--seed=1] [--count=150]

Draws kinds, sizes and result types, and asks `blockscale explain schedule --replay=1`
for the schedule that the formula takes. Prints each product with how far the formula is
from the timeline, and at the end the median and the largest difference. By two models
of ours, nothing is measured. About a second for each product.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

# Element and scales by name.
KINDS = {"NVFP4": ("f4E2M1FN", "multi_float32_e4m3fn_t16"),
         "MXFP4": ("f4E2M1FN", "e8m0_t32"),
         "MXFP8": ("f8E4M3FN", "e8m0_t32"),
         "MXFP6": ("f6E2M3FN", "e8m0_t32")}
# Products of more multiplications take long to replay.
MOST_MULTIPLICATIONS = 1.2e10


def draw_sizes():
    m = random.choice([1, 8, 16, 33, 64, 128, 200, 256, 500, 512, 1024, 1500, 2048])
    n = random.choice([64, 128, 264, 512, 576, 1024, 1536, 2112, 2880, 4096, 5120])
    k = random.choice([256, 512, 768, 1024, 1536, 2048, 2880, 4096, 7168])
    if random.random() < 0.4:
        m = random.randint(1, 1200)
    if random.random() < 0.4:
        n = 8 * random.randint(4, 400)
    if random.random() < 0.3:
        k = 128 * random.randint(1, 40)
    return m, n, k


def draw():
    a = b = random.choice(["NVFP4", "MXFP4", "MXFP8"])
    if a == "MXFP8" and random.random() < 0.4:
        b = random.choice(["MXFP4", "MXFP6"])
    m, n, k = draw_sizes()
    if m * n * k > MOST_MULTIPLICATIONS:
        return draw()
    return a, b, m, n, k, random.choice(["bf16", "bf16", "f32", "f16"])


def source(a, b, m, n, k, result):
    a, b = (f'!blockscale.tensor<{rows}x{k}x{KINDS[kind][0]}, "{KINDS[kind][1]}", '
            "layout = tiled_128x4>" for kind, rows in ((a, m), (b, n)))
    d = f"tensor<{m}x{n}x{result}>"
    return (f"func.func @product(%a: {a}, %b: {b}) -> {d} {{\n"
            f"  %d = blockscale.matmul %a, %b : {a}, {b} -> {d}\n"
            f"  return %d : {d}\n}}\n")


def replay(program, target, text):
    """The schedule that the formula takes, with both times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.mlir"
        path.write_text(text)
        said = subprocess.run(
            [program, "explain", "schedule", str(path), "--replay=1",
             f"--target={target}", "--format=json"],
            check=True, capture_output=True, text=True).stdout
    return json.loads(said)[0]["schedules"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("--targets", default="sm_120a")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    options = parser.parse_args()
    random.seed(options.seed)
    distances = []
    for _ in range(options.count):
        a, b, m, n, k, result = product = draw()
        target = random.choice(options.targets.split(","))
        taken = replay(options.program, target, source(*product))
        formula, timeline = taken["microseconds"], taken["timeline_microseconds"]
        distances.append(abs(formula / timeline - 1))
        print(f"{formula / timeline - 1:+.1%} {target} {a} x {b}, {m} x {n} x {k} to "
              f"{result}: {formula:.2f} against {timeline:.2f}, {taken['limit']}, "
              f"{taken['schedule']}", flush=True)
    print(f"\n{len(distances)} products: median {statistics.median(distances):.1%}, "
          f"largest {max(distances):.1%}, {sum(d > 0.3 for d in distances)} above 30 %")


if __name__ == "__main__":
    main()
