# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Extreme finite data through quantize and dequantize, for many specs.

  finite_specs.py make ELEMENT...    writes a module to stdout
  finite_specs.py check ELEMENT...   reads what it printed from stdin

Each function quantizes the same five matrices of 2 x 64 (a batch) and prints
the values meant. None may be an infinity or a NaN; and where some scale of the
spec reaches as far as f32, none may be off by more than a third of its tile's
largest magnitude (of its matrix's, with a scale for each matrix).
"""

import re
import struct
import sys

LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
SUBNORMAL = struct.unpack("<f", b"\x01\x00\x00\x00")[0]
COLUMNS = 64
# As many as to cover each kind of tile: all of one value, and mixed ones.
MATRICES = [
    [[LARGEST, -LARGEST, 0.0, SUBNORMAL, 1.0, -2.5e38, 1e-38, 1e38] * 4
     + [0.0] * 32, [0.97 * LARGEST] * 32 + [3.3e38 - 1e37 * i for i in range(32)]],
    [[3.0] * 64, [-0.001 * i for i in range(64)]],
    [[SUBNORMAL] * 32 + [-3 * SUBNORMAL] * 32, [1e-40] * 32 + [0.0] * 32],
    [[0.0] * 64, [-0.0] * 64],
    [[-LARGEST] * 64, [LARGEST * 2.0 ** (-4 * i) for i in range(64)]],
]
WIDE = ["float32", "bfloat16", "e8m0"]
NARROW = ["float16", "e4m3", "e4m3fn", "e5m2", "e3m4", "e4m3b8fnuz"]
# Where a tensor scale is given as well, whatever it is: one for each matrix.
GIVEN = ["float32", "e8m0", "e4m3fn"]
TENSOR_SCALES = [0.0, SUBNORMAL, LARGEST, -2.0, 1e-30]
TILES = ["", "_t0", "_t32", "_t32_t32"]


def specs(element):
    """(spec, rule, bound): bound is 'tile', 'matrix' or None."""
    scales = WIDE + NARROW + ([] if element.startswith("i") else ["int8"])
    rows = []
    for scale in scales:
        rules = ["", "rule(round_up) "] if scale == "e8m0" else [""]
        for rule in rules:
            for tile in TILES:
                rows.append((scale + tile, rule,
                             "tile" if scale in WIDE else None))
            for outer in WIDE + NARROW:
                bound = ("matrix" if outer in WIDE or scale in WIDE else None)
                spec = f"multi_{outer}_{scale}_t32"
                rows.append((spec, rule, bound))
                if outer in GIVEN and scale in GIVEN:
                    rows.append((spec, "tensor_scale(%t : tensor<5xf32>) " + rule,
                                 None))
    return rows


def make(elements):
    print("func.func private @printMemrefF32(tensor<*xf32>)")
    hexes = "".join(struct.pack("<f", x).hex().upper()
                    for matrix in MATRICES for row in matrix for x in row)
    given = struct.pack("<5f", *TENSOR_SCALES).hex().upper()
    shape = f"{len(MATRICES)}x2x{COLUMNS}"
    plain = f"tensor<{shape}xf32>"
    calls = []
    for element in elements:
        for spec, rule, _ in specs(element):
            name = f"f{len(calls)}"
            calls.append(name)
            scaled = f'!blockscale.tensor<{shape}x{element}, "{spec}">'
            print(f"""func.func @{name}(%x: {plain}, %t: tensor<5xf32>) {{
  %q = blockscale.quantize %x {rule}: {plain} to {scaled}
  %v = blockscale.dequantize %q : {scaled} to {plain}
  %any = tensor.cast %v : {plain} to tensor<*xf32>
  call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}}""")
    print(f"""func.func @main() {{
  %x = arith.constant dense<"0x{hexes}"> : {plain}
  %t = arith.constant dense<"0x{given}"> : tensor<5xf32>""")
    for name in calls:
        print(f"  call @{name}(%x, %t) : ({plain}, tensor<5xf32>) -> ()")
    print("  return\n}")


def largest(bound, matrix, row, column, spec):
    """The largest magnitude that the error of an element is measured by."""
    rows = MATRICES[matrix]
    if bound == "matrix" or "_t" not in spec:
        return max(abs(x) for line in rows for x in line)
    if spec.endswith("_t0"):
        return max(abs(x) for x in rows[row])
    start = column // 32 * 32
    lines = rows if spec.endswith("_t32_t32") else [rows[row]]
    return max(abs(x) for line in lines for x in line[start:start + 32])


def check(elements):
    blocks = sys.stdin.read().split("data =")[1:]
    expected = [(element, *row) for element in elements
                for row in specs(element)]
    assert len(blocks) == len(expected), f"{len(blocks)} of {len(expected)} ran"
    failures = 0
    for block, (element, spec, rule, bound) in zip(blocks, expected):
        text = block.split("Unranked")[0]
        numbers = [float(x) for x in re.findall(r"[-+.\w]+", text)]
        wrong = []
        for i, found in enumerate(numbers):
            matrix, row, column = i // (2 * COLUMNS), i // COLUMNS % 2, i % COLUMNS
            value = MATRICES[matrix][row][column]
            if not abs(found) <= 3.403e38:
                wrong.append((matrix, row, column, value, found))
            elif bound:
                scale = largest(bound, matrix, row, column, spec)
                # Scales end at 2^-127, or at the end of their own format.
                if abs(found - value) > 0.34 * scale + 2e-38:
                    wrong.append((matrix, row, column, value, found))
        if len(numbers) != len(MATRICES) * 2 * COLUMNS:
            wrong.append("values missing")
        if wrong:
            failures += 1
            print(f"{element} {spec} {rule}: {len(wrong)} wrong, {wrong[:3]}")
    print(f"{len(expected)} specs, {failures} wrong")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2:])
