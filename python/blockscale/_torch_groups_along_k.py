# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Groups along K, as gradients of experts' weights have them: both sides are matrices,
each group is a part of the columns of both, up to its offset, and gives a matrix of
its own. One product with `groups`, which is one launch where the chip has kernels for
it."""

from . import _torch_elementwise as elementwise
from . import _torch_loops as loops
from ._errors import Refused
from ._mlir_text import Type
from ._sizes import Size, factors
from ._sizes import product as product_of
from ._torch_groups import assembled
from ._torch_loops import arith, part

# Elements of K with what fills groups up, elements of one group, tiles of its scales.
FILLED, GROUP, TILES = (Size(f"_{one}_along_k") for one in ("filled", "group", "tiles"))
# Bytes of a row that one instruction multiplies: where kernels let groups end.
STEP_BYTES = 32
WIDTHS = {"bf16": 2, "f16": 2}
TILE_ROWS, TILE_BLOCKS = 128, 4


def check(node, a, b, offsets):
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


# Ends that kernels take -----------------------------------------------------


def on_steps(function, sides, offsets):
    """Both sides and the ends of groups. Where a group ends between two steps of
    kernels, groups are copied to where each begins at one, with zeros behind it."""
    step = function.index(STEP_BYTES // WIDTHS.get(sides[0].type.element, 1))
    groups = function.index(offsets.type.shape[0])
    size = function.size(sides[0], 1)
    types = [one.type.like((one.type.shape[0], FILLED)) for one in sides]

    def behind(at, values):
        start, so_far = values
        end = loops.end_of(function, offsets, at, start, size)
        return [end, arith(function, "addi", so_far,
                           arith(function, "remui", end, step))]

    def filled():
        return filled_up(function, sides, types, offsets, size, step)

    def as_they_are():
        return [*(function.op(f"tensor.cast {one.name} : {one.type} to {type}", type)
                  if str(one.type) != str(type) else one
                  for one, type in zip(sides, types)), offsets]

    _, rest = loops.loop(function, groups, [function.index(0)] * 2, behind)
    is_between = function.op(f"arith.cmpi ne, {rest}, {function.index(0)} : index",
                             None).name
    *sides, ends = loops.choice(function, is_between, [*types, offsets.type], filled,
                                as_they_are)
    return sides, ends


def filled_up(function, sides, types, offsets, size, step):
    count = offsets.type.shape[0]
    padding = arith(function, "muli", function.index(count),
                    arith(function, "subi", step, function.index(1)))
    room = arith(function, "addi", size, padding)
    function.indices[FILLED.text] = arith(
        function, "muli", arith(function, "divui", room, step), step)

    def next_group(at, values):
        *wide, ends, start, to = values
        end = loops.end_of(function, offsets, at, start, size)
        elements = arith(function, "subi", end, start)
        function.indices[GROUP.text] = elements
        for number, one in enumerate(sides):
            rows = one.type.shape[0]
            own = part(function, one, (0, start), (rows, elements),
                       one.type.like((rows, GROUP)))
            wide[number] = function.op(
                f"tensor.insert_slice {own.name} into {wide[number].name}[0, {to}] "
                f"[{rows}, {elements}] [1, 1] : {own.type} into {types[number]}",
                types[number])
        steps = arith(function, "ceildivui", elements, step)
        to = arith(function, "addi", to, arith(function, "muli", steps, step))
        end_of = function.op(f"arith.index_cast {to} : index to i32", None).name
        ends = function.op(f"tensor.insert {end_of} into {ends.name}[{at}] : "
                           f"{ends.type}", ends.type)
        return [*wide, ends, end, to]

    zero = function.index(0)
    starts = [function.splat(0, type) for type in types]
    return loops.loop(function, function.index(count),
                      [*starts, offsets, zero, zero], next_group)[:3]


# Products -------------------------------------------------------------------


def multiplied(function, sides, ends, element):
    """The product of two operands, (name, type) each, with their numbers of rows."""
    (a, a_type, m), (b, b_type, n) = sides
    type = Type((ends.type.shape[0], m, n), element)
    return function.op(f"blockscale.matmul {a}, {b} groups({ends.name} : {ends.type}) : "
                       f"{a_type}, {b_type} -> {type}", type)


def plain(function, node, a, b, offsets, element):
    """Without scales."""
    check(node, a, b, offsets)
    sides, ends = on_steps(function, (a, b), offsets)
    operands = []
    for one in sides:
        type = elementwise.unscaled(one.type)
        name = function.op(f"blockscale.assemble {one.name} : {one.type} to {type}",
                           None).name
        operands.append((name, type, one.type.shape[0]))
    return multiplied(function, operands, ends, element)


def of_rows(function, node, a, b, scale_a, scale_b, offsets, element):
    """With a scale for each row of both, in each group: those of a group follow those
    of the one before."""
    check(node, a, b, offsets)
    (groups,) = offsets.type.shape
    scales = []
    for side, scale, data in (("a", scale_a, a), ("b", scale_b, b)):
        shape = (groups, data.type.shape[0], 1)
        scale = loops.vector(function, node, side, scale, product_of(shape))
        scale = function.reshape(scale, shape, node.name)
        # How many groups there are is no matter of the operand's type.
        loose = scale.type.like((Size("_any_groups"), *shape[1:]))
        scales.append(function.op(
            f"tensor.cast {scale.name} : {scale.type} to {loose}", loose))
    sides, ends = on_steps(function, (a, b), offsets)
    operands = [(*assembled(function, data, scale, "float32_t0", ", layout = grouped"),
                 data.type.shape[0]) for data, scale in zip(sides, scales)]
    return multiplied(function, operands, ends, element)


def of_tiles(function, node, a, b, scale_a, scale_b, offsets, element, block, spec):
    """With block scales that lie in tiles of 128 x 4, those of each group apart: where
    its K is no multiple of 4 blocks, its tiles are filled up."""
    check(node, a, b, offsets)
    flat = []
    for side, scale, data in (("a", scale_a, a), ("b", scale_b, b)):
        count, tiles = product_of(scale.type.shape), row_tiles(data)
        if isinstance(count, int) and count % (512 * tiles):
            raise Refused(f"'{node.name}': scales of {side} are {scale.type}; in tiles of "
                          f"128 x 4, those of each group apart, they are multiples of "
                          f"{512 * tiles}")
        flat.append(function.reshape(scale, (count,), node.name))
    sides, ends = on_steps(function, (a, b), offsets)
    operands = []
    for data, scales in zip(sides, flat):
        scales = with_room(function, node, data, scales, ends.type.shape[0], block)
        name, type = assembled(function, data, scales, spec,
                               ", layout = grouped_128x4")
        operands.append((name, type, data.type.shape[0]))
    return multiplied(function, operands, ends, element)


def row_tiles(data):
    return -(-data.type.shape[0] // TILE_ROWS)


def with_room(function, node, data, scales, groups, block):
    """Scales with as many tiles as the columns of `data` can take in so many groups,
    which is what kernels read: producers have just those that are needed."""
    unit, of_column = TILE_BLOCKS * block, 512 * row_tiles(data)
    elements = arith(function, "addi", function.size(data, 1),
                     function.index(groups * (unit - 1)))
    tiles = arith(function, "divui", elements, function.index(unit))
    function.indices[TILES.text] = tiles
    room = arith(function, "muli", tiles, function.index(of_column))
    taken = arith(function, "minsi", room, function.size(scales, 0))
    wide = scales.type.like((product_of((of_column, TILES)),))
    own = part(function, scales, (0,), (taken,), wide)
    empty = function.op(f"tensor.empty({room}) : {wide}", wide)
    filled = function.op(f"tensor.insert_slice {own.name} into {empty.name}[0] [{taken}] "
                         f"[1] : {wide} into {wide}", wide)
    shape = (row_tiles(data), TILES, 32, 16)
    type = filled.type.like(shape)
    cut = function.expand(filled, type, [[0, 1, 2, 3]], node.name)
    # How many rows there are with padding is no matter of the operand's type.
    loose = type.like((Size("_any_rows"), *shape[1:]))
    return function.op(f"tensor.cast {cut.name} : {type} to {loose}", loose)
