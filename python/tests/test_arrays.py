# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays of others: DLPack of any type, jax where it is. test_torch.py has torch."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs
from blockscale import _arrays, _core


class Producer:
    """A tensor of another library, which knows DLPack alone."""

    def __init__(self, data, type_, shape, *, device=(1, 0), versioned=True,
                 readonly=False):
        self.data, self.type, self.shape = data, type_, shape
        self.device, self.versioned = device, versioned
        self.readonly = readonly

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if not self.versioned and options:
            raise TypeError("an exporter of before 1.0")
        return _core.dlpack_capsule(
            self.data.__array_interface__["data"][0], self.device, self.type,
            self.shape, self.data, self.readonly, self.versioned)


# Codes of DLPack's header, and what the bytes 0x38, 0x01 and so on mean there
# by the formats' own definitions.
@pytest.mark.parametrize("type_, data, expected", [
    ((10, 8, 1), [0x38, 0xb8, 0x7e], [1, -1, 448]),
    ((12, 8, 1), [0x3c, 0xbc, 0x7b], [1, -1, 57344]),
    ((14, 8, 1), [0x7f, 0x80, 0x7e], [1, 2, 0.5]),
    ((15, 8, 1), [0x08, 0x28, 0x1f], [1, -1, 7.5]),
    ((16, 8, 1), [0x0c, 0x2c, 0x1f], [1, -1, 28]),
    ((17, 8, 1), [0x2, 0xa, 0x7], [1, -1, 6]),
    ((17, 4, 2), [0x21, 0x7a], [0.5, 1, -1, 6]),
    ((4, 16, 1), [0x80, 0x3f, 0xc0, 0xc0], [1, -6]),
    ((2, 16, 1), [0x00, 0x3c, 0x00, 0xc6], [1, -6]),
    ((0, 8, 1), [0x01, 0xff], [1, -1]), ((1, 8, 1), [0x01, 0xff], [1, 255])])
@pytest.mark.parametrize("versioned", [False, True])
def test_types_of_dlpack(type_, data, expected, versioned):
    data = np.array(data, np.uint8)
    count = data.size * 8 // (type_[1] * type_[2])
    array = _arrays.host_array(Producer(data, type_, [1, count],
                                        versioned=versioned))
    assert array.astype(np.float32).tolist() == [expected]


def test_dlpack_is_not_copied_and_let_go():
    data = np.array([0x38, 0x40], np.uint8)
    producer = Producer(data, (10, 8, 1), [2], readonly=True)
    array = _arrays.host_array(producer)
    data[0] = 0x30
    assert array.astype(np.float32).tolist() == [0.5, 2]
    assert not array.flags.writeable
    # A capsule that nobody takes lets go of its owner, too.
    for use in (lambda owner: _arrays.host_array(owner),
                lambda owner: owner.__dlpack__()):
        owner = Producer(np.zeros(8, np.uint8), (1, 8, 1), [8])
        memory = weakref.ref(owner.data)
        held = use(owner)
        del owner
        gc.collect()
        assert memory() is not None
        del held
        gc.collect()
        assert memory() is None


def test_wrong_dlpack():
    data = np.zeros(64, np.uint8)
    for producer, words in (
            (Producer(data, (10, 8, 1), [8], device=(2, 0)), "on a device"),
            (Producer(data, (5, 64, 1), [8]), "DLPack's type 5 with 64 bits"),
            (Producer(data, (2, 32, 4), [4]), "4 lanes")):
        with pytest.raises(bs.Refused) as caught:
            bs.quantize(producer, "mxfp8")
        assert words in str(caught.value)
    with pytest.raises(ValueError, match="capsule of DLPack that nobody took"):
        _core.DlpackTensor("no capsule")
    capsule = Producer(data, (1, 8, 1), [64]).__dlpack__()
    _core.DlpackTensor(capsule)
    with pytest.raises(ValueError, match="that nobody took"):
        _core.DlpackTensor(capsule)


def test_scaled_of_dlpack():
    data = np.arange(64, dtype=np.uint8)
    scales = np.array([127, 128], np.uint8)
    x = bs.Scaled(Producer(data, (10, 8, 1), [2, 32]),
                  Producer(scales, (14, 8, 1), [2, 1]), format="mxfp8")
    codes = data.reshape(2, 32).view(ml_dtypes.float8_e4m3fn)
    assert (x.dequantize() == codes.astype(np.float32) * [[1], [2]]).all()


def test_strided_readonly_and_foreign_byte_order():
    values = np.arange(4 * 64, dtype=np.float32).reshape(64, 4).T
    straight = np.ascontiguousarray(values)
    straight.flags.writeable = False
    expected = bs.quantize(straight, "mxfp8")
    for given in (values, straight, values.astype(">f4"), values.tolist(),
                  values.astype(ml_dtypes.bfloat16).astype(np.float64)):
        found = bs.quantize(given, "mxfp8")
        assert (found.data.view(np.uint8) == expected.data.view(np.uint8)).all()
    wrapped = bs.Scaled(expected.data[::-1], expected.scales[::-1],
                        format="mxfp8")
    assert (wrapped.dequantize() == expected.dequantize()[::-1]).all()


def test_jax():
    jax = pytest.importorskip("jax")
    values = jax.numpy.arange(128, dtype=jax.numpy.float32).reshape(2, 64)
    expected = bs.quantize(np.asarray(values), "mxfp8")
    found = bs.quantize(values, "mxfp8")
    assert (found.dequantize() == expected.dequantize()).all()
    x = bs.Scaled(jax.numpy.asarray(expected.data),
                  jax.numpy.asarray(expected.scales), format="mxfp8")
    assert (x.dequantize() == expected.dequantize()).all()


def test_operators_need_torch(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "torch", None)
    kernel = bs.compile(bs.matmul(M=8, N=8, K=64, a="mxfp8", b="mxfp8"))
    with pytest.raises(bs.Refused, match="import torch before"):
        kernel.as_torch_op("a::b")
