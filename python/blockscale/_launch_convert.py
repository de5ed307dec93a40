# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that prune, compress, densify or change layouts and orders, on CUDA
devices."""

import numpy as np

from . import _convert_kernel as conversion
from . import _driver as cuda
from ._device import DeviceArray, to_device
from ._device_scaled import DeviceScaled
from ._errors import Refused
from ._launch import Bound, is_on_host
from ._quantize_kernel import sizes_of, type_of


class PreparedConversion(Bound):
    """A kernel that prunes, compresses, densifies or changes layouts and orders with its
    sizes on a device: `prepared(a, out=d)` launches it.

    Made by `Kernel.prepare_convert`. device: a Device. sizes: M, N (1), K, batch.
    grid, cluster, block. A launch can be captured into a CUDA graph.
    """

    def __init__(self, kernel, name, sizes, device):
        super().__init__(kernel, conversion.planned_of(kernel, name), sizes, device,
                         overlap=False)

    def __call__(self, a, *, out, stream=None):
        """Launches the kernel and returns `out`; work goes on behind it.

        a: a `DeviceScaled` of the prepared sizes; of a kernel that prunes numbers on the
            device, in its type.
        out: what `empty_out` makes: a DeviceScaled, or memory for numbers.
        stream: as torch, cuda.core or the driver have it; None for the default.

        Raises Refused for what does not fit, DeviceError for memory of another
        device, freed memory, and what the driver says.
        """
        handle = cuda.stream_handle(stream)
        prunes = conversion.prunes(self._planned)
        if not prunes:
            self._check(a, out)
        with self._lock, self._context.current():
            for role in self._slots:
                if role == "x":
                    self._set_memory(role, a, handle)
                elif role == "d":
                    self._set_memory(role, out, handle, writes=True)
                elif role.startswith("a_"):
                    self._set_memory(role, a.parts()[role[1:]], handle)
                elif role.startswith("d_"):
                    self._set_memory(role, out.parts()[role[1:]], handle, writes=True)
            self._launch(handle)
        return out

    def _check(self, a, out):
        for name, one in (("a", a), ("out", out)):
            if not isinstance(one, DeviceScaled):
                raise Refused(f"'{name}' is a {type(one).__name__}: expected a "
                              "blockscale.DeviceScaled")
            if (one.batch, one.rows, one.k) != self._shape():
                raise Refused(f"'{name}' is {'x'.join(map(str, one.shape))}: the launch "
                              f"was prepared for {self.sizes}")
        conversion.check(self._planned, a)
        wanted = conversion.format_of(self._planned, a)
        if (out.format, out.layout) != wanted:
            raise Refused(f"'out' is in format '{out.format}' and layout '{out.layout}': "
                          f"the kernel writes '{wanted[0]}' and '{wanted[1]}'")

    def _shape(self):
        return tuple(self.sizes[one] for one in ("batch", "M", "K"))

    def empty_out(self, a):
        """Memory for the result of `a`. Of a DeviceScaled it is one, with those parts
        of `a` that the kernel does not write."""
        if conversion.prunes(self._planned):
            return DeviceArray(tuple(a.shape), type_of(self._planned, "d"),
                               self.device.ordinal)
        format_, layout = conversion.format_of(self._planned, a)
        parts = {suffix[1:]: one for suffix, one in a.parts().items()}
        if format_.sparsity is None:
            parts.pop("metadata", None)
        parts.update({role.removeprefix("d_"): DeviceArray(
            (self._slots[role].bytes,), np.uint8, self.device.ordinal)
            for role in conversion.written(self._planned)})
        return DeviceScaled(shape=a.shape, format=format_, layout=layout,
                            scale_block=conversion.scale_block_of(self._planned, a),
                            **parts)


def convert(kernel, a, out, name, device, stream):
    """See Kernel.convert."""
    planned = conversion.planned_of(kernel, name)
    prunes = conversion.prunes(planned)
    on_host = is_on_host(a) if prunes else not isinstance(a, DeviceScaled)
    if on_host:
        a, sizes = conversion.checked(planned, a)
    else:
        sizes = sizes_of(planned, a.shape)
    key = planned["name"]
    prepared = kernel._kept(key, sizes, device, lambda: PreparedConversion(
        kernel, key, sizes, device))
    if not on_host:
        target = prepared.empty_out(a) if out is None else out
        return prepared(a, out=target, stream=stream)
    if out is not None:
        raise Refused("'out' is for operands on the device; of those of the host the "
                      "result is new")
    return of_host(prepared, planned, a, stream)


def of_host(prepared, planned, a, stream):
    """Copies what is read to the device, and what is written back."""
    ordinal = prepared.device.ordinal
    memory = {role: to_device(content, ordinal) for role, content in
              conversion.memory_of(planned, a, prepared._parameters).items()}
    results = {role: DeviceArray((prepared._slots[role].bytes,), np.uint8, ordinal)
               for role in conversion.written(planned)}
    handle = cuda.stream_handle(stream)
    try:
        with prepared._lock, prepared._context.current():
            for role, one in memory.items():
                prepared._set_memory(role, one, handle)
            for role, one in results.items():
                prepared._set_memory(role, one, handle, writes=True)
            prepared._launch(handle)
            cuda.call("cuStreamSynchronize", handle)
        found = {role: one.numpy() for role, one in results.items()}
    finally:
        for one in (*memory.values(), *results.values()):
            one.free()
    return conversion.result_of(planned, a, found, prepared._parameters)
