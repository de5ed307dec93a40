# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Parameters of a launch in memory."""

import ctypes
import functools

from . import _driver as cuda
from ._errors import DeviceError, Refused


class TensorMapCalls:
    """The driver's functions for tensor maps, on memory of ours: one has to lie
    at a multiple of 64 bytes, and those that cuda.bindings makes do not."""

    def __init__(self):
        def function(name, *types):
            pointer, found = cuda.call("cuGetProcAddress", name, 12000, 0)
            if found != 0 or not pointer:
                raise DeviceError(f"the driver has no {name.decode()}")
            return ctypes.CFUNCTYPE(ctypes.c_int, *types)(pointer)
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        self.encode = function(b"cuTensorMapEncodeTiled", pointer, number,
                               number, *[pointer] * 5, *[number] * 4)
        self.replace = function(b"cuTensorMapReplaceAddress", pointer, pointer)


@functools.cache
def tensor_maps():
    return TensorMapCalls()


class Slot:
    """One parameter in the memory that a launch reads: `place` is its address,
    `storage` a view of it, `type` that of the elements it leads to: a tensor map
    does not name it."""

    def __init__(self, parameter, place, storage, type_=None):
        self.role, self.bytes = parameter["role"], parameter["bytes"]
        self.alignment = parameter["alignment"]
        self.kind, self.type = parameter["kind"], type_ or parameter["type"]
        self.fields = parameter["tensorMap"]
        self.place, self.storage, self.address = place, storage, None

    def set(self, address):
        """Points it to memory of the device."""
        if address == self.address:
            return
        if address % self.alignment:
            raise Refused(f"'{self.role}' lies at {address:#x}: expected a "
                          f"multiple of {self.alignment}")
        if self.kind == "pointer":
            self.storage[:] = address.to_bytes(8, "little")
        elif self.address is None:
            self.encode(address)
        else:
            self.check("cuTensorMapReplaceAddress",
                       tensor_maps().replace(self.place, address))
        self.address = address

    def encode(self, address):
        fields = self.fields
        dims, strides, box, steps = (
            (ctypes.c_uint64 * len(fields[name]))(*fields[name])
            if wide else (ctypes.c_uint32 * len(fields[name]))(*fields[name])
            for name, wide in (("globalDim", True), ("globalStrides", True),
                               ("boxDim", False), ("elementStrides", False)))
        self.check("cuTensorMapEncodeTiled", tensor_maps().encode(
            self.place, fields["dataType"], len(dims), address, dims, strides,
            box, steps, fields["interleave"], fields["swizzle"],
            fields["l2Promotion"], fields["oobFill"]))

    def check(self, name, code):
        if code != 0:
            cuda.fail(name, cuda.bindings().CUresult(code),
                      f" (the tensor map of '{self.role}')")
