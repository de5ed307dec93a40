# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Scales of rows, loops, and what programs of groups have in common."""

import contextlib

from ._errors import Refused
from ._mlir_text import Type, Value
from ._sizes import factors
from ._sizes import product as product_of


@contextlib.contextmanager
def region(function):
    """What is computed in a region is not there behind it."""
    before = dict(function.indices)
    yield
    function.indices = before


def loop(function, count, starts, body):
    """Results of a loop: body(index, values) gives the next values. `starts` and
    results are tensors, or names of indices."""
    zero, one = function.index(0), function.index(1)
    name, at = function.fresh(), function.fresh()
    kinds = [str(start.type) if isinstance(start, Value) else "index"
             for start in starts]
    inner = [function.fresh() for _ in starts]
    given = ", ".join(f"{own} = {start.name if isinstance(start, Value) else start}"
                      for own, start in zip(inner, starts))
    function.line(f"{name}:{len(starts)} = scf.for {at} = {zero} to {count} step {one} "
                  f"iter_args({given}) -> ({', '.join(kinds)}) {{")
    with region(function):
        values = [Value(own, start.type) if isinstance(start, Value) else own
                  for own, start in zip(inner, starts)]
        made = [one.name if isinstance(one, Value) else one
                for one in body(at, values)]
    function.line(f"  scf.yield {', '.join(made)} : {', '.join(kinds)}")
    function.line("}")
    return [Value(f"{name}#{at}", start.type) if isinstance(start, Value)
            else f"{name}#{at}" for at, start in enumerate(starts)]


def choice(function, condition, types, then, otherwise):
    """Tensors of these types, as `then` gives them or `otherwise` does."""
    name, kinds = function.fresh(), ", ".join(map(str, types))
    function.line(f"{name}:{len(types)} = scf.if {condition} -> ({kinds}) {{")
    for at, make in enumerate((then, otherwise)):
        if at:
            function.line("} else {")
        with region(function):
            made = make()
        function.line(f"  scf.yield {', '.join(one.name for one in made)} : {kinds}")
    function.line("}")
    return [Value(f"{name}#{at}", type) for at, type in enumerate(types)]


def arith(function, op, x, y):
    return function.op(f"arith.{op} {x}, {y} : index", None).name


def part(function, value, offsets, shape, type):
    """A slice; offsets and sizes of `shape` are numbers or names of indices."""
    sizes = [str(size) for size in shape]
    return function.op(
        f"tensor.extract_slice {value.name}[{', '.join(map(str, offsets))}] "
        f"[{', '.join(sizes)}] [{', '.join(['1'] * len(sizes))}] : {value.type} to "
        f"{type}", type)


# Rows -----------------------------------------------------------------------


def vector(function, node, side, scale, count):
    """The scales of rows, in one dimension."""
    if factors(product_of(scale.type.shape)) != factors(count):
        raise Refused(f"'{node.name}': scales of the rows of {side} are {scale.type}; "
                      f"there are {count} rows")
    return function.reshape(scale, (count,), node.name)


def of_rows(function, node, side, data, scales):
    """One side with a scale for each row, which is a factor of the kernel's."""
    rows, k = (size if isinstance(size, int) else "?" for size in data.type.shape)
    shape = (data.type.shape[0], 1)
    if scales.type.shape != shape:
        one = vector(function, node, side, scales, shape[0])
        scales = function.reshape(one, shape, node.name)
    type = f'!blockscale.tensor<{rows}x{k}x{data.type.element}, "float32_t0">'
    return function.op(f"blockscale.assemble {data.name}, {scales.name} : "
                       f"{data.type}, {scales.type} to {type}", type)


def batch_of_rows(function, node, a, b, scale_a, scale_b, offsets, element):
    """Products of as many matrices as there are groups, each row with a scale."""
    if offsets is not None:
        raise Refused(f"'{node.name}': groups of {a.type} and {b.type} are whole "
                      "matrices, which have no offsets")
    sides = []
    for side, data, scales in (("a", a, scale_a), ("b", b, scale_b)):
        groups, rows, k = data.type.shape
        if not isinstance(groups, int) or a.type.shape[0] != b.type.shape[0] or \
                scales.type.shape != (groups, rows):
            raise Refused(f"'{node.name}': {side} is {data.type} with scales "
                          f"{scales.type}; as many matrices on both sides with a scale "
                          "for each row are taken")
        scales = function.expand(scales, scales.type.like((groups, rows, 1)),
                                 [[0], [1, 2]], node.name)
        sizes = "x".join(str(size) if isinstance(size, int) else "?"
                         for size in (groups, rows, k))
        type = f'!blockscale.tensor<{sizes}x{data.type.element}, "float32_t0">'
        sides.append(function.op(
            f"blockscale.assemble {data.name}, {scales.name} : {data.type}, "
            f"{scales.type} to {type}", type))
    type = Type((*a.type.shape[:2], b.type.shape[1]), element)
    return function.op(
        f"blockscale.matmul {', '.join(one.name for one in sides)} : "
        f"{', '.join(one.type for one in sides)} -> {type}", type)


# Groups ---------------------------------------------------------------------


def end_of(function, offsets, at, start, size):
    """Where group `at` ends: its offset, not before where it starts nor behind
    `size`."""
    end = function.op(f"tensor.extract {offsets.name}[{at}] : {offsets.type}",
                      None).name
    end = function.op(f"arith.index_cast {end} : i32 to index", None).name
    return arith(function, "maxsi", arith(function, "minsi", end, size), start)
