# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recipes of PyTorch whose scales are of f32, and products of groups, without torch: the nodes are those that torch.export 2.15 writes."""

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs
from test_traced import Node, Tensor, program, tensor

E4M3, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
NAMES = {np.dtype(E4M3): "float8_e4m3fn", np.dtype(E8M0): "float8_e8m0fnu",
         np.dtype(ml_dtypes.bfloat16): "bfloat16"}


def elements(shape, seed):
    """Small integers, so that sums are exact."""
    values = np.random.default_rng(seed).integers(-3, 4, shape)
    return values.astype(np.float32).astype(E4M3)


def powers(shape, seed, dtype=np.float32):
    exponents = np.random.default_rng(seed + 50).integers(-2, 3, shape)
    return np.exp2(exponents.astype(np.float32)).astype(dtype)


def traced(op, a, b, rest, out, shape=None, turn=True, **kwargs):
    """y = op(a, b transposed, ...), of arrays by their names and other arguments; of b
    itself without `turn`."""
    def of(name, array):
        return tensor(name, array.shape, "torch." + (
            "float4_e2m1fn_x2" if isinstance(array, Pairs) else
            NAMES.get(array.dtype, str(array.dtype))))

    arrays = {"a": a, "b": b}

    def node_of(one, name):
        if isinstance(one, np.ndarray):
            arrays[name] = one
            return of(name, one)
        if isinstance(one, list):
            return [node_of(each, f"{name}_{at}") for at, each in enumerate(one)]
        return one

    x, w = of("a", a), of("b", b)
    turned = Node("call_function", "aten.transpose.int", (w, -2, -1), name="turned",
                  meta={"val": Tensor((*b.shape[:-2], b.shape[-1], b.shape[-2]),
                                      w.meta["val"].dtype)})
    arguments = [node_of(one, f"s{at}") for at, one in enumerate(rest)]
    named = {key: node_of(one, key) for key, one in kwargs.items()}
    nodes = [one for each in (*arguments, *named.values())
             for one in (each if isinstance(each, list) else [each])
             if isinstance(one, Node)]
    y = Node("call_function", f"aten.{op}.default",
             (x, turned if turn else w, *arguments), named, name="y",
             meta={"val": Tensor(shape or (len(a), b.shape[-2]), f"torch.{out}")})
    turned.users = (y,)
    made = program([x, w, *nodes, *[turned] * turn, y], y)
    made = bs.from_torch(made)
    return made, [arrays[name] for name in ("a", "b", *(one.name for one in nodes))]


def check(made, wanted, out=ml_dtypes.bfloat16, launches=None, target=""):
    imported, arrays = made
    outcome = bs.Program(imported, target).run(*arrays)
    assert launches in (None, len(outcome.launches))
    found, = outcome.results
    assert len(np.unique(wanted)) > 50
    assert np.array_equal(found.astype(np.float32),
                          wanted.astype(np.float32).astype(out).astype(np.float32))


M, N, K = 40, 256, 384
A, B = elements((M, K), 1), elements((N, K), 2)
WIDE_A, WIDE_B = A.astype(np.float64), B.astype(np.float64)
BIAS = powers(N, 9, ml_dtypes.bfloat16)


@pytest.mark.parametrize("version", [1, 2])
def test_scales_of_rows(version):
    s, t = powers((M, 1), 1), powers((1, N), 2)
    wanted = WIDE_A @ WIDE_B.T * s * t + BIAS.astype(np.float64)
    rest = [s, t] if version == 1 else [[s], [1], [0], [t], [1], [0]]
    check(traced("_scaled_mm" + "_v2" * (version - 1), A, B, rest, "bfloat16",
                 bias=BIAS), wanted)


def by_128(scale, rows, k_first):
    """A scale for each element."""
    scale = scale.T if k_first else scale
    if len(scale) != rows:
        scale = np.repeat(scale, 128, 0)[:rows]
    return np.repeat(scale, 128, 1)


