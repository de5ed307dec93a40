# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that quantise read and write, in the host's memory."""

import numpy as np

from . import _operands as operands
from ._arrays import numbers
from ._errors import Refused
from ._scaled import Scaled


def sizes_of(planned, shape):
    """The sizes of a launch that quantises an array of that shape."""
    if len(shape) not in (2, 3) or 0 in shape:
        raise Refused(f"'x' of shape {tuple(shape)}: expected rows x K or batch x "
                      "rows x K, none of them 0")
    sizes = {"M": shape[-2], "N": 1, "K": shape[-1],
             "batch": shape[0] if len(shape) == 3 else 1}
    for one in planned["sizes"]:
        if one["value"] not in (None, sizes[one["name"]]):
            raise Refused(f"{one['name']} is {sizes[one['name']]}: the kernel is "
                          f"for {one['value']}")
    return sizes


def type_of(planned, name):
    """The numbers behind a parameter that is no part of the result."""
    return operands.TYPES[operands.of(planned["operands"], name)["type"]]


def values_of(planned, x):
    """What is quantised as the kernel reads it."""
    try:
        return numbers(x, type_of(planned, "x"))
    except Refused as error:
        raise Refused(f"'x': {error}") from error


def factors_of(planned, tensor_scale, sizes):
    """The tensor scales as the kernel reads them; None where it reads none."""
    if operands.of(planned["operands"], "tensor_scale") is None:
        if tensor_scale is not None:
            raise Refused("the kernel takes no 'tensor_scale'")
        return None
    if tensor_scale is None:
        raise Refused("the kernel needs 'tensor_scale', one for each matrix")
    factors = numbers(tensor_scale).reshape(-1)
    if factors.size != sizes["batch"]:
        raise Refused(f"{factors.size} tensor scales: expected {sizes['batch']}, "
                      "one for each matrix")
    return factors


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
    return Scaled(codes.view(format_.dtype), memory["d_scales"],
                  None if factors is None else factors.view(np.float32),
                  format=format_, layout=argument.layout)


def emulate(kernel, x, tensor_scale, name, num_sms, progress, options):
    """See Kernel.emulate_quantize."""
    from ._emulate import run
    planned = kernel._planned(name, quantizes=True)
    x = values_of(planned, x)
    sizes = sizes_of(planned, x.shape)
    factors = factors_of(planned, tensor_scale, sizes)
    launch = operands.new_launch(kernel, planned, sizes, num_sms=num_sms)
    _, parameters = operands.describe(launch)
    launch.set_memory("x", x.reshape(-1).view(np.uint8), False)
    if factors is not None:
        launch.set_memory("tensor_scale", factors.view(np.uint8), False)
    memory = {role: np.zeros(parameters[role]["bytes"], np.uint8)
              for role in result_roles(planned)}
    for role, content in memory.items():
        launch.set_memory(role, content, True)
    run(launch, progress=progress, **options)
    return scaled_of(kernel.arg("d", planned["name"]), memory, parameters, x.shape)


def result_roles(planned):
    """The parts of the result that a kernel writes."""
    return [one["role"] for one in planned["parameters"]
            if one["role"].startswith("d_")]
