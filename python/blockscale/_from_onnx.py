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
from ._sizes import Size, names_of, tree_of

# TensorProto.DataType (onnx.proto): type of elements in MLIR.
ELEMENTS = {1: "f32", 10: "f16", 16: "bf16", 2: "i8", 3: "i8", 17: "f8E4M3FN",
            19: "f8E5M2", 23: "f4E2M1FN", 24: "f8E8M0FNU", 27: "f6E2M3FN",
            28: "f6E3M2FN"}
NARROW = ("f8", "f6", "f4")


def from_onnx(model, name="main", target=""):
    """A `ModelProto`, with products of blocked `DequantizeLinear` (opset 21 and
    later).

    Taken are `DequantizeLinear` of fp8, fp6, fp4 with a scale for each block of
    32 or 16 (scales of e8m0, e4m3, f32 or, dequantised once more, NVFP4's two
    levels), `Transpose`, `MatMul`, `Gemm`, `Add`, `Mul`, `Sub`, `Relu`, `Sigmoid`,
    `Cast`. Whatever else there is, is refused by name.

    Returns an `Imported`, whose parameters are the model's initialisers, as
    `TensorProto`. target: as in `from_mlir`.
    """
    imported = in_linalg(model, name)
    return replace(imported, mlir=import_products(imported.mlir, name, target))


def in_linalg(model, name):
    """The same with its products as linalg says them."""
    graph = getattr(model, "graph", None)
    if graph is None or not hasattr(graph, "node"):
        raise Refused(f"expected an ONNX model, found a {type(model).__name__}")
    return Graph(graph, name).imported()


class Graph:
    """One function: the graph's inputs and initialisers are its arguments."""

    def __init__(self, graph, name):
        self.graph, self.function = graph, Function(name)
        self.values, self.order, self.parameters = {}, [], {}
        self.transposes = {}

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
            builder = BUILDERS.get(node.op_type)
            if builder is None:
                raise Refused(f"'{label(node)}': nothing takes '{node.op_type}'; "
                              f"taken are {', '.join(sorted(BUILDERS))}")
            inputs = [self.value(node, one) if one else None for one in node.input]
            self.values[node.output[0]] = builder(self, node, *inputs)
        results = [self.value(None, one.name) for one in self.graph.output]
        self.function.returns(results)
        return Imported(self.function.name, self.function.text(),
                        tuple(self.order), self.parameters)

    def argument(self, name, shape, number):
        if number not in ELEMENTS:
            raise Refused(f"'{name}' has elements of ONNX's type {number}, which "
                          "are not taken")
        self.order.append(name)
        self.values[name] = self.function.argument(
            name, Type(shape, ELEMENTS[number]))

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
    if len(scale.type.shape) != rank:
        raise Refused(f"'{label(node)}': scales {scale.type} are for whole rows or "
                      "columns, which no kernel does; block_size says how many "
                      "elements share one")
    size, blocks = value.type.shape[axis], scale.type.shape[axis]
    if not block or not isinstance(size, int) or blocks != -(-size // block) or size % block:
        raise Refused(f"'{label(node)}': block_size = {block} does not cut "
                      f"{value.type} along dimension {axis} into the blocks of "
                      f"{scale.type}")
    for at in range(rank):
        if at != axis and value.type.shape[at] != scale.type.shape[at]:
            raise Refused(f"'{label(node)}': scales {scale.type} do not fit "
                          f"{value.type}")
    return [f"d{at} floordiv {block}" if at == axis else f"d{at}"
            for at in range(rank)]


def dequantize(graph, node, value, scale, zero=None):
    if zero is not None and "f" not in zero.type.element:
        raise Refused(f"'{label(node)}': a zero point of {zero.type.element}; "
                      "floats have none")
    if not value.type.element.startswith(NARROW):
        raise Refused(f"'{label(node)}': elements of {value.type.element}; fp8, "
                      "fp6 and fp4 are taken")
    function, type = graph.function, value.type.like(element="f32")
    rank = len(type.shape)
    places = scale_map(graph, node, value, scale)
    dims = ", ".join(f"d{at}" for at in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    sizes = [function.size(value, at) for at, size in enumerate(type.shape)
             if not isinstance(size, int)]
    empty = function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    name, body = function.fresh(), []
    wide = extended("%.x", value.type.element, "f32", body, "xw")
    factor = extended("%.s", scale.type.element, "f32", body, "sw")
    loops = ", ".join(['"parallel"'] * rank)
    function.lines += [
        f"    {name} = linalg.generic {{indexing_maps = [{same}, affine_map<({dims}) "
        f"-> ({', '.join(places)})>, {same}], iterator_types = [{loops}]}} ins("
        f"{value.name}, {scale.name} : {value.type}, {scale.type}) outs("
        f"{empty.name} : {type}) {{",
        f"    ^bb0(%.x: {value.type.element}, %.s: {scale.type.element}, %.before: f32):",
        *body, f"      %.product = arith.mulf {wide}, {factor} : f32",
        "      linalg.yield %.product : f32", f"    }} -> {type}"]
    return Value(name, type)


# Products -------------------------------------------------------------------


def transpose(graph, node, value):
    rank = len(value.type.shape)
    order = attribute(node, "perm") or list(range(rank))[::-1]
    shape = tuple(value.type.shape[at] for at in order)
    type = value.type.like(shape)
    sizes = [graph.function.size(value, order[at])
             for at, size in enumerate(shape) if not isinstance(size, int)]
    empty = graph.function.op(f"tensor.empty({', '.join(sizes)}) : {type}", type)
    return graph.function.op(
        f"linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : "
        f"{type}) permutation = {order}", type)


def matmul(graph, node, a, b, transposed_a=False, transposed_b=False):
    """Summed in f32."""
    ranks = len(a.type.shape), len(b.type.shape)
    if ranks not in ((2, 2), (3, 3), (3, 2)):
        raise Refused(f"'{label(node)}': a product of {a.type} and {b.type}")
    function = graph.function
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
    if a.type.element != b.type.element:
        raise Refused(f"'{label(node)}': a product of {a.type} and {b.type}")
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
        f"{start.name} : {type}) {{",
        f"    ^bb0(%.x: {a.type.element}, %.y: {b.type.element}, %.sum: f32):", *body,
        f"      %.product = arith.mulf {x}, {y} : f32",
        "      %.next = arith.addf %.sum, %.product : f32",
        "      linalg.yield %.next : f32", f"    }} -> {type}"]
    return cast_to(function, Value(name, type), a.type.element)


def gemm(graph, node, a, b, c=None):
    for name, wanted in (("alpha", 1.0), ("beta", 1.0)):
        if attribute(node, name, wanted) != wanted:
            raise Refused(f"'{label(node)}': {name} other than 1")
    value = matmul(graph, node, a, b, bool(attribute(node, "transA", 0)),
                   bool(attribute(node, "transB", 0)))
    return value if c is None else join("add")(graph, node, value, c)


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


BUILDERS = {"DequantizeLinear": dequantize, "Transpose": transpose,
            "MatMul": matmul, "Gemm": gemm, "Cast": cast, "Add": join("add"),
            "Mul": join("mul"), "Sub": join("sub"), "Relu": relu,
            "Sigmoid": sigmoid}
