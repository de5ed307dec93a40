# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What compressed-tensors, ModelOpt and torchao made of weights, and what quantize makes
of the same: the files of test/Driver/Inputs/checkpoints, whose script, make_producers.py,
drew the weights with PyTorch. They are drawn here again, without it."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

FILES = Path(__file__).resolve().parents[2] / "test/Driver/Inputs/checkpoints"


def normal(count, seed):
    """torch.randn on a CPU: pairs of 24 bits of MT19937, by Box and Muller; the last
    bit of a number may be another one, as torch's functions are those of f32."""
    generator = np.random.MT19937()
    generator._legacy_seeding(seed)
    uniform = (generator.random_raw(count) & 0xffffff).astype(np.float64) / 2 ** 24
    first, second = uniform.reshape(-1, 2, 8).swapaxes(0, 1)
    radius, angle = np.sqrt(-2 * np.log(1 - first)), 2 * np.pi * second
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.reshape(-1).astype(np.float32)


def weight(rows, columns, seed):
    """As make_producers.py has it; torch.linspace counts from both ends."""
    values = normal(rows * columns, seed).reshape(rows, columns) * np.float32(0.05)
    step, row = np.float32(2.5 / (rows - 1)), np.arange(rows, dtype=np.float32)
    factors = np.where(row < rows // 2, np.float32(0.5) + step * row,
                       np.float32(3) - step * (rows - 1 - row))
    values *= factors.astype(np.float32)[:, None]
    values[1, :16] = 0
    return values


def theirs(file, name):
    parameter = bs.read(FILES / f"{file}.safetensors")[name]
    return parameter, parameter.scaled().to("plain")


# The rule that is the library's own. That of compressed-tensors for 4 and 6 bits rounds
# the largest magnitude to the bits of an element.
@pytest.mark.parametrize("file, name, seed, kind, rule", [
    ("compressed-tensors", "layers.0.mlp.experts.3.down_proj", 3, "MXFP4", "rounded_max"),
    ("compressed-tensors", "layers.0.mlp.experts.5.down_proj", 13, "MXFP6", "rounded_max"),
    ("compressed-tensors", "layers.0.self_attn.o_proj", 4, "MXFP8", "round_up"),
    ("modelopt", "model.layers.0.self_attn.k_proj", 8, "MXFP4", "round_up"),
    ("modelopt", "model.layers.0.self_attn.q_proj", 7, "MXFP8", "round_up"),
    ("torchao", "layers.0.wo", 12, "MXFP4", "floor"),
    ("torchao", "layers.0.wv", 11, "MXFP8", "floor")])
def test_powers_of_two_are_theirs(file, name, seed, kind, rule):
    parameter, expected = theirs(file, name)
    assert parameter.kind == kind
    values = weight(*parameter.shape, seed)
    result = bs.quantize(values, expected.format, rule=rule)
    assert (result.scales.view(np.uint8) == expected.scales.view(np.uint8)).all()
    codes = expected.data.view(np.uint8)
    if (file, kind) == ("modelopt", "MXFP4"):
        assert (codes[values == 0] == 8).all()      # -0, where the weight is +0.
        codes = np.where(values == 0, 0, codes)
    assert (result.data.view(np.uint8) == codes).all()


@pytest.mark.parametrize("file, name, seed, is_shared, of_zeros", [
    ("compressed-tensors", "layers.0.mlp.gate_proj", 1, True, 0.125),
    ("compressed-tensors", "layers.0.mlp.up_proj", 2, True, 0.125),
    ("modelopt", "model.layers.0.mlp.down_proj", 6, False, 1),
    ("torchao", "layers.0.wq", 9, False, 2 ** -6),
    ("torchao", "layers.0.wk", 10, False, 2 ** -6)])
def test_nvfp4_is_theirs(file, name, seed, is_shared, of_zeros):
    """But for the scale of a block of zeros, which is 0 here; each of them has another
    one. Layers that are fused share a tensor scale, which is given then."""
    parameter, expected = theirs(file, name)
    values = weight(*parameter.shape, seed)
    given = {"tensor_scale": [parameter.tensor_scale]} if is_shared else {}
    result = bs.quantize(values, expected.format, **given)
    assert np.isclose(result.tensor_scale, parameter.tensor_scale, rtol=2 ** -22)
    differ = result.scales.view(np.uint8) != expected.scales.view(np.uint8)
    assert np.argwhere(differ).tolist() == [[1, 0]]
    assert result.scales[1, 0] == 0 and expected.scales[1, 0] == of_zeros
    assert (result.data.view(np.uint8) == expected.data.view(np.uint8)).all()


def test_int4_of_compressed_tensors_has_eight_steps_below_zero():
    """It divides the largest magnitude by 7.5 and uses -8, which is no code of ours
    (`int4` ends at 7 on both sides); under its scales values are as near."""
    parameter, expected = theirs("compressed-tensors", "layers.0.mlp.experts.4.down_proj")
    values = weight(*parameter.shape, 5).astype(ml_dtypes.bfloat16).astype(np.float32)
    largest = np.abs(values).reshape(24, 2, 32).max(axis=-1)
    scales = expected.scales.astype(np.float32)
    assert np.allclose(scales, largest / 7.5, rtol=2 ** -7)
    assert expected.data.astype(int).min() == -8
    steps = np.repeat(scales, 32, axis=1)
    assert (np.abs(expected.dequantize() - values) <= 0.55 * steps).all()
    result = bs.quantize(values, expected.format)
    assert np.allclose(result.scales.astype(np.float32), largest / 7, rtol=2 ** -8)
    assert result.data.astype(int).min() == -7
