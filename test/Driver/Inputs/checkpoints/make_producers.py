"""Writes the .safetensors files beside this script with the libraries that
write them for models: compressed-tensors, ModelOpt's tensor classes, torchao.

usage: make_producers.py

The files are committed, so that no test needs these libraries. They were made
on a CPU with torch 2.15.0, compressed-tensors 0.20.0, nvidia-modelopt 0.47.0,
torchao 0.18.0 and safetensors 0.8.0. Beside the quantised tensors each file
holds `expected.NAME`: the values in f32 as the format defines them, element
times scale times (or over) the global scale, each product rounded to f32; the
libraries' own dequantisation, which some round to bf16 on the way, must come
near them.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

HERE = Path(__file__).parent
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def weight(rows, columns, seed):
    """Rows and blocks of distinct sizes, and one block of zeros."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, columns, generator=generator) * 0.05
    values *= torch.linspace(0.5, 3, rows)[:, None]
    values[1, :16] = 0
    return values


def fp4_values(packed):
    codes = torch.stack([packed & 15, packed >> 4], -1).reshape(
        packed.shape[0], -1).long()
    return torch.where(codes > 7, -1.0, 1.0) * E2M1[codes & 7]


def fp6_values(packed):
    """e2m3: a sign, two bits of exponent, three of fraction; four in 3 bytes."""
    parts = packed.reshape(packed.shape[0], -1, 3).to(torch.int32)
    word = parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16
    codes = torch.stack([word >> 6 * i & 63 for i in range(4)], -1)
    codes = codes.reshape(packed.shape[0], -1)
    exponent, fraction = codes >> 3 & 3, (codes & 7) / 8
    magnitude = torch.where(exponent == 0, fraction,
                            (1 + fraction) * 2.0 ** (exponent - 1))
    return torch.where(codes > 31, -1.0, 1.0) * magnitude


def apply(values, scales, block):
    return values * scales.float().repeat_interleave(block, 1)


def exponents(codes):
    return torch.exp2(codes.to(torch.int32).float() - 127)


def compare(expected, library, tolerance=0.01):
    error = (expected - library.float()).abs().max() / expected.abs().max()
    assert error < tolerance, error


