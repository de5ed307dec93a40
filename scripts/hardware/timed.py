#!/usr/bin/env python3
"""Adds kernels that hardware_times.py measures to a bundle.

usage: timed.py FOLDER [--only REGEX] [--blockscale PATH] [--jobs N]

Those of benchmarks/quantize_kernels.py and its neighbours for 8192 columns, and products
of warps. The emulator counts the instructions of 128 rows.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import concurrent.futures
import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "benchmarks"))

import dequantize_kernels
import elementwise
import hardware_list as cases
import quantize_kernels
import relayout_kernels
import sparsity_kernels
from bundle import CHIP, Skipped, compiled, parsed
from hardware_list import name_of, product

ROWS, COLUMNS = 8192, 8192
# GHz that an H100 of 700 W runs at when it is not held back.
CLOCK = 1.98
PRODUCTS = {"bf16": ("bf16", 2), "int8": ("int8", 1), "fp8_rows": ("fp8", 1),
            "deepseek": ("fp8", 1)}


def elementwise_rows(only):
    for kind, many in (
            ("quantize", quantize_kernels.rows(COLUMNS, ["rows"], False)),
            ("quantize_turned", quantize_kernels.rows(COLUMNS, ["transposed"], False)),
            ("quantize_both", quantize_kernels.rows(COLUMNS, ["rows", "transposed"], False)),
            ("dequantize", dequantize_kernels.rows(COLUMNS)),
            ("sparsity", sparsity_kernels.rows(COLUMNS)),
            ("relayout", relayout_kernels.rows(COLUMNS))):
        for names, size, text, memory in many:
            name = name_of(kind, *names)
            if re.search(only, name):
                yield name, names, size, text, memory


def counted(blockscale, folder, text, memory):
    """elementwise.py's count, for the chip that the kernel is from."""
    return elementwise.instructions(
        blockscale, folder, f"module attributes {{blockscale.target = #blockscale.target<{CHIP}>}} {{\n{text}}}",
        memory) * ROWS // elementwise.ROWS


def elementwise_case(blockscale, folder, name, names, size, text, memory):
    with tempfile.TemporaryDirectory() as scratch:
        ptx, plan, cubin = compiled(blockscale, text, Path(scratch))
        issued = counted(blockscale, Path(scratch), text, memory)
    save(folder, name, ptx, plan, cubin, {
        "name": name, "rows": ROWS, "bytes": ROWS * COLUMNS * size, "instructions": issued,
        "clock": CLOCK})


def product_case(blockscale, folder, kind, m, n, k):
    name = name_of("product", kind, f"{m}x{n}x{k}")
    text = product("k", cases.KINDS[kind], n, k, "", "bf16")
    with tempfile.TemporaryDirectory() as scratch:
        ptx, plan, cubin = compiled(blockscale, text, Path(scratch))
    save(folder, name, ptx, plan, cubin, {
        "name": name, "rows": m, "n": n, "k": k, "flops": 2 * m * n * k,
        "kind": PRODUCTS[kind][0]})


def save(folder, name, ptx, plan, cubin, facts):
    with zipfile.ZipFile(folder / f"{name}.time", "w", zipfile.ZIP_STORED) as file:
        for one, content in (("kernel.ptx", ptx), ("kernel.cubin", cubin),
                             ("plan.json", plan), ("facts.json", json.dumps(facts))):
            file.writestr(one, content)


def attempt(function, name, *arguments):
    try:
        function(*arguments)
        return f"kept {name}"
    except Skipped as why:
        return f"left out {name}: {why}"
    except Exception as why:
        return f"left out {name}: {type(why).__name__} {why}"


def main():
    arguments = parsed(__doc__)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(attempt, elementwise_case, name, arguments.blockscale,
                            arguments.folder, name, *rest)
                for name, *rest in elementwise_rows(arguments.only)]
        jobs += [pool.submit(attempt, product_case, f"product {kind} {sizes}",
                             arguments.blockscale, arguments.folder, kind, *sizes)
                 for kind in PRODUCTS for sizes in ((4096, 4096, 4096), (8192, 8192, 8192))
                 if re.search(arguments.only, f"product_{kind}")]
        for job in concurrent.futures.as_completed(jobs):
            print(job.result(), flush=True)


if __name__ == "__main__":
    main()
