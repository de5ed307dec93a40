# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Changes of shape of a traced program, constants, and what is read by place."""

from . import _torch_elementwise as elementwise
from ._errors import Refused
from ._mlir_text import Value, tensor_type
from ._sizes import Size


def result(node):
    return tensor_type(node.meta["val"], node.name)


# Dimensions -----------------------------------------------------------------


def permuted(function, value, order):
    order = [axis % len(order) for axis in order]
    if order == sorted(order):
        return value
    type = value.type.like(value.type.shape[axis] for axis in order)
    empty = function.empty(type)
    return function.op(
        f"linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : "
        f"{type}) permutation = {order}", type)


def view(function, node, value, *_):
    return function.reshape(value, result(node).shape, node.name)


def transpose(function, node, value, first=0, second=1):
    rank = len(value.type.shape)
    order = list(range(rank))
    order[first % rank], order[second % rank] = second % rank, first % rank
    return permuted(function, value, order)


def transpose_matrix(function, node, value):
    return permuted(function, value, (1, 0)) if len(value.type.shape) == 2 else value


def permute(function, node, value, order):
    return permuted(function, value, order)


def expand(function, node, value, *_, **__):
    type = result(node)
    return value if value.type.shape == type.shape else \
        function.pointwise([value], type, lambda names: names[0], node.name)


def cat(function, node, parts, axis=0):
    type = result(node)
    parts = [elementwise.cast(function, one, type.element, node.name, type.is_unsigned)
             for one in parts if one.type.shape != (0,)]
    names = ", ".join(one.name for one in parts)
    types = ", ".join(str(one.type) for one in parts)
    return function.op(f"tensor.concat dim({axis % len(type.shape)}) {names} : "
                       f"({types}) -> {type}", type)


# Parts ----------------------------------------------------------------------


def place_of(function, node, start, size):
    """Where a slice starts, as MLIR writes it."""
    if start is None:
        return "0"
    if isinstance(start, Size):
        return function.computed(start, node.name)
    if not isinstance(start, int):
        raise Refused(f"'{node.name}': a slice from a place that is known at run "
                      "time only")
    if start >= 0:
        return str(min(start, size) if isinstance(size, int) else start)
    if isinstance(size, int):
        return str(max(start + size, 0))
    return function.computed(Size(f"({size.text}) - {-start}"), node.name)


def extracted(function, node, value, axis, place, type, step=1):
    rank = len(value.type.shape)
    offsets, steps = ["0"] * rank, ["1"] * rank
    offsets[axis], steps[axis] = place, str(step)
    sizes = [str(size) if isinstance(size, int) else
             function.computed(size, node.name) for size in type.shape]
    return function.op(
        f"tensor.extract_slice {value.name}[{', '.join(offsets)}] "
        f"[{', '.join(sizes)}] [{', '.join(steps)}] : {value.type} to {type}", type)


def slice_of(function, node, value, axis=0, start=None, end=None, step=1):
    type, axis = result(node), axis % len(value.type.shape)
    if type.shape == value.type.shape:
        return value
    place = place_of(function, node, start, value.type.shape[axis])
    return extracted(function, node, value, axis, place, type, step)


def select(function, node, value, axis, at):
    type, axis = result(node), axis % len(value.type.shape)
    shape = list(value.type.shape)
    shape[axis] = 1
    part = extracted(function, node, value, axis,
                     place_of(function, node, at, value.type.shape[axis]),
                     value.type.like(shape))
    return function.reshape(part, type.shape, node.name)


def split(function, node, value, sizes, axis=0):
    """Consecutive parts."""
    axis, place, parts = axis % len(value.type.shape), 0, []
    for one in node.meta["val"]:
        type = tensor_type(one, node.name)
        if not isinstance(type.shape[axis], int):
            raise Refused(f"'{node.name}': parts of unknown size")
        parts.append(extracted(function, node, value, axis, str(place), type))
        place += type.shape[axis]
    return parts


def slice_scatter(function, node, value, part, axis=0, start=None, end=None,
                  step=1):
    """`value` with `part` in a slice of it."""
    type, axis = result(node), axis % len(value.type.shape)
    if part.type.shape == type.shape:
        return part
    place = place_of(function, node, start, type.shape[axis])
    return inserted(function, node, part, value, axis, place, step)


def inserted(function, node, part, value, axis, place, step=1):
    rank = len(value.type.shape)
    offsets, steps = ["0"] * rank, ["1"] * rank
    offsets[axis], steps[axis] = place, str(step)
    sizes = [str(size) if isinstance(size, int) else function.size(part, at)
             for at, size in enumerate(part.type.shape)]
    return function.op(
        f"tensor.insert_slice {part.name} into {value.name}[{', '.join(offsets)}] "
        f"[{', '.join(sizes)}] [{', '.join(steps)}] : {part.type} into {value.type}",
        value.type)


