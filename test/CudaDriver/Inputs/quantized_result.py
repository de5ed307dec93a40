# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operands for quantized_result.cpp, and what it writes against numpy.

  quantized_result.py write|check FOLDER
"""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[2] / "EndToEnd" / "Inputs"))
from quantized_chain import M, N, data, quantize, tiled, values


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    a, b, _ = data()
    if command == "write":
        for name, array in (("a", a[0]), ("b", b[0]), ("a_scales", tiled(a[1])),
                            ("b_scales", tiled(b[1]))):
            array.tofile(folder / f"{name}.bin")
        return
    with np.errstate(all="ignore"):
        product = np.maximum(
            (values(*a) @ values(*b).T).astype(np.float32), np.float32(0))
    codes, scales = quantize(product.astype(float))
    found = np.fromfile(folder / "data.bin", np.uint8)
    stored = np.fromfile(folder / "scales.bin", np.uint8)
    behind = (found[M * N:] == 0xee).all() and (stored[-64:] == 0xee).all()
    print(f"codes: {bool((found[:M * N] == codes.ravel()).all())}, scales: "
          f"{bool((stored[:-64] == tiled(scales).ravel()).all())}, "
          f"behind: {bool(behind)}")


main()
