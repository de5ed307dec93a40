# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What from_onnx says of models, without onnx: of a model it needs no more than what
these few classes have. What it makes of real ones is run in
test/Conversion/ImportToBlockscale."""

from types import SimpleNamespace

import pytest

import blockscale as bs

FLOAT, HALF, INT4, E4M3, E8M0 = 1, 10, 22, 17, 24


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


def dynamic(op, shape=(48, 128), factor=None, **attributes):
    made = node(op, ["x", *(["f"] * (factor is not None))], "q", **attributes)
    made.domain, made.output = "trt", ["q", "s"]
    more = {} if factor is None else {"f": factor}
    return model([made, node("Relu", ["q"], "y")], x=(shape, FLOAT), **more)


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
    (blocked(data=((48, 128), INT4), scale=((48, 4), FLOAT)),
     "'MatMul of y': a product in f32 of what 'DequantizeLinear of xd' dequantises, "
     "tensor<48x128xi8> with scales tensor<48x4xf32>, which no kernel does; with scales "
     "or output_dtype of f16 or bf16 it is one of 16 bits"),
    (blocked(scale=((48, 4), FLOAT)), "a product in f32 of what 'DequantizeLinear of"),
    (blocked(data=((48, 128), FLOAT)),
     "elements of f32; fp8, fp6, fp4 and integers are taken"),
    (blocked(scale=((48, 4), E4M3)),
     "'DequantizeLinear of xd': its scales are tensor<48x4xf8E4M3FN>, to which the scale "
     "of the whole is missing"),
    (blocked(output_dtype=11), "output_dtype is ONNX's type 11; f32, f16 and bf16 are"),
    (dynamic("TRT_MXFP8DynamicQuantize", axis=0),
     "'TRT_MXFP8DynamicQuantize of q, s': block_size = 32 along dimension 0 of "
     "tensor<48x128xf32>; blocks of 32 along the last one are taken"),
    (dynamic("TRT_MXFP8DynamicQuantize", block_size=16),
     "block_size = 16 along dimension 1 of tensor<48x128xf32>; blocks of 32 along"),
    (dynamic("TRT_MXFP8DynamicQuantize", shape=(48, 100)),
     "block_size = 32 does not cut 100 elements of a row"),
    (dynamic("TRT_FP4DynamicQuantize", factor=((48,), FLOAT)),
     "its scale is tensor<48xf32>; one f32 is taken"),
    (dynamic("TRT_FP4QDQ"), "nothing takes 'trt::TRT_FP4QDQ'; taken are Add"),
    (blocked(scale=((40,), FLOAT)), "there is one for all of it, for each row or column"),
    (blocked(block_size=24), "block_size = 24 does not cut"),
    (blocked(scale=((40, 4), E8M0)), "do not fit tensor<48x128xf8E4M3FN>"),
    (model([node("Gemm", ["x", "x"], "y", alpha=2.0)], x=((4, 4), HALF)),
     "'Gemm of y': alpha = 2.0 of tensor<4x4xf16>, which would be rounded before"),
    (model([node("MatMul", ["x", "v"], "y")], x=((4, 4), FLOAT), v=((4,), FLOAT)),
     "a product of tensor<4x4xf32> and tensor<4xf32>"),
])
def test_what_is_not_taken_is_named(given, words):
    with pytest.raises(bs.Refused) as caught:
        bs.from_onnx(given)
    assert words in str(caught.value)
