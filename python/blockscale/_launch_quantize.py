# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that quantise, on CUDA devices."""

import math

import numpy as np

from . import _driver as cuda
from . import _operands as operands
from ._device import DeviceArray, memory_of, to_device
from ._errors import Refused
from ._launch import Bound, DeviceScaled, is_on_host
from ._quantize_kernel import (factors_of, result_roles, scaled_of, sizes_of,
                               type_of, values_of)


class PreparedQuantization(Bound):
    """A kernel that quantises with its sizes on a device: `prepared(x, out=q)`
    launches it.

    Made by `Kernel.prepare_quantize`. device: a Device. sizes: M, N (1), K, batch.
    grid, cluster, block. A launch can be captured into a CUDA graph.
    """

    def __init__(self, kernel, name, sizes, device):
        super().__init__(kernel, kernel._planned(name, quantizes=True), sizes,
                         device, overlap=False)

    def __call__(self, x, *, out, tensor_scale=None, stream=None):
        """Launches the kernel and returns `out`; work goes on behind it.

        x: the numbers on the device, in the kernel's type.
        out: a `DeviceScaled` for the result; `empty_out` makes one.
        tensor_scale: one f32 for each matrix on the device, where the kernel reads
            it.
        stream: as torch, cuda.core or the driver have it; None for the default.

        Raises Refused for what does not fit, DeviceError for memory of another
        device, freed memory, and what the driver says.
        """
        handle = cuda.stream_handle(stream)
        self._check_out(out)
        if (tensor_scale is not None) != ("tensor_scale" in self._slots):
            raise Refused("the kernel takes no 'tensor_scale'"
                          if tensor_scale is not None else
                          "the kernel needs 'tensor_scale', one for each matrix")
        with self._lock, self._context.current():
            self._set_memory("x", x, handle)
            if tensor_scale is not None:
                self._set_memory("tensor_scale", tensor_scale, handle)
            for suffix, one in out.parts().items():
                self._set_memory("d" + suffix, one, handle, writes=True)
            self._launch(handle)
        return out

    def _check_out(self, out):
        if not isinstance(out, DeviceScaled):
            raise Refused(f"'out' is a {type(out).__name__}: expected a "
                          "blockscale.DeviceScaled; empty_out makes one")
        wanted = self.kernel.arg("d", self.name)
        if out.format != wanted.format or out.layout != wanted.layout:
            raise Refused(f"'out' is in format '{out.format}' and layout "
                          f"'{out.layout}': the kernel writes '{wanted.format}' "
                          f"and '{wanted.layout}'")
        if (out.batch, out.rows, out.k) != tuple(
                self.sizes[one] for one in ("batch", "M", "K")):
            raise Refused(f"'out' is {'x'.join(map(str, out.shape))}: the launch "
                          f"was prepared for {self.sizes}")

    def empty_out(self):
        """Memory for the result: a DeviceScaled of batch x M x K, or M x K of one
        matrix, packed as the kernel writes it."""
        shape = tuple(self.sizes[one] for one in ("batch", "M", "K"))
        return self._empty(shape if shape[0] > 1 else shape[1:])

    def _empty(self, shape):
        argument = self.kernel.arg("d", self.name)
        parts = {role.removeprefix("d_"): DeviceArray(
            (self._slots[role].bytes,), np.uint8, self.device.ordinal)
            for role in result_roles(self._planned)}
        return DeviceScaled(shape=shape, format=argument.format,
                            layout=argument.layout, **parts)


def quantize(kernel, x, tensor_scale, out, name, device, stream):
    """See Kernel.quantize."""
    planned = kernel._planned(name, quantizes=True)
    on_host = is_on_host(x)
    if on_host:
        x = values_of(planned, x)
    shape = tuple(x.shape)
    sizes = sizes_of(planned, shape)
    prepared = kernel._prepared_quantization(planned["name"], sizes, device)
    passing = []  # copies for this launch alone

    def sent(values):
        passing.append(to_device(values, device))
        return passing[-1]

    if tensor_scale is None or is_on_host(tensor_scale):
        factors = factors_of(planned, tensor_scale, sizes)
        tensor_scale = None if factors is None else sent(factors)
    target = prepared._empty(shape) if out is None else out
    try:
        prepared(sent(x) if on_host else x, out=target, tensor_scale=tensor_scale,
                 stream=stream)
        if passing:
            with prepared._context.current():
                cuda.call("cuStreamSynchronize", cuda.stream_handle(stream))
    finally:
        for one in passing:
            one.free()
    if out is not None or not on_host:
        return target
    memory = {"d" + suffix: one.numpy() for suffix, one in target.parts().items()}
    target.free()
    _, parameters = operands.describe(
        operands.new_launch(kernel, planned, sizes))
    return scaled_of(kernel.arg("d", planned["name"]), memory, parameters, shape)
