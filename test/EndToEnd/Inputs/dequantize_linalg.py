# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that dequantise against what blockscale-to-linalg makes of the same op, and
against numpy with ml_dtypes.

  dequantize_linalg.py FOLDER BROKEN

runs each kernel on the emulator, compares with numpy and writes FOLDER/linalg.mlir: a
module whose `main` dequantises the same codes and prints for each case how many numbers
differ from the kernel's. A NaN is a NaN, whatever its bits. With BROKEN = 1 a number of
the first case is wrong, which has to show.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys

import ml_dtypes
import numpy as np

ROWS, K = 133, 96
ELEMENTS = {"f8E4M3FN": (8, ml_dtypes.float8_e4m3fn),
            "f8E5M2": (8, ml_dtypes.float8_e5m2),
            "f6E2M3FN": (6, ml_dtypes.float6_e2m3fn),
            "f6E3M2FN": (6, ml_dtypes.float6_e3m2fn),
            "f4E2M1FN": (4, ml_dtypes.float4_e2m1fn), "i8": (8, np.int8),
            "ui4": (4, np.uint8), "ui8": (8, np.uint8)}
SCALES = {"f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
          "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ZEROS = {"int8": ("i8", np.int8), "int16": ("i16", np.int16),
         "float32": ("f32", np.float32), "float16": ("f16", np.float16)}
RESULTS = {"f32": (np.float32, 32, 0x7f800000),
           "bf16": (ml_dtypes.bfloat16, 16, 0x7f80), "f16": (np.float16, 16, 0x7c00)}
# Ordinary, so large that products overflow, so small that they are subnormal,
# infinite, 0 and NaN.
FACTORS = [-0.75, 3e37, -1e-39, np.inf, 0.0, np.nan]


def cases():
    """Element, scale spec, layout, type of the result, tensor scale."""
    layouts = itertools.cycle(["tiled_128x4", "plain"])
    for element, result in itertools.product(list(ELEMENTS)[:5], RESULTS):
        yield element, "e8m0_t32", next(layouts), result, None
    for result in RESULTS:
        yield "f4E2M1FN", "e8m0_t16", next(layouts), result, None
        yield "f4E2M1FN", "e4m3fn_t16", next(layouts), result, None
        for factor in FACTORS:
            yield "f4E2M1FN", "multi_float32_e4m3fn_t16", next(layouts), result, factor
            yield "f8E5M2", "multi_float32_e8m0_t32", next(layouts), result, factor
        # Scales of tiles of several rows, and f32.
        yield "f6E2M3FN", "e8m0_t4_t32", "tiled_128x4", result, None
        for element, spec in (("f8E5M2", "float32_t32"), ("f4E2M1FN", "float32_t8_t32"),
                              ("f8E4M3FN", "float32_t0"), ("f6E3M2FN", "float32"),
                              ("i8", "float32_t0"), ("i8", "float32"),
                              ("f8E4M3FN", "float16_t0"), ("f8E5M2", "bfloat16_t32"),
                              ("ui4", "float16_int8_t32"), ("ui8", "float32_int16_t0"),
                              ("ui4", "bfloat16_float32_t4_t32"),
                              ("ui8", "float32_float16_t32")):
            yield element, spec, "plain", result, None


def scale_of(spec):
    for name, type_ in (("float32", "f32"), ("float16", "f16"), ("bfloat16", "bf16")):
        if spec.startswith(name):
            return type_
    return "f8E4M3FN" if "e4m3fn" in spec else "f8E8M0FNU"


def zeros_of(spec):
    """Type of zero points in MLIR and numpy; None without."""
    scale, *rest = spec.split("_")
    return ZEROS.get(rest[0]) if rest and scale != "multi" else None


def tile_of(spec):
    """Rows and elements that share a scale."""
    tiles = [int(one) for one in re.findall(r"_t(\d+)", spec)]
    rows, elements = ([1] + tiles)[-2:] if tiles else (ROWS, K)
    return rows, elements or K


def type_of(case, layout=None):
    return (f'!blockscale.tensor<{ROWS}x{K}x{case[0]}, "{case[1]}", '
            f"layout = {layout or case[2]}>")


