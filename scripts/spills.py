"""Looks for kernels that spill registers; prints those that do.

    scripts/spills.py [--seed S] [--first I] [--count N] [--chips LIST] [--only REGEX]
                      [--jobs N] [--blockscale PATH] [--keep DIR]

Each kernel is drawn from the seed and its number, which the run prints: a chip, the
operands, what is computed of their product (a bias, a C, a function, gate and up, zero
points), batches or groups, what the result is quantised to, and a schedule. It is
assembled, but not run: random_products.py and variants.py do that. A schedule that is
refused is left out in a second try. Exits with 1 if a kernel spills or has a stack.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import legality
from spill_products import draw


# Seconds for one product; more is a hang.
TIME_LIMIT = 600


class Kernels:
    """Compiles what is drawn and keeps what spills."""

    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.refusals = collections.Counter()

    def compile(self, product, with_schedule):
        """The kernels of the report, or why there is none."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "product.mlir")
            path.write_text(product.source(with_schedule))
            done = subprocess.run(
                [self.options.blockscale, "compile", f"--target={product.chip}",
                 "--threads=1", "--host-duties", "-o", folder, str(path)],
                capture_output=True, text=True, timeout=TIME_LIMIT)
            report = Path(folder, "product.report.json")
            if not report.exists():
                return [], done.stderr
            return json.loads(report.read_text())["kernels"], ""

    def take(self, number):
        product = draw(self.options.seed, number, self.options.chips)
        if not re.search(self.options.only, product.text):
            return []
        for with_schedule in (True, False):
            kernels, why = self.compile(product, with_schedule)
            if kernels:
                break
        else:
            found = re.search(r"error: (.*)", why)
            self.counts["refused"] += 1
            self.refusals[re.sub(r"\d+", "N", found[1] if found else why)[:150]] += 1
            return []
        self.counts["compiled"] += 1
        spilling = []
        for kernel in kernels:
            self.counts["kernels"] += 1
            spilled = [kernel[name] for name in (
                "spill_store_bytes", "spill_load_bytes", "stack_bytes")]
            if any(spilled):
                self.counts["spilling"] += 1
                spilling.append(
                    f"{number} {product.chip}: {kernel['name']} of "
                    f"{kernel['registers']} registers stores {spilled[0]} bytes, loads "
                    f"{spilled[1]}, has a stack of {spilled[2]}")
        if spilling and self.options.keep:
            Path(self.options.keep).mkdir(parents=True, exist_ok=True)
            Path(self.options.keep, f"{number}.{product.chip}.mlir").write_text(
                f"// {spilling[0]}\n" + product.source(with_schedule))
        return spilling


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--chips", type=lambda names: names.split(","))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    parser.add_argument("--keep")
    options = parser.parse_args()
    legality.use(options.blockscale)
    options.chips = options.chips or legality.chips()
    kernels = Kernels(options)
    numbers = range(options.first, options.first + options.count)
    spilling = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for some in pool.map(kernels.take, numbers):
            for line in some:
                print(line, flush=True)
            spilling += some
    for reason, count in kernels.refusals.most_common():
        print(f"refused {count}: {reason}", file=sys.stderr)
    counts = kernels.counts
    print(f"seed {options.seed}: {counts['compiled']} products compiled, "
          f"{counts['refused']} refused, {counts['kernels']} kernels, "
          f"{counts['spilling']} spill")
    # A run that compiles hardly anything says nothing.
    sys.exit(bool(spilling) or counts["compiled"] < counts["refused"])


if __name__ == "__main__":
    main()
