#!/usr/bin/env python3
"""Other people's kernels and ours, the same products on the same emulator.

usage: peers.py BLOCKSCALE [--cutlass=FOLDER] [--triton=TUTORIAL.py]
                [--sizes=MxNxK,...] [--only=REGEX] [--nvcc=PATH] [--keep=FOLDER]

--cutlass is a checkout of CUTLASS: its examples 72a to 72c (B200), 75 (groups, B200) and
79a to 79d (RTX 5090) are compiled with nvcc, which takes one to two minutes each, and run
with their own check (of groups that would take minutes without); of those that have
several kernels the fastest counts. M is that of one of four groups. --triton is
python/tutorials/10-block-scaled-matmul.py of a checkout of Triton, without and with its
--clc; the triton package has to be there. --only takes the examples and formats that
the expression is found in. Prints a table: time by the timeline, which is a model and no
measurement, and how busy it finds the tensor core; instructions of warps, registers and
spills by ptxas, seconds to compile. Fails if a kernel's result is wrong or ours needs
more than its peer's time, of Triton's more than 1/1.2. No source of theirs is here;
--keep keeps what was compiled for the next time.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = "512x1024x1024,2048x1024x1024"
GROUPS = 4
# Multiplications that a check on the host takes half a minute for.
MOST_CHECKED = 1 << 33
# Operands and quantised results as MLIR has them, element and scales, and the byte of
# an element of 1 and of a scale of 1.
NVFP4 = ("f4E2M1FN", "e4m3fn_t16", 0x22, 0x38)
MXFP4 = ("f4E2M1FN", "e8m0_t32", 0x22, 127)
MXFP6 = ("f6E3M2FN", "e8m0_t32", 0, 127)
MXFP8 = ("f8E4M3FN", "e8m0_t32", 0x38, 127)
# What no instruction reads, e2m1 under powers of two for 16.
FP4_UNDER_16 = ("f4E2M1FN", "e8m0_t16")


@dataclass(frozen=True)
class Product:
    """Of A and B, with D in a type or quantised; M rows in each of the groups."""
    a: tuple
    b: tuple
    d: object
    target: str = "sm_100a"
    groups: int = 0


@dataclass(frozen=True)
class Example:
    """One of CUTLASS: its source, what it multiplies, and the card it is for."""
    source: str
    words: str
    product: Product
    device: str = "B200"


OF_SM120 = {"target": "sm_120a"}
CUTLASS = {
    "72a": Example("72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu",
                   "NVFP4", Product(NVFP4, NVFP4, "bf16")),
    "72b": Example("72_blackwell_narrow_precision_gemm/72b_blackwell_nvfp4_nvfp4_gemm.cu",
                   "NVFP4 to e2m1", Product(NVFP4, NVFP4, FP4_UNDER_16)),
    "72c": Example("72_blackwell_narrow_precision_gemm/"
                   "72c_blackwell_mixed_mxfp8_bf16_gemm.cu",
                   "MXFP8 x MXFP4", Product(MXFP8, MXFP4, "bf16")),
    "75": Example("75_blackwell_grouped_gemm/75_blackwell_grouped_gemm_block_scaled.cu",
                  f"NVFP4, {GROUPS} groups",
                  Product(NVFP4, NVFP4, "f16", groups=GROUPS)),
    "79a": Example("79_blackwell_geforce_gemm/79a_blackwell_geforce_nvfp4_bf16_gemm.cu",
                   "NVFP4", Product(NVFP4, NVFP4, "bf16", **OF_SM120), "RTX5090"),
    "79b": Example("79_blackwell_geforce_gemm/79b_blackwell_geforce_nvfp4_nvfp4_gemm.cu",
                   "NVFP4 to e2m1", Product(NVFP4, NVFP4, FP4_UNDER_16, **OF_SM120),
                   "RTX5090"),
    "79c": Example("79_blackwell_geforce_gemm/"
                   "79c_blackwell_geforce_mixed_mxfp8_mxfp6_bf16_gemm.cu",
                   "MXFP8 x MXFP6", Product(MXFP8, MXFP6, "bf16", **OF_SM120),
                   "RTX5090"),
    "79d": Example("79_blackwell_geforce_gemm/"
                   "79d_blackwell_geforce_nvfp4_grouped_gemm.cu",
                   f"NVFP4 to NVFP4, {GROUPS} groups",
                   Product(NVFP4, NVFP4, NVFP4[:2], groups=GROUPS, **OF_SM120),
                   "RTX5090"),
}
# By the words after the tutorial's path, with M, N and K behind the first.
TRITON = {"nvfp4": ("NVFP4", Product(NVFP4, NVFP4, "f16")),
          "nvfp4 clc": ("NVFP4", Product(NVFP4, NVFP4, "f16")),
          "mxfp8": ("MXFP8", Product(MXFP8, MXFP8, "f16")),
          "mxfp8 clc": ("MXFP8", Product(MXFP8, MXFP8, "f16"))}


def run(command, **options):
    """What a command prints on both channels; ends if it fails."""
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def estimates(text):
    """(microseconds, busy percent, bound) of each estimate that a run printed."""
    return [(float(us), float(busy), bound) for us, busy, bound in re.findall(
        r"^microseconds +([\d.]+)$.*?^tensor core busy +([\d.]+) %$.*?"
        r"^bound by +([^\n]*)$", text, re.M | re.S)]


def longest(text):
    """The longest estimate: that of the product, not of what prepares it."""
    found = estimates(text)
    if not found:
        sys.exit(f"no estimate in:\n{text[-4000:]}")
    return max(found)


def resources(log):
    """(registers, bytes spilled) that ptxas -v names, the most of any kernel."""
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", log)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill stores", log)]
    return max(registers, default=0), max(spills, default=0)


def source_of(product, m, n, k):
    """A function with the product and nothing else."""
    groups = product.groups
    rows = m * groups if groups else m
    layout = "grouped_128x4" if groups else "tiled_128x4"

    def tensor(kind, shape, layout):
        return f'!blockscale.tensor<{shape}x{kind[0]}, "{kind[1]}", layout = {layout}>'
    a = tensor(product.a, f"{rows}x{k}", layout)
    b = tensor(product.b, f"{groups}x{n}x{k}" if groups else f"{n}x{k}", "tiled_128x4")
    is_quantised = isinstance(product.d, tuple)
    d = f"tensor<{rows}x{n}x{'f32' if is_quantised else product.d}>"
    arguments, clause = f"%a: {a}, %b: {b}", ""
    if groups:
        arguments += f", %ends: tensor<{groups}xi32>"
        clause = f" groups(%ends : tensor<{groups}xi32>)"
    result = tensor(product.d, f"{rows}x{n}", layout) if is_quantised else d
    quantised = (f"  %q = blockscale.quantize %d{clause} : {d} to {result}\n"
                 if is_quantised else "")
    return (f"func.func @ours({arguments}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b{clause} : {a}, {b} -> {d}\n{quantised}"
            f"  return %{'q' if is_quantised else 'd'} : {result}\n}}\n")


def write_bytes(path, data):
    header = str({"descr": "|u1", "fortran_order": False,
                  "shape": (len(data),)}).ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + data)


def bytes_of(parameter):
    """Of the memory that a tensor map is of: its last pitch, so many times."""
    of = parameter["tensorMap"]
    return int(of["globalStrides"][-1]) * int(of["globalDim"][-1])


class Ours:
    """Our kernel of a product, compiled with the default schedule."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.known = {}

    def time(self, product, size):
        key = product, size
        if key not in self.known:
            self.known[key] = self.compile(product, size)
        return self.known[key]

    def inputs(self, product, m):
        """Ones under scales of 1, or zeros, for all that the kernel reads."""
        kernel = json.loads((self.folder / "ours.plan.json").read_text())["kernels"][0]
        bytes_of_one = {"a_data": product.a[2], "a_scales": product.a[3],
                        "b_data": product.b[2], "b_scales": product.b[3]}
        memory = {each["role"]: bytes([bytes_of_one[each["role"]]]) * bytes_of(each)
                  for each in kernel["parameters"] if each["role"] in bytes_of_one}
        if product.groups:
            memory["offsets"] = struct.pack(
                f"<{product.groups}i", *(m * (i + 1) for i in range(product.groups)))
        for name, data in memory.items():
            path = self.folder / f"{name}.npy"
            write_bytes(path, data)
            yield f"--in={name}={path}"

    def compile(self, product, size):
        source = self.folder / "ours.mlir"
        source.write_text(source_of(product, *size))
        start = time.perf_counter()
        run([self.tool, "compile", source, f"--target={product.target}", "-o",
             self.folder])
        seconds = time.perf_counter() - start
        report = json.loads((self.folder / "ours.report.json").read_text())
        kernel = report["kernels"][0]
        text = run([self.tool, "emulate", self.folder / "ours.ptx", "--report",
                    "--counters", f"--plan={self.folder / 'ours.plan.json'}",
                    *self.inputs(product, size[0])])
        count = int(re.search(r"^instructions (\d+)$", text, re.M)[1])
        spills = kernel["spill_store_bytes"] or 0
        return (*longest(text), count, kernel["registers"], spills, seconds)


