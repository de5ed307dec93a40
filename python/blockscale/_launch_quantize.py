# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that quantise, on CUDA devices."""

from . import _driver as cuda
from . import _operands as operands
from . import _quantized_result as result
from ._device import to_device
from ._launch import Bound, is_on_host
from ._quantize_kernel import sizes_of, values_of


class PreparedQuantization(Bound):
    """A kernel that quantises with its sizes on a device: `prepared(x, out=q)`
    launches it.

    Made by `Kernel.prepare_quantize`. device: a Device. sizes: M, N (1), K, batch.
    grid, cluster, block. A launch can be captured into a CUDA graph.
    """

    def __init__(self, kernel, name, sizes, device):
        super().__init__(kernel, kernel._planned(name, ("quantises",)), sizes,
                         device, overlap=False)

    def __call__(self, x, *, out, tensor_scale=None, stream=None):
        """Launches the kernel and returns `out`; work goes on behind it.

        x: the numbers on the device, in the kernel's type.
        out: a `DeviceScaled` for the result, or a tuple of two where the kernel
            quantises the transpose too; `empty_out` makes one.
        tensor_scale: one f32 for each matrix on the device, where the kernel reads
            it.
        stream: as torch, cuda.core or the driver have it; None for the default.

        Raises Refused for what does not fit, DeviceError for memory of another
        device, freed memory, and what the driver says.
        """
        handle = cuda.stream_handle(stream)
        with self._lock, self._context.current():
            self._set_memory("x", x, handle)
            result.set_tensor_scale(self, tensor_scale, handle)
            result.set_out(self, out, handle)
            self._set_workspace(handle)
            self._launch(handle)
        return out

    def empty_out(self):
        """Memory for the result: a DeviceScaled of batch x M x K, or M x K of one
        matrix, packed as the kernel writes it, and one for the transpose where the
        kernel quantises that too."""
        return result.empty(self)


def quantize(kernel, x, tensor_scale, out, name, device, stream):
    """See Kernel.quantize."""
    planned = kernel._planned(name, ("quantises",))
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
        factors = operands.tensor_scales(planned, tensor_scale, sizes)
        tensor_scale = None if factors is None else sent(factors)
    target = result.empty(prepared, shape) if out is None else out
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
    return result.to_host(prepared, target)
