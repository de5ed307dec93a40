"""What the scripts share that predict times of kernels that multiply nothing.

A kernel takes the larger of its bytes over the bandwidth of the memory and of its
instructions over four for each SM and cycle, of a B200. The emulator counts the
instructions of 128 rows, warp by warp. By that formula: nothing is measured, and an
instruction of PTX counts as one, also where the machine has several for it, as for
products of 64 bits, or few units, as for f64. What takes a register apart or joins two
(`mov.b64 {a, b}, c`) is none: ptxas gives them registers beside each other, or has
the instruction take a half (`R4.H1`).

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

# SMs, clock in GHz and terabytes a second of a B200 (lib/HW/Part.cpp), and what an
# SM issues in a cycle.
SMS, CLOCK, BANDWIDTH, ISSUED = 148, 1.965, 7.0, 4
ROWS = 128
INPUTS = {"bf16": 2, "f16": 2, "f32": 4}


def parser(description):
    result = argparse.ArgumentParser(description=description.splitlines()[0])
    result.add_argument("blockscale")
    result.add_argument("--rows", type=int, default=4096)
    result.add_argument("--columns", type=int, default=4096)
    return result


def save(path, count, element):
    """A .npy file of `count` numbers, all 1.0."""
    bits = {"bf16": (b"\x80\x3f", "<u2"), "f16": (b"\x00\x3c", "<f2"),
            "f32": (b"\x00\x00\x80\x3f", "<f4")}[element]
    header = (f"{{'descr': '{bits[1]}', 'fortran_order': False, "
              f"'shape': ({count},), }}")
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") +
                     header.encode() + bits[0] * count)


def executed(blockscale, folder, ptx, inputs):
    """Instructions of warps of a kernel's PTX, beside its plan in `folder`."""
    (folder / "counted.ptx").write_text(ptx)
    command = [blockscale, "emulate", folder / "counted.ptx", "--plan",
               folder / "k.plan.json", "--set", f"M={ROWS}", "--counters"]
    found = subprocess.run(command + inputs, check=True, capture_output=True,
                           text=True).stdout
    return int(re.search(r"^instructions (\d+)$", found, re.MULTILINE)[1])


def instructions(blockscale, folder, text, memory):
    """Of the kernel of a module with ROWS rows. `memory` says of a plan how many numbers
    of which type each parameter that is read has; of bits that alternate, f16."""
    (folder / "k.mlir").write_text(text)
    subprocess.run([blockscale, "compile", folder / "k.mlir", "--no-cubin", "-o",
                    folder], check=True)
    plan = json.loads((folder / "k.plan.json").read_text())["kernels"][0]
    inputs = []
    for role, (count, element) in memory(plan).items():
        save(folder / f"{role}.npy", count, element)
        inputs += ["--in", f"{role}={folder}/{role}.npy"]
    ptx = (folder / "k.ptx").read_text()
    count = executed(blockscale, folder, ptx, inputs)
    # Twice, they change nothing.
    twice = re.sub(r"^(\s*mov\.b\d+\s+(?:\{.*\}, \S+|\S+ \{.*\});)$", r"\1\n\1", ptx,
                   flags=re.MULTILINE)
    return 2 * count - executed(blockscale, folder, twice, inputs)


def table(arguments, columns, rows):
    """Prints a line for each of `rows`: its names, bytes for an element, the text of a
    module, and its `memory`."""
    count = arguments.rows * arguments.columns
    heads = [*columns, "MB", "instructions", "us of bytes", "us of instructions",
             "time over bytes"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    with tempfile.TemporaryDirectory() as folder:
        for names, size, text, memory in rows:
            issued = instructions(arguments.blockscale, Path(folder), text, memory)
            issued = issued * arguments.rows // ROWS
            moved = count * size
            time = moved / BANDWIDTH / 1e6
            work = issued / (SMS * ISSUED * CLOCK * 1e3)
            print(f"| {' | '.join(names)} | {moved / 1e6:.2f} | {issued:,} | "
                  f"{time:.2f} | {work:.2f} | {max(time, work) / time:.2f} |",
                  flush=True)
