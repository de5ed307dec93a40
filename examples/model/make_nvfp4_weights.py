"""Writes fixtures/nvfp4_mlp.safetensors with the package compressed-tensors.

    pip install torch compressed-tensors==0.20.0 safetensors
    python make_nvfp4_weights.py

The weights of a gated MLP in NVFP4, from a seed: codes, scales of 16 and one divisor for
each matrix, which gate and up share, since they are fused.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib

import torch
from compressed_tensors.compressors.nvfp4 import NVFP4PackedCompressor
from compressed_tensors.quantization.quant_scheme import preset_name_to_scheme
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from safetensors.torch import save_file

WIDTH, HIDDEN, BLOCK = 128, 192, 16


def compressed(values, divisor, scheme):
    groups = values.reshape(values.shape[0], -1, BLOCK)
    scale, zero = calculate_qparams(groups.amin(-1), groups.amax(-1), scheme.weights,
                                    global_scale=divisor)
    return NVFP4PackedCompressor.compress(
        {"weight": values, "weight_scale": scale, "weight_zero_point": zero,
         "weight_global_scale": divisor}, scheme)


def main():
    generator = torch.Generator().manual_seed(20261122)
    scheme = preset_name_to_scheme("NVFP4", ["Linear"])
    gate, up = (torch.randn(HIDDEN, WIDTH, generator=generator) * WIDTH ** -0.5
                for _ in range(2))
    down = torch.randn(WIDTH, HIDDEN, generator=generator) * HIDDEN ** -0.5
    both = torch.cat([gate, up])
    shared = generate_gparam(both.min(), both.max())
    tensors = {}
    for name, values, divisor in (
            ("gate_proj", gate, shared), ("up_proj", up, shared),
            ("down_proj", down, generate_gparam(down.min(), down.max()))):
        state = compressed(values, divisor, scheme)
        for key in ("weight_packed", "weight_scale", "weight_global_scale"):
            tensors[f"layers.0.mlp.{name}.{key}"] = state[key].clone()
    folder = pathlib.Path(__file__).parent / "fixtures"
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "nvfp4_mlp.safetensors")


if __name__ == "__main__":
    main()
