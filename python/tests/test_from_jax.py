# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What surrounds products in JAX's programs, against XLA on the CPU. Only where jax
is there; examples/model has a program that runs without it."""

import numpy as np
import pytest

import blockscale as bs

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

E4M3, E2M1, E8M0, BF16 = (jnp.float8_e4m3fn, jnp.float4_e2m1fn,
                          jnp.float8_e8m0fnu, jnp.bfloat16)
# Ties and ends of narrow formats among them, and what is no number.
ODD = np.array([0, -0.0, 1, -1, 1.0625, 1.1875, 448, 463, 464, 465, -464.5, 1e30,
                -1e30, 2**-9, 2**-10, 2**-10 * 1.0001, 3 * 2**-10, 0.25, 0.75, 1.25,
                2.5, 3.5, 5, 6, 7, np.inf, -np.inf, np.nan, 1e-40, 2.0**-127,
                2.0**127, 1.5, 3, 0.7499], np.float32)
POWERS = np.array([1, 1.5, 1.49, 3, 2.99, 2.0**-126, 2.0**-127, 2.0**-128,
                   1.5 * 2.0**-127, 1.49 * 2.0**-127, 1.5 * 2.0**-126, 1e-45, 0, -0.0,
                   2.0**127, 1.49 * 2.0**127, 1.5 * 2.0**127, 3e38, np.inf, np.nan,
                   -1, 0.375, 0.75], np.float32)


def ramp(shape, step=0.37):
    """No number twice, around 0."""
    count = int(np.prod(shape))
    return ((np.arange(count) - count // 2) * step).reshape(shape).astype(np.float32)


X, Y = ramp((6, 8)), ramp((6, 8), -0.21) + 3
I, J = (np.arange(48, dtype=np.int32).reshape(6, 8) * 37 % 23 - 9,
        np.arange(48, dtype=np.int32).reshape(6, 8) * 11 % 31)
P = np.abs(X) + 0.1
E5M2 = jnp.float8_e5m2
LARGE = np.array([57344, 61439, 61440, -61441, 70000, -3e38], np.float32)

EXACT = {
    "add": lambda: X + Y, "subtract": lambda: jnp.subtract(X, Y),
    "multiply": lambda: jnp.multiply(X, Y), "divide": lambda: jnp.divide(X, Y),
    "maximum": lambda: jnp.maximum(X, Y), "minimum": lambda: jnp.minimum(X, 1.0),
    "remainder": lambda: lax.rem(X, Y), "negate": lambda: -jnp.asarray(X),
    "abs": lambda: jnp.abs(X), "floor": lambda: jnp.floor(X),
    "ceil": lambda: jnp.ceil(X), "even": lambda: jnp.round(jnp.asarray(X) * 2.5),
    "away": lambda: lax.round(X * 2.5), "sign": lambda: jnp.sign(ODD[:28]),
    "finite": lambda: jnp.isfinite(ODD), "sqrt": lambda: jnp.sqrt(P),
    "int add": lambda: jnp.add(I, J), "int multiply": lambda: jnp.multiply(I, J),
    "int maximum": lambda: jnp.maximum(I, J), "and": lambda: lax.bitwise_and(I, J),
    "or": lambda: lax.bitwise_or(I, J), "xor": lambda: lax.bitwise_xor(I, J),
    "not": lambda: lax.bitwise_not(I), "int abs": lambda: jnp.abs(I),
    "left": lambda: lax.shift_left(I, J), "logical": lambda:
        lax.shift_right_logical(I, J + 8),
    "arithmetic": lambda: lax.shift_right_arithmetic(I, J + 8),
    "unsigned": lambda: lax.max(I.astype(np.uint32), J.astype(np.uint32)),
    "unsigned float": lambda: jnp.asarray(I).astype(jnp.uint32).astype(jnp.float32),
    "less": lambda: jnp.less(X, Y), "equal": lambda: jnp.equal(I, J),
    "not equal": lambda: jnp.not_equal(ODD, ODD),
    "unsigned greater": lambda: lax.gt(I.astype(np.uint32), J.astype(np.uint32)),
    "select": lambda: jnp.where(X > Y, X, Y), "clamp": lambda: lax.clamp(-2.0, X, 3.0),
    "bits": lambda: lax.bitcast_convert_type(X, jnp.int32),
    "to int": lambda: jnp.asarray(X).astype(jnp.int32),
    "to float": lambda: jnp.asarray(I).astype(jnp.float32),
    "to bool": lambda: jnp.asarray(I).astype(bool),
    "from bool": lambda: jnp.greater(X, 0).astype(jnp.float32),
    "bf16": lambda: X.astype(BF16) * Y.astype(BF16),
    "f16": lambda: jnp.asarray(X).astype(jnp.float16),
    "int8": lambda: jnp.asarray(I).astype(jnp.int8).astype(jnp.int32),
    "to e4m3": lambda: jnp.asarray(ODD).astype(E4M3),
    "e4m3": lambda: jnp.arange(256, dtype=jnp.uint8).view(E4M3).astype(jnp.float32),
    "to e2m1": lambda: jnp.asarray(ODD[:25]).astype(E2M1).astype(jnp.float32),
    "to e8m0": lambda: lax.bitcast_convert_type(jnp.asarray(POWERS).astype(E8M0),
                                                jnp.uint8),
    "e8m0": lambda: jnp.arange(256, dtype=jnp.uint8).view(E8M0).astype(jnp.float32),
    "reshape": lambda: jnp.reshape(X, (4, 3, 4)),
    "transpose": lambda: jnp.transpose(jnp.reshape(X, (2, 3, 8)), (2, 0, 1)),
    "broadcast": lambda: jnp.broadcast_to(X[:, None, :1], (6, 5, 3)),
    "outer": lambda: X[0][:, None] * Y[0][None, :],
    "slice": lambda: lax.slice(X, (1, 2), (6, 8), (2, 3)),
    "concatenate": lambda: jnp.concatenate([X, Y[:, :3], X], 1),
    "iota": lambda: lax.broadcasted_iota(jnp.float32, (3, 5), 1),
    "one hot": lambda: jax.nn.one_hot(J, 31), "tril": lambda: jnp.tril(X),
    "largest": lambda: jnp.max(X, 0), "smallest": lambda: jnp.min(Y, (0, 1)),
    "int sum": lambda: jnp.sum(I, 1), "any": lambda: jnp.any(X > 7, 1),
    "all": lambda: jnp.all(X < 7, 1),
    "to e5m2": lambda: jnp.concatenate([ODD, LARGE]).astype(E5M2),
    "e5m2": lambda: jnp.arange(256, dtype=jnp.uint8).view(E5M2).astype(jnp.float32),
    "int divide": lambda: lax.div(I, J - 3), "floor divide": lambda: I // (J + 1),
    "int rest": lambda: lax.rem(I, J - 3), "modulo": lambda: I % (J - 40),
    "unsigned divide": lambda: lax.div(I.astype(np.uint32), J.astype(np.uint32) + 1),
    "rows": lambda: jnp.asarray(X)[jnp.asarray(J[0] % 6)],
    "embedding": lambda: jnp.take(jnp.asarray(X), jnp.asarray(J[:2] % 6), axis=0),
    "columns": lambda: jnp.take(jnp.asarray(X), jnp.asarray(J[0] % 8), axis=1),
    "along": lambda: jnp.take_along_axis(jnp.asarray(X), jnp.asarray(J % 8), axis=1),
    "places": lambda: jnp.asarray(X)[jnp.asarray(J[0] % 6), jnp.asarray(J[1] % 8)],
    "gather": lambda: lax.gather(
        jnp.asarray(X), jnp.array([[-3, 1], [2, 7], [5, 4]]), lax.GatherDimensionNumbers(
            offset_dims=(0, 2), collapsed_slice_dims=(), start_index_map=(0, 1)),
        (2, 3), mode="clip"),
    "argmax": lambda: jnp.argmax(jnp.asarray(X % 3.3), 1),
    "argmin": lambda: jnp.argmin(jnp.asarray(I % 5), 0),
    # A row without, one with and one of only what is true.
    "argmax of booleans": lambda: jnp.argmax(I.reshape(12, 4) % 3 == 0, 1),
    "argmin of booleans": lambda: jnp.argmin(I.reshape(12, 4) % 3 == 0, 1),
    "argmax of NaN": lambda: jnp.argmax(jnp.where(X > 5, jnp.nan, X), 1),
    "squares": lambda: lax.reduce(jnp.floor(X), np.float32(0),
                                  lambda p, q: p + q * q, (1,)),
    "int dot": lambda: lax.dot_general(I, J, (((1,), (1,)), ((), ()))),
}
NEAR = {
    "exponential": lambda: jnp.exp(X), "expm1": lambda: jnp.expm1(X),
    "log": lambda: jnp.log(P), "log1p": lambda: jnp.log1p(P),
    "logistic": lambda: jax.nn.sigmoid(X), "tanh": lambda: jnp.tanh(X),
    "rsqrt": lambda: lax.rsqrt(P), "sine": lambda: jnp.sin(X),
    "cosine": lambda: jnp.cos(X), "erf": lambda: lax.erf(X),
    "gelu": lambda: jax.nn.gelu(X, approximate=False),
    "power": lambda: jnp.power(P, 1.7), "cbrt": lambda: jnp.cbrt(P),
    "softmax": lambda: jax.nn.softmax(X, -1), "mean": lambda: jnp.mean(X, 1),
    "sum": lambda: jnp.sum(X.astype(BF16), 0).astype(jnp.float32),
    "product": lambda: jnp.prod(P[:, :4], 1), "silu": lambda: jax.nn.silu(X),
    "dot": lambda: X @ Y.T,
    "batched dot": lambda: jnp.einsum("bik,bkj->bij", X.reshape(3, 2, 8),
                                      Y.reshape(3, 8, 2)),
    "dots": lambda: lax.dot_general(X.reshape(2, 3, 8), Y.reshape(2, 3, 8),
                                    (((0, 2), (0, 2)), ((), ()))),
    "bf16 dot": lambda: lax.dot_general(X.astype(BF16), Y.astype(BF16),
                                        (((1,), (1,)), ((), ())),
                                        preferred_element_type=jnp.float32),
}


def product(x):
    """What makes a program one of ours."""
    codes = jnp.asarray(x).astype(E4M3)
    scale = jnp.ones((x.shape[0], x.shape[1] // 32), E8M0)
    return lax.scaled_dot(codes, codes, lhs_scale=scale, rhs_scale=scale,
                          dimension_numbers=(((1,), (1,)), ((), ())),
                          preferred_element_type=jnp.float32)


def traced(functions):
    """A program that computes them all from arguments: nothing is folded."""
    names = ["X", "Y", "I", "J", "P", "ODD", "POWERS"]
    kept = [globals()[name] for name in names]

    def main(x, *values):
        globals().update(zip(names, values))
        try:
            return product(x), *(function() for function in functions.values())
        finally:
            globals().update(zip(names, kept))

    x = np.ones((16, 64), np.float32)
    return jax.jit(main, keep_unused=True), [x, *kept]


def results(functions):
    jitted, inputs = traced(functions)
    expected = [np.asarray(one) for one in jitted(*inputs)]
    imported = bs.from_jax(jitted.lower(*inputs))
    assert "stablehlo" not in imported.mlir
    found = bs.Program(imported)(*inputs)
    assert (found[0] == 64).all()
    return dict(zip(functions, zip(found[1:], expected[1:])))


@pytest.fixture(scope="module")
def exact():
    return results(EXACT)


@pytest.fixture(scope="module")
def near():
    return results(NEAR)


def codes(array):
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("name", EXACT)
def test_what_is_exact_is_as_xla_has_it(exact, name):
    found, expected = exact[name]
    # Integers have no sign in what comes back.
    if expected.dtype.kind == "u":
        found = found.view(expected.dtype)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if expected.dtype.kind == "V":  # the types of ml_dtypes
        nan = np.isnan(expected.astype(np.float32))
        assert np.array_equal(np.isnan(found.astype(np.float32)), nan)
        assert np.array_equal(codes(found)[~nan], codes(expected)[~nan])
    else:
        assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


@pytest.mark.parametrize("name", NEAR)
def test_functions_are_within_some_ulps_of_xla(near, name):
    found, expected = near[name]
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2**-17, atol=2**-17)


@pytest.mark.parametrize("function, words", [
    (lambda x: lax.reduce(x, np.float32(0), lambda p, q: p + lax.sin(q), (1,)),
     "in the body of a reduction is not taken"),
    (lambda x: x.at[0, 1].set(3.0), "'stablehlo.scatter' is of no dialect"),
    (lambda x: jnp.asarray(x).astype(jnp.float8_e4m3), "which has infinities"),
    (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID"),
     "'stablehlo.reduce_window' is of no dialect"),
])
def test_what_is_not_taken_is_named(function, words):
    def main(x):
        return product(x), function(x)

    lowered = jax.jit(main).lower(np.ones((16, 64), np.float32))
    with pytest.raises(bs.CompileError) as caught:
        bs.from_jax(lowered)
    assert any(words in str(one) for one in caught.value.diagnostics), \
        caught.value.diagnostics


def test_batches_that_are_quantised_in_tiles_are_products():
    def layer(x, w, scales):
        blocks = x.reshape(2, 24, 2, 64)
        found = jnp.max(jnp.abs(blocks), -1, keepdims=True) / 448
        rounded = (blocks / found).astype(E4M3).astype(jnp.float32) * found
        weights = w.astype(jnp.float32).reshape(2, 40, 2, 64) * scales[..., None]
        return jnp.einsum("bmk,bnk->bmn", rounded.reshape(x.shape),
                          weights.reshape(w.shape))

    rng = np.random.default_rng(8)
    inputs = (rng.integers(-4, 5, (2, 24, 128)).astype(np.float32),
              rng.integers(-4, 5, (2, 40, 128)).astype(E4M3),
              np.exp2(rng.integers(-2, 3, (2, 40, 2))).astype(np.float32))
    jitted = jax.jit(layer)
    imported = bs.from_jax(jitted.lower(*inputs))
    assert imported.mlir.count("blockscale.matmul ") == 1
    np.testing.assert_allclose(bs.Program(imported)(*inputs), jitted(*inputs),
                               rtol=2**-16, atol=2**-7)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
def test_weights_in_bytes_are_multiplied_in_16_bits(dtype):
    def layer(x, w, scales):
        sums = lax.dot_general(x.astype(dtype), w.astype(dtype), (((1,), (1,)), ((), ())),
                               preferred_element_type=jnp.float32)
        return sums * scales

    rng = np.random.default_rng(9)
    inputs = (rng.integers(-4, 5, (24, 128)).astype(np.float32),
              rng.integers(-128, 128, (40, 128)).astype(np.int8),
              np.exp2(rng.integers(-2, 3, 40)).astype(np.float32))
    jitted = jax.jit(layer)
    imported = bs.from_jax(jitted.lower(*inputs))
    assert imported.mlir.count("blockscale.matmul ") == 1
    np.testing.assert_array_equal(bs.Program(imported)(*inputs), jitted(*inputs))


def test_weights_of_uint4_are_given_as_they_are():
    def layer(x, w, zeros, scales):
        numbers = w.astype(jnp.float32) - jnp.repeat(zeros.astype(jnp.float32), 64, 1)
        return x.astype(jnp.float32) @ (numbers * jnp.repeat(scales, 64, 1)).T

    rng = np.random.default_rng(7)
    x = rng.integers(-4, 5, (24, 128)).astype(E4M3)
    w = rng.integers(0, 16, (32, 128)).astype(jnp.uint4)
    zeros = rng.integers(0, 16, (32, 2)).astype(jnp.uint4)
    scales = np.exp2(rng.integers(-2, 3, (32, 2))).astype(np.float32)
    jitted = jax.jit(layer)
    imported = bs.from_jax(jitted.lower(x, w, zeros, scales))
    assert imported.mlir.count("blockscale.matmul ") == 1
    found = bs.Program(imported)(x, w, zeros, scales)
    np.testing.assert_array_equal(found, jitted(x, w, zeros, scales))


def test_divisions_that_overflow_give_what_stablehlo_says():
    """XLA's own code for the CPU traps here."""
    def main(x, a, b):
        return product(x), lax.div(a, b), lax.rem(a, b)

    a, b = (np.array(one, np.int32) for one in ([-2**31, 5, -5, 0], [-1, 0, 2, 0]))
    x = np.ones((16, 64), np.float32)
    program = bs.Program(bs.from_jax(jax.jit(main).lower(x, a, b)))
    _, quotients, rests = program(x, a, b)
    assert quotients.tolist() == [-2**31, -1, -2, -1]
    assert rests.tolist() == [0, 5, -1, 0]


