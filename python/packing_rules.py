"""Quantisation and layouts by the published rules, in numpy and ml_dtypes alone:
what packing_check.py and advice_check.py compare with."""

import ml_dtypes
import numpy as np

E2M1, E4M3 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
# Type, largest value and bits of an element.
MX = {"mxfp8": (E4M3, 448, 8), "mxfp8-e5m2": (ml_dtypes.float8_e5m2, 57344, 8),
      "mxfp6-e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 6),
      "mxfp6-e3m2": (ml_dtypes.float6_e3m2fn, 28, 6), "mxfp4": (E2M1, 6, 4)}
F32 = np.float32


def blocks_of(values, block):
    """Rows of whole blocks, padded with zeros."""
    k = values.shape[-1]
    padding = [(0, 0)] * (values.ndim - 1) + [(0, -k % block)]
    return np.pad(values, padding).reshape(*values.shape[:-1], -1, block)


def pack_bits(codes, bits):
    """A little-endian stream of each row's codes."""
    stream = (codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1)
    return np.packbits(stream.reshape(*codes.shape[:-1], -1).astype(np.uint8),
                       axis=-1, bitorder="little")


def quantize_mx(values, name):
    """The power of two not below amax / largest, and elements to nearest."""
    dtype, largest, bits = MX[name]
    blocks = blocks_of(values, 32)
    quotient = (np.abs(blocks).max(-1) / F32(largest)).astype(F32)
    mantissa, exponent = np.frexp(quotient)
    exponent = exponent - (mantissa == 0.5)
    scales = np.clip(exponent + 127, 0, 254).astype(np.uint8)
    scales[quotient == 0] = 0
    factor = np.ldexp(F32(1), 127 - scales.astype(int)).astype(F32)
    codes = (blocks * factor[..., None]).astype(dtype).view(np.uint8)
    codes = codes.reshape(*values.shape[:-1], -1)[..., :values.shape[-1]]
    return pack_bits(codes, bits), scales, None


def quantize_nvfp4(values, _):
    """As NVIDIA's libraries: all in f32 and in this order."""
    blocks = blocks_of(values, 16)
    encode = F32(2688) / np.abs(values).max()
    decode = F32(1) / encode
    wanted = np.abs(blocks).max(-1) * (encode * (F32(1) / F32(6)))
    scales = np.minimum(wanted, F32(448)).astype(E4M3)
    with np.errstate(divide="ignore"):
        factor = F32(1) / (scales.astype(F32) * decode)
    factor[scales == 0] = 0
    scaled = np.clip(blocks * factor[..., None], -6, 6)
    codes = scaled.astype(E2M1).view(np.uint8)
    codes = codes.reshape(*values.shape[:-1], -1)[..., :values.shape[-1]]
    return pack_bits(codes, 4), scales.view(np.uint8), (encode, decode)


def tile(plain, padding=0):
    """128 x 4 atoms of each matrix."""
    *lead, rows, columns = plain.shape
    padded = np.full((*lead, -(-rows // 128) * 128, -(-columns // 4) * 4),
                     padding, np.uint8)
    padded[..., :rows, :columns] = plain
    split = padded.reshape(*lead, -1, 4, 32, padded.shape[-1] // 4, 4)
    n = len(lead)
    return split.transpose(*range(n), n, n + 3, n + 2, n + 1, n + 4)


def tile_metadata(plain):
    """Tiles of 128 rows by 16 bytes, rows first; 0x44 says nothing."""
    rows, width = plain.shape
    padded = np.full((-(-rows // 128) * 128, -(-width // 16) * 16), 0x44,
                     np.uint8)
    padded[:rows, :width] = plain
    return padded.reshape(padded.shape[0] // 128, 128, -1, 16).transpose(
        2, 0, 1, 3)


def prune(values, pairs):
    """What stays of each group, ties to the lower index."""
    group, width = (8, 2) if pairs else (4, 1)
    units = values.astype(np.float64).reshape(values.shape[0], -1, 4, width)
    weight = (units**2).sum(-1)
    order = np.argsort(-weight, -1, kind="stable")[..., :2]
    kept = np.sort(order, -1)
    assert group == 4 * width
    stored = np.take_along_axis(units, kept[..., None], 2)
    nibbles = (kept[..., 0] | kept[..., 1] << 2).astype(np.uint8)
    metadata = nibbles[:, ::2] | nibbles[:, 1::2] << 4
    dense = np.zeros_like(units)
    np.put_along_axis(dense, kept[..., None], stored, 2)
    return (stored.reshape(values.shape[0], -1).astype(F32), metadata,
            dense.reshape(values.shape).astype(F32))