def codes_of(case, seed):
    """Codes of elements, and scales of all codes, or f32 of every magnitude."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 1 << ELEMENTS[case[0]][0], (ROWS, K))
    rows, elements = tile_of(case[1])
    shape = -(-ROWS // rows), -(-K // elements)
    codes = codes.astype(np.uint8)
    if scale_of(case[1]) in ("f32", "f16", "bf16"):
        low, high = (-20, 14) if scale_of(case[1]) == "f16" else (-140, 127)
        scales = generator.standard_normal(shape) * np.exp2(
            generator.integers(low, high, shape))
        for i, special in enumerate((np.inf, np.nan, -np.inf, 0)):
            if scales.size > 10 * i + 9:
                scales[10 * i + 9 if scales.shape[0] > 50 else i, 0] = special
        scales = scales.astype(SCALES[scale_of(case[1])])
        return codes, scales.view(f"u{scales.itemsize}")
    scales = generator.permutation(np.resize(np.arange(256), shape[0] * shape[1]))
    return codes, scales.reshape(shape).astype(np.uint8)


def zero_points(case, scales, seed):
    """Integers of all of their type, or numbers near elements, and at the ends."""
    kind = zeros_of(case[1])[1]
    generator = np.random.default_rng(seed + 1000)
    if np.issubdtype(kind, np.integer):
        ends = np.iinfo(kind)
        zeros = generator.integers(ends.min, ends.max + 1, scales.shape)
        return np.where(generator.random(scales.shape) < 0.5, zeros % 16,
                        zeros).astype(kind)
    numbers = scales.view(SCALES[scale_of(case[1])]).astype(np.float32)
    with np.errstate(all="ignore"):
        zeros = numbers * generator.integers(0, 16, scales.shape)
        specials = generator.choice([np.inf, -np.inf, np.nan, 3.4e38], scales.shape)
        return np.where(generator.random(scales.shape) < 0.1, specials,
                        zeros).astype(kind)


def difference(x, y):
    """Rounded to f32; of finite numbers finite."""
    with np.errstate(all="ignore"):
        result = (x - y).astype(np.float32)
    most = np.finfo(np.float32).max
    return np.where(np.isfinite(x) & np.isfinite(y), np.clip(result, -most, most), result)


def spread(case, scales, elements):
    """A scale for each row, and for so many elements along K."""
    rows, own = tile_of(case[1])
    return scales.repeat(rows, 0)[:ROWS].repeat(own // elements, 1)[:, :K // elements]


def product(x, y):
    """Rounded to f32; of finite numbers finite."""
    with np.errstate(all="ignore"):
        result = (x * y).astype(np.float32)
    finite = np.isfinite(x) & np.isfinite(y)
    most = np.finfo(np.float32).max
    return np.where(finite, np.clip(result, -most, most), result)


def by_numpy(case, codes, scales, zeros):
    values = codes.view(ELEMENTS[case[0]][1]).astype(np.float32)
    factors = scales.view(SCALES[scale_of(case[1])]).astype(np.float32)
    is_integer = zeros is not None and np.issubdtype(zeros.dtype, np.integer)
    if is_integer:
        values -= spread(case, zeros, 1).astype(np.float32)
    values = product(values, spread(case, factors, 1))
    if zeros is not None and not is_integer:
        values = difference(values, spread(case, zeros, 1).astype(np.float32))
    if case[4] is not None:
        values = product(values, np.float32(case[4]))
    kind = RESULTS[case[3]][0]
    if kind is not np.float32:
        most = np.float32(ml_dtypes.finfo(kind).max)
        values = np.where(np.isinf(values), values, np.clip(values, -most, most))
    return values.astype(kind)


def packed(codes, bits, pitch):
    lines = np.unpackbits(codes[..., None], axis=2, bitorder="little")[..., :bits]
    lines = np.packbits(lines.reshape(ROWS, -1), axis=1, bitorder="little")
    return np.pad(lines, ((0, 0), (0, pitch - lines.shape[1])), constant_values=0x77)


def tiled(scales):
    tiles = np.full((256, -(-scales.shape[1] // 4) * 4), 0x66, np.uint8)
    tiles[:ROWS, :scales.shape[1]] = scales
    return tiles.reshape(2, 4, 32, -1, 4).transpose(0, 3, 2, 1, 4)


def kernels(folder, all_cases):
    """The bits that the kernels write."""
    text = ""
    for i, case in enumerate(all_cases):
        a, d = type_of(case), f"tensor<{ROWS}x{K}x{case[3]}>"
        text += (f"func.func @f{i}(%a: {a}) -> {d} {{\n"
                 f"  %0 = blockscale.dequantize %a : {a} to {d}\n  return %0 : {d}\n}}\n")
    (folder / "kernels.mlir").write_text(text)
    subprocess.run(["blockscale", "compile", folder / "kernels.mlir",
                    "--no-cubin", "-o", folder], check=True)
    plan = json.loads((folder / "kernels.plan.json").read_text())
    planned = {one["name"]: one for one in plan["kernels"]}
    return [run(folder, i, case, planned[f"f{i}"]) for i, case in enumerate(all_cases)]


def run(folder, i, case, planned):
    codes, scales = codes_of(case, i)
    zeros = zero_points(case, scales, i) if zeros_of(case[1]) else None
    pitch = int(planned["data"][0]["linePitch"])
    np.save(folder / "a.npy", packed(codes, ELEMENTS[case[0]][0], pitch))
    np.save(folder / "s.npy", scales if case[2] == "plain" else
            tiled(spread(case, scales, tile_of(case[1])[1])))
    command = ["blockscale", "emulate", folder / "kernels.ptx", "--plan",
               folder / "kernels.plan.json", "--kernel", f"f{i}",
               "--in", f"a_data={folder}/a.npy", "--in", f"a_scales={folder}/s.npy",
               "--out", f"d={folder}/d.npy"]
    if zeros is not None:
        np.save(folder / "z.npy", zeros.view(f"u{zeros.itemsize}"))
        command += ["--in", f"a_zeros={folder}/z.npy"]
    if case[4] is not None:
        np.save(folder / "t.npy", np.array([case[4]], np.float32))
        command += ["--in", f"a_tensor_scale={folder}/t.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    kind, bits, _ = RESULTS[case[3]]
    found = np.load(folder / "d.npy").view(np.uint8).reshape(-1).view(kind)
    found = found.reshape(ROWS, K)
    expected, unsigned = by_numpy(case, codes, scales, zeros), f"u{bits // 8}"
    same = (found.view(unsigned) == expected.view(unsigned)) | (
        np.isnan(found) & np.isnan(expected))
    print(f"{i} {case}: {np.count_nonzero(~same)} differ from numpy")
    return codes, scales, zeros, found.view(unsigned).copy()


def dense(array, element):
    shape = "x".join(map(str, array.shape))
    return f'dense<"0x{array.tobytes().hex()}"> : tensor<{shape}x{element}>'


MAPS = ("indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], "
        'iterator_types = ["parallel", "parallel"]')


def narrow(name, codes, element, bits):
    """A tensor of a narrow type from its codes."""
    shape = "x".join(map(str, codes.shape))
    if element == "i8":
        return f"\n  %{name} = arith.constant {dense(codes, element)}"
    cut = f"%b = arith.trunci %e : i8 to i{bits}" if bits < 8 else \
        "%b = arith.bitcast %e : i8 to i8"
    return f"""
  %{name}c = arith.constant {dense(codes, "i8")}
  %{name}i = tensor.empty() : tensor<{shape}x{element}>
  %{name} = linalg.generic {{{MAPS}}} ins(%{name}c : tensor<{shape}xi8>) outs(%{name}i : tensor<{shape}x{element}>) {{
  ^bb0(%e: i8, %o: {element}):
    {cut}
    %f = arith.bitcast %b : i{bits} to {element}
    linalg.yield %f : {element}
  }} -> tensor<{shape}x{element}>"""


def linalg(case, i, codes, scales, zeros, found):
    scale, (_, bits, infinity) = scale_of(case[1]), RESULTS[case[3]]
    data_type = f"tensor<{ROWS}x{K}x{case[0].removeprefix('u')}>"
    shape = "x".join(map(str, scales.shape))
    scale_type = f"tensor<{shape}x{scale}>"
    made = (narrow("scales", scales, scale, 8) if scales.itemsize == 1 else
            f"\n  %scales = arith.constant {dense(scales, scale)}")
    a, d = type_of(case, "plain"), f"tensor<{ROWS}x{K}x{case[3]}>"
    factor, part = "", ""
    if zeros is not None:
        kind = zeros_of(case[1])[0]
        made += f"\n  %zeros = arith.constant {dense(zeros, kind)}"
        part = f" zeros(%zeros : tensor<{shape}x{kind}>)"
    if case[4] is not None:
        word = int(np.float32(case[4]).view(np.uint32))
        factor = f"\n  %t = arith.constant dense<0x{word:08x}> : tensor<f32>"
        part = " tensor_scale(%t : tensor<f32>)"
    return f"""func.func @f{i}() {{{factor}{narrow("data", codes, case[0].removeprefix("u"), ELEMENTS[case[0]][0])}{made}
  %a = blockscale.assemble %data, %scales{part} : {data_type}, {scale_type} to {a}
  %d = blockscale.dequantize %a : {a} to {d}
  %k = arith.constant {dense(found, f"i{bits}")}
  %z = arith.constant dense<0> : tensor<i32>
  %magnitudes = arith.constant {(1 << (bits - 1)) - 1} : i{bits}
  %infinity = arith.constant {infinity} : i{bits}
  %n = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]}} ins(%d, %k : {d}, tensor<{ROWS}x{K}xi{bits}>) outs(%z : tensor<i32>) {{
  ^bb0(%f: {case[3]}, %e: i{bits}, %c: i32):
    %g = arith.bitcast %f : {case[3]} to i{bits}
    %p = arith.andi %g, %magnitudes : i{bits}
    %q = arith.andi %e, %magnitudes : i{bits}
    %np = arith.cmpi ugt, %p, %infinity : i{bits}
    %nq = arith.cmpi ugt, %q, %infinity : i{bits}
    %both = arith.andi %np, %nq : i1
    %ne = arith.cmpi ne, %g, %e : i{bits}
    %false = arith.constant false
    %w = arith.select %both, %false, %ne : i1
    %o = arith.extui %w : i1 to i32
    %s = arith.addi %c, %o : i32
    linalg.yield %s : i32
  }} -> tensor<i32>
  %v = tensor.extract %n[] : tensor<i32>
  vector.print %v : i32
  return
}}
"""


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    all_cases = list(cases())
    results = kernels(folder, all_cases)
    if broken:
        results[0][3][0, 0] ^= 1
    text = "".join(linalg(case, i, *result)
                   for i, (case, result) in enumerate(zip(all_cases, results)))
    calls = "\n".join(f"  call @f{i}() : () -> ()" for i in range(len(all_cases)))
    (folder / "linalg.mlir").write_text(
        f"{text}func.func @main() {{\n{calls}\n  return\n}}\n")


main()
