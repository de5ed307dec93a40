"""Inputs of the forms: pools of raw bits, each from a seed of its own name.

A pool is special values and random ones. Two operands are all pairs of special
values and then random ones, three likewise, so that rare cases meet.
"""

import itertools
import zlib

import numpy as np

DTYPES = {"b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64}

# sign, exponent and mantissa bits
FLOATS = {"f64": (11, 52), "f32": (8, 23), "tf32": (8, 10), "f16": (5, 10),
          "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2)}


class Random:
    """Random numbers that no version of numpy changes: raw words of PCG64."""

    def __init__(self, seed):
        self.source = np.random.PCG64(seed)

    def words(self, count):
        return self.source.random_raw(int(count))

    def integers(self, low, high, size):
        """Whole numbers of 64 bits in low..high-1; the bias does not matter here."""
        shape = size if isinstance(size, tuple) else (size,)
        words = self.words(int(np.prod(shape))).reshape(shape)
        return (words % np.uint64(high - low)).astype(np.int64) + low

    def choice(self, values, count):
        return values[self.integers(0, len(values), count)]

    def permutation(self, count):
        return np.argsort(self.words(count), kind="stable")


def random_of(name):
    return Random(zlib.crc32(name.encode()))


def float_specials(kind):
    """Bits at which formats change their mind, of both signs."""
    exponent, mantissa = FLOATS[kind]
    top = (1 << exponent) - 1
    bias = top >> 1
    one = bias << mantissa
    half_ulp = 1 << max(mantissa - 11, 0)
    values = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1,
              one, one + 1, one - 1, one | 1 << (mantissa - 1),
              one - (1 << mantissa), one + (1 << mantissa),
              (bias + 1 << mantissa) | 1 << (mantissa - 2), one + half_ulp,
              (top << mantissa) - 1, top - 1 << mantissa, top << mantissa,
              (top << mantissa) | 1 << (mantissa - 1), (top << mantissa) | 1,
              (top << mantissa) | (1 << mantissa) - 1,
              (top << mantissa) | 1 << (mantissa - 1) | 5 % (1 << mantissa)]
    if kind in ("f64", "f32", "bf16"):
        for power in (-149, -127, -126, -25, -24, -14, -9, 7, 8, 10, 15, 16, 23,
                      24, 31, 32, 63, 64):
            if 0 < bias + power < top:
                values.append(bias + power << mantissa)
    sign = 1 << (exponent + mantissa)
    values = list(dict.fromkeys(values))[:32]
    return values + [v | sign for v in values]


def near(kind, power):
    """Numbers a few units beside a power of two, of both signs."""
    exponent, mantissa = FLOATS[kind]
    code = (power + (1 << exponent - 1) - 1) << mantissa
    values = [code + step for step in range(-12, 13)]
    sign = 1 << exponent + mantissa
    return values + [v | sign for v in values]


# Pools that meet where a rule decides: products about the smallest normal number,
# NaN of all kinds together, and the NaN that tensor copies fill with.
CHOSEN = {
    "f32.one": near("f32", 0), "f32.least": near("f32", -126),
    "f16.one": near("f16", 0), "f16.least": near("f16", -14),
    "f64.nan": [0x7FF8000000000000, 0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF,
                0xFFF8000000000000, 0xFFF0000000000123, 0x3FF0000000000000,
                0x7FF0000000000000, 0, 0xFFF0000000000000],
    "f32.nan": [0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0xFFC00000, 0xFF800123,
                0x3F800000, 0x7F800000, 0, 0xFF800000],
    "f16.oob": [0x7FF7, 0xFFF7, 0x7FF6, 0x7FFF, 0xFFFF, 0x7E00, 0, 0x8000, 0x3C00,
                0xBC00, 0x7C00, 0xFC00, 0x7FF8, 0xFFF6, 0x3555],
}


def random_floats(kind, count, rng):
    """A third any bits, a third near one, a third on ties of shorter formats."""
    exponent, mantissa = FLOATS[kind]
    bits = exponent + mantissa + 1
    raw = rng.words(count) >> np.uint64(64 - bits)
    bias = (1 << exponent - 1) - 1
    spread = min(bias - 1, 12)
    near = rng.integers(bias - spread, bias + spread + 1, count).astype(np.uint64)
    mask = np.uint64((1 << mantissa) - 1)
    near = (near << np.uint64(mantissa)) | (raw & mask) | (
        raw & np.uint64(1 << bits - 1))
    keep = rng.integers(0, mantissa + 1, count).astype(np.uint64)
    short = (near >> keep) << keep
    which = rng.integers(0, 3, count)
    return np.where(which == 0, raw, np.where(which == 1, near, short))


def integer_specials(bits):
    top = (1 << bits) - 1
    half = bits // 2
    values = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 256,
              127, 128, (1 << half) - 1, 1 << half, (1 << half) + 1,
              1 << half - 1, (1 << bits - 1) - 1, 1 << bits - 1,
              (1 << bits - 1) + 1, top, top - 1, top - 2, top // 3,
              0xAAAAAAAAAAAAAAAA & top, top - 15, top - 31, top - 32, top - 127,
              top - 128, 0x0123456789ABCDEF & top, 0x8000000080000000 & top,
              0x00FF00FF00FF00FF & top]
    return list(dict.fromkeys(values))