def test_weights_are_the_leaves_of_trees():
    def layer(weights, x):
        return jnp.tanh(lax.scaled_dot(
            x, weights["w"], lhs_scale=weights["s"], rhs_scale=weights["t"],
            dimension_numbers=(((1,), (1,)), ((), ())),
            preferred_element_type=jnp.float32) / 64)

    rng = np.random.default_rng(5)
    given = {"w": rng.integers(-4, 5, (48, 64)).astype(E4M3),
             "s": np.exp2(rng.integers(-2, 3, (40, 2))).astype(E8M0),
             "t": np.exp2(rng.integers(-2, 3, (48, 2))).astype(E8M0)}
    x = rng.integers(-4, 5, (40, 64)).astype(E4M3)
    jitted = jax.jit(layer)
    program = bs.Program(bs.from_jax(jitted.lower(given, x)))
    found = program(*jax.tree.leaves((given, x)))
    np.testing.assert_allclose(found, jitted(given, x), rtol=2**-17)
    assert program.verify(data="exact").ok


def test_exported_programs_are_those_that_were_lowered():
    from jax import export

    def main(x):
        return lax.erf(product(x) / 8)

    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64) % 7 - 3
    exported = export.export(jax.jit(main))(x)
    found = bs.Program(bs.from_jax(exported))(x)
    np.testing.assert_allclose(found, jax.jit(main)(x), rtol=2**-17, atol=2**-17)


