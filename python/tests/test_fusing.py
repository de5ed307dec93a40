# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What follows products of JAX becomes part of their kernels: how many kernels there
are, what their plans say, and the numbers, against XLA on the CPU. Only where jax is
there; test/Dialect/Blockscale/Transforms/fuse-epilogues.mlir shows the pass alone."""

import numpy as np
import pytest

import blockscale as bs

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
M, N, K = 40, 48, 64


def operands():
    """Codes and scales of three sides, from a seed."""
    rng = np.random.default_rng(5)
    given = []
    for rows in (M, N, N):
        scaled = bs.quantize(rng.normal(0, 0.7, (rows, K)).astype(np.float32), "mxfp8")
        given += [scaled.data, scaled.scales]
    return given


def dot(x, s, w, t, element=jnp.float32):
    return lax.scaled_dot(x, w, lhs_scale=s, rhs_scale=t, preferred_element_type=element,
                          dimension_numbers=(((1,), (1,)), ((), ())))


BIAS = np.linspace(-1, 1, N, dtype=np.float32)
ROWS = np.linspace(-2, 2, M, dtype=np.float32)
C = np.sin(np.arange(M * N, dtype=np.float32)).reshape(M, N)
FACTOR = np.float32(1.375)


def clamped_swiglu(x, s, g, t, u, v, bias, rows):
    """gpt-oss's."""
    gate = jnp.minimum(dot(x, s, g, t) + bias, 7)
    up = jnp.clip(dot(x, s, u, v), -7, 7)
    return gate * jax.nn.sigmoid(1.702 * gate) * (up + 1)


# For each function what the plan says of its last kernel: inputs besides the product,
# and ops that the epilogue has. No host op is left.
CASES = {
    "factor": (lambda x, s, g, t, *_: dot(x, s, g, t) * FACTOR, "", "alpha"),
    "bias": (lambda x, s, g, t, u, v, bias, rows: dot(x, s, g, t) + bias, "bias", ""),
    "relu": (lambda x, s, g, t, *_: jax.nn.relu(dot(x, s, g, t)), "", "maximumf"),
    "gelu": (lambda x, s, g, t, *_: jax.nn.gelu(dot(x, s, g, t), approximate=False), "",
             "erf"),
    "gelu by tanh": (lambda x, s, g, t, u, v, bias, rows:
                     jax.nn.gelu(dot(x, s, g, t) * 0.5 + bias), "bias", "tanh"),
    "silu": (lambda x, s, g, t, *_: jax.nn.silu(dot(x, s, g, t)), "", "exp"),
    "swiglu": (lambda x, s, g, t, u, v, *_: jax.nn.silu(dot(x, s, g, t)) *
               dot(x, s, u, v), "c", "exp"),
    "clamped swiglu": (clamped_swiglu, "c bias", "mulf"),
    "c": (lambda x, s, g, t, *_: jnp.tanh(C - dot(x, s, g, t)), "c", "tanh"),
    "rows": (lambda x, s, g, t, u, v, bias, rows: jnp.abs(dot(x, s, g, t)) *
             rows[:, None], "bias", "absf"),
    "choice": (lambda x, s, g, t, *_: jnp.where(dot(x, s, g, t) > 0.25, C, -1.0), "c",
               "select"),
}


def check(name, function, most):
    given = [*operands(), BIAS, ROWS]
    jitted = jax.jit(function, keep_unused=True)
    imported = bs.from_jax(jitted.lower(*given))
    kernels = bs.compile(imported, host_duties=True)
    kernels = kernels if isinstance(kernels, list) else [kernels]
    found = np.asarray(bs.Program(imported)(*given), np.float64)
    wanted = np.asarray(jitted(*given), np.float64)
    assert found.shape == wanted.shape and len(np.unique(wanted)) > M
    assert abs(found - wanted).max() <= most * abs(wanted).max(), name
    # A check that sees nothing would let this pass.
    assert abs(found[::-1] - wanted).max() > 0.01 * abs(wanted).max()
    return imported.mlir, [kernel for one in kernels
                           for kernel in one.plan["kernels"]]


@pytest.mark.parametrize("name", CASES)
def test_epilogues_in_f32(name):
    """Sums in another order and functions of the kernel: 2^-18 of the largest."""
    function, inputs, op = CASES[name]
    mlir, plans = check(name, function, 2.0 ** -18)
    assert len(plans) == mlir.count("blockscale.matmul") == 1 + ("swiglu" in name)
    said = plans[-1]["epilogue"]
    assert set(inputs.split()) == {one for one in ("c", "bias") if any(
        one in step["operands"] for step in said.get("steps", []))}
    assert said["alpha"] if op == "alpha" else any(
        op in step["op"] for step in said["steps"])
    # Nothing of the product's size is left to the host.
    rest = [line for line in mlir.splitlines() if f"tensor<{M}x{N}xf32>" in line and
            any(op in line for op in ("linalg.", " = math.", " = arith."))
            and "arith.constant" not in line]
    assert not rest


def test_rounding_stays_where_it_was():
    """Products that JAX rounds to bf16, and what it makes of them, rounded behind each
    op: XLA sums in bf16's decomposition, so that a step of bf16 is the bound."""
    def function(x, s, g, t, u, v, bias, rows):
        product = dot(x, s, g, t, jnp.bfloat16)
        return jax.nn.silu(product + bias.astype(jnp.bfloat16))
    mlir, plans = check("bf16", function, 2.0 ** -6)
    assert "epilogue(" in mlir and mlir.count("arith.truncf") >= 3
    assert len(plans) == 1


def test_what_is_read_twice_stays():
    """The product is a result, too, so that the kernel stores it."""
    def function(x, s, g, t, *_):
        product = dot(x, s, g, t)
        return product, jnp.tanh(product)
    given = [*operands(), BIAS, ROWS]
    imported = bs.from_jax(jax.jit(function, keep_unused=True).lower(*given))
    assert "epilogue(" not in imported.mlir
    first, second = bs.Program(imported)(*given)
    assert abs(np.tanh(first) - second).max() < 1e-6
