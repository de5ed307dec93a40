# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products that quantise their result against what blockscale-to-linalg makes of the
same function.

  quantized_linalg.py FOLDER BROKEN [dynamic|tiles]

runs each kernel on the emulator and writes FOLDER/linalg.mlir: a module whose `main`
computes the same from the same data and prints for each case how many codes and how
many scales differ from the kernel's. With BROKEN = 1 a code of the first case is
wrong, which has to show. With `dynamic` the kernels do not know N, and each runs with
two of them. With `tiles` several threads, warps or CTAs choose the scale of a tile of D,
with tensor memory and without. Rows and blocks differ from each other; some are zeros, have a
NaN, an infinity or the largest numbers.
"""

import pathlib
import re
import subprocess
import sys

import numpy as np

from linalg_counts import counted

M, K = 133, 128
IS_DYNAMIC = "dynamic" in sys.argv
IS_OF_TILES = "tiles" in sys.argv
# Of the second a tile has a part only, and the last group of scales has padding.
COLUMNS = (256,) if IS_OF_TILES else (96, 352) if IS_DYNAMIC else (96,)
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}
# Element, scale spec, rule, rounding, type of the sums, activation.
CASES = [("f8E4M3FN", "e8m0_t32", "floor", "even", "bf16", ""),
         ("f8E4M3FN", "e8m0_t32", "round_up", "stochastic, seed = 5", "f32", ""),
         ("f8E5M2", "e8m0_t32", "ceil", "away", "f16", "activation(relu)"),
         ("f6E2M3FN", "e8m0_t32", "mid_max", "zero", "f32", ""),
         ("f6E3M2FN", "e8m0_t32", "floor_plus_one", "even", "bf16", ""),
         ("f4E2M1FN", "e8m0_t32", "top_binade", "even", "bf16",
          "activation(relu)"),
         ("f4E2M1FN", "e4m3fn_t16", "floor", "even", "f32", ""),
         ("f4E2M1FN", "multi_float32_e4m3fn_t16", "floor", "even", "bf16", ""),
         ("f4E2M1FN", "multi_float32_e4m3fn_t16", "min_error", "even", "bf16", ""),
         ("f4E2M1FN", "e8m0_t32", "min_error", "stochastic, seed = 5", "f32",
          "activation(relu)")]
PAIRS = """pairs epilogue(%g, %u) {
    %0 = arith.subf %u, %g : f32
    blockscale.yield %0
  }"""
# The same, and whether operands are swapped; a chip.
TILES = [(*case, swap, "sm_100a") for *case, swap in [
    ("f8E4M3FN", "float32_t128_t128", "floor", "even", "bf16", "", False),
    ("f8E4M3FN", "float32_t128_t128", "floor", "stochastic, seed = 5", "f32", "", True),
    ("f8E4M3FN", "float32_t256", "floor", "even", "bf16", "", True),
    ("f8E4M3FN", "float32_t256", "min_error", "even", "f32", "activation(relu)", True),
    ("f8E4M3FN", "float32_t128", "min_error", "even", "bf16", PAIRS, True),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "min_error", "even", "bf16", "", True),
    ("f8E5M2", "e8m0_t64_t64", "round_up", "even", "f16", "activation(relu)", False),
    ("f8E5M2", "e8m0_t64_t32", "floor", "even", "f32", PAIRS, True),
    ("f6E2M3FN", "e8m0_t128", "ceil", "away", "f32", "", True),
    ("f8E4M3FN", "e8m0_t32_t32", "min_error", "even", "f32", "", False)]]
TILES += [(*case, swap, "sm_120a") for *case, swap in [
    ("f8E4M3FN", "float32_t128_t128", "floor", "even", "bf16", "", False),
    ("f8E4M3FN", "float32_t128_t128", "floor", "stochastic, seed = 5", "f32", "", True),
    ("f8E4M3FN", "float32_t128", "min_error", "even", "bf16", "", True),
    ("f8E5M2", "e8m0_t64_t64", "floor", "even", "f32", PAIRS, False),
    ("f6E2M3FN", "e8m0_t128", "ceil", "away", "f32", "", True),
    ("f4E2M1FN", "e4m3fn_t16_t16", "min_error", "even", "f32", "", False)]]
if IS_OF_TILES:
    CASES = TILES


def tile_of(spec):
    """Rows and columns that share a scale."""
    extents = [int(extent) for extent in re.findall(r"_t(\d+)", spec)]
    return (1, *extents)[-2:]


def block_of(case):
    """Elements of a row for which memory has a scale."""
    return 16 if "e4m3fn" in case[1] else 32


def sums_of(case):
    return 2 if case[5] == PAIRS else 1


def data(n):
    random = np.random.default_rng(3)
    codes = np.arange(0x28, 0x49)
    a, b = ((random.choice(codes, shape) | random.integers(0, 2, shape) * 128)
            .astype(np.uint8) for shape in ((M, K), (n, K)))
    # Few bits, so that no order of the sum matters.
    a, b = a & 0xfc, b & 0xfc
    ascales = (125 + random.integers(0, 4, (M, K // 32))).astype(np.uint8)
    bscales = np.full((n, K // 32), 127, np.uint8)
    ascales += np.arange(M, dtype=np.uint8)[:, None] % 5
    a[2], b[32:64] = 0, 0
    a[5, 7] = 127
    a[6], a[6, 0] = 0, 0x78
    ascales[6] = 240
    b[3], b[3, 0], bscales[3] = 0, 0x78, 200
    # Some CPUs round what is subnormal in bf16 to 0.
    ascales[8] = 16
    return a, ascales, b, bscales


def tiled(scales):
    """Rows x blocks as tensor cores read them."""
    rows, blocks = scales.shape
    high, wide = -(-rows // 128), -(-blocks // 4)
    padded = np.zeros((high * 128, wide * 4), np.uint8)
    padded[:rows, :blocks] = scales
    return padded.reshape(high, 4, 32, wide, 4).transpose(0, 3, 2, 1, 4).copy()


def operand(rows, layout):
    form = f", layout = {layout}" if layout else ""
    return f'!blockscale.tensor<{rows}x{K}xf8E4M3FN, "e8m0_t32"{form}>'


def body(case, layout, n):
    element, spec, rule, rounding, source, activation = case[:6]
    schedule, columns = "", n
    if IS_OF_TILES:
        swap = "true" if case[6] else "false"
        schedule = f"schedule(#blockscale.schedule<swap_operands = {swap}>) "
        columns *= sums_of(case)
    form = f", layout = {layout}" if layout else ""
    if spec.startswith("float"):
        form = ""
    result = f'!blockscale.tensor<{M}x{n}x{element}, "{spec}"{form}>'
    factor = "tensor_scale(%t : tensor<f32>) " if "multi" in spec else ""
    sums = f"tensor<{M}x{n}x{source}>"
    return f"""  %y = blockscale.matmul %a, %b {activation} {schedule}: {operand(M, layout)}, {operand(columns, layout)} -> {sums}
  %q = blockscale.quantize %y {factor}rule({rule}) rounding({rounding}) : {sums} to {result}
