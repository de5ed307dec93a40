# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The ops of a traced program around its products: which function builds what, and
the sums, softmax and attention between."""

import math

from . import _torch_elementwise as elementwise
from . import _torch_products as products
from . import _torch_shapes as shapes
from ._errors import Refused
from ._mlir_text import Value, constant, tensor_type
from ._sizes import product, size_of

F32 = "f32"
computed = elementwise.computed


def build(function, node, values):
    """The value of one node of the graph."""
    name = name_of(node)
    if name in CHECKS:
        return None
    if is_number(node):
        return number(node)
    builder = builder_of(name)
    if builder is None:
        raise Refused(f"'{node.name}'{place(node)}: nothing takes '{name}'; taken "
                      "are " + ", ".join(taken()))
    if builder in shapes.TRANSPOSES and products.is_right_side(node):
        return products.Transposed(resolve(node.args[0], values))
    try:
        return builder(function, node, *(resolve(one, values) for one in node.args),
                       **{key: resolve(one, values)
                          for key, one in node.kwargs.items()
                          if key not in WHERE_IT_LIES})
    except TypeError as error:
        raise Refused(f"'{node.name}' ({name}): {error}") from error


def builder_of(name):
    for table in TABLES:
        if name in table:
            return table[name]
    return None


def taken():
    return sorted({name for table in TABLES for name in table})


def name_of(node):
    """As PyTorch prints the op; Python's own operators by their names."""
    target = node.target
    if isinstance(target, str) or not hasattr(target, "__module__") or \
            getattr(target, "__module__", "") not in ("_operator", "operator"):
        return str(target)
    return target.__name__


def place(node):
    """Where the program said it, if the trace knows."""
    trace = node.meta.get("stack_trace")
    lines = [line.strip() for line in (trace or "").splitlines()
             if line.strip().startswith("File ")]
    return f" ({lines[-1]})" if lines else ""


# What a trace asserts of sizes and types was true when they were traced, and what
# it says of sizes is asked at each call (Imported.limits).
CHECKS = {"aten._assert_tensor_metadata.default", "aten._assert_scalar.default",
          "aten.sym_constrain_range_for_size.default",
          "aten.sym_constrain_range.default", "aten._assert_async.msg"}
# Arguments that say where a tensor lies and how, which is no matter here.
WHERE_IT_LIES = {"device", "layout", "pin_memory", "memory_format", "non_blocking",
                 "copy"}


class Unknown:
    """A number that is known at run time only, and is no size."""


def is_number(node):
    value = node.meta.get("val")
    return isinstance(value, (int, float, bool)) or \
        type(value).__name__.startswith("Sym")


def number(node):
    """A number of the graph: itself, a Size, or Unknown."""
    value = node.meta["val"]
    if isinstance(value, (int, float)):
        return value
    return size_of(value) if type(value).__name__ == "SymInt" else Unknown()


def resolve(argument, values):
    """Nodes as values, in lists, too; all else as it is."""
    if isinstance(argument, (list, tuple)):
        return [resolve(one, values) for one in argument]
    if type(argument).__name__ == "SymInt":
        return size_of(argument)
    return values.get(argument, argument) if hasattr(argument, "op") else argument


def result(node):
    return tensor_type(node.meta["val"], node.name)


# Reductions -----------------------------------------------------------------


# What two numbers become, and what nothing becomes.
SUM, LARGEST, LEAST = (("arith.addf", 0.0), ("arith.maximumf", -math.inf),
                       ("arith.minimumf", math.inf))


def reduce(function, value, how, axes):
    """Along dimensions, which keep the size 1; of a tensor of f32."""
    op, nothing = how
    rank = len(value.type.shape)
    type = value.type.like(size for at, size in enumerate(value.type.shape)
                           if at not in axes)
    sizes = [function.size(value, at) for at, size in enumerate(value.type.shape)
             if at not in axes and not isinstance(size, int)]
    empty = function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    first = function.op(f"arith.constant {constant(nothing, F32)} : f32", None)
    start = function.op(f"linalg.fill ins({first.name} : f32) outs({empty.name} : "
                        f"{type}) -> {type}", type)
    dims = ", ".join(f"d{at}" for at in range(rank))
    kept = ", ".join(f"d{at}" for at in range(rank) if at not in axes)
    loops = ", ".join('"reduction"' if at in axes else '"parallel"'
                      for at in range(rank))
    name = function.fresh()
    function.lines += [
        f"    {name} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> "
        f"({dims})>, affine_map<({dims}) -> ({kept})>], iterator_types = [{loops}]}} "
        f"ins({value.name} : {value.type}) outs({start.name} : {type}) {{",
        "    ^bb0(%.e: f32, %.so_far: f32):",
        f"      %.next = {op} %.so_far, %.e : f32",
        "      linalg.yield %.next : f32", f"    }} -> {type}"]
    shape = tuple(1 if at in axes else size
                  for at, size in enumerate(value.type.shape))
    return function.reshape(Value(name, type), shape)