def random_integers(bits, count, rng):
    raw = rng.words(count)
    shift = rng.integers(64 - bits, 64, count).astype(np.uint64)
    value = raw >> shift
    negative = rng.integers(0, 3, count) == 0
    return np.where(negative, ~value, value) & np.uint64((1 << bits) - 1)


def pack(low, high, bits):
    return low | high << np.uint64(bits)


class Pool:
    """Special values and random ones of one kind of operand."""

    def __init__(self, kind):
        self.kind = kind

    def specials(self):
        kind = self.kind
        if kind in CHOSEN:
            return CHOSEN[kind]
        if kind in FLOATS:
            return float_specials(kind)
        if kind.startswith("i"):
            return integer_specials(int(kind[1:]))
        if kind.startswith("nz"):
            return [v for v in integer_specials(int(kind[2:])) if v]
        if kind in ("f16x2", "bf16x2"):
            one = float_specials(kind[:-2])
            return [a | b << 16 for a, b in zip(one, one[7:] + one[:7])]
        return []

    def randoms(self, count, rng):
        kind = self.kind
        if kind in CHOSEN:
            return rng.choice(np.array(CHOSEN[kind], np.uint64), count)
        if kind in FLOATS:
            return random_floats(kind, count, rng)
        if kind.startswith("nz"):
            value = random_integers(int(kind[2:]), count, rng)
            return np.where(value == 0, 1, value)
        if kind in ("f16x2", "bf16x2"):
            pick = rng.integers(0, 4, (2, count))
            special = np.array(float_specials(kind[:-2]), np.uint64)
            halves = [np.where(pick[i] == 0, rng.choice(special, count),
                               random_floats(kind[:-2], count, rng))
                      for i in range(2)]
            return pack(*halves, 16)
        if kind.startswith("i"):
            return random_integers(int(kind[1:]), count, rng)
        return PLAIN[kind](count, rng)


def below(limit):
    return lambda count, rng: rng.integers(0, limit, count).astype(np.uint64)


def small_floats(kind, spread):
    """Packed words of small whole numbers, which sums keep exactly."""
    exponent, mantissa = FLOATS[kind]
    bits = exponent + mantissa + 1 if kind != "tf32" else 32
    bias = (1 << exponent - 1) - 1
    codes = []
    for value in range(-spread, spread + 1):
        size = abs(value)
        code = 0
        if size:
            power = size.bit_length() - 1
            code = (bias + power << mantissa) | (
                (size << mantissa >> power) & (1 << mantissa) - 1)
        if value < 0:
            code |= 1 << exponent + mantissa
        codes.append(code << 13 if kind == "tf32" else code)

    def words(count, rng):
        width = 64 if kind == "f64" else 32
        result = np.zeros(count, np.uint64)
        for at in range(0, width, bits):
            result |= rng.choice(np.array(codes, np.uint64), count) << np.uint64(at)
        return result

    return words


def wide_floats(kind, reach):
    """Packed words whose exponents spread over 2 * reach powers of two."""
    exponent, mantissa = FLOATS[kind]
    bits = exponent + mantissa + 1 if kind != "tf32" else 32
    bias = (1 << exponent - 1) - 1

    def words(count, rng):
        width = 64 if kind == "f64" else 32
        result = np.zeros(count, np.uint64)
        for at in range(0, width, bits):
            power = rng.integers(max(bias - reach, 0), bias + reach + 1, count)
            code = (power.astype(np.uint64) << np.uint64(mantissa)) | rng.integers(
                0, 1 << mantissa, count).astype(np.uint64)
            code |= rng.integers(0, 2, count).astype(np.uint64) << np.uint64(
                exponent + mantissa)
            if kind == "tf32":
                code <<= np.uint64(13)
            result |= code << np.uint64(at)
        return result

    return words


