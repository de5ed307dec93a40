"""Verifies products that nobody chose, until the time is over.

    scripts/random_products.py [--seconds N] [--seed S] [--first I] [--count N]
                               [--only KINDS] [--jobs N] [--blockscale PATH]
                               [--keep DIR]

Each product draws its chip, kind, element types, scale spec, shapes (static and
dynamic), batch, order of the data, epilogue, result type, schedule, number of
SMs and order of completion from the seed and its number, which the run prints.
Some have groups (random_groups.py), some quantise their result
(random_results.py), some are whole functions of several products and what is between
them (random_functions.py), and some are no products, but quantise, dequantise or
convert (random_conversions.py); --only names those kinds that are wanted.
`blockscale verify` compares each with the reference, once under plain and once
under harsh conditions (alignments, padding bytes, NaNs; docs/emulator.md). Of a
schedule that is refused in words half of the fields are left out, and half of those
that are left, until none is; a product that is refused without one counts as refused. Anything else that is not a pass is a
failure: it is printed with the two commands that do it again, and its source
stays in --keep. Exits with 1 after a failure, or if hardly anything was
verified.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import legality
from random_conversions import draw_conversion
from random_functions import draw_function
from random_groups import draw_groups
from random_parts import (FACTORS, POWERS_OF_TWO, Product, draw_epilogue, draw_factors,
                          draw_mix, draw_options, draw_repeated, draw_schedule,
                          draw_shape, tensor_type)
from random_results import draw_quantized

# Seconds for one product; more is a hang.
TIME_LIMIT = 600


def draw_plain(seed, number):
    rng = random.Random(f"{seed}:{number}")
    chip = rng.choice(legality.chips())
    mix = draw_mix(rng, chip)
    m, n, k, batch = draw_shape(rng, mix)
    sizes = {"m": m, "n": n, "k": k, "batch": batch}
    dynamic = {name for name in sizes if rng.random() < 0.3 and sizes[name]}
    # A sparse K is whole blocks; one that only the launch knows may end inside
    # of one. What a pitch of 16 bytes does not allow is refused.
    if "n" in mix.spec:
        sizes["k"] -= sizes["k"] % 64
    if "k" in dynamic:
        sizes["k"] -= rng.choice([0, 4, 8, 16, 16, 32, 32, 48])
    text = {name: "?" if name in dynamic else str(value) if value else ""
            for name, value in sizes.items()}
    outer = [text["batch"]] if batch else []
    orders = [False, False]
    bytes_only = (mix.kind in ("mxf8f6f4", "f8f6f4") and "f8" in mix.a
                  and "f8" in mix.b)
    if (bytes_only or mix.kind == "f16") and rng.random() < 0.2:
        orders = [rng.random() < 0.5 and "n" not in mix.spec,
                  rng.random() < 0.5]
    operands, clauses, d = draw_epilogue(rng, mix, text["m"], text["n"],
                                         text["batch"])
    a_spec, b_spec = draw_factors(
        random.Random(f"{seed}:{number}:factors"), mix, d)
    a_spec, b_spec = (
        draw_repeated(random.Random(f"{seed}:{number}:repeated {side}"), spec,
                      None if "k" in dynamic else sizes["k"])
        if spec not in FACTORS + POWERS_OF_TWO else spec
        for side, spec in (("a", a_spec), ("b", b_spec)))
    a = tensor_type(outer + [text["m"], text["k"]], mix.a, a_spec, orders[0])
    b = tensor_type(outer + [text["n"], text["k"]], mix.b, b_spec, orders[1])
    result = f"tensor<{'x'.join(outer + [text['m'], text['n']])}x{d}>"
    arguments = "".join(f", %{name}: {type}" for name, type in operands)
    types = "".join(f", {type}" for _, type in operands if type != "f32")
    product = Product(chip, draw_schedule(rng, chip), [])
    if (any(name == "c" for name, _ in operands)
            and random.Random(f"{seed}:{number}:C").random() < 0.5):
        product.schedule.append("c_loads = tma")
    product.text = (
        f"!a = {a}\n!b = {b}\n"
        f"func.func @f(%a: !a, %b: !b{arguments}) -> {result} {{\n"
        f"  %0 = blockscale.matmul %a, %b {clauses} SCHEDULE : "
        f"!a, !b{types} -> {result}\n"
        f"  return %0 : {result}\n}}\n")
    product.options = draw_options(rng, chip, sizes, dynamic)
    return product


DRAWERS = {"groups": draw_groups, "quantized": draw_quantized,
           "conversions": draw_conversion, "functions": draw_function}
KINDS = ["plain", *DRAWERS]


def kinds_of(text):
    kinds = text.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"unknown kind '{unknown[0]}', legal are {', '.join(KINDS)}")
    return kinds


def draw(seed, number, only):
    """One of the kinds in `only`, as its number in the run says."""
    kind = random.Random(f"{seed}:{number}:kind").choice(only)
    if kind == "plain":
        product = draw_plain(seed, number)
    else:
        rng = random.Random(f"{seed}:{number}:{kind}")
        product = DRAWERS[kind](rng, rng.choice(legality.chips()))
    product.text = (f"// random_products.py --seed {seed} --first {number} "
                    f"--count 1 --only={','.join(only)}\n" + product.text)
    return product


class Runner:
    """Verifies products and counts what came of them."""

    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.refusals = collections.Counter()
        self.lock = threading.Lock()
        self.deadline = time.monotonic() + options.seconds

    def verify(self, path, product):
        command = [self.options.blockscale, "verify", str(path), "--threads=1",
                   *product.options]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            return command, "hang", f"nothing after {TIME_LIMIT} seconds\n"
        output = done.stdout + done.stderr
        if done.returncode == 0 and " pass\n" in output:
            return command, "pass", output
        # A refusal comes before any verdict, in the words of a diagnostic.
        refused = (done.returncode in (1, 2) and "error:" in done.stderr
                   and " FAIL\n" not in output and "LLVM ERROR" not in output)
        return command, "refused" if refused else "failure", output

    def run(self, number):
        product = draw(self.options.seed, number, self.options.only)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"product-{number}.mlir")
            for fields in product.schedules():
                source = product.source(fields)
                path.write_text(source)
                command, outcome, output = self.verify(path, product)
                if outcome != "refused":
                    break
        with self.lock:
            self.counts[outcome] += 1
            if outcome == "refused":
                reason = re.search(r"error: (.*)", output).group(1)
                self.refusals[re.sub(r"\d+", "N", reason)[:160]] += 1
            elif outcome != "pass":
                self.report(number, source, command, outcome, output)

    def report(self, number, source, command, outcome, output):
        kept = Path(self.options.keep, f"product-{number}.mlir")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(source)
        command[2] = str(kept)
        print(f"{outcome}: product {number}\n{source}{output}"
              f"again: {' '.join(command)}\n"
              f"   or: {sys.argv[0]} --seed {self.options.seed} "
              f"--first {number} --count 1 --only {','.join(self.options.only)}",
              flush=True)

    def run_all(self):
        numbers = iter(range(self.options.first,
                             self.options.first + self.options.count))

        def work():
            while time.monotonic() < self.deadline:
                with self.lock:
                    number = next(numbers, None)
                if number is None:
                    return
                self.run(number)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for future in [pool.submit(work)
                           for _ in range(self.options.jobs)]:
                future.result()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int,
                        default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale", default="blockscale")
    parser.add_argument("--only", type=kinds_of, default=KINDS,
                        help="kinds of products, such as groups,quantized")
    parser.add_argument("--keep", default="random-products",
                        help="folder for the sources of failures")
    options = parser.parse_args()
    legality.use(options.blockscale)
    print(f"seed {options.seed}, from product {options.first}", flush=True)
    runner = Runner(options)
    runner.run_all()
    counts = runner.counts
    print(f"{counts['pass']} pass, {counts['refused']} refused, "
          f"{counts['failure'] + counts['hang']} failed")
    for reason, number in runner.refusals.most_common(10):
        print(f"  refused {number}: {reason}")
    if counts["failure"] or counts["hang"]:
        return 1
    if counts["pass"] <= counts["refused"]:
        print("too few products were verified")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
