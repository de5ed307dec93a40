# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The ops of a traced program around its products."""

import math

from . import _torch_products as products
from ._errors import Refused
from ._mlir_text import Type, Value, tensor_type

F32 = "f32"


def build(function, node, values):
    """The value of one node of the graph."""
    name = str(node.target)
    if name in NUMBERS or not has_tensor(node):
        return None
    builder = BUILDERS.get(name) or products.BUILDERS.get(name)
    if builder is None:
        raise Refused(f"'{node.name}': nothing takes '{name}'; taken are "
                      + ", ".join(sorted({*BUILDERS, *products.BUILDERS})))
    if builder in (transpose, transpose_matrix, permute_node) and \
            products.is_right_side(node):
        return products.Transposed(resolve(node.args[0], values))
    try:
        return builder(function, node, *(resolve(one, values) for one in node.args),
                       **{key: resolve(one, values)
                          for key, one in node.kwargs.items()})
    except TypeError as error:
        raise Refused(f"'{node.name}' ({name}): {error}") from error


# Sizes are read from the types of values, and what a trace asserts of them was
# true when they were traced.
NUMBERS = {"aten._assert_tensor_metadata.default", "aten._assert_scalar.default",
           "aten.sym_size.int", "aten.sym_constrain_range_for_size.default"}


def has_tensor(node):
    """Whether a node makes a tensor, and no number."""
    value = node.meta.get("val")
    return value is None or not isinstance(value, (int, float, bool)) and \
        not type(value).__name__.startswith("Sym")


def resolve(argument, values):
    """Nodes as values, in lists, too; all else as it is."""
    if isinstance(argument, (list, tuple)):
        return [resolve(one, values) for one in argument]
    return values.get(argument, argument) if hasattr(argument, "op") else argument


def result(node):
    return tensor_type(node.meta["val"], node.name)


# Shapes ---------------------------------------------------------------------


def permute(function, value, order):
    order = [axis % len(order) for axis in order]
    type = value.type.like(value.type.shape[axis] for axis in order)
    return function.op(
        f"tosa.transpose {value.name} {{perms = array<i32: "
        f"{', '.join(map(str, order))}>}} : ({value.type}) -> {type}", type)


def view(function, node, value, *_):
    return function.reshape(value, result(node).shape, node.name)


def transpose(function, node, value, first=0, second=1):
    rank = len(value.type.shape)
    order = list(range(rank))
    order[first % rank], order[second % rank] = second % rank, first % rank
    return permute(function, value, order)


def transpose_matrix(function, node, value):
    return permute(function, value, (1, 0))


def permute_node(function, node, value, order):
    return permute(function, value, order)


def cat(function, node, parts, axis=0):
    type = result(node)
    names = ", ".join(one.name for one in parts)
    types = ", ".join(str(one.type) for one in parts)
    return function.op(f"tosa.concat {names} {{axis = {axis % len(type.shape)} : "
                       f"i32}} : ({types}) -> {type}", type)


def slice_of(function, node, value, axis=0, start=None, end=None, step=1):
    type, rank = result(node), len(value.type.shape)
    start = start or 0
    size = value.type.shape[axis % rank]
    if step != 1 or size is None or not isinstance(start, int):
        raise Refused(f"'{node.name}': slices have known places and no steps")
    offsets, sizes = ["0"] * rank, []
    offsets[axis % rank] = str(start % size if start < 0 else min(start, size))
    for at, each in enumerate(type.shape):
        sizes.append(str(each) if each is not None else function.size(value, at))
    return function.op(
        f"tensor.extract_slice {value.name}[{', '.join(offsets)}] "
        f"[{', '.join(sizes)}] [{', '.join(['1'] * rank)}] : {value.type} to {type}",
        type)


# Elementwise ----------------------------------------------------------------


def cast(function, value, element):
    if value.type.element == element:
        return value
    if "f8" in element or "f4" in element:
        raise Refused(f"a conversion to {element}: quantise with scales")
    type = value.type.like(element=element)
    return function.op(f"tosa.cast {value.name} : ({value.type}) -> {type}", type)


