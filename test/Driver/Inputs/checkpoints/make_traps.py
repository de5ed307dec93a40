"""Writes small checkpoints: one right one for each convention, and one for each
mistake that is known to have been made with them.

usage: make_traps.py FOLDER

Each is FOLDER/NAME/model.safetensors, one of them a part of several, with a config.json where one matters.
`right-*` are as their convention has them. The others break the rule that the
first part of their name, before '.', is called by in docs/checkpoints.md.
"""

import json
import struct
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

E2M1, E4M3 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
E8M0 = ml_dtypes.float8_e8m0fnu
NAMES = {np.dtype(np.uint8): "U8", np.dtype(np.float32): "F32",
         np.dtype(E4M3): "F8_E4M3", np.dtype(E8M0): "F8_E8M0",
         np.dtype(ml_dtypes.bfloat16): "BF16", np.dtype(np.int32): "I32",
         np.dtype(np.int64): "I64"}
ROOT = Path(sys.argv[1])


def save(name, tensors, config=None, metadata=None, file="model"):
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, array in tensors.items():
        array = np.asarray(array)
        raw = np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                       "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (folder / f"{file}.safetensors").write_bytes(
        struct.pack("<Q", len(text)) + text + data)
    if config:
        (folder / "config.json").write_text(json.dumps(config))


def weight(rows, columns, seed=1):
    values = np.random.default_rng(seed).normal(0, 0.05, (rows, columns))
    return (values * np.linspace(0.5, 3, rows)[:, None]).astype(np.float32)


def pack(codes):
    return codes[..., ::2] | codes[..., 1::2] << 4


def nvfp4(values, limit=None):
    """Packed elements, block scales, and the global scale as a factor."""
    rows, columns = values.shape
    factor = np.float32((limit or np.abs(values).max()) / 2688)
    blocks = values.reshape(rows, -1, 16)
    scales = (np.abs(blocks).max(-1) / 6 / factor).astype(E4M3)
    each = np.maximum(scales.astype(np.float32) * factor, 1e-30)[..., None]
    codes = (blocks / each).astype(E2M1).view(np.uint8).reshape(rows, columns)
    return pack(codes), scales, factor


def mx_scales(values, largest, block=32):
    """Exponent bytes, rounded up so that nothing saturates."""
    blocks = values.reshape(*values.shape[:-1], -1, block)
    amax = np.maximum(np.abs(blocks).max(-1) / largest, 1e-30)
    return (np.ceil(np.log2(amax)) + 127).astype(np.uint8)


def mxfp4(values):
    scales = mx_scales(values, 6)
    each = np.repeat(np.exp2(scales.astype(np.float32) - 127), 32, -1)
    return pack((values / each).astype(E2M1).view(np.uint8)), scales


def mxfp8(values):
    scales = mx_scales(values, 448)
    each = np.repeat(np.exp2(scales.astype(np.float32) - 127), 32, -1)
    return (values / each).astype(E4M3), scales


