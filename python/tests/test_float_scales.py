# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products whose scales are f32, f16 or bf16, as linalg and JAX write them: kernels do
them, and give what numpy and XLA give. Numbers are small integers and powers of two, so
that sums are exact."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
INPUTS = Path(__file__).parents[2] / "test/Conversion/ImportToBlockscale/Inputs"


def numbers(shape, dtype, seed, low=-3, high=4):
    values = np.random.default_rng(seed).integers(low, high, shape)
    return values.astype(np.float32).astype(dtype)


def powers(shape, dtype, seed):
    exponents = np.random.default_rng(seed + 50).integers(-2, 3, shape)
    return np.exp2(exponents.astype(np.float32)).astype(dtype)


def stretched(scales, *tiles):
    """Each scale once for each element of its tile."""
    wide = scales.astype(np.float64)
    for axis, tile in enumerate(tiles):
        wide = np.repeat(wide, tile, axis)
    return wide


# What linalg says -------------------------------------------------------------


def deepseek():
    a, s = numbers((48, 256), E4M3, 1), powers((48, 2), np.float32, 1)
    b, t = numbers((200, 256), E4M3, 2), powers((2, 2), np.float32, 2)
    left = a.astype(float) * stretched(s, 1, 128)
    return [a, s, b, t], left @ (b.astype(float) * stretched(t, 128, 128)[:200]).T


def joined():
    a, s = numbers((40, 2, 64), E5M2, 1), powers((40, 2), np.float16, 1)
    b, t = numbers((2, 64, 3, 32), E4M3, 2), powers((2, 3), BF16, 2)
    c = numbers((40, 96), np.float32, 3)
    left = a.astype(float).reshape(40, 128) * stretched(s, 1, 64)
    return [a, s, b, t, c], left @ (b.astype(float).reshape(128, 96) *
                                    stretched(t, 64, 32)) + c


def cut():
    a, s = numbers((40, 256), E4M3, 1), powers((40, 2), np.float32, 1)
    b, t = numbers((72, 256), E4M3, 2), powers((72,), np.float32, 2)
    left = a.astype(float) * stretched(s, 1, 128)
    return [a, s, b, t], left @ (b.astype(float) * t[:, None]).T


def loops():
    a, s = numbers((40, 256), E4M3, 1), powers((40, 4), np.float32, 1)
    b, t = numbers((72, 4, 64), E4M3, 2), powers((72, 4), np.float32, 2)
    c = numbers((40, 72), np.float32, 3)
    left = a.astype(float) * stretched(s, 1, 64)
    return [a, s, b, t, c], left @ (b.astype(float).reshape(72, 256) *
                                    stretched(t, 1, 64)).T + c


def int4():
    a, b = numbers((40, 128), BF16, 1), numbers((128, 72), ml_dtypes.int4, 2, -8, 8)
    t, c = powers((4, 72), BF16, 2), numbers((40, 72), np.float32, 3)
    right = b.astype(float) * stretched(t, 32, 1)
    return [a, b, t, c], a.astype(float) @ right + c


def zeros():
    a = numbers((40, 256), np.float16, 1)
    b, z = (numbers(shape, ml_dtypes.uint4, seed, 0, 16)
            for seed, shape in enumerate([(72, 256), (72, 2)]))
    t, c = powers((72, 2), np.float16, 2), numbers((40, 72), np.float32, 3)
    right = (b.astype(float) - stretched(z, 1, 128)) * stretched(t, 1, 128)
    codes = [one.view(np.int8).astype(ml_dtypes.int4) for one in (b, z)]
    return [a, codes[0], t, codes[1], c], a.astype(float) @ right.T + c


def shared():
    a, s = numbers((40, 256), E4M3, 1), powers((16,), np.float32, 1)
    b, t = numbers((72, 256), np.int8, 2, -8, 8), powers((72,), np.float32, 2)
    c = numbers((40, 72), np.float32, 3)
    return [a, s, b, t, c], (a.astype(float) * stretched(s, 16)) @ (
        b.astype(float) * t[:, None]).T + c


@pytest.mark.parametrize("make", [deepseek, joined, cut, loops, int4, zeros, shared])
def test_kernels_do_what_linalg_says(make):
    operands, wanted = make()
    text = bs.from_mlir((INPUTS / "float-scales.mlir").read_text()).mlir
    found = bs.Program(text)(*operands, function=make.__name__)
    assert len(np.unique(wanted)) > 100
    assert np.array_equal(found, wanted)


# What JAX writes --------------------------------------------------------------

M, N, K = 40, 256, 256


def rows_of_blocks(jnp, q, s, block):
    cut = q.astype(jnp.float32).reshape(q.shape[0], -1, block)
    return (cut * s.reshape(q.shape[0], -1, 1)).reshape(q.shape)


