"""Block-scaled products in numpy, as an outsider would write them.

Element codes are decoded by ml_dtypes, scales are packed by reshaping, the
product is a double-precision matrix product. Nothing here knows the compiler,
so that agreement with a kernel means something.

usage: numpy_reference.py BLOCKSCALE PTX PLAN WORKDIR [SIZE=VALUE ...]

Makes inputs for the first kernel of the plan, runs the PTX with
`BLOCKSCALE emulate --plan`, and compares D bit for bit.
"""

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

ELEMENTS = {
    "e2m1": (ml_dtypes.float4_e2m1fn, 4),
    "e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "e4m3": (ml_dtypes.float8_e4m3fn, 8),
    "e5m2": (ml_dtypes.float8_e5m2, 8),
    "f16": (np.float16, 16),
    "bf16": (ml_dtypes.bfloat16, 16),
    "tf32": (np.float32, 32),
    "int8": (np.int8, 8),
    "uint8": (np.uint8, 8),
    "int4": (ml_dtypes.int4, 4),
    "uint4": (ml_dtypes.uint4, 4),
}
# What 1 means in the elements of which a kernel's are made: fixed-point numbers.
UNITS = {"int4": 0.25}
SCALES = {
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,
}
# Those that the epilogue reads as well as those of tiles.
FACTORS = {**SCALES, "e5m2": ml_dtypes.float8_e5m2}


def ue5m3_values():
    """The values of all codes of ue5m3, which no numpy type has: 5 bits of
    exponent with bias 15, 3 of fraction, no sign, the last code NaN."""
    code = np.arange(256)
    exponent, fraction = code >> 3, code & 7
    values = np.where(exponent == 0, np.ldexp(fraction, -17),
                      np.ldexp(8 + fraction, exponent - 18))
    values[255] = np.nan
    return values


UE5M3 = ue5m3_values()

OUTPUTS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
           "i32": np.int32}

# The bits of an f32 in memory that a tf32 does not have.
TF32_IGNORED = 0x1fff


def factor_codes(values, factor):
    """Powers of two as scales of that format, with their values."""
    if factor == "ue5m3":
        return encode_ue5m3(values), values
    codes = values.astype({**OUTPUTS, **FACTORS}[factor])
    return codes, codes.astype(np.float64)


def decode(codes, dtype):
    """Values of element or scale codes, unsigned integers of their width."""
    return codes.view(dtype).astype(np.float64)


def decode_scales(codes, scale):
    """Values of scale codes."""
    return UE5M3[codes] if scale == "ue5m3" else decode(codes, SCALES[scale])


def encode_ue5m3(values):
    """The code of the smallest number of ue5m3 that is not below each value, as
    quantisers round; what is above the largest becomes the largest."""
    codes = np.searchsorted(UE5M3[:255], np.abs(values))
    return np.minimum(codes, 254).astype(np.uint8)


def element_codes(rng, element, shape):
    """Codes of small integers: their products add up exactly in f32. Those of
    integers are any: sums of them are exact in s32."""
    dtype, bits = ELEMENTS[element]
    if element in ("int4", "uint4"):
        return rng.integers(0, 16, shape).astype(np.uint8)
    unsigned = f"u{max(bits // 8, 1)}"
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 256, shape).astype(np.uint8)
    values = rng.integers(-2, 3, shape).astype(np.float32)
    codes = values.astype(dtype).view(unsigned)
    if element == "tf32":
        codes |= rng.integers(0, TF32_IGNORED + 1, shape).astype(unsigned)
    return codes


def scale_codes(rng, scale, shape):
    """Codes of 1/2, 1 or 2; rows and blocks differ."""
    values = 2.0 ** rng.integers(-1, 2, shape).astype(np.float32)
    if scale == "ue5m3":
        return encode_ue5m3(values)
    return values.astype(SCALES[scale]).view(np.uint8)


