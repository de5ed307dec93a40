# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays of others as numpy's: numpy, ml_dtypes, torch, jax, whatever has DLPack.

DLPack's types that numpy lacks come as their bytes with a dtype of ml_dtypes.
Nothing here imports a framework: a tensor is known by what it offers.
"""

import sys

import ml_dtypes
import numpy as np

from . import _core
from ._errors import Refused

# Type code and bits of DLPack, to dtypes of one element a byte (or more).
DLPACK_TYPES = {
    (0, 8): np.int8, (0, 16): np.int16, (0, 32): np.int32, (0, 64): np.int64,
    (1, 8): np.uint8, (1, 16): np.uint16, (1, 32): np.uint32,
    (1, 64): np.uint64, (2, 16): np.float16, (2, 32): np.float32,
    (2, 64): np.float64, (4, 16): ml_dtypes.bfloat16, (6, 8): np.bool_,
    (8, 8): ml_dtypes.float8_e4m3, (10, 8): ml_dtypes.float8_e4m3fn,
    (12, 8): ml_dtypes.float8_e5m2, (14, 8): ml_dtypes.float8_e8m0fnu,
    (15, 8): ml_dtypes.float6_e2m3fn, (16, 8): ml_dtypes.float6_e3m2fn,
    (17, 8): ml_dtypes.float4_e2m1fn,
}
CPU = 1


class View:
    """Memory of somebody else for numpy, which keeps this."""

    def __init__(self, tensor, shape, readonly):
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": shape,
            "data": (tensor.address, readonly)}


def from_dlpack(producer):
    """An array over the memory of what has `__dlpack__` on the host. Two FP4
    elements a byte (torch's float4_e2m1fn_x2) become one byte each, copied."""
    device = producer.__dlpack_device__()[0]
    if device != CPU:
        raise Refused(f"the tensor lies on a device (DLPack's type {device}), "
                      "expected one in the host's memory")
    tensor = _core.DlpackTensor(capsule_of(producer))
    code, bits, lanes = tensor.type
    if not tensor.contiguous:
        raise Refused("the tensor is not contiguous")
    data = np.asarray(View(tensor, (tensor.nbytes,), tensor.readonly))
    shape = tuple(tensor.shape)
    if (code, bits, lanes) == (17, 4, 2):
        return unpack_fp4(data, shape)
    dtype = DLPACK_TYPES.get((code, bits))
    if dtype is None or lanes != 1:
        raise Refused(f"a tensor of DLPack's type {code} with {bits} bits and "
                      f"{lanes} lanes: no such numbers here")
    return data.view(dtype).reshape(shape)


def capsule_of(producer, **options):
    """A capsule of the producer, of DLPack 1 if it knows that."""
    try:
        return producer.__dlpack__(max_version=(1, 1), **options)
    except TypeError:
        return producer.__dlpack__(**options)


def unpack_fp4(data, shape):
    """Two elements a byte, the first in the low half, to one a byte."""
    codes = np.empty((*shape, 2), np.uint8)
    codes[..., 0] = data.reshape(shape) & 15
    codes[..., 1] = data.reshape(shape) >> 4
    return codes.reshape(*shape[:-1], 2 * shape[-1]).view(
        ml_dtypes.float4_e2m1fn)


def is_torch(value):
    return type(value).__module__.split(".")[0] == "torch"


def torch_array(tensor):
    """A tensor of torch in the host's memory, of whatever type, as an array."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        raise Refused(f"the tensor lies on '{tensor.device}', expected one in "
                      "the host's memory: use .cpu()")
    name = str(tensor.dtype).removeprefix("torch.")
    shape = tuple(tensor.shape)
    if tensor.layout != sys.modules["torch"].strided:
        raise Refused(f"the tensor has the layout '{tensor.layout}', expected "
                      "a dense one: use .to_dense()")
    # Rows that lie in steps are copied, as those of numpy are.
    tensor = tensor.resolve_conj().resolve_neg().contiguous()
    if name not in TORCH_TYPES:
        return from_dlpack(tensor)
    data = from_dlpack(tensor.view(sys.modules["torch"].uint8))
    if name == "float4_e2m1fn_x2":
        return unpack_fp4(data, shape)
    return data.view(TORCH_TYPES[name]).reshape(shape)


# Types that torch exports by DLPack in some releases only.
TORCH_TYPES = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "float4_e2m1fn_x2": ml_dtypes.float4_e2m1fn,
    "bfloat16": ml_dtypes.bfloat16,
}


def host_array(value):
    """Any array in the host's memory as numpy's own, with its type."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise Refused("the array has masked elements, for which there are "
                          "no numbers: use .filled()")
        return value.data
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if is_torch(value):
        return torch_array(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return from_dlpack(value)
    return np.asarray(value)


def numbers(value, dtype=np.float32):
    """A contiguous array of f32, or of another type of C or a bias, of any array
    of numbers. Refuses what no such number can hold."""
    try:
        array = host_array(value)
        check_kind(array.dtype)
        # Outside of their range they become infinite here.
        with np.errstate(over="ignore"):
            result = np.ascontiguousarray(array, dtype)
        if array.dtype.kind in "iufO" and array.dtype.itemsize > 4:
            finite = np.abs(array) <= np.finfo(np.float64).max
            if (np.isfinite(result) != finite).any():
                raise Refused("a number that is too large for "
                              f"{np.dtype(dtype)}")
        return result
    except (TypeError, ValueError, BufferError, OverflowError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"expected an array of numbers: {error}") from error


def check_kind(dtype):
    """Refuses what numpy would make numbers of that are none: text, dates,
    records."""
    if dtype.kind == "c":
        raise Refused("expected real numbers, found complex ones")
    # The types of ml_dtypes are of the kind of records.
    if dtype.kind in "SUTmM" or dtype.type is np.void:
        raise Refused(f"expected an array of numbers, found one of {dtype}")
