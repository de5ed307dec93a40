"""A small transformer block of JAX in MXFP8, from its own program to logits.

    python examples/model/jax_block.py

JAX lowers the block to StableHLO, with `jax.lax.scaled_dot` for its products; what
arrives here becomes kernels, which the emulator runs, and code of the CPU for the
rest: embedding, norms, quantisation, attention. The logits are compared with those
that XLA computes on the CPU. Without jax what it made before is taken from fixtures/.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys

import ml_dtypes
import numpy as np

import blockscale as bs
import common

TOKENS, WIDTH, HEADS, HIDDEN, WORDS, BLOCK = 48, 64, 2, 128, 96, 32
# Smallest exponent that f32 and the scales have in common.
LEAST = 2.0 ** -126
# A difference in the last bit of a sum can turn an activation into its neighbour
# among the codes of e4m3, 2^-4 away; as many as that are averaged out.
BOUND = 2.0 ** -7
WHY = ("Both sum in f32, in another order: what is a tie of rounding to e4m3 for one "
       "need not be\nfor the other, so that the bound is that of verify for "
       "functions that quantise, 2^-7 of the\nlargest logit.")


def weights():
    """All matrices of the block, rows along K, from a seed."""
    rng = np.random.default_rng(20261122)

    def matrix(rows, columns):
        return rng.normal(0, columns ** -0.5, (rows, columns)).astype(np.float32)

    return {"table": matrix(WORDS, WIDTH) * 3, "qkv": matrix(3 * WIDTH, WIDTH),
            "out": matrix(WIDTH, WIDTH), "gate": matrix(HIDDEN, WIDTH),
            "up": matrix(HIDDEN, WIDTH), "down": matrix(WIDTH, HIDDEN),
            "head": matrix(WORDS, WIDTH)}


def quantised():
    """The weights as the function takes them: codes and scales of each matrix."""
    given = {}
    for name, matrix in weights().items():
        if name in ("table", "head"):
            given[name] = matrix.astype(ml_dtypes.bfloat16)
        else:
            scaled = bs.quantize(matrix, "mxfp8")
            given[name], given[f"{name}_scale"] = scaled.data, scaled.scales
    return given


def block():
    """The function, for JAX."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def quantise(x):
        """OCP's rule: a power of two for each block, by its largest element."""
        blocks = x.reshape(*x.shape[:-1], -1, BLOCK)
        bits = lax.bitcast_convert_type(jnp.abs(blocks).max(-1), jnp.int32)
        power = lax.bitcast_convert_type(bits & 0x7f800000, jnp.float32)
        scale = jnp.maximum(power / 256, LEAST)
        codes = jnp.clip(blocks / scale[..., None], -448, 448)
        return (codes.reshape(x.shape).astype(jnp.float8_e4m3fn),
                scale.astype(jnp.float8_e8m0fnu))

    def linear(x, given, name):
        codes, scale = quantise(x)
        return lax.scaled_dot(
            codes, given[name], lhs_scale=scale, rhs_scale=given[f"{name}_scale"],
            dimension_numbers=(((1,), (1,)), ((), ())),
            preferred_element_type=jnp.float32)

    def norm(x):
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

    def attention(x, given):
        q, k, v = jnp.split(linear(norm(x), given, "qkv").reshape(
            TOKENS, 3 * HEADS, WIDTH // HEADS), 3, axis=1)
        scores = jnp.einsum("qhd,khd->hqk", q, k) * (WIDTH // HEADS) ** -0.5
        past = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))
        mixed = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), -1)
        return linear(jnp.einsum("hqk,khd->qhd", mixed, v).reshape(TOKENS, WIDTH),
                      given, "out")

    def main(given, tokens):
        table = given["table"].astype(jnp.float32)
        x = jax.nn.one_hot(tokens, WORDS) @ table
        x = x + attention(x, given)
        y = norm(x)
        hidden = jax.nn.silu(linear(y, given, "gate")) * linear(y, given, "up")
        x = x + linear(hidden, given, "down")
        return norm(x) @ given["head"].astype(jnp.float32).T

    return main


def made():
    """The function with its arguments."""
    tokens = np.random.default_rng(7).integers(0, WORDS, TOKENS).astype(np.int32)
    return block(), (quantised(), tokens)


def words(found, expected):
    same = (found.argmax(-1) == expected.argmax(-1)).sum()
    print(f"The most likely word is the same for {same} of {TOKENS} tokens.")


if __name__ == "__main__":
    sys.exit(common.main(__doc__, "jax_block", made, BOUND, WHY, words))