def foreign(tool, command, options=(), environment=None):
    """What a program prints and the table of its kernels: launches, instructions."""
    text = run([tool, "emulate", "--report", "--summary", *options, "--cuda", *command],
               env={**os.environ, **(environment or {})})
    if "Disposition: Failed" in text:
        sys.exit(f"{command} says that its result is wrong")
    rows = re.findall(r"^\S.*? +(\d+) +(\d+) +(\d+) +\d+ +[\d.]+$", text, re.M)
    if any(findings != "0" for _, _, findings in rows):
        sys.exit(f"findings in {command}:\n{text[-4000:]}")
    return text, [int(count) for _, count, _ in rows[:-1]]


def build_example(options, folder, name):
    """The program, what ptxas said, and the seconds of nvcc."""
    program, log = folder / name, folder / f"{name}.log"
    if not (program.exists() and log.exists()):
        top = Path(options.cutlass)
        start = time.perf_counter()
        text = run([options.nvcc, "-std=c++17", "-O2",
                    f"-arch={CUTLASS[name].product.target}", "-Xptxas=-v",
                    "--expt-relaxed-constexpr", "-DNDEBUG", f"-I{top}/include",
                    f"-I{top}/tools/util/include", f"-I{top}/examples/common",
                    top / "examples" / CUTLASS[name].source, "-o", program])
        log.write_text(f"seconds {time.perf_counter() - start:.1f}\n{text}")
    text = log.read_text()
    return program, resources(text), float(text.split()[1])


