# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a planned kernel reads and writes, as bytes in the host's memory."""

import json
import math

import ml_dtypes
import numpy as np

from . import _core
from . import _groups as groups
from ._arrays import numbers
from ._checks import real, whole
from ._errors import InternalError, Refused
from ._formats import FNUZ, ZEROS
from ._scaled import BY_GROUP, GROUPED

# Types of C, the bias and D in plans.
TYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
         "bf16": np.dtype(ml_dtypes.bfloat16), "i32": np.dtype(np.int32)}


def of(entries, operand):
    """The entry of a plan's list that is of an operand, or None."""
    return next((one for one in entries if one["operand"] == operand), None)


def check_format(name, operand, wanted):
    """Refuses another format than the kernel reads."""
    if operand.format.without_subtiles() != wanted.format.without_subtiles():
        raise Refused(f"'{name}' is in format '{operand.format}': the kernel "
                      f"reads '{wanted.format}'")


def check_layout(name, operand, layout):
    """Refuses another layout of scales than the kernel reads, or a host gives."""
    if (operand.layout == BY_GROUP) != (layout == BY_GROUP):
        raise Refused(f"the scales of '{name}' are in layout '{operand.layout}': the "
                      f"kernel reads '{layout}'")
    if operand.scales is not None and not operand.format.by_epilogue and \
            operand.layout != layout:
        raise Refused(f"the scales of '{name}' are in layout "
                      f"'{operand.layout}': the kernel reads '{layout}';"
                      f" convert them with .to('{layout}')")


def check_scale_block(name, operand, wanted):
    """Refuses memory that has scales for other blocks along K than the kernel reads,
    where that is known."""
    if operand.scale_block and operand.scale_block != wanted.scale_block:
        raise Refused(f"the memory of '{name}' has a scale for each "
                      f"{operand.scale_block} elements along K: the kernel reads one "
                      f"for each {wanted.scale_block}, as `upload` packs them")


def is_grouped(planned):
    """Whether a kernel multiplies groups of rows."""
    return of(planned["operands"], "offsets") is not None


def is_along_k(planned):
    """Whether a kernel multiplies groups along K."""
    return of(planned["operands"], "k_offsets") is not None


def layout_of_factors(planned, vector):
    """The layout of scales that the epilogue reads: those of each group along K are
    apart, but for one that all groups share."""
    is_by_group = is_along_k(planned) and vector["elements"] != vector["matrixElements"]
    return BY_GROUP if is_by_group else "plain"


def is_masked(planned):
    """Whether a kernel reads how many rows of each matrix of 'a' are there."""
    return of(planned["operands"], "row_counts") is not None


def is_gathered(planned):
    """Whether a kernel gathers the rows of groups by number."""
    return of(planned["operands"], "row_numbers") is not None


def rows_size(planned, name):
    """The size that counts the rows of operand "a" or "b"."""
    return "N" if name == "b" else "tokens" if is_gathered(planned) else "M"


def ends_role(planned):
    """The role of the ends of groups, or of counts of rows; None without."""
    return next((role for role in ("offsets", "k_offsets", "row_counts")
                 if of(planned["operands"], role) is not None), None)


def checked_ends(planned, ends, sizes):
    """Ends of groups, or counts of rows, as the kernel reads them."""
    if is_masked(planned):
        return groups.checked_counts(ends, sizes["batch"], sizes["M"])
    if not is_along_k(planned):
        return groups.checked(ends, sizes["batch"], sizes["M"])
    return groups.checked_along_k(ends, sizes["batch"], sizes["K"],
                                  step_along_k(planned))