@pytest.mark.parametrize("version, left, right", [
    (1, (M, 3), (3, N // 128)), (1, (M, 3), (3, N)), (1, (1, 3), (3, N)),
    (2, (M, 3), (3, N // 128)), (2, (M, 3), (4, N // 128))])
def test_scales_of_blocks_of_128(version, left, right):
    s, t = powers(left, 1), powers(right, 2)
    wide_s, wide_t = by_128(s, M, False), by_128(t[:3], N, True)
    wanted = (WIDE_A * wide_s) @ (WIDE_B * wide_t).T
    how = [4 if left[0] == M else 5, 4 if right[1] == N else 5]
    rest = [s, t] if version == 1 else [[s], how[:1], [0], [t], how[1:], [0]]
    made = traced("_scaled_mm" + "_v2" * (version - 1), A, B, rest, "float32")
    check(made, wanted, np.float32, launches=1)


def test_blocks_of_128_without_tensor_memory():
    s, t = powers((M, 3), 1), powers((3, N // 128), 2)
    wanted = (WIDE_A * by_128(s, M, False)) @ (WIDE_B * by_128(t, N, True)).T
    rest = [[s], [4], [0], [t], [5], [0]]
    check(traced("_scaled_mm_v2", A, B, rest, "float32"), wanted, np.float32,
          launches=1, target="sm_120a")


GROUPS, ROWS = 3, 48
ENDS = np.array([17, 17, 40], np.int32)
X, W = elements((ROWS, 128), 3), elements((GROUPS, 64, 128), 4)


def of_groups(x, w):
    wanted, start = np.zeros((ROWS, 64)), 0
    for end, matrix in zip(ENDS, w.astype(np.float64)):
        wanted[start:end] = x[start:end].astype(np.float64) @ matrix.T
        start = end
    return wanted


@pytest.mark.parametrize("version", [1, 2])
def test_groups_with_scales_of_rows(version):
    s, t = powers(ROWS, 1), powers((GROUPS, 64), 2)
    wanted = of_groups(X.astype(np.float64) * s[:, None],
                       W.astype(np.float64) * t[..., None])
    rest = [s, t, ENDS] if version == 1 else [[s], [1], [], [t], [1], [], ENDS]
    check(traced("_scaled_grouped_mm" + "_v2" * (version - 1), X, W, rest, "bfloat16"),
          wanted, launches=1)


@pytest.mark.parametrize("version", [1, 2])
def test_as_many_matrices_on_both_sides(version):
    x = elements((GROUPS, M, 128), 7)
    s, t = powers((GROUPS, M), 1), powers((GROUPS, 64), 2)
    wanted = (x.astype(np.float64) * s[..., None]) @ \
        (W.astype(np.float64) * t[..., None]).transpose(0, 2, 1)
    op = "_scaled_grouped_mm" + "_v2" * (version - 1)
    rest = [s, t] if version == 1 else [[s], [1], [], [t], [1], []]
    check(traced(op, x, W, rest, "bfloat16", (GROUPS, M, 64)), wanted)
    with pytest.raises(bs.Refused, match="whole matrices, which have no offsets"):
        traced(op, x, W, [*rest, ENDS], "bfloat16", (GROUPS, M, 64))


def tiled(scales):
    """Rows of blocks in tiles of 128 x 4 (PTX ISA, scale factor layout)."""
    rows, blocks = (-(-size // step) for size, step in zip(scales.shape, (128, 4)))
    padded = np.zeros((rows * 128, blocks * 4), np.uint8)
    padded[:len(scales), :scales.shape[1]] = scales.view(np.uint8)
    return padded.reshape(rows, 4, 32, blocks, 4).transpose(0, 3, 2, 1, 4).reshape(-1)


def tiles_of_groups(scales, more, element=E8M0):
    """Those of each group of rows one after the other, and `more` that nobody needs."""
    starts = [0, *ENDS[:-1]]
    return np.concatenate([tiled(scales[start:end]) for start, end in zip(starts, ENDS)] +
                          [np.zeros(512 * more, np.uint8)]).reshape(-1, 4).view(element)


# Kernels for 48 rows in 3 groups read 3 tiles: torch's own quantisation leaves room for
# one of each group more, others have those that there are.
@pytest.mark.parametrize("version, more, target, launches", [
    (1, 1, "", 1), (2, 1, "", 1), (2, 0, "", 1), (2, 2, "", 1), (2, 1, "sm_120a", 1)])
def test_groups_with_scales_of_blocks(version, more, target, launches):
    s, t = powers((ROWS, 4), 1, E8M0), powers((GROUPS, 64, 4), 2, E8M0)
    wanted = of_groups(X.astype(np.float64) * np.repeat(s.astype(np.float64), 32, 1),
                       W.astype(np.float64) * np.repeat(t.astype(np.float64), 32, 2))
    left = tiles_of_groups(s, more)
    right = np.stack([tiled(one) for one in t]).view(E8M0)
    rest = [left, right, ENDS] if version == 1 else \
        [[left], [3], [1], [right], [3], [1], ENDS]
    check(traced("_scaled_grouped_mm" + "_v2" * (version - 1), X, W, rest, "bfloat16"),
          wanted, launches=launches, target=target)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


class Pairs(np.ndarray):
    """Two elements of e2m1 in a byte, the first in the low half, as torch names them."""


def fp4(shape, seed):
    """Elements and their pairs."""
    codes = np.random.default_rng(seed).integers(0, 16, shape).astype(np.uint8)
    pairs = codes[..., 0::2] | codes[..., 1::2] << 4
    return E2M1[codes], pairs.view(Pairs)


@pytest.mark.parametrize("target", ["", "sm_120a"])
@pytest.mark.parametrize("factors", [
    (powers(GROUPS, 3), powers(GROUPS, 4)), (powers(1, 5), powers(GROUPS, 6))])
def test_groups_of_nvfp4(factors, target):
    """Scales of blocks, and factors for each group or one for all."""
    x, x_pairs = fp4((ROWS, 128), 5)
    w, w_pairs = fp4((GROUPS, 64, 128), 6)
    s, t = powers((ROWS, 8), 1, E4M3), powers((GROUPS, 64, 8), 2, E4M3)
    wanted = of_groups(x * np.repeat(s.astype(np.float64), 16, 1),
                       w * np.repeat(t.astype(np.float64), 16, 2))
    for start, end, one in zip([0, *ENDS], ENDS, factors[0] * factors[1]):
        wanted[start:end] *= one
    left = tiles_of_groups(s, 0, E4M3)
    right = np.stack([tiled(one) for one in t]).view(E4M3)
    check(traced("_scaled_grouped_mm_v2", x_pairs, w_pairs, [
        [left, factors[0]], [2, 0], [1, 0], [right, factors[1]], [2, 0], [1, 0], ENDS],
        "bfloat16", (ROWS, 64)), wanted, launches=1, target=target)


def test_groups_of_mxfp4():
    x, x_pairs = fp4((ROWS, 128), 7)
    w, w_pairs = fp4((GROUPS, 64, 128), 8)
    s, t = powers((ROWS, 4), 1, E8M0), powers((GROUPS, 64, 4), 2, E8M0)
    wanted = of_groups(x * np.repeat(s.astype(np.float64), 32, 1),
                       w * np.repeat(t.astype(np.float64), 32, 2))
    right = np.stack([tiled(one) for one in t]).view(E8M0)
    check(traced("_scaled_grouped_mm_v2", x_pairs, w_pairs, [
        [tiles_of_groups(s, 1)], [3], [1], [right], [3], [1], ENDS], "bfloat16",
        (ROWS, 64)), wanted, launches=1)


BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize("turn", [True, False])
def test_groups_without_scales(turn):
    """The rows of the matrices lie along K, or are turned by the host."""
    x, w = (one.astype(np.float32).astype(BF16) for one in (X, W))
    check(traced("_grouped_mm", x, w if turn else w.transpose(0, 2, 1).copy(), [ENDS],
                 "bfloat16", (ROWS, 64), turn=turn), of_groups(x, w), launches=1)


WIDE_X, WIDE_W = elements((M, 384), 5), elements((200, 384), 6)
# Ends along K: a group of several tiles, one without elements, one that fills a tile up,
# what is behind the last end; and such as no instruction ends at, up to all of K.
PARTS = [np.array(one, np.int32) for one in ([128, 128, 192, 352], [130, 130, 191, 384])]


def of_parts(parts, scaled):
    """scaled(group, start, end): both sides of a group."""
    ends = [0, *parts]
    return np.stack([left @ right.T for left, right in
                     (scaled(at, *ends[at:at + 2]) for at in range(len(parts)))])


def parts_of(one, start, end):
    return one[:, start:end].astype(np.float64)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("turn", [True, False])
def test_groups_along_k_without_scales(turn, parts):
    x, w = (one.astype(np.float32).astype(BF16) for one in (WIDE_X, WIDE_W))
    wanted = of_parts(parts, lambda _, *ends: [parts_of(one, *ends) for one in (x, w)])
    check(traced("_grouped_mm", x, w if turn else w.T.copy(), [parts], "bfloat16",
                 (len(parts), M, 200), turn=turn), wanted, launches=1)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("version, target", [(1, ""), (2, ""), (2, "sm_120a")])
def test_groups_along_k_with_scales_of_rows(version, target, parts):
    s, t = powers(len(parts) * M, 1), powers(len(parts) * 200, 2)

    def scaled(at, start, end):
        return (parts_of(WIDE_X, start, end) * s[at * M:(at + 1) * M, None],
                parts_of(WIDE_W, start, end) * t[at * 200:(at + 1) * 200, None])
    rest = [s, t, parts] if version == 1 else [[s], [1], [], [t], [1], [], parts]
    check(traced("_scaled_grouped_mm" + "_v2" * (version - 1), WIDE_X, WIDE_W, rest,
                 "bfloat16", (len(parts), M, 200)), of_parts(parts, scaled),
          launches=1, target=target)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("version, more, target", [
    (1, 0, ""), (2, 0, ""), (2, 9, ""), (2, 1, "sm_120a")])
def test_groups_along_k_with_scales_of_blocks(version, more, target, parts):
    """Scales of each group in tiles of their own, one group after the other, and `more`
    tiles that nobody needs."""
    starts = [0, *parts[:-1]]
    own = [[powers((rows, -(-(end - start) // 32)), 10 * rows + at, E8M0)
            for rows in (M, 200)] for at, (start, end) in enumerate(zip(starts, parts))]

    def scaled(at, start, end):
        return [parts_of(one, start, end) *
                np.repeat(scale.astype(np.float64), 32, 1)[:, :end - start]
                for one, scale in zip((WIDE_X, WIDE_W), own[at])]
    left, right = (np.concatenate(
        [tiled(one[side]) for one in own] + [np.zeros(1024 * more, np.uint8)]).reshape(
        -1, 4).view(E8M0) for side in (0, 1))
    rest = [left, right, parts] if version == 1 else \
        [[left], [3], [1], [right], [3], [1], parts]
    check(traced("_scaled_grouped_mm" + "_v2" * (version - 1), WIDE_X, WIDE_W, rest,
                 "bfloat16", (len(parts), M, 200)), of_parts(parts, scaled),
          launches=1, target=target)


F = powers
PAIRED = fp4((ROWS, 128), 5)[1], fp4((GROUPS, 64, 128), 6)[1]


@pytest.mark.parametrize("op, a, b, rest, words", [
    ("_scaled_mm", A, B, [F((M, 2), 1), F((3, N), 2)],
     "'y': a is tensor<40x384xf8E4M3FN> and has scales tensor<40x2xf32>; taken are"),
    ("_scaled_mm_v2", A, B, [[F((M, 1), 1)], [1], [0], [F((3, N), 2)], [4], [0]],
     "'y': scaled RowWise and BlockWise1x128, which no product is"),
    ("_scaled_mm_v2", A, B, [[F((N, 1), 1)], [1], [0], [F((1, N), 2)], [1], [0]],
     "'y': scales of the rows of a are tensor<256x1xf32>; there are 40 rows"),
    ("_scaled_mm_v2", A, B, [[F((M, 1), 1)], [1], [1], [F((1, N), 2)], [1], [0]],
     "'y': a is scaled 'RowWise' and has the swizzle 1; such scales have none"),
    ("_scaled_mm_v2", A, B, [[F((M, 3), 1)], [4], [0], [F((N // 128, 3), 2)], [5], [0]],
     "scaled BlockWise128x128 by tensor<2x3xf32>; there is a scale for 128 elements of "
     "K of 128 rows, with K first for b"),
    ("_scaled_mm_v2", A, B, [[F((M, 3), 1)], [9], [0], [F((3, N), 2)], [4], [0]],
     "'y': the recipe 9 of a is not known; there are TensorWise, RowWise"),
    ("_scaled_grouped_mm", X, W, [F(ROWS, 1), F((GROUPS, 64), 2)],
     "'y': the ends of groups are missing; 3 numbers of i32 are expected"),
    ("_scaled_grouped_mm", X, W, [F(ROWS, 1), F((GROUPS, 63), 2), ENDS],
     "'y': scales of the rows of b are tensor<3x63xf32>; there are 3 matrices of 64"),
    ("_grouped_mm", X, W, [ENDS], "'y': groups of tensor<48x128xf8E4M3FN> and"),
    ("_grouped_mm", W.astype(ml_dtypes.bfloat16), W.astype(ml_dtypes.bfloat16), [],
     "'y': groups of tensor<3x64x128xbf16> and tensor<3x64x128xbf16>; rows of a"),
    ("_scaled_grouped_mm", W, X, [F((GROUPS, 64), 1), F(ROWS, 2), ENDS],
     "'y': groups of tensor<3x64x128xf8E4M3FN> and tensor<48x128xf8E4M3FN>; rows of a"),
    ("_scaled_grouped_mm", W, W[:2], [F((GROUPS, 64), 1), F((2, 64), 2)],
     "a is tensor<3x64x128xf8E4M3FN> with scales tensor<3x64xf32>; as many matrices"),
    ("_scaled_grouped_mm", W, W, [F((GROUPS, 2048), 1, E8M0), F((GROUPS, 2048), 2, E8M0)],
     "RowWise by f32 and, but for groups of whole matrices, BlockWise1x32"),
    ("_scaled_grouped_mm", X, W[0], [F(ROWS, 1), F(64, 2), ENDS],
     "'y': scales of the rows of a are tensor<48xf32>; there are 144 rows"),
    ("_scaled_grouped_mm", X, W[0], [F(ROWS, 1), F(64, 2)],
     "groups along K of tensor<48x128xf8E4M3FN> and tensor<64x128xf8E4M3FN> end at "
     "nothing; known"),
    ("_scaled_grouped_mm", X, W[0],
     [F((500,), 1, E8M0), F((512,), 2, E8M0), ENDS],
     "scales of a are tensor<500xf8E8M0FNU>; in tiles of 128 x 4, those of each group"),
    ("_scaled_grouped_mm", X, W, [F((500,), 1, E8M0), F((3, 512), 2, E8M0), ENDS],
     "those of a are multiples of 512, those of b 512 for each of 3 matrices"),
    ("_scaled_grouped_mm_v2", X, W,
     [[F((512,), 1, E8M0)], [3], [0], [F((3, 512), 2, E8M0)], [3], [1], ENDS],
     "RowWise, or BlockWise1x32 with SWIZZLE_32_4_4"),
    ("_scaled_grouped_mm_v2", *PAIRED, [[F(1024, 1, E4M3), F(2, 1)], [2, 0], [1, 0],
     [F((3, 1024), 2, E4M3), F(3, 1)], [2, 0], [1, 0], ENDS],
     "a factor is tensor<2xf32>; one f32, or 3, one for each group, is taken"),
    ("_scaled_grouped_mm_v2", PAIRED[0], PAIRED[1][0],
     [[F(1024, 1, E4M3), F(3, 1)], [2, 0], [1, 0],
      [F(1024, 2, E4M3), F(3, 1)], [2, 0], [1, 0], ENDS],
     "BlockWise1x16 with it and TensorWise factors for groups of rows"),
    ("_scaled_grouped_mm_v2", PAIRED[0], PAIRED[1][0],
     [[F(512, 1, E8M0)], [3], [1], [F(512, 2, E8M0)], [3], [1], ENDS],
     "and for groups of rows FP4 by both kinds of blocks"),
])
def test_contradictions_are_named(op, a, b, rest, words):
    with pytest.raises(bs.Refused) as caught:
        traced(op, a, b, rest, "bfloat16")
    assert words in str(caught.value)


def test_the_older_operator_reads_what_could_be_both_as_tiles():
    """128 rows of 16 are rows in order, or 4 tiles of 128 x 4: so CUDA reads them, and
    so torchao writes them. 40 rows of 16 are no tiles."""
    a, b = elements((40, 512), 1), elements((128, 512), 2)
    s, t = powers((40, 16), 1, E8M0), powers((128, 16), 2, E8M0)
    tiles = np.zeros((4, 32, 4, 4), np.uint8)
    for row in range(128):
        for block in range(16):
            tiles[block // 4, row % 32, row // 32, block % 4] = \
                t.view(np.uint8)[row, block]
    wide_a, wide_b = (one.astype(np.float64) * np.repeat(
        scale.astype(np.float64), 32, -1) for one, scale in ((a, s), (b, t)))
    check(traced("_scaled_mm", a, b, [s, tiles.reshape(128, 16).view(E8M0)], "bfloat16"),
          wide_a @ wide_b.T)
