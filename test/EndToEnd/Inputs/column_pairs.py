# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of which each two columns make one of the result, against numpy.

  column_pairs.py FOLDER TARGET BROKEN

compiles four products with gate and up rows in turns, and a down projection that reads
the codes and scales of one of them; runs them on the emulator and compares. With
BROKEN = 1 numpy takes the gate for up, which has to show.
"""

import pathlib
import subprocess
import sys

import numpy as np

from quantized_linalg import tiled

M, K, N, L = 133, 256, 192, 40
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])


def e4m3():
    codes = np.arange(256)
    exponent, fraction = codes >> 3 & 15, codes & 7
    value = np.where(exponent == 0, fraction / 8 * 2.0 ** -6,
                     (1 + fraction / 8) * 2.0 ** (exponent - 7.0))
    return np.where(codes >> 7, -value, value)


E4M3 = e4m3()
ADDED = """    %g = arith.addf %x, %gb : f32
    %u = arith.addf %up, %ub : f32
    %one = arith.constant 1.0 : f32
"""
SWIGLU = ADDED + """    %1 = arith.negf %g : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %g, %3 : f32
    %5 = arith.mulf %4, %u : f32
    blockscale.yield %5
"""
CLAMPED = ADDED + """    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %gate = arith.minimumf %g, %high : f32
    %1 = arith.minimumf %u, %high : f32
    %2 = arith.maximumf %1, %low : f32
    %3 = arith.mulf %gate, %alpha : f32
    %4 = arith.negf %3 : f32
    %5 = math.exp %4 : f32
    %6 = arith.addf %5, %one : f32
    %7 = arith.divf %gate, %6 : f32
    %8 = arith.addf %2, %one : f32
    %9 = arith.mulf %7, %8 : f32
    blockscale.yield %9