def of_example(options, program, example, size):
    """Estimate and instructions; the fastest of kernels that compute the same."""
    m, n, k = size
    arguments = [f"--m={m}", f"--n={n}", f"--k={k}", "--iterations=0"]
    groups = example.product.groups
    if groups:
        arguments += [f"--groups={groups}", "--alpha=1", "--beta=0"]
        if groups * m * n * k > MOST_CHECKED:
            arguments.append("--no_verif")
    text, counts = foreign(options.tool, [program, *arguments],
                           [f"--device={example.device}"])
    if not groups:
        return (*longest(text), max(counts))
    # Each kernel is launched once, and nothing else runs on the device.
    found = estimates(text)
    if len(found) != len(counts):
        sys.exit(f"{len(counts)} kernels, {len(found)} estimates in:\n{text[-4000:]}")
    return min((*estimate, count) for estimate, count in zip(found, counts))


def cutlass_rows(options, folder):
    for name, example in CUTLASS.items():
        if not re.search(options.only, name):
            continue
        program, (registers, spills), seconds = build_example(options, folder, name)
        for size in options.sizes:
            yield (f"CUTLASS {name}", example.words, size,
                   (*of_example(options, program, example, size), registers, spills,
                    seconds), example.product, 1)


def triton_rows(options, folder):
    """Triton tells registers and spills of what it compiled in its cache."""
    for form, (words, product) in TRITON.items():
        if not re.search(options.only, form):
            continue
        for size in options.sizes:
            cache = tempfile.mkdtemp(dir=folder)
            operands, *control = form.split()
            command = [sys.executable, HERE / "triton_peer.py", options.triton,
                       operands, *size, *control]
            start = time.perf_counter()
            text, counts = foreign(options.tool, command, environment={
                "TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"})
            seconds = time.perf_counter() - start
            yield (" ".join(("Triton 10", *control)), words, size,
                   (*longest(text), max(counts), *ptx_resources(cache), seconds),
                   product, 1.2)


def ptx_resources(cache):
    """What Triton's own ptxas says of the PTX in its cache."""
    triton = Path(importlib.util.find_spec("triton").origin).parent
    ptxas = triton / "backends/nvidia/bin/ptxas-blackwell"
    for ptx in Path(cache).rglob("*.ptx"):
        chip = re.search(r"^\.target (\w+)", ptx.read_text(), re.M)[1]
        return resources(run([ptxas, "-v", f"-arch={chip}", ptx, "-o", os.devnull]))
    return 0, 0


def cells(values):
    us, busy, bound, count, registers, spills, seconds = values
    return (f"{us:.2f} | {busy:.0f} % | {bound} | {count} | {registers} | {spills} "
            f"| {seconds:.1f}")


def sizes_of(text):
    sizes = [tuple(map(int, one.split("x"))) for one in text.split(",")]
    for size in sizes:
        if len(size) != 3 or any(extent % 256 for extent in size):
            raise argparse.ArgumentTypeError(
                f"{size}: expected MxNxK, multiples of 256")
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="BLOCKSCALE")
    parser.add_argument("--cutlass", metavar="FOLDER")
    parser.add_argument("--triton", metavar="TUTORIAL.py")
    parser.add_argument("--sizes", type=sizes_of, default=sizes_of(SIZES))
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--keep", metavar="FOLDER")
    options = parser.parse_args()
    if not options.cutlass and not options.triton:
        parser.error("give --cutlass, --triton or both")
    lost = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.keep or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        ours = Ours(options.tool, Path(scratch))
        print("| kernel | operands | M x N x K | us | busy | bound | instructions "
              "| registers | spills | compile, s |\n|" + " --- |" * 10)
        sources = [(options.cutlass, cutlass_rows), (options.triton, triton_rows)]
        for source, rows in sources:
            for name, words, size, theirs, product, factor in (
                    rows(options, folder) if source else ()):
                mine = ours.time(product, size)
                shape = " x ".join(map(str, size))
                print(f"| {name} | {words} | {shape} | {cells(theirs)} |\n"
                      f"| ours | {words} | {shape} | {cells(mine)} |", flush=True)
                if mine[0] * factor > theirs[0]:
                    lost.append(f"{name}, {words}, {shape}: ours {mine[0]:.2f} us, "
                                f"theirs {theirs[0]:.2f}, goal {factor} times")
    print("\n".join(lost))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
