"""Assembles and emulates every kind of kernel; prints a table.

    scripts/variants.py [--only REGEX] [--every N] [--jobs N] [--blockscale PATH]

One row for each way to build a kernel (CTA pairs, clusters, K = 96, sparse,
warp-level, ...). Its kernels are compiled for each chip that has the
instructions, assembled by ptxas, then run on the emulator with exact data and
compared bit for bit: for several sizes with tails, and with asynchronous
operations that finish at once and as late as they may. Exits with 1 if a kernel
is not assembled, spills, or disagrees. With --every it takes each N-th kernel of a
row, others in each row, and prints what the whole would count; CI does that.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import legality
from variant_functions import function, function_along_k
from variant_products import PRODUCT_VARIANTS
from variant_results import RESULT_VARIANTS

# In the order of docs/variants.md.
VARIANTS = PRODUCT_VARIANTS + RESULT_VARIANTS


def functions(variant):
    make = variant.make or (function_along_k if variant.is_along_k else function)
    return [make(f"k{i}_{n}_{k}", operands, n, k, variant.schedule,
                 variant.groups, variant.results[i % len(variant.results)])
            for i, operands in enumerate(variant.operands)
            for n, k in variant.sizes.products]


class Result:
    def __init__(self, variant, taken):
        self.variant, self.taken = variant, taken
        self.assembled = self.runs = self.agree = 0
        self.kernels = len(variant.operands) * len(variant.sizes.products)
        self.errors = []

    def of_whole(self, count):
        """What all kernels would count, where those taken count so."""
        return count * self.kernels // len(self.taken)


def run(result, command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        result.errors.append(f"{result.variant.name}: {' '.join(command)}\n"
                             f"{done.stderr}{done.stdout}")
    return done.stdout


def assemble(result, blockscale, chip, path, folder):
    out = os.path.join(folder, chip)
    os.mkdir(out)
    run(result, [blockscale, "compile", f"--target={chip}", "-o", out, path])
    report = os.path.join(out, "variant.report.json")
    if not os.path.exists(report):
        return
    with open(report) as file:
        kernels = json.load(file)["kernels"]
    result.assembled += len(kernels)
    for kernel in kernels:
        if (kernel["spill_store_bytes"] or kernel["spill_load_bytes"]
                or kernel["stack_bytes"]):
            result.errors.append(f"{result.variant.name}: {kernel['name']} "
                                 f"spills on {chip}")


def emulate(result, blockscale, path):
    variant = result.variant
    for completion in ("immediate", "latest"):
        table = run(result, [
            blockscale, "verify", f"--target={variant.chips[0]}",
            "--data=exact", f"--completion={completion}", "--num-sms=16",
            "--threads=1", "-k" if variant.is_along_k else "-m",
            ",".join(map(str, variant.sizes.rows)), path])
        # Behind the kernels come functions that do more than one kernel's work.
        table = table.partition("\nfunction ")[0]
        result.runs += len(re.findall(r"\b(?:pass|FAIL)\b", table))
        result.agree += len(re.findall(r"\bpass\b", table))


def taken_of(variant, every):
    """Each N-th kernel, one at least, from a place that the row's name says."""
    whole = functions(variant)
    first = sum(variant.name.encode()) % min(every, len(whole))
    return whole[first::every]


def check(blockscale, variant, every):
    result = Result(variant, taken_of(variant, every))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "variant.mlir")
        with open(path, "w") as file:
            file.write("\n".join(result.taken))
        for chip in variant.chips:
            assemble(result, blockscale, chip, path, folder)
        emulate(result, blockscale, path)
    expected = len(result.taken) * len(variant.sizes.rows) * 2
    if result.agree != expected:
        result.errors.append(f"{variant.name}: {result.agree} of {expected} "
                             "runs agree")
    return result


def print_table(results):
    print("| kernels | chips | assembled | runs on the emulator | agree |")
    print("|---|---|---|---|---|")
    for r in results:
        total = r.kernels * len(r.variant.chips)
        print(f"| {r.variant.name} | {', '.join(r.variant.chips)} "
              f"| {r.of_whole(r.assembled)} of {total} | {r.of_whole(r.runs)} "
              f"| {r.of_whole(r.agree)} |")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    options = parser.parse_args()
    legality.use(options.blockscale)
    variants = [v for v in VARIANTS if re.search(options.only, v.name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(
            lambda v: check(options.blockscale, v, options.every), variants))
    print_table(results)
    errors = [error for r in results for error in r.errors]
    print("\n".join(errors), file=sys.stderr)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