"""


def swiglu(gate, up):
    return gate / (1 + np.exp(-gate)) * up


def clamped(gate, up):
    gate, up = np.minimum(gate, 7), np.clip(up, -7, 7)
    return (up + 1) * gate / (1 + np.exp(-1.702 * gate))


def tensor(rows, columns, element, spec):
    return (f'!blockscale.tensor<{rows}x{columns}x{element}, "{spec}", '
            "layout = tiled_128x4>")


class Operand:
    """Codes and scales, and what they mean."""

    def __init__(self, random, rows, kind, strength):
        self.kind = kind
        wide = kind == "mxfp8"
        self.block = 16 if kind == "nvfp4" else 32
        self.codes = (random.integers(0x28, 0x44, (rows, K)) |
                      random.integers(0, 2, (rows, K)) << 7).astype(np.uint8)
        if not wide:
            self.codes = random.integers(0, 16, (rows, K)).astype(np.uint8)
        shape = (rows, K // self.block)
        if kind == "nvfp4":
            self.scales = random.integers(0x28, 0x34, shape).astype(np.uint8)
            numbers = E4M3[self.scales]
        else:
            self.scales = (strength + random.integers(0, 3, shape)).astype(np.uint8)
            numbers = 2.0 ** (self.scales - 127.0)
        self.values = (E4M3 if wide else E2M1)[self.codes] * numbers.repeat(
            self.block, 1)
        self.element = "f8E4M3FN" if wide else "f4E2M1FN"
        self.spec = "e4m3fn_t16" if kind == "nvfp4" else "e8m0_t32"
        self.type = tensor(rows, K, self.element, self.spec)

    def inputs(self, name):
        data = self.codes
        if self.element == "f4E2M1FN":
            data = data[:, ::2] | data[:, 1::2] << 4
        return {f"{name}_data": data, f"{name}_scales": tiled(self.scales)}


def product(name, a, b, region, quantized):
    source = f"tensor<{M}x{N // 2}xf32>"
    result = tensor(M, N // 2, "f8E4M3FN", "e8m0_t32") if quantized else source
    last = (f"  %q = blockscale.quantize %d rule(round_up) : {source} to {result}\n"
            f"  return %q : {result}\n" if quantized else
            f"  return %d : {source}\n")
    return (f"func.func @{name}(%a: {a.type}, %b: {b.type}, %v: tensor<{N}xf32>) "
            f"-> {result} {{\n"
            "  %d = blockscale.matmul %a, %b bias(%v) pairs "
            f"epilogue(%x, %up, %gb, %ub) {{\n{region}  }} : {a.type}, {b.type}, "
            f"tensor<{N}xf32> -> {source}\n{last}}}\n")


def down(b):
    a = tensor(M, N // 2, "f8E4M3FN", "e8m0_t32")
    return (f"func.func @down(%a: {a}, %b: {b}) -> tensor<{M}x{L}xf32> {{\n"
            f"  %d = blockscale.matmul %a, %b : {a}, {b} -> tensor<{M}x{L}xf32>\n"
            f"  return %d : tensor<{M}x{L}xf32>\n}}\n")


def emulate(folder, kernel, inputs, outputs):
    command = ["blockscale", "emulate", folder / "pairs.ptx", "--plan",
               folder / "pairs.plan.json", "--kernel", kernel]
    for role, array in inputs.items():
        np.save(folder / f"{role}.npy", array)
        command += ["--in", f"{role}={folder}/{role}.npy"]
    for role in outputs:
        command += ["--out", f"{role}={folder}/{role}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"{role}.npy") for role in outputs]


def say(name, agrees):
    print(f"{name}: {'agree' if agrees else 'differ'}")


def expected(a, b, bias, function, broken):
    sums = a.values @ b.values.T + bias
    gate, up = sums[:, 0::2], sums[:, 1::2]
    if broken:
        gate, up = up, gate
    bound = 1e-5 * (1 + np.abs(gate)) * (1 + np.abs(up))
    return function(gate, up), bound


def main():
    folder, target = pathlib.Path(sys.argv[1]), sys.argv[2]
    broken = sys.argv[3] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(4)
    bias = random.normal(0, 2, N).astype(np.float32)
    x8, w8 = Operand(random, M, "mxfp8", 124), Operand(random, N, "mxfp8", 125)
    w4 = Operand(random, N, "mxfp4", 123)
    xn, wn = Operand(random, M, "nvfp4", 0), Operand(random, N, "nvfp4", 0)
    cases = [("mxfp8", x8, w8, SWIGLU, swiglu), ("mxfp4", x8, w4, CLAMPED, clamped),
             ("nvfp4", xn, wn, SWIGLU, swiglu),
             ("quantised", x8, w4, CLAMPED, clamped)]
    last = tensor(L, N // 2, "f8E4M3FN", "e8m0_t32")
    (folder / "pairs.mlir").write_text("".join(
        product(name, a, b, region, name == "quantised")
        for name, a, b, region, _ in cases) + down(last))
    subprocess.run(["blockscale", "compile", folder / "pairs.mlir", "--no-cubin",
                    f"--target={target}", "-o", folder], check=True)
    for name, a, b, _, function in cases:
        numbers, bound = expected(a, b, bias, function, broken)
        inputs = {**a.inputs("a"), **b.inputs("b"), "bias": bias}
        if name != "quantised":
            found, = emulate(folder, name, inputs, ["d"])
            found = found.view(np.float32).reshape(M, N // 2)
            assert len(np.unique(found)) > found.size // 2
            say(name, (np.abs(found - numbers) <= bound).all())
    codes, scales = emulate(folder, "quantised", inputs, ["d_data", "d_scales"])
    codes = codes.view(np.uint8).reshape(M, N // 2)
    tiles = scales.view(np.uint8).reshape(2, -1, 32, 4, 4)
    plain = tiles.transpose(0, 3, 2, 1, 4).reshape(256, -1)[:M, :N // 64]
    values = E4M3[codes] * (2.0 ** (plain - 127.0)).repeat(32, 1)
    most = np.abs(numbers).reshape(M, -1, 32).max(2)
    wanted = np.ceil(np.log2(most / 448)) + 127
    step = np.maximum(np.abs(numbers) / 16, (2.0 ** (plain - 136.0)).repeat(32, 1))
    say("quantised", (np.abs(values - numbers) <= step + bound).all() and
        np.mean(plain == wanted) > 0.99)
    b = random.integers(0x28, 0x44, (L, N // 2)).astype(np.uint8)
    bscales = (125 + random.integers(0, 5, (L, N // 64))).astype(np.uint8)
    found, = emulate(folder, "down", {"a_data": codes, "a_scales": scales,
                                      "b_data": b, "b_scales": tiled(bscales)},
                     ["d"])
    right = E4M3[b] * (2.0 ** (bscales - 127.0)).repeat(32, 1)
    sums, size = values @ right.T, np.abs(values) @ np.abs(right).T
    say("down", (np.abs(found.view(np.float32).reshape(M, L) - sums)
                 <= 1e-5 * size).all())


if __name__ == "__main__":
    main()
