"""A gated MLP of JAX in NVFP4 with scales of two levels, from a checkpoint to its result.

    python examples/model/nvfp4_mlp.py

The weights are those that compressed-tensors wrote (fixtures/nvfp4_mlp.safetensors,
made by make_nvfp4_weights.py). JAX quantises the activations in the program and lowers
it; the factors of whole matrices become `alpha` of the kernels, which the emulator
runs. Compared with what XLA computes on the CPU. Without jax what it made before is
taken from fixtures/.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys

import numpy as np

import blockscale as bs
import common

TOKENS, BLOCK = 40, 16
# The largest numbers of e2m1 and e4m3.
MOST, MOST_SCALE = 6.0, 448.0
WHY = ("Both sum in f32, in another order. What is a tie of rounding to e2m1 for one need "
       "not be for\nthe other, and a code further is a third of an element, of which 192 "
       "are summed: the bound is\n2^-7 of the largest result.")


def weights():
    """Codes, scales and factor of each matrix, as the file has them."""
    model = bs.read(common.FIXTURES / "nvfp4_mlp.safetensors")
    given = {}
    for name in ("gate_proj", "up_proj", "down_proj"):
        parameter = model[f"layers.0.mlp.{name}"]
        given[name] = {"codes": parameter.data, "scales": parameter.scales,
                       "factor": np.float32(parameter.tensor_scale)}
    return given


def mlp():
    """The function, for JAX."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def quantise(x):
        """NVFP4: a factor for all, a scale for each block, codes."""
        factor = jnp.max(jnp.abs(x)) / (MOST * MOST_SCALE)
        blocks = x.reshape(x.shape[0], -1, BLOCK)
        wanted = jnp.max(jnp.abs(blocks), -1) / (MOST * factor)
        scales = jnp.clip(wanted, 2.0 ** -9, MOST_SCALE).astype(jnp.float8_e4m3fn)
        steps = scales.astype(jnp.float32) * factor
        codes = jnp.clip(blocks / steps[..., None], -MOST, MOST)
        return codes.reshape(x.shape).astype(jnp.float4_e2m1fn), scales, factor

    def linear(x, weight):
        codes, scales, factor = quantise(x)
        product = lax.scaled_dot(
            codes, weight["codes"], lhs_scale=scales, rhs_scale=weight["scales"],
            dimension_numbers=(((1,), (1,)), ((), ())),
            preferred_element_type=jnp.float32)
        return product * (factor * weight["factor"])

    def main(given, x):
        hidden = (jax.nn.silu(linear(x, given["gate_proj"]))
                  * linear(x, given["up_proj"]))
        return x + linear(hidden, given["down_proj"])

    return main


def made():
    """The function with its arguments."""
    x = np.random.default_rng(3).normal(0, 1, (TOKENS, 128)).astype(np.float32)
    return mlp(), (weights(), x)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, "nvfp4_mlp", made, 2.0 ** -7, WHY))