def pad(function, node, value, sizes, number=0):
    """With a number around; sizes of the last dimension come first."""
    type, rank = result(node), len(value.type.shape)
    before = ["0"] * rank
    for at, size in enumerate(sizes[::2]):
        if isinstance(size, int) and size < 0 or isinstance(sizes[2 * at + 1], int) \
                and sizes[2 * at + 1] < 0:
            raise Refused(f"'{node.name}': padding by less than nothing")
        before[rank - 1 - at] = str(size) if isinstance(size, int) else \
            function.computed(size, node.name)
    whole = elementwise.filled(function, node, type, number)
    taken = [str(size) if isinstance(size, int) else function.size(value, at)
             for at, size in enumerate(value.type.shape)]
    return function.op(
        f"tensor.insert_slice {value.name} into {whole.name}[{', '.join(before)}] "
        f"[{', '.join(taken)}] [{', '.join(['1'] * rank)}] : {value.type} into "
        f"{type}", type)


def copy(function, node, value, source, *_):
    """`source` as the elements and in the shape of `value`."""
    type = result(node)
    source = elementwise.cast(function, source, type.element, node.name,
                              type.is_unsigned)
    return expand(function, node, source)


# Constants ------------------------------------------------------------------


def full(function, node, sizes, number, **_):
    return elementwise.filled(function, node, result(node), number)


def full_like(function, node, value, number, **_):
    return elementwise.filled(function, node, result(node), number)


def new_full(function, node, value, sizes, number, **_):
    return elementwise.filled(function, node, result(node), number)


def filled_with(number):
    def make(function, node, *_, **__):
        return elementwise.filled(function, node, result(node), number)
    return make


def scalar_tensor(function, node, number, **_):
    return elementwise.filled(function, node, result(node), number)


def arange(function, node, *bounds, **_):
    """Counts from the first number in steps of the third."""
    type = result(node)
    start, step = (0, 1) if len(bounds) < 2 else (bounds[0], (*bounds, 1)[2])
    if not isinstance(start, (int, float)) or not isinstance(step, (int, float)):
        raise Refused(f"'{node.name}': a range with unknown bounds")

    def body(names):
        make = elementwise.Body(function)
        at = make.op("linalg.index 0 : index", "index")
        count = make.op(f"arith.index_cast {at.name} : index to i64", "i64")
        wide = elementwise.F32 if elementwise.is_float(type.element) else "i64"
        value = make.convert(count, wide)
        kind = "f" if wide == elementwise.F32 else "i"
        value = make.binary(f"arith.mul{kind}", value, make.number(step, wide))
        value = make.binary(f"arith.add{kind}", value, make.number(start, wide))
        return make.convert(value, type.element).name
    return function.pointwise([], type, body, node.name)


def triangle(keeps):
    """Of the last two dimensions; zero elsewhere."""
    def make(function, node, value, diagonal=0):
        type = result(node)
        rank = len(type.shape)

        def body(names):
            make = elementwise.Body(function)
            row, column = (make.op(f"linalg.index {at} : index", "index")
                           for at in (rank - 2, rank - 1))
            offset = make.op(f"arith.constant {diagonal} : index", "index")
            last = make.binary("arith.addi", row, offset)
            is_kept = make.op(f"arith.cmpi {keeps}, {column.name}, {last.name} : "
                              "index", "i1")
            return make.choose(is_kept, elementwise.Scalar(names[0], type.element),
                               make.number(0, type.element)).name
        return function.pointwise([value], type, body, node.name)
    return make


# By place -------------------------------------------------------------------


