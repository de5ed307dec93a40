# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels of one product for few rows."""

import numpy as np
import pytest

import blockscale as bs
from blockscale._errors import Refused


@pytest.fixture(scope="module")
def kernel():
    return bs.compile(bs.matmul(M="M", N=72, K=768, a="mxfp8", b="mxfp8"),
                      dispatch_rows=[8, 32])


def operands(kernel, rows):
    rng = np.random.default_rng(rows)
    return [bs.quantize(rng.integers(-3, 4, (count, 768)).astype(np.float32),
                        like=kernel.arg(name))
            for name, count in (("a", rows), ("b", 72))]


def test_names(kernel):
    assert kernel.names == ["matmul", "matmul_m8", "matmul_m32"]
    # One of them is asked for without a name: that for any number of rows.
    assert kernel.arg("a").layout == "tiled_128x4"
    of = {one["name"]: one.get("variantOf") for one in kernel.plan["kernels"]}
    assert of == {"matmul": None, "matmul_m8": "matmul",
                  "matmul_m32": "matmul"}


@pytest.mark.parametrize("rows,name", [(1, "matmul_m8"), (8, "matmul_m8"),
                                       (9, "matmul_m32"), (33, "matmul")])
def test_launches_take_the_kernel_for_their_rows(kernel, device, rows, name):
    x, w = operands(kernel, rows)
    exact = x.dequantize().astype(np.float64) @ w.dequantize().T.astype(
        np.float64)
    d = kernel.emulate(x, w)
    assert d.any() and (d == exact.astype(d.dtype)).all()
    prepared = kernel.prepare(M=rows)
    assert prepared.name == name
    assert (kernel.launch(x, w) == d).all()
    # Weights that lie on the device serve all of them.
    weights = kernel.upload("b", w)
    out = prepared.empty_out()
    prepared(kernel.upload("a", x), weights, out=out)
    assert (out.numpy() == d).all()


def test_by_the_name_of_one(kernel):
    x, w = operands(kernel, 9)
    with pytest.raises(Refused, match="'M' is 9; expected 1 to 8"):
        kernel.emulate(x, w, kernel="matmul_m8")


def test_program_and_verdict():
    spec = bs.matmul(M="M", N=72, K=768, a="mxfp8", b="mxfp8")
    program = bs.Program(spec, dispatch_rows="8,32")
    kernel = bs.compile(spec, dispatch_rows="8,32")
    for rows, name in ((3, "matmul_m8"), (40, "matmul")):
        x, w = operands(kernel, rows)
        outcome = program.run(x, w)
        assert [one["kernel"] for one in outcome.launches] == [name]
        assert (outcome.results[0] == kernel.emulate(x, w)).all()
    assert kernel.verify(M=[3, 40], data="exact", clusters=1)


@pytest.mark.parametrize("rows", [0, [16, 8], "some", [-1]])
def test_rows_that_are_none(rows):
    with pytest.raises((Refused, ValueError, bs.CompileError)):
        bs.compile(bs.matmul(M="M", N=72, K=768, a="mxfp8", b="mxfp8"),
                   dispatch_rows=rows)
