# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What kernels that dequantise read and write, in the host's memory."""

import numpy as np

from . import _operands as operands
from ._quantize_kernel import sizes_of, type_of


def planned_of(kernel, name):
    return kernel._planned(name, ("dequantises",))


def emulate(kernel, a, name, num_sms, progress, options):
    """See Kernel.emulate_dequantize."""
    from ._emulate import run
    planned = planned_of(kernel, name)
    kernel._check_operand(planned, "a", a)
    launch = operands.new_launch(kernel, planned, sizes_of(planned, a.shape),
                                 num_sms=num_sms)
    _, parameters = operands.describe(launch)
    for role, content in operands.parts(planned, "a", a, parameters).items():
        launch.set_memory(role, content, False)
    d = np.zeros(parameters["d"]["bytes"], np.uint8)
    launch.set_memory("d", d, True)
    run(launch, progress=progress, **options)
    return d.view(type_of(planned, "d")).reshape(a.shape)