def fp8_blocks(values):
    """128 x 128 blocks and their factors, the last ones partial."""
    rows, columns = values.shape
    down, across = -(-rows // 128), -(-columns // 128)
    padded = np.zeros((down * 128, across * 128), np.float32)
    padded[:rows, :columns] = values
    scales = np.abs(padded.reshape(down, 128, across, 128)).max((1, 3)) / 448
    scales = scales.astype(np.float32)
    each = np.repeat(np.repeat(scales, 128, 0), 128, 1)[:rows, :columns]
    return (values / each).astype(E4M3), scales


def atoms(scales):
    """128 x 4 atoms, padded with zeros."""
    raw = scales.view(np.uint8)
    rows, columns = raw.shape
    down, across = -(-rows // 128), -(-columns // 4)
    padded = np.zeros((down * 128, across * 4), np.uint8)
    padded[:rows, :columns] = raw
    tiles = padded.reshape(down, 4, 32, across, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(tiles).reshape(padded.shape).view(scales.dtype)


P = "model.layers.0.mlp.down_proj"


def modelopt(data, scales, factor, prefix=P, **more):
    tensors = {"weight": data, "weight_scale": scales,
               "weight_scale_2": np.float32(factor), **more}
    return {f"{prefix}.{key}": value for key, value in tensors.items()}


def compressed(data, scales, divisor, prefix=P, **more):
    tensors = {"weight_packed": data, "weight_scale": scales,
               "weight_global_scale": np.array([divisor], np.float32), **more}
    return {f"{prefix}.{key}": value for key, value in tensors.items()}


def deepseek(data, scales):
    return {f"{P}.weight": data, f"{P}.weight_scale_inv": scales}


def without(tensors, name):
    return {key: x for key, x in tensors.items() if not key.endswith(name)}


def globals_and_shapes():
    data, scales, factor = nvfp4(weight(48, 64))
    save("right-modelopt", modelopt(data, scales, factor,
                                    input_scale=np.float32(20 / 2688)))
    save("right-compressed-tensors",
         compressed(data, scales, 1 / factor,
                    input_global_scale=np.array([2688 / 20], np.float32)))
    # Divisor against multiplier.
    save("reciprocal-global-scale.modelopt",
         modelopt(data, scales, 1 / factor))
    save("reciprocal-global-scale.compressed-tensors",
         compressed(data, scales, factor))
    save("reciprocal-input-scale",
         modelopt(data, scales, factor, input_scale=np.float32(2688 / 20)))
    # A loader must not take a missing global scale for 1; some writer did.
    save("missing-global-scale.modelopt",
         without(modelopt(data, scales, factor), "_scale_2"))
    save("missing-global-scale.compressed-tensors",
         without(compressed(data, scales, 1 / factor), "_global_scale"))
    save("default-global-scale", modelopt(data, scales, 1))
    save("missing-scales.modelopt",
         without(modelopt(data, scales, factor), "weight_scale"))
    save("missing-scales.fp8", {f"{P}.weight": mxfp8(weight(48, 64))[0]})
    save("missing-scales.bytes", {f"{P}.weight": data})
    save("orphan-scale", without(modelopt(data, scales, factor), ".weight"))
    # One scale for 16 bytes, that is for 32 elements.
    save("half-scales", modelopt(data, scales[:, ::2], factor))
    save("scale-shape", modelopt(data, scales[:, :3], factor))
    save("scale-type.nvfp4", modelopt(data, scales.view(np.uint8), factor))
    mixed = compressed(data, scales, 1 / factor, prefix="model.layers.1.mlp.o")
    save("mixed-families", {**modelopt(data, scales, factor), **mixed})
    both = {**modelopt(data, scales, factor),
            f"{P}.weight_global_scale": np.array([1 / factor], np.float32)}
    save("mixed-families.one", both)
    # Gate and up are multiplied as one.
    up = nvfp4(weight(48, 64, 2) * 2)
    gate = "model.layers.0.mlp.gate_proj", "model.layers.0.mlp.up_proj"
    save("unequal-global-scales",
         {**modelopt(data, scales, factor, gate[0]), **modelopt(*up, gate[1])})
    for name, layers in (("q", "qkv"), ("w1", ("w1", "w3"))):
        parts = [f"model.layers.0.self_attn.{x}_proj" if name == "q" else
                 f"model.layers.0.mlp.experts.3.{x}" for x in layers]
        save(f"unequal-global-scales.{name}", {
            **modelopt(data, scales, factor, parts[0]),
            **modelopt(data, scales, factor, parts[1]),
            **modelopt(*up, parts[-1])})
    save("unequal-global-scales.divisors",
         {**compressed(data, scales, 1 / factor, gate[0]),
          **compressed(*up[:2], 1 / up[2], gate[1])})
    shared = np.abs(weight(48, 64, 2) * 2).max()
    save("right-fused", {
        **modelopt(*nvfp4(weight(48, 64), shared), gate[0]),
        **modelopt(*nvfp4(weight(48, 64, 2) * 2, shared), gate[1])})
    # Half a model has parameters whose scales are elsewhere.
    save("lone-shard", modelopt(data, scales, factor),
         file="model-00001-of-00002")
    broken = scales.copy()
    broken.view(np.uint8)[3, 1] = 0x7f
    save("nan-scale", modelopt(data, broken, factor))
    save("nan-scale.global", modelopt(data, scales, np.nan))
    broken = scales.copy()
    broken.view(np.uint8)[3, 1] |= 0x80
    save("negative-scale", modelopt(data, broken, factor))
    save("configuration", modelopt(data, scales, factor),
         {"quantization_config": {"quant_method": "compressed-tensors"}})
    save("configuration.group", modelopt(data, scales, factor),
         {"quantization_config": {"quant_method": "modelopt",
                                  "group_size": 32}})


def orders():
    """Nibbles and atoms."""
    data, scales, factor = nvfp4(weight(200, 96))
    save("tiled-scales", modelopt(data, atoms(scales), factor))
    tiled = atoms(scales).reshape(2, 2, 32, 4, 4)
    save("tiled-scales.five", modelopt(data, tiled, factor))
    save("tiled-twice", modelopt(data, atoms(atoms(scales)), factor))
    padded = np.zeros((256, 8), E4M3)
    padded[:200, :6] = scales
    save("scale-shape.padded", modelopt(data, padded, factor))
    torchao = {"a._weight_qdata": data, "a._weight_scale": scales,
               "a._weight_per_tensor_scale": np.float32(factor)}
    kind = {"_type": "NVFP4Tensor", "_data": {"is_swizzled_scales": True}}
    save("scale-shape.torchao", torchao,
         metadata={"a.weight": json.dumps(kind)})
    # Rows of 96 bytes with 4 scales at the end of their shape, as 6-bit ones.
    data4, scales4 = mxfp4(weight(200, 192))
    save("tiled-scales.mxfp4", {
        f"{P}.weight_packed": data4,
        f"{P}.weight_scale": atoms(scales4).reshape(2, 2, 32, 4, 4)})
    swapped = data >> 4 | data << 4
    mark = np.frombuffer(b'{"format": "nvfp4"}', np.uint8)
    save("high-nibble-first", modelopt(swapped, atoms(scales), factor,
                                        comfy_quant=mark))
    save("tiled-twice.comfy", modelopt(swapped, atoms(atoms(scales)), factor,
                                       comfy_quant=mark))
    save("nibble-order.configuration", modelopt(swapped, scales, factor),
         {"quantization_config": {"quant_method": "modelopt",
                                  "swap_weight_nibbles": True}})


def exponents():
    values = weight(48, 96)
    data, scales = mxfp4(values)
    packed = {f"{P}.weight_packed": data, f"{P}.weight_scale": scales}
    save("exponent-bytes.mxfp4", packed)
    save("scale-type.mxfp4", {f"{P}.weight_packed": data,
                              f"{P}.weight_scale": np.exp2(
                                  scales.astype(np.float32) - 127)})
    data8, scales8 = mxfp8(values)
    save("exponent-bytes.mxfp8",
         {f"{P}.weight": data8, f"{P}.weight_scale": scales8})
    save("right-mxfp8",
         {f"{P}.weight": data8, f"{P}.weight_scale": scales8.view(E8M0)})
    save("byte-as-number",
         {f"{P}.weight": data8,
          f"{P}.weight_scale": scales8.astype(np.float32)})
    broken = scales8.copy()
    broken[0, 0] = 0xff
    save("nan-scale.exponent",
         {f"{P}.weight": data8, f"{P}.weight_scale": broken.view(E8M0)})
    # DeepSeek V4: the same names for dense FP8 and for the experts' FP4.
    dense, dense_scales = fp8_blocks(weight(256, 128))
    powers = np.exp2(np.ceil(np.log2(dense_scales)))
    bytes_ = (np.log2(powers) + 127).astype(np.uint8)
    expert = "layers.3.ffn.experts.7.w1"
    attention = "layers.3.attn.wq_a"
    save("right-deepseek-v4",
         {f"{expert}.weight": data, f"{expert}.scale": scales.view(E8M0),
          f"{attention}.weight": dense, f"{attention}.scale":
          bytes_.view(E8M0)})
    save("byte-as-number.deepseek-v4",
         {f"{attention}.weight": dense,
          f"{attention}.scale": bytes_.astype(np.float32)})


def integers():
    """INT4 of compressed-tensors with what a reader must not pass over."""
    words = np.arange(48 * 8, dtype=np.int32).reshape(48, 8)
    tensors = {f"{P}.weight_packed": words,
               f"{P}.weight_scale": np.full((48, 2), 0.01, np.float32),
               f"{P}.weight_shape": np.array([48, 64], np.int64)}
    save("right-int4", tensors)
    save("zero-points", {**tensors, f"{P}.weight_zero_point":
                         np.ones((6, 2), np.int32)})
    save("group-order", {**tensors, f"{P}.weight_g_idx":
                         np.arange(64, dtype=np.int32) % 2})


def gpt_oss():
    stack = np.stack([weight(64, 96, 1), weight(64, 96, 2)])
    data, scales = mxfp4(stack)
    blocks = data.reshape(2, 64, 3, 16)
    name = "model.layers.0.mlp.experts."
    bias = np.zeros((2, 64), ml_dtypes.bfloat16)
    tensors = {name + "gate_up_proj_blocks": blocks,
               name + "gate_up_proj_scales": scales,
               name + "gate_up_proj_bias": bias,
               name + "down_proj_blocks": blocks,
               name + "down_proj_scales": scales}
    save("interleaved-rows", tensors)
    original = "block.0.mlp.mlp1_weight"
    save("interleaved-rows.original", {original + ".blocks": blocks,
                                       original + ".scales": scales,
                                       "block.0.mlp.norm.scale": bias[0]})
    save("block-shape", {**tensors, name + "gate_up_proj_blocks": data})
    save("missing-scales.gpt-oss", {name + "down_proj_blocks": blocks})


def deepseek_blocks():
    # Neither extent is a multiple of 128.
    data, scales = fp8_blocks(weight(200, 300))
    save("inverse-name", deepseek(data, scales))
    save("reciprocal-scales", deepseek(data, 1 / scales))
    save("floor-blocks", deepseek(data, scales[:1, :2]))
    save("scale-shape.blocks", deepseek(data, scales.T.copy()))
    config = {"quantization_config": {
        "quant_method": "fp8", "fmt": "e4m3", "scale_fmt": "ue8m0",
        "weight_block_size": [128, 128]}}
    save("not-power-of-two", deepseek(data, scales), config)
    powers = np.exp2(np.ceil(np.log2(scales))).astype(np.float32)
    save("right-ue8m0", deepseek(data, powers), config)
    save("right-qwen", deepseek(data, scales.astype(ml_dtypes.bfloat16)))
    save("right-fp8-block", {f"{P}.weight": data, f"{P}.weight_scale": scales},
         {"quantization_config": {"quant_method": "compressed-tensors",
                                  "weight_block_size": [128, 128]}})


if __name__ == "__main__":
    globals_and_shapes()
    orders()
    exponents()
    integers()
    gpt_oss()
    deepseek_blocks()
