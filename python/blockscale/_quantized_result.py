# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Results that kernels quantise: what they read, or their product."""

from dataclasses import replace

import numpy as np

from . import _operands as operands
from ._device import DeviceArray
from ._device_scaled import DeviceScaled
from ._errors import Refused
from ._scaled import Scaled


def extents(planned):
    """The names of the sizes of the result."""
    return ("batch", "M", "N" if operands.of(planned["data"], "a") else "K")


def roles(planned):
    """The parts of the result that a kernel writes."""
    return [one["role"] for one in planned["parameters"]
            if one["role"].startswith("d_")]


def scaled_of(argument, memory, parameters, shape):
    """A Scaled of the parts that a kernel wrote: bytes by role."""
    format_ = argument.format
    rows = int(np.prod(shape[:-1]))
    lines = memory["d_data"].reshape(rows, parameters["d_data"]["linePitch"])
    bits = np.unpackbits(lines, axis=1, bitorder="little",
                         count=shape[-1] * format_.bits)
    codes = np.packbits(bits.reshape(*shape, format_.bits), axis=-1,
                        bitorder="little").reshape(shape)
    factors = memory.get("d_tensor_scale")
    by_row = Scaled(codes.view(format_.dtype), memory["d_scales"],
                    None if factors is None else factors.view(np.float32),
                    format=replace(format_, rows=1), layout=argument.layout)
    if format_.rows == 1:
        return by_row
    # Kernels repeat a scale for each of its rows.
    once = by_row.to("plain").scales[..., ::format_.rows, :]
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


def set_out(bound, out, stream):
    """Points the parameters of a `Bound` to the memory of its result."""
    check_out(bound, out)
    for suffix, one in out.parts().items():
        bound._set_memory("d" + suffix, one, stream, writes=True)


def check_out(bound, out):
    if not isinstance(out, DeviceScaled):
        raise Refused(f"'out' is a {type(out).__name__}: expected a "
                      "blockscale.DeviceScaled; empty_out makes one")
    wanted = bound.kernel.arg("d", bound.name)
    if out.format != wanted.format or out.layout != wanted.layout:
        raise Refused(f"'out' is in format '{out.format}' and layout "
                      f"'{out.layout}': the kernel writes '{wanted.format}' "
                      f"and '{wanted.layout}'")
    if (out.batch, out.rows, out.k) != tuple(
            bound.sizes[one] for one in extents(bound._planned)):
        raise Refused(f"'out' is {'x'.join(map(str, out.shape))}: the launch "
                      f"was prepared for {bound.sizes}")


def empty(bound, shape=None):
    """Memory for the result of a `Bound`, packed as its kernel writes it; without
    `shape` of one matrix without the batch."""
    if shape is None:
        shape = tuple(bound.sizes[one] for one in extents(bound._planned))
        shape = shape if shape[0] > 1 else shape[1:]
    argument = bound.kernel.arg("d", bound.name)
    parts = {role.removeprefix("d_"): DeviceArray(
        (bound._slots[role].bytes,), np.uint8, bound.device.ordinal)
        for role in roles(bound._planned)}
    return DeviceScaled(shape=shape, format=argument.format,
                        layout=argument.layout, **parts)


def to_host(bound, result):
    """What a kernel has written as a Scaled; its memory is freed."""
    memory = {"d" + suffix: one.numpy() for suffix, one in result.parts().items()}
    result.free()
    return scaled_of(bound.kernel.arg("d", bound.name), memory, bound._parameters,
                     result.shape)
