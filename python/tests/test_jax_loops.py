# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loops of JAX around products, and slices from where a number says, against XLA on
the CPU. Only where jax is there."""

import numpy as np
import pytest

import blockscale as bs
from test_from_jax import ramp

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
E4M3, E8M0 = jnp.float8_e4m3fn, jnp.float8_e8m0fnu
TOKENS, WIDTH = 4, 64


def linear(x, w):
    """Of small integers, which e4m3 has, so that sums are exact."""
    ones = [jnp.ones((one.shape[0], one.shape[1] // 32), E8M0) for one in (x, w)]
    return lax.scaled_dot(x.astype(E4M3), w.astype(E4M3), lhs_scale=ones[0],
                          rhs_scale=ones[1], preferred_element_type=jnp.float32,
                          dimension_numbers=(((1,), (1,)), ((), ())))


def agree(function, *given):
    jitted = jax.jit(function)
    wanted = [np.asarray(one) for one in jax.tree.leaves(jitted(*given))]
    found = bs.Program(bs.from_jax(jitted.lower(*given)))(*given)
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    return found


def integers(shape, seed):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def test_a_cache_grows_in_a_loop():
    """Each turn multiplies one token and puts the result where it belongs."""
    def main(x, w):
        def turn(at, cache):
            row = lax.dynamic_slice(x, (at * 16, 0), (16, WIDTH))
            return lax.dynamic_update_slice(cache, linear(row, w), (at * 16, 0))
        return lax.fori_loop(0, TOKENS, turn, jnp.zeros((TOKENS * 16, 48)))

    x, w = integers((TOKENS * 16, WIDTH), 1), integers((48, WIDTH), 2)
    found, = agree(main, x, w)
    assert np.array_equal(found, x @ w.T) and len(np.unique(found)) > 50


def test_a_loop_ends_where_its_values_say():
    """Several values of other types; a loop in the loop; an activation behind the
    product of each turn, which is part of its kernel."""
    def main(x, w, most):
        def more(state):
            _, total, turns = state
            return (total < most) & (turns < 20)

        def turn(state):
            y, total, turns = state
            y = jnp.clip(jax.nn.relu(linear(y, w)), 0, 3)
            turns = lax.fori_loop(0, 3, lambda at, one: one + at.astype(jnp.uint32),
                                  turns)
            return y.T, total + jnp.sum(y), turns
        y, total, turns = lax.while_loop(more, turn,
                                         (x, jnp.float32(0), jnp.uint32(1)))
        return y, total, turns.astype(jnp.int32)

    x, w = abs(integers((64, WIDTH), 3)), integers((WIDTH, WIDTH), 4)
    for most in (0.0, 1.0, 30000.0):
        agree(main, x, w, np.float32(most))
    text = bs.from_jax(jax.jit(main).lower(x, w, np.float32(1))).mlir
    assert text.count("blockscale.matmul") == 1 and "scf.while" in text
    assert "epilogue(" in text


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.int8])
def test_slices_stay_inside(kind):
    """A start before the first or behind the last place is moved to that."""
    def main(x, w, i, j):
        whole = linear(x, w)
        part = lax.dynamic_slice(whole, (i, j), (5, 7))
        return part, lax.dynamic_update_slice(whole, part * 2, (j, i))

    x, w = integers((16, WIDTH), 5), integers((24, WIDTH), 6)
    starts = [(0, 0), (3, 9), (11, 17), (12, 100), (127, 3)]
    if kind != np.uint32:
        starts += [(-1, -100), (4, -3)]
    for i, j in starts:
        agree(main, x, w, kind(i), kind(j))


def test_a_scan_collects_what_turns_give():
    def main(x, w):
        def turn(state, row):
            state = jnp.clip(state + row, -3, 3)
            return state, jnp.sum(linear(state, w), 1)
        return lax.scan(turn, jnp.zeros((16, WIDTH)), x)

    agree(main, integers((3, 16, WIDTH), 7), integers((8, WIDTH), 8))


def test_what_loops_do_not_take_is_named():
    def main(x, w):
        return linear(x, w), lax.while_loop(
            lambda v: v[0, 0] > 0, lambda v: v.at[0, 1].set(3.0), x)

    x = ramp((16, WIDTH))
    with pytest.raises(bs.CompileError, match="'stablehlo.scatter' is of no dialect"):
        bs.from_jax(jax.jit(main).lower(x, x))
