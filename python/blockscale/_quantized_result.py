# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Results that kernels quantise: what they read, or their product."""

from dataclasses import replace

import numpy as np

from . import _groups as groups
from . import _operands as operands
from ._device import DeviceArray
from ._device_scaled import DeviceScaled
from ._errors import Refused
from ._scaled import GROUPED, Scaled


def results(planned):
    """The results of a kernel that quantises: of a matrix, and of its transpose."""
    both = "transposedQuantization" in planned
    return ("d", "transposed") if both else ("d",)


def together(parts):
    """One result, or a tuple of two."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else parts


def shape_of(planned, sizes, operand="d"):
    """Of a result, the batch in front, of a kernel that only quantises as of one that
    multiplies."""
    if operand == "transposed":
        return (sizes["batch"], sizes["K"], sizes["M"])
    if operands.of(planned["data"], "a"):
        return operands.shape_of(planned, "d", sizes)
    return (sizes["batch"], sizes["M"], sizes["K"])


def roles(planned, operand="d"):
    """The parts of a result that a kernel writes."""
    return [one["role"] for one in planned["parameters"]
            if one["role"].startswith(operand + "_")]


def is_by_groups(planned):
    """Whether the scales of the result lie by groups, which only their ends tell."""
    scales = operands.of(planned["scales"], "d")
    return scales is not None and scales["layout"] == GROUPED


def codes_of(memory, pitch, shape, format_):
    """Elements of lines of `pitch` bytes, in the format's type."""
    lines = memory.reshape(int(np.prod(shape[:-1])), pitch)
    if format_.bits >= 8:
        size = format_.bits // 8
        codes = np.ascontiguousarray(lines[:, :shape[-1] * size])
        return codes.view(format_.dtype).reshape(shape)
    bits = np.unpackbits(lines, axis=1, bitorder="little",
                         count=shape[-1] * format_.bits)
    codes = np.packbits(bits.reshape(*shape, format_.bits), axis=-1, bitorder="little")
    return codes.reshape(shape).view(format_.dtype)


def scaled_of(argument, memory, parameters, shape, ends=None):
    """A Scaled of the parts that a kernel wrote: bytes by role. ends: of groups of
    rows, whose scales it has row by row."""
    format_ = argument.format
    role = argument.name + "_data"
    codes = codes_of(memory[role], parameters[role]["linePitch"], shape, format_)
    factors = memory.get(argument.name + "_tensor_scale")
    factors = None if factors is None else factors.view(np.float32)
    scales = memory[argument.name + "_scales"]
    if argument.layout == GROUPED:
        plain = groups.plain_scales(codes, scales, factors, format_, ends)
        return Scaled(codes, plain, factors, format=format_)
    if format_.by_epilogue:
        rows = -(-shape[-2] // (format_.rows or shape[-2]))
        columns = -(-shape[-1] // (format_.block or shape[-1]))
        scales = scales.view(format_.scale_dtype).reshape(*shape[:-2], rows, columns)
        return Scaled(codes, scales, format=format_, layout=argument.layout)
    block = argument.scale_block
    by_row = Scaled(codes, scales, factors,
                    format=replace(format_, rows=1, block=block),
                    layout=argument.layout)
    if by_row.format == format_:
        return by_row
    # Kernels repeat a scale for each of its rows and blocks.
    once = by_row.to("plain").scales[..., ::format_.rows, ::format_.block // block]
    return Scaled(by_row.data, once, by_row.tensor_scale,
                  format=format_).to(argument.layout)


def set_tensor_scale(bound, value, stream):
    """Points the parameter of a `Bound`, if there is one, to tensor scales."""
    if (value is not None) != ("tensor_scale" in bound._slots):
        raise Refused("the kernel takes no 'tensor_scale'"
                      if value is not None else
                      "the kernel needs 'tensor_scale', one for each matrix")
    if value is not None:
        bound._set_memory("tensor_scale", value, stream)


def outs_of(bound, out):
    """`out` by the results that it is for."""
    names = results(bound._planned)
    outs = (out,) if len(names) == 1 else out
    if not isinstance(outs, tuple) or len(outs) != len(names):
        raise Refused(f"'out' is a {type(out).__name__}: expected a tuple of "
                      f"{len(names)}, of the matrix and of its transpose; empty_out "
                      "makes one")
    return dict(zip(names, outs))


def set_out(bound, out, stream):
    """Points the parameters of a `Bound` to the memory of its result."""
    outs = outs_of(bound, out)
    for operand, one in outs.items():
        check_out(bound, one, operand)
    for operand, one in outs.items():
        for suffix, part in one.parts().items():
            bound._set_memory(operand + suffix, part, stream, writes=True)


def check_out(bound, out, operand):
    if not isinstance(out, DeviceScaled):
        raise Refused(f"'out' is a {type(out).__name__}: expected a "
                      "blockscale.DeviceScaled; empty_out makes one")
    wanted = bound.kernel.arg(operand, bound.name)
    if out.format != wanted.format or out.layout != wanted.layout:
        raise Refused(f"'out' is in format '{out.format}' and layout "
                      f"'{out.layout}': the kernel writes '{wanted.format}' "
                      f"and '{wanted.layout}'")
    if (out.batch, out.rows, out.k) != shape_of(bound._planned, bound.sizes, operand):
        raise Refused(f"'out' is {'x'.join(map(str, out.shape))}: the launch "
                      f"was prepared for {bound.sizes}")


def empty(bound, shape=None):
    """Memory for the result of a `Bound`, packed as its kernel writes it; without
    `shape` of one matrix without the batch."""

    def one(operand):
        extent = shape_of(bound._planned, bound.sizes, operand)
        flat = len(shape) == 2 if shape is not None else extent[0] == 1
        argument = bound.kernel.arg(operand, bound.name)
        parts = {role.removeprefix(operand + "_"): DeviceArray(
            (bound._slots[role].bytes,), np.uint8, bound.device.ordinal)
            for role in roles(bound._planned, operand)}
        return DeviceScaled(shape=extent[1:] if flat else extent,
                            format=argument.format, layout=argument.layout,
                            scale_block=argument.scale_block, **parts)

    return together(one(operand) for operand in results(bound._planned))


def to_host(bound, result, ends=None):
    """What a kernel has written as a Scaled; its memory is freed. ends: of groups of
    rows, on the host."""

    def one(operand, written):
        memory = {operand + suffix: part.numpy()
                  for suffix, part in written.parts().items()}
        written.free()
        return scaled_of(bound.kernel.arg(operand, bound.name), memory,
                         bound._parameters, written.shape, ends)

    return together(one(*each) for each in outs_of(bound, result).items())
