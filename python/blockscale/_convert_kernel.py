# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that prune, compress, densify or change layouts and orders read and write,
in the host's memory."""

from dataclasses import replace

import numpy as np

from . import _operands as operands
from ._errors import Refused
from ._formats import PATTERNS
from ._quantize_kernel import sizes_of, type_of, values_of
from ._quantized_result import codes_of
from ._scaled import Scaled

# Rows and bytes of a tile of metadata.
TILE = (128, 16)


def planned_of(kernel, name):
    return kernel._planned(name, ("converts",))


def op_of(planned):
    return planned["conversion"]["op"]


def prunes(planned):
    return op_of(planned) == "prune"


def relays(planned):
    return op_of(planned) == "relayout"


def layout_of(planned, operand, otherwise):
    """The layout of the scales and metadata that the kernel moves; `otherwise` where it
    moves neither."""
    scales = operands.of(planned["scales"], operand)
    if scales:
        return scales["layout"]
    metadata = operands.of(planned["metadata"], operand)
    if metadata:
        return "plain" if metadata["layout"] == "plain" else "tiled_128x4"
    return otherwise


def scales_of(planned, operand):
    """What the plan says of scales that the kernel moves or repeats; None without."""
    return operands.of(planned["scales"], operand) or \
        operands.of(planned.get("vectorScales", ()), operand)


def check(planned, a):
    """Refuses a quantised operand, of the host or a device, that the kernel is not
    for."""
    if not hasattr(a, "format"):
        raise Refused(f"'a' is a {type(a).__name__}: expected a blockscale.Scaled or a "
                      "blockscale.DeviceScaled")
    scales = scales_of(planned, "a")
    if scales:
        # Those that no instruction reads lie row by row, whatever metadata do.
        layout = scales.get("layout", a.layout)
        rows = scales.get("rows", 1)
        wanted = (scales["format"], scales["block"], rows, layout)
        found = (a.format.scale, a.format.block, a.format.rows, a.layout)
        if found != wanted:
            raise Refused(f"'a' is in format '{a.format}' and layout '{a.layout}': the "
                          f"kernel moves scales of {wanted[0]}, one for {wanted[1]} "
                          f"elements along K, from layout '{wanted[3]}'")
    if relays(planned):
        return check_moved(planned, a)
    element = operands.of(planned["data"], "a")["format"]
    metadata = operands.of(planned["metadata"], "a")
    pattern = metadata and metadata["pattern"]
    if (a.format.element, a.format.sparsity) != (element, pattern):
        what = f"'{pattern}' in" if pattern else "dense"
        raise Refused(f"'a' is in format '{a.format}': the kernel reads {what} elements "
                      f"of {element}")
    if planned["metadata"][0]["layout"] == "plain" and a.layout != "plain":
        raise Refused(f"'a' is in layout '{a.layout}': the kernel has metadata in layout "
                      "'plain'")


def check_moved(planned, a):
    """The same of metadata and elements that a kernel moves."""
    if operands.of(planned["operands"], "a_zeros"):
        raise Refused(f"kernel '{planned['name']}' moves zero points with their scales: "
                      "a blockscale.Scaled has those that no instruction reads beside "
                      "each other in layout 'plain' alone")
    layout = layout_of(planned, "a", a.layout)
    data, metadata = (operands.of(planned[one], "a") for one in ("data", "metadata"))
    element = data["format"] if data else a.format.element
    is_sparse = planned["conversion"].get("sparse", False)
    pattern = metadata["pattern"] if metadata else is_sparse and "2:4"
    found = a.format.sparsity or False
    if (a.layout, a.format.element, found) != (layout, element, pattern):
        what = f"'{pattern}' in" if pattern else "dense"
        raise Refused(f"'a' is in format '{a.format}' and layout '{a.layout}': the kernel "
                      f"moves {what} elements of {element} from layout '{layout}'")


def format_of(planned, a):
    """Format and layout of the result of a quantised operand."""
    op = op_of(planned)
    if op == "relayout":
        return a.format, layout_of(planned, "d", a.layout)
    pattern = planned["metadata"][0]["pattern"] if op == "compress" else None
    # Scales that are repeated are for shorter tiles.
    scales = scales_of(planned, "d")
    block = scales["block"] if scales else a.format.block
    return replace(a.format, sparsity=pattern, block=block), a.layout


def scale_block_of(planned, a):
    """Elements along K that the memory of the result has a scale for, if known."""
    scales = scales_of(planned, "d")
    return scales["block"] if scales else a.scale_block


def written(planned):
    """The parameters that the kernel writes."""
    return [one["role"] for one in planned["parameters"] if one["operand"] == "d"]


def memory_of(planned, a, parameters):
    """What the kernel reads: bytes by role."""
    op = op_of(planned)
    if op == "prune":
        return {"x": a.reshape(-1).view(np.uint8)}
    if op == "relayout":
        return moved_memory(planned, a, parameters)
    memory = {"a_data": a.packed(parameters["a_data"]["linePitch"])}
    if op == "densify":
        memory["a_metadata"] = metadata_of(planned, a)
    if scales_of(planned, "a"):
        memory["a_scales"] = a.scales.reshape(-1).view(np.uint8)
    return memory