def joined(function, node, op, x, y):
    """Of two tensors of f32, the second stretched to the first."""
    def body(names):
        return elementwise.Body(function).op(
            f"{op} {names[0]}, {names[1]} : f32", F32).name
    return function.pointwise([x, y], x.type, body, node.name)


def in_f32(function, value):
    """A tensor of f32."""
    return elementwise.cast(function, value, F32)


def rounded(function, value, type):
    """A tensor of f32 as the elements of another float."""
    return elementwise.cast(function, value, type.element)


def reduction(how, is_mean=False):
    def make(function, node, value, axes=None, keepdim=False, dtype=None):
        type, rank = result(node), len(value.type.shape)
        if not elementwise.is_float(type.element):
            raise Refused(f"'{node.name}': a reduction of integers")
        axes = list(range(rank)) if axes is None or axes == [] else \
            [axes] if isinstance(axes, int) else axes
        value = in_f32(function, value)
        axes = sorted(axis % rank for axis in axes)
        count = product([value.type.shape[axis] for axis in axes])
        if axes:
            value = reduce(function, value, how, axes)
        if is_mean:
            value = divided(function, node, value, count)
        return rounded(function, function.reshape(value, type.shape, node.name),
                       type)
    return make


def divided(function, node, value, count):
    """By a number of elements, which a call may tell."""
    add = elementwise.number_in(function, count, node.name)

    def body(names):
        make = elementwise.Body(function)
        by = add(make, F32)
        return make.op(f"arith.divf {names[0]}, {by.name} : f32", F32).name
    return function.pointwise([value], value.type, body, node.name)


def powers_of(function, node, value, axis):
    """exp(x - the largest) of a tensor of f32, and the sums of that."""
    most = reduce(function, value, LARGEST, (axis,))

    def body(names):
        make = elementwise.Body(function)
        less = make.op(f"arith.subf {names[0]}, {names[1]} : f32", F32)
        return make.unary("math.exp", less).name
    powers = function.pointwise([value, most], value.type, body, node.name)
    return powers, reduce(function, powers, SUM, (axis,))


def softmax(function, node, value, axis, half_to_float=False, dtype=None):
    type = result(node)
    powers, sums = powers_of(function, node, in_f32(function, value),
                             axis % len(type.shape))
    return rounded(function, joined(function, node, "arith.divf", powers, sums), type)


def argmax(function, node, value, axis=None, keepdim=False):
    """The first of the largest."""
    type = result(node)
    value = in_f32(function, value)
    if axis is None:
        value, axis = function.reshape(value, (product(value.type.shape),)), 0
    axis %= len(value.type.shape)
    shape = value.type.shape[:axis] + value.type.shape[axis + 1:]
    places = value.type.like(shape, "i32")
    found = function.op(f"tosa.argmax {value.name} {{axis = {axis} : i32}} : "
                        f"({value.type}) -> {places}", places)

    found = elementwise.cast(function, found, type.element, node.name)
    return function.reshape(found, type.shape, node.name)


def layer_norm(function, node, value, shape, weight, bias, epsilon):
    """Its second and third result are for training."""
    node = Traced(node, node.meta["val"][0])
    type, rank = result(node), len(value.type.shape)
    axes = range(rank - len(shape), rank)
    count = product([value.type.shape[axis] for axis in axes])

    def mean(one):
        return divided(function, node, reduce(function, one, SUM, axes), count)
    wide = in_f32(function, value)
    apart = joined(function, node, "arith.subf", wide, mean(wide))
    spread = mean(joined(function, node, "arith.mulf", apart, apart))

    def how(body, x, square, *rest):
        square = body.binary("arith.addf", square, body.number(epsilon, F32))
        x = body.binary("arith.mulf", x, body.unary("math.rsqrt", square))
        for one, op in zip((weight, bias), ("arith.mulf", "arith.addf")):
            if one is not None:
                x, rest = body.binary(op, x, rest[0]), rest[1:]
        return x
    given = [one for one in (weight, bias) if one is not None]
    return [rounded(function, computed(function, node, (apart, spread, *given), how),
                    type), None, None]


# Products -------------------------------------------------------------------


def linear(function, node, value, weight, bias=None):
    product_of = products.matmul(function, node, value,
                                 shapes.permuted(function, weight, (1, 0)))
    return product_of if bias is None else \
        computed(function, node, (product_of, bias), added)


def added(body, x, y):
    return body.binary("arith.addf", x, y)


def addmm(function, node, bias, a, b, beta=1, alpha=1):
    if (beta, alpha) != (1, 1):
        raise Refused(f"'{node.name}': beta = {beta}, alpha = {alpha}; only 1 is "
                      "taken")
    return computed(function, node, (products.plain(function, node, a, b), bias),
                    added)


