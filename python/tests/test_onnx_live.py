# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models that onnx makes, against what its reference evaluator computes. Only where
onnx is there; what from_onnx made of some before is run in
test/Conversion/ImportToBlockscale, without it."""

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx.reference.op_run import OpRun  # noqa: E402

M, N, K = 40, 48, 128
E4M3, E5M2, E8M0, E2M1 = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
                          ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn)
E2M3, E3M2 = ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn
FLOAT, HALF, BRAIN = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16


def numbers(shape, dtype, seed):
    """Small integers, so that sums are exact."""
    values = np.random.default_rng(seed).integers(-3, 4, shape)
    return values.astype(np.float32).astype(dtype)


def powers(shape, dtype, seed):
    exponents = np.random.default_rng(seed + 50).integers(-2, 3, shape)
    return np.exp2(exponents.astype(np.float32)).astype(dtype)


def dequantize(data, scale, output, axis, block, dtype=None):
    more = {} if dtype is None else {"output_dtype": dtype}
    return helper.make_node("DequantizeLinear", [data, scale], [output], axis=axis,
                            block_size=block, **more)


def model(nodes, inputs, constants, opset, out=FLOAT):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "test",
        [value(name, helper.np_dtype_to_tensor_dtype(one.dtype), ["m", *one.shape[1:]])
         for name, one in inputs.items()],
        [value("y", out, ["m", N])],
        [numpy_helper.from_array(one, name) for name, one in constants.items()])
    return helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("trt", 1)])


def compare(made, inputs, ops=(), bound=0.0):
    """bound: of the largest magnitude."""
    wanted, = ReferenceEvaluator(made, new_ops=list(ops)).run(None, inputs)
    imported = bs.from_onnx(made)
    assert imported.mlir.count("blockscale.matmul") == 1
    found = bs.Program(imported)(*inputs.values())
    assert str(found.dtype) == str(wanted.dtype) and found.shape == wanted.shape
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    assert len(np.unique(wanted)) > 20
    assert abs(found - wanted).max() <= bound * abs(wanted).max()


# Opset, elements of activations and weights, whether rows of these lie along K.
BLOCKED = [(24, E4M3, E4M3, True), (24, E5M2, E4M3, False), (25, E2M1, E2M1, True),
           (26, E2M1, E4M3, False), (27, E4M3, E2M1, True), (28, E2M3, E3M2, False),
           (28, E4M3, E2M3, True)]


@pytest.mark.parametrize("opset, left, right, is_transposed", BLOCKED)
def test_blocks_with_powers_of_two(opset, left, right, is_transposed):
    scale, block = E8M0, 32
    inputs = {"x": numbers((M, K), left, 1), "s": powers((M, K // block), scale, 1)}
    shapes = [(N, K), (N, K // block)]
    if not is_transposed:
        shapes = [shape[::-1] for shape in shapes]
    constants = {"w": numbers(shapes[0], right, 2), "t": powers(shapes[1], scale, 2)}
    nodes = [dequantize("x", "s", "a", 1, block, FLOAT),
             dequantize("w", "t", "b", 1 if is_transposed else 0, block, FLOAT)]
    nodes.append(helper.make_node("Gemm", ["a", "b"], ["y"], transB=1) if is_transposed
                 else helper.make_node("MatMul", ["a", "b"], ["y"]))
    compare(model(nodes, inputs, constants, opset), inputs)


@pytest.mark.parametrize("alpha, beta, is_transposed, c", [
    (0.25, 2.0, 1, (N,)), (0.5, 0.125, 0, (1, N)), (4.0, 1.0, 1, (M, N)),
    (1.0, 0.5, 0, (1,)), (-2.0, 1.0, 1, None)])
def test_factors_of_a_product_and_of_what_is_added(alpha, beta, is_transposed, c):
    inputs = {"x": numbers((M, K), E4M3, 1), "s": powers((M, K // 32), E8M0, 1)}
    shapes = [(N, K), (N, K // 32)]
    if not is_transposed:
        shapes = [shape[::-1] for shape in shapes]
    constants = {"w": numbers(shapes[0], E4M3, 2), "t": powers(shapes[1], E8M0, 2)}
    if c:
        constants["c"] = np.arange(np.prod(c), dtype=np.float32).reshape(c) - 20
    nodes = [dequantize("x", "s", "a", 1, 32, FLOAT),
             dequantize("w", "t", "b", is_transposed, 32, FLOAT),
             helper.make_node("Gemm", ["a", "b", *(["c"] if c else [])], ["y"],
                              alpha=alpha, beta=beta, transB=is_transposed)]
    compare(model(nodes, inputs, constants, 24), inputs)


@pytest.mark.parametrize("opset", [23, 24, 25, 28])
def test_two_levels_of_nvfp4(opset):
    inputs = {"x": numbers((M, K), E2M1, 1), "s": powers((M, K // 16), E4M3, 1)}
    constants = {"w": numbers((N, K), E2M1, 2), "t": powers((N, K // 16), E4M3, 2),
                 "g": np.float32(0.5), "h": np.float32(4)}
    nodes = [helper.make_node("DequantizeLinear", ["s", "g"], ["sg"]),
             helper.make_node("DequantizeLinear", ["t", "h"], ["th"]),
             dequantize("x", "sg", "a", -1, 16), dequantize("w", "th", "b", -1, 16),
             helper.make_node("Transpose", ["b"], ["bt"], perm=[1, 0]),
             helper.make_node("MatMul", ["a", "bt"], ["y"])]
    compare(model(nodes, inputs, constants, opset), inputs)


@pytest.mark.parametrize("opset, dtype, half", [
    (21, ml_dtypes.int4, np.float16), (22, ml_dtypes.uint4, ml_dtypes.bfloat16),
    (25, ml_dtypes.int2, np.float16), (25, ml_dtypes.uint2, ml_dtypes.bfloat16),
    (27, np.uint8, np.float16), (28, np.int8, ml_dtypes.bfloat16)])
def test_integers_are_weights_of_16_bits(opset, dtype, half):
    """Dequantised on the host; with zero points where there is no sign."""
    rng = np.random.default_rng(3)
    inputs = {"x": numbers((M, K), half, 1)}
    low, high = {ml_dtypes.uint4: (0, 16), ml_dtypes.uint2: (0, 4),
                 np.uint8: (0, 16)}.get(dtype, (-2, 2))
    constants = {"w": rng.integers(low, high, (N, K)).astype(np.int8).astype(dtype),
                 "t": powers((N, K // 32), half, 2)}
    names = ["w", "t"]
    if low == 0:
        middle = high // 2 - 1
        constants["z"] = rng.integers(middle, middle + 3, (N, K // 32)).clip(
            low, high - 1).astype(np.int8).astype(dtype)
        names.append("z")
    nodes = [helper.make_node("DequantizeLinear", names, ["b"], axis=1, block_size=32),
             helper.make_node("Transpose", ["b"], ["bt"], perm=[1, 0]),
             helper.make_node("MatMul", ["x", "bt"], ["y"])]
    out = helper.np_dtype_to_tensor_dtype(np.dtype(half))
    compare(model(nodes, inputs, constants, opset, out), inputs)


# Elements, how long the blocks are that share a scale (0: rows, None: all) and the
# scales' type, of activations and of weights. bf16 and f16 are cast to f32.
IN_REGISTERS = [
    (E4M3, 128, np.float32, E4M3, 128, np.float32), (E5M2, 64, HALF, E4M3, 32, HALF),
    (E4M3, None, np.float32, E4M3, None, np.float32),
    (E4M3, None, np.float32, E4M3, 0, np.float32),
    (E4M3, 0, np.float32, E2M1, 128, np.float32),
    (BRAIN, None, None, np.int8, 32, np.float32), (HALF, None, None, np.int8, 0, np.float32),
    (BRAIN, None, None, np.uint8, 64, np.float32),
    (E4M3, 128, np.float32, ml_dtypes.uint4, 128, np.float32),
    (E4M3, 128, np.float32, ml_dtypes.int4, 32, np.float32)]


def scaled_operand(name, shape, dtype, block, scale, axis):
    """Constants and nodes of one side, that `name` is then."""
    if dtype in (HALF, BRAIN):
        cast = helper.make_node("Cast", [f"{name}q"], [name], to=FLOAT)
        return {f"{name}q": numbers(shape, helper.tensor_dtype_to_np_dtype(dtype), 1)}, \
            [cast]
    if scale in (HALF, BRAIN):
        scale = helper.tensor_dtype_to_np_dtype(scale)
    made = {f"{name}q": numbers(shape, dtype, 2)}
    blocks = [*shape]
    blocks[axis] //= block or 1
    scales = blocks if block else [shape[1 - axis]] if block == 0 else []
    made[f"{name}s"] = powers(tuple(scales), scale, 2)
    names, how = [f"{name}q", f"{name}s"], {"output_dtype": FLOAT}
    if dtype in (np.uint8, ml_dtypes.uint4):
        rng = np.random.default_rng(4)
        for one, low, high in (("q", 0, 16), ("z", 6, 10)):
            of = shape if one == "q" else scales
            made[name + one] = rng.integers(low, high, of).astype(np.uint8).astype(dtype)
        names.append(f"{name}z")
    if block is not None:
        how["axis"] = axis if block else 1 - axis
    if block:
        how["block_size"] = block
    return made, [helper.make_node("DequantizeLinear", names, [name], **how)]


@pytest.mark.parametrize("left, left_block, left_scale, right, right_block, right_scale",
                         IN_REGISTERS)
@pytest.mark.parametrize("is_transposed", [True, False])
def test_scales_of_floats_are_multiplied_by_kernels(
        left, left_block, left_scale, right, right_block, right_scale, is_transposed):
    k = 256
    inputs, nodes = scaled_operand("a", (M, k), left, left_block, left_scale, 1)
    given = {name: inputs.pop(name) for name in [*inputs] if inputs[name].ndim}
    constants, more = scaled_operand("b", (N, k) if is_transposed else (k, N), right,
                                     right_block, right_scale, 1 if is_transposed else 0)
    product = helper.make_node("Gemm", ["a", "b"], ["y"], transB=int(is_transposed))
    compare(model([*nodes, *more, product], given, {**inputs, **constants}, 25), given)


# TensorRT's operators, by its documentation -----------------------------------


class TRT_MXFP8DynamicQuantize(OpRun):
    """A byte for each block: the exponent of the least power of two above the
    largest element over 448, biased by 127."""

    op_domain = "trt"

    def _run(self, x, axis=None, block_size=None, output_dtype=None):
        blocks = x.astype(np.float64).reshape(len(x), -1, 32)
        largest = abs(blocks).max(-1)
        exponents = np.ceil(np.log2(largest / 448)).astype(int)
        data = (blocks / np.exp2(exponents)[..., None]).reshape(x.shape)
        return data.astype(E4M3), (exponents + 127).astype(np.uint8)


class TRT_MXFP8DequantizeLinear(OpRun):
    op_domain = "trt"

    def _run(self, x, scale, axis=None, block_size=None, output_dtype=None):
        wide = np.repeat(np.exp2(scale.astype(np.float64) - 127), 32, 1)
        return ((x.astype(np.float64) * wide).astype(np.float32),)


class TRT_FP4DynamicQuantize(OpRun):
    """Scales of e4m3: the largest element over 6, over the scale of the whole."""

    op_domain = "trt"

    def _run(self, x, whole, axis=None, block_size=None, scale_type=None):
        blocks = x.astype(np.float32).reshape(len(x), -1, 16)
        scales = (abs(blocks).max(-1) / 6 / whole).astype(E4M3)
        data = blocks / (scales.astype(np.float32) * whole)[..., None]
        return data.reshape(x.shape).astype(E2M1), scales


def activations(dtype):
    """Of which no block is nothing but zeros, and no quotient a tie."""
    values = np.random.default_rng(9).normal(0, 1, (M, K)).astype(dtype)
    return values * np.exp2(np.arange(M) % 7 - 3).astype(dtype)[:, None]


def test_activations_are_quantised_to_mxfp8():
    inputs = {"x": activations(np.float32)}
    constants = {"w": numbers((N, K), E4M3, 2),
                 "t": (powers((N, 4), np.float32, 2).view(np.uint32) >> 23).astype(
                     np.uint8)}
    how = dict(domain="trt", axis=-1, block_size=32)
    nodes = [helper.make_node("TRT_MXFP8DynamicQuantize", ["x"], ["q", "s"], **how,
                              output_dtype=TensorProto.FLOAT8E4M3FN),
             helper.make_node("TRT_MXFP8DequantizeLinear", ["q", "s"], ["a"], **how,
                              output_dtype=FLOAT),
             helper.make_node("TRT_MXFP8DequantizeLinear", ["w", "t"], ["b"], **how,
                              output_dtype=FLOAT),
             helper.make_node("Transpose", ["b"], ["bt"], perm=[1, 0]),
             helper.make_node("MatMul", ["a", "bt"], ["y"])]
    compare(model(nodes, inputs, constants, 21), inputs,
            (TRT_MXFP8DynamicQuantize, TRT_MXFP8DequantizeLinear), 2.0 ** -20)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_activations_are_quantised_to_nvfp4(dtype):
    inputs = {"x": activations(dtype)}
    constants = {"w": numbers((N, K), E2M1, 2), "t": powers((N, 8), E4M3, 2),
                 "g": np.float32(0.03125), "h": np.float32(4)}
    nodes = [helper.make_node("TRT_FP4DynamicQuantize", ["x", "g"], ["q", "s"],
                              domain="trt", axis=-1, block_size=16, scale_type=17),
             helper.make_node("DequantizeLinear", ["s", "g"], ["sg"]),
             helper.make_node("DequantizeLinear", ["t", "h"], ["th"]),
             dequantize("q", "sg", "a", -1, 16), dequantize("w", "th", "b", -1, 16),
             helper.make_node("Transpose", ["b"], ["bt"], perm=[1, 0]),
             helper.make_node("MatMul", ["a", "bt"], ["y"])]
    compare(model(nodes, inputs, constants, 23), inputs, (TRT_FP4DynamicQuantize,),
            2.0 ** -20)
