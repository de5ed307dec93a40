# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that prune, compress, densify or move scales read and write, in the
host's memory."""

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
        rows = 1 if "layout" in scales else scales["rows"]
        wanted = (scales["format"], scales["block"], rows, layout)
        found = (a.format.scale, a.format.block, a.format.rows, a.layout)
        is_sparse = op_of(planned) != "relayout"
        if found != wanted or (a.format.sparsity and not is_sparse):
            raise Refused(f"'a' is in format '{a.format}' and layout '{a.layout}': the "
                          f"kernel moves scales of {wanted[0]}, one for {wanted[1]} "
                          f"elements along K, from layout '{wanted[3]}'")
        if not is_sparse:
            return
    element = operands.of(planned["data"], "a")["format"]
    metadata = operands.of(planned["metadata"], "a")
    pattern = metadata and metadata["pattern"]
    if (a.format.element, a.format.sparsity) != (element, pattern):
        what = f"'{pattern}' in" if pattern else "dense"
        raise Refused(f"'a' is in format '{a.format}': the kernel reads {what} elements "
                      f"of {element}")


def format_of(planned, a):
    """Format and layout of the result of a quantised operand."""
    op = op_of(planned)
    if op == "relayout":
        return a.format, operands.of(planned["scales"], "d")["layout"]
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
        return {"a_scales": a.scales.reshape(-1).view(np.uint8)}
    memory = {"a_data": a.packed(parameters["a_data"]["linePitch"])}
    if op == "densify":
        memory["a_metadata"] = a.compressed(planned["metadata"][0]["paddingValue"])[1]
    if scales_of(planned, "a"):
        memory["a_scales"] = a.scales.reshape(-1).view(np.uint8)
    return memory


def dense_of(stored, metadata, shape, pattern):
    """Elements with the zeros that were dropped, of those that are stored."""
    _, group, _, unit = PATTERNS[pattern]
    *batch, rows, k = shape
    tiles = metadata.reshape(*batch, -1, -(-rows // TILE[0]), *TILE)
    plain = np.moveaxis(tiles, -4, -2).reshape(*batch, -1, tiles.shape[-4] * TILE[1])
    plain = plain[..., :rows, :k // (2 * group)]
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
    format_, layout = format_of(planned, a)
    if op_of(planned) == "relayout":
        scales = memory["d_scales"]
        if layout == "plain":
            scales = scales.view(format_.scale_dtype).reshape(*a.shape[:-1], -1)
        return Scaled(a.data, scales, a.tensor_scale, format=format_, layout=layout)
    stored = (*a.shape[:-1], a.k // 2 if format_.sparsity else a.k)
    data = codes_of(memory["d_data"], parameters["d_data"]["linePitch"], stored, format_)
    if format_.sparsity:
        data = dense_of(data, memory["d_metadata"], a.shape, format_.sparsity)
    scales = memory.get("d_scales", a.scales)
    if planned.get("vectorScales"):
        scales = scales.view(format_.scale_dtype).reshape(
            *a.shape[:-2], a.scale_rows, -1)
    return Scaled(data, scales, a.tensor_scale, format=format_, layout=layout)


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
