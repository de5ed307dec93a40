# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What JAX's programs choose and sort around products: routers of experts, branches,
orders. Against XLA on the CPU, only where jax is there."""

import numpy as np
import pytest

import blockscale as bs
from test_jax_loops import WIDTH, agree, integers, linear

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

# Numbers that are twice there, zeros of both signs, infinities, what is no number.
ODD = np.array([[1, np.nan, -0.0, 0.0, np.inf, -np.inf, 3, 3],
                [np.nan, 2, 2, 0.0, -0.0, -7, 2.0**-100, 7]], np.float32)
ODD[1, 0] = np.array(0xFFC00000, np.uint32).view(np.float32)
INTS = (np.arange(64) * 37 % 23).reshape(8, 8).astype(np.int32) - 9

ORDERS = {
    "largest": lambda x: lax.top_k(x, 5),
    "largest of odd ones": lambda x: lax.top_k(ODD, 8),
    "largest of integers": lambda x: lax.top_k(INTS, 3),
    "largest without a sign": lambda x: lax.top_k(INTS.astype(np.uint32), 3),
    "largest of bf16": lambda x: lax.top_k(x.astype(jnp.bfloat16), 3)[1],
    "largest of matrices": lambda x: lax.top_k(x.reshape(4, 4, 64), 3),
    "sort": lambda x: jnp.sort(x, 1), "sort columns": lambda x: jnp.sort(x, 0),
    "sort odd ones": lambda x: jnp.sort(ODD[:1], 1),
    "downwards": lambda x: jnp.sort(ODD[:1], 1, descending=True),
    "places": lambda x: jnp.argsort(x, 1),
    "places without a sign": lambda x: jnp.argsort(INTS.astype(np.uint32), 0),
    "bf16": lambda x: jnp.sort(x.astype(jnp.bfloat16), 1).astype(jnp.float32),
    "two keys": lambda x: lax.sort((INTS, INTS * 2, INTS.astype(np.float32)),
                                   dimension=1, num_keys=2),
    "booleans": lambda x: jnp.sort(x > 0, 1), "median": lambda x: jnp.median(x, 1),
    "less than odd ones": lambda x: lax.lt(ODD, ODD[:, ::-1]),
    "turned round": lambda x: (jnp.flip(x, 1), jnp.flip(INTS, (0, 1))),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_are_those_of_xla(name):
    x = integers((16, WIDTH), 1)
    jitted = jax.jit(lambda x: (linear(x, x), ORDERS[name](x)))
    wanted = [np.asarray(one) for one in jax.tree.leaves(jitted(x))]
    found = bs.Program(bs.from_jax(jitted.lower(x)))(x)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        # Integers have no sign in what comes back.
        one = one.view(other.dtype) if other.dtype.kind == "u" else one
        assert one.dtype == other.dtype and one.shape == other.shape
        assert np.array_equal(one, other, equal_nan=other.dtype.kind == "f")
        if other.dtype == np.float32:
            assert np.array_equal(np.signbit(one)[other == 0],
                                  np.signbit(other)[other == 0])


def test_a_router_chooses_experts():
    """The two likeliest experts of each token, weighted by what the router says of
    them; all experts in one product with a batch dimension."""
    experts, tokens, outputs = 4, 16, 24

    def main(x, router, w):
        weights, chosen = lax.top_k(linear(x, router), 2)
        weights = weights / 64
        ones = [jnp.ones((experts, size, WIDTH // 32), jnp.float8_e8m0fnu)
                for size in (tokens, outputs)]
        each = jnp.broadcast_to(x, (experts, *x.shape)).astype(jnp.float8_e4m3fn)
        results = lax.scaled_dot(each, w.astype(jnp.float8_e4m3fn), lhs_scale=ones[0],
                                 rhs_scale=ones[1],
                                 dimension_numbers=(((2,), (2,)), ((0,), (0,))),
                                 preferred_element_type=jnp.float32)
        share = (jax.nn.one_hot(chosen, experts) * weights[..., None]).sum(1)
        return jnp.einsum("te,eto->to", share, results), chosen

    x, router = integers((tokens, WIDTH), 1), integers((experts, WIDTH), 2)
    w = integers((experts, outputs, WIDTH), 3)
    _, chosen = agree(main, x, router, w)
    assert len(np.unique(chosen)) == experts


@pytest.mark.parametrize("number", [-3, 0, 1, 2])
def test_branches_with_products(number):
    def main(x, w, number):
        ways = [lambda v: linear(v, w), lambda v: linear(v, w) * 2 + 1,
                lambda v: jnp.sort(linear(v, w), 1)]
        y = lax.cond(number > 0, lambda v: v, lambda v: v - 1, x)
        return lax.switch(number, ways, jnp.clip(y, -4, 4))

    found, = agree(main, integers((16, WIDTH), 1), integers((24, WIDTH), 2),
                   np.int32(number))
    assert len(np.unique(found)) > 50


def test_branches_in_loops():
    def main(x, w):
        def turn(at, state):
            return lax.cond(at % 2 == 0, lambda v: jnp.clip(linear(v, w), -3, 3),
                            lambda v: jnp.flip(v, 1), state)
        return lax.fori_loop(0, 5, turn, x)

    agree(main, integers((16, WIDTH), 3), integers((WIDTH, WIDTH), 4))


CHOICE = """
func.func @main(%x: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xf8E8M0FNU>, %i: tensor<i32>, %p: tensor<i1>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %y = "stablehlo.composite"(%x, %x, %s, %s) <{composite_attributes = {dimension_numbers = [[[1], [1]], [[], []]]}, name = "xla.scaled_dot"}> : (tensor<16x64xf8E4M3FN>, tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<16x2xf8E8M0FNU>) -> tensor<16x16xf32>
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%y) : (tensor<16x16xf32>) -> ()
  }, {
    %2 = "stablehlo.negate"(%y) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    "stablehlo.return"(%2) : (tensor<16x16xf32>) -> ()
  }, {
    %2 = "stablehlo.abs"(%y) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    "stablehlo.return"(%2) : (tensor<16x16xf32>) -> ()
  }) : (tensor<i32>) -> tensor<16x16xf32>
  %1 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%y) : (tensor<16x16xf32>) -> ()
  }, {
    %2 = "stablehlo.negate"(%y) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    "stablehlo.return"(%2) : (tensor<16x16xf32>) -> ()
  }) : (tensor<i1>) -> tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


def test_a_number_that_no_branch_has_is_that_of_the_last_one():
    """By StableHLO's definition; JAX itself makes numbers that there are."""
    x = integers((16, WIDTH), 5)
    product = x.astype(np.float64) @ x.astype(np.float64).T
    ways = [product, -product, abs(product)]
    program = bs.Program(bs.from_mlir(CHOICE))
    ones = np.ones((16, 2), jnp.float8_e8m0fnu)
    for number, way in ((0, 0), (1, 1), (2, 2), (3, 2), (100, 2), (-1, 2)):
        for is_so in (True, False):
            # What one branch gives as it is, the other must not change.
            found = program(x.astype(jnp.float8_e4m3fn), ones, np.int32(number),
                            np.bool_(is_so))
            assert np.array_equal(found[0], ways[way])
            assert np.array_equal(found[1], ways[0 if is_so else 1])
