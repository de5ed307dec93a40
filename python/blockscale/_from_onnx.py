# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""ONNX models whose products have dequantised operands, as MLIR. Products are written
in linalg as ONNX says them, dequantise, then multiply; `blockscale-import` finds what
is block-scaled. onnx itself is not imported: the model brings what is asked of it."""

import re
from dataclasses import replace

from ._errors import Refused
from ._imported import Imported, import_products
from ._mlir_text import Function, Type, Value
from ._sizes import Size, names_of, product, tree_of

# TensorProto.DataType (onnx.proto): type of elements in MLIR.
ELEMENTS = {1: "f32", 10: "f16", 16: "bf16", 2: "i8", 3: "i8", 17: "f8E4M3FN",
            19: "f8E5M2", 21: "i8", 22: "i8", 23: "f4E2M1FN", 24: "f8E8M0FNU",
            25: "i8", 26: "i8", 27: "f6E2M3FN", 28: "f6E3M2FN"}
UNSIGNED = (2, 21, 25)
NARROW = ("f8", "f6", "f4")
PLAIN = ("f32", "f16", "bf16")


def from_onnx(model, name="main", target=""):
    """A `ModelProto`, with products of blocked `DequantizeLinear` (opset 21 and
    later).

    Taken are `DequantizeLinear` of fp8, fp6, fp4 with a scale for each block of
    32 or 16 (scales of e8m0, or of e4m3 that are dequantised themselves, NVFP4's
    two levels) and of integers, which the host dequantises; TensorRT's
    `TRT_MXFP8DynamicQuantize`, `TRT_MXFP8DequantizeLinear` and
    `TRT_FP4DynamicQuantize`; `Transpose`, `MatMul`, `Gemm`, `Add`, `Mul`, `Sub`,
    `Relu`, `Sigmoid`, `Cast`. Whatever else there is, is refused by name.

    Returns an `Imported`, whose parameters are the model's initialisers, as
    `TensorProto`. target: as in `from_mlir`.
    """
    graph = graph_of(model, name)
    imported = graph.imported()
    text = import_products(imported.mlir, name, target)
    graph.check_products(text)
    return replace(imported, mlir=text, written="" if target else imported.mlir)


def in_linalg(model, name):
    """The same with its products as linalg says them."""
    return graph_of(model, name).imported()


def graph_of(model, name):
    graph = getattr(model, "graph", None)
    if graph is None or not hasattr(graph, "node"):
        raise Refused(f"expected an ONNX model, found a {type(model).__name__}")
    return Graph(graph, name)


class Graph:
    """One function: the graph's inputs and initialisers are its arguments."""

    def __init__(self, graph, name):
        self.graph, self.function = graph, Function(name)
        self.values, self.order, self.parameters = {}, [], {}
        # By the names of values: what the model says their elements are, where they
        # are kept as they were dequantised, in f32; which kernels multiply with
        # their scales, and which are scales that have one themselves; what kernels
        # multiply in some forms only, else the host, in words; products of such in f32,
        # by their marks; sources of transposes.
        self.declared, self.scaled, self.factors = {}, set(), set()
        self.hosted, self.marked, self.sources = {}, {}, {}

    def imported(self):
        given = {one.name for one in self.graph.initializer}
        for one in self.graph.initializer:
            self.argument(one.name, tuple(one.dims), one.data_type)
            self.parameters[one.name] = one
        for one in self.graph.input:
            if one.name in given:
                continue
            tensor = one.type.tensor_type
            shape = tuple(size.dim_value if size.HasField("dim_value") else
                          named_size(size.dim_param, f"{one.name}_{at}")
                          for at, size in enumerate(tensor.shape.dim))
            self.argument(one.name, shape, tensor.elem_type)
        for node in self.graph.node:
            builder = BUILDERS.get(op_of(node))
            if builder is None:
                raise Refused(f"'{label(node)}': nothing takes '{op_of(node)}'; "
                              f"taken are {', '.join(sorted(BUILDERS))}")
            inputs = [self.value(node, one) if one else None for one in node.input]
            if builder not in KEPT:
                inputs = [one and self.as_declared(one) for one in inputs]
            made = builder(self, node, *inputs)
            made = made if isinstance(made, list) else [made]
            self.values.update(zip(node.output, made))
        results = [self.as_declared(self.value(None, one.name))
                   for one in self.graph.output]
        self.function.returns(results)
        return Imported(self.function.name, self.function.text(),
                        tuple(self.order), self.parameters)

    def argument(self, name, shape, number):
        if number not in ELEMENTS:
            raise Refused(f"'{name}' has elements of ONNX's type {number}, which "
                          "are not taken")
        self.order.append(name)
        self.values[name] = self.function.argument(
            name, Type(shape, ELEMENTS[number], is_unsigned=number in UNSIGNED))

    def declare(self, value, element):
        """Says what the model takes the elements of a dequantised tensor for."""
        self.declared[value.name] = element
        return value

    def mark(self, node, *sides):
        """An attribute for a product in f32 that only a kernel may do; empty for
        others. It goes away with the product that the import finds."""
        for one in sides:
            if one.name in self.hosted:
                mark = f"product_{len(self.marked)}"
                self.marked[mark] = (
                    f"'{label(node)}': a product in f32 of what '"
                    f"{self.hosted[one.name]}, which no kernel does; with scales or "
                    "output_dtype of f16 or bf16 it is one of 16 bits, and weights packed "
                    "anew as MXFP8, MXFP4 or NVFP4 (blockscale pack) are multiplied with "
                    "their scales")
                return f" attrs = {{{mark}}}"
        return ""

    def check_products(self, text):
        for mark, words in self.marked.items():
            if re.search(rf"\b{mark}\b", text):
                raise Refused(words)

    def element(self, value):
        return self.declared.get(value.name, value.type.element)

    def as_declared(self, value):
        """With the elements that the model says."""
        return cast_to(self.function, value, self.element(value))

    def value(self, node, name):
        if name not in self.values:
            raise Refused(f"'{label(node) if node else 'output'}' reads '{name}', "
                          "which nothing makes")
        return self.values[name]