def step_along_k(planned):
    """What groups along K end at multiples of."""
    def of_inputs(kind):
        return (one for one in planned.get(kind, ()) if one["operand"] != "d")

    multiples = [max(256 // one["bits"], one["elementMultiple"])
                 for one in of_inputs("data")]
    multiples += [one.get("elements", one["block"]) for one in of_inputs("scales")]
    multiples += [one["block"] for one in of_inputs("vectorScales") if one.get("block")]
    return math.lcm(*multiples)


def checked_numbers(planned, ends, rows, sizes):
    """Ends of groups and numbers of rows as the kernel reads them, where there are
    any, and their memory by role."""
    memory = {}
    if ends is not None:
        ends = checked_ends(planned, ends, sizes)
        memory[ends_role(planned)] = ends.view(np.uint8)
    if rows is not None:
        rows = groups.checked_rows(rows)
        memory["row_numbers"] = rows.view(np.uint8)
    return ends, rows, memory


def check_ends(planned, ends, rows=None):
    """Refuses ends where there are no groups, and groups without; likewise numbers of
    rows."""
    if rows is not None and not is_gathered(planned):
        raise Refused("the kernel takes no 'rows'")
    if rows is None and is_gathered(planned):
        raise Refused(f"kernel '{planned['name']}' gathers rows and needs 'rows', the "
                      "row of 'a' that each row of D is of")
    if (ends is not None) == (ends_role(planned) is not None):
        return
    if ends is not None:
        raise Refused("the kernel takes no 'ends'")
    what = ("groups along K and needs 'ends', the element of K behind each group"
            if is_along_k(planned) else
            "the rows that are there and needs 'ends', how many of each matrix of 'a'"
            if is_masked(planned) else
            "groups of rows and needs 'ends', the row behind each group")
    raise Refused(f"kernel '{planned['name']}' multiplies {what}")


def check_sizes(planned, a, b, ends=None, rows=None):
    """The sizes of a launch with these operands, ends of groups and numbers of rows."""
    along_k = is_along_k(planned)
    if along_k:
        if a.k != b.k or (len(a.shape), len(b.shape)) != (2, 2):
            raise Refused(f"'a' is {'x'.join(map(str, a.shape))} and 'b' "
                          f"{'x'.join(map(str, b.shape))}: expected two matrices with "
                          "the K of all groups, the last size")
    elif is_grouped(planned):
        if a.k != b.k or (len(a.shape), len(b.shape)) != (2, 3):
            raise Refused(f"'a' is {'x'.join(map(str, a.shape))} and 'b' "
                          f"{'x'.join(map(str, b.shape))}: expected the rows of all "
                          "groups, and a matrix for each with the same K, the last size")
    elif a.k != b.k or a.batch != b.batch or len(a.shape) != len(b.shape):
        raise Refused(f"'a' is {'x'.join(map(str, a.shape))} and 'b' "
                      f"{'x'.join(map(str, b.shape))}: expected the same K, the "
                      "last size, and the same batch")
    sizes = {"M": a.rows, "N": b.rows, "K": a.k, "batch": b.batch}
    if rows is not None:
        sizes.update(M=int(np.prod(np.shape(rows))), tokens=a.rows)
    if along_k:
        sizes["batch"] = int(np.prod(np.shape(ends)))
        fixed = next(one["value"] for one in planned["sizes"]
                     if one["name"] == "batch")
        sizes["batch"] = sizes["batch"] if fixed is None else fixed
    for one in planned["sizes"]:
        if one["value"] not in (None, sizes[one["name"]]):
            raise Refused(f"{one['name']} is {sizes[one['name']]}: the kernel "
                          f"is for {one['value']}")
    return sizes


def most_rows(planned):
    """How many rows of A a launch may have."""
    return next(one["maximum"] for one in planned["sizes"]
                if one["name"] == "M")


def dynamic(planned, sizes):
    """Those of the sizes that a launch says."""
    return {one["name"]: sizes[one["name"]] for one in planned["sizes"]
            if one["value"] is None}


def describe(launch):
    """What a host needs for a launch, and its parameters by role."""
    description = json.loads(launch.describe())
    return description, {one["role"]: one for one in description["parameters"]}


def zero_of(planned, data):
    """The type of the zero points that the host subtracts or makes terms of, or that the
    kernel reads, None without."""
    terms = of(planned.get("zeroTerms", ()), data["operand"])
    if terms is not None:
        return terms["format"]
    read = of(planned["operands"], data["operand"] + "_zeros")
    if read is not None:
        return read["type"].replace("i", "int")
    zeros = data.get("source", {}).get("zeros")
    if zeros is None:
        return None
    name = f"int{zeros['bits']}"
    if name not in ZEROS:
        raise Refused(f"zero points of {name}: there are {', '.join(ZEROS)} here")
    return name


def terms(planned, name, operand):
    """Numbers that the epilogue of a kernel multiplies for zero points in real units, a
    row of them for each term: those of this operand itself, and sums of its elements
    over tiles of the other one's."""
    lines = []
    for one in planned["zeroTerms"]:
        block = one["block"] or operand.k
        if one["operand"] == name:
            rows = np.repeat(operand.zeros, one["rows"] or operand.rows,
                             axis=-2)[..., :operand.rows, :]
            lines.append(np.moveaxis(rows, -1, -2).astype(np.float32))
            continue
        # Those for zero points of `b` are of `a` without its own.
        values = operand._exact(less_zeros=name == "b")
        # What is stored has a bias of one less; the kernel multiplies by 1/2.
        if operand.format.element in FNUZ and of(planned["data"], name)["bits"] == 8:
            values *= 2
        starts = np.arange(0, operand.k, block)
        lines.append(np.moveaxis(np.add.reduceat(values, starts, axis=-1), -1,
                                 -2).astype(np.float32))
    return np.ascontiguousarray(np.concatenate(lines, axis=-2))


def check_groups(name, operand, size):
    """Refuses scales of other groups along K than there are; `size` are the bytes of
    all."""
    if operand.layout == BY_GROUP and operand.scales.nbytes != size:
        groups = len(operand.scales)
        raise Refused(f"'{name}' has scales of {groups} groups along K: the launch has "
                      f"{size * groups // operand.scales.nbytes}")


def parts(planned, name, operand, parameters, ends=None, rows=None):
    """The memory of operand "a" or "b": bytes by role. ends: of groups, where scales
    lie by them; rows: numbers of rows, where they are gathered."""
    data = of(planned["data"], name)
    role = name + "_data"
    source = data.get("source")
    translated = source and (data["bits"], source["codes"])
    memory = {role: operand.packed(parameters[role]["linePitch"],
                                   data["order"], translated)}
    metadata = of(planned["metadata"], name)
    if metadata is not None:
        memory[name + "_metadata"] = operand.compressed(
            metadata["paddingValue"])[1]
    scales = of(planned["scales"], name)
    if scales is not None and scales["layout"] == GROUPED:
        if ends is None or is_gathered(planned) and rows is None:
            what = "'ends' and 'rows'" if is_gathered(planned) else "'ends'"
            raise Refused(f"the scales of '{name}' lie by groups: {what} are needed on "
                          "the host")
        size = parameters[name + "_scales"]["bytes"]
        memory[name + "_scales"] = \
            groups.scales_along_k(operand, ends, scales["block"], size) \
            if is_along_k(planned) else \
            groups.scales(operand, ends, scales["block"], size, rows)
    elif scales is not None:
        memory[name + "_scales"] = operand.repeated(scales["block"])
    elif operand.scales is not None:
        memory[name + "_scales"] = operand.scales.reshape(-1).view(np.uint8)
        check_groups(name, operand, parameters[name + "_scales"]["bytes"])
    if of(planned["operands"], name + "_zeros") is not None:
        memory[name + "_zeros"] = operand.zeros.reshape(-1).view(np.uint8)
    if operand.tensor_scale is not None:
        memory[name + "_tensor_scale"] = operand.tensor_scale.view(np.uint8)
    if planned.get("zeroTerms"):
        memory[name + "_terms"] = terms(planned, name,
                                        operand).reshape(-1).view(np.uint8)
    for one, content in memory.items():
        if content.nbytes != parameters[one]["bytes"]:
            raise InternalError(f"'{one}' has {content.nbytes} bytes, the plan "
                                f"says {parameters[one]['bytes']}")
    return memory


def plain(planned, name, values, sizes):
    """C or the bias as the kernel reads it; None where it reads none."""
    wanted = of(planned["operands"], name)
    if wanted is None:
        if values is not None:
            raise Refused(f"the kernel takes no '{name}'")
        return None
    if values is None:
        raise Refused(f"the kernel needs '{name}'")
    shape = shape_of(planned, name, sizes)
    try:
        values = numbers(values, TYPES[wanted["type"]])
    except Refused as error:
        raise Refused(f"'{name}': {error}") from error
    if values.shape not in (shape, shape[1:] if shape[0] == 1 else shape):
        raise Refused(f"'{name}' of shape {values.shape}: expected {shape}")
    return values.reshape(-1).view(np.uint8)


def shape_of(planned, name, sizes):
    """Of D, C (with the batch in front) or the bias. Of groups of rows there is one D
    and one C, and a bias for each, unless it is one for each row; of groups along K, and
    of matrices that have counts of rows, one of each for each."""
    one_of_all = is_grouped(planned)
    if name != "bias":
        return (1 if one_of_all else sizes["batch"], sizes["M"],
                sizes["N"] // sums_of_element(planned))
    along = planned["epilogue"]["bias"]
    if one_of_all and along == "column" or is_along_k(planned) or is_masked(planned):
        return (sizes["batch"], sizes["N"])
    return (sizes["M" if along == "row" else "N"],)


def sums_of_element(planned):
    """Columns of the product that make one of D: 2 where gate and up are pairs."""
    return 2 if planned["epilogue"].get("pairs") else 1


def quantizes(planned):
    """Whether the result of a kernel is quantised."""
    return "quantization" in planned


def tensor_scales(planned, given, sizes):
    """The tensor scales of a quantised result as the kernel reads them; None where it
    reads none."""
    if of(planned["operands"], "tensor_scale") is None:
        if given is not None:
            raise Refused("the kernel takes no 'tensor_scale'")
        return None
    if given is None:
        raise Refused("the kernel needs 'tensor_scale', one for each matrix")
    factors = numbers(given).reshape(-1)
    matrices = shape_of(planned, "d", sizes)[0]
    if factors.size != matrices:
        raise Refused(f"{factors.size} tensor scales: expected {matrices}, "
                      "one for each matrix")
    return factors


def check_factors(planned, given):
    """Factors that the kernel has as parameters, those that are not given 1."""
    roles = [one["role"] for one in planned["parameters"]]
    for name, value in given.items():
        if value is not None and name not in roles:
            raise Refused(f"the kernel takes no '{name}'")
    return {name: 1.0 if value is None else real(name, value)
            for name, value in given.items() if name in roles}


def new_launch(kernel, planned, sizes, **limits):
    """A launch of the C library with its sizes set."""
    launch = _core.Launch(kernel.ptx, kernel.plan_text, planned["name"])
    for name, value in {**dynamic(planned, sizes), **limits}.items():
        if value is not None:
            launch.set_size(name, whole(name, value, 1))
    return launch


def shape_for(planned, shape, a):
    """`shape` of D without its batch where `a` has none, nor groups along K."""
    return shape if len(a.shape) == 3 or is_along_k(planned) else shape[1:]