def compressed_tensors():
    from compressed_tensors.compressors.mxfp4 import MXFP4PackedCompressor
    from compressed_tensors.compressors.mxfp6 import MXFP6PackedCompressor
    from compressed_tensors.compressors.mxfp8 import MXFP8QuantizationCompressor
    from compressed_tensors.compressors.nvfp4 import NVFP4PackedCompressor
    from compressed_tensors.compressors.pack_quantized import (
        PackedQuantizationCompressor)
    from compressed_tensors.quantization import (QuantizationArgs,
                                                 QuantizationScheme)
    from compressed_tensors.quantization.quant_scheme import (
        preset_name_to_scheme)
    from compressed_tensors.quantization.utils import (calculate_qparams,
                                                       generate_gparam)

    tensors = {}

    def group_range(values, block):
        groups = values.reshape(values.shape[0], -1, block)
        return groups.amin(-1), groups.amax(-1)

    # Two layers that are fused share their global scale.
    gate, up = weight(48, 64, 1), weight(48, 64, 2)
    scheme = preset_name_to_scheme("NVFP4A16", ["Linear"])
    both = torch.cat([gate, up])
    shared = generate_gparam(both.min(), both.max())
    for name, values in (("gate_proj", gate), ("up_proj", up)):
        low, high = group_range(values, 16)
        scale, zero = calculate_qparams(low, high, scheme.weights,
                                        global_scale=shared)
        state = NVFP4PackedCompressor.compress(
            {"weight": values, "weight_scale": scale,
             "weight_zero_point": zero, "weight_global_scale": shared}, scheme)
        back = NVFP4PackedCompressor.decompress(dict(state), scheme)["weight"]
        prefix = f"layers.0.mlp.{name}"
        for key in ("weight_packed", "weight_scale", "weight_global_scale"):
            tensors[f"{prefix}.{key}"] = state[key]
        expected = apply(fp4_values(state["weight_packed"]),
                         state["weight_scale"].float() / shared, 16)
        compare(expected, back)
        tensors[f"expected.{prefix}.weight"] = expected

    values = weight(40, 96, 3)
    scheme = preset_name_to_scheme("MXFP4A16", ["Linear"])
    low, high = group_range(values, 32)
    scale, zero = calculate_qparams(low, high, scheme.weights)
    state = MXFP4PackedCompressor.compress(
        {"weight": values, "weight_scale": scale, "weight_zero_point": zero},
        scheme)
    prefix = "layers.0.mlp.experts.3.down_proj"
    tensors[f"{prefix}.weight_packed"] = state["weight_packed"]
    tensors[f"{prefix}.weight_scale"] = state["weight_scale"]
    expected = apply(fp4_values(state["weight_packed"]),
                     exponents(state["weight_scale"]), 32)
    compare(expected,
            MXFP4PackedCompressor.decompress(dict(state), scheme)["weight"])
    tensors[f"expected.{prefix}.weight"] = expected

    values = weight(24, 64, 13)
    scheme = preset_name_to_scheme("MXFP6A16", ["Linear"])
    low, high = group_range(values, 32)
    scale, zero = calculate_qparams(low, high, scheme.weights)
    state = MXFP6PackedCompressor.compress(
        {"weight": values, "weight_scale": scale, "weight_zero_point": zero},
        scheme)
    prefix = "layers.0.mlp.experts.5.down_proj"
    tensors[f"{prefix}.weight_packed"] = state["weight_packed"]
    tensors[f"{prefix}.weight_scale"] = state["weight_scale"]
    expected = apply(fp6_values(state["weight_packed"]),
                     exponents(state["weight_scale"]), 32)
    compare(expected,
            MXFP6PackedCompressor.decompress(dict(state), scheme)["weight"])
    tensors[f"expected.{prefix}.weight"] = expected

    values = weight(33, 64, 4)
    scheme = preset_name_to_scheme("MXFP8A16", ["Linear"])
    low, high = group_range(values, 32)
    scale, zero = calculate_qparams(low, high, scheme.weights)
    state = MXFP8QuantizationCompressor.compress(
        {"weight": values, "weight_scale": scale, "weight_zero_point": zero},
        scheme)
    prefix = "layers.0.self_attn.o_proj"
    tensors[f"{prefix}.weight"] = state["weight"]
    tensors[f"{prefix}.weight_scale"] = state["weight_scale"]
    expected = apply(state["weight"].float(),
                     exponents(state["weight_scale"]), 32)
    compare(expected,
            MXFP8QuantizationCompressor.decompress(dict(state),
                                                   scheme)["weight"])
    tensors[f"expected.{prefix}.weight"] = expected

    values = weight(24, 64, 5).to(torch.bfloat16)
    scheme = QuantizationScheme(
        targets=["Linear"],
        weights=QuantizationArgs(num_bits=4, type="int", symmetric=True,
                                 strategy="group", group_size=32))
    low, high = group_range(values, 32)
    scale, zero = calculate_qparams(low, high, scheme.weights)
    state = PackedQuantizationCompressor.compress(
        {"weight": values, "weight_scale": scale.to(torch.bfloat16),
         "weight_zero_point": zero}, scheme)
    prefix = "layers.0.mlp.experts.4.down_proj"
    for key in ("weight_packed", "weight_scale", "weight_shape"):
        tensors[f"{prefix}.{key}"] = state[key]
    words = state["weight_packed"]
    nibbles = torch.stack([words >> 4 * i & 15 for i in range(8)], -1)
    expected = apply(nibbles.reshape(24, -1).float() - 8,
                     state["weight_scale"], 32)
    compare(expected,
            PackedQuantizationCompressor.decompress(dict(state),
                                                    scheme)["weight"])
    tensors[f"expected.{prefix}.weight"] = expected
    return tensors


