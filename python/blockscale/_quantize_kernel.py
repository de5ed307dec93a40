# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that quantise read and write, in the host's memory."""

import numpy as np

from . import _operands as operands
from ._arrays import numbers
from ._errors import Refused
from ._quantized_result import results, roles, scaled_of, together


def shape_of(planned, shape, operand="d"):
    """That of a result, of an array of `shape`."""
    if planned.get("quantization", {}).get("transposed") or operand == "transposed":
        return (*shape[:-2], shape[-1], shape[-2])
    return tuple(shape)


def sizes_of(planned, shape):
    """The sizes of a launch that quantises an array of that shape."""
    if len(shape) not in (2, 3) or 0 in shape:
        what = "K x rows" if planned.get("quantization", {}).get("transposed") else "rows x K"
        raise Refused(f"'x' of shape {tuple(shape)}: expected {what} or batch x "
                      f"{what}, none of them 0")
    shape = shape_of(planned, shape)
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


def emulate(kernel, x, tensor_scale, name, num_sms, progress, options):
    """See Kernel.emulate_quantize."""
    from ._emulate import run
    planned = kernel._planned(name, ("quantises",))
    x = values_of(planned, x)
    sizes = sizes_of(planned, x.shape)
    factors = operands.tensor_scales(planned, tensor_scale, sizes)
    launch = operands.new_launch(kernel, planned, sizes, num_sms=num_sms)
    _, parameters = operands.describe(launch)
    launch.set_memory("x", x.reshape(-1).view(np.uint8), False)
    if factors is not None:
        launch.set_memory("tensor_scale", factors.view(np.uint8), False)
    memory = {role: np.zeros(parameters[role]["bytes"], np.uint8)
              for operand in results(planned) for role in roles(planned, operand)}
    for role, content in memory.items():
        launch.set_memory(role, content, True)
    run(launch, progress=progress, **options)
    return together(
        scaled_of(kernel.arg(operand, planned["name"]), memory, parameters,
                  shape_of(planned, x.shape, operand))
        for operand in results(planned))
