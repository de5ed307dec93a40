"""Two experts in the manner of gpt-oss, from a checkpoint to their result.

    python examples/model/gpt_oss_expert.py

The weights are MXFP4 in gpt-oss's names and order, in which rows of gate and up
alternate, so that they are taken apart; activations are quantised to MXFP8 in the
program that JAX lowers. Biases and SwiGLU, which is clamped on both sides, are
epilogues of the kernels, which the emulator runs; the router's weights mix the experts.
Compared with what XLA computes on the CPU. Without jax
what it made before is taken from fixtures/.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys
import tempfile

import numpy as np

import blockscale as bs
import common

TOKENS, WIDTH, HIDDEN, EXPERTS, BLOCK = 40, 64, 96, 2, 32
# Of gpt-oss's configuration.
LIMIT, SLOPE = 7.0, 1.702
WHY = ("Both sum in f32, in another order: what is a tie of rounding to e4m3 for one need "
       "not be\nfor the other, so that the bound is that of verify for functions that "
       "quantise, 2^-7 of the\nlargest result.")


def checkpoint(folder):
    """Matrices from a seed as a file of gpt-oss has them."""
    rng = np.random.default_rng(20261122)
    shapes = {"gate_up_proj": (EXPERTS, 2 * HIDDEN, WIDTH),
              "down_proj": (EXPERTS, WIDTH, HIDDEN)}
    for name, shape in shapes.items():
        values = rng.normal(0, 1.5 * shape[-1] ** -0.5, shape).astype(np.float32)
        np.save(folder / f"mlp.experts.{name}.npy", values)
        bs.pack(str(folder / f"mlp.experts.{name}.npy"),
                str(folder / f"{name}.safetensors"), to="mxfp4", names="gpt-oss")
    return {name: bs.read(folder / f"{name}.safetensors")[f"mlp.experts.{name}"]
            for name in shapes}


def weights():
    """Codes, scales and biases of each expert, and the router."""
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        model = checkpoint(pathlib.Path(folder))
        assert model["gate_up_proj"].interleaved_rows
        given = {"router": rng.normal(0, 0.3, (EXPERTS, WIDTH)).astype(np.float32)}
        for name, parameter in model.items():
            rows = parameter.shape[1]
            given[name] = [
                {"codes": np.array(parameter.data[expert]),
                 "scales": np.array(parameter.scales[expert]),
                 "bias": rng.normal(0, 0.5, rows).astype(np.float32)}
                for expert in range(EXPERTS)]
    return given


def layer():
    """The function, for JAX."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def quantise(x):
        """OCP's rule: a power of two for each block, by its largest element."""
        blocks = x.reshape(x.shape[0], -1, BLOCK)
        bits = lax.bitcast_convert_type(jnp.abs(blocks).max(-1), jnp.int32)
        power = lax.bitcast_convert_type(bits & 0x7f800000, jnp.float32)
        scale = jnp.maximum(power / 256, 2.0 ** -126)
        codes = jnp.clip(blocks / scale[..., None], -448, 448)
        return (codes.reshape(x.shape).astype(jnp.float8_e4m3fn),
                scale.astype(jnp.float8_e8m0fnu))

    def linear(x, weight):
        codes, scale = quantise(x)
        return lax.scaled_dot(
            codes, weight["codes"], lhs_scale=scale, rhs_scale=weight["scales"],
            dimension_numbers=(((1,), (1,)), ((), ())),
            preferred_element_type=jnp.float32) + weight["bias"]

    def expert(x, given, number):
        both = given["gate_up_proj"][number]
        gate, up = (linear(x, {name: one[first::2] for name, one in both.items()})
                    for first in (0, 1))
        gate, up = jnp.minimum(gate, LIMIT), jnp.clip(up, -LIMIT, LIMIT)
        hidden = (up + 1) * gate * jax.nn.sigmoid(SLOPE * gate)
        return linear(hidden, given["down_proj"][number])

    def main(given, x):
        mix = jax.nn.softmax(x @ given["router"].T, -1)
        return x + sum(mix[:, number, None] * expert(x, given, number)
                       for number in range(EXPERTS))

    return main


def made():
    """The function with its arguments. Some rows reach the limits."""
    x = np.random.default_rng(3).normal(0, 1, (TOKENS, WIDTH)).astype(np.float32)
    x *= np.linspace(0.25, 6, TOKENS, dtype=np.float32)[:, None]
    return layer(), (weights(), x)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, "gpt_oss_expert", made, 2.0 ** -7, WHY))