def operand(function, value, rank, element):
    """A tensor, or a number, with `rank` dimensions and these elements."""
    if not isinstance(value, Value):
        type = Type((1,) * rank, element)
        return function.op(
            f'"tosa.const"() <{{values = dense<{float(value):.9e}> : {type}}}> : '
            f"() -> {type}", type)
    ones = (1,) * (rank - len(value.type.shape))
    value = function.reshape(value, ones + value.type.shape)
    return cast(function, value, element)


def elementwise(op, suffix=""):
    """A function of tensors that are stretched to one shape, in the type of the
    result."""
    def make(function, node, *values, alpha=1):
        type = result(node)
        if alpha != 1:
            raise Refused(f"'{node.name}': alpha = {alpha}; only 1 is taken")
        named = [operand(function, one, len(type.shape), type.element)
                 for one in values]
        return tosa(function, op, named, type, suffix)
    return make


def tosa(function, op, values, type, suffix=""):
    names = ", ".join(one.name for one in values)
    types = ", ".join(str(one.type) for one in values)
    if op == "mul":
        shift = function.op('"tosa.const"() <{values = dense<0> : tensor<1xi8>}> : '
                            "() -> tensor<1xi8>", None).name
        names, types = f"{names}, {shift}", f"{types}, tensor<1xi8>"
    return function.op(f"tosa.{op} {names}{suffix} : ({types}) -> {type}", type)


def unary(*steps):
    """tosa ops one after the other, computed in f32."""
    def make(function, node, value, *_, **__):
        type = result(node)
        value = cast(function, value, F32)
        for step in steps:
            value = step(function, value)
        return cast(function, value, type.element)
    return make


def apply(op):
    return lambda function, value: tosa(function, op, [value], value.type)


def times(op):
    """x * op(x)."""
    def step(function, value):
        return tosa(function, "mul", [value, op(function, value)], value.type)
    return step


def relu(function, value):
    zero = operand(function, 0, len(value.type.shape), F32)
    return tosa(function, "maximum", [value, zero], value.type)


def divide(function, node, left, right):
    type = result(node)
    rank = len(type.shape)
    right = operand(function, right, rank, F32)
    inverse = tosa(function, "reciprocal", [right], right.type)
    left = operand(function, left, rank, F32)
    return cast(function, tosa(function, "mul", [left, inverse],
                               type.like(element=F32)), type.element)


def power(function, node, value, exponent):
    if exponent != 2:
        raise Refused(f"'{node.name}': a power of {exponent}; only 2 is taken")
    return elementwise("mul")(function, node, value, value)


def gelu(function, node, value, approximate="none"):
    """x * (1 + erf(x / sqrt(2))) / 2."""
    if approximate != "none":
        raise Refused(f"'{node.name}': gelu with approximate = '{approximate}'")
    type = result(node)
    value = cast(function, value, F32)
    rank = len(type.shape)

    def scaled(one, factor):
        return tosa(function, "mul", [one, operand(function, factor, rank, F32)],
                    value.type)

    erf = tosa(function, "erf", [scaled(value, math.sqrt(0.5))], value.type)
    grown = tosa(function, "add", [erf, operand(function, 1, rank, F32)],
                 value.type)
    return cast(function, tosa(function, "mul", [scaled(value, 0.5), grown],
                               value.type), type.element)


def convert(function, node, value, *_, **__):
    type = result(node)
    if isinstance(value, Value) and value.type.shape == type.shape:
        return cast(function, value, type.element)
    raise Refused(f"'{node.name}': a conversion that changes the shape")


def same(function, node, value, *_, **__):
    return value


def linear(function, node, value, weight, bias=None):
    product = products.matmul(function, node, value,
                              permute(function, weight, (1, 0)))
    return product if bias is None else elementwise("add")(function, node, product,
                                                           bias)


# Reductions -----------------------------------------------------------------


