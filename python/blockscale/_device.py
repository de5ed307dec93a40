# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Memory of CUDA devices: ours, and that of others."""

import math
import sys

import numpy as np

from . import _core
from ._arrays import DLPACK_TYPES, capsule_of, is_torch
from ._checks import whole
from ._driver import bindings, call, context
from ._errors import DeviceError, Refused

DLPACK_CUDA = (2, 13)  # device memory, managed memory
CODES = {np.dtype(dtype): code for code, dtype in DLPACK_TYPES.items()}
NAMES = {"<f4": "f32", "<f2": "f16", "<i4": "i32"}
DLPACK_NAMES = {(2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (0, 32): "i32"}


class DeviceArray:
    """Contiguous memory of a device that this object owns.

    shape, dtype: as of a numpy array; dtype may be of ml_dtypes.
    device: the ordinal. Memory is freed by `free`, at the end of a `with`, or
    with the object; what uses it later raises DeviceError. Others take it by
    DLPack or `__cuda_array_interface__`.
    """

    def __init__(self, shape, dtype=np.uint8, device=0):
        shape = shape if isinstance(shape, (tuple, list)) else (shape,)
        self.shape = tuple(whole("shape", one) for one in shape)
        self.dtype = np.dtype(dtype)
        self.device = whole("device", device)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        whole("bytes", self.nbytes)
        with context(self.device).current():
            self._address = int(call("cuMemAlloc", max(self.nbytes, 1)))

    @property
    def address(self):
        """Of the first byte; raises DeviceError after `free`."""
        if self._address is None:
            raise DeviceError("the device array was freed")
        return self._address

    @property
    def freed(self):
        return self._address is None

    def free(self):
        """Frees the memory, once."""
        address, self._address = self._address, None
        if address is not None:
            with context(self.device).current():
                call("cuMemFree", address)

    def __reduce__(self):
        # A copy would free the memory a second time.
        raise TypeError("a device array cannot be copied or pickled; numpy() "
                        "gives its numbers")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def __del__(self):
        if getattr(self, "_address", None) is not None and \
                not sys.is_finalizing():
            try:
                self.free()
            except DeviceError:
                pass  # the driver has gone, and the memory with it

    def write(self, values):
        """Copies an array of the same number of bytes to the device."""
        values = np.ascontiguousarray(values)
        if values.nbytes != self.nbytes:
            raise Refused(f"{values.nbytes} bytes for a device array of "
                          f"{self.nbytes}")
        with context(self.device).current():
            call("cuMemcpyHtoD", self.address,
                 values.__array_interface__["data"][0], self.nbytes)
        return self

    def numpy(self):
        """A copy in the host's memory, when what writes it on the default
        stream has ended."""
        values = np.empty(self.shape, self.dtype)
        with context(self.device).current():
            call("cuMemcpyDtoH", values.__array_interface__["data"][0],
                 self.address, self.nbytes)
        return values

    @property
    def __cuda_array_interface__(self):
        name = self.dtype.str
        if self.dtype.kind == "V":
            raise AttributeError(f"no such interface for {self.dtype}: take the "
                                 "array by DLPack")
        return {"shape": self.shape, "typestr": name, "version": 3,
                "data": (self.address, False), "strides": None, "stream": None}

    def __dlpack_device__(self):
        return (DLPACK_CUDA[0], self.device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None,
                   copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a device array is given without a copy")
        if self.dtype not in CODES:
            raise BufferError(f"DLPack has no {self.dtype}")
        code, bits = CODES[self.dtype]
        versioned = max_version is not None and max_version[0] >= 1
        return _core.dlpack_capsule(self.address, self.__dlpack_device__(),
                                    (code, bits, 1), list(self.shape), self,
                                    False, versioned)

    def __repr__(self):
        what = "freed" if self.freed else f"device {self.device}"
        return f"DeviceArray({self.shape}, {self.dtype}, {what})"


def to_device(values, device=0):
    """A copy of an array on a device."""
    values = np.ascontiguousarray(values)
    return DeviceArray(values.shape, values.dtype, device).write(values)


def zeros_on_device(count, device=0):
    """Bytes that are zero when this returns. It may be called while a stream is
    captured and makes nothing of its graph."""
    driver = bindings()
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    flag = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    with context(device).current():
        mode = call("cuThreadExchangeStreamCaptureMode", relaxed)
        try:
            memory = DeviceArray(count, np.uint8, device)
            stream = call("cuStreamCreate", flag)
            try:
                call("cuMemsetD8Async", memory.address, 0, count, stream)
                call("cuStreamSynchronize", stream)
            finally:
                call("cuStreamDestroy", stream)
        finally:
            call("cuThreadExchangeStreamCaptureMode", mode)
    return memory


class Memory:
    """Where an argument lies: address, bytes, name of the number type (None
    where it does not say), and what keeps it alive."""

    __slots__ = ("address", "nbytes", "type", "readonly", "device", "owner")

    def __init__(self, address, nbytes, type_, readonly, device, owner):
        self.address, self.nbytes, self.type = address, nbytes, type_
        self.readonly, self.device, self.owner = readonly, device, owner


def memory_of(what, value, stream=0):
    """The device memory of an argument: a DeviceArray, a tensor of torch, what
    has DLPack or `__cuda_array_interface__`."""
    if isinstance(value, DeviceArray):
        kind = NAMES.get(value.dtype.str) or (
            "bf16" if value.dtype.name == "bfloat16" else None)
        return Memory(value.address, value.nbytes, kind, False, value.device,
                      value)
    if is_torch(value):
        return of_torch(what, value)
    if hasattr(value, "__dlpack_device__"):
        return of_dlpack(what, value, stream)
    if hasattr(value, "__cuda_array_interface__"):
        return of_interface(what, value)
    raise Refused(f"'{what}' is a {type(value).__name__}: expected memory of a "
                  "CUDA device (a DeviceArray, or what has DLPack or "
                  "'__cuda_array_interface__')")


def of_torch(what, tensor):
    if tensor.device.type != "cuda":
        raise DeviceError(f"'{what}' lies on '{tensor.device}', not on a CUDA "
                          "device")
    if not tensor.is_contiguous():
        raise Refused(f"'{what}' is not contiguous")
    kind = {"torch.float32": "f32", "torch.float16": "f16",
            "torch.bfloat16": "bf16", "torch.int32": "i32"}
    return Memory(tensor.data_ptr(), tensor.numel() * tensor.element_size(),
                  kind.get(str(tensor.dtype)), False, tensor.device.index or 0,
                  tensor)


def of_dlpack(what, value, stream):
    kind, device = value.__dlpack_device__()
    if kind not in DLPACK_CUDA:
        raise DeviceError(f"'{what}' does not lie on a CUDA device (DLPack's "
                          f"type {int(kind)})")
    # 1 is the default stream of DLPack, so that the producer orders its work.
    tensor = _core.DlpackTensor(capsule_of(value, stream=stream or 1))
    if not tensor.contiguous:
        raise Refused(f"'{what}' is not contiguous")
    code, bits, lanes = tensor.type
    name = DLPACK_NAMES.get((code, bits)) if lanes == 1 else None
    return Memory(tensor.address, tensor.nbytes, name, tensor.readonly, device,
                  tensor)


def of_interface(what, value):
    fields = value.__cuda_array_interface__
    item = int(fields["typestr"][2:])
    shape = fields["shape"]
    strides, step = fields.get("strides"), item
    for extent, stride in zip(reversed(shape), reversed(strides or ())):
        if extent != 1 and stride != step:
            raise Refused(f"'{what}' is not contiguous")
        step *= extent
    address, readonly = fields["data"]
    return Memory(address, math.prod(shape) * item,
                  NAMES.get(fields["typestr"]), readonly, None, value)


def device_of(address):
    """The device of an address. Raises DeviceError for what is none's."""
    from ._driver import bindings
    driver = bindings()
    code, ordinal = driver.cuPointerGetAttribute(
        driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
    if code != 0:
        raise DeviceError(f"{address:#x} is no address of device memory; was it "
                          "freed?", code.name)
    return int(ordinal)