def pack_elements(codes, bits, pitch):
    """Rows of codes as bytes, padded with zeros to `pitch` bytes."""
    shifts = np.arange(bits, dtype=codes.dtype)
    stream = (codes[..., None] >> shifts & 1).astype(np.uint8)
    stream = stream.reshape(*codes.shape[:-1], -1)
    packed = np.packbits(stream, axis=-1, bitorder="little")
    padding = [(0, 0)] * (packed.ndim - 1) + [(0, pitch - packed.shape[-1])]
    return np.pad(packed, padding)


def pack_scales(scales):
    """Tiles of 128 rows by 4 scales, 512 bytes each, along K first."""
    batch, rows, blocks = scales.shape
    padded = np.zeros((batch, -(-rows // 128) * 128, -(-blocks // 4) * 4),
                      np.uint8)
    padded[:, :rows, :blocks] = scales
    tiles = padded.reshape(batch, -1, 4, 32, padded.shape[2] // 4, 4)
    return np.ascontiguousarray(tiles.transpose(0, 1, 4, 3, 2, 5))


def prune(rng, codes, group):
    """Clears half of every `group` codes; where, as flags.

    One of two, two of four or two pairs of eight: which ones is random, so
    that every index occurs."""
    count = min(group, 4)
    units = codes.reshape(*codes.shape[:-1], -1, count, group // count)
    order = rng.random(units.shape[:-1]).argsort(axis=-1)
    kept = np.broadcast_to(order[..., None] < count // 2, units.shape)
    return np.where(kept, units, 0).reshape(codes.shape), kept


def compress(codes, kept):
    """Stored codes, and a byte per two groups: the positions of the two units
    that were kept, two bits each, the first group and position lowest. Of two
    codes 0b0100 keeps the first and 0b1110 the second."""
    shape, (count, width) = codes.shape, kept.shape[-2:]
    stored = codes.reshape(kept.shape)[kept].reshape(*shape[:-1], -1)
    where = np.nonzero(kept[..., 0].reshape(-1, count))[1]
    if count == 2:
        nibbles = np.where(where == 0, 0b0100, 0b1110).astype(np.uint8)
    else:
        where = where.reshape(-1, 2)
        nibbles = (where[:, 0] | where[:, 1] << 2).astype(np.uint8)
    halves = nibbles.reshape(*shape[:-1], shape[-1] // (2 * count * width), 2)
    return stored, halves[..., 0] | halves[..., 1] << 4


def pack_metadata(metadata, padding):
    """Tiles of 128 rows by 16 bytes, along the rows first."""
    batch, rows, width = metadata.shape
    padded = np.full((batch, -(-rows // 128) * 128, -(-width // 16) * 16),
                     padding, np.uint8)
    padded[:, :rows, :width] = metadata
    tiles = padded.reshape(batch, padded.shape[1], -1, 16)
    return np.ascontiguousarray(tiles.transpose(0, 2, 1, 3))


def evaluate(expression, sizes):
    """An expression of the plan; it is integer arithmetic in C's spelling."""
    names = dict(sizes, ceildiv=lambda a, b: -(-a // b), min=min, max=max)
    return eval(expression.replace("/", "//"), {"__builtins__": {}}, names)


class Operand:
    """Random codes and scales of A or B, and their bytes in memory."""

    def __init__(self, rng, kernel, name, rows, sizes):
        data = next(d for d in kernel["data"] if d["operand"] == name)
        own = data.get("source", data)
        dtype, bits = ELEMENTS[own["format"]][0], ELEMENTS[data["format"]][1]
        shape = (sizes["batch"], rows, sizes["K"])
        self.codes = element_codes(rng, own["format"], shape)
        stored, self.metadata = self.codes, None
        for metadata in kernel["metadata"]:
            if metadata["operand"] == name:
                self.codes, kept = prune(rng, self.codes,
                                         metadata["elementsPerByte"] // 2)
                stored, plain = compress(self.codes, kept)
                self.metadata = pack_metadata(plain, metadata["paddingValue"])
        if "source" in data:
            stored = np.array(own["codes"], np.uint8)[stored]
        self.data = pack_elements(stored, bits,
                                  evaluate(data["linePitch"], sizes))
        if data["format"] == "tf32":
            self.codes = self.codes & ~np.uint32(TF32_IGNORED)
        self.values = decode(self.codes, dtype) * (
            UNITS.get(own["format"], 1) if kernel["scales"] else 1)
        self.packed_scales = None
        for scales in kernel["scales"]:
            if scales["operand"] == name:
                self.scale(rng, scales)

    def scale(self, rng, scales):
        """Gives the operand random scales, one for some rows and elements where
        the plan says so."""
        batch, rows, k = self.codes.shape
        group = scales.get("rows", 1) or rows
        elements = scales.get("elements", scales["block"])
        codes = scale_codes(rng, scales["format"],
                            (batch, -(-rows // group), -(-k // elements)))
        codes = codes.repeat(group, axis=1)[:, :rows].repeat(
            elements // scales["block"], axis=2)[..., :-(-k // scales["block"])]
        self.packed_scales = pack_scales(codes)
        self.values = self.values * np.repeat(
            decode_scales(codes, scales["format"]), scales["block"],
            axis=2)[..., :k]


def vector_scales(vectors, rows, sizes):
    """The bytes of scales that cover all of K, and the scale of each row. They
    are powers of two: those of neighbours and of neighbouring matrices differ."""
    count = evaluate(vectors["matrixElements"], sizes)
    place = np.arange(count) + np.arange(count) // 8
    values = np.exp2(-((place + np.arange(sizes["batch"])[:, None]) % 5.0))
    codes, values = factor_codes(values, vectors["format"])
    return codes, spread_rows(values, vectors["rows"] or rows, rows)


def spread_rows(codes, share, rows):
    """The number of each row, of which `share` have the same."""
    return np.repeat(codes.astype(np.float64), share, axis=1)[:, :rows]


def tile_scales(vectors, rows, sizes):
    """The bytes of scales of blocks of K, row after row, and the scale of each
    element. Neighbours along K, of rows and of matrices differ."""
    share, block = vectors["rows"] or rows, vectors["block"]
    shape = (sizes["batch"], -(-rows // share), -(-sizes["K"] // block))
    assert evaluate(vectors["elements"], sizes) == np.prod(shape)
    matrix, row, step = np.indices(shape)
    values = np.exp2(-((2 * matrix + 3 * row + step) % 5.0))
    codes, values = factor_codes(values, vectors["format"])
    return codes, np.repeat(spread_rows(values, share, rows), block,
                            axis=2)[..., :sizes["K"]]


def zero_points(terms, rows, sizes):
    """Zero points in real units of tiles of rows and of K, and that of each element.
    Of 21 that follow each other no two are alike."""
    share, block = terms["rows"] or rows, terms["block"] or sizes["K"]
    matrix, row, step = np.indices((sizes["batch"], -(-rows // share),
                                    -(-sizes["K"] // block)))
    codes = (1 + (4 * matrix + 8 * row + step) % 21) / 4
    own = np.repeat(np.repeat(codes, share, axis=1)[:, :rows], block, axis=2)
    return codes, own[..., :sizes["K"]]


def zero_terms(kernel, sides, sizes):
    """What the epilogue subtracts, by role: of each tile along K the zero points of an
    operand, and sums of the other one. Subtracts the zero points from the values."""
    whole = {name: side.values for name, side in sides.items()}
    owners = kernel.get("zeroTerms", [])
    for terms in owners:
        side = sides[terms["operand"]]
        _, own = zero_points(terms, side.values.shape[1], sizes)
        side.values = side.values - own
    lists = {"a_terms": [], "b_terms": []}
    for terms in owners:
        name, other = terms["operand"], "ab".replace(terms["operand"], "")
        rows, block = whole[name].shape[1], terms["block"] or sizes["K"]
        share = terms["rows"] or rows
        codes, _ = zero_points(terms, rows, sizes)
        assert evaluate(terms["count"], sizes) == codes.shape[2]
        assert evaluate(terms["first"], sizes) == sum(
            one.shape[1] for one in lists["a_terms"])
        lists[name + "_terms"].append(
            np.repeat(codes, share, axis=1)[:, :rows].transpose(0, 2, 1))
        added = sides["b"].values if other == "b" else whole["a"]
        lists[other + "_terms"].append(np.stack(
            [added[..., at:at + block].sum(axis=2)
             for at in range(0, sizes["K"], block)], axis=1))
    return {role: np.concatenate(one, axis=1).astype(np.float32)
            for role, one in lists.items() if one}


def run(tool, ptx, plan_file, workdir, dynamic):
    kernel = json.loads(Path(plan_file).read_text())["kernels"][0]
    sizes = {s["name"]: s["value"] for s in kernel["sizes"]}
    sizes.update(dynamic)
    rng = np.random.default_rng(7)
    a = Operand(rng, kernel, "a", sizes["M"], sizes)
    b = Operand(rng, kernel, "b", sizes["N"], sizes)
    workdir = Path(workdir)
    inputs = {"a_data": a.data, "b_data": b.data,
              "a_scales": a.packed_scales, "b_scales": b.packed_scales,
              "a_metadata": a.metadata}
    inputs = {role: x for role, x in inputs.items() if x is not None}
    factors = np.ones((sizes["batch"], 1, 1))
    for step, scales in enumerate(kernel["tensorScales"], 1):
        count = evaluate(scales["elements"], sizes)
        # A power of two for each matrix, unlike those of its neighbours.
        own = np.exp2(-step * (1.0 + np.arange(count) % 3))
        inputs[scales["operand"] + "_tensor_scale"] = own.astype(np.float32)
        factors = factors * own[:, None, None]
    for vectors in kernel.get("vectorScales", []):
        name = vectors["operand"]
        rows = sizes["M" if name == "a" else "N"]
        if "block" in vectors:
            side = a if name == "a" else b
            inputs[name + "_scales"], own = tile_scales(vectors, rows, sizes)
            side.values = side.values * own
            continue
        inputs[name + "_scales"], own = vector_scales(vectors, rows, sizes)
        if "zeroTerms" in kernel:
            side = a if name == "a" else b
            side.values = side.values * own[:, :, None]
            continue
        factors = factors * (own[:, :, None] if name == "a" else
                             own[:, None, :])
    inputs.update(zero_terms(kernel, {"a": a, "b": b}, sizes))
    command = [tool, "emulate", ptx, f"--plan={plan_file}",
               f"--out=d={workdir / 'd.npy'}"]
    for role, array in inputs.items():
        np.save(workdir / f"{role}.npy", array.reshape(-1))
        command.append(f"--in={role}={workdir / role}.npy")
    command += [f"--set={name}={value}" for name, value in dynamic.items()]
    subprocess.run(command, check=True)

    output = next(p for p in kernel["parameters"] if p["role"] == "d")["type"]
    d = np.load(workdir / "d.npy").reshape(-1).view(OUTPUTS[output])
    expected = (np.einsum("bmk,bnk->bmn", a.values, b.values)
                * factors)
    if d.dtype != np.int32:
        expected = expected.astype(np.float32)
    rounded = expected.astype(d.dtype).reshape(-1)
    wrong = np.flatnonzero(rounded != d[:rounded.size])
    print(f"{kernel['name']}: {wrong.size} of {rounded.size} elements differ, "
          f"{np.count_nonzero(rounded)} are not zero")
    return wrong.size == 0 and np.count_nonzero(rounded) > rounded.size // 2


if __name__ == "__main__":
    pairs = (argument.split("=") for argument in sys.argv[5:])
    agree = run(*sys.argv[1:5], {name: int(value) for name, value in pairs})
    sys.exit(0 if agree else 1)
