# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Groups of rows, with a matrix each: one product with `groups`, which is one launch
where the chip has kernels for it. What it leaves open, rows behind the last end, is
filled with zeros."""

from . import _torch_elementwise as elementwise
from . import _torch_loops as loops
from ._errors import Refused
from ._mlir_text import Type
from ._sizes import Size
from ._sizes import product as product_of
from ._torch_loops import arith, part

TILE_ROWS = 128
REST, TILES = Size("_rows_behind_the_groups"), Size("_tiles_of_all_groups")


def sizes_of(type):
    return str(type).removeprefix("tensor<").removesuffix(">")


def check_ends(node, w, offsets):
    groups = w.type.shape[0]
    if not isinstance(groups, int) or offsets is None or \
            offsets.type.shape != (groups,) or offsets.type.element != "i32":
        raise Refused(f"'{node.name}': the ends of groups are "
                      f"{offsets.type if offsets else 'missing'}; {groups} numbers of "
                      "i32 are expected, one for each matrix")


def multiplied(function, rows, sides, offsets, shape, element):
    """The product of two scaled tensors, (name, type) each, with zeros behind the last
    group. rows: a tensor with as many rows as there are."""
    (a, a_type), (b, b_type) = sides
    type = Type(shape, element)
    product = function.op(
        f"blockscale.matmul {a}, {b} groups({offsets.name} : {offsets.type}) : "
        f"{a_type}, {b_type} -> {type}", type)
    size = function.size(rows, 0)
    last = loops.end_of(function, offsets,
                        function.index(offsets.type.shape[0] - 1), function.index(0),
                        size)
    with loops.region(function):
        function.indices[REST.text] = arith(function, "subi", size, last)
        zeros = function.splat(0, type.like((REST, shape[1])))
        columns = shape[1] if isinstance(shape[1], int) else function.size(product, 1)
        return function.op(
            f"tensor.insert_slice {zeros.name} into {product.name}[{last}, 0] "
            f"[{function.indices[REST.text]}, {columns}] [1, 1] : {zeros.type} into "
            f"{type}", type)


def assembled(function, data, scales, spec, layout="", whole=None):
    """Data and scales as one operand, with factors of whole matrices if there are any:
    its name and type."""
    if whole is not None:
        spec = f"multi_float32_{spec}"
    type = f'!blockscale.tensor<{sizes_of(data.type)}, "{spec}"{layout}>'
    factors = f" tensor_scale({whole.name} : {whole.type})" if whole is not None else ""
    return function.op(f"blockscale.assemble {data.name}, {scales.name}{factors} : "
                       f"{data.type}, {scales.type} to {type}", None).name, type


def factor_of_groups(function, node, wholes, groups):
    """The product of factors, each of all groups or with a number for each; None if
    there are none."""
    if not wholes:
        return None
    for one in wholes:
        if product_of(one.type.shape) not in (1, groups) or one.type.element != "f32":
            raise Refused(f"'{node.name}': a factor is {one.type}; one f32, or {groups}, "
                          "one for each group, is taken")
    flat = [function.reshape(one, (product_of(one.type.shape),), node.name)
            for one in wholes]
    type = Type((groups,), "f32")

    def body(names):
        total, *rest = names
        for one in rest:
            following = function.fresh()
            function.line(f"  {following} = arith.mulf {total}, {one} : f32")
            total = following
        return total
    return function.pointwise(flat, type, body, node.name)


def of_rows(function, node, a, w, scale_a, scale_b, offsets, element):
    """With a scale for each row of `a` and of each matrix."""
    check_ends(node, w, offsets)
    (m, _), (groups, n, _) = a.type.shape, w.type.shape
    scale_a = loops.vector(function, node, "a", scale_a, m)
    if scale_b.type.shape != (groups, n):
        raise Refused(f"'{node.name}': scales of the rows of b are {scale_b.type}; "
                      f"there are {groups} matrices of {n} rows")
    scale_a = function.reshape(scale_a, (m, 1), node.name)
    scale_b = function.expand(scale_b, scale_b.type.like((groups, n, 1)), [[0], [1, 2]],
                              node.name)
    sides = [assembled(function, one, scale, "float32_t0")
             for one, scale in ((a, scale_a), (w, scale_b))]
    return multiplied(function, a, sides, offsets, (m, n), element)


def of_tiles(function, node, a, w, scale_a, scale_b, offsets, element, block, spec,
             wholes=()):
    """With block scales that lie in tiles of 128 x 4, those of each group apart; with
    the product of `wholes` for each group."""
    check_ends(node, w, offsets)
    (m, k), (groups, n, _) = a.type.shape, w.type.shape
    if not isinstance(k, int) or k % block or not isinstance(n, int):
        raise Refused(f"'{node.name}': K = {k} is no multiple of the block, {block}")
    columns = -(-k // block // 4)
    per_tile, matrix_tiles = 512 * columns, -(-n // TILE_ROWS)
    count = product_of(scale_a.type.shape)
    if isinstance(count, int) and count % per_tile or \
            product_of(scale_b.type.shape) != groups * matrix_tiles * per_tile:
        raise Refused(f"'{node.name}': scales of a are {scale_a.type}, of b "
                      f"{scale_b.type}; in tiles of 128 x 4 those of a are multiples of "
                      f"{per_tile}, those of b {matrix_tiles * per_tile} for each of "
                      f"{groups} matrices")
    tiles = count // per_tile if isinstance(count, int) else \
        Size(f"({count.text})//{per_tile}")
    inner = (columns, 32, 16)
    flat = function.reshape(scale_a, (count,), node.name)
    scale_a = function.expand(flat, flat.type.like((tiles, *inner)), [[0, 1, 2, 3]],
                              node.name)
    scale_a = with_room(function, a, scale_a, groups)
    scale_b = function.reshape(scale_b, (groups, matrix_tiles, *inner), node.name)
    sides = [assembled(function, a, scale_a, spec, ", layout = grouped_128x4"),
             assembled(function, w, scale_b, spec, ", layout = tiled_128x4",
                       factor_of_groups(function, node, wholes, groups))]
    return multiplied(function, a, sides, offsets, (m, n), element)


def with_room(function, a, scales, groups):
    """Scales with as many tiles as the rows of `a` can take in so many groups, which is
    what kernels read: producers have just those that are needed, or a tile for each
    group."""
    m, (tiles, *inner) = a.type.shape[0], scales.type.shape
    padding = groups * (TILE_ROWS - 1)
    if isinstance(m, int) and tiles == (m + padding) // TILE_ROWS:
        return scales
    size = arith(function, "addi", function.size(a, 0), function.index(padding))
    room = arith(function, "divui", size, function.index(TILE_ROWS))
    taken = arith(function, "minsi", room, function.size(scales, 0))
    type = scales.type.like((TILES, *inner))
    own = part(function, scales, (0, 0, 0, 0), (taken, *inner), type)
    empty = function.op(f"tensor.empty({room}) : {type}", type)
    return function.op(
        f"tensor.insert_slice {own.name} into {empty.name}[0, 0, 0, 0] "
        f"[{taken}, {', '.join(map(str, inner))}] [1, 1, 1, 1] : {type} into {type}",
        type)


def plain(function, node, a, w, offsets, element):
    """Without scales."""
    check_ends(node, w, offsets)
    sides = []
    for one in (a, w):
        type = elementwise.unscaled(one.type)
        sides.append((function.op(f"blockscale.assemble {one.name} : {one.type} to "
                                  f"{type}", None).name, type))
    return multiplied(function, a, sides, offsets, (a.type.shape[0], w.type.shape[1]),
                      element)
