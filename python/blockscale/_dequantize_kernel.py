# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that dequantise or add up tiles read and write, in the host's memory."""

import numpy as np

from . import _operands as operands
from ._quantize_kernel import sizes_of, type_of


def planned_of(kernel, name, does):
    return kernel._planned(name, (does,))


def result_shape(planned, shape):
    """That of the numbers: of the operand, or a row of sums for each tile along K."""
    if planned["conversion"]["op"] != "tile_sums":
        return tuple(shape)
    *batch, rows, k = shape
    return (*batch, -(-k // planned["conversion"].get("group", k)), rows)


def emulate(kernel, a, name, num_sms, progress, options, does="dequantises"):
    """See Kernel.emulate_dequantize and Kernel.emulate_tile_sums."""
    from ._emulate import run
    planned = planned_of(kernel, name, does)
    kernel._check_operand(planned, "a", a)
    launch = operands.new_launch(kernel, planned, sizes_of(planned, a.shape),
                                 num_sms=num_sms)
    _, parameters = operands.describe(launch)
    for role, content in operands.parts(planned, "a", a, parameters).items():
        launch.set_memory(role, content, False)
    d = np.zeros(parameters["d"]["bytes"], np.uint8)
    launch.set_memory("d", d, True)
    run(launch, progress=progress, **options)
    return d.view(type_of(planned, "d")).reshape(result_shape(planned, a.shape))