""", result


def kernels(folder):
    if not IS_OF_TILES:
        return kernels_for(folder, "sm_100a")
    results = [kernels_for(folder, chip)[0] for chip in ("sm_100a", "sm_120a")]
    return [results[0] + results[1]]


def kernels_for(folder, chip):
    text = ""
    n = "?" if IS_DYNAMIC else COLUMNS[0]
    for i, case in enumerate(CASES):
        if IS_OF_TILES and case[7] != chip:
            continue
        ops, result = body(case, "tiled_128x4", n)
        factor = ", %t: tensor<f32>" if "multi" in case[1] else ""
        text += (f'func.func @f{i}(%a: {operand(M, "tiled_128x4")}, '
                 f'%b: {operand(columns_of(case, n), "tiled_128x4")}{factor}) '
                 f'-> {result} {{\n'
                 f"{ops}  return %q : {result}\n}}\n")
    (folder / "kernels.mlir").write_text(text)
    subprocess.run(["blockscale", "compile", folder / "kernels.mlir",
                    "--no-cubin", f"--target={chip}", "-o", folder], check=True)
    cases = [(i, case) for i, case in enumerate(CASES)
             if not IS_OF_TILES or case[7] == chip]
    return [[run(folder, i, case, n) for i, case in cases] for n in COLUMNS]


def columns_of(case, n):
    return n if IS_DYNAMIC else n * sums_of(case)


def save_inputs(folder, n):
    a, ascales, b, bscales = data(n)
    arrays = {"a_data": a, "a_scales": tiled(ascales), "b_data": b,
              "b_scales": tiled(bscales),
              "tensor_scale": np.array([-0.75], np.float32)}
    for role, array in arrays.items():
        np.save(folder / f"{role}.npy", array)


def run(folder, i, case, n):
    element, spec = case[:2]
    block = block_of(case)
    save_inputs(folder, columns_of(case, n))
    roles = ["a_data", "a_scales", "b_data", "b_scales"]
    roles += ["tensor_scale"] * ("multi" in spec)
    command = ["blockscale", "emulate", folder / "kernels.ptx", "--plan",
               folder / "kernels.plan.json", "--kernel", f"f{i}",
               "--out", f"d_data={folder}/d.npy",
               "--out", f"d_scales={folder}/s.npy"]
    command += ["--set", f"N={n}"] if IS_DYNAMIC else []
    for role in roles:
        command += ["--in", f"{role}={folder}/{role}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = np.load(folder / "d.npy").view(np.uint8).reshape(M, -1)
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    bits = bits[:, :n * BITS[element]].reshape(M, n, BITS[element])
    codes = (bits << np.arange(BITS[element], dtype=np.uint8)).sum(2)
    codes = codes.astype(np.uint8)
    height, width = tile_of(spec)
    if spec.startswith("float"):
        scales = np.load(folder / "s.npy").view(np.uint32)
        return codes, scales.reshape(-(-M // height), n // width)
    tiles = np.load(folder / "s.npy").view(np.uint8).reshape(2, -1, 32, 4, 4)
    scales = tiles.transpose(0, 3, 2, 1, 4).reshape(256, -1)
    assert not scales[M:].any() and not scales[:, n // block:].any()
    scales = scales[:M, :n // block]
    # One for each row and block, of which those of a tile are alike.
    firsts = scales[::height, ::width // block]
    repeated = firsts.repeat(height, 0)[:M].repeat(width // block, 1)
    assert (scales == repeated).all()
    return codes, firsts.copy()


def constant(name, array, element):
    shape = "x".join(map(str, array.shape))
    return f"""  %{name}_bytes = arith.constant dense<"0x{array.tobytes().hex()}"> : tensor<{shape}xi8>
  %{name} = arith.bitcast %{name}_bytes : tensor<{shape}xi8> to tensor<{shape}x{element}>
