# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that quantise against what blockscale-to-linalg makes of the same op.

  quantize_linalg.py FOLDER BROKEN

runs each kernel on the emulator and writes FOLDER/linalg.mlir: a module whose
`main` quantises the same numbers and prints for each case how many codes and
how many scales differ from the kernel's. With BROKEN = 1 a code of the first
case is wrong, which has to show.
"""

import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np

ROWS, K = 133, 96
RULES = ["floor", "round_up", "floor_plus_one", "ceil", "mid_max",
         "rounded_max", "top_binade", "min_error"]
ROUNDINGS = ["even", "away", "zero", "stochastic, seed = -9"]
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}


def cases():
    """Element, scale spec, rule, rounding, type of the input."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    for element in BITS:
        for rule, rounding in itertools.product(RULES, ROUNDINGS):
            yield element, "e8m0_t32", rule, rounding, next(types)
    for spec, rounding in itertools.product(
            ["e4m3fn_t16", "multi_float32_e4m3fn_t16"], ROUNDINGS):
        for source in ("bf16", "f16", "f32"):
            yield "f4E2M1FN", spec, "floor", rounding, source
            yield "f4E2M1FN", spec, "min_error", rounding, source
    # Tiles of several rows.
    for i, element in enumerate(BITS):
        for rows in (4, 8, 16, 32):
            yield (element, f"e8m0_t{rows}_t32", RULES[(i + rows) % 8],
                   ROUNDINGS[rows // 4 % 4], next(types))
    for spec in ("e4m3fn_t16_t16", "multi_float32_e4m3fn_t16_t16"):
        for source in ("bf16", "f16", "f32"):
            yield "f4E2M1FN", spec, "floor", ROUNDINGS[0], source
            yield "f4E2M1FN", spec, "min_error", ROUNDINGS[0], source
    for element, rows in itertools.product(["f4E2M1FN", "f8E4M3FN"], (4, 16, 32)):
        yield element, f"e8m0_t{rows}_t32", "min_error", "even", next(types)


def tile_rows(spec):
    """Rows that share a scale."""
    tiles = re.findall(r"_t(\d+)", spec)
    return int(tiles[0]) if len(tiles) == 2 else 1


def numbers(source, block, seed):
    """Blocks of every magnitude that the type has, with special values."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((ROWS, K))
    low, high = (-14, 12) if source == "f16" else (-126, 120)
    x *= np.exp2(generator.integers(low, high, (ROWS, K // block))).repeat(
        block, 1)
    # Numbers of few bits are ties.
    x[40:90] = np.sign(x[40:90]) * generator.integers(0, 65, (50, K)) / 8
    x[1], x[2] = 0, -0.0
    x[3, 3], x[4, 5], x[5, 6], x[6, 7], x[6, 8] = (
        np.nan, np.inf, -np.inf, np.nan, np.inf)
    x[7] = generator.choice([2.0 ** low / 16, -2.0 ** low / 128, 0], K)
    x[8] = 448 * 2.0 ** -6 * np.sign(x[8])
    x[9] = 65504 if source == "f16" else 3.3e38
    with np.errstate(all="ignore"):
        single = x.astype(np.float32)
        if source == "f16":
            return single.astype(np.float16)
    if source == "bf16":
        return (single.view(np.uint32) >> 16).astype(np.uint16)
    return single


def op(case, layout):
    element, spec, rule, rounding, source = case
    form = f", layout = {layout}" if layout else ""
    result = f'!blockscale.tensor<{ROWS}x{K}x{element}, "{spec}"{form}>'
    factor = "tensor_scale(%t : tensor<f32>) " if "multi" in spec else ""
    return (f"blockscale.quantize %x {factor}rule({rule}) rounding({rounding}) "
            f": tensor<{ROWS}x{K}x{source}> to {result}", result)


def kernels(folder, all_cases):
    """The codes and scales that the kernels write."""
    text = ""
    for i, case in enumerate(all_cases):
        quantize, result = op(case, "tiled_128x4")
        factor = ", %t: tensor<f32>" if "multi" in case[1] else ""
        text += (f"func.func @f{i}(%x: tensor<{ROWS}x{K}x{case[4]}>{factor}) -> "
                 f"{result} {{\n  %0 = {quantize}\n  return %0 : {result}\n}}\n")
    (folder / "kernels.mlir").write_text(text)
    subprocess.run(["blockscale", "compile", folder / "kernels.mlir",
                    "--no-cubin", "-o", folder], check=True)
    np.save(folder / "t.npy", np.array([-0.75], np.float32))
    return [run(folder, i, case) for i, case in enumerate(all_cases)]


def run(folder, i, case):
    element, spec, source = case[0], case[1], case[4]
    block = 16 if spec.endswith("t16") else 32
    x = numbers(source, block, i)
    np.save(folder / "x.npy", x)
    command = ["blockscale", "emulate", folder / "kernels.ptx", "--plan",
               folder / "kernels.plan.json", "--kernel", f"f{i}",
               "--in", f"x={folder}/x.npy", "--out", f"d_data={folder}/d.npy",
               "--out", f"d_scales={folder}/s.npy"]
    if "multi" in spec:
        command += ["--in", f"tensor_scale={folder}/t.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    data = np.load(folder / "d.npy").view(np.uint8).reshape(ROWS, -1)
    bits = np.unpackbits(data, axis=1, bitorder="little")
    bits = bits[:, :K * BITS[element]].reshape(ROWS, K, BITS[element])
    codes = (bits << np.arange(BITS[element], dtype=np.uint8)).sum(2)
    tiles = np.load(folder / "s.npy").view(np.uint8).reshape(2, -1, 32, 4, 4)
    scales = tiles.transpose(0, 3, 2, 1, 4).reshape(256, -1)
    assert not scales[ROWS:].any() and not scales[:, K // block:].any()
    scales, rows = scales[:ROWS, :K // block], tile_rows(spec)
    once = scales[::rows]
    assert (once.repeat(rows, 0)[:ROWS] == scales).all()
    return x, codes.astype(np.uint8), once


def dense(array, shape, element):
    return f'dense<"0x{array.tobytes().hex()}"> : tensor<{shape}x{element}>'


def count(name, value, element, bits, expected):
    """Prints how many elements of `value` differ."""
    shape = "x".join(map(str, expected.shape))
    narrow = (f"arith.trunci %e : i8 to i{bits}" if bits < 8
              else "arith.bitcast %e : i8 to i8")
    return f"""
  %{name}e = arith.constant {dense(expected, shape, "i8")}
  %{name}z = arith.constant dense<0> : tensor<i32>
  %{name} = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]}} ins({value}, %{name}e : tensor<{shape}x{element}>, tensor<{shape}xi8>) outs(%{name}z : tensor<i32>) {{
  ^bb0(%f: {element}, %e: i8, %c: i32):
    %g = arith.bitcast %f : {element} to i{bits}
    %h = {narrow}
    %d = arith.cmpi ne, %g, %h : i{bits}
    %o = arith.extui %d : i1 to i32
    %s = arith.addi %c, %o : i32
    linalg.yield %s : i32
  }} -> tensor<i32>
  %{name}v = tensor.extract %{name}[] : tensor<i32>
  vector.print %{name}v : i32"""


def linalg(case, i, x, codes, scales):
    quantize, result = op(case, "")
    factor, parts = "", "%data, %scales"
    if "multi" in case[1]:
        factor = "  %t = arith.constant dense<-0.75> : tensor<f32>\n"
        parts += ", %factor"
    scale = "f8E4M3FN" if "e4m3fn" in case[1] else "f8E8M0FNU"
    return f"""func.func @f{i}() {{
{factor}  %x = arith.constant {dense(x, f"{ROWS}x{K}", case[4])}
  %q = {quantize}
  {parts} = blockscale.disassemble %q : {result}
{count("a", "%data", case[0], BITS[case[0]], codes)}
{count("b", "%scales", scale, 8, scales)}
  return
}}
"""


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    all_cases = list(cases())
    results = kernels(folder, all_cases)
    if broken:
        results[0][1][0, 0] ^= 1
    text = "".join(linalg(case, i, *result)
                   for i, (case, result) in enumerate(zip(all_cases, results)))
    calls = "\n".join(f"  call @f{i}() : () -> ()"
                      for i in range(len(all_cases)))
    (folder / "linalg.mlir").write_text(
        f"{text}func.func @main() {{\n{calls}\n  return\n}}\n")


main()