def rows_of(metadata, shape, pattern):
    """Metadata in tiles, row by row."""
    *batch, rows, k = shape
    tiles = metadata.reshape(*batch, -1, -(-rows // TILE[0]), *TILE)
    plain = np.moveaxis(tiles, -4, -2).reshape(*batch, -1, tiles.shape[-4] * TILE[1])
    return plain[..., :rows, :-(-k // (2 * PATTERNS[pattern][1]))]


def metadata_of(planned, a):
    """Metadata of what the kernel reads, in its layout."""
    metadata = operands.of(planned["metadata"], "a")
    packed = a.compressed(metadata["paddingValue"])[1]
    if metadata["layout"] == "plain":
        packed = rows_of(packed, a.shape, a.format.sparsity)
    return np.ascontiguousarray(packed).reshape(-1)


def moved_memory(planned, a, parameters):
    """What a kernel reads that moves parts: bytes by role."""
    memory = {}
    if data := operands.of(planned["data"], "a"):
        memory["a_data"] = a.packed(parameters["a_data"]["linePitch"], data["order"])
    if operands.of(planned["metadata"], "a"):
        memory["a_metadata"] = metadata_of(planned, a)
    if operands.of(planned["scales"], "a"):
        memory["a_scales"] = a.scales.reshape(-1).view(np.uint8)
    return memory


def dense_of(stored, plain, shape, pattern):
    """Elements with the zeros that were dropped, of those that are stored and of their
    metadata row by row."""
    _, group, _, unit = PATTERNS[pattern]
    *batch, rows, k = shape
    nibbles = np.stack([plain & 15, plain >> 4], -1).reshape(*batch, rows, -1)
    if pattern == "1:2":
        places = (nibbles == 0b1110)[..., None]
    else:
        places = np.stack([nibbles & 3, nibbles >> 2], -1)
    result = np.zeros((*nibbles.shape, group // unit, unit), stored.dtype)
    units = stored.reshape(*nibbles.shape, -1, unit)
    whole = f"u{stored.dtype.itemsize}"
    np.put_along_axis(result.view(whole),
                      places.astype(np.int64)[..., None].repeat(unit, -1),
                      units.view(whole), axis=-2)
    return result.reshape(shape)


def result_of(planned, a, memory, parameters):
    """What the kernel wrote, of bytes by role, with what it left as it was."""
    if prunes(planned):
        return memory["d"].view(type_of(planned, "d")).reshape(a.shape)
    if relays(planned):
        return moved_result(planned, a, memory, parameters)
    format_, layout = format_of(planned, a)
    stored = (*a.shape[:-1], a.k // 2 if format_.sparsity else a.k)
    data = codes_of(memory["d_data"], parameters["d_data"]["linePitch"], stored, format_)
    if format_.sparsity:
        plain = memory["d_metadata"]
        if planned["metadata"][0]["layout"] != "plain":
            plain = rows_of(plain, a.shape, format_.sparsity)
        plain = plain.reshape(*a.shape[:-1], -1)
        data = dense_of(data, plain, a.shape, format_.sparsity)
    scales = memory.get("d_scales", a.scales)
    if planned.get("vectorScales"):
        scales = scales.view(format_.scale_dtype).reshape(
            *a.shape[:-2], a.scale_rows, -1)
    return Scaled(data, scales, a.tensor_scale, format=format_, layout=layout)


def moved_result(planned, a, memory, parameters):
    """The same of a kernel that moves parts."""
    format_, layout = format_of(planned, a)
    scales = memory.get("d_scales", a.scales)
    if "d_scales" in memory and layout == "plain":
        scales = scales.view(format_.scale_dtype).reshape(
            *a.shape[:-2], a.scale_rows, -1)
    data = stored_of(planned, a, memory, parameters)
    if format_.sparsity:
        plain = memory.get("d_metadata")
        if plain is None or layout != "plain":
            plain = rows_of(a.compressed()[1] if plain is None else plain, a.shape,
                            format_.sparsity)
        plain = plain.reshape(*a.shape[:-1], -1)
        data = dense_of(data, plain, a.shape, format_.sparsity)
    return Scaled(data, scales, a.tensor_scale, format=format_, layout=layout,
                  zeros=a.zeros)


def stored_of(planned, a, memory, parameters):
    """The elements that are stored, which may have moved."""
    shape = (*a.shape[:-1], a.k // 2 if a.format.sparsity else a.k)
    if "d_data" not in memory:
        return a.compressed()[0].view(a.format.dtype).reshape(shape) \
            if a.format.sparsity else a.data
    is_along_k = operands.of(planned["data"], "d")["order"] == "k_major"
    lines = shape if is_along_k else (*shape[:-2], shape[-1], shape[-2])
    codes = codes_of(memory["d_data"], parameters["d_data"]["linePitch"], lines,
                     a.format)
    return codes if is_along_k else np.ascontiguousarray(codes.swapaxes(-1, -2))


def checked(planned, a):
    """The operand as the kernel reads it, and the sizes of a launch."""
    if prunes(planned):
        a = values_of(planned, a)
    else:
        check(planned, a)
    return a, sizes_of(planned, a.shape)


def emulate(kernel, a, name, num_sms, progress, options):
    """See Kernel.emulate_convert."""
    from ._emulate import run
    planned = planned_of(kernel, name)
    a, sizes = checked(planned, a)
    launch = operands.new_launch(kernel, planned, sizes, num_sms=num_sms)
    _, parameters = operands.describe(launch)
    for role, content in memory_of(planned, a, parameters).items():
        launch.set_memory(role, content, False)
    memory = {role: np.zeros(parameters[role]["bytes"], np.uint8)
              for role in written(planned)}
    for role, content in memory.items():
        launch.set_memory(role, content, True)
    run(launch, progress=progress, **options)
    return result_of(planned, a, memory, parameters)
