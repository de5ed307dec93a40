"""Writes what blockscale.from_onnx makes of models, and what ONNX computes.

    pip install onnx
    python make_onnx.py FOLDER

Run with the package blockscale on the path. For each model the folder gets a module
and the result of onnx.reference.ReferenceEvaluator for the operands of operands.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from blockscale._from_onnx import in_linalg

from operands import E2M1, E4M3, E8M0, elements, scales

M, N, K = 48, 64, 128


def dequantize(data, scale, output, axis, block):
    return helper.make_node("DequantizeLinear", [data, scale], [output], axis=axis,
                            block_size=block, output_dtype=TensorProto.FLOAT)


def model(nodes, inputs, constants):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "test",
        [value(name, helper.np_dtype_to_tensor_dtype(one.dtype),
               ["m", *one.shape[1:]]) for name, one in inputs.items()],
        [value("y", TensorProto.FLOAT, ["m", N])],
        [numpy_helper.from_array(one, name) for name, one in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])


def mxfp8():
    """Weights [N, K] behind a Transpose, bias and ReLU."""
    inputs = {"x": elements((M, K), E4M3, 0), "sx": scales((M, K // 32), E8M0, 0)}
    constants = {"w": elements((N, K), E4M3, 3), "sw": scales((N, K // 32), E8M0, 1),
                 "bias": np.arange(N, dtype=np.float32) - 20}
    nodes = [dequantize("x", "sx", "xd", 1, 32), dequantize("w", "sw", "wd", 1, 32),
             helper.make_node("Transpose", ["wd"], ["wt"], perm=[1, 0]),
             helper.make_node("MatMul", ["xd", "wt"], ["p"]),
             helper.make_node("Add", ["p", "bias"], ["q"]),
             helper.make_node("Relu", ["q"], ["y"])]
    return nodes, inputs, constants


def nvfp4():
    """Scales of e4m3 that have a scale of their own; weights [K, N]."""
    inputs = {"x": elements((M, K), E2M1, 0), "sx": scales((M, K // 16), E4M3, 0)}
    constants = {"gx": np.float32(0.5), "w": elements((K, N), E2M1, 3),
                 "sw": scales((K // 16, N), E4M3, 1), "gw": np.float32(4)}

    def outer(data, scale, output):
        return helper.make_node("DequantizeLinear", [data, scale], [output],
                                output_dtype=TensorProto.FLOAT)

    nodes = [outer("sx", "gx", "fx"), dequantize("x", "fx", "xd", 1, 16),
             outer("sw", "gw", "fw"), dequantize("w", "fw", "wd", 0, 16),
             helper.make_node("Gemm", ["xd", "wd"], ["y"])]
    return nodes, inputs, constants


def main():
    folder = pathlib.Path(sys.argv[1])
    for make in (mxfp8, nvfp4):
        nodes, inputs, constants = make()
        program = model(nodes, inputs, constants)
        onnx.checker.check_model(program)
        name = make.__name__
        (folder / f"{name}.mlir").write_text(in_linalg(program, name).mlir)
        result, = ReferenceEvaluator(program).run(None, inputs)
        np.save(folder / f"{name}.npy", result)


if __name__ == "__main__":
    main()