def rare_floats(kind, reach):
    """As wide_floats, with a special value now and then."""
    bits = sum(FLOATS[kind]) + 1 if kind != "tf32" else 32
    shift = 13 if kind == "tf32" else 0
    special = np.array([v << shift for v in float_specials(kind)], np.uint64)

    def words(count, rng):
        result = wide_floats(kind, reach)(count, rng)
        width = 64 if kind == "f64" else 32
        for at in range(0, width, bits):
            mask = np.uint64((1 << bits) - 1 << at)
            other = rng.choice(special, count) << np.uint64(at)
            chosen = rng.integers(0, 24, count) == 0
            result = np.where(chosen, (result & ~mask) | other, result)
        return result

    return words


def nibbles(codes):
    def words(count, rng):
        result = np.zeros(count, np.uint64)
        for at in range(0, 32, 4):
            result |= rng.choice(np.array(codes, np.uint64), count) << np.uint64(at)
        return result

    return words


def any_bits(bits):
    return lambda count, rng: rng.integers(0, 1 << bits, count).astype(np.uint64)


PLAIN = {
    "any32": any_bits(32),
    "bit": below(2),
    "lane": below(64),
    "few": below(4),
    "shift": below(80),
    "shift300": below(300),
    "clamp": lambda count, rng: (rng.choice(
        np.array([0, 1, 3, 7, 15, 31, 5], np.uint64), count) | rng.choice(
            np.array([0, 0, 0x1E, 0x1C, 0x18, 0x10, 0x1F, 0x15], np.uint64),
            count) << np.uint64(8)),
    "pairs": nibbles([4, 8, 9, 12, 13, 14]),
    "single": nibbles([4, 14]),
    "f16.small": small_floats("f16", 8), "bf16.small": small_floats("bf16", 8),
    "tf32.small": small_floats("tf32", 8), "e4m3.small": small_floats("e4m3", 4),
    "e5m2.small": small_floats("e5m2", 4), "f32.small": small_floats("f32", 64),
    "f64.small": small_floats("f64", 64),
    "f16.wide": wide_floats("f16", 8), "bf16.wide": wide_floats("bf16", 12),
    "tf32.wide": wide_floats("tf32", 12), "e4m3.wide": wide_floats("e4m3", 5),
    "e5m2.wide": wide_floats("e5m2", 9), "f32.wide": wide_floats("f32", 12),
    "f64.wide": wide_floats("f64", 12),
    **{f"{kind}.rare": rare_floats(kind, reach) for kind, reach in (
        ("f16", 8), ("bf16", 12), ("tf32", 12), ("e4m3", 5), ("e5m2", 9), ("f32", 12),
        ("f64", 12))},
}


def width(kind):
    """The register that holds an operand of a pool."""
    if kind.split(".")[0] == "f64":
        return "b64"
    if kind in ("f16", "bf16", "e4m3", "e5m2", "f16.one", "f16.least", "f16.oob"):
        return "b16"
    digits = "".join(c for c in kind if c.isdigit())
    if kind[0] in "in" and kind.lstrip("inz").isdigit():
        return {"8": "b16", "16": "b16", "32": "b32", "64": "b64"}[digits]
    return "b32"


def cases(pools, count):
    """Columns of operands: all that is special together, then random ones."""
    rng = random_of("/".join(pools) + str(count))
    if len(pools) == 1 and width(pools[0]) == "b16":
        return [np.arange(65536, dtype=np.uint16)]
    makers = [Pool(kind) for kind in pools]
    specials = [maker.specials() for maker in makers]
    rows = []
    if all(specials) and len(pools) <= 3:
        limit = {1: 1 << 20, 2: 64, 3: 15}[len(pools)]
        chosen = [s if len(s) <= limit else
                  [s[i] for i in sorted(rng.permutation(len(s))[:limit])]
                  for s in specials]
        rows = list(itertools.product(*chosen))[:count * 3 // 4]
    columns = []
    for index, (kind, maker) in enumerate(zip(pools, makers)):
        fixed = np.array([row[index] for row in rows], np.uint64)
        rest = maker.randoms(count - len(fixed), rng)
        columns.append(np.concatenate([fixed, rest]).astype(
            DTYPES[width(kind)]))
    return columns
