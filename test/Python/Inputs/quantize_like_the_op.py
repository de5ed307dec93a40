# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Holds bs.quantize, which is numpy, against blockscale.quantize of constants.

  quantize_like_the_op.py BLOCKSCALE_OPT    prints "N formats agree"
"""

import dataclasses
import re
import subprocess
import sys

import numpy as np

import blockscale as bs
from blockscale._formats import ELEMENTS
from blockscale._quantize import RANDOM_ELEMENTS

SHAPE = (2, 48, 256)
RULES = ("round_up", "floor_plus_one", "ceil", "mid_max", "rounded_max",
         "top_binade")
SEED = -12345
FACTORS = [0.0371, 1.9]


def cases():
    """(format, rule, rounding, whether tensor scales are given)."""
    formats = {name: format_ for name, format_ in bs.FORMATS.items()
               if format_.scale != "ue5m3"}
    formats["nvfp4 in squares"] = dataclasses.replace(formats["nvfp4"], rows=16)
    formats["bf16 scales"] = dataclasses.replace(formats["fp8_row"], scale="bf16")
    formats["e4m3 scales"] = dataclasses.replace(formats["fp8_row"], scale="ue4m3")
    formats["e5m2 tiles"] = dataclasses.replace(formats["fp8_1x128"], scale="e5m2")
    formats["f16 tiles"] = dataclasses.replace(formats["fp8_1x128"], scale="f16")
    formats["zeros of groups"] = dataclasses.replace(
        formats["uint4_1x128"], scale="bf16", zero="int16")
    formats["zeros of three bits"] = dataclasses.replace(
        formats["uint4_1x128"], element="uint3")
    formats["zeros of two bits"] = dataclasses.replace(
        formats["uint4_row"], element="uint2")
    formats["zeros in real units"] = dataclasses.replace(
        formats["uint4_1x128"], zero="f32")
    formats["zeros of rows in real units"] = dataclasses.replace(
        formats["uint8_row"], zero="f16")
    formats["zeros of rows"] = dataclasses.replace(formats["uint4_row"], rows=32,
                                                   scale="f16")
    formats["no negative zero"] = bs.Format("e4m3b8fnuz", "f32", 128)
    formats["no negative zero, powers"] = bs.Format("e5m2b16fnuz", "ue8m0", 32)
    # At the end of f32 the nearest bfloat16 is too large for a scale.
    formats["no negative zero, bf16 scales"] = bs.Format("e4m3b8fnuz", "bf16", 128)
    # The largest number over a tensor scale below 1 is beyond f32.
    formats["powers under a tensor scale"] = bs.Format("e5m2", "ue8m0", 32, True)
    formats["mxfp8 in squares"] = dataclasses.replace(formats["mxfp8"], rows=32)
    for format_ in formats.values():
        for rounding in ("even", "away", "zero", "stochastic"):
            if rounding == "even" or format_.bits <= 8:
                yield format_, None, rounding, False
        if format_.element in RANDOM_ELEMENTS:
            yield format_, None, "stochastic_rs", False
        if format_.tensor_scale or format_.has_one_scale:
            yield format_, None, "even", True
        if format_.scale == "ue8m0":
            of_fractions = not format_.element.startswith("int")
            for rule in RULES if of_fractions else RULES[:2]:
                yield format_, rule, "even", False
        if format_.scale and format_.bits <= 8 and not format_.zero:
            yield format_, "min_error", "even", bool(format_.tensor_scale)


def values_of():
    """Rows and blocks with magnitudes of their own, ties, zeros, subnormals and
    the ends of f32."""
    generator = np.random.default_rng(0)
    exponents = generator.integers(-12, 6, (*SHAPE[:2], SHAPE[2] // 16, 1))
    values = np.ldexp(generator.standard_normal((*SHAPE[:2], SHAPE[2] // 16, 16)),
                      exponents).reshape(SHAPE).astype(np.float32)
    values[:, 3] = np.round(values[:, 3] * 8) / 8
    values[:, 5, 32:80] = 0
    values[:, 6, 64:70] = [-0.0, 1e-45, -1e-40, 2.0 ** -127, 1e-38, -3e-39]
    # Scales of e4m3fn next to ties, under the first of the factors given.
    ties = np.float32(FACTORS[0] * 6) * np.float32(1 + np.arange(8) / 4 + 1 / 16)
    for i, row in enumerate(range(10, 26)):
        values[:, row, ::16] = np.repeat(ties, 2) * np.float32(
            1 + (i - 8) * 2.0 ** -24)
        values[:, row, 1::16] = 0.001
    values[0, 40, 128:131] = [3.4028234663852886e38, -3.4e38, 1.7e38]
    return values


def text_of(number, case):
    format_, rule, rounding, given = case
    sizes = "x".join(map(str, SHAPE))
    spec = f', "{format_.spec}"' if format_.spec else ""
    type_ = f"!blockscale.tensor<{sizes}x{ELEMENTS[format_.element][0]}{spec}>"
    words = f" rule({rule})" if rule else ""
    if rounding != "even":
        seed = f", seed = {SEED}" if rounding.startswith("stochastic") else ""
        words += f" rounding({rounding}{seed})"
    if given:
        words = " tensor_scale(%t : tensor<2xf32>)" + words
    raw = values_of().tobytes().hex().upper()
    return f"""func.func @case{number}() -> {type_} {{
  %t = arith.constant dense<{FACTORS}> : tensor<2xf32>
  %x = arith.constant dense<"0x{raw}"> : tensor<{sizes}xf32>
  %q = blockscale.quantize %x{words} : tensor<{sizes}xf32> to {type_}
  return %q : {type_}
}}"""


def constants(text):
    """The bytes of the constants that a function assembles, in that order."""
    found = {name: bytes.fromhex(content) for name, content in re.findall(
        r'(%\w+) = arith.constant dense<"0x(\w+)">', text)}
    # Numbers that are all the same.
    found |= {name: np.full(int(count), float(number), np.float32).tobytes()
              for name, number, count in re.findall(
                  r"(%\w+) = arith.constant dense<([\d.e+-]+)> : tensor<(\d+)xf32>",
                  text)}
    parts = text.split("blockscale.assemble")[1].split(" to ")[0]
    return [found[name] for name in re.findall(r"%\w+", parts)]


def main(blockscale_opt):
    everything = list(cases())
    module = "\n".join(text_of(*case) for case in enumerate(everything))
    folded = subprocess.run(
        [blockscale_opt, "--blockscale-fold-constants",
         "--mlir-print-elementsattrs-with-hex-if-larger=1"],
        input=module, capture_output=True, text=True, check=True).stdout
    functions = folded.split("func.func")[1:]
    assert len(functions) == len(everything)
    for (format_, rule, rounding, given), function in zip(everything, functions):
        result = bs.quantize(
            values_of(), format_, rule=rule, rounding=rounding,
            seed=SEED if rounding.startswith("stochastic") else None,
            tensor_scale=FACTORS if given else None)
        # Numpy's int4 repeats the sign in its byte.
        mask = 15 if format_.element == "int4" else 255
        found = [(np.frombuffer(result.data.tobytes(), np.uint8) & mask).tobytes()]
        if result.scales is not None:
            found.append(result.scales.tobytes())
        if result.zeros is not None:
            found.append(result.zeros.tobytes())
        if result.tensor_scale is not None:
            found.append(result.tensor_scale.tobytes())
        expected = constants(function)
        assert len(found) == len(expected)
        for name, ours, theirs in zip(("data", "scales", "the last"), found,
                                      expected):
            wrong = np.flatnonzero(np.frombuffer(ours, np.uint8) !=
                                   np.frombuffer(theirs, np.uint8))
            assert not wrong.size, (format_, rule, rounding, given, name, wrong)
    print(f"{len(everything)} formats agree")


main(sys.argv[1])