def modelopt():
    from modelopt.torch.quantization.qtensor import (MXFP4QTensor,
                                                     MXFP8QTensor,
                                                     NVFP4QTensor)
    tensors = {}
    quantized, scale, scale_2 = NVFP4QTensor.quantize(weight(48, 64, 6), 16)
    prefix = "model.layers.0.mlp.down_proj"
    data = quantized._quantized_data
    tensors[f"{prefix}.weight"] = data
    tensors[f"{prefix}.weight_scale"] = scale
    tensors[f"{prefix}.weight_scale_2"] = scale_2
    tensors[f"{prefix}.input_scale"] = torch.tensor(11.5 / (6 * 448))
    expected = apply(fp4_values(data), scale.float() * scale_2, 16)
    compare(expected, quantized.dequantize(scale=scale, double_scale=scale_2,
                                           block_sizes={-1: 16}))
    tensors[f"expected.{prefix}.weight"] = expected

    quantized, scale = MXFP8QTensor.quantize(weight(40, 96, 7))
    prefix = "model.layers.0.self_attn.q_proj"
    data = quantized._quantized_data
    tensors[f"{prefix}.weight"] = data
    tensors[f"{prefix}.weight_scale"] = scale
    expected = apply(data.float(), exponents(scale), 32)
    compare(expected, quantized.dequantize(scale=scale))
    tensors[f"expected.{prefix}.weight"] = expected

    quantized, scale = MXFP4QTensor.quantize(weight(40, 96, 8), 32)
    prefix = "model.layers.0.self_attn.k_proj"
    data = quantized._quantized_data
    tensors[f"{prefix}.weight"] = data
    # One column of scales, as the class returns them.
    tensors[f"{prefix}.weight_scale"] = scale
    expected = apply(fp4_values(data), exponents(scale.reshape(40, -1)), 32)
    compare(expected, quantized.dequantize(scale=scale,
                                           block_sizes={-1: 32}))
    tensors[f"expected.{prefix}.weight"] = expected
    return tensors


def torchao():
    from torchao.prototype.mx_formats.mx_tensor import MXTensor
    from torchao.prototype.mx_formats.nvfp4_tensor import (
        NVFP4Tensor, per_tensor_amax_to_scale)
    from torchao.prototype.safetensors.safetensors_support import (
        flatten_tensor_state_dict)

    state, expected = {}, {}

    def add(name, tensor, values):
        compare(values, tensor.dequantize())
        state[name] = tensor
        expected[f"expected.{name}"] = values

    values = weight(48, 64, 9)
    factor = per_tensor_amax_to_scale(values.abs().max())
    plain = NVFP4Tensor.to_nvfp4(values, per_tensor_scale=factor)
    result = apply(fp4_values(plain.qdata), plain.scale.float() * factor, 16)
    add("layers.0.wq.weight", plain, result)
    # 130 rows do not fill their atoms.
    values = weight(130, 96, 10)
    factor = per_tensor_amax_to_scale(values.abs().max())
    rows = NVFP4Tensor.to_nvfp4(values, per_tensor_scale=factor)
    tiled = NVFP4Tensor.to_nvfp4(values, per_tensor_scale=factor,
                                 is_swizzled_scales=True)
    assert torch.equal(rows.qdata, tiled.qdata)
    result = apply(fp4_values(rows.qdata), rows.scale.float() * factor, 16)
    add("layers.0.wk.weight", tiled, result)
    fp8 = MXTensor.to_mx(weight(40, 96, 11), torch.float8_e4m3fn, 32)
    scale = fp8.scale.view(torch.uint8)
    add("layers.0.wv.weight", fp8,
        apply(fp8.qdata.float(), exponents(scale), 32))
    fp4 = MXTensor.to_mx(weight(40, 96, 12), torch.float4_e2m1fn_x2, 32)
    scale = fp4.scale.view(torch.uint8)
    add("layers.0.wo.weight", fp4,
        apply(fp4_values(fp4.qdata), exponents(scale), 32))
    tensors, metadata = flatten_tensor_state_dict(state)
    return {**tensors, **expected}, metadata


def save(name, tensors, metadata=None):
    tensors = {key: value.contiguous().clone() for key, value in tensors.items()}
    save_file(tensors, HERE / f"{name}.safetensors", metadata=metadata)


if __name__ == "__main__":
    with torch.no_grad():
        save("compressed-tensors", compressed_tensors())
        save("modelopt", modelopt())
        save("torchao", *torchao())
