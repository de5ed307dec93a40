"""Verifies products that nobody chose, until the time is over.

    scripts/random_products.py [--seconds N] [--seed S] [--first I] [--count N]
                               [--jobs N] [--blockscale PATH] [--keep DIR]

Each product draws its chip, kind, element types, scale spec, shapes (static and
dynamic), batch, order of the data, epilogue, result type, schedule, number of
SMs and order of completion from the seed and its number, which the run prints;
`blockscale verify` compares it with the reference, once under plain and once
under harsh conditions (alignments, padding bytes, NaNs; docs/emulator.md). A
schedule that is refused in words is left out in a second try; a product that is
refused without one counts as refused. Anything else that is not a pass is a
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
from dataclasses import dataclass, field
from pathlib import Path

import legality
from sweep import INTEGER_MIXES, MIXES, UNSCALED_MIXES, is_legal

# A product takes some seconds on the emulator at most.
MAX_WORK = 1 << 27
# Seconds for one product; more is a hang.
TIME_LIMIT = 600


# Scales that cover all of K: factors of a product without other scales.
FACTORS = ["float32", "float32_t0", "float16_t0", "bfloat16_t4_t0",
           "float32_t16_t0", "float32_t128_t0"]
POWERS_OF_TWO = ["e8m0", "e8m0_t0", "e8m0_t32_t0"]


@dataclass
class Product:
    """A source file, and the options that `verify` gets with it."""
    chip: str
    schedule: list
    options: list
    text: str = field(repr=False, default="")

    def source(self, with_schedule=True):
        clause = ""
        if with_schedule and self.schedule:
            clause = ("schedule(#blockscale.schedule<"
                      + ", ".join(self.schedule) + ">)")
        return self.text.replace("SCHEDULE", clause)


def dense_unscaled(mix):
    """The same elements without sparsity."""
    return mix._replace(spec="", b_spec="")


def draw_mix(rng, chip):
    mixes = [mix for mix in MIXES if is_legal(chip, mix)]
    if legality.has_tensor_memory(chip):
        unscaled = UNSCALED_MIXES + INTEGER_MIXES * legality.has(chip, kind="i8")
    else:
        # Those of kinds with scales, which are 1 there.
        unscaled = [m for m in UNSCALED_MIXES if m.kind == "f8f6f4"]
    mixes += unscaled + [dense_unscaled(m) for m in unscaled]
    # Every kind is as likely as any other, however many type mixes it has.
    kind = rng.choice(sorted({(m.kind, "n" in m.spec) for m in mixes}))
    return rng.choice([m for m in mixes if (m.kind, "n" in m.spec) == kind])


def draw_extent(rng, most):
    """Small, near a multiple of a tile, or anything."""
    value = rng.choice([
        rng.randint(1, min(most, 40)),
        128 * rng.randint(1, 4) + rng.randint(-3, 3),
        rng.randint(1, most)])
    return max(1, min(value, most))


def draw_shape(rng, mix):
    """M, N, K and the batch, within what may be emulated in a moment."""
    # K is whole blocks of both sides, and pitches are multiples of 16 bytes.
    step = 64
    if mix.kind in ("mxf4", "mxf4nvf4", "mxf8f6f4", "f8f6f4"):
        step = 128
    while True:
        m, n = draw_extent(rng, 600), draw_extent(rng, 600)
        # Rows of B along K need no multiple, those of D do in some epilogues.
        if rng.random() < 0.7:
            n = -(-n // 8) * 8
        k = step * rng.randint(1, 16) + (32 if rng.random() < 0.4 else 0)
        batch = rng.choice([0, 0, 0, 1, 2, 3, 5])
        if m * n * k * max(1, batch) <= MAX_WORK:
            return m, n, k, batch


def draw_schedule(rng, chip):
    fields = []
    if rng.random() < 0.35:
        return fields
    if rng.random() < 0.6:
        fields.append(f"tile_n = {rng.choice([16, 32, 64, 128, 192, 256])}")
    if rng.random() < 0.3:
        fields.append(f"stages = {rng.randint(2, 5)}")
    if not legality.has_tensor_memory(chip):
        return fields
    if rng.random() < 0.5:
        fields.append(f"cta_group = {rng.choice([1, 2])}")
    for name in ("cluster_m", "cluster_n"):
        if rng.random() < 0.4:
            fields.append(f"{name} = {rng.choice([1, 1, 2, 4])}")
    if rng.random() < 0.3:
        fields.append("swap_operands = " + rng.choice(["true", "false"]))
    if rng.random() < 0.2:
        fields.append("scheduler = dynamic")
    if rng.random() < 0.2:
        fields.append("dependent_launch = true")
    if rng.random() < 0.25:
        splits = rng.choice([2, 2, 3, 4, 5])
        fields.append(f"split_k = {splits}")
        if rng.random() < 0.6:
            fields.append(f"cluster_k = {rng.choice([1, splits, splits])}")
    if rng.random() < 0.25:
        fields.append("stores = tma")
    if rng.random() < 0.15:
        fields.append(f"stream_k = {rng.randint(2, 12)}")
    if legality.has(chip, k=96) and rng.random() < 0.2:
        fields.append("mma_k = 96")
    elif legality.has(chip, k=128, sparse=False) and rng.random() < 0.4:
        fields.append("tile_m = 512")
    return fields


def draw_region(rng, operands):
    """An epilogue that no keyword names: up to six steps on the product and
    what else there is."""
    names = [name for name, _ in operands if name in ("c", "v")]
    values = ["%x"] + [f"%{name}" for name in names]
    lines = ["%half = arith.constant 0.5 : f32"]
    for i in range(rng.randint(1, 6)):
        operation = rng.choice(
            ["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
             "arith.minimumf", "arith.negf", "math.absf", "math.tanh",
             "math.exp", "math.erf", "math.floor", "math.copysign"])
        count = 1 if operation in ("arith.negf", "math.absf", "math.tanh",
                                   "math.exp", "math.erf",
                                   "math.floor") else 2
        inputs = [values[-1]] + [rng.choice(values + ["%half"])] * (count - 1)
        lines.append(f"%t{i} = {operation} {', '.join(inputs)} : f32")
        values.append(f"%t{i}")
    lines.append(f"blockscale.yield {values[-1]}")
    names = ", ".join(["%x"] + [f"%{name}" for name in names])
    body = "".join(f"    {line}\n" for line in lines)
    return f"epilogue({names}) {{\n{body}  }}"


def draw_epilogue(rng, mix, m, n, batch):
    """Extra operands as (name, type), clauses, and the type of D. `m` and `n`
    are texts."""
    if mix.kind == "i8" and rng.random() < 0.5:
        return [], "", "i32"
    d = rng.choice(["f32", "bf16", "f16"])
    operands, clauses = [], []
    if rng.random() < 0.3:
        operands.append(("alpha", "f32"))
        clauses.append("alpha(%alpha)")
    if rng.random() < 0.3:
        if rng.random() < 0.6:
            operands.append(("beta", "f32"))
            clauses.append("beta(%beta)")
        prefix = f"{batch}x" if batch else ""
        element = rng.choice(["f32", "bf16", "f16", d])
        operands.append(("c", f"tensor<{prefix}{m}x{n}x{element}>"))
        clauses.append("c(%c)")
    if rng.random() < 0.4:
        row = rng.random() < 0.5
        element = rng.choice(["f32", "bf16", "f16"])
        operands.append(("v", f"tensor<{m if row else n}x{element}>"))
        clauses.append("bias(%v)" + (" row" if row else ""))
    if rng.random() < 0.4:
        name = rng.choice(["relu", "relu", "gelu", "silu"])
        clauses.append(f"activation({name})")
    elif rng.random() < 0.3:
        clauses.append(draw_region(rng, operands))
    return operands, " ".join(clauses), d


def tensor_type(shape, element, spec, order):
    text = f"!blockscale.tensor<{'x'.join(shape)}x{element}"
    if spec:
        text += f', "{spec}"'
    if spec and spec not in FACTORS + POWERS_OF_TWO:
        text += ", layout = tiled_128x4"
    return text + (", order = mn_major>" if order else ">")


def draw_factors(rng, mix, d):
    """The specs of A and B: with scales that cover all of K now and then, where
    they have no others."""
    specs = [mix.spec, mix.spec if mix.b_spec is None else mix.b_spec]
    if mix.kind not in ("f8f6f4", "i8") or d == "i32":
        return specs
    for side, element in enumerate((mix.a, mix.b)):
        legal = FACTORS + POWERS_OF_TWO * (mix.kind != "i8")
        if not specs[side] and element != "ui8" and rng.random() < 0.5:
            specs[side] = rng.choice(legal)
    return specs


def draw_repeated(rng, spec, k):
    """The spec with longer tiles and tiles of rows now and then, whose scales are
    repeated when they are packed; k is None where only the launch knows it."""
    found = re.fullmatch(r"(.*)_t(\d+)(n\d+m\d+)?", spec)
    if not found or rng.random() < 0.7:
        return spec
    size, pruned = int(found[2]), 2 if found[3] else 1
    legal = [one for one in (2 * size, 4 * size, 8 * size) if one <= 256
             and (k is None or k % (one * pruned) == 0)]
    rows = rng.choice(["", "_t0", "_t4", "_t16", "_t32", "_t128"])
    return (f"{found[1]}{rows}_t{rng.choice([size] + legal)}{found[3] or ''}")


def draw(seed, number):
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
    if random.Random(f"{seed}:{number}:scales").random() < 0.2:
        product.schedule.append(f"scale_stages = {1 + number % 2}")
    product.text = (
        f"// random_products.py --seed {seed} --first {number} --count 1\n"
        f"!a = {a}\n!b = {b}\n"
        f"func.func @f(%a: !a, %b: !b{arguments}) -> {result} {{\n"
        f"  %0 = blockscale.matmul %a, %b {clauses} SCHEDULE : "
        f"!a, !b{types} -> {result}\n"
        f"  return %0 : {result}\n}}\n")
    product.options = [f"--target={chip}"]
    product.options += [f"--{name}={sizes[name]}" for name in sorted(dynamic)]
    product.options += [
        f"--num-sms={rng.choice([16, 17, 33, 148])}",
        f"--seed={rng.randrange(1 << 32)}",
        f"--completion={rng.choice(['immediate', 'random', 'latest'])}"]
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
        product = draw(self.options.seed, number)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"product-{number}.mlir")
            for with_schedule in (True, False):
                source = product.source(with_schedule)
                path.write_text(source)
                command, outcome, output = self.verify(path, product)
                if outcome != "refused" or not product.schedule:
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
              f"--first {number} --count 1", flush=True)

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
