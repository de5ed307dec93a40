# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that dequantise or add up tiles, on CUDA devices."""

import numpy as np

from . import _driver as cuda
from . import _operands as operands
from ._dequantize_kernel import planned_of, result_shape
from ._device import DeviceArray, to_device
from ._device_scaled import DeviceScaled
from ._errors import Refused
from ._launch import Bound, is_on_host
from ._quantize_kernel import sizes_of, type_of


class PreparedDequantization(Bound):
    """A kernel that dequantises or adds up tiles with its sizes on a device:
    `prepared(a, out=d)` launches it.

    Made by `Kernel.prepare_dequantize` and `Kernel.prepare_tile_sums`. device: a Device.
    sizes: M, N (1), K, batch. grid, cluster, block. A launch can be captured into a CUDA
    graph.
    """

    def __init__(self, kernel, name, sizes, device, does="dequantises"):
        super().__init__(kernel, planned_of(kernel, name, does), sizes, device,
                         overlap=False)

    def __call__(self, a, *, out, stream=None):
        """Launches the kernel and returns `out`; work goes on behind it.

        a: a `DeviceScaled` of the prepared sizes.
        out: memory of the device for the numbers, of the kernel's type; `empty_out`
            makes it.
        stream: as torch, cuda.core or the driver have it; None for the default.

        Raises Refused for what does not fit, DeviceError for memory of another
        device, freed memory, and what the driver says.
        """
        handle = cuda.stream_handle(stream)
        self._check(a)
        with self._lock, self._context.current():
            for suffix, one in a.parts().items():
                if suffix != "_terms":
                    self._set_memory("a" + suffix, one, handle)
            self._set_memory("d", out, handle, writes=True)
            self._launch(handle)
        return out

    def _check(self, a):
        if not isinstance(a, DeviceScaled):
            raise Refused(f"'a' is a {type(a).__name__}: expected a "
                          "blockscale.DeviceScaled; upload makes one")
        wanted = self.kernel.arg("a", self.name)
        operands.check_format("a", a, wanted)
        operands.check_layout("a", a, wanted.layout)
        operands.check_scale_block("a", a, wanted)
        if ("a_zeros" in self._slots) != (a.zeros is not None):
            raise Refused("'a' has no zero points beside its elements, which the kernel "
                          "subtracts; its own upload makes what it reads"
                          if a.zeros is None else
                          "'a' has zero points, which the kernel does not read")
        if (a.batch, a.rows, a.k) != self._shape():
            raise Refused(f"'a' is {'x'.join(map(str, a.shape))}: the launch was "
                          f"prepared for {self.sizes}")

    def _shape(self):
        return tuple(self.sizes[one] for one in ("batch", "M", "K"))

    def empty_out(self):
        """A DeviceArray for the numbers: batch x M x K, or M x K of one matrix; of sums
        a row of M for each tile."""
        shape = result_shape(self._planned, self._shape())
        return DeviceArray(shape if shape[0] > 1 else shape[1:],
                           type_of(self._planned, "d"), self.device.ordinal)

    def upload(self, a):
        """A `Scaled` on the device, packed as the kernel reads it."""
        self.kernel._check_operand(self._planned, "a", a)
        if (a.batch, a.rows, a.k) != self._shape():
            raise Refused(f"'a' is {'x'.join(map(str, a.shape))}: the launch was "
                          f"prepared for {self.sizes}")
        parts = operands.parts(self._planned, "a", a, self._parameters)
        block = self.kernel.arg("a", self.name).scale_block
        return DeviceScaled(shape=a.shape, format=a.format, layout=a.layout,
                            scale_block=block, **{
            role.removeprefix("a_"): to_device(content, self.device.ordinal)
            for role, content in parts.items()})


def tile_sums(kernel, a, name, device, stream):
    """See Kernel.tile_sums."""
    sums = dequantize(kernel, a, None, name, device, stream, "adds up tiles")
    if not isinstance(a, DeviceScaled):
        return sums
    return DeviceScaled(a.data, a.scales, tensor_scale=a.tensor_scale, terms=sums,
                        shape=a.shape, format=a.format, layout=a.layout,
                        scale_block=a.scale_block)


def dequantize(kernel, a, out, name, device, stream, does="dequantises"):
    """See Kernel.dequantize."""
    planned = planned_of(kernel, name, does)
    on_host = not isinstance(a, DeviceScaled)
    if on_host:
        kernel._check_operand(planned, "a", a)
    key = planned["name"]
    sizes = sizes_of(planned, a.shape)
    prepared = kernel._kept(key, sizes, device, lambda: PreparedDequantization(
        kernel, key, sizes, device, does))
    to_host = on_host if out is None else is_on_host(out)
    target = out if out is not None and not to_host else DeviceArray(
        result_shape(planned, a.shape), type_of(planned, "d"), prepared.device.ordinal)
    there = prepared.upload(a) if on_host else a
    try:
        prepared(there, out=target, stream=stream)
        if on_host or to_host:
            with prepared._context.current():
                cuda.call("cuStreamSynchronize", cuda.stream_handle(stream))
        if not to_host:
            return target
        found = target.numpy()
    finally:
        if on_host:
            there.free()
    target.free()
    if out is None:
        return found
    np.copyto(out, found)
    return out
