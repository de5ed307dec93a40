# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that quantise against what blockscale-to-linalg makes of the same op.

  quantize_linalg.py FOLDER BROKEN [rows | columns | both | found]
    [long | float | sparse | row | matrix | half | given | random]

runs each kernel on the emulator and writes FOLDER/linalg.mlir: a module whose
`main` quantises the same numbers and prints for each case how many codes and
how many scales differ from the kernel's. With BROKEN = 1 a code of the first
case is wrong, which has to show. With `columns` the kernels quantise the
transpose of what they read, with `both` a matrix and its transpose; with `long` the
scales are for tiles longer than the blocks of instructions, with `float` they are f32,
with `sparse` they are for sparse instructions, with `row` an f32 is for all of K, with
`matrix` for all rows too, with `half` scales are f16, bf16 and powers of two of these
kinds, with `given` somebody gives that of a matrix, with `random` elements are rounded by
the bits that cvt.rs takes;
with `found` nobody gives tensor scales.
"""

import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np

from linalg_counts import counted

mode = sys.argv[3] if len(sys.argv) > 3 else "rows"
tiles = sys.argv[4] if len(sys.argv) > 4 else ""
ROWS, K = (160, 96) if mode == "both" else (133, 256) if tiles else (133, 96)
RULES = ["floor", "round_up", "floor_plus_one", "ceil", "mid_max",
         "rounded_max", "top_binade", "min_error"]
ROUNDINGS = ["even", "away", "zero", "stochastic, seed = -9"]
# Kernels of one file, which each run reads as a whole.
TOGETHER = 8
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4,
        "i8": 8}
FLOATS = [element for element in BITS if element.startswith("f")]
# Scales that are there once for each tile; those of e8m0 for all of K only.
PLAIN = {"float32": ("f32", np.uint32), "float16": ("f16", np.uint16),
         "bfloat16": ("bf16", np.uint16), "e8m0": ("f8E8M0FNU", np.uint8)}


def cases():
    """Element, scale spec, rule, rounding, type of the input."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    for element in FLOATS:
        for rule, rounding in itertools.product(RULES, ROUNDINGS):
            yield element, "e8m0_t32", rule, rounding, next(types)
    for spec, rounding in itertools.product(
            ["e4m3fn_t16", "multi_float32_e4m3fn_t16"], ROUNDINGS):
        for source in ("bf16", "f16", "f32"):
            yield "f4E2M1FN", spec, "floor", rounding, source
            yield "f4E2M1FN", spec, "min_error", rounding, source
    # Tiles of several rows.
    for i, element in enumerate(FLOATS):
        for rows in (4, 8, 16, 32, 64, 128):
            yield (element, f"e8m0_t{rows}_t32", RULES[(i + rows) % 8],
                   ROUNDINGS[rows // 4 % 4], next(types))
    for spec in ("e4m3fn_t16_t16", "multi_float32_e4m3fn_t16_t16"):
        for source in ("bf16", "f16", "f32"):
            yield "f4E2M1FN", spec, "floor", ROUNDINGS[0], source
            yield "f4E2M1FN", spec, "min_error", ROUNDINGS[0], source
    for element, rows in itertools.product(["f4E2M1FN", "f8E4M3FN"], (4, 16, 32)):
        yield element, f"e8m0_t{rows}_t32", "min_error", "even", next(types)


def columns():
    """Of the transpose: each rule and each rounding of every element, and what the
    kernel has of its own for each format and type of input."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    for i, element in enumerate(FLOATS):
        for j, rule in enumerate(RULES):
            yield element, "e8m0_t32", rule, ROUNDINGS[(i + j) % 4], next(types)
    for spec, rounding in itertools.product(
            ["e4m3fn_t16", "multi_float32_e4m3fn_t16"], ROUNDINGS):
        for rule in ("floor", "min_error"):
            yield "f4E2M1FN", spec, rule, rounding, next(types)
    for i, (element, rows) in enumerate(itertools.product(FLOATS, (4, 8, 16, 32))):
        yield (element, f"e8m0_t{rows}_t32", RULES[(3 * i + 1) % 8],
               ROUNDINGS[i % 4], next(types))
    yield "f8E4M3FN", "e8m0_t64_t32", "min_error", "even", "bf16"
    yield "f4E2M1FN", "multi_float32_e4m3fn_t128_t16", "min_error", "even", "f32"
    for rule in ("floor", "min_error"):
        yield ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", rule, ROUNDINGS[0],
               next(types))


def long_tiles():
    """Each length with several numbers of rows, each rule, rounding and format."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    most_rows, most = (128, 128) if mode == "columns" else (256, 256)
    for i, (k, rows) in enumerate(itertools.product((64, 128, 256), (1, 4, 32, 128, 256))):
        if k > most or rows > most_rows or k * rows > 1 << 15:
            continue
        element = FLOATS[i % len(FLOATS)]
        rule = RULES[i % (8 if k * rows <= 2048 else 7)]
        tile = f"t{rows}_t{k}" if rows > 1 else f"t{k}"
        yield element, f"e8m0_{tile}", rule, ROUNDINGS[i % 4], next(types)
        yield element, f"e8m0_{tile}", "floor", ROUNDINGS[0], next(types)
    for i, tile in enumerate(("t32", "t64", "t8_t32", "t16_t64")):
        for spec in ("e4m3fn", "multi_float32_e4m3fn"):
            for rule in ("floor", "min_error"):
                yield ("f4E2M1FN", f"{spec}_{tile}", rule, ROUNDINGS[i % 4],
                       next(types))


def float_tiles():
    """Each length, with one row and several, of every element, rounding and type."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    most = 128 if mode == "columns" else 256
    for i, (k, element) in enumerate(itertools.product((32, 64, 128, 256), FLOATS)):
        for j, rows in enumerate((1, 8, 128)):
            if k <= most:
                tile = f"t{rows}_t{k}" if rows > 1 else f"t{k}"
                yield (element, f"float32_{tile}", "min_error" if k * rows <= 2048 and
                       (i + j) % 3 == 0 else "floor", ROUNDINGS[(i + j) % 4], next(types))


def whole(spec):
    """Every element and rounding under a scale for each row, or for all of the matrix,
    with what `magnitudes` knows; of transposes some of these."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    for i, (element, rounding) in enumerate(itertools.product(BITS, ROUNDINGS)):
        if mode != "columns" or i % 5 in (0, 3):
            yield element, spec, "floor", rounding, next(types)


def whole_rows():
    return whole("float32_t0")


def whole_matrices():
    return whole("float32")


def halves():
    """Scales of each type, by every rule and rounding, of rows, matrices and tiles."""
    types, elements = itertools.cycle(["bf16", "f16", "f32"]), itertools.cycle(BITS)
    for spec, rounding in itertools.product(
            ["float16_t0", "bfloat16_t0", "float16", "bfloat16"], ROUNDINGS):
        yield next(elements), spec, "floor", rounding, next(types)
    for i, (spec, rule) in enumerate(itertools.product(["e8m0_t0", "e8m0"], RULES[:7])):
        yield FLOATS[i % 5], spec, rule, ROUNDINGS[i % 4], next(types)
    for i, tile in enumerate(("bfloat16_t32", "float16_t8_t64", "float16_t32")):
        for rule in ("floor", "min_error"):
            yield FLOATS[i + 1], tile, rule, ROUNDINGS[i], next(types)


def given_scales():
    """Those of matrices, of each type, with every element and rounding."""
    types, elements = itertools.cycle(["bf16", "f16", "f32"]), itertools.cycle(BITS)
    for spec, rounding in itertools.product(PLAIN, ROUNDINGS):
        element = next(elements)
        if spec == "e8m0" and element == "i8":
            element = next(elements)
        yield element, spec, "floor", rounding, next(types)


def by_instruction():
    """Every element, and NVFP4 of every type of input."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    for seed, element in enumerate(FLOATS):
        yield (element, "e8m0_t32", RULES[seed], f"stochastic_rs, seed = {seed - 2}",
               next(types))
    for source in ("bf16", "f16", "f32"):
        yield ("f4E2M1FN", "multi_float32_e4m3fn_t16", "min_error",
               "stochastic_rs, seed = 99", source)


def both():
    """Each as a pair of such, of one type of input."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    specs = [(element, "e8m0_t32") for element in FLOATS] + [
        ("f4E2M1FN", "e4m3fn_t16"), ("f4E2M1FN", "multi_float32_e4m3fn_t16"),
        ("f8E4M3FN", "e8m0_t32_t32"), ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16")]
    for i, pair in enumerate(itertools.product(specs, specs)):
        # Rules of powers of two alone mean something else for other scales.
        yield tuple((*one, "min_error" if i % 8 == j else
                     RULES[(3 * i + j) % 7] if "e8m0" in one[1] else "floor",
                     ROUNDINGS[(i // 3 + 2 * j) % 4]) for j, one in enumerate(pair)
                    ) + (next(types),)


def lines():
    """Pairs of which one or both have a scale for all of a row, of each type."""
    types = itertools.cycle(["bf16", "f16", "f32"])
    elements, roundings = itertools.cycle(BITS), itertools.cycle(ROUNDINGS)
    rows = [(next(elements), f"{scale}_t0") for scale in
            ("float32", "bfloat16", "float16", "float32", "float32", "float32")]
    tiles_of = [("f8E4M3FN", "e8m0_t32"), ("f4E2M1FN", "multi_float32_e4m3fn_t16"),
                ("f6E3M2FN", "e8m0_t32_t32"), ("f8E5M2", "float32_t8_t32")]
    pairs = list(zip(rows, rows[1:])) + list(zip(rows, tiles_of)) + \
        list(zip(tiles_of, rows[2:]))
    for pair in pairs:
        yield tuple((*one, "floor", next(roundings)) for one in pair) + (next(types),)


def found():
    """Tensor scales that nobody gives, each with every type of input and with what
    `magnitudes` knows."""
    for spec, rule in itertools.product(
            ["multi_float32_e4m3fn_t16", "multi_float32_e4m3fn_t16_t16"],
            ["floor", "min_error"]):
        for source in ("bf16", "f16", "f32"):
            for _ in range(4):
                yield "f4E2M1FN", spec, rule, "even", source
    yield "f8E5M2", "multi_float32_e8m0_t32", "ceil", "away", "f32"


def magnitudes(x, source, seed):
    """Of case number `seed`: numbers of every magnitude, infinities and NaNs among them;
    those near 1; those near the end of the type; those that end below its normal ones."""
    kind = seed % 4
    if not (mode == "found" or tiles in ("matrix", "half")) or kind == 0:
        return x
    generator = np.random.default_rng(seed)
    top = {1: 5, 2: 15 if source == "f16" else 127,
           3: -14 if source == "f16" else -126}[kind]
    near = generator.uniform(1, 2, x.shape) * np.where(x < 0, -1, 1)
    near *= np.exp2(top - generator.integers(1, 12, x.shape[:1]))[:, None]
    near[3:5] = 0
    near[ROWS // 2, K // 3] = 1.75 * 2.0 ** top
    return near


def ways(case):
    """What each op of a case does, and which result it is."""
    if mode == "both":
        return [("d", False, *case[0]), ("transposed", True, *case[1])]
    return [("d", mode == "columns", *case[:4])]


def tile_rows(spec):
    """Rows that share a scale."""
    tiles = re.findall(r"_t(\d+)", spec)
    return int(tiles[0]) if len(tiles) == 2 else 1


def block_of(spec):
    """Elements along K that memory has a scale of, or a thread of those under f32."""
    return (16 if "e4m3fn" in spec else 32) * (2 if tiles == "sparse" else 1)


def tile_blocks(spec):
    """Such blocks that share a scale."""
    return int(re.findall(r"_t(\d+)", spec)[-1]) // block_of(spec)


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
    x = magnitudes(x, source, seed)
    with np.errstate(all="ignore"):
        single = x.astype(np.float32)
        if source == "f16":
            return single.astype(np.float16)
    if source == "bf16":
        return (single.view(np.uint32) >> 16).astype(np.uint16)
    return single


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def plain_of(spec):
    """Type of plain scales and of their bits; None of those that instructions read."""
    word, *sizes = spec.split("_")
    return PLAIN.get(word) if word != "e8m0" or sizes in ([], ["t0"]) else None


def is_given(spec):
    return mode != "found" and ("multi" in spec or tiles == "given")


def has_factor(case):
    return any(is_given(way[3]) for way in ways(case))


def ops(case, layout):
    """The ops of a case, and the types of their results."""
    source = case[-1]
    text, results = "", []
    for i, (_, transposed, element, spec, rule, rounding) in enumerate(ways(case)):
        form = "" if plain_of(spec) or not layout else f", layout = {layout}"
        rows, k = (K, ROWS) if transposed and mode == "both" else (ROWS, K)
        results.append(f'!blockscale.tensor<{rows}x{k}x{element}, "{spec}"{form}>')
        factor = "tensor_scale(%t : tensor<f32>) " if is_given(spec) else ""
        reader = "{blockscale.for_sparse} " if tiles == "sparse" else ""
        value = "%x"
        if transposed:
            value = "%y"
            text += (f"  %init = tensor.empty() : {tensor((rows, k), source)}\n"
                     f"  %y = linalg.transpose ins(%x : {tensor((k, rows), source)}) "
                     f"outs(%init : {tensor((rows, k), source)}) permutation = [1, 0]\n")
        text += (f"  %q{i} = blockscale.quantize {value} {factor}rule({rule}) "
                 f"rounding({rounding}) {reader}: {tensor((rows, k), source)} to "
                 f"{results[-1]}\n")
    return text, results


def shape_read():
    return (K, ROWS) if mode == "columns" else (ROWS, K)


def kernels(folder, all_cases):
    """The numbers, codes and scales that the kernels read and write."""
    np.save(folder / "t.npy", np.array([-0.75], np.float32))
    done = []
    for first in range(0, len(all_cases), TOGETHER):
        numbered = list(enumerate(all_cases))[first:first + TOGETHER]
        text = "".join(kernel(i, case) for i, case in numbered)
        (folder / "kernels.mlir").write_text(text)
        subprocess.run(["blockscale", "compile", folder / "kernels.mlir",
                        "--no-cubin", "-o", folder], check=True)
        done += [run(folder, i, case) for i, case in numbered]
    return done


def kernel(i, case):
    quantize, results = ops(case, "tiled_128x4")
    factor = ", %t: tensor<f32>" if has_factor(case) else ""
    values = ", ".join(f"%q{j}" for j in range(len(results)))
    return (f"func.func @f{i}(%x: {tensor(shape_read(), case[-1])}{factor}) -> "
            f"({', '.join(results)}) {{\n{quantize}  return {values} : "
            f"{', '.join(results)}\n}}\n")


def run(folder, i, case):
    """What a kernel read, and codes and scales of each result."""
    x = numbers(case[-1], block_of(ways(case)[0][3]), i)
    if mode == "columns":
        x = np.ascontiguousarray(x.T)
    np.save(folder / "x.npy", x)
    command = ["blockscale-emulate", "emulate", folder / "kernels.ptx", "--plan",
               folder / "kernels.plan.json", "--kernel", f"f{i}",
               "--in", f"x={folder}/x.npy"]
    for name, *_ in ways(case):
        command += ["--out", f"{name}_data={folder}/{name}.npy",
                    "--out", f"{name}_scales={folder}/{name}-scales.npy"]
    if has_factor(case):
        command += ["--in", f"tensor_scale={folder}/t.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return x, [written(folder, *way[:4]) for way in ways(case)]


def written(folder, name, transposed, element, spec):
    """Codes, and each scale once."""
    block = block_of(spec)
    rows, k = (K, ROWS) if transposed and mode == "both" else (ROWS, K)
    data = np.load(folder / f"{name}.npy").view(np.uint8).reshape(rows, -1)
    bits = np.unpackbits(data, axis=1, bitorder="little")
    bits = bits[:, :k * BITS[element]].reshape(rows, k, BITS[element])
    codes = (bits << np.arange(BITS[element], dtype=np.uint8)).sum(2)
    if plain_of(spec):
        scales = np.load(folder / f"{name}-scales.npy").view(plain_of(spec)[1])
        count = 1 if "_t" not in spec else -(-rows // tile_rows(spec))
        return codes.astype(np.uint8), scales.reshape(count, -1)
    tiles = np.load(folder / f"{name}-scales.npy").view(np.uint8)
    tiles = tiles.reshape(-(-rows // 128), -1, 32, 4, 4)
    scales = tiles.transpose(0, 3, 2, 1, 4).reshape(len(tiles) * 128, -1)
    assert not scales[rows:].any() and not scales[:, k // block:].any()
    scales, tile = scales[:rows, :k // block], (tile_rows(spec), tile_blocks(spec))
    once = scales[::tile[0], ::tile[1]]
    repeated = once.repeat(tile[0], 0)[:rows].repeat(tile[1], 1)
    assert (repeated == scales).all()
    return codes.astype(np.uint8), np.ascontiguousarray(once)


def dense(array, shape, element):
    return f'dense<"0x{array.tobytes().hex()}"> : tensor<{shape}x{element}>'


def linalg(case, i, x, results):
    quantize, types = ops(case, "")
    text = quantize
    for j, (way, type_, (codes, scales)) in enumerate(zip(ways(case), types, results)):
        element, spec = way[2:4]
        parts = f"%data{j}, %scales{j}"
        parts += f", %factor{j}" if "multi" in spec else ""
        scale = ("f8E4M3FN" if "e4m3fn" in spec else
                 plain_of(spec)[0] if plain_of(spec) else "f8E8M0FNU")
        words = scales.view(f"u{scales.itemsize}")
        text += f"""  {parts} = blockscale.disassemble %q{j} : {type_}
{counted(f"a{j}", f"%data{j}", codes, element, BITS[element])}\
{counted(f"b{j}", f"%scales{j}", words, scale, 8 * scales.itemsize)}\
"""
    factor = ("  %t = arith.constant dense<-0.75> : tensor<f32>\n"
              if has_factor(case) else "")
    return f"""func.func @f{i}() {{
{factor}  %x = arith.constant {dense(x, "x".join(map(str, x.shape)), case[-1])}
{text}  return
}}
"""


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    all_cases = list({"long": long_tiles, "sparse": long_tiles,
                       "row": lines if mode == "both" else whole_rows, "matrix": whole_matrices,
                       "half": halves, "given": given_scales,
                       "float": float_tiles, "random": by_instruction, "": {
        "rows": cases, "columns": columns, "both": both,
        "found": found}[mode]}[tiles]())
    results = kernels(folder, all_cases)
    if broken:
        results[0][1][0][0][0, 0] ^= 1
    text = "".join(linalg(case, i, *result)
                   for i, (case, result) in enumerate(zip(all_cases, results)))
    calls = "\n".join(f"  call @f{i}() : () -> ()"
                      for i in range(len(all_cases)))
    (folder / "linalg.mlir").write_text(
        f"{text}func.func @main() {{\n{calls}\n  return\n}}\n")


main()
