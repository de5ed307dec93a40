#!/usr/bin/env python3
"""Compares the PTX that two compilers make of the sweep and of the variants.

    scripts/compare_ptx.py --base PATH --new PATH [--reduced | --quick]
                           [--only REGEX] [--jobs N] [--cache FILE]

The modules are those of scripts/sweep.py (all of them, with --reduced those of
its --reduced) and of scripts/variants.py. Each is compiled to PTX by both
programs, `blockscale` of two states of the tree, without ptxas; nothing in the
text is ignored. --quick takes one kernel of every type mix of the sweep and of
every variant: for use while working. --only takes the modules whose name,
"sweep CHIP KIND A x B SPEC ..." or "variant NAME CHIP", the expression is found
in. --cache keeps digests of what the base makes, so that the next comparison
with it compiles once and not twice.

Prints each kernel that differs with the first line that does, and at the end
the numbers of modules and kernels. Exits with 1 if anything differs or does not
compile, or if nothing was compared.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import namedtuple

import legality
import sweep
import variants

# `functions` are texts of MLIR, one function each, in the order of the file.
Module = namedtuple("Module", "name chip functions")

# Kernels of one module of --quick: enough to share the start of a process.
QUICK_MODULE = 8


def sweep_modules(reduced):
    for module in sweep.modules(sweep.chips(), reduced):
        cases = module.cases
        yield Module(f"sweep {sweep.title(module.chip, cases[0].mix)}", module.chip,
                     [sweep.function(f"k{i}", c) for i, c in enumerate(cases)])


def variant_modules():
    for variant in variants.VARIANTS:
        for chip in variant.chips:
            yield Module(f"variant {variant.name} {chip}", chip,
                         variants.functions(variant))


def quick_modules():
    """One case of each mix, another one from mix to mix; one product of each
    operand types of a variant, on its chips in turn. Kernels of one chip are
    put together."""
    by_chip = {}
    for i, module in enumerate(sweep.modules(sweep.chips(), reduced=True)):
        case = module.cases[i % len(module.cases)]
        functions = by_chip.setdefault(f"sweep {module.chip}", [])
        functions.append(sweep.function(f"k{len(functions)}", case))
    for i, variant in enumerate(variants.VARIANTS):
        chip = variant.chips[i % len(variant.chips)]
        functions = variants.functions(variant)
        yield Module(f"variant {variant.name} {chip}", chip,
                     functions[i % min(2, len(functions))::
                               max(2, len(functions) // 2)])
    for name, functions in by_chip.items():
        for at in range(0, len(functions), QUICK_MODULE):
            yield Module(f"{name}, from k{at}", name.split()[1],
                         functions[at:at + QUICK_MODULE])


def ptx(program, chip, functions):
    """The PTX, or None and what the compiler said. The one place that knows
    how the command is spelled."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.mlir")
        with open(path, "w") as file:
            file.write("\n".join(functions))
        done = subprocess.run(
            [program, "compile", "--emit=ptx", f"--target={chip}", path],
            capture_output=True, text=True)
        text = done.stdout if done.returncode == 0 else None
        return text, done.stderr.replace(path, "k.mlir").strip()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """Digests of what one program made of modules; without a path empty."""

    def __init__(self, path, program):
        self.path = path
        self.lock = threading.Lock()
        with open(program, "rb") as file:
            self.program = hashlib.sha256(file.read()).hexdigest()
        self.all = {}
        if path and os.path.exists(path):
            with open(path) as file:
                self.all = json.load(file)
        self.known = self.all.setdefault(self.program, {})
        self.changed = False

    @staticmethod
    def key(module):
        return digest("\n".join([module.chip, *module.functions]))

    def get(self, module):
        with self.lock:
            return self.known.get(self.key(module))

    def put(self, module, text):
        with self.lock:
            self.known[self.key(module)] = digest(text)
            self.changed = True

    def save(self):
        if not self.path or not self.changed:
            return
        with self.lock:
            text = json.dumps(self.all)
            self.changed = False
        # Another comparison may read or write the file at this moment.
        handle, path = tempfile.mkstemp(dir=os.path.dirname(self.path) or ".")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(path, self.path)


def kernels_of(text):
    """The parts of a PTX file by the name of their kernel; what stands in front
    of the first is "the header"."""
    parts = re.split(r"^(?=\t// \.globl\t)", text, flags=re.MULTILINE)
    result = {"the header": parts[0]}
    for part in parts[1:]:
        result[part.split("\n", 1)[0].split("\t")[2].split()[0]] = part
    return result


def first_difference(base, new):
    for number, (one, other) in enumerate(itertools.zip_longest(
            base.splitlines(), new.splitlines()), 1):
        if one != other:
            return (f"line {number}:\n    base: {one or '(nothing)'}\n"
                    f"    new:  {other or '(nothing)'}")
    return "line ends:\n    the lines are the same"


def differences(module, base, new):
    """A text for each kernel that differs."""
    old, now = kernels_of(base), kernels_of(new)
    result = []
    for name in [*old, *(name for name in now if name not in old)]:
        if old.get(name, "") != now.get(name, ""):
            result.append(f"{module.name}: {name}, "
                          + first_difference(old.get(name, ""),
                                             now.get(name, "")))
    return result or [f"{module.name}: the order of the kernels"]


def compare(module, base, new, cache):
    """What differs, as texts."""
    text, why = ptx(new, module.chip, module.functions)
    if text is not None and cache.get(module) == digest(text):
        return []
    expected, why_not = ptx(base, module.chip, module.functions)
    if expected is not None:
        cache.put(module, expected)
    if expected is not None and expected == text:
        return []
    if expected is not None and text is not None:
        return differences(module, expected, text)
    # One kernel that is refused must not hide the others.
    if len(module.functions) > 1:
        single = [module._replace(functions=[f]) for f in module.functions]
        return [d for m in single for d in compare(m, base, new, cache)]
    name = re.search(r"@(\w+)", module.functions[0]).group(1)
    return [f"{module.name}: {name} is not compiled by {who}: {said}"
            for who, result, said in (("base", expected, why_not),
                                      ("new", text, why)) if result is None]


def parse_options():
    parser = argparse.ArgumentParser(
        description="Compares the PTX of two compilers.")
    parser.add_argument("--base", required=True)
    parser.add_argument("--new", required=True)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--reduced", action="store_true")
    extent.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", type=re.compile)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache")
    options = parser.parse_args()
    for name in ("base", "new"):
        program = getattr(options, name)
        if not shutil.which(program):
            parser.error(f"there is no program '{program}'")
        setattr(options, name, shutil.which(program))
    return options


def main():
    options = parse_options()
    legality.use(options.new)
    modules = (quick_modules() if options.quick else itertools.chain(
        sweep_modules(options.reduced), variant_modules()))
    modules = [m for m in modules if options.only.search(m.name)]
    kernels = sum(len(module.functions) for module in modules)
    cache = Cache(options.cache, options.base)
    found, done, said = [], 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(compare, module, options.base, options.new, cache)
                   for module in modules]
        for task in concurrent.futures.as_completed(running):
            done += 1
            for text in task.result():
                found.append(text)
                print(text, flush=True)
            if time.monotonic() - said > 5:
                said = time.monotonic()
                print(f"{done} of {len(modules)} modules, "
                      f"{len(found)} differences", file=sys.stderr)
                cache.save()
    cache.save()
    print(f"{len(modules)} modules, {kernels} kernels, "
          f"{len(found)} differences")
    sys.exit(bool(found) or not modules)


if __name__ == "__main__":
    main()
