# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that change layouts and orders against what blockscale-to-linalg and constant
folding make of the same op.

  relayout_linalg.py FOLDER BROKEN

runs each kernel on the emulator and writes FOLDER/linalg.mlir: a module whose `main` does
the same to constants and prints for each part of a result how many bytes differ from the
kernel's, padding included. With BROKEN = 1 a byte of the first case is wrong, which has
to show.
"""

import pathlib
import sys

import numpy as np
from linalg_counts import compiled, dense, pitch_of, run, write

ROWS = 133
# Element, its bits, spec, elements to a scale and rows, elements to a byte of metadata
# (0 without), K; layout and order before and behind.
FP8 = ("f8E4M3FN", 8, "e8m0_t32", 32, 1, 0, 352)
TALL = ("f8E4M3FN", 8, "e8m0_t32_t32", 32, 32, 0, 352)
BYTES = ("ui8", 8, "", 0, 1, 0, 37)
SPARSE = ("f8E4M3FN", 8, "e8m0_t32n2m4", 64, 1, 8, 320)
NARROW = ("f6E2M3FN", 6, "e8m0_t32n2m4", 64, 1, 8, 384)
PAIRS = ("f4E2M1FN", 4, "e8m0_t32n4m8", 64, 1, 16, 512)
WIDE = ("tf32", 32, "n1m2", 0, 1, 4, 76)
K, MN = "k_major", "mn_major"
PLAIN, TILED, LONG = "plain", "tiled_128x4", "tiled_128x16"
CASES = [
    (FP8, PLAIN, K, PLAIN, MN), (FP8, PLAIN, MN, TILED, K), (FP8, LONG, K, TILED, MN),
    (BYTES, PLAIN, K, PLAIN, MN), (BYTES, PLAIN, MN, PLAIN, K),
    *((SPARSE, *before, *behind) for before in ((PLAIN, K), (TILED, MN))
      for behind in ((TILED, K), (PLAIN, MN), (TILED, MN), (PLAIN, K))
      if before != behind),
    *((what, *layouts) for what in (NARROW, PAIRS, WIDE)
      for layouts in ((PLAIN, K, TILED, K), (TILED, K, PLAIN, K))),
    *((TALL, before, K, behind, K) for before in (PLAIN, TILED, LONG)
      for behind in (PLAIN, TILED, LONG) if before != behind)]


def up(x, y):
    return -(-x // y)


def type_of(what, layout, order):
    element, _, spec, *_, k = what
    text = f"!blockscale.tensor<{ROWS}x{k}x{element}" + (f', "{spec}"' if spec else "")
    return f"{text}, layout = {layout}, order = {order}>"


def tiled(lines, count, layout):
    """The shape of bytes of scales."""
    return {PLAIN: (lines, count), TILED: (up(lines, 128), up(count, 4), 32, 16),
            LONG: (up(lines, 128), up(count, 16), 128, 16)}[layout]


def shapes(what, layout, order):
    """The shapes of the parts and the types of their elements, in the order of
    `blockscale.assemble`."""
    element, bits, _, block, rows, per_byte, k = what
    stored = k // 2 if per_byte else k
    part = {"tf32": "f32", "ui8": "i8"}.get(element, element)
    found = {"data": ((ROWS, stored) if order == K else (stored, ROWS), part, bits)}
    if block:
        found["scales"] = (tiled(up(ROWS, rows), k // block, layout), "f8E8M0FNU", 8)
    if per_byte:
        count = up(k, per_byte)
        found["metadata"] = ((ROWS, count) if layout == PLAIN else
                             (up(count, 16), up(ROWS, 128), 128, 16), "i8", 8)
    return found


def kernels(folder):
    text = ""
    for i, (what, *layouts) in enumerate(CASES):
        a, d = type_of(what, *layouts[:2]), type_of(what, *layouts[2:])
        text += (f"func.func @k{i}(%a: {a}) -> {d} {{\n  %0 = blockscale.relayout %a : "
                 f"{a} to {d}\n  return %0 : {d}\n}}\n")
    return compiled(folder, text)


def in_lines(codes, pitch):
    return np.pad(codes, ((0, 0), (0, pitch - codes.shape[1])),
                  constant_values=0x77)


def moved(folder, planned, name, parts, behind):
    """The parts that the kernel writes, and those that stay."""
    roles = [one["role"] for one in planned["parameters"]]
    memory = {role: parts[role[2:]] for role in roles if role.startswith("a_")}
    if "a_data" in memory:
        memory["a_data"] = in_lines(memory["a_data"], pitch_of(planned, "a"))
    written = [role for role in roles if role.startswith("d_")]
    result = dict(parts)
    for role, found in zip(written, run(folder, name, memory, written)):
        shape, part = behind[role[2:]][0], role[2:]
        if part == "data":
            lines = found.reshape(shape[0], -1)
            # Threads write whole 16 bytes.
            assert not lines[:, shape[1]:].any()
            found = lines[:, :shape[1]]
        result[part] = np.ascontiguousarray(found).reshape(shape)
    return result


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def case(folder, number, planned):
    what, *layouts = CASES[number]
    before, behind = shapes(what, *layouts[:2]), shapes(what, *layouts[2:])
    rng = np.random.default_rng(number)
    parts = {name: rng.integers(0, 1 << min(bits, 31), shape).astype(
        "u4" if bits > 8 else "u1") for name, (shape, _, bits) in before.items()}
    found = moved(folder, planned, f"k{number}", parts, behind)
    a, d = type_of(what, *layouts[:2]), type_of(what, *layouts[2:])
    text = "".join(f"  %{name} = {dense(parts[name], element, bits)}\n"
                   for name, (_, element, bits) in before.items())
    given, types = "%data", [tensor(*before["data"][:2])]
    for name in ("scales", "metadata"):
        if name not in before:
            continue
        type_ = tensor(*before[name][:2])
        if name == "scales":
            given += ", %scales"
            types.append(type_)
        else:
            given += f" metadata(%metadata : {type_})"
    results = {name: f"%r{name}" for name in before}
    text += (f"  %a = blockscale.assemble {given} : {', '.join(types)} to {a}\n"
             f"  %b = blockscale.relayout %a : {a} to {d}\n"
             f"  {', '.join(results.values())} = blockscale.disassemble %b : {d}\n")
    return ["\n" + text, [(name[0], results[name], found[name], element, bits)
                          for name, (_, element, bits) in behind.items()]]


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    plans = kernels(folder)
    cases = [case(folder, i, plans[f"k{i}"]) for i in range(len(CASES))]
    if broken:
        cases[0][1][0][2][0, 0] ^= 1
    write(folder, cases)


main()
