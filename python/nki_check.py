"""Checks kernels of NKI that `blockscale compile --target=trn3` wrote.

usage: nki_check.py PRODUCT.mlir KERNELS.nki.py PLAN.json [--seed=NUMBER]

Makes operands whose sums are exact in float32 in any order, packs them as the plan
says, runs each kernel in nki_interpreter.py, and compares every bit of the result
with the product computed here from the source alone. GELU and SiLU, which the
chip approximates, are compared within a step of the result's type.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import ast
import json
import math
import re
import sys

import ml_dtypes
import numpy as np

import nki_interpreter as interpreter
from nki_memory import NKIError

ELEMENTS = {
    "f8E4M3FN": (8, ml_dtypes.float8_e4m3fn),
    "f8E5M2": (8, ml_dtypes.float8_e5m2),
    "f4E2M1FN": (4, ml_dtypes.float4_e2m1fn),
}
PLAIN = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


# ---------------------------------------------------------------------------
# The source
# ---------------------------------------------------------------------------


class Source:
    """What the function of one product or quantisation says."""

    def __init__(self, text, name):
        text = re.sub(r"//[^\n]*", "", text)
        for alias, kind in re.findall(r"^(!\w+) = (.*)$", text, re.M):
            text = re.sub(re.escape(alias) + r"\b(?! =)", lambda _: kind, text)
        body = re.search(r"func\.func @" + re.escape(name) + r"\((.*?)\n}", text, re.S)
        if not body:
            raise SystemExit(f"no function {name} in the source")
        self.text = body.group(1)
        self.product = "blockscale.matmul" in self.text
        self.constants = {
            value: float(number) for value, number in re.findall(
                r"(%\w+) = arith\.constant ([-+.\deE]+) : f32", self.text)}
        activation = re.search(r"activation\((\w+)\)", self.text)
        self.activation = activation.group(1) if activation else None
        self.row_bias = re.search(r"bias\(%\w+\) row", self.text) is not None
        result = re.search(r"->\s*tensor<([^>]*)>\s*\n\s*return", self.text)
        self.result = result.group(1) if result else None
        # Element types of quantised tensors, by the value and by the operand.
        self.quantised = dict(re.findall(
            r"(%\w+) = blockscale\.quantize .*?\bto\s+"
            r"!blockscale\.tensor<(?:\d+x)+(\w+),", self.text, re.S))
        names = re.search(r"blockscale\.matmul (%\w+), (%\w+)", self.text)
        if names:
            for operand, value in zip("ab", names.groups()):
                if value in self.quantised:
                    self.quantised[operand] = self.quantised[value]

    def factor(self, name):
        """The constant behind `alpha(...)` or `beta(...)`, None if it has none."""
        value = re.search(name + r"\((%\w+)\)", self.text)
        return self.constants.get(value.group(1)) if value else None

    def has(self, name):
        return re.search(r"\b" + name + r"\(", self.text) is not None


class Operand:
    """A scaled tensor: elements and scale bytes, as they are in memory."""

    def __init__(self, kind, random):
        shape, element, spec = re.match(
            r'!blockscale\.tensor<((?:\d+x)+)(\w+), "([^"]*)"', kind).groups()
        sizes = [int(size) for size in shape.split("x")[:-1]]
        self.batch, (self.rows, self.k) = (sizes[0] if len(sizes) == 3 else 1), sizes[-2:]
        self.bits, self.type = ELEMENTS[element]
        tiles = [int(t) for t in re.findall(r"_t(\d+)", spec)]
        self.k_tile, self.row_tile = tiles[-1], tiles[0] if len(tiles) == 2 else 1
        # Small multiples of a half: sums of any order stay below 2^24 steps.
        values = np.array([-3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3], np.float32)
        shape = (self.batch, self.rows, self.k)
        self.codes = random.choice(values, shape).astype(self.type).view(np.uint8)
        scale_rows = 1 if self.row_tile == 0 else -(-self.rows // self.row_tile)
        self.scales = random.integers(
            126, 129, (self.batch, scale_rows, self.k // self.k_tile)).astype(np.uint8)
        self.distinct()

    def distinct(self):
        """Every group of 32, hence every row and tile, differs from all others: nothing
        can change places unseen."""
        groups = self.codes.reshape(self.batch * self.rows * self.k // 32, 32)
        if len(np.unique(groups, axis=0)) != len(groups):
            raise SystemExit("groups are not distinct: take another seed")

    def values(self):
        row = np.arange(self.rows) // max(self.row_tile, 1) * (self.row_tile != 0)
        scales = np.ldexp(1.0, self.scales.astype(np.int32) - 127)
        elements = self.codes.view(self.type).astype(np.float64)
        return elements * np.repeat(scales[:, row], self.k_tile, axis=2)


# ---------------------------------------------------------------------------
# The host side, as the plan says
# ---------------------------------------------------------------------------


def evaluate(text, names):
    """A formula of the plan over integer arrays; `/` rounds down."""

    def visit(node):
        if isinstance(node, ast.Expression):
            return visit(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id]
        operators = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply,
                     ast.Div: np.floor_divide, ast.Mod: np.mod}
        if isinstance(node, ast.BinOp) and type(node.op) in operators:
            return operators[type(node.op)](visit(node.left), visit(node.right))
        raise SystemExit(f"formula '{text}' of the plan")

    return visit(ast.parse(text, mode="eval"))


def pack(parameter, operand):
    """The array that the kernel takes for a scaled tensor."""
    packing, shape = parameter["packing"], parameter["shape"]
    names = {"r": np.arange(shape[0])[:, None, None], "c": np.arange(shape[1])[None, :, None]}
    formulas = ["matrix", "row"]
    if packing["form"] == "packed":
        names["q"] = np.arange(packing["elements"])[None, None, :]
        source, extent = operand.codes, operand.k
        last, limit_row = evaluate(packing["k"], names), operand.rows
        row_limited = evaluate(packing["row"], names)
    else:
        source, extent = operand.scales, operand.scales.shape[2]
        last, limit_row = evaluate(packing["block"], names), operand.rows
        row_limited = evaluate(packing["sourceRow"], names)
    matrix, row = (np.asarray(evaluate(packing[name], names)) for name in formulas)
    matrix, row, last, row_limited = np.broadcast_arrays(matrix, row, last, row_limited)
    inside = (row_limited < limit_row) & (last < extent)
    values = np.full(inside.shape, packing["padding"], np.uint32)
    values[inside] = source[matrix[inside], row[inside], last[inside]]
    if packing["form"] == "scales":
        return np.broadcast_to(values, shape + [1])[..., 0].astype(np.uint8)
    bits = packing["bitsPerElement"]
    word = sum(values[..., q] << np.uint32(bits * q) for q in range(packing["elements"]))
    return word.astype(np.dtype(parameter["type"]))


def make_quantised(shape, random, summed):
    """Values for quantize_mx, with a group of zeros and many that need rounding. Those
    that are `summed` have few binades, so that no sum of their products rounds."""
    if summed:
        rows, k = shape
        values = (1 + random.random(shape)) * np.exp2(random.integers(0, 2, shape))
        values *= random.choice([-1, 1], shape)
        values *= np.repeat(np.exp2(random.integers(0, 2, (rows, k // 32))), 32, axis=1)
    else:
        values = random.standard_normal(shape) * np.exp2(random.integers(-12, 12, shape))
    values[0, :32] = 0
    return values


def make_plain(parameter, random):
    """Values for a tensor that the kernel takes as it is."""
    kind = re.search(r"(?:x|<|^)(f32|bf16|f16)>?$", parameter["source"])
    dtype = PLAIN[kind.group(1)] if kind else np.float32
    if parameter["operand"] in ("a", "b", "x"):
        return make_quantised(parameter["shape"], random,
                              parameter["operand"] != "x").astype(dtype)
    values = random.integers(-8, 9, parameter["shape"]) / 4
    return np.where(values == 0, 0.75, values).astype(dtype)


# ---------------------------------------------------------------------------
# The reference
# ---------------------------------------------------------------------------


def quantize(x, element):
    """Codes and scale bytes of rows in groups of 32: scale 2^(floor(log2 m) - emax + 1)."""
    emax = 8 if element == ml_dtypes.float8_e4m3fn else 15
    groups = x.astype(np.float64).reshape(x.shape[0], -1, 32)
    scales = np.zeros(groups.shape[:2], np.uint8)
    codes = np.zeros(groups.shape, np.uint8)
    for row, group in np.ndindex(scales.shape):
        largest = max(abs(v) for v in groups[row, group])
        byte = 0
        if largest:
            byte = min(max(math.floor(math.log2(largest)) - emax + 1 + 127, 0), 254)
        scales[row, group] = byte
        exact = groups[row, group] / 2.0 ** (byte - 127)
        codes[row, group] = exact.astype(np.float32).astype(element).view(np.uint8)
    return codes.reshape(x.shape), scales


def exact_or_die(a, b):
    """All partial sums of a row times a column are exact in float32."""

    def step(x):
        """The power of two of which all values are multiples."""
        mantissa, exponent = np.frexp(x[x != 0])
        whole = (mantissa * 2.0 ** 53).astype(np.int64)
        return np.min(np.ldexp((whole & -whole).astype(np.float64), exponent - 53), initial=1)

    largest = np.max(np.abs(a) @ np.abs(b).T)
    if largest / (step(a) * step(b)) >= 2 ** 24:
        raise SystemExit("operands too large for exact sums: take another seed")


def reference(source, sums, plain, factors):
    """activation(factors * sum + beta * c + bias), each step rounded to float32."""
    value = sums.astype(np.float32)
    for factor in factors:
        value = value * np.float32(factor)
    if "c" in plain:
        c = plain["c"].reshape(value.shape).astype(np.float32)
        if source.has("beta"):
            c = c * np.float32(plain["beta"])
        value = value + c
    if "bias" in plain:
        bias = plain["bias"].astype(np.float32).reshape(-1)
        value = value + (bias[:, None] if source.row_bias else bias[None, :])
    if source.activation == "relu":
        value = np.maximum(value, np.float32(0))
    if source.activation == "silu":
        x = value.astype(np.float64)
        with np.errstate(over="ignore"):
            value = (x / (1 + np.exp(-x))).astype(np.float32)
    if source.activation == "gelu":
        erf = np.vectorize(math.erf, otypes=[np.float64])
        x = value.astype(np.float64)
        value = (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(np.float32)
    return value


# ---------------------------------------------------------------------------
# One kernel
# ---------------------------------------------------------------------------


class Problem:
    """Inputs of one kernel and the result that it must give."""

    def __init__(self, plan, kernel, source, seed):
        random = np.random.default_rng(seed)
        self.kernel, self.source = kernel, source
        self.revision = plan["target"].partition("@")[2] or "2026-07"
        self.inputs, operands, plain = [], {}, {}
        factors = []
        for parameter in kernel["parameters"]:
            name, packing = parameter["operand"], parameter["packing"]
            if packing["form"] == "plain":
                scalar = parameter["name"] in ("alpha", "beta") or parameter[
                    "name"].endswith("tensor_scale")
                if scalar:
                    value = np.float32(random.choice([0.5, 2.0, -0.25, 4.0]))
                    array = np.full(parameter["shape"], value, np.float32)
                    if parameter["name"] == "beta":
                        plain["beta"] = value
                    else:
                        factors.append(value)
                else:
                    array = make_plain(parameter, random)
                    plain[name] = array
            else:
                if name not in operands:
                    operands[name] = Operand(parameter["source"], random)
                array = pack(parameter, operands[name])
            self.inputs.append((array, parameter["type"]))
        if source.product:
            self.expect_product(operands, plain, factors)
        else:
            self.expect_quantised(plain)

    def expect_product(self, operands, plain, factors):
        source = self.source
        if source.factor("alpha") is not None:
            factors.append(source.factor("alpha"))
        if source.factor("beta") is not None:
            plain["beta"] = source.factor("beta")
        values = {}
        for name in ("a", "b"):
            values[name] = (operands[name].values() if name in operands
                            else self.quantised_values(plain.pop(name), source.quantised[name]))
        for a, b in zip(values["a"], values["b"]):
            exact_or_die(a, b)
        sums = np.matmul(values["a"], values["b"].transpose(0, 2, 1))
        result = np.concatenate([
            reference(source, part,
                      {k: (v.reshape(sums.shape[0], -1, sums.shape[2])[i] if k == "c" else v)
                       for k, v in plain.items()}, factors)
            for i, part in enumerate(sums)])
        dtype = PLAIN[source.result.split("x")[-1]]
        self.expected = [result.astype(dtype)]

    def quantised_values(self, x, name):
        element = ELEMENTS[name][1]
        codes, scales = quantize(x, element)
        batch = self.kernel["sizes"]["batch"]
        value = codes.view(element).astype(np.float64) * np.repeat(
            np.ldexp(1.0, scales.astype(np.int32) - 127), 32, axis=1)
        return value.reshape(batch, -1, x.shape[1])

    def expect_quantised(self, plain):
        """Data and scales in the layout that a host would pass for operand `a`."""
        element = ELEMENTS[next(iter(self.source.quantised.values()))][1]
        codes, scales = quantize(plain["x"], element)
        batch, k = self.kernel["sizes"]["batch"], plain["x"].shape[1]
        data_shape, scale_shape = (r["shape"] for r in self.kernel["results"])
        rows = plain["x"].shape[0] // batch
        data = np.zeros((batch, data_shape[0] // batch, data_shape[1], 4), np.uint32)
        bytes_ = np.zeros((batch, scale_shape[0] // batch, scale_shape[1]), np.uint8)
        for i in range(batch):
            part = codes[i * rows:(i + 1) * rows]
            data[i, :k // 4, :rows] = part.reshape(rows, k // 4, 4).transpose(1, 0, 2)
            bytes_[i, :k // 32, :rows] = scales[i * rows:(i + 1) * rows].T
        word = sum(data[..., q] << np.uint32(8 * q) for q in range(4)).astype(np.uint32)
        self.expected = [word.reshape(data_shape), bytes_.reshape(scale_shape)]

    def run(self, code):
        return interpreter.run_kernel(code, self.kernel["name"], self.inputs, self.revision)

    def compare(self, results):
        """What differs from the expectation; empty if nothing does."""
        for expected, result, info in zip(self.expected, results, self.kernel["results"]):
            if result.shape != expected.shape:
                return f"{info['name']} has shape {result.shape}, expected {expected.shape}"
            if self.source.activation not in ("gelu", "silu"):
                wrong = expected.view(np.uint8) != result.view(np.uint8)
                wrong = wrong.reshape(expected.shape + (-1,)).any(axis=-1)
            else:
                want, got = expected.astype(np.float64), result.astype(np.float64)
                epsilon = 2.0 ** -(7 if expected.dtype == ml_dtypes.bfloat16 else
                                   10 if expected.dtype == np.float16 else 23)
                wrong = ~(np.abs(want - got) <= epsilon * np.abs(want) + 1e-30)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                return (f"{info['name']}{list(at)} is {result[at]}, expected {expected[at]}; "
                        f"{int(wrong.sum())} of {wrong.size} differ")
        return ""

    def disagreement(self, machine):
        """Where the kernel does other things than the plan says; empty if nowhere."""
        if machine.counts != self.kernel["instructions"]:
            return (f"instructions {machine.counts}, the plan says "
                    f"{self.kernel['instructions']}")
        addressed = self.revision >= "2026-04"
        planned = {(entry["memory"], entry["address"] if addressed else 0,
                    tuple(entry["shape"]), entry["type"]) for entry in self.kernel["memory"]}
        for tile in machine.allocated:
            begin = tile.begin if addressed else 0
            if (tile.memory, begin, tile.shape, tile.dtype.name) not in planned:
                return f"tile {tile.shape} at byte {begin} of {tile.memory} is not in the plan"
        return ""


def load(source_path, kernels_path, plan_path, seed):
    """The compiled Python of the kernels, and a Problem for each of them."""
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    with open(source_path, encoding="utf-8") as file:
        text = file.read()
    with open(kernels_path, encoding="utf-8") as file:
        kernels = file.read()
    problems = [Problem(plan, kernel, Source(text, kernel["sourceFunction"]), seed)
                for kernel in plan["kernels"]]
    return kernels, problems


def main():
    parser = argparse.ArgumentParser(description="Check kernels of NKI bit for bit.")
    parser.add_argument("source")
    parser.add_argument("kernels")
    parser.add_argument("plan")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    text, problems = load(options.source, options.kernels, options.plan, options.seed)
    code = compile(text, options.kernels, "exec")
    failed = 0
    for problem in problems:
        name = problem.kernel["name"]
        try:
            results, machine = problem.run(code)
            complaint = problem.compare(results) or problem.disagreement(machine)
        except NKIError as error:
            complaint = str(error)
        failed += bool(complaint)
        sums = problem.kernel["instructions"].get("nc_matmul_mx", 0)
        print(f"{name}: FAIL: {complaint}" if complaint else
              f"{name}: pass, {sums} nc_matmul_mx, "
              f"{problem.expected[0].size} elements")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
