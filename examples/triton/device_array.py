"""Arrays on the device for programs without torch: what Triton wants of a tensor
is an address and a type. Part of the blockscale project, under the Apache License
v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import ctypes

import numpy

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(result, ctypes.byref(text))
        raise RuntimeError(text.value.decode() if text.value else str(result))


def use_device():
    """Makes the primary context current."""
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))


class Type(str):
    """A type as Triton spells it."""

    @property
    def itemsize(self):
        return {"fp32": 4, "fp16": 2, "i32": 4, "u8": 1, "fp8e4nv": 1}[self]


class DeviceArray:
    """A copy of a numpy array on the device."""

    def __init__(self, host, dtype):
        self.host = numpy.ascontiguousarray(host)
        assert Type(dtype).itemsize == self.host.itemsize
        self.shape = self.host.shape
        self.strides = tuple(s // self.host.itemsize for s in self.host.strides)
        self.dtype = Type(dtype)
        self.address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.address),
                                 ctypes.c_size_t(self.host.nbytes)))
        check(cuda.cuMemcpyHtoD_v2(self.address, self.pointer(),
                                   ctypes.c_size_t(self.host.nbytes)))

    def pointer(self):
        return self.host.ctypes.data_as(ctypes.c_void_p)

    def data_ptr(self):
        return self.address.value

    def stride(self, dimension=None):
        return self.strides if dimension is None else self.strides[dimension]

    def numpy(self):
        """The values, when everything is done."""
        check(cuda.cuCtxSynchronize())
        check(cuda.cuMemcpyDtoH_v2(self.pointer(), self.address,
                                   ctypes.c_size_t(self.host.nbytes)))
        return self.host.copy()
