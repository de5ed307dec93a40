# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that prune, compress, densify and change layouts and orders, on the emulator
and through the CUDA driver, against the package's numpy."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


def tensor(shape, element, spec="", layout="tiled_128x4", order="k_major"):
    sizes = "x".join(map(str, shape))
    tail = f', "{spec}", layout = {layout}' if spec else ""
    tail += "" if order == "k_major" else f", order = {order}"
    return f"!blockscale.tensor<{sizes}x{element}{tail}>"


def function(op, a, d):
    return (f"func.func @{op}(%a: {a}) -> {d} {{\n  %0 = blockscale.{op} %a : {a} to {d}\n"
            f"  return %0 : {d}\n}}\n")


def pruning(what, kind):
    return (f"func.func @prune(%x: tensor<?x?x?x{kind}>) -> tensor<?x?x?x{kind}> {{\n"
            f"  %0 = blockscale.prune %x keep {what} : tensor<?x?x?x{kind}>\n"
            f"  return %0 : tensor<?x?x?x{kind}>\n}}\n")


def both_ways(kernel, a):
    """By the driver and by the emulator."""
    return kernel.convert(a), kernel.emulate_convert(a)


def same(x, y):
    return (np.ascontiguousarray(x).view(np.uint8) ==
            np.ascontiguousarray(y).view(np.uint8)).all()


PATTERNS = {"2 of 4": "2:4", "4 of 8 pairs": "4:8 in pairs", "1 of 2": "1:2"}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("what", PATTERNS)
def test_prune(device, what, kind):
    """Small numbers have many ties."""
    kernel = bs.compile(pruning(what, kind))
    for shape in ((2, 37, 96), (1, 130, 160)):
        x = np.random.default_rng(7).integers(-4, 5, shape).astype(TYPES[kind])
        expected = bs.prune(x, PATTERNS[what]).astype(TYPES[kind])
        for found in both_ways(kernel, x):
            assert found.dtype == TYPES[kind] and same(found, expected)
        assert 0 < np.count_nonzero(expected) < np.count_nonzero(x)


CASES = [("f8E4M3FN", "e4m3", "ue8m0", "e8m0_t64", "e8m0_t32n2m4", "2:4"),
         ("f6E2M3FN", "e2m3", "ue8m0", "e8m0_t64", "e8m0_t32n2m4", "2:4"),
         ("f4E2M1FN", "e2m1", "ue8m0", "e8m0_t64", "e8m0_t32n4m8", "4:8 in pairs"),
         ("bf16", "bf16", None, "", "n2m4", "2:4"),
         ("tf32", "tf32", None, "", "n1m2", "1:2"),
         ("i8", "int8", None, "", "n2m4", "2:4")]


@pytest.mark.parametrize("layout", ["tiled_128x4", "plain"])
@pytest.mark.parametrize("type_, element, scale, dense, sparse, pattern", CASES)
def test_compress_and_densify(device, type_, element, scale, dense, sparse, pattern,
                              layout):
    types = (tensor("??", type_, dense, layout), tensor("??", type_, sparse, layout))
    there = bs.compile(function("compress", *types))
    back = bs.compile(function("densify", *types[::-1]))
    block = 64 if scale else 0
    x = bs.prune(np.random.default_rng(3).standard_normal((133, 192)) * 8, pattern)
    a = bs.quantize(x, bs.Format(element, scale, block))
    if scale:
        a = a.to(layout)
    for found in both_ways(there, a):
        assert found.format == bs.Format(element, scale, block, sparsity=pattern)
        assert (found.data == a.data).all() and np.count_nonzero(found.data) > 5000
        # As the package itself stores them.
        assert same(found.packed(), bs.Scaled(
            a.data, a.scales, format=found.format, layout=a.layout).packed())
    for again in both_ways(back, found):
        assert again.format == a.format and (again.data == a.data).all()
        assert scale is None or same(again.scales, a.scales)
    if scale and layout == "plain":
        with pytest.raises(bs.Refused, match="has metadata in layout 'plain'"):
            there.convert(a.to("tiled_128x4"))