def reduce(function, value, op, axis):
    """Along one dimension, which keeps the size 1; in f32."""
    shape = list(value.type.shape)
    shape[axis] = 1
    type = value.type.like(shape)
    return function.op(f"tosa.{op} {value.name} {{axis = {axis} : i32}} : "
                       f"({value.type}) -> {type}", type)


def reduction(op, is_mean=False):
    def make(function, node, value, axes=None, keepdim=False, dtype=None):
        type, rank = result(node), len(value.type.shape)
        axes = range(rank) if not axes else \
            [axes] if isinstance(axes, int) else axes
        value, count = cast(function, value, F32), 1
        for axis in sorted(axis % rank for axis in axes):
            size = value.type.shape[axis]
            if is_mean and size is None:
                raise Refused(f"'{node.name}': a mean over a size that is not "
                              "known before run time")
            count *= size or 1
            value = reduce(function, value, op, axis)
        if is_mean:
            factor = operand(function, 1 / count, rank, F32)
            value = tosa(function, "mul", [value, factor], value.type)
        return cast(function, function.reshape(value, type.shape), type.element)
    return make


def softmax(function, node, value, axis, half_to_float=False):
    type = result(node)
    axis %= len(type.shape)
    value = cast(function, value, F32)
    most = reduce(function, value, "reduce_max", axis)
    power_of = tosa(function, "exp", [tosa(function, "sub", [value, most],
                                           value.type)], value.type)
    total = reduce(function, power_of, "reduce_sum", axis)
    inverse = tosa(function, "reciprocal", [total], total.type)
    return cast(function, tosa(function, "mul", [power_of, inverse], value.type),
                type.element)


def full(function, node, sizes, number, **_):
    type = result(node)
    if None in type.shape:
        raise Refused(f"'{node.name}': a constant of unknown size")
    return function.splat(number, type)


VIEWS = ("view", "reshape", "_unsafe_view", "flatten.using_ints", "unsqueeze",
         "squeeze.dim", "squeeze.dims", "squeeze", "unflatten.int")
sigmoid = apply("sigmoid")

BUILDERS = {
    **{"aten." + (name if "." in name else name + ".default"): view
       for name in VIEWS},
    "aten.t.default": transpose_matrix,
    "aten.transpose.int": transpose,
    "aten.permute.default": permute_node,
    "aten.cat.default": cat,
    "aten.slice.Tensor": slice_of,
    "aten.add.Tensor": elementwise("add"),
    "aten.sub.Tensor": elementwise("sub"),
    "aten.mul.Tensor": elementwise("mul"),
    "aten.div.Tensor": divide,
    "aten.maximum.default": elementwise("maximum"),
    "aten.minimum.default": elementwise("minimum"),
    "aten.pow.Tensor_Scalar": power,
    "aten.relu.default": unary(relu),
    "aten.silu.default": unary(times(sigmoid)),
    "aten.sigmoid.default": unary(sigmoid),
    "aten.gelu.default": gelu,
    "aten.tanh.default": unary(apply("tanh")),
    "aten.exp.default": unary(apply("exp")),
    "aten.rsqrt.default": unary(apply("rsqrt")),
    "aten.reciprocal.default": unary(apply("reciprocal")),
    "aten.neg.default": elementwise("negate"),
    "aten.abs.default": unary(apply("abs")),
    "aten._to_copy.default": convert,
    "aten.to.dtype": convert,
    "aten.to.dtype_layout": convert,
    "aten.clone.default": same,
    "aten.alias.default": same,
    "aten.detach.default": same,
    "aten.contiguous.default": same,
    "aten.dropout.default": same,
    "aten.linear.default": linear,
    "aten.mean.dim": reduction("reduce_sum", is_mean=True),
    "aten.sum.dim_IntList": reduction("reduce_sum"),
    "aten.amax.default": reduction("reduce_max"),
    "aten.softmax.int": softmax,
    "aten._softmax.default": softmax,
    "aten.full.default": full,
}
