#!/usr/bin/env python3
"""Least times of the products of real layers by the model of time.

usage: layer_bounds.py BLOCKSCALE [--rows=10]

For the products of workload_times.py, over the same time: what the model of
published kernels has for a kernel whose tiles cost nothing; what our formula
would have for tiles of any size that fill all SMs evenly, in any number of
parts of K; and what the schedules that are taken have. Fails if a schedule that
`blockscale explain schedule` lists is faster than the least time. Then the
products that are furthest from it. By the model, nothing is measured.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import itertools
import math
import sys
from dataclasses import dataclass

import workload_times
from workload_times import FORMATS, LAUNCH, LAYERS, PARTS, ROWS, mean

# The model of published kernels (lib/HW/GemmModel.cpp): start and end in
# cycles, microseconds of a wave, the share of the rate that a main loop
# reaches, and how parts that overlap slow each other.
START_AND_END, OF_WAVE, EFFICIENCY, OVERLAP = 3500, 0.5, 0.965, 3.2
# Latencies and rates (include/blockscale/HW/Throughput.h): microseconds until
# the first load is there, cycles of the shortest matrix instruction until its
# sums are known to be there and of the first load of them, gigabytes a second
# into one SM, bytes a cycle of D out of it and of sums to a CTA of the cluster,
# terabytes a second of the L2 cache, and cycles of an arrival there.
FIRST_LOAD, LAST_INSTRUCTION, FIRST_SUMS = 0.35, 12 + 137 + 8 / 2, 40
INTO_SM, OUT_OF_SM, TO_CTA, OF_L2, ARRIVAL = 164, 30, 36, 30, 200
# The most that a product should take of the time that bounds it.
GOAL = 1.5
# Cycles in which kernels of ours start and end, of a CTA, of a pair and of a
# CTA with a part of K, and microseconds of a wave (lib/HW/GemmModel.cpp).
OF_CTA, OF_PAIR, OF_PARTS, OF_OUR_WAVE = 1150, 1950, 920, 0.1
# What comes behind the last instruction of a tile that is stored half by half.
BEHIND = 0.7
WHOLE_TILES = 8, 16, 32, 64, 128, 192, 256, 320, 384
# Bytes of an element without its scale.
ELEMENTS = {"NVFP4": 0.5, "MXFP8": 1}
SMS, LANES, GIGAHERTZ = 148, 128, {"B200": 1.965, "B300": 2.032}


@dataclass
class Product:
    """One product on one part, in microseconds."""
    format_name: str
    part: str
    layer: str
    rows: int

    def __post_init__(self):
        self.columns, self.k = LAYERS[self.layer]
        self.bytes = FORMATS[self.format_name][2]
        self.element = ELEMENTS[self.format_name]
        _, terabytes, petaflops = PARTS[self.part]
        self.peak = petaflops[self.format_name]
        loaded = (self.rows + self.columns) * self.k * self.bytes
        stored = 2 * self.rows * self.columns
        self.memory = (loaded + stored) / terabytes / 1e6
        self.tensor = 2 * self.rows * self.columns * self.k / self.peak / 1e9
        self.bound = LAUNCH + max(self.memory, self.tensor)

    def cycles(self, number):
        return number / GIGAHERTZ[self.part] / 1e3


def longest(times, slow_each_other):
    """Of parts of a kernel that overlap."""
    if not slow_each_other:
        return max(times)
    return sum(time ** OVERLAP for time in times) ** (1 / OVERLAP)


def published(product, slow_each_other):
    """Nothing but memory and multipliers, and the start and the end that
    kernels have had when their times were measured."""
    rate = EFFICIENCY if slow_each_other else 1
    times = product.memory, product.tensor / rate
    return (LAUNCH + product.cycles(START_AND_END) + OF_WAVE +
            longest(times, slow_each_other))


@dataclass
class Rules:
    """What a least time counts."""
    slow_each_other: bool
    # Whole tiles of the sizes that are lowered, in whole waves.
    whole: bool = False
    # Starts and ends as our formula has them.
    ours: bool = False


def ends(product, ctas, parts, waves, rules):
    """Before the first and behind the last instruction, but for what is
    stored."""
    if not rules.ours:
        return FIRST_LOAD + product.cycles(LAST_INSTRUCTION + FIRST_SUMS)
    cycles = OF_PAIR if ctas == 2 else OF_PARTS if parts > 1 else OF_CTA
    return product.cycles(cycles) + OF_OUR_WAVE * waves


def with_tiles(product, m, n, ctas, tile_n, parts, rules):
    """Tiles of 128 rows of each CTA. Where there may be fractions of them no SM
    has more to do than others, or one tile."""
    rows, columns = max(1, m / (LANES * ctas)), max(1, n / tile_n)
    if rules.whole:
        rows, columns = math.ceil(rows), math.ceil(columns)
    tiles = rows * columns * parts
    at_once = min(tiles, SMS / ctas)
    waves = math.ceil(tiles * ctas / SMS) if rules.whole else tiles / at_once
    k = product.k / parts
    # Each CTA of a pair has half of B and all of its scales.
    loaded = k * (LANES * product.bytes + tile_n / ctas * product.element +
                  tile_n * (product.bytes - product.element))
    flops = 2 * LANES * tile_n * k
    # CTAs of a cluster may share what they read of the L2 cache.
    l2 = at_once * ctas * loaded / 2 / OF_L2 / 1e6
    rate = EFFICIENCY if rules.slow_each_other else 1
    times = (flops / product.peak / rate * SMS / 1e9, l2,
             product.memory / waves)
    wave = max(longest(times, rules.slow_each_other), loaded / INTO_SM / 1e3)
    sums = LANES * tile_n
    stored = BEHIND * 2 * sums / OUT_OF_SM
    if parts > 1:
        stored = (4 * sums * (1 - 1 / parts) / TO_CTA + ARRIVAL +
                  2 * sums / parts / OUT_OF_SM)
    return (ends(product, ctas, parts, waves, rules) + waves * wave +
            product.cycles(stored))


def least(product, rules):
    """The best tiles."""
    sizes = product.rows, product.columns
    return LAUNCH + min(
        with_tiles(product, m, n, ctas, tile_n, parts, rules)
        for m, n in (sizes, sizes[::-1]) for ctas in (1, 2)
        for tile_n in (WHOLE_TILES if rules.whole else range(8, 488, 8))
        for parts in range(1, 17))


def print_line(what, products, times):
    ratios = [(product, time / product.bound)
              for product, time in zip(products, times)]
    by_rows = [mean([ratio for product, ratio in ratios
                     if product.rows == rows]) for rows in ROWS]
    everything = [ratio for _, ratio in ratios]
    above = sum(ratio > GOAL for ratio in everything)
    print(f"| {what} | {mean(everything):.3f} | {max(everything):.2f} | "
          f"{above} | " + " | ".join(f"{one:.2f}" for one in by_rows) + " |")


def print_furthest(products, schedules, floors, rows):
    print("\n| product | taken, us | least, us | ratio | schedule |\n"
          "| --- | --- | --- | --- | --- |")
    order = sorted(range(len(products)),
                   key=lambda i: floors[i] / schedules[i][0])
    for i in order[:rows]:
        product, (time, schedule) = products[i], schedules[i]
        print(f"| {product.format_name}, {product.part}, {product.layer}, "
              f"M = {product.rows} | {time:.2f} | {floors[i]:.2f} | "
              f"{time / floors[i]:.2f} | {schedule} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=10)
    options = parser.parse_args()
    products, taken, fastest = [], [], []
    for format_name, part in itertools.product(FORMATS, PARTS):
        found = workload_times.schedules(options.program, format_name, part)
        for (layer, rows), schedules in found.items():
            products.append(Product(format_name, part, layer, rows))
            taken.append(schedules[0])
            fastest.append(min(schedules)[0])
    print(f"| what counts | geometric mean | worst | above {GOAL} | "
          + " | ".join(f"M = {rows}" for rows in ROWS) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(ROWS))
    for slow, how in ((False, "overlap whole"), (True, "slow each other")):
        print_line(f"start and end of published kernels, parts {how}", products,
                   [published(product, slow) for product in products])
    floors = []
    for what, rules in (
            ("tiles of any size, parts overlap whole", Rules(False)),
            ("tiles of any size, parts slow each other", Rules(True)),
            ("the same, whole tiles in whole waves", Rules(True, True)),
            ("the same, our starts and ends", Rules(True, True, True))):
        floors.append([least(product, rules) for product in products])
        print_line(what, products, floors[-1])
    floors = floors[1]
    print_line("schedules that are taken", products,
               [time for time, _ in taken])
    print_furthest(products, taken, floors, options.rows)
    below = [product for product, time, floor
             in zip(products, fastest, floors) if time < floor]
    for product in below:
        print(f"faster than its least time: {product}", file=sys.stderr)
    sys.exit(bool(below))


if __name__ == "__main__":
    main()
