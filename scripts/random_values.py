"""Values of functions that are drawn at random, and what such functions do with them
beside multiplying: quantising, adding, rounding, turning, cutting.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
from dataclasses import dataclass

from random_results import POWER_RULES, draw_rounding
from variant_functions import tensor
from variant_kinds import MIXED, MXFP4, MXFP6, MXFP8, NVFP4, Operands, same

FLOATS = ["f32", "bf16", "f16"]
# In which sums of sums have room.
LARGE_FLOATS = ["f32", "bf16"]
# What activations and weights are, and how often.
MIXES = [
    (4, MXFP8), (2, MIXED), (1, MXFP6), (2, MXFP4), (3, NVFP4), (1, same("bf16", "")),
    (1, Operands("f4E2M1FN", "f4E2M1FN", "e4m3fn_t16", "multi_float32_e4m3fn_t16")),
    (2, Operands("f8E4M3FN", "f8E4M3FN", "float32_t128@plain",
                 "float32_t128_t128@plain")),
    (1, Operands("f8E4M3FN", "f8E4M3FN", "float32_t32@plain", "bfloat16_t64@plain")),
    (2, Operands("f8E4M3FN", "f8E5M2", "float32_t0@plain", "float32_t0@plain")),
    (1, same("f8E4M3FN", "float32@plain")),
    (1, same("i8", "float32_t0@plain")),
    (1, Operands("f8E4M3FN", "f8E4M3FN", "e8m0_t64", "e8m0_t32_t64")),
    (1, Operands("f8E4M3FN", "f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4")),
    (1, Operands("bf16", "f4E2M1FN", "", "e8m0_t32@plain"))]
# A constant is written in full.
MOST_NUMBERS = 1 << 13
# Some bf16, whose products are exact.
CODES = ["0000", "3f80", "bf80", "4000", "c000", "4040", "3f00", "c080"]


def draw_weighted(rng, entries):
    return rng.choices([one for _, one in entries], [weight for weight, _ in entries])[0]


@dataclass
class Value:
    """A matrix of floats, or a batch of them, with sizes as types have them."""
    name: str
    shape: tuple
    element: str

    @property
    def type(self):
        return f"tensor<{'x'.join(str(size) for size in self.shape)}x{self.element}>"

    @property
    def columns(self):
        return self.shape[-1]

    @property
    def is_matrix(self):
        return len(self.shape) == 2

    def like(self, shape=None, element=None, name=""):
        """A value that differs in what is given; it has no name yet."""
        return Value(name, tuple(shape or self.shape), element or self.element)


class Function:
    """The lines of a function that is drawn, its arguments and its values."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.arguments, self.values, self.count = [], [], [], 0
        # What numbers may be rounded to.
        self.floats = FLOATS
        self.has_found_scales = False

    def new(self):
        self.count += 1
        return f"%{self.count}"

    def argument(self, type, prefix):
        name = f"%{prefix}{len(self.arguments)}"
        self.arguments.append((name, type))
        return name

    def line(self, text):
        self.lines.append("  " + text)

    def op(self, text, like):
        """A line that gives a value of that type."""
        made = like.like(name=self.new())
        self.line(f"{made.name} = {text}")
        self.values.append(made)
        return made

    def sizes(self, value):
        """Names of the sizes that are not in the type."""
        names = []
        for place, size in enumerate(value.shape):
            if size == "?":
                index, name = self.new(), self.new()
                self.line(f"{index} = arith.constant {place} : index")
                self.line(f"{name} = tensor.dim {value.name}, {index} : {value.type}")
                names.append(name)
        return names

    def empty(self, like, sizes):
        """A tensor to write to."""
        made = like.like(name=self.new())
        self.line(f"{made.name} = tensor.empty({', '.join(sizes)}) : {made.type}")
        return made


def is_whole(value, *specs):
    """Whether rows of K are whole blocks, with pitches that kernels read. Sizes that
    only a run knows are multiples of 128."""
    tiles = [int(size) for spec in specs
             for size in re.findall(r"_t(\d+)(?:n\d+m\d+)?(?:@|$)", spec)]
    return value.columns == "?" or value.columns % max(32, *tiles, 1) == 0