def test_densify_repeats_scales(device):
    """Those of 64 elements, pruned ones among them, for 32 each, as dense products read."""
    kernel = bs.compile(function("densify", tensor("??", "f8E4M3FN", "e8m0_t32n2m4"),
                                 tensor("??", "f8E4M3FN", "e8m0_t32")))
    x = bs.prune(np.random.default_rng(3).standard_normal((133, 192)), "2:4")
    x *= np.exp2(np.arange(133))[:, None] / 2.0**66
    coarse = bs.quantize(x, bs.Format("e4m3", "ue8m0", 64))
    a = bs.Scaled(coarse.data, coarse.scales,
                  format=bs.Format("e4m3", "ue8m0", 64, sparsity="2:4")).to("tiled_128x4")
    expected = bs.Scaled(coarse.data, coarse.scales.repeat(2, -1), format="mxfp8")
    expected = expected.to("tiled_128x4")
    for one in both_ways(kernel, a):
        assert one.format == expected.format and same(one.data, expected.data)
        assert same(one.scales, expected.scales)
    stored, metadata = a.compressed()
    parts = {name: bs.to_device(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
             for name, part in (("scales", a.scales), ("metadata", metadata))}
    there = kernel.convert(bs.DeviceScaled(
        bs.to_device(stored.reshape(-1).view(np.uint8)), shape=a.shape, format=a.format,
        layout=a.layout, scale_block=64, **parts))
    assert (there.format, there.scale_block) == (expected.format, 32)
    assert same(there.scales.numpy(), expected.scales)
    with pytest.raises(bs.Refused, match="moves scales of ue8m0, one for 64"):
        kernel.convert(a.to("plain"))


@pytest.mark.parametrize("type_, sparse", [
    ("f8E4M3FN", bs.Format("e4m3", "f32", 128, sparsity="2:4")),
    ("f8E4M3FN", bs.Format("e4m3", "ue4m3", 128, sparsity="2:4")),
    ("f6E2M3FN", bs.Format("e2m3", "bf16", 64, sparsity="2:4", rows=32))])
def test_densify_repeats_scales_of_sums(device, type_, sparse):
    """Those that no instruction reads, row by row, whatever the metadata's layout is."""
    dense = dataclasses.replace(sparse, sparsity=None, block=32)
    kernel = bs.compile(function("densify", tensor("??", type_, sparse.spec),
                                 tensor("??", type_, dense.spec, "plain")))
    x = bs.prune(np.random.default_rng(5).standard_normal((133, 256)), "2:4")
    x *= np.exp2(np.arange(133) % 9)[:, None] * np.exp2(np.arange(256) // 64)
    coarse = bs.quantize(x, dataclasses.replace(sparse, sparsity=None))
    a = bs.Scaled(coarse.data, coarse.scales, format=sparse, layout="tiled_128x4")
    for one in both_ways(kernel, a):
        # Zeros that were pruned lose their sign.
        assert one.format == dense and (one.data == a.data).all()
        assert same(one.scales, coarse.scales.repeat(sparse.block // 32, -1))
        assert (one.dequantize() == a.dequantize()).all()
    longer = bs.quantize(x, dataclasses.replace(sparse, sparsity=None, block=256))
    longer = bs.Scaled(longer.data, longer.scales, layout="tiled_128x4",
                       format=dataclasses.replace(sparse, block=256))
    with pytest.raises(bs.Refused, match=f"one for {sparse.block} elements along K"):
        kernel.convert(longer)


LAYOUTS = ["plain", "tiled_128x4", "tiled_128x16"]


@pytest.mark.parametrize("before", LAYOUTS)
@pytest.mark.parametrize("behind", LAYOUTS)
def test_relayout(device, before, behind):
    if before == behind:
        return
    kernel = bs.compile(function(
        "relayout", tensor((2, "?", 352), "f8E4M3FN", "e8m0_t32", before),
        tensor((2, "?", 352), "f8E4M3FN", "e8m0_t32", behind)))
    x = np.random.default_rng(4).standard_normal((2, 133, 352))
    x *= np.exp2(np.arange(133))[:, None] / 2.0**66
    a = bs.quantize(x, "mxfp8").to(before)
    for found in both_ways(kernel, a):
        assert found.layout == behind and same(found.scales, a.to(behind).scales)
        assert same(found.data, a.data)


def test_relayout_of_zero_points_is_refused():
    kernel = bs.compile(function("relayout", *(
        tensor((64, 64), "ui8", "e4m3fn_int8_t32", layout)
        for layout in ("plain", "tiled_128x4"))))
    x = np.random.default_rng(4).standard_normal((64, 64))
    a = bs.quantize(x, bs.Format("uint8", "ue4m3", 32, zero="int8"))
    with pytest.raises(bs.Refused, match="moves zero points with their scales"):
        kernel.convert(a)


ORDERS = ["k_major", "mn_major"]
MOVED = [("f8E4M3FN", bs.Format("e4m3", "ue8m0", 32)), ("i8", bs.Format("int8", None, 0)),
         ("f8E4M3FN", bs.Format("e4m3", "ue8m0", 64, sparsity="2:4")),
         ("f8E4M3FN", bs.Format("e4m3", "ue8m0", 32, rows=32))]


def distinct(format_, shape):
    """A tensor whose scales differ by rows and blocks."""
    x = np.random.default_rng(4).standard_normal(shape)
    if format_.scale is None:
        x *= 30
    else:
        x *= np.exp2(np.arange(shape[-2]) // format_.rows % 60)[:, None]
        x *= np.exp2(np.arange(shape[-1]) // format_.block)
    if format_.sparsity is None:
        return bs.quantize(x, format_)
    dense = dataclasses.replace(format_, sparsity=None)
    a = bs.quantize(bs.prune(x, format_.sparsity), dense)
    return bs.Scaled(a.data, a.scales, format=format_)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("type_, format_", MOVED)
def test_relayout_to_the_other_order(device, type_, format_, order):
    """Without scales there is no layout; the others go to tiles."""
    spec, behind = format_.spec, ORDERS[1 - ORDERS.index(order)]
    layouts = ("plain", "tiled_128x4") if format_.scale else ("plain",) * 2
    kernel = bs.compile(function("relayout", tensor("???", type_, spec, layouts[0], order),
                                 tensor("???", type_, spec, layouts[1], behind)))
    a = distinct(format_, (2, 133, 192))
    for found in both_ways(kernel, a):
        assert (found.format, found.layout) == (a.format, layouts[1])
        # Zeros that were pruned lose their sign.
        assert (found.data == a.data).all() and np.count_nonzero(found.data) > 9000
        assert format_.scale is None or same(found.scales, a.to(layouts[1]).scales)
    sparse = format_.sparsity is not None
    parts = {"scales": a.scales} if format_.scale else {}
    if sparse:
        parts["metadata"] = np.zeros(a.batch * 133 * 24, np.uint8)
    pitch = 144 if order == "mn_major" else 96 if sparse else 192
    there = kernel.convert(bs.DeviceScaled(
        bs.to_device(a.packed(pitch, order)), shape=a.shape, format=a.format,
        layout=layouts[0], **{name: bs.to_device(part.reshape(-1).view(np.uint8))
                              for name, part in parts.items()}))
    pitch = 144 if behind == "mn_major" else 96 if sparse else 192
    assert same(there.data.numpy(), a.packed(pitch, behind))
    other = distinct(bs.Format("e5m2", "ue8m0", 32), (2, 133, 192))
    with pytest.raises(bs.Refused, match="the kernel moves"):
        kernel.convert(other)


@pytest.mark.parametrize("type_, element, scale, dense, sparse, pattern", CASES)
def test_relayout_of_metadata(device, type_, element, scale, dense, sparse, pattern):
    """From rows to tiles and back; a kernel for one is not for the other."""
    types = [tensor("??", type_, sparse, one) for one in ("plain", "tiled_128x4")]
    there, back = (bs.compile(function("relayout", *both))
                   for both in (types, types[::-1]))
    format_ = bs.Format(element, scale, 64 if scale else 0, sparsity=pattern)
    a = distinct(format_, (133, 192))
    tiled = a.to("tiled_128x4")
    for found in both_ways(there, a):
        assert found.layout == "tiled_128x4" and (found.data == a.data).all()
        assert scale is None or same(found.scales, tiled.scales)
        for again in both_ways(back, found):
            assert again.layout == "plain" and (again.data == a.data).all()
            assert scale is None or same(again.scales, a.scales)
    with pytest.raises(bs.Refused, match="from layout 'plain'"):
        there.convert(tiled)
    with pytest.raises(bs.Refused, match="the kernel moves"):
        there.convert(bs.quantize(np.zeros((133, 192)), "mxfp8"))


def test_memory_of_the_device(device):
    """Numbers that are pruned, quantised, compressed and densified where they lie."""
    dense = tensor(("?", 128), "f8E4M3FN", "e8m0_t32")
    kernel = bs.compile(pruning("2 of 4", "bf16") + f"""
func.func @quantize(%x: tensor<?x128xbf16>) -> {dense} {{
  %0 = blockscale.quantize %x : tensor<?x128xbf16> to {dense}
  return %0 : {dense}
}}
""" + function("compress", tensor("??", "f16"), tensor("??", "f16", "n2m4")))
    x = np.random.default_rng(3).standard_normal((1, 37, 128)).astype(ml_dtypes.bfloat16)
    pruned = kernel.convert(bs.to_device(x), kernel="prune")
    assert isinstance(pruned, bs.DeviceArray)
    expected = bs.prune(x, "2:4").astype(ml_dtypes.bfloat16)
    assert (pruned.numpy() == expected).all()
    prepared = kernel.prepare_convert(M=37, K=128, batch=1, kernel="prune")
    out = prepared.empty_out(pruned)
    assert prepared(bs.to_device(x), out=out) is out and (out.numpy() == expected).all()
    halves = bs.prune(x[0], "2:4").astype(np.float16)
    a = bs.DeviceScaled(bs.to_device(halves.reshape(-1).view(np.uint8)), shape=(37, 128),
                        format="f16")
    sparse = kernel.convert(a, kernel="compress")
    assert isinstance(sparse, bs.DeviceScaled)
    stored, metadata = bs.Scaled(halves, format=sparse.format).compressed()
    assert (sparse.data.numpy() == stored.view(np.uint8)).all()
    assert (sparse.metadata.numpy() == metadata).all()


def test_what_does_not_fit(device):
    kernel = bs.compile(function("compress", tensor((37, 128), "f8E4M3FN", "e8m0_t64"),
                                 tensor((37, 128), "f8E4M3FN", "e8m0_t32n2m4")))
    a = bs.quantize(np.zeros((37, 128)), bs.Format("e4m3", "ue8m0", 64))
    other = bs.quantize(np.zeros((37, 128)), "mxfp4")
    longer = bs.quantize(np.zeros((37, 256)), bs.Format("e4m3", "ue8m0", 64))
    for call, words in (
            (lambda: kernel.convert(other), "the kernel reads dense elements of e4m3"),
            (lambda: kernel.convert(longer), "the kernel is for 128"),
            (lambda: kernel.convert(np.zeros((37, 128))), "expected a blockscale.Scaled"),
            (lambda: kernel.convert(a, out=a), "'out' is for operands on the device"),
            (lambda: kernel.quantize(np.zeros((37, 128))), "'convert' runs it")):
        with pytest.raises(bs.Refused, match=words):
            call()
