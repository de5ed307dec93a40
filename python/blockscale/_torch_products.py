# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of a traced program: block-scaled ones and others.

Names and numbers of recipes and swizzles: `torch.nn.functional.ScalingType` and
`SwizzleType` (PyTorch 2.15).
"""

from dataclasses import dataclass, replace

from . import _torch_blocks as in_registers
from . import _torch_groups as groups
from . import _torch_groups_along_k as along
from . import _torch_loops as loops
from ._errors import Refused
from ._mlir_text import Type, Value, tensor_type
from ._sizes import Size, factors
from ._sizes import product as product_of
from ._torch_elementwise import bits_as, cast
from ._torch_shapes import permuted

# Recipe: elements of K that share a scale, and the spec of their scales.
BLOCKS = {2: (16, "f8E4M3FN", "e4m3fn_t16"), 3: (32, "f8E8M0FNU", "e8m0_t32")}
TENSOR_WISE, ROW_WISE, BLOCKS_OF_16, ROWS_OF_BLOCKS, BLOCKS_OF_BLOCKS = 0, 1, 2, 4, 5
# With scales of f32.
WITH_F32 = (ROW_WISE, ROWS_OF_BLOCKS, BLOCKS_OF_BLOCKS)
RECIPES = {0: "TensorWise", 1: "RowWise", 2: "BlockWise1x16", 3: "BlockWise1x32",
           4: "BlockWise1x128", 5: "BlockWise128x128"}
PLAIN, TILED = 0, 1
FP8 = ("f8E4M3FN", "f8E5M2")


@dataclass(frozen=True)
class Scaling:
    """How one side is scaled: block scales and their layout, or none; factors
    of the whole."""

    scales: object
    recipe: int
    swizzle: int
    factors: tuple


def scaling(node, side, scales, recipes, swizzles):
    """Of one side of `_scaled_mm_v2`."""
    scales, recipes = list(scales), list(recipes)
    swizzles = list(swizzles) or [PLAIN] * len(recipes)
    if len(scales) != len(recipes):
        raise Refused(f"'{node.name}': {len(scales)} scales of {side} and "
                      f"{len(recipes)} recipes")
    blocks, wholes = None, []
    for scale, recipe, swizzle in zip(scales, recipes,
                                      swizzles + [PLAIN] * len(recipes)):
        if recipe == TENSOR_WISE:
            wholes.append(scale)
        elif recipe not in RECIPES:
            raise Refused(f"'{node.name}': the recipe {recipe} of {side} is not known; "
                          f"there are {', '.join(RECIPES.values())}")
        elif blocks is not None:
            raise Refused(f"'{node.name}': {side} has two block scales")
        elif recipe in WITH_F32 and swizzle != PLAIN:
            raise Refused(f"'{node.name}': {side} is scaled '{RECIPES[recipe]}' and has "
                          f"the swizzle {swizzle}; such scales have none")
        elif swizzle not in (PLAIN, TILED):
            raise Refused(f"'{node.name}': the swizzle {swizzle} of {side} is "
                          "not known; NO_SWIZZLE (0) and SWIZZLE_32_4_4 (1) are "
                          "taken")
        else:
            blocks = (scale, recipe, swizzle)
    return Scaling(*(blocks or (None, TENSOR_WISE, PLAIN)), tuple(wholes))


def scaling_v1(node, side, scale, data):
    """Of one side of `_scaled_mm`: told by the scale's type and shape. Those of two
    dimensions are in order if each row has as many as K has blocks, tiles in order
    of memory (32 rows of 16 each, as torchao has them) otherwise, and where they could
    be both: so CUDA reads them."""
    element, shape = scale.type.element, scale.type.shape
    recipe = next((number for number, block in BLOCKS.items()
                   if block[1] == element), None)
    if recipe is not None:
        k = product_of([1 + data.type.packed, data.type.shape[-1]])
        rows = data.type.shape[0]
        is_both = isinstance(rows, int) and rows % 128 == 0 and shape[-1] == 16
        in_order = len(shape) == 2 and isinstance(k, int) and not is_both and \
            shape[1] == k // BLOCKS[recipe][0] and factors(shape[0]) == factors(rows)
        tiled = len(shape) == 1 or len(shape) == 2 and not in_order and \
            isinstance(shape[1], int) and shape[1] % 16 == 0
        return Scaling(scale, recipe, TILED if tiled else PLAIN, ())
    if element == "f32" and all(size == 1 for size in shape):
        return Scaling(None, TENSOR_WISE, PLAIN, (scale,))
    found = recipe_of(side, scale, data) if element == "f32" else None
    if found is None:
        raise Refused(f"'{node.name}': {side} is {data.type} and has scales "
                      f"{scale.type}; taken are e8m0 and e4m3 for blocks, and f32: one "
                      "for all, one for each row, one for 128 or 128 x 128 elements")
    return Scaling(scale, found, PLAIN, ())


def recipe_of(side, scale, data):
    """What scales of f32 are for, by their shape: those of a are [rows, blocks],
    those of b are [blocks, rows]."""
    (rows, k), shape = data.type.shape, scale.type.shape
    if len(shape) != 2:
        return None
    given, blocks = shape if side == "a" else shape[::-1]
    if blocks == 1 and factors(given) == factors(rows) and k != 128:
        return ROW_WISE
    if not isinstance(k, int) or blocks not in (-(-k // 128), 4 * -(-k // 512)):
        return None
    if factors(given) == factors(rows):
        return ROWS_OF_BLOCKS
    return BLOCKS_OF_BLOCKS if given == rounded_up(rows, 128) else None


# Operands -------------------------------------------------------------------


def unpack(function, value):
    """Pairs of 4-bit elements, the first in the low half, as elements."""
    rows, pairs = value.type.shape
    type = Type((rows, product_of([2, pairs])), "f4E2M1FN")
    sizes = [function.size(value, 0)] * (not isinstance(rows, int))
    if not isinstance(pairs, int):
        sizes.append(function.op(f"arith.muli {function.size(value, 1)}, "
                                 f"{function.index(2)} : index", None).name)
    sizes = ", ".join(sizes)
    empty = function.op(f"tensor.empty({sizes}) : {type}", type)
    name = function.fresh()
    function.lines += [
        f"    {name} = linalg.generic {{indexing_maps = ["
        "affine_map<(m, k) -> (m, k floordiv 2)>, affine_map<(m, k) -> (m, k)>], "
        'iterator_types = ["parallel", "parallel"]} '
        f"ins({value.name} : {value.type}) outs({empty.name} : {type}) {{",
        "    ^bb0(%.pair: i8, %.before: f4E2M1FN):",
        "      %.k = linalg.index 1 : index",
        "      %.k8 = arith.index_cast %.k : index to i8",
        "      %.one = arith.constant 1 : i8",
        "      %.four = arith.constant 4 : i8",
        "      %.odd = arith.andi %.k8, %.one : i8",
        "      %.shift = arith.muli %.odd, %.four : i8",
        "      %.half = arith.shrui %.pair, %.shift : i8",
        "      %.code = arith.trunci %.half : i8 to i4",
        "      %.element = arith.bitcast %.code : i4 to f4E2M1FN",
        "      linalg.yield %.element : f4E2M1FN",
        f"    }} -> {type}"]
    return Value(name, type)


def rounded_up(size, multiple):
    """How many parts of `multiple` a size has, the last one whole."""
    if isinstance(size, int):
        return (size + multiple - 1) // multiple
    return Size(f"({size.text} + {multiple - 1})//{multiple}")


def blocks_of(node, side, data, block):
    """How many blocks of K there are."""
    k = data.type.shape[1]
    if isinstance(k, int):
        if k % block:
            raise Refused(f"'{node.name}': K = {k} of {side} is no multiple of the "
                          f"block, {block}")
        return k // block
    return Size(f"({k.text})//{block}")


def tiles(function, node, side, scales, data, block):
    """Scales that lie as the tensor core reads them, as its tiles."""
    rows = data.type.shape[0]
    blocks = blocks_of(node, side, data, block)
    shape = (rounded_up(rows, 128), rounded_up(blocks, 4), 32, 16)
    wanted, count = product_of(shape), product_of(scales.type.shape)
    if isinstance(wanted, int) and isinstance(count, int) and count != wanted:
        raise Refused(
            f"'{node.name}': {side} has {count} scales; {rows} rows of "
            f"{blocks} blocks in tiles of 128 x 4 are {wanted}")
    flat = function.reshape(scales, (count,), node.name)
    return function.expand(flat, Type(shape, scales.type.element),
                           [[0, 1, 2, 3]], node.name)


def assemble(function, node, side, data, how):
    """One side as a scaled tensor in the layout that kernels read."""
    if data.type.packed:
        data = unpack(function, data)
    if len(data.type.shape) != 2:
        raise Refused(f"'{node.name}': {side} is {data.type}; a matrix is taken")
    sizes = "".join(f"{size if isinstance(size, int) else '?'}x"
                    for size in data.type.shape)
    if how.scales is None:
        type = f"!blockscale.tensor<{sizes}{data.type.element}>"
        return function.op(f"blockscale.assemble {data.name} : {data.type} to "
                           f"{type}", type)
    block, element, spec = BLOCKS[how.recipe]
    blocks = blocks_of(node, side, data, block)
    if how.scales.type.element != element:
        raise Refused(f"'{node.name}': scales of {side} are "
                      f"{how.scales.type.element}; {RECIPES[how.recipe]} has "
                      f"{element}")
    scales, layout = how.scales, ""
    if how.swizzle == TILED:
        scales = tiles(function, node, side, scales, data, block)
        layout = ", layout = tiled_128x4"
    elif len(scales.type.shape) != 2 or \
            factors(scales.type.shape[1]) != factors(blocks):
        raise Refused(f"'{node.name}': scales of {side} are {scales.type}; in "
                      f"order there are {blocks} for each row")
    base = f"!blockscale.tensor<{sizes}{data.type.element}, \"{spec}\""
    value = function.op(
        f"blockscale.assemble {data.name}, {scales.name} : {data.type}, "
        f"{scales.type} to {base}{layout}>", f"{base}{layout}>")
    if layout:
        return value
    tiled = f"{base}, layout = tiled_128x4>"
    return function.op(f"blockscale.relayout {value.name} : {value.type} to "
                       f"{tiled}", tiled)


def factor(function, values):
    """The product of numbers, as an f32; None if there are none."""
    product = None
    for value in values:
        if any(size != 1 for size in value.type.shape):
            raise Refused(f"{value.type} is no single factor")
        if value.type.shape:
            value = function.op(f"tensor.collapse_shape {value.name} [] : "
                                f"{value.type} into tensor<f32>",
                                Type((), "f32"))
        number = function.op(f"tensor.extract {value.name}[] : tensor<f32>", None)
        product = number if product is None else function.op(
            f"arith.mulf {product.name}, {number.name} : f32", None)
    return product


# Products -------------------------------------------------------------------


@dataclass(frozen=True)
class Transposed:
    """The right side of a product, by the tensor that it is the transpose of."""

    source: Value


def rows_of(node, b):
    """What the right side is the transpose of: the rows of B lie along K."""
    if not isinstance(b, Transposed):
        raise Refused(f"'{node.name}': its right side is no transpose; rows of B "
                      "lie along K, so that it is 'w.t()' of a contiguous w")
    return b.source


def product(function, node, a, b, left, right, bias):
    if left.recipe in WITH_F32 or right.recipe in WITH_F32:
        return product_with_f32(function, node, a, b, left, right, bias)
    a, b = (assemble(function, node, side, data, how)
            for side, data, how in (("a", a, left), ("b", b, right)))
    return multiplied(function, node, a, b, bias,
                      factor(function, left.factors + right.factors))


def multiplied(function, node, a, b, bias, alpha=None):
    """The product of two scaled tensors."""
    type = tensor_type(node.meta["val"], node.name)
    text, types = f"blockscale.matmul {a.name}, {b.name}", [a.type, b.type]
    if alpha is not None:
        text += f" alpha({alpha.name})"
    if bias is not None:
        text += f" bias({bias.name})"
        types.append(str(bias.type))
    return function.op(f"{text} : {', '.join(types)} -> {type}", type)


def product_with_f32(function, node, a, b, left, right, bias):
    """With scales of f32: those of rows are factors of a kernel, those of blocks are
    multiplied in its registers."""
    both = (left.recipe, right.recipe)
    names = " and ".join(RECIPES[one] for one in both)
    for side, how, data in (("a", left, a), ("b", right, b)):
        if how.factors or how.scales is None or how.scales.type.element != "f32" or \
                len(data.type.shape) != 2 or data.type.element not in FP8:
            raise Refused(f"'{node.name}': scaled {names}, {side} is {data.type} with "
                          f"scales {how.scales and how.scales.type}; matrices of fp8 "
                          "with scales of f32 are taken")
    if both == (ROW_WISE, ROW_WISE):
        sides = (loops.of_rows(function, node, side, data, how.scales)
                 for side, how, data in (("a", left, a), ("b", right, b)))
        return multiplied(function, node, *sides, bias)
    if ROW_WISE in both or both == (BLOCKS_OF_BLOCKS, BLOCKS_OF_BLOCKS):
        raise Refused(f"'{node.name}': scaled {names}, which no product is; RowWise "
                      "goes with itself, BlockWise1x128 with itself and with "
                      "BlockWise128x128")
    for side, how, data in (("a", left, a), ("b", right, b)):
        if recipe_of(side, how.scales, data) != how.recipe:
            raise Refused(f"'{node.name}': {side} is {data.type}, scaled "
                          f"{RECIPES[how.recipe]} by {how.scales.type}; there is a "
                          "scale for 128 elements of K "
                          + ("of each row" if how.recipe == ROWS_OF_BLOCKS else
                             "of 128 rows") + ", with K first for b")
    k_last = permuted(function, right.scales, (1, 0))
    sides = (in_registers.of_blocks(function, node, side, data, scales,
                                    how.recipe == ROWS_OF_BLOCKS)
             for side, how, data, scales in (("a", left, a, left.scales),
                                             ("b", right, b, k_last)))
    return multiplied(function, node, *sides, bias)


def unpacked_matrices(function, node, value):
    """Pairs of 4-bit elements of a matrix, or of several, as elements."""
    shape = value.type.shape
    if not value.type.packed or len(shape) == 2:
        return unpack(function, value) if value.type.packed else value
    flat = function.reshape(value, (product_of(shape[:2]), shape[2]), node.name)
    elements = unpack(function, flat)
    return function.reshape(elements, (*shape[:2], elements.type.shape[1]), node.name)


def grouped(function, node, a, b, scale_a, scale_b, offsets, bias, wholes=()):
    """Products of rows of `a` up to each offset with a matrix each, of both sides'
    elements of K up to each offset, or of as many matrices on both sides. The scales
    have one recipe, that of the second pair. wholes: factors of all of a side, or of each
    group."""
    b = rows_of(node, b)
    only_default(node, bias=bias)
    ranks = len(a.type.shape), len(b.type.shape)
    if ranks not in ((2, 3), (2, 2), (3, 3)):
        raise Refused(f"'{node.name}': groups of {a.type} and {b.type}; rows of a "
                      "matrix with one matrix for each group are taken, parts of K "
                      "of two matrices, and as many matrices on both sides")
    along_k = ranks == (2, 2)
    element = tensor_type(node.meta["val"], node.name).element
    (left, recipe_a), (right, recipe_b) = scale_a, scale_b
    if recipe_a == recipe_b == ROW_WISE and left.type.element == "f32":
        make = {(2, 2): along.of_rows, (2, 3): groups.of_rows,
                (3, 3): loops.batch_of_rows}[ranks]
        return make(function, node, a, b, left, right, offsets, element)
    if ranks != (3, 3) and recipe_a == recipe_b and recipe_a in BLOCKS and \
            left.type.element == right.type.element == BLOCKS[recipe_a][1] and \
            not (a.type.packed and along_k):
        how = function, node, *(unpacked_matrices(function, node, one) for one in (a, b))
        block, _, spec = BLOCKS[recipe_a]
        if along_k:
            return along.of_tiles(*how, left, right, offsets, element, block, spec)
        return groups.of_tiles(*how, left, right, offsets, element, block, spec, wholes)
    raise Refused(f"'{node.name}': groups of {a.type} scaled by {left.type} "
                  f"({RECIPES[recipe_a]}) and {right.type} ({RECIPES[recipe_b]}); RowWise "
                  "by f32 and, but for groups of whole matrices, BlockWise1x32 of fp8 by "
                  "e8m0 are taken, and for groups of rows FP4 by both kinds of blocks")


def grouped_mm(function, node, a, b, scale_a, scale_b, offs=None, bias=None,
               scale_result=None, out_dtype=None, use_fast_accum=False):
    only_default(node, scale_result=scale_result)

    def recipe(scale):
        return ROW_WISE if scale.type.element == "f32" else 3
    return grouped(function, node, a, b, (scale_a, recipe(scale_a)),
                   (scale_b, recipe(scale_b)), offs, bias)


def grouped_mm_v2(function, node, a, b, scale_a, recipe_a, swizzle_a, scale_b,
                  recipe_b, swizzle_b, offs=None, bias=None, out_dtype=None,
                  contraction_dim=None, use_fast_accum=False):
    only_sums_over_k(node, contraction_dim)
    sides, wholes = [], ()
    are_of_rows = len(a.type.shape) < len(rows_of(node, b).type.shape)
    for side, *how in (("a", scale_a, recipe_a, swizzle_a),
                       ("b", scale_b, recipe_b, swizzle_b)):
        found = scaling(node, side, *how)
        takes_factors = found.recipe == BLOCKS_OF_16 and are_of_rows
        if found.scales is None or (found.factors and not takes_factors) or \
                (found.recipe in BLOCKS) != (found.swizzle == TILED):
            raise Refused(f"'{node.name}': scales of {side} of groups are of one "
                          "recipe: RowWise, or BlockWise1x32 with SWIZZLE_32_4_4, or "
                          "BlockWise1x16 with it and TensorWise factors for groups of "
                          "rows")
        sides.append((found.scales, found.recipe))
        wholes += found.factors
    return grouped(function, node, a, b, *sides, offs, bias, wholes)


def grouped_plain(function, node, a, b, offs=None, bias=None, out_dtype=None):
    """`_grouped_mm`: bf16 or f16, as `_scaled_grouped_mm` without scales."""
    only_default(node, bias=bias)
    w = b.source if isinstance(b, Transposed) else b
    ranks = len(a.type.shape), len(w.type.shape)
    element = tensor_type(node.meta["val"], node.name).element
    if a.type.element != w.type.element or a.type.element not in ("bf16", "f16"):
        raise Refused(f"'{node.name}': groups of {a.type} and {w.type}; bf16 or f16 on "
                      "both sides is taken")
    if ranks not in ((2, 3), (2, 2)):
        raise Refused(f"'{node.name}': groups of {a.type} and {w.type}; rows of a "
                      "matrix with one matrix for each group are taken, and parts of K "
                      "of two matrices")
    if w is b:
        w = permuted(function, w, (*range(ranks[1] - 2), -1, -2))
    make = groups.plain if ranks == (2, 3) else along.plain
    return make(function, node, a, w, offs, element)


def only_sums_over_k(node, dimensions):
    if dimensions and [one % 2 for one in dimensions] != [1, 0]:
        raise Refused(f"'{node.name}': contraction_dim = {list(dimensions)}; (1, 0) is "
                      "taken")


def only_default(node, **options):
    for name, value in options.items():
        if value not in (None, [], False):
            raise Refused(f"'{node.name}': '{name}' = {value} is not taken")


def scaled_mm(function, node, a, b, scale_a, scale_b, bias=None,
              scale_result=None, out_dtype=None, use_fast_accum=False):
    only_default(node, scale_result=scale_result)
    b = rows_of(node, b)
    return product(function, node, a, b, scaling_v1(node, "a", scale_a, a),
                   scaling_v1(node, "b", scale_b, b), bias)


def scaled_mm_v2(function, node, a, b, scale_a, recipe_a, swizzle_a, scale_b,
                 recipe_b, swizzle_b, bias=None, out_dtype=None,
                 contraction_dim=None, use_fast_accum=False):
    only_sums_over_k(node, contraction_dim)
    return product(function, node, a, rows_of(node, b),
                   scaling(node, "a", scale_a, recipe_a, swizzle_a),
                   scaling(node, "b", scale_b, recipe_b, swizzle_b), bias)


def plain(function, node, a, b, type=None):
    """A product without scales, of matrices or batches of them: summed in f32
    on the host. `type`: of the result, if not that of the node."""
    type = type or tensor_type(node.meta["val"], node.name)
    if len(a.type.shape) not in (2, 3) or len(a.type.shape) != len(b.type.shape):
        raise Refused(f"'{node.name}': a product of {a.type} and {b.type}")
    sums = type.like(element="f32")
    batch = len(type.shape) == 3
    sizes = [function.size(b if at == len(type.shape) - 1 else a, at)
             for at, size in enumerate(type.shape) if not isinstance(size, int)]
    empty = function.op(f"tensor.empty({', '.join(sizes)}) : {sums}", sums)
    zero = function.op("arith.constant 0.0 : f32", None)
    start = function.op(f"linalg.fill ins({zero.name} : f32) outs({empty.name} : "
                        f"{sums}) -> {sums}", sums)
    value = function.op(
        f"linalg.{'batch_matmul' if batch else 'matmul'} ins({a.name}, {b.name} : "
        f"{a.type}, {b.type}) outs({start.name} : {sums}) -> {sums}", sums)
    return cast(function, value, type.element, node.name)


def matmul(function, node, a, b, type=None):
    """The same for tensors of any rank: leading dimensions are batches, or rows
    where the right side is one matrix."""
    type = type or tensor_type(node.meta["val"], node.name)
    ranks = len(a.type.shape), len(b.type.shape)
    if ranks in ((2, 2), (3, 3)) and a.type.shape[:-2] == b.type.shape[:-2]:
        return plain(function, node, a, b, type)
    shape = (*type.shape[-2:],)
    if min(ranks) >= 2 and ranks[1] == 2:
        a = joined(function, node, a, 1)
        shape = (*a.type.shape[:1], type.shape[-1])
    elif ranks[0] == ranks[1] and a.type.shape[:-2] == b.type.shape[:-2]:
        a, b = (joined(function, node, one, 2) for one in (a, b))
        shape = (*a.type.shape[:1], *type.shape[-2:])
    else:
        raise Refused(f"'{node.name}': a product of {a.type} and {b.type}")
    return function.reshape(plain(function, node, a, b, type.like(shape)),
                            type.shape, node.name)


def joined(function, node, value, kept):
    """All dimensions before the last `kept` as one."""
    return function.reshape(value, (product_of(value.type.shape[:-kept]),
                                    *value.type.shape[-kept:]), node.name)


def viewed(function, node, value, *_):
    """Bits as other elements, of what is the right side of a product, too."""
    type = tensor_type(node.meta["val"], node.name)
    if not isinstance(value, Transposed):
        return bits_as(function, node, value, type)
    shape = (*type.shape[:-2], type.shape[-1], type.shape[-2])
    return Transposed(bits_as(function, node, value.source, replace(type, shape=shape)))


SCALED = {"aten._scaled_mm.default": scaled_mm,
          "aten._scaled_mm_v2.default": scaled_mm_v2,
          "aten._scaled_grouped_mm.default": grouped_mm,
          "aten._scaled_grouped_mm_v2.default": grouped_mm_v2}
# Whose right side is read as the transpose that it is.
WITH_ROWS = {**SCALED, "aten._grouped_mm.default": grouped_plain}
VIEWED = "aten.view.dtype"
BUILDERS = {**WITH_ROWS, VIEWED: viewed, "aten.mm.default": plain, "aten.bmm.default": plain,
            "aten.matmul.default": matmul}


def exchanges_last(node, rank):
    """Whether a transpose exchanges the last two dimensions."""
    name, rest = str(node.target), node.args[1:]
    if name == "aten.permute.default":
        order = [axis % rank for axis in rest[0]]
        return order == [*range(rank - 2), rank - 1, rank - 2]
    if name == "aten.t.default":
        return rank == 2
    return sorted(axis % rank for axis in rest) == [rank - 2, rank - 1]


def is_right_side(node):
    """Whether products that are block-scaled read the node, and nothing else
    does."""
    return exchanges_last(node, len(node.meta["val"].shape)) and is_read_as_right(node)


def is_read_as_right(node):
    """Bytes may be read as pairs of 4-bit elements in between."""
    return node.users and all(
        is_read_as_right(user) if str(user.target) == VIEWED else
        str(user.target) in WITH_ROWS and user.args[1] is node and
        user.args[0] is not node for user in node.users)