def named_size(name, place):
    """A size by the name that the model gives it, or by where it is."""
    name = name or place
    try:
        return Size(name) if names_of(tree_of(Size(name))) else Size("_")
    except Refused:
        return Size("_" + re.sub(r"\W", "_", name))


def label(node):
    return node.name or f"{node.op_type} of {', '.join(node.output)}"


def op_of(node):
    """Its name, with the domain of what is no op of ONNX's own."""
    domain = getattr(node, "domain", "")
    return f"{domain}::{node.op_type}" if domain not in ("", "ai.onnx") \
        else node.op_type


def attribute(node, name, default=None):
    for one in node.attribute:
        if one.name == name:
            # AttributeProto.AttributeType: 1 float, 2 int, 7 ints.
            field = {1: "f", 2: "i", 7: "ints"}.get(one.type)
            value = getattr(one, field) if field else default
            return list(value) if field == "ints" else value
    return default


# Dequantisation -------------------------------------------------------------


def extended(name, element, wide, lines, fresh):
    """The lines that read `name` in the type `wide`."""
    if element == wide:
        return name
    lines.append(f"      %.{fresh} = arith.extf {name} : {element} to {wide}")
    return f"%.{fresh}"


def scale_map(graph, node, value, scale):
    """Where a dequantisation reads its scales, as affine expressions."""
    rank = len(value.type.shape)
    if not scale.type.shape or scale.type.shape == (1,):
        return [] if not scale.type.shape else ["0"]
    axis = attribute(node, "axis", 1) % rank
    block = attribute(node, "block_size", 0)
    if not block and scale.type.shape == value.type.shape[axis:axis + 1]:
        return [f"d{axis}"]
    if len(scale.type.shape) != rank:
        raise Refused(f"'{label(node)}': scales {scale.type} do not fit "
                      f"{value.type}; there is one for all of it, for each row or "
                      "column, or for as many elements as block_size says")
    size, blocks = value.type.shape[axis], scale.type.shape[axis]
    if not block or not isinstance(size, int) or blocks != -(-size // block) or \
            size % block:
        raise Refused(f"'{label(node)}': block_size = {block} does not cut "
                      f"{value.type} along dimension {axis} into the blocks of "
                      f"{scale.type}")
    for at in range(rank):
        if at != axis and value.type.shape[at] != scale.type.shape[at]:
            raise Refused(f"'{label(node)}': scales {scale.type} do not fit "
                          f"{value.type}")
    return [f"d{at} floordiv {block}" if at == axis else f"d{at}"
            for at in range(rank)]


def output_element(graph, node, scale):
    """What the result's elements are: as the node says, or as the scale's are."""
    number = attribute(node, "output_dtype", 0)
    element = ELEMENTS.get(number) if number else graph.element(scale)
    if element not in PLAIN and not (element == "f8E8M0FNU" and not number):
        raise Refused(f"'{label(node)}': output_dtype is ONNX's type {number}; f32, "
                      "f16 and bf16 are taken")
    return element if element in PLAIN else "f32"


def dequantize(graph, node, value, scale, zero=None):
    """(x - zero) * scale in f32, whatever the result is declared to be."""
    function, type = graph.function, value.type.like(element="f32")
    is_integer = not value.type.element.startswith("f")
    if scale.type.element.startswith(NARROW) and scale.type.element != "f8E8M0FNU":
        raise Refused(f"'{label(node)}': its scales are {scale.type}, to which the scale "
                      "of the whole is missing; in ONNX a DequantizeLinear before "
                      "multiplies them by it")
    if zero is not None and not is_integer and "f" not in zero.type.element:
        raise Refused(f"'{label(node)}': a zero point of {zero.type.element}; "
                      "floats have none")
    if not is_integer and not value.type.element.startswith(NARROW):
        raise Refused(f"'{label(node)}': elements of {value.type.element}; fp8, "
                      "fp6, fp4 and integers are taken")
    zero = zero if is_integer else None
    rank = len(type.shape)
    places = ", ".join(scale_map(graph, node, value, scale))
    dims = ", ".join(f"d{at}" for at in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    sizes = [function.size(value, at) for at, size in enumerate(type.shape)
             if not isinstance(size, int)]
    empty = function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    name, body = function.fresh(), []
    wide = widened("%.x", value.type, body, "xw")
    if zero is not None:
        body.append(f"      %.apart = arith.subf {wide}, "
                    f"{widened('%.z', zero.type, body, 'zw')} : f32")
        wide = "%.apart"
    factor = extended("%.s", scale.type.element, "f32", body, "sw")
    loops = ", ".join(['"parallel"'] * rank)
    given = [value, scale] + [zero] * (zero is not None)
    maps = ", ".join([same] + [f"affine_map<({dims}) -> ({places})>"] *
                     (len(given) - 1) + [same])
    arguments = ", ".join(f"{at}: {one.type.element}"
                          for at, one in zip(("%.x", "%.s", "%.z"), given))
    function.lines += [
        f"    {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
        f"[{loops}]}} ins({', '.join(one.name for one in given)} : "
        f"{', '.join(str(one.type) for one in given)}) outs({empty.name} : {type}) {{",
        f"    ^bb0({arguments}, %.before: f32):",
        *body, f"      %.product = arith.mulf {wide}, {factor} : f32",
        "      linalg.yield %.product : f32", f"    }} -> {type}"]
    if not is_integer and (scale.type.element.startswith(NARROW) or
                           scale.name in graph.factors):
        graph.scaled.add(name)
    else:
        graph.hosted[name] = (f"{label(node)}' dequantises, {value.type} with scales "
                              f"{scale.type}")
    if not is_integer and all(size == 1 for size in scale.type.shape):
        graph.factors.add(name)
    return graph.declare(Value(name, type), output_element(graph, node, scale))


def widened(name, type, lines, fresh):
    """An element as f32."""
    if type.element.startswith("f"):
        return extended(name, type.element, "f32", lines, fresh)
    op = "uitofp" if type.is_unsigned else "sitofp"
    lines.append(f"      %.{fresh} = arith.{op} {name} : {type.element} to f32")
    return f"%.{fresh}"


# What TensorRT quantises at run time -----------------------------------------


def quantized(graph, node, value, element, spec, block, scale_element, how=""):
    """Data and scales of rows; the last dimension is cut into blocks."""
    function, rank = graph.function, len(value.type.shape)
    found = attribute(node, "block_size", block)
    axis = attribute(node, "axis", -1) % rank
    if found != block or axis != rank - 1:
        raise Refused(f"'{label(node)}': block_size = {found} along dimension {axis} of "
                      f"{value.type}; blocks of {block} along the last one are taken")
    k = value.type.shape[-1]
    if not isinstance(k, int) or k % block:
        raise Refused(f"'{label(node)}': block_size = {block} does not cut {k} elements "
                      "of a row")
    rows = product(value.type.shape[:-1])
    matrix = function.reshape(value, (rows, k), label(node))
    data = matrix.type.like(element=element)
    scales = matrix.type.like((rows, k // block), scale_element)
    inner = str(data).removeprefix("tensor<").removesuffix(">")
    type = f'!blockscale.tensor<{inner}, "{spec}">'
    whole = function.op(f"blockscale.quantize {matrix.name}{how} : {matrix.type} to "
                        f"{type}", None)
    name = function.fresh()
    count = 2 + ("multi" in spec)
    function.line(f"{name}:{count} = blockscale.disassemble {whole.name} : {type}")
    shape = value.type.shape[:-1]
    return [function.reshape(Value(f"{name}#0", data), (*shape, k), label(node)),
            function.reshape(Value(f"{name}#1", scales), (*shape, k // block),
                             label(node))]


def quantize_mxfp8(graph, node, value):
    """The least power of two that saturates nothing scales a block."""
    return quantized(graph, node, value, "f8E4M3FN", "e8m0_t32", 32, "f8E8M0FNU",
                     " rule(round_up)")


def quantize_fp4(graph, node, value, factor):
    """Scales of e4m3 that are themselves scaled by a number."""
    if any(size != 1 for size in factor.type.shape) or factor.type.element != "f32":
        raise Refused(f"'{label(node)}': its scale is {factor.type}; one f32 is taken")
    whole = graph.function.reshape(factor, (), label(node))
    return quantized(graph, node, value, "f4E2M1FN", "multi_float32_e4m3fn_t16", 16,
                     "f8E4M3FN", f" tensor_scale({whole.name} : tensor<f32>)")


def dequantize_mxfp8(graph, node, value, scale):
    """Scales of bytes are powers of two."""
    if scale.type.element == "i8":
        type = scale.type.like(element="f8E8M0FNU")
        scale = graph.function.op(f"arith.bitcast {scale.name} : {scale.type} to "
                                  f"{type}", type)
    return dequantize(graph, node, value, scale)


# Products -------------------------------------------------------------------


def transpose(graph, node, value):
    rank = len(value.type.shape)
    order = attribute(node, "perm") or list(range(rank))[::-1]
    shape = tuple(value.type.shape[at] for at in order)
    type = value.type.like(shape)
    sizes = [graph.function.size(value, order[at])
             for at, size in enumerate(shape) if not isinstance(size, int)]
    empty = graph.function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    made = graph.function.op(
        f"linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : "
        f"{type}) permutation = {order}", type)
    for about in (graph.declared, graph.hosted):
        if value.name in about:
            about[made.name] = about[value.name]
    if value.name in graph.scaled:
        graph.scaled.add(made.name)
    if order == exchange_last(rank):
        graph.sources[made.name] = value
    return made


def exchange_last(rank):
    return [*range(rank - 2), rank - 1, rank - 2]


def in_half(graph, node, a, b, transposed_a, transposed_b):
    """A product of tensors of 16 bits, by a kernel without scales."""
    function, element = graph.function, graph.element(a)
    if transposed_a:
        a = transpose_last(graph, a)
    b = b if transposed_b else graph.sources[b.name] if b.name in graph.sources \
        else transpose_last(graph, b)
    lead = a.type.shape[:-1]
    if len(a.type.shape) > len(b.type.shape):
        a = function.reshape(a, (product(lead), a.type.shape[-1]), label(node))
    sides, types = [], []
    for one in (a, b):
        one = cast_to(function, one, element)
        inner = str(one.type).removeprefix("tensor<").removesuffix(">")
        types.append(f"!blockscale.tensor<{inner}>")
        sides.append(function.op(f"blockscale.assemble {one.name} : {one.type} to "
                                 f"{types[-1]}", None).name)
    type = Type((*a.type.shape[:-1], b.type.shape[-2]), element)
    made = function.op(f"blockscale.matmul {', '.join(sides)} : {', '.join(types)} -> "
                       f"{type}", type)
    return function.reshape(made, (*lead, b.type.shape[-2]), label(node))


def transpose_last(graph, value):
    """With its last two dimensions exchanged."""
    order = exchange_last(len(value.type.shape))
    type = value.type.like(value.type.shape[at] for at in order)
    sizes = [graph.function.size(value, order[at])
             for at, size in enumerate(type.shape) if not isinstance(size, int)]
    empty = graph.function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    made = graph.function.op(
        f"linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : "
        f"{type}) permutation = {order}", type)
    return graph.declare(made, graph.element(value))


def matmul(graph, node, a, b, transposed_a=False, transposed_b=False):
    """Summed in f32."""
    ranks = len(a.type.shape), len(b.type.shape)
    if ranks not in ((2, 2), (3, 3), (3, 2)):
        raise Refused(f"'{label(node)}': a product of {a.type} and {b.type}")
    function, element = graph.function, graph.element(a)
    if element != graph.element(b):
        raise Refused(f"'{label(node)}': a product of {element} and "
                      f"{graph.element(b)}")
    if element != "f32" and not {a.name, b.name} <= graph.scaled:
        return in_half(graph, node, a, b, transposed_a, transposed_b)
    batch = ["b"] * (ranks[0] == 3)
    left = batch + (["k", "m"] if transposed_a else ["m", "k"])
    right = batch * (ranks[1] == 3) + (["n", "k"] if transposed_b else ["k", "n"])
    loops = ", ".join(batch + ["m", "n", "k"])
    result = batch + ["m", "n"]
    where = {}
    for value, names in ((b, right), (a, left)):
        where.update({each: (value, at) for at, each in enumerate(names)})
    shape = tuple(where[each][0].type.shape[where[each][1]] for each in result)
    type = Type(shape, "f32")
    sizes = [function.size(*where[each]) for each, size in zip(result, shape)
             if not isinstance(size, int)]
    empty = function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    zero = function.op("arith.constant 0.0 : f32", None)
    start = function.op(f"linalg.fill ins({zero.name} : f32) outs({empty.name} : "
                        f"{type}) -> {type}", type)
    maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(one)})>"
                     for one in (left, right, result))
    kinds = ", ".join(['"parallel"'] * len(result) + ['"reduction"'])
    name, body = function.fresh(), []
    x = extended("%.x", a.type.element, "f32", body, "xw")
    y = extended("%.y", b.type.element, "f32", body, "yw")
    function.lines += [
        f"    {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
        f"[{kinds}]}} ins({a.name}, {b.name} : {a.type}, {b.type}) outs("
        f"{start.name} : {type}){graph.mark(node, a, b)} {{",
        f"    ^bb0(%.x: {a.type.element}, %.y: {b.type.element}, %.sum: f32):", *body,
        f"      %.product = arith.mulf {x}, {y} : f32",
        "      %.next = arith.addf %.sum, %.product : f32",
        "      linalg.yield %.next : f32", f"    }} -> {type}"]
    return cast_to(function, Value(name, type), element)


def gemm(graph, node, a, b, c=None):
    """alpha * a * b + beta * c."""
    value = matmul(graph, node, a, b, bool(attribute(node, "transA", 0)),
                   bool(attribute(node, "transB", 0)))
    value = times(graph, node, "alpha", value)
    return value if c is None else \
        join("add")(graph, node, value, times(graph, node, "beta", c))


def times(graph, node, name, value):
    """The value times the number that an attribute gives."""
    number = attribute(node, name, 1.0)
    if number == 1.0:
        return value
    if value.type.element != "f32":
        raise Refused(f"'{label(node)}': {name} = {number} of {value.type}, which "
                      "would be rounded before; with f32 it is taken")
    type = Type((1,) * len(value.type.shape), "f32")
    factor = graph.function.op(
        f'"tosa.const"() <{{values = dense<{number:.9e}> : {type}}}> : () -> {type}',
        type)
    return join("mul")(graph, node, value, factor)


# Around products ------------------------------------------------------------


def cast_to(function, value, element):
    if value.type.element == element:
        return value
    type = value.type.like(element=element)
    return function.op(f"tosa.cast {value.name} : ({value.type}) -> {type}", type)


def cast(graph, node, value):
    number = attribute(node, "to")
    element = ELEMENTS.get(number)
    if element not in ("f32", "f16", "bf16") or value.type.element not in (
            "f32", "f16", "bf16"):
        raise Refused(f"'{label(node)}': a conversion of {value.type.element} to "
                      f"ONNX's type {number}; f32, f16 and bf16 are taken")
    return cast_to(graph.function, value, element)


def join(op):
    """Of two tensors that are stretched to one shape."""
    def make(graph, node, left, right):
        function, rank = graph.function, max(len(left.type.shape),
                                             len(right.type.shape))
        left, right = (function.reshape(
            one, (1,) * (rank - len(one.type.shape)) + one.type.shape, label(node))
            for one in (left, right))
        shape = tuple(b if a == 1 else a
                      for a, b in zip(left.type.shape, right.type.shape))
        type = left.type.like(shape)
        names, types = f"{left.name}, {right.name}", f"{left.type}, {right.type}"
        if op == "mul":
            shift = function.op('"tosa.const"() <{values = dense<0> : tensor<1xi8>}> '
                                ": () -> tensor<1xi8>", None).name
            names, types = f"{names}, {shift}", f"{types}, tensor<1xi8>"
        return function.op(f"tosa.{op} {names} : ({types}) -> {type}", type)
    return make


def relu(graph, node, value):
    type = Type((1,) * len(value.type.shape), value.type.element)
    zero = graph.function.op(f'"tosa.const"() <{{values = dense<0.0> : {type}}}> : () '
                             f"-> {type}", type)
    return graph.function.op(f"tosa.maximum {value.name}, {zero.name} : ("
                             f"{value.type}, {type}) -> {value.type}", value.type)


def sigmoid(graph, node, value):
    return graph.function.op(f"tosa.sigmoid {value.name} : ({value.type}) -> "
                             f"{value.type}", value.type)


# Those that read tensors as they were dequantised.
KEPT = (dequantize, dequantize_mxfp8, transpose, matmul, gemm)
BUILDERS = {"DequantizeLinear": dequantize, "Transpose": transpose,
            "trt::TRT_MXFP8DynamicQuantize": quantize_mxfp8,
            "trt::TRT_MXFP8DequantizeLinear": dequantize_mxfp8,
            "trt::TRT_FP4DynamicQuantize": quantize_fp4,
            "MatMul": matmul, "Gemm": gemm, "Cast": cast, "Add": join("add"),
            "Mul": join("mul"), "Sub": join("sub"), "Relu": relu,
            "Sigmoid": sigmoid}
