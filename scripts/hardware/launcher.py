#!/usr/bin/env python3
"""A program that launches a product through the C++ that `--emit=launcher` writes.

usage: launcher.py FOLDER LIBCUDA [--blockscale PATH] [--as-compiled]

Builds test/CudaDriver/Inputs/launcher.cpp around a product under float scales, with its
operands and the result on the emulator in FOLDER: `FOLDER/launcher FOLDER` there writes
d.bin, which has to be wanted.bin. The PTX is for sm_90a, and the driver translates it.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import os
import subprocess
from pathlib import Path

import numpy as np

import blockscale as bs
import hardware_cases as cases
from blockscale import _operands as operands
from bundle import CHIP, kernel_of, run
from hardware_list import DEEPSEEK, product
from retarget import retarget

HERE = Path(__file__).resolve().parent
INPUTS = HERE.parent.parent / "test" / "CudaDriver" / "Inputs"
# What the program is for (Product.h).
NAME, ROWS, COLUMNS, K = "ds-kva-mxfp8", 40, 576, 640


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("library")
    parser.add_argument("--blockscale", default="build/bin/blockscale")
    parser.add_argument("--as-compiled", action="store_true", help="for the chip itself")
    arguments = parser.parse_args()
    folder, blockscale = arguments.folder, arguments.blockscale
    folder.mkdir(parents=True, exist_ok=True)
    text = product("k", DEEPSEEK, COLUMNS, K).replace("@k(", "@ds_kva(")
    source = folder / f"{NAME}.mlir"
    source.write_text(text)
    run([blockscale, "compile", source, f"--target={CHIP}", "--no-cubin", "-o", folder])
    run([blockscale, "compile", source, f"--target={CHIP}", "--emit=launcher", "-o",
         folder / "kva.h"])
    path = folder / f"{NAME}.ptx"
    kernel = kernel_of(path.read_text(), (folder / f"{NAME}.plan.json").read_text())
    case = cases.Case("launcher", "launch", text, (ROWS,))
    (a, b), more = cases.inputs(bs, case, kernel)
    planned, sizes = kernel.plan["kernels"][0], cases.sizes_of(kernel, case)
    _, parameters = operands.describe(operands.new_launch(kernel, planned, sizes))
    for name, one in (("a", a), ("b", b)):
        for role, content in operands.parts(planned, name, one, parameters).items():
            (folder / f"{role.removesuffix('_data')}.bin").write_bytes(content.tobytes())
    (folder / "wanted.bin").write_bytes(np.asarray(kernel.emulate(a, b)).tobytes())
    if not arguments.as_compiled:
        path.write_text(retarget(path.read_text()))
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    subprocess.run(["g++", "-std=c++17", "-O1", "-s", "-isystem", f"{cuda}/include", f"-I{folder}",
                    f"-I{INPUTS}", INPUTS / "launcher.cpp", arguments.library, "-o",
                    folder / "launcher"], check=True)


if __name__ == "__main__":
    main()
