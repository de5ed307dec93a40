"""Kernels that need nothing of Blackwell, and inputs for them.

A case is a module with one kernel, and how the Python package calls it. Inputs follow
from its name, so that two machines make the same.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import zlib
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

# Bytes of results that have a sum together.
PIECE = 128
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


@dataclass(frozen=True)
class Case:
    """does: the method of a Kernel that runs it. shape: of what it reads, or M and batch
    of a product. words: keywords of `quantize` of the package that say the same as the
    source; None where it has no such rule. is_exact: whether sums have no rounding."""

    name: str
    does: str
    source: str
    shape: tuple
    type: str = "bf16"
    words: dict = None
    special: bool = False
    is_exact: bool = True
    ends: tuple = None
    rows: int = 0
    pattern: str = None
    more: dict = field(default_factory=dict)

    def rng(self):
        return np.random.default_rng(zlib.crc32(self.name.encode()))


# Numbers ---------------------------------------------------------------------------------

def numbers(case, special):
    """Rows and blocks of magnitudes of their own; zeros of both signs, halfway cases,
    the smallest and the largest numbers, and with `special` what is no number."""
    rng, shape, kind = case.rng(), case.shape, TYPES[case.type]
    blocks = -(-shape[-1] // 16)
    exponents = rng.integers(-9, 9, (*shape[:-1], blocks)).repeat(16, -1)[..., :shape[-1]]
    x = rng.standard_normal(shape) * np.exp2(exponents)
    x[..., 3, :] = 0
    x[..., 5, 1::2] *= -0.0
    # Codes and what lies halfway between them.
    x[..., 7, :] = np.resize(np.arange(-260, 260) / 16, shape[-1])
    x[..., 9, :] = np.resize(np.exp2(np.arange(-12, 12)), shape[-1])
    x = x.astype(kind)
    bound = float(ml_dtypes.finfo(kind).max)
    tiny = ml_dtypes.finfo(kind).smallest_subnormal
    x[..., 11, :] = np.resize(np.array([bound, 0, -bound, 1], kind), shape[-1])
    x[..., 13, :] = np.resize(np.arange(9).astype(np.float32).astype(kind) * tiny, shape[-1])
    if special:
        x[..., 15, 2], x[..., 17, 4], x[..., 19, 40] = np.nan, np.inf, -np.inf
        x[..., 21, 32:] = np.nan
    return x


def small_integers(rng, shape, dtype):
    """Whole numbers that all formats of at least four bits have and whose sums of
    products f32 has."""
    values = rng.integers(-3, 4, shape)
    if np.dtype(dtype).name.startswith("uint"):
        values = np.abs(values)
    return values.astype(np.float32).astype(dtype)


def operand(bs, case, kernel, name, shape, rng):
    """Small integers under scales of each row and block, floats not powers of two; or
    numbers as they come."""
    argument = kernel.arg(name)
    x = rng.standard_normal(shape).astype(np.float32)
    if argument.format.sparsity:
        x = bs.prune(x, argument.format)
    made = bs.quantize(x, like=argument)
    if not case.is_exact:
        return made
    data = small_integers(rng, shape, made.data.dtype)
    if argument.format.sparsity:
        data = bs.prune(data.astype(np.float32), argument.format).astype(made.data.dtype)
    scales = made.scales
    if scales is not None:
        many = rng.uniform(0.5, 2, scales.shape)
        if "e8m0" in scales.dtype.name:
            many = np.exp2(np.round(many * 4 - 4))
        scales = many.astype(np.float32).astype(scales.dtype)
    return bs.Scaled(data, scales, made.tensor_scale, format=made.format,
                     layout=made.layout, zeros=made.zeros)


# Calls -----------------------------------------------------------------------------------

def sizes_of(kernel, case):
    planned = kernel._planned(None)
    found = {one["name"]: one["value"] for one in planned["sizes"]}
    m, *batch = case.shape
    found["M"] = found["M"] or m
    found["K"] = found["K"] or m
    found["batch"] = found["batch"] or (batch[0] if batch else 1)
    return found


def product_inputs(bs, case, kernel):
    rng, sizes = case.rng(), sizes_of(kernel, case)
    m, n, k, batch = (sizes[one] for one in ("M", "N", "K", "batch"))
    is_along_k = "along_k" in case.name
    is_grouped = case.ends is not None and not is_along_k
    lead = () if batch == 1 or case.ends else (batch,)
    a = operand(bs, case, kernel, "a", (*lead, case.rows or m, k), rng)
    b = operand(bs, case, kernel, "b", ((batch,) if is_grouped else lead) + (n, k), rng)
    more, operands = {}, {one["operand"]: one for one in kernel._planned(None)["operands"]}
    if "bias" in operands:
        shape = (batch, n) if is_grouped else (n,)
        more["bias"] = rng.integers(-8, 9, shape).astype(np.float32)
    if "c" in operands:
        kind = TYPES.get(operands["c"]["type"], np.float32)
        more["c"] = rng.integers(-8, 9, (*lead, m, n)).astype(np.float32).astype(kind)
    if case.ends is not None:
        more["ends"] = np.array(case.ends)
    if case.rows:
        rows = rng.integers(0, case.rows, m)
        rows[[3, 20]] = -1, case.rows
        more["rows"] = rows
    roles = [one["role"] for one in kernel._planned(None)["parameters"]]
    for name, value in (("alpha", 0.5), ("beta", -2.0)):
        if name in roles:
            more[name] = value
    return (a, b), more | case.more


def inputs(bs, case, kernel):
    """What the method takes."""
    if case.does == "launch":
        return product_inputs(bs, case, kernel)
    if case.does == "quantize" or case.pattern == "prune":
        given = {} if case.pattern else dict(case.more)
        return (numbers(case, case.special),), given
    if case.does in ("dequantize", "tile_sums"):
        argument = kernel.arg("a")
        x = numbers(case, False).astype(np.float32)
        # Within what f16 has.
        x = np.clip(x, -2.0**12, 2.0**12)
        factors = None
        if argument.format.tensor_scale:
            count = case.shape[0] if len(case.shape) == 3 else 1
            factors = np.linspace(0.3, 1.7, count).astype(np.float32)
        return (bs.quantize(x, argument.format, tensor_scale=factors)
                .to(argument.layout),), {}
    format_ = bs.Format(*case.more["format"])
    layout = case.more["layout"]
    x = case.rng().standard_normal(case.shape) * np.exp2(
        np.arange(case.shape[-2]) % 60)[:, None] / 2.0**30
    if case.pattern:
        x = bs.prune(x * (8 if "int" in format_.element else 1), case.pattern)
    if format_.element == "uint8":
        x = np.arange(x.size).reshape(x.shape) * 40503 % 65537 % 256.0
    if format_.element == "int8":
        x = np.clip(np.round(x), -127, 127)
    a = bs.quantize(x, format_)
    if case.pattern and not case.name.startswith("compress"):
        scales = a.scales
        a = bs.Scaled(a.data, scales, format=bs.Format(
            *case.more["format"], sparsity=case.pattern))
    return (a.to(layout) if format_.scale or case.name.startswith("relayout") else a,), {}


def emulated(case, kernel, arguments, more, **options):
    name = "emulate" if case.does == "launch" else f"emulate_{case.does}"
    return getattr(kernel, name)(*arguments, **more, **options)


def launched(case, kernel, arguments, more):
    return getattr(kernel, case.does)(*arguments, **more)


def bytes_of(result):
    """A result as named arrays of bytes."""
    parts = {}
    for i, one in enumerate(result if isinstance(result, tuple) else (result,)):
        arrays = {"d": one} if isinstance(one, np.ndarray) else {
            "data": one.data, "scales": one.scales, "factor": one.tensor_scale}
        for name, array in arrays.items():
            if array is not None:
                array = np.ascontiguousarray(array)
                parts[f"{name}{i}"] = array.reshape(-1).view(np.uint8)
    return parts


def sums_of(parts):
    """What is kept of a result: its bytes, and a sum for each piece."""
    return {name: np.array([array.size] + [zlib.crc32(array[at:at + PIECE])
                                           for at in range(0, array.size, PIECE)], np.uint32)
            for name, array in parts.items()}


def differences(found, sums, share=1.0):
    """Where a result differs from what was kept of another one, in words; empty if it
    does nowhere. share: how much of it counts, from its beginning."""
    words = []
    for name, one in sums.items():
        if name not in found or found[name].size != one[0]:
            words.append(f"{name}: {found[name].size if name in found else 'no'} bytes, "
                         f"expected {one[0]}")
            continue
        whole = int(one[0] * share) // PIECE if share < 1 else len(one) - 1
        pieces = sums_of({name: found[name]})[name][1:whole + 1] != one[1:whole + 1]
        if pieces.any():
            at = np.flatnonzero(pieces)
            words.append(f"{name}: {len(at)} of {whole} pieces of {PIECE} bytes, first {at[0]}")
    return "; ".join(words)


def written_share(case):
    """Rows of D behind the last group are not written."""
    if not case.ends or "along_k" in case.name:
        return 1.0
    return case.ends[-1] / case.shape[0]


# What the package's numpy says -----------------------------------------------------------

def rows_of(case, m):
    """The group of each row of D, or -1."""
    group = np.searchsorted(np.array(case.ends), np.arange(m), "right")
    return np.where(group < len(case.ends), group, -1)


def product_of(case, arguments, more):
    """In double precision, without what epilogues do."""
    a, b = (one.dequantize().astype(np.float64) for one in arguments)
    if case.ends is None:
        return np.einsum("...mk,...nk->...mn", a, b)
    if "along_k" in case.name:
        begins = (0, *case.ends[:-1])
        return np.stack([a[:, i:k] @ b[:, i:k].T for i, k in zip(begins, case.ends)])
    wanted = np.zeros((case.shape[0], b.shape[1]))
    for at, group in enumerate(rows_of(case, len(wanted))):
        row = more["rows"][at] if "rows" in more else at
        if group >= 0 and 0 <= row < len(a):
            wanted[at] = b[group] @ a[row]
    return wanted


def reference(bs, case, kernel, arguments, more):
    """The same by the package's numpy, or None where it has no such rule."""
    if case.does == "quantize" and case.words is not None and not case.special:
        def one(operand, x):
            made = bs.quantize(x, like=kernel.arg(operand), **case.words,
                               tensor_scale=more.get("tensor_scale"))
            return made.to(kernel.arg(operand).layout)
        x, = arguments
        planned = kernel._planned(None, ("quantises",))
        turned = np.ascontiguousarray(np.swapaxes(x, -1, -2))
        if planned.get("transposedQuantization"):
            return one("d", x), one("transposed", turned)
        return one("d", turned if planned["quantization"].get("transposed") else x)
    if case.does == "dequantize":
        return arguments[0].dequantize().astype(TYPES[case.type])
    if case.pattern == "prune":
        return bs.prune(*arguments, case.more["pattern"]).astype(TYPES[case.type])
    return None