def squares(jnp, w, s, size):
    n, k = w.shape
    cut = w.astype(jnp.float32).reshape(n // size, size, k // size, size)
    return (cut * s[:, None, :, None]).reshape(n, k)


def deepseek_by_shapes(jnp, a, s, w, t):
    return rows_of_blocks(jnp, a, s, 128) @ squares(jnp, w, t, 128).T


def deepseek_by_repeats(jnp, a, s, w, t):
    wide = jnp.repeat(jnp.repeat(t, 128, axis=0), 128, axis=1)
    return jnp.einsum("mk,nk->mn", rows_of_blocks(jnp, a, s, 128),
                      w.astype(jnp.float32) * wide)


def of_eight_bits(jnp, a, s, w, t):
    sums = jnp.matmul(a, w.T, preferred_element_type=jnp.float32)
    return jnp.maximum(sums * s[:, :1] * t[0, 0], -8)


def weights_of_blocks(jnp, x, w, t):
    return x.astype(jnp.float32) @ rows_of_blocks(jnp, w, t, 32).T


def weights_of_rows(jnp, x, w, t):
    return x.astype(jnp.float32) @ (w.astype(jnp.float32) * t[:, :1]).T


def dynamic_eight_bits(jnp, a, w, s, t, c):
    """A scale for each token and each channel, and a bias."""
    wide = jnp.int32 if a.dtype == jnp.int8 else jnp.float32
    sums = jnp.matmul(a, w.T, preferred_element_type=wide).astype(jnp.float32)
    return jnp.maximum(sums * s * t + c, -8)


def dynamic_eight_bits_at_once(jnp, a, w, s, t, c):
    wide = jnp.int32 if a.dtype == jnp.int8 else jnp.float32
    sums = jnp.matmul(a, w.T, preferred_element_type=wide).astype(jnp.float32)
    return (sums * (s * t) + c).astype(jnp.bfloat16)


FLOATS = [numbers((M, K), E4M3, 1), powers((M, K // 128), np.float32, 1),
          numbers((N, K), E4M3, 2), powers((N // 128, K // 128), np.float32, 2)]
HALVES = [numbers((M, K), BF16, 1), powers((N, K // 32), np.float32, 2)]


@pytest.mark.parametrize("function, dtype", [
    (deepseek_by_shapes, None), (deepseek_by_repeats, None), (of_eight_bits, None),
    (weights_of_blocks, ml_dtypes.int4), (weights_of_blocks, np.int8),
    (weights_of_blocks, E4M3), (weights_of_rows, np.int8), (weights_of_rows, E5M2)])
def test_kernels_do_what_jax_writes(function, dtype):
    jax = pytest.importorskip("jax")
    operands = FLOATS
    if dtype is not None:
        x, t = HALVES
        operands = [x, numbers((N, K), dtype, 2), t]
    jitted = jax.jit(lambda *given: function(jax.numpy, *given), keep_unused=True)
    wanted = np.asarray(jitted(*operands))
    imported = bs.from_jax(jitted.lower(*operands))
    assert imported.mlir.count("blockscale.matmul") == 1
    assert len(np.unique(wanted)) > 100
    assert np.array_equal(bs.Program(imported)(*operands), wanted)


@pytest.mark.parametrize("function", [dynamic_eight_bits, dynamic_eight_bits_at_once])
@pytest.mark.parametrize("dtype", [np.int8, E4M3, E5M2])
def test_factors_of_rows_and_columns_are_scales_of_the_operands(function, dtype):
    jax = pytest.importorskip("jax")
    operands = [numbers((M, K), dtype, 1), numbers((72, K), dtype, 2),
                powers((M, 1), np.float32, 1), powers((72,), np.float32, 2),
                numbers((72,), np.float32, 3)]
    jitted = jax.jit(lambda *given: function(jax.numpy, *given))
    wanted = np.asarray(jitted(*operands))
    imported = bs.from_jax(jitted.lower(*operands))
    assert imported.mlir.count('"float32_t0"') >= 2
    assert "linalg" not in imported.mlir and " c(" not in imported.mlir
    assert len(np.unique(wanted.astype(float))) > 100
    assert np.array_equal(bs.Program(imported)(*operands), wanted)


def test_sums_of_integers_are_exact():
    jax = pytest.importorskip("jax")
    operands = [numbers((M, K), np.int8, 1, -128, 128), numbers((72, K), np.int8, 2, -128, 128)]
    jitted = jax.jit(lambda a, w: jax.numpy.matmul(a, w.T, preferred_element_type=np.int32))
    imported = bs.from_jax(jitted.lower(*operands))
    assert "-> tensor<40x72xi32>" in imported.mlir and "linalg" not in imported.mlir
    assert np.array_equal(bs.Program(imported)(*operands),
                          operands[0].astype(np.int32) @ operands[1].astype(np.int32).T)
    # sm_103a multiplies no integers: the host does.
    hosted = bs.from_jax(jitted.lower(*operands), target="sm_103a")
    assert "blockscale.matmul" not in hosted.mlir
