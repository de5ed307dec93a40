# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What from_onnx says of models, without onnx: of a model it needs no more than what
these few classes have. What it makes of real ones is run in
test/Conversion/ImportToBlockscale."""

from types import SimpleNamespace

import pytest

import blockscale as bs

FLOAT, INT4, E4M3, E8M0 = 1, 22, 17, 24


def node(op, inputs, output, **attributes):
    made = []
    for name, value in attributes.items():
        kind = 7 if isinstance(value, list) else 1 if isinstance(value, float) else 2
        made.append(SimpleNamespace(name=name, type=kind, f=value, i=value, ints=value))
    return SimpleNamespace(op_type=op, name="", input=inputs, output=[output],
                           attribute=made)


def model(nodes, **tensors):
    constants = [SimpleNamespace(name=name, dims=shape, data_type=number)
                 for name, (shape, number) in tensors.items()]
    return SimpleNamespace(graph=SimpleNamespace(
        initializer=constants, input=[], node=nodes,
        output=[SimpleNamespace(name="y")]))


def blocked(data=((48, 128), E4M3), scale=((48, 4), E8M0), **attributes):
    attributes = {"axis": 1, "block_size": 32, **attributes}
    return model([node("DequantizeLinear", ["x", "s"], "xd", **attributes),
                  node("MatMul", ["xd", "w"], "y")],
                 x=data, s=scale, w=((128, 64), FLOAT))


def test_initialisers_are_parameters():
    imported = bs.from_onnx(blocked(), "layer")
    assert imported.name == "layer" and imported.inputs == ("x", "s", "w")
    assert set(imported.parameters) == {"x", "s", "w"}
    assert imported.mlir.count("linalg.generic") == 2


@pytest.mark.parametrize("given, words", [
    (42, "expected an ONNX model, found a int"),
    (model([node("Conv", ["x"], "y")], x=((1, 1), FLOAT)),
     "'Conv of y': nothing takes 'Conv'; taken are Add"),
    (model([node("Relu", ["z"], "y")]), "'Relu of y' reads 'z', which nothing makes"),
    (blocked(data=((48, 128), INT4)), "'x' has elements of ONNX's type 22"),
    (blocked(data=((48, 128), FLOAT)), "elements of f32; fp8, fp6 and fp4 are taken"),
    (blocked(scale=((48,), FLOAT)), "are for whole rows or columns"),
    (blocked(block_size=24), "block_size = 24 does not cut"),
    (blocked(scale=((40, 4), E8M0)), "do not fit tensor<48x128xf8E4M3FN>"),
    (model([node("Gemm", ["x", "x"], "y", alpha=2.0)], x=((4, 4), FLOAT)),
     "'Gemm of y': alpha other than 1"),
    (model([node("MatMul", ["x", "v"], "y")], x=((4, 4), FLOAT), v=((4,), FLOAT)),
     "a product of tensor<4x4xf32> and tensor<4xf32>"),
])
def test_what_is_not_taken_is_named(given, words):
    with pytest.raises(bs.Refused) as caught:
        bs.from_onnx(given)
    assert words in str(caught.value)
