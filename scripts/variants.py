"""Assembles and emulates every kind of kernel; prints a table.

    scripts/variants.py [--only REGEX] [--once] [--jobs N] [--blockscale PATH]

One row for each way to build a kernel (CTA pairs, clusters, K = 96, sparse,
warp-level, ...). Its kernels are compiled for each chip that has the
instructions, assembled by ptxas, then run on the emulator with exact data and
compared bit for bit: for several sizes with tails, and with asynchronous
operations that finish at once and as late as they may. Exits with 1 if a kernel
is not assembled, spills, or disagrees. With --once it assembles each kernel for one
chip and runs it under one condition, others for each kernel of a row, and prints what
the whole would count; CI does that.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import itertools
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


COMPLETIONS = ("immediate", "latest")


class Result:
    def __init__(self, variant):
        self.variant = variant
        self.assembled = self.runs = self.agree = 0
        self.kernels = len(variant.operands) * len(variant.sizes.products)
        self.errors = []

    def expect(self, what, count, expected):
        if count != expected:
            self.errors.append(f"{self.variant.name}: {count} of {expected} {what}")


def run(result, command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        result.errors.append(f"{result.variant.name}: {' '.join(command)}\n"
                             f"{done.stderr}{done.stdout}")
    return done.stdout


def write(folder, functions):
    path = os.path.join(tempfile.mkdtemp(dir=folder), "variant.mlir")
    with open(path, "w") as file:
        file.write("\n".join(functions))
    return path


def assemble(result, blockscale, chip, path):
    """How many kernels were assembled."""
    out = os.path.dirname(path)
    run(result, [blockscale, "compile", f"--target={chip}", "-o", out, path])
    report = os.path.join(out, "variant.report.json")
    if not os.path.exists(report):
        return 0
    with open(report) as file:
        kernels = json.load(file)["kernels"]
    for kernel in kernels:
        if (kernel["spill_store_bytes"] or kernel["spill_load_bytes"]
                or kernel["stack_bytes"]):
            result.errors.append(f"{result.variant.name}: {kernel['name']} "
                                 f"spills on {chip}")
    return len(kernels)


def emulate(result, blockscale, rows, completion, path):
    """How many runs there were, and how many agreed."""
    variant = result.variant
    table = run(result, [
        blockscale, "verify", f"--target={variant.chips[0]}", "--data=exact",
        f"--completion={completion}", "--num-sms=16", "--threads=1",
        "-k" if variant.is_along_k else "-m", ",".join(map(str, rows)), path])
    # Behind the kernels come functions that do more than one kernel's work.
    table = table.partition("\nfunction ")[0]
    return (len(re.findall(r"\b(?:pass|FAIL)\b", table)),
            len(re.findall(r"\bpass\b", table)))


def shared_out(whole, choices, first):
    """Each choice with the functions that it has when all have one in turn."""
    for i, choice in enumerate(choices):
        some = whole[(i - first) % len(choices)::len(choices)]
        if some:
            yield choice, some


def check(blockscale, variant, once):
    result = Result(variant)
    whole = functions(variant)
    rows = variant.sizes.rows
    with tempfile.TemporaryDirectory() as folder:
        # Rows begin with others each.
        first = sum(variant.name.encode())
        conditions = list(itertools.product([[one] for one in rows], COMPLETIONS))
        if once:
            chips = shared_out(whole, variant.chips, first)
            conditions = shared_out(whole, conditions, first)
        else:
            chips = [(chip, whole) for chip in variant.chips]
            conditions = [((rows, one), whole) for one in COMPLETIONS]
        for chip, some in chips:
            count = assemble(result, blockscale, chip, write(folder, some))
            result.expect("kernels are assembled", count, len(some))
            result.assembled += count
        for (some_rows, completion), some in conditions:
            runs, agree = emulate(result, blockscale, some_rows, completion,
                                  write(folder, some))
            result.expect("runs agree", agree, len(some) * len(some_rows))
            result.runs += runs
            result.agree += agree
    if once:
        # What all chips and conditions would count, where all do as these.
        result.assembled *= len(variant.chips)
        result.runs *= len(rows) * len(COMPLETIONS)
        result.agree *= len(rows) * len(COMPLETIONS)
    return result


def print_table(results):
    print("| kernels | chips | assembled | runs on the emulator | agree |")
    print("|---|---|---|---|---|")
    for r in results:
        total = r.kernels * len(r.variant.chips)
        print(f"| {r.variant.name} | {', '.join(r.variant.chips)} "
              f"| {r.assembled} of {total} | {r.runs} | {r.agree} |")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    options = parser.parse_args()
    legality.use(options.blockscale)
    variants = [v for v in VARIANTS if re.search(options.only, v.name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(
            lambda v: check(options.blockscale, v, options.once), variants))
    print_table(results)
    errors = [error for r in results for error in r.errors]
    print("\n".join(errors), file=sys.stderr)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
