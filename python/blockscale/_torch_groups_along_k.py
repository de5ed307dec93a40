# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Groups along K, as gradients of experts' weights have them: both sides are matrices,
each group is a part of the columns of both, up to its offset, and gives a matrix of
its own. A loop with a product for each group, of a K that is known at the call."""

from . import _torch_elementwise as elementwise
from . import _torch_loops as loops
from ._errors import Refused
from ._mlir_text import Type, Value
from ._sizes import Size, factors
from ._sizes import product as product_of
from ._torch_loops import arith, part

# How many elements of K a group has, and of tiles of its scales, by their names.
GROUP, TILES = Size("_elements_of_the_group"), Size("_tiles_of_the_group")


def by_groups(function, node, a, b, offsets, element, multiply, starts=()):
    """A matrix for each offset; a group without elements gives zeros.

    multiply(group, a, b, values): the product of a group, and the next of `values`,
    indices that begin as `starts`.
    """
    (m, k), (n, other) = a.type.shape, b.type.shape
    if factors(k) != factors(other):
        raise Refused(f"'{node.name}': a has K = {k} and b K = {other}")
    shape = offsets.type.shape if offsets else ()
    if len(shape) != 1 or not isinstance(shape[0], int) or \
            offsets.type.element != "i32" or \
            not isinstance(m, int) or not isinstance(n, int):
        raise Refused(f"'{node.name}': groups along K of {a.type} and {b.type} end at "
                      f"{offsets.type if offsets else 'nothing'}; known numbers of rows "
                      "are taken, and ends of i32, one for each group")
    zeros = elementwise.filled(function, node, Type((shape[0], m, n), element), 0)
    size = function.size(a, 1) if not isinstance(k, int) else function.index(k)

    def body(at, values):
        result, start, *rest = values
        end = loops.end_of(function, offsets, at, start, size)
        count = arith(function, "subi", end, start)
        function.indices[GROUP.text] = count
        sides = [part(function, one, (0, start), (rows, count),
                      one.type.like((rows, GROUP))) for one, rows in ((a, m), (b, n))]
        return unless_empty(function, count, result, at, rest,
                            lambda: multiply(at, *sides, rest), end)

    return loops.loop(function, function.index(shape[0]),
                      [zeros, function.index(0), *starts], body)[0]


def unless_empty(function, count, result, at, rest, multiply, end):
    """`result` with the product of a group that has elements, which kernels need."""
    (_, m, n), kinds = result.type.shape, [str(result.type), *["index"] * len(rest)]
    is_some = function.op(f"arith.cmpi ne, {count}, {function.index(0)} : index",
                          None).name
    name = function.fresh()
    function.line(f"{name}:{len(kinds)} = scf.if {is_some} -> ({', '.join(kinds)}) {{")
    with loops.region(function):
        made, after = multiply()
        inserted = function.op(
            f"tensor.insert_slice {made.name} into {result.name}[{at}, 0, 0] "
            f"[1, {m}, {n}] [1, 1, 1] : {made.type} into {result.type}", result.type)
        function.line(f"  scf.yield {', '.join([inserted.name, *after])} : "
                      f"{', '.join(kinds)}")
    function.line("} else {")
    function.line(f"  scf.yield {', '.join([result.name, *rest])} : {', '.join(kinds)}")
    function.line("}")
    return [Value(f"{name}#0", result.type), end,
            *(f"{name}#{1 + place}" for place in range(len(rest)))]


def groups_of_rows(function, node, a, b, scale_a, scale_b, offsets, element):
    """With a scale for each row of both, in each group: those of a group follow those
    of the one before."""
    groups = offsets.type.shape[0] if offsets and offsets.type.shape else 1
    scales = [loops.vector(function, node, side, scale,
                           product_of((groups, one.type.shape[0])))
              for side, one, scale in (("a", a, scale_a), ("b", b, scale_b))]

    def multiply(at, left, right, rest):
        own = []
        for one, scale in ((left, scales[0]), (right, scales[1])):
            rows = one.type.shape[0]
            start = arith(function, "muli", at, function.index(rows))
            own.append(part(function, scale, (start,), (rows,),
                            scale.type.like((rows,))))
        return loops.by_rows(function, node, left, right, *own, element), rest
    return by_groups(function, node, a, b, offsets, element, multiply)


def groups_of_tiles(function, node, a, b, scale_a, scale_b, offsets, element, block,
                    spec):
    """With block scales that lie in tiles of 128 x 4, those of each group apart: where
    its K is no multiple of 4 blocks, its tiles are filled up."""
    rows = [one.type.shape[0] for one in (a, b)]
    if not all(isinstance(one, int) for one in rows):
        raise Refused(f"'{node.name}': groups along K of {a.type} and {b.type}; known "
                      "numbers of rows are taken")
    flat, tile_rows = [], [-(-one // 128) for one in rows]
    for side, scale, tiles in zip("ab", (scale_a, scale_b), tile_rows):
        count = product_of(scale.type.shape)
        if isinstance(count, int) and count % (512 * tiles):
            raise Refused(f"'{node.name}': scales of {side} are {scale.type}; in tiles of "
                          f"128 x 4, those of each group apart, they are multiples of "
                          f"{512 * tiles}")
        flat.append(function.reshape(scale, (count,), node.name))

    def assembled(data, scale, tiles, start, columns):
        """The tiles of a group are those of its rows one after the other."""
        count = arith(function, "muli", columns, function.index(512 * tiles))
        first = arith(function, "muli", start, function.index(512 * tiles))
        own = part(function, scale, (first,), (count,),
                   scale.type.like((product_of((tiles, TILES, 32, 16)),)))
        own = function.expand(own, scale.type.like((tiles, TILES, 32, 16)),
                              [[0, 1, 2, 3]], node.name)
        sizes = str(data.type).removeprefix("tensor<").removesuffix(">")
        type = f'!blockscale.tensor<{sizes}, "{spec}", layout = tiled_128x4>'
        return function.op(f"blockscale.assemble {data.name}, {own.name} : {data.type}, "
                           f"{own.type} to {type}", None).name, type

    def multiply(at, left, right, rest):
        columns = arith(function, "ceildivui", function.indices[GROUP.text],
                        function.index(4 * block))
        function.indices[TILES.text] = columns
        (x, x_type), (y, y_type) = (
            assembled(one, scale, tiles, rest[0], columns)
            for one, scale, tiles in zip((left, right), flat, tile_rows))
        type = Type(tuple(rows), element)
        made = function.op(f"blockscale.matmul {x}, {y} : {x_type}, {y_type} -> {type}",
                           type)
        return made, [arith(function, "addi", rest[0], columns)]
    return by_groups(function, node, a, b, offsets, element, multiply,
                     [function.index(0)])
