# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""JAX's products of groups of rows, lowered for CUDA: one launch for all groups."""

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

jax = pytest.importorskip("jax")
jnp = jax.numpy

ROWS, N, K = 300, 72, 128
# Of two tiles, none, one row, the rest but three rows that are 0 then.
SIZES = np.array([130, 0, 1, 166], np.int32)
BF16 = ml_dtypes.bfloat16


def operands():
    rng = np.random.default_rng(1)
    return (rng.integers(-3, 4, (ROWS, K)).astype(BF16),
            rng.integers(-3, 4, (len(SIZES), K, N)).astype(BF16))


def lowered(function, inputs, exported):
    shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in inputs]
    if exported:
        return jax.export.export(jax.jit(function), platforms=["cuda"])(*shapes)
    return jax.jit(function).trace(*shapes).lower(lowering_platforms=("cuda",))


@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize("out", [jnp.float32, jnp.bfloat16])
def test_one_launch(exported, out):
    x, w = operands()
    wanted, start = np.zeros((ROWS, N)), 0
    for size, matrix in zip(SIZES, w.astype(np.float64)):
        wanted[start:start + size] = x[start:start + size].astype(np.float64) @ matrix
        start += size
    assert len(np.unique(wanted)) > 200

    def main(x, w, sizes):
        return jax.lax.ragged_dot(x, w, sizes, preferred_element_type=out)
    imported = bs.from_jax(lowered(main, (x, w, SIZES), exported))
    outcome = bs.Program(imported).run(x, w, SIZES)
    assert len(outcome.launches) == 1
    assert np.array_equal(outcome.results[0].astype(np.float64),
                          wanted.astype(out).astype(np.float64))


def along_k(x, w, sizes):
    numbers = jax.lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(((0,), (0,)), ((), ())), lhs_ragged_dimensions=(0,),
        rhs_group_dimensions=())
    return jax.lax.ragged_dot_general(x, w, sizes, numbers)


@pytest.mark.parametrize("function, x, w, words", [
    (jax.lax.ragged_dot, np.ones((8, 64), np.float32), np.ones((4, 64, 16), np.float32),
     "bf16 or f16 on both sides and of known sizes, found 'tensor<8x64xf32>'"),
    (along_k, np.ones((64, 8), BF16), np.ones((64, 16), BF16),
     "rows of a matrix with one matrix for each group")])
def test_what_is_not_taken_is_named(function, x, w, words):
    with pytest.raises(bs.CompileError) as caught:
        bs.from_jax(lowered(lambda *given: function(*given), (x, w, SIZES), False))
    assert words in str(caught.value)
