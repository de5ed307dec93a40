# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the package can do without its compiler.

usage: without_mlir.py KERNEL.bsk
"""

import sys
from pathlib import Path

import numpy as np

import blockscale as bs

try:
    bs.compile(bs.matmul(M=8, N=8, K=64, a="mxfp8", b="mxfp8"))
except bs.Refused as error:
    print("cannot compile:", error)
kernel = bs.load_kernel(sys.argv[1])
rng = np.random.default_rng(0)
x, w = (bs.quantize(rng.integers(-3, 4, (rows, 512)).astype(np.float32),
                    like=kernel.arg(name))
        for name, rows in (("a", 64), ("b", 256)))
d = kernel.emulate(x, w)
exact = x.dequantize().astype(np.float64) @ w.dequantize().T
bound = np.abs(x.dequantize()).astype(np.float64) @ np.abs(w.dequantize()).T
print("emulated:", (np.abs(d - exact) <= bound * 2.0 ** -20).all())
try:
    bs.emulate_without_card()
    print("launched:", (kernel.launch(x, w) == d).all())
except bs.DeviceError as error:
    print("launched: no driver:", error)
print("verified:", bool(kernel.verify(M=1, data="exact")))
print("legal:", bool(bs.explain.legality(target="sm_100a", kind="mxf8f6f4")))
loaded = Path("/proc/self/maps").read_text()
print("no MLIR:", "libMLIR" not in loaded and "libLLVM" not in loaded)
