#!/usr/bin/env python3
"""Other people's kernels and ours, the same products on the same emulator.

usage: peers.py BLOCKSCALE [--cutlass=FOLDER] [--triton=TUTORIAL.py]
                [--sizes=MxNxK,...] [--nvcc=PATH] [--keep=FOLDER]

--cutlass is a checkout of CUTLASS: its examples 72a (NVFP4) and 72c (MXFP8 by MXFP4)
are compiled with nvcc, which takes minutes, and run with their own check. --triton is
python/tutorials/10-block-scaled-matmul.py of a checkout of Triton; the triton package
has to be there. Prints a table: time by the timeline, which is a model and no
measurement, and how busy it finds the tensor core; instructions of warps, registers
and spills by ptxas, seconds to compile. Fails if a kernel's result is wrong or ours
needs more than its peer's time, of Triton's more than 1/1.2. No source of theirs is
here; --keep keeps what was compiled for the next time.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = "512x1024x1024,2048x1024x1024"
# Operands as MLIR has them: element, scales, bytes of an element and of 1, elements
# a scale, byte of a scale of 1.
NVFP4 = ("f4E2M1FN", "e4m3fn_t16", 0.5, 0x22, 16, 0x38)
MXFP4 = ("f4E2M1FN", "e8m0_t32", 0.5, 0x22, 32, 127)
MXFP8 = ("f8E4M3FN", "e8m0_t32", 1, 0x38, 32, 127)
CUTLASS = {
    "72a": ("72a_blackwell_nvfp4_bf16_gemm.cu", "NVFP4", NVFP4, NVFP4),
    "72c": ("72c_blackwell_mixed_mxfp8_bf16_gemm.cu", "MXFP8 x MXFP4", MXFP8, MXFP4),
}
TRITON = {"nvfp4": ("NVFP4", NVFP4, NVFP4), "mxfp8": ("MXFP8", MXFP8, MXFP8)}


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


def slowest(text):
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


class Ours:
    """Our kernel of a product, compiled with the default schedule."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.known = {}

    def time(self, a, b, m, n, k, out):
        key = (a, b, m, n, k, out)
        if key not in self.known:
            self.known[key] = self.compile(*key)
        return self.known[key]

    def compile(self, a, b, m, n, k, out):
        def tensor(kind, rows):
            return (f'!blockscale.tensor<{rows}x{k}x{kind[0]}, "{kind[1]}", '
                    "layout = tiled_128x4>")
        types, result = f"{tensor(a, m)}, {tensor(b, n)}", f"tensor<{m}x{n}x{out}>"
        source = self.folder / "ours.mlir"
        source.write_text(
            f"func.func @ours(%a: {tensor(a, m)}, %b: {tensor(b, n)}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b : {types} -> {result}\n"
            f"  return %d : {result}\n}}\n")
        start = time.perf_counter()
        run([self.tool, "compile", source, "--target=sm_100a", "-o", self.folder])
        seconds = time.perf_counter() - start
        report = json.loads((self.folder / "ours.report.json").read_text())
        kernel = report["kernels"][0]
        command = [self.tool, "emulate", self.folder / "ours.ptx", "--report",
                   "--counters", f"--plan={self.folder / 'ours.plan.json'}"]
        for name, kind, rows in (("a", a, m), ("b", b, n)):
            contents = {"data": (int(rows * k * kind[2]), kind[3]),
                        "scales": (rows * k // kind[4], kind[5])}
            for what, (count, byte) in contents.items():
                path = self.folder / f"{name}_{what}.npy"
                header = str({"descr": "|u1", "fortran_order": False,
                              "shape": (count,)}).ljust(117) + "\n"
                path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode()
                                 + bytes([byte]) * count)
                command.append(f"--in={name}_{what}={path}")
        text = run(command)
        count = int(re.search(r"^instructions (\d+)$", text, re.M)[1])
        spills = kernel["spill_store_bytes"] or 0
        return (*slowest(text), count, kernel["registers"], spills, seconds)


def foreign(tool, command, environment=None):
    """Estimate and instructions of the longest kernel of a program."""
    text = run([tool, "emulate", "--report", "--summary", "--cuda", *command],
               env={**os.environ, **(environment or {})})
    if "Disposition: Failed" in text:
        sys.exit(f"{command} says that its result is wrong")
    counts = re.findall(r"^\S.*? +\d+ +(\d+) +(\d+) +\d+ +[\d.]+$", text, re.M)
    if any(findings != "0" for _, findings in counts):
        sys.exit(f"findings in {command}:\n{text[-4000:]}")
    most = max(int(n) for n, _ in counts[:-1])
    return (*slowest(text), most)


def build_example(options, folder, name, source):
    """The program, what ptxas said, and the seconds of nvcc."""
    program, log = folder / name, folder / f"{name}.log"
    if not (program.exists() and log.exists()):
        top = Path(options.cutlass)
        start = time.perf_counter()
        text = run([options.nvcc, "-std=c++17", "-O2", "-arch=sm_100a", "-Xptxas=-v",
                    "--expt-relaxed-constexpr", "-DNDEBUG", f"-I{top}/include",
                    f"-I{top}/tools/util/include", f"-I{top}/examples/common",
                    top / "examples/72_blackwell_narrow_precision_gemm" / source,
                    "-o", program])
        log.write_text(f"seconds {time.perf_counter() - start:.1f}\n{text}")
    text = log.read_text()
    return program, resources(text), float(text.split()[1])


def cutlass_rows(options, folder):
    for name, (source, words, a, b) in CUTLASS.items():
        program, (registers, spills), seconds = build_example(
            options, folder, name, source)
        for m, n, k in options.sizes:
            theirs = foreign(options.tool, [program, f"--m={m}", f"--n={n}",
                                            f"--k={k}", "--iterations=0"])
            yield (f"CUTLASS {name}", words, (m, n, k),
                   (*theirs, registers, spills, seconds), (a, b, m, n, k, "bf16"), 1)


def triton_rows(options, folder):
    """Triton tells registers and spills of what it compiled in its cache."""
    for form, (words, a, b) in TRITON.items():
        for m, n, k in options.sizes:
            cache = tempfile.mkdtemp(dir=folder)
            command = [sys.executable, HERE / "triton_peer.py", options.triton, form,
                       m, n, k]
            start = time.perf_counter()
            theirs = foreign(options.tool, command, {
                "TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"})
            seconds = time.perf_counter() - start
            yield ("Triton 10", words, (m, n, k),
                   (*theirs, *ptx_resources(cache), seconds),
                   (a, b, m, n, k, "f16"), 1.2)


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
                mine = ours.time(*product)
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