def quantized_type(shape, element, spec):
    rows = "x".join(str(size) for size in shape[:-1])
    return tensor(rows, shape[-1], element, spec)


def draw_words(function, value, element, spec):
    """Rule and rounding of what quantises, and the scale of the tensor."""
    rng, words = function.rng, ""
    if spec.startswith("multi") or spec == "float32@plain":
        factor = "tensor<f32>" if value.is_matrix else f"tensor<{value.shape[0]}xf32>"
        if rng.random() < 0.5:
            words = f"tensor_scale({function.argument(factor, 't')} : {factor}) "
    if spec.startswith("e8m0") and rng.random() < 0.6:
        # The host compares errors in an order of its own.
        words += f"rule({rng.choice([r for r in POWER_RULES if r != 'min_error'])}) "
    if rng.random() < 0.3:
        rounding = draw_rounding(rng)
        # Of integers there is none by 'cvt.rs'.
        words += rounding if element != "i8" else rounding.replace("_rs", "")
    return words


def quantize(function, value, element, spec, groups=""):
    """Name and type of the value in a scaled type."""
    type = quantized_type(value.shape, element, spec)
    if not spec:
        value = convert(function, value, element)
        name = function.new()
        function.line(f"{name} = blockscale.assemble {value.name} : {value.type} to {type}")
        return name, type
    function.has_found_scales |= "float" in spec
    words = groups + draw_words(function, value, element, spec)
    name = function.new()
    function.line(f"{name} = blockscale.quantize {value.name} {words} : {value.type} "
                  f"to {type}")
    return name, type


def constant(function, shape):
    """A matrix whose numbers stand in the function, little endian."""
    codes = function.rng.choices(CODES, k=shape[0] * shape[1])
    data = "".join(code[2:] + code[:2] for code in codes)
    made = Value(function.new(), tuple(shape), "bf16")
    function.line(f'{made.name} = arith.constant dense<"0x{data}"> : {made.type}')
    return made


def weights(function, shape, element, spec):
    """Name and type of an argument in the scaled type, or of what the function makes
    of one of floats, or of a constant."""
    rng = function.rng
    is_sparse, is_matrix = "n2m4" in spec, len(shape) == 2
    if is_sparse or rng.random() < 0.5:
        type = quantized_type(shape, element, spec)
        return function.argument(type, "w"), type
    is_small = "?" not in shape and shape[0] * shape[1] <= MOST_NUMBERS
    if is_matrix and is_small and rng.random() < 0.5:
        return quantize(function, constant(function, shape), element, spec)
    floats = Value("", tuple(shape), rng.choice(FLOATS) if spec else element)
    if is_matrix and rng.random() < 0.3:
        turned = floats.like(shape[::-1])
        turned.name = function.argument(turned.type, "w")
        return quantize(function, transpose(function, turned), element, spec)
    floats.name = function.argument(floats.type, "w")
    return quantize(function, floats, element, spec)


def there_and_back(function, value):
    """What is left of it in a scaled type."""
    rng = function.rng
    mix = draw_weighted(rng, [one for one in MIXES if one[1].a_spec])
    if not is_whole(value, mix.a_spec):
        return value
    name, type = quantize(function, value, mix.a, mix.a_spec)
    result = value.like(element=rng.choice(function.floats))
    return function.op(f"blockscale.dequantize {name} : {type} to {result.type}", result)


def prune(function, value):
    if value.columns == "?" or value.columns % 8:
        return value
    return function.op(f"blockscale.prune {value.name} keep 2 of 4 : {value.type}", value)


def convert(function, value, element):
    if element == value.element:
        return value
    if "f32" not in (element, value.element):
        value = convert(function, value, "f32")
    op = "arith.truncf" if value.element == "f32" else "arith.extf"
    result = value.like(element=element)
    return function.op(f"{op} {value.name} : {value.type} to {result.type}", result)