def attention(function, node, q, k, v, mask=None, dropout_p=0.0, is_causal=False,
              scale=None, enable_gqa=False):
    """softmax(q k^T * scale + mask) v in f32; as PyTorch does on the CPU, powers are
    rounded to the type of v for the second product and divided by their sum behind
    it."""
    if dropout_p:
        raise Refused(f"'{node.name}': dropout_p = {dropout_p}; only 0 is taken")
    width = q.type.shape[-1]
    if scale is None and not isinstance(width, int):
        raise Refused(f"'{node.name}': heads of unknown width")
    scale = width ** -0.5 if scale is None else scale
    if enable_gqa:
        k, v = (repeated_heads(function, node, one, q) for one in (k, v))
    order = list(range(len(k.type.shape)))
    order[-1], order[-2] = order[-2], order[-1]
    turned = shapes.permuted(function, k, order)
    shape = (*q.type.shape[:-1], k.type.shape[-2])
    scores = products.matmul(function, node, q, turned, q.type.like(shape, F32))
    scores = masked_scores(function, node, scores, mask, is_causal, scale)
    powers, sums = powers_of(function, node, scores, len(shape) - 1)
    type = q.type.like((*q.type.shape[:-1], v.type.shape[-1]))
    mixed = products.matmul(function, node, rounded(function, powers, v.type), v,
                            type.like(element=F32))
    return rounded(function, joined(function, node, "arith.divf", mixed, sums), type)


def masked_scores(function, node, scores, mask, is_causal, scale):
    rank = len(scores.type.shape)

    def body(names):
        make = elementwise.Body(function)
        score = make.binary("arith.mulf", elementwise.Scalar(names[0], F32),
                            make.number(scale, F32))
        least = make.number(-math.inf, F32)
        if is_causal:
            row, column = (make.op(f"linalg.index {at} : index", "index")
                           for at in (rank - 2, rank - 1))
            is_past = make.op(f"arith.cmpi ule, {column.name}, {row.name} : index",
                              "i1")
            score = make.choose(is_past, score, least)
        if mask is not None:
            given = elementwise.Scalar(names[1], mask.type.element)
            score = make.choose(given, score, least) if given.element == "i1" else \
                make.binary("arith.addf", score, make.convert(given, F32))
        return score.name
    values = [scores] if mask is None else [scores, mask]
    return function.pointwise(values, scores.type, body, node.name)


def repeated_heads(function, node, value, like):
    """Heads of keys that several heads of queries share."""
    heads, wanted = value.type.shape[-3], like.type.shape[-3]
    if not (isinstance(heads, int) and isinstance(wanted, int)) or wanted % heads:
        raise Refused(f"'{node.name}': {wanted} heads of queries for {heads}")
    lead, rest = value.type.shape[:-3], value.type.shape[-2:]
    apart = function.reshape(value, (*lead, heads, 1, *rest), node.name)
    wide = value.type.like((*lead, heads, wanted // heads, *rest))
    wide = function.pointwise([apart], wide, lambda names: names[0], node.name)
    return function.reshape(wide, (*lead, wanted, *rest), node.name)


def flash_attention(function, node, q, k, v, dropout_p=0.0, is_causal=False, *,
                    attn_mask=None, scale=None):
    """What attention becomes on the CPU; its second result is for training."""
    traced = Traced(node, node.meta["val"][0])
    return [attention(function, traced, q, k, v, attn_mask, dropout_p, is_causal,
                      scale), None]


class Traced:
    """A node with one of its values."""

    def __init__(self, node, value):
        self.name, self.meta = node.name, {"val": value}


def getitem(function, node, values, at):
    value = values[at]
    if value is None:
        raise Refused(f"'{node.name}': result {at} of what it reads is not taken")
    return value


SUMS = {
    "aten.linear.default": linear,
    "aten.addmm.default": addmm,
    "aten.scaled_dot_product_attention.default": attention,
    "aten._scaled_dot_product_flash_attention_for_cpu.default": flash_attention,
    "getitem": getitem,
    "aten.native_layer_norm.default": layer_norm,
    "aten.mean.dim": reduction(SUM, is_mean=True),
    "aten.mean.default": reduction(SUM, is_mean=True),
    "aten.sum.dim_IntList": reduction(SUM),
    "aten.sum.default": reduction(SUM),
    "aten.amax.default": reduction(LARGEST),
    "aten.amin.default": reduction(LEAST),
    "aten.max.default": reduction(LARGEST),
    "aten.argmax.default": argmax,
    "aten.softmax.int": softmax,
    "aten._softmax.default": softmax,
    "aten._safe_softmax.default": softmax,
}
TABLES = (elementwise.BUILDERS, shapes.BUILDERS, products.BUILDERS, SUMS)