"""


def linalg(case, function, n, codes, scales):
    columns = columns_of(case, n)
    a, ascales, b, bscales = data(columns)
    ops, result = body(case, "", n)
    factor, parts = "", "%data, %scales"
    if "multi" in case[1]:
        factor = "  %t = arith.constant dense<-0.75> : tensor<f32>\n"
        parts += ", %factor"
    scale = "f8E4M3FN" if "e4m3fn" in case[1] else "f8E8M0FNU"
    if case[1].startswith("float"):
        scale = "f32"
    assembled = "".join(
        f"  %{name} = blockscale.assemble %{name}d, %{name}s : "
        f"tensor<{rows}x{K}xf8E4M3FN>, tensor<{rows}x{K // 32}xf8E8M0FNU> to "
        f"{operand(rows, '')}\n" for name, rows in (("a", M), ("b", columns)))
    return (f"func.func @{function}() {{\n{factor}"
            + constant("ad", a, "f8E4M3FN") + constant("as", ascales, "f8E8M0FNU")
            + constant("bd", b, "f8E4M3FN") + constant("bs", bscales, "f8E8M0FNU")
            + assembled + ops
            + f"  {parts} = blockscale.disassemble %q : {result}\n"
            + counted("x", "%data", codes, case[0], BITS[case[0]])
            + counted("w", "%scales", scales, scale, 8 * scales.itemsize)
            + "  return\n}\n")


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    results = kernels(folder)
    if broken:
        results[0][0][0][0, 0] ^= 1
    text, calls = "", ""
    for n, of_n in zip(COLUMNS, results):
        for i, (case, result) in enumerate(zip(CASES, of_n)):
            function = f"f{i}_{n}"
            text += linalg(case, function, n, *result)
            calls += f"  call @{function}() : () -> ()\n"
    (folder / "linalg.mlir").write_text(
        f"{text}func.func @main() {{\n{calls}  return\n}}\n")


if __name__ == "__main__":
    main()