def taken_rows(function, node, table, places, axis):
    """The parts of `table` along one dimension that integers name, each in place of
    its number. What names none gives NaN, or 0 of integers."""
    type, rank = result(node), len(table.type.shape)
    lead, count = axis, len(places.type.shape)
    dims = ", ".join(f"d{at}" for at in range(len(type.shape)))
    read = ", ".join(f"d{lead + at}" for at in range(count))
    maps = f"affine_map<({dims}) -> ({read})>, affine_map<({dims}) -> ({dims})>"
    empty, name = function.empty(type, node.name), function.fresh()
    size = function.size(table, axis)
    loops = ", ".join(['"parallel"'] * len(type.shape))
    function.line(
        f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
        f"[{loops}]}} ins({places.name} : {places.type}) outs({empty.name} : {type}) "
        "{")
    function.line(f"^bb0(%.place: {places.type.element}, %.before: {type.element}):")
    make = elementwise.Body(function)
    given = make.convert(elementwise.Scalar("%.place", places.type.element), "i64")
    at = make.op(f"arith.index_cast {given.name} : i64 to index", "index")
    end = elementwise.Scalar(size, "index")
    zero = make.op("arith.constant 0 : index", "index")
    # As other libraries count: from the end, if it is negative.
    is_back = make.op(f"arith.cmpi slt, {at.name}, {zero.name} : index", "i1")
    at = make.choose(is_back, make.binary("arith.addi", at, end), at)
    is_there = make.op(f"arith.cmpi ult, {at.name}, {end.name} : index", "i1")
    inside = make.choose(is_there, at, zero)
    where = [make.op(f"linalg.index {one if one < lead else one + count - 1} : index",
                     "index").name if one != axis else inside.name
             for one in range(rank)]
    found = make.op(f"tensor.extract {table.name}[{', '.join(where)}] : {table.type}",
                    type.element)
    none = make.number(float("nan") if elementwise.is_float(type.element) else 0,
                       type.element)
    found = make.choose(is_there, found, none)
    function.line(f"  linalg.yield {found.name} : {type.element}")
    function.line(f"}} -> {type}")
    return Value(name, type)


def checked_rows(function, node, table, places, axis):
    if places.type.element not in ("i32", "i64") or \
            elementwise.is_narrow(table.type.element):
        raise Refused(f"'{node.name}': rows of {table.type} by {places.type}; "
                      "integers of 32 and 64 bits choose among rows of f16 and more")
    if table.type.shape[axis] == 0:
        raise Refused(f"'{node.name}': {table.type} has no rows")
    return taken_rows(function, node, table, places, axis)


def embedding(function, node, table, places, *_, **__):
    return checked_rows(function, node, table, places, 0)


def index_select(function, node, table, axis, places):
    return checked_rows(function, node, table, places,
                        axis % len(table.type.shape))


def index(function, node, table, places):
    """One tensor of integers, in the place of a dimension."""
    given = [at for at, one in enumerate(places) if one is not None]
    if len(given) != 1 or places[given[0]].type.element == "i1":
        raise Refused(f"'{node.name}': {len(given)} tensors of places; one of "
                      "integers is taken")
    return checked_rows(function, node, table, places[given[0]], given[0])


def same(function, node, value, *_, **__):
    return value


def dropout(function, node, value, share, train):
    if train:
        raise Refused(f"'{node.name}': dropout in training; export in evaluation "
                      "mode (module.eval())")
    return value


TRANSPOSES = (transpose, transpose_matrix, permute)
VIEWS = ("view", "reshape", "_unsafe_view", "flatten.using_ints", "unsqueeze",
         "squeeze.dim", "squeeze.dims", "squeeze", "unflatten.int")
SAME = ("clone", "alias", "detach", "contiguous", "lift_fresh_copy",
        "lift_fresh")

BUILDERS = {
    **{"aten." + (name if "." in name else name + ".default"): view
       for name in VIEWS},
    **{f"aten.{name}.default": same for name in SAME},
    "aten.dropout.default": dropout,
    "aten.t.default": transpose_matrix,
    "aten.transpose.int": transpose,
    "aten.permute.default": permute,
    "aten.expand.default": expand,
    "aten.expand_as.default": expand,
    "aten.cat.default": cat,
    "aten.slice.Tensor": slice_of,
    "aten.narrow.default": slice_of,
    "aten.select.int": select,
    "aten.split_with_sizes.default": split,
    "aten.split.Tensor": split,
    "aten.chunk.default": split,
    "aten.slice_scatter.default": slice_scatter,
    "aten.constant_pad_nd.default": pad,
    "aten.copy.default": copy,
    "aten.full.default": full,
    "aten.full_like.default": full_like,
    "aten.new_full.default": new_full,
    "aten.scalar_tensor.default": scalar_tensor,
    **{f"aten.{name}.default": filled_with(number)
       for name, number in (("zeros", 0), ("zeros_like", 0), ("new_zeros", 0),
                            ("ones", 1), ("ones_like", 1), ("new_ones", 1))},
    **{f"aten.arange.{name}": arange for name in ("default", "start", "start_step")},
    "aten.tril.default": triangle("sle"),
    "aten.triu.default": triangle("sge"),
    "aten.embedding.default": embedding,
    "aten.index_select.default": index_select,
    "aten.index.Tensor": index,
}
