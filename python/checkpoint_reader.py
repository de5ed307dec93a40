"""Reads checkpoints of block-scaled weights with numpy and ml_dtypes alone.

Independent of everything else here: it knows the conventions of
docs/checkpoints.md from their producers' documents, and shares no code with the
library. numpy has no narrow floats, so safetensors' own numpy loader reads none
of these files.

usage: checkpoint_reader.py FILE.safetensors...

Decodes every quantised parameter and compares it with the tensor
`expected.NAME` of the same file, bit for bit.
"""

import json
import struct
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

DTYPES = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16,
    "I16": np.int16, "U32": np.uint32, "I32": np.int32, "U64": np.uint64,
    "I64": np.int64, "F16": np.float16, "F32": np.float32, "F64": np.float64,
    "BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2, "F8_E8M0": ml_dtypes.float8_e8m0fnu,
}
E2M1 = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype(
    np.float32)


def load(path):
    """Tensors and metadata of a file. Packed F4 and F6 stay bytes."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + x for x in entry["data_offsets"])
        dtype, shape = entry["dtype"], entry["shape"]
        if dtype in DTYPES:
            tensors[name] = np.frombuffer(
                data[begin:end], DTYPES[dtype]).reshape(shape)
        else:
            bits = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}[dtype]
            tensors[name] = np.frombuffer(data[begin:end], np.uint8).reshape(
                *shape[:-1], shape[-1] * bits // 8)
    return tensors, metadata


def nibbles(packed, bits=4):
    """The lowest nibble of each word first."""
    count = packed.dtype.itemsize * 8 // bits
    words = packed.view(f"u{packed.dtype.itemsize}")
    shifts = np.arange(count, dtype=words.dtype) * bits
    codes = (words[..., None] >> shifts & (2**bits - 1)).astype(np.uint8)
    return codes.reshape(*packed.shape[:-1], -1)


def exponents(codes):
    return codes.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)


def number(scales):
    if scales.dtype in (np.uint8, ml_dtypes.float8_e8m0fnu):
        return exponents(scales)
    return scales.astype(np.float32)


def untile(scales, rows, columns):
    """Rows of scales from 128 x 4 atoms, of one matrix."""
    down, across = -(-rows // 128), -(-columns // 4)
    atoms = scales.reshape(down, across, 32, 4, 4)
    return atoms.transpose(0, 3, 2, 1, 4).reshape(
        down * 128, across * 4)[:rows, :columns]


def spread(scales, shape, block):
    """A scale for each element: blocks of columns, or of rows and columns."""
    for axis, size in zip((-2, -1), block):
        scales = np.repeat(scales, size, axis)
    return scales[..., :shape[-2], :shape[-1]]


def times(elements, scales, block):
    return elements * spread(scales, elements.shape, block)


def packed_fp6(data):
    """A little-endian stream of each row's codes of e2m3."""
    bits = np.unpackbits(data, axis=-1, bitorder="little")
    bits = bits.reshape(*data.shape[:-1], -1, 6)
    codes = (bits << np.arange(6, dtype=np.uint8)).sum(-1, dtype=np.uint8)
    return codes.view(ml_dtypes.float6_e2m3fn).astype(np.float32)


def packed_fp4(data):
    return E2M1[nibbles(data.view(np.uint8))]


def read_weight(tensors, metadata, prefix):
    """Values of `prefix.weight` in f32; None if it is not quantised."""
    def get(name):
        return tensors.get(f"{prefix}.{name}")

    if (data := get("_weight_qdata")) is not None:
        scales = get("_weight_scale")
        kind = json.loads(metadata[f"{prefix}.weight"])
        fp4 = data.dtype == np.uint8
        elements = packed_fp4(data) if fp4 else data.astype(np.float32)
        block = 16 if kind["_type"] == "NVFP4Tensor" else 32
        if kind["_data"]["is_swizzled_scales"]:
            rows, columns = elements.shape
            scales = untile(scales, rows, -(-columns // block))
        scales = number(scales)
        if (factor := get("_weight_per_tensor_scale")) is not None:
            scales = scales * factor
        return times(elements, scales, (1, block))
    scales = get("weight_scale")
    if (data := get("weight_packed")) is not None:
        if data.dtype == np.int32:
            shape = get("weight_shape")
            elements = nibbles(data)[:, :shape[1]].astype(np.float32) - 8
            block = elements.shape[1] // scales.shape[1]
            return times(elements, number(scales), (1, block))
        if data.shape[-1] == 24 * scales.shape[-1]:
            return times(packed_fp6(data), number(scales), (1, 32))
        elements = packed_fp4(data)
        if (divisor := get("weight_global_scale")) is not None:
            return times(elements, number(scales) / divisor, (1, 16))
        return times(elements, number(scales), (1, 32))
    data = get("weight")
    if data is None:
        return None
    if (short := get("scale")) is not None:
        # DeepSeek V4: FP4 in bytes, or FP8 in blocks.
        if data.dtype == np.uint8:
            return times(packed_fp4(data), number(short), (1, 32))
        return times(data.astype(np.float32), number(short), (128, 128))
    if get("comfy_quant") is not None:
        elements = packed_fp4(data >> 4 | data << 4)
        rows, columns = elements.shape
        plain = untile(scales, rows, -(-columns // 16))
        return times(elements, number(plain) * get("weight_scale_2"), (1, 16))
    if (scales_inv := get("weight_scale_inv")) is not None:
        return times(data.astype(np.float32), number(scales_inv), (128, 128))
    if scales is None:
        return None
    if data.dtype == np.uint8:
        elements = packed_fp4(data)
        if (factor := get("weight_scale_2")) is not None:
            return times(elements, number(scales) * factor, (1, 16))
        scales = scales.reshape(*elements.shape[:-1], -1)
        return times(elements, number(scales), (1, 32))
    block = (1, 32) if scales.dtype.itemsize == 1 else (128, 128)
    return times(data.astype(np.float32), number(scales), block)


def read_blocks(tensors, name):
    """gpt-oss: values of `name` from `name_blocks` and `name_scales`, or, as
    OpenAI published it, from `name.blocks` and `name.scales`."""
    join = "_" if name + "_blocks" in tensors else "."
    blocks, scales = tensors[name + join + "blocks"], tensors[
        name + join + "scales"]
    values = E2M1[nibbles(blocks)] * exponents(scales)[..., None]
    return values.reshape(*values.shape[:-2], -1)


def check(path):
    tensors, metadata = load(path)
    count = wrong = 0
    for name in tensors:
        if not name.startswith("expected."):
            continue
        parameter = name[len("expected."):]
        if parameter + "_blocks" in tensors:
            values = read_blocks(tensors, parameter)
        else:
            values = read_weight(tensors, metadata,
                                 parameter[:-len(".weight")])
        expected = tensors[name]
        count += 1
        same = values is not None and values.shape == expected.shape and (
            np.array_equal(values.astype(np.float32).view(np.uint32),
                           expected.view(np.uint32)))
        wrong += not same
        if not same:
            print(f"{path}: '{parameter}' differs")
    print(f"{Path(path).name}: {count} parameters, {wrong} differ")
    return count > 0 and wrong == 0


if __name__ == "__main__":
    results = [check(path) for path in sys.argv[1:]]
    sys.exit(0 if all(results) else 1)