@pytest.mark.parametrize("batch", ["b", "1"])
def test_sizes_with_names_and_what_follows_a_product(batch):
    """For CUDA, which XLA does not run here: against the definition."""
    from jax import export

    def main(a, w, s, t, factor, bias):
        y = jax.nn.scaled_matmul(a, w, s, t, preferred_element_type=jnp.float32)
        y = jax.nn.relu(y * factor + bias)
        return y, (jnp.minimum(y, 40.0) - y * 0.5).astype(BF16)

    m, b = export.symbolic_shape("m, b")
    b = b if batch == "b" else 1
    shape = jax.ShapeDtypeStruct
    exported = export.export(
        jax.jit(main), platforms=["cuda"],
        disabled_checks=[export.DisabledSafetyCheck.custom_call("__op$block_scaled_dot")])(
        shape((b, m, 64), E4M3), shape((b, 24, 64), E4M3), shape((b, m, 2), E8M0),
        shape((b, 24, 2), E8M0), shape((), jnp.float32), shape((24,), jnp.float32))
    imported = bs.from_jax(exported)
    assert "stablehlo" not in imported.mlir and "alpha(" in imported.mlir
    program = bs.Program(imported)
    rng = np.random.default_rng(3)
    for matrices, rows in ((2, 16), (1, 33)) if batch == "b" else ((1, 16), (1, 33)):
        x, w = (rng.integers(-3, 4, (matrices, size, 64)).astype(np.float32).astype(E4M3)
                for size in (rows, 24))
        s, t = (np.exp2(rng.integers(-2, 3, (matrices, size, 2))).astype(E8M0)
                for size in (rows, 24))
        bias = np.arange(24, dtype=np.float32) - 12
        left, right = (one.astype(np.float64) * np.repeat(scale.astype(np.float64), 32, -1)
                       for one, scale in ((x, s), (w, t)))
        wanted = np.maximum(
            np.einsum("bmk,bnk->bmn", left, right) * 0.25 + bias, 0)
        found, other = program(x, w, s, t, np.float32(0.25), bias)
        assert np.array_equal(found, wanted) and len(np.unique(found)) > 50
        rounded = (np.minimum(wanted, 40) - wanted * 0.5).astype(np.float32).astype(BF16)
        assert np.array_equal(other.astype(np.float32), rounded.astype(np.float32))
