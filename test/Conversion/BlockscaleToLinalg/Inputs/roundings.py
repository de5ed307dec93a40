# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every rule of scales and every rounding of quantize, against exact fractions.

  roundings.py make ORACLE     writes a module to stdout
  roundings.py check ORACLE    reads what it printed from stdin

ORACLE is the folder of tensorcast_cast.csv and tensorcast_cast_int.csv, whose rows
come first. Each case prints the values meant, as bits, and the bytes of its scales
where these are powers of two.
"""

import csv
import math
import pathlib
import random
import re
import struct
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np

ELEMENTS = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, "e4m3fn"),
    "f8E5M2": (ml_dtypes.float8_e5m2, "e5m2"),
    "f6E2M3FN": (ml_dtypes.float6_e2m3fn, "e2m3fnuz"),
    "f6E3M2FN": (ml_dtypes.float6_e3m2fn, "e3m2fnuz"),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, "e2m1fnuz"),
}
MODES = {"floor": "floor", "midmax": "mid_max", "option3": "rounded_max",
         "topbinade": "top_binade"}
RULES = ["floor", "round_up", "floor_plus_one", "ceil", "mid_max",
         "rounded_max", "top_binade"]
SEEDS = [7, -3, 1 << 62]
MASK = (1 << 64) - 1
LARGEST = Fraction((1 << 24) - 1) * (1 << 104)


def bits(value):
    return struct.unpack("<i", struct.pack("<f", value))[0]


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def following(value, steps=1):
    """The f32 that many places above a positive one."""
    return struct.unpack("<f", struct.pack("<i", bits(value) + steps))[0]


def magnitudes(element):
    """The finite values of an element that are not negative, in order."""
    if element == "i8":
        return [Fraction(i, 64) for i in range(128)]
    if element == "i8 plain":
        return [Fraction(i) for i in range(128)]
    codes = 1 << (int(element[1]) - 1)
    values = np.arange(codes, dtype=np.uint8).view(ELEMENTS[element][0])
    return [Fraction(float(v)) for v in values if math.isfinite(float(v))]


def random_fraction(seed, number):
    state = (seed + (number // 4 + 1) * 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    word = state ^ (state >> 31)
    return Fraction(word >> number % 4 * 16 & 0xFFFF, 1 << 16)


def shared_fraction(seed, number, width):
    """That of cvt.rs: four elements share 32 bits, of which wyrand has 64 for
    sixteen."""
    state = (seed + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    state ^= state >> 31
    state = (state + (number // 16 + 1) * 0xA0761D6478BD642F) & MASK
    product = state * (state ^ 0xE7037ED1A0B428DB)
    word = (product >> 64) ^ (product & MASK)
    group = number // 4 % 4
    shared = (word >> 32) + (word & 0xFFFFFFFF) * group * 0x9E3779B1 ** group
    if width == 4:
        return Fraction(shared >> (0, 16, 8, 24)[number % 4] & 0xFF, 1 << 8)
    return Fraction(shared >> (0, 0, 16, 16)[number % 4] & 0xFFFF, 1 << 16)


def rounded(values, x, rounding, chance):
    """The magnitude among `values` that |x| is rounded to."""
    x = min(abs(x), values[-1])
    above = next(i for i, value in enumerate(values) if value >= x)
    if values[above] == x:
        return x
    low, high = values[above - 1], values[above]
    rest = (x - low) / (high - low)
    if rounding.startswith("stochastic"):
        return high if rest + chance >= 1 else low
    if rest == Fraction(1, 2):
        even = high if above % 2 == 0 else low
        return {"even": even, "away": high, "zero": low}[rounding]
    return high if rest > Fraction(1, 2) else low


def scale_byte(values, m, rule):
    """Of a tile whose largest magnitude is the Fraction m."""
    if m == 0:
        return 0
    log = math.floor(math.log2(m))
    while Fraction(2) ** (log + 1) <= m:
        log += 1
    while Fraction(2) ** log > m:
        log -= 1
    emax = math.floor(math.log2(values[-1]))
    f, top = m / Fraction(2) ** log, values[-1] / Fraction(2) ** emax
    step = (values[-1] - values[-2]) / Fraction(2) ** emax
    quotient = Fraction(float(np.float32(float(m)) / np.float32(float(values[-1]))))
    adds = {
        "floor": False,
        "round_up": quotient > Fraction(2) ** (log - emax),
        "floor_plus_one": True,
        "ceil": f > 1,
        "mid_max": f > top + step / 2,
        "rounded_max": f >= 2 - step / 2,
        "top_binade": f > top,
    }[rule]
    return min(max(log - emax + 127 + adds, 0), 254)


def threshold_rows(values):
    """Tiles whose largest magnitude is at or next to where a rule turns."""
    emax = math.floor(math.log2(values[-1]))
    top = float(values[-1] / Fraction(2) ** emax)
    step = float((values[-1] - values[-2]) / Fraction(2) ** emax)
    turns = {1.0, top, min(top + step / 2, 2 - 2.0 ** -23), 2 - step / 2}
    rows = []
    for exponent in (0, 90, -100, 127, -126, -117):
        for turn in sorted(turns):
            for steps in (-1, 0, 1):
                fraction = following(turn, steps)
                if 1 <= fraction < 2:
                    rows.append(fraction * 2.0 ** exponent)
    rows += [2.0 ** -127, following(2.0 ** -127, -1), 2.0 ** -149]
    generator = random.Random(1)
    tile = [m * 2.0 ** -generator.uniform(0, 8) * generator.choice((1, -1))
            for m in rows for _ in range(31)]
    return [[single(x) for x in tile[31 * i:31 * i + 31]] + [m]
            for i, m in enumerate(rows)]


def tie_rows(values):
    """Tiles, all under scale 1 by floor, of codes and what lies between."""
    row, rows = [], []
    for low, high in zip(values, values[1:]):
        middle = float((low + high) / 2)
        row += [float(low), middle, -middle, following(middle),
                -following(middle, -1), float(low + (high - low) / 8)]
    row += [-0.0, float(values[-1])]
    width = 31
    for start in range(0, len(row), width):
        tile = row[start:start + width]
        rows.append(tile + [0.0] * (width - len(tile)) + [float(values[-1])])
    return rows


def values_of(words):
    return [struct.unpack(">f", bytes.fromhex(word))[0] for word in words.split()]


def oracle_cases(folder):
    """(element, spec, rule, rounding, seed, rows, expected values)."""
    names = {name: element for element, (_, name) in ELEMENTS.items()}
    cases = {}
    with open(pathlib.Path(folder) / "tensorcast_cast.csv") as file:
        for row in csv.DictReader(file):
            if not row["scalemode"]:
                continue
            key = (names[row["nspec"]], row["sspec"], MODES[row["scalemode"]],
                   row["roundmode"], None)
            rows, expected = cases.setdefault(key, ([], []))
            rows.append(values_of(row["inputs_f32_hex"]))
            expected.append(values_of(row["dequant_f32_hex"]))
    return [(*key, *data) for key, data in cases.items()]


def integer_cases(folder):
    """The same of integers, with zero points or without, and of floats under float
    scales."""
    names = {name: element for element, (_, name) in ELEMENTS.items()}
    names |= {"int8": "i8", "int4": "i4", "uint8": "ui8", "uint4": "ui4"}
    cases = {}
    with open(pathlib.Path(folder) / "tensorcast_cast_int.csv") as file:
        for row in csv.DictReader(file):
            # TensorCast divides by 2^-23 at the least, but multiplies by the scale.
            (scale,) = values_of(row["scale"]) if len(row["scale"]) == 8 else (1,)
            if scale < 2.0 ** -23:
                continue
            # Zero points of uint8 reach 255, which TensorCast does not check.
            spec = row["sspec"]
            if row["nspec"] == "uint8":
                spec = spec.replace("int8", "int16")
            rows, expected = cases.setdefault((names[row["nspec"]], spec), ([], []))
            rows.append(values_of(row["inputs_f32_hex"]))
            expected.append(values_of(row["dequant_f32_hex"]))
    return [(*key, "floor", "even", None, *data) for key, data in cases.items()]


def own_cases():
    cases = []
    for element in [*ELEMENTS, "i8"]:
        values = magnitudes(element)
        rules = RULES if element != "i8" else RULES[:3]
        cases += [(element, "e8m0_t32", rule, "even", None,
                   threshold_rows(values), None) for rule in rules]
        ties = tie_rows(values)
        roundings = [("even", None), ("away", None), ("zero", None)] + [
            ("stochastic", seed) for seed in SEEDS]
        if element != "i8":
            roundings += [("stochastic_rs", seed) for seed in SEEDS[:2]]
        for rounding, seed in roundings:
            cases.append((element, "e8m0_t32", "floor", rounding, seed, ties,
                          None))
            cases.append((element if element != "i8" else "i8 plain", "", "floor",
                          rounding, seed, tie_rows(magnitudes("i8 plain"))
                          if element == "i8" else ties, None))
    return cases


def reference(case):
    """Values and the bytes of scales of a case of our own."""
    element, spec, rule, rounding, seed, rows, _ = case
    values = magnitudes(element)
    result, scales = [], []
    for i, row in enumerate(rows):
        exact = [Fraction(x) for x in row]
        byte = 127
        if spec:
            byte = scale_byte(values, max(abs(x) for x in exact), rule)
            scales.append(byte)
        step = Fraction(2) ** (byte - 127)
        for k, x in enumerate(exact):
            chance = 0
            if rounding == "stochastic":
                chance = random_fraction(seed, i * 32 + k)
            if rounding == "stochastic_rs":
                chance = shared_fraction(seed, i * 32 + k, int(element[1]))
            value = rounded(values, x / step, rounding, chance) * step
            # Dequantize keeps what is finite finite.
            value = min(value, LARGEST)
            zero = value == 0 and element.startswith("i8")
            sign = 1.0 if zero else math.copysign(1.0, row[k])
            result.append(math.copysign(float(value), sign))
    return result, scales


def make(cases):
    print("func.func private @printMemrefI32(tensor<*xi32>)")
    for i, (element, spec, rule, rounding, seed, rows, _) in enumerate(cases):
        stored = element.split()[0]
        shape = f"{len(rows)}x{len(rows[0])}"
        plain, numbers = f"tensor<{shape}xf32>", f"tensor<{shape}xi32>"
        suffix = f', "{spec}"' if spec else ""
        scaled = f"!blockscale.tensor<{shape}x{stored}{suffix}>"
        words = f"rule({rule}) " if rule != "floor" else ""
        if rounding != "even":
            words += f"rounding({rounding}"
            words += f", seed = {seed}) " if seed is not None else ") "
        data = b"".join(struct.pack("<f", x) for row in rows for x in row)
        print(f"""func.func @case{i}() {{
  %x = arith.constant dense<"0x{data.hex().upper()}"> : {plain}
  %q = blockscale.quantize %x {words}: {plain} to {scaled}
  %v = blockscale.dequantize %q : {scaled} to {plain}
  %e = tensor.empty() : {numbers}
  %b = linalg.map ins(%v : {plain}) outs(%e : {numbers}) (%f: f32, %o: i32) {{
    %raw = arith.bitcast %f : f32 to i32
    linalg.yield %raw : i32
  }}
  %any = tensor.cast %b : {numbers} to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()""")
        if spec.startswith("e8m0"):
            tiles = f"tensor<{len(rows)}x1x"
            print(f"""  %d, %s = blockscale.disassemble %q : {scaled}
  %es = tensor.empty() : {tiles}i32>
  %wide = linalg.map ins(%s : {tiles}f8E8M0FNU>) outs(%es : {tiles}i32>) (%f: f8E8M0FNU, %o: i32) {{
    %raw = arith.bitcast %f : f8E8M0FNU to i8
    %byte = arith.extui %raw : i8 to i32
    linalg.yield %byte : i32
  }}
  %anys = tensor.cast %wide : {tiles}i32> to tensor<*xi32>
  call @printMemrefI32(%anys) : (tensor<*xi32>) -> ()""")
        print("  return\n}")
    print("func.func @main() {")
    for i in range(len(cases)):
        print(f"  call @case{i}() : () -> ()")
    print("  return\n}")


def check(cases):
    blocks = [[int(x) for x in re.findall(r"-?\d+", block.split("Unranked")[0])]
              for block in sys.stdin.read().split("data =")[1:]]
    failures = elements = 0
    for case in cases:
        expected, scales = ((sum(case[6], []), None) if case[6]
                            else reference(case))
        found = blocks.pop(0)
        # TensorCast rounds -0 and what underflows away to +0.
        inputs = sum(case[5], [])
        wrong = [(x, y, struct.unpack("<f", struct.pack("<i", z))[0])
                 for x, y, z in zip(inputs, expected, found, strict=True)
                 if bits(y) != z and not (case[6] and y == 0 and
                                          z & 0x7FFFFFFF == 0)]
        if case[1].startswith("e8m0"):
            bytes_found = blocks.pop(0)
            if scales is not None and scales != bytes_found:
                wrong.append(("scales", scales, bytes_found))
        elements += len(found)
        if wrong:
            failures += 1
            print(f"{case[:5]}: {len(wrong)} wrong, {wrong[:3]}")
    assert not blocks
    print(f"{len(cases)} cases, {elements} elements, {failures} wrong")


if __name__ == "__main__":
    everything = (oracle_cases(sys.argv[2]) + integer_cases(sys.argv[2]) +
                  own_cases())
    {"make": make, "check": check}[sys.argv[1]](everything)