def round_to(function, value):
    return convert(function, value, function.rng.choice(function.floats))


def unary(function, value):
    op = function.rng.choice(["arith.negf", "math.absf", "math.tanh", "math.floor"])
    return function.op(f"{op} {value.name} : {value.type}", value)


def binary(function, value):
    """With itself, or another of its shape."""
    rng = function.rng
    other = rng.choice([one for one in function.values if one.shape == value.shape]
                       + [value])
    if other.element != value.element:
        value, other = (convert(function, one, "f32") for one in (value, other))
    op = rng.choice(["addf", "addf", "subf", "maximumf", "minimumf"])
    return function.op(f"arith.{op} {value.name}, {other.name} : {value.type}", value)


def spread(function, value):
    """With an element for each column, by linalg."""
    rank, e = len(value.shape), value.element
    loops = ", ".join(f"d{i}" for i in range(rank))
    whole = f"affine_map<({loops}) -> ({loops})>"
    last = f"affine_map<({loops}) -> (d{rank - 1})>"
    kinds = ", ".join(['"parallel"'] * rank)
    vector = f"tensor<{value.columns}x{e}>"
    by = function.argument(vector, "v")
    out = function.empty(value, function.sizes(value))
    op = function.rng.choice(["addf", "mulf", "maximumf"])
    return function.op(
        f"linalg.generic {{indexing_maps = [{whole}, {last}, {whole}], iterator_types = "
        f"[{kinds}]}} ins({value.name}, {by} : {value.type}, {vector}) "
        f"outs({out.name} : {out.type}) {{\n  ^bb0(%p: {e}, %q: {e}, %r: {e}):\n"
        f"    %u = arith.{op} %p, %q : {e}\n    linalg.yield %u : {e}\n  }} -> "
        f"{value.type}", value)


def softmax(function, value):
    value = convert(function, value, "f32")
    out = function.empty(value, function.sizes(value))
    return function.op(
        f"linalg.softmax dimension({len(value.shape) - 1}) ins({value.name} : "
        f"{value.type}) outs({out.name} : {out.type}) -> {value.type}", value)


def transpose(function, value):
    result = value.like((*value.shape[:-2], value.shape[-1], value.shape[-2]))
    out = function.empty(result, reversed(function.sizes(value)))
    order = "[1, 0]" if value.is_matrix else "[0, 2, 1]"
    return function.op(f"linalg.transpose ins({value.name} : {value.type}) "
                       f"outs({out.name} : {out.type}) permutation = {order}", result)


def turn(function, value):
    """Only where the rows are what a product may sum over."""
    rows = value.shape[-2]
    return value if rows == "?" or rows % 32 else transpose(function, value)


def rows_of(function, value):
    """As slices name them."""
    return function.sizes(value)[0] if value.shape[0] == "?" else value.shape[0]


def cut(function, value):
    """Some columns."""
    if not value.is_matrix or value.columns == "?" or value.columns < 64:
        return value
    rng, blocks = function.rng, value.columns // 32
    width = rng.randint(1, blocks - 1)
    start = rng.randint(0, blocks - width)
    result = value.like((value.shape[0], 32 * width))
    return function.op(
        f"tensor.extract_slice {value.name}[0, {32 * start}] "
        f"[{rows_of(function, value)}, {32 * width}] [1, 1] : {value.type} to "
        f"{result.type}", result)


def insert(function, value):
    """Into wider rows of an argument."""
    if not value.is_matrix or value.columns == "?" or value.columns > 192:
        return value
    more = 32 * function.rng.randint(1, 2)
    into = value.like((value.shape[0], value.columns + more))
    into.name = function.argument(into.type, "x")
    start = function.rng.choice([0, 32, more])
    return function.op(
        f"tensor.insert_slice {value.name} into {into.name}[0, {start}] "
        f"[{rows_of(function, value)}, {value.columns}] [1, 1] : {value.type} into "
        f"{into.type}", into)
