# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that prune, compress and densify against what blockscale-to-linalg and
constant folding make of the same ops.

  sparsity_linalg.py FOLDER BROKEN

runs each kernel on the emulator and writes FOLDER/linalg.mlir: a module whose `main` does
the same to constants and prints for each result how many codes or bytes of metadata
differ from the kernel's, padding included. With BROKEN = 1 a code of the first case is
wrong, which has to show.
"""

import pathlib
import sys

import numpy as np
from linalg_counts import compiled, dense, pitch_of, run, write

ROWS, K = 133, 192
# Bits, and those of a magnitude that are set in infinity, where there is one.
NUMBERS = {"bf16": (16, 0x7f80), "f16": (16, 0x7c00), "f32": (32, 0x7f800000)}
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4,
        "f16": 16, "bf16": 16, "tf32": 32, "i8": 8, "ui8": 8}
PRUNED = [("bf16", "2 of 4"), ("f16", "2 of 4"), ("f32", "2 of 4"), ("f32", "1 of 2"),
          ("bf16", "3 of 8"), ("f16", "5 of 16"), ("bf16", "4 of 8 pairs"),
          ("f16", "4 of 8 pairs"), ("f32", "4 of 8 pairs"), ("f32", "6 of 16 pairs")]
# Element, spec of the dense tensor and of the sparse one, layout if it is not of tiles.
STORED = [("f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4"), ("f8E5M2", "e8m0_t64", "e8m0_t32n2m4"),
          ("f6E2M3FN", "e8m0_t64", "e8m0_t32n2m4"),
          ("f6E3M2FN", "e8m0_t64", "e8m0_t32n2m4"),
          ("f4E2M1FN", "e8m0_t64", "e8m0_t32n2m4"),
          ("f4E2M1FN", "e8m0_t64", "e8m0_t32n4m8"), ("f16", "", "n2m4"),
          ("bf16", "", "n2m4"), ("tf32", "", "n1m2"), ("i8", "", "n2m4"),
          ("ui8", "", "n2m4"), ("f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4", "plain"),
          ("f4E2M1FN", "e8m0_t64", "e8m0_t32n4m8", "plain"),
          ("tf32", "", "n1m2", "plain")]


def drawn(number, shape, kind):
    """Numbers of which many are alike, zero, infinite or no number."""
    rng = np.random.default_rng(number)
    bits, infinity = NUMBERS[kind]
    few = rng.integers(infinity - 4, infinity + 4, shape)
    near = rng.integers(0x3c00 << (bits - 16), (0x3c00 << (bits - 16)) + 3, shape)
    codes = np.select([rng.random(shape) < p for p in (0.2, 0.5, 0.3)],
                      [few, near, np.zeros(shape, np.int64)],
                      rng.integers(0, 1 << (bits - 1), shape))
    return (codes | rng.integers(0, 2, shape) << (bits - 1)).astype(f"u{bits // 8}")


def in_pattern(number, element, sparse):
    """Codes of which each group has no more in use than stay; zeros of both signs."""
    rng = np.random.default_rng(number)
    bits = BITS[element]
    group, unit, kept = {"n2m4": (4, 1, 2), "n4m8": (4, 2, 2), "n1m2": (2, 1, 1)}[
        sparse[-4:]]
    size = group * unit
    shape = (ROWS, K // size, group)
    order = rng.random(shape).argsort(-1).argsort(-1)
    stays = (order < rng.integers(0, kept + 1, shape[:2])[..., None]).repeat(unit, -1)
    sign = 0 if "i8" in element else 1 << (bits - 1)
    codes = rng.integers(0, 1 << bits, (ROWS, K // size, size))
    return np.where(stays, codes, codes & sign).reshape(ROWS, K)


def packed(codes, bits, pitch):
    bytes_ = codes.astype("<u4").reshape(ROWS, -1, 1).view(np.uint8)
    lines = np.unpackbits(bytes_, axis=2, bitorder="little")[..., :bits]
    lines = np.packbits(lines.reshape(ROWS, -1), axis=1, bitorder="little")
    return np.pad(lines, ((0, 0), (0, pitch - lines.shape[1])), constant_values=0x77)


def unpacked(memory, bits, count, pitch):
    lines = np.unpackbits(memory.reshape(ROWS, pitch), axis=1, bitorder="little")
    lines = lines[:, :count * bits].reshape(ROWS, count, bits).astype(np.int64)
    return (lines << np.arange(bits)).sum(-1)


def type_of(element, spec, layout="tiled_128x4"):
    text = f"!blockscale.tensor<{ROWS}x{K}x{element}"
    return text + (f', "{spec}", layout = {layout}>' if spec else ">")


def stored_type(element):
    """That of the parts: a tf32 is an f32, a ui8 its bits."""
    return {"tf32": "f32", "ui8": "i8"}.get(element, element)


def pruned_cases(folder):
    """What `main` calls, and the codes of the kernels."""
    text = "".join(
        f"func.func @p{i}(%x: tensor<{ROWS}x{K}x{kind}>) -> tensor<{ROWS}x{K}x{kind}> {{\n"
        f"  %0 = blockscale.prune %x keep {what} : tensor<{ROWS}x{K}x{kind}>\n"
        f"  return %0 : tensor<{ROWS}x{K}x{kind}>\n}}\n"
        for i, (kind, what) in enumerate(PRUNED))
    compiled(folder, text)
    for i, (kind, what) in enumerate(PRUNED):
        x = drawn(i, (ROWS, K), kind)
        bits = NUMBERS[kind][0]
        found, = run(folder, f"p{i}", {"x": x}, ["d"])
        found = found.view(x.dtype).reshape(x.shape).copy()
        assert np.count_nonzero(found != x) > x.size // 8
        yield [f"""
  %x = {dense(x, kind, bits)}
  %y = blockscale.prune %x keep {what} : tensor<{ROWS}x{K}x{kind}>
""", [("n", "%y", found, kind, bits)]]


def stored_cases(folder):
    text = ""
    for i, (element, spec, sparse, *layout) in enumerate(STORED):
        a, d = (type_of(element, one, *layout) for one in (spec, sparse))
        text += (f"func.func @c{i}(%a: {a}) -> {d} {{\n  %0 = blockscale.compress %a : "
                 f"{a} to {d}\n  return %0 : {d}\n}}\n"
                 f"func.func @d{i}(%a: {d}) -> {a} {{\n  %0 = blockscale.densify %a : "
                 f"{d} to {a}\n  return %0 : {a}\n}}\n")
    plans = compiled(folder, text)
    for i, case in enumerate(STORED):
        yield stored_case(folder, i, case, plans[f"c{i}"], plans[f"d{i}"])


def stored_case(folder, i, case, there, back):
    element, spec, sparse, *layout = case
    is_tiled = layout != ["plain"]
    bits, codes = BITS[element], in_pattern(i, element, sparse)
    data, metadata = run(
        folder, f"c{i}", {"a_data": packed(codes, bits, pitch_of(there, "a"))},
        ["d_data", "d_metadata"])
    stored = unpacked(data, bits, K // 2, pitch_of(there, "d"))
    again, = run(folder, f"d{i}",
                 {"a_data": packed(stored, bits, pitch_of(back, "a")),
                  "a_metadata": metadata}, ["d_data"])
    again = unpacked(again, bits, K, pitch_of(back, "d"))
    part = stored_type(element)
    a, c = (type_of(element, one, *layout) for one in (spec, sparse))
    scales = tiles = names = also = ""
    if spec:
        # All scales are 1.
        tiles = f"tensor<2x{-(-K // 256)}x32x16xf8E8M0FNU>"
        tiles = tiles if is_tiled else f"tensor<{ROWS}x{K // 64}xf8E8M0FNU>"
        scales, names, also = (
            f"  %s = arith.constant dense<1.0> : {tiles}\n", ", %s", f", {tiles}")
    shape = (-1, 2, 128, 16) if is_tiled else (ROWS, -1)
    stored_bytes = metadata.reshape(shape)
    shape = "x".join(map(str, stored_bytes.shape))
    text = f"""
  %x = {dense(codes, part, bits)}
  %y = {dense(stored, part, bits)}
  %z = {dense(stored_bytes, "i8")}
{scales}  %a = blockscale.assemble %x{names} : tensor<{ROWS}x{K}x{part}>{also} to {a}
  %c = blockscale.compress %a : {a} to {c}
  %c0, {"%c1, " if spec else ""}%cm = blockscale.disassemble %c : {c}
  %b = blockscale.assemble %y{names} metadata(%z : tensor<{shape}xi8>) : tensor<{ROWS}x{K // 2}x{part}>{also} to {c}
  %d = blockscale.densify %b : {c} to {a}
  %d0{", %d1" if spec else ""} = blockscale.disassemble %d : {a}
"""
    return [text, [("n", "%c0", stored, part, bits),
                   ("m", "%cm", stored_bytes, "i8", 8),
                   ("w", "%d0", again, part, bits)]]


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    cases = [*pruned_cases(folder), *stored_cases(folder)]
    if broken:
        cases[0][1][0][2][0, 0] ^= 1
    write(folder, cases)


main()
