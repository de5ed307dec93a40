# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Where things lie, and kernels for the chips that lie elsewhere."""

import pickle

import numpy as np
import pytest

import blockscale as bs


def test_one_byte_by_hand():
    """Row 165 is row 5 of the second quarter of the second tile of rows, block 9
    the second of the third group; matrix 1 begins behind 2 x 3 tiles."""
    layout = bs.layout("tiled_128x4", rows=200, blocks=10, batch=2)
    assert layout.size == 2 * 2 * 3 * 512
    assert layout.offset(165, 9, 1) == 11 * 512 + 5 * 16 + 1 * 4 + 1
    assert layout.content(offset=11 * 512 + 85) == (1, 165, 9)
    # Rows from 200 on and blocks from 10 on are padding.
    assert layout.content(offset=layout.size - 1) is None
    assert layout.contents == {"batch": 2, "row": 200, "block": 10}
    assert layout.places == {"offset": layout.size}
    assert layout.formula.startswith("offset += batch * 3072\n")
    again = pickle.loads(pickle.dumps(layout))
    assert again.offset(165, 9, 1) == layout.offset(165, 9, 1)
    assert repr(layout) == "Layout('tiled_128x4': batch 2, row 200, block 10)"


def test_arrays_are_what_packing_does():
    rng = np.random.default_rng(0)
    x = bs.quantize(rng.standard_normal((2, 130, 320)), "mxfp8",
                    layout="plain")
    layout = bs.layout("tiled_128x4", rows=130, blocks=10, batch=2)
    batch, row, block = np.ogrid[:2, :130, :10]
    offsets = layout.offset(row, block, batch)
    assert offsets.shape == (2, 130, 10)
    tiled = x.to("tiled_128x4").scales
    assert tiled.nbytes == layout.size
    assert np.array_equal(tiled[offsets], x.scales.view(np.uint8))
    batches, rows, blocks = layout.content(offset=np.arange(layout.size))
    held = batches >= 0
    assert held.sum() == 2 * 130 * 10
    assert np.array_equal(tiled[held], x.scales.view(np.uint8)[
        batches[held], rows[held], blocks[held]])
    assert layout.offset(np.zeros(0, int)).shape == (0,)


def test_tensor_memory_and_registers():
    """Rows of test/oracle's tables."""
    assert bs.layout("accumulator_d", columns=256).place(
        row=114, column=172) == (0, 114, 172)
    assert bs.layout("load_16x64b", repeat=1).place(
        lane=9, column=1) == (7, 0)
    scales = bs.layout("tensor_scales", blocks=8)
    assert scales.place(row=100, block=5, replica=1) == (36, 7, 1)
    assert scales.content(lane=36, column=7, byte=1) == (100, 5, 1)


def test_there_is_a_list_and_a_picture():
    sentence, sizes = bs.layouts()["tiled_128x4"]
    assert "128 rows by 4 blocks" in sentence
    assert sizes == {"rows": None, "blocks": None, "batch": 1}
    for name, (_, sizes) in bs.layouts().items():
        k = 64 if name == "warp_metadata" else 32
        given = {size: {"columns": 64, "k": k, "split": 32}.get(size, 8)
                 for size, default in sizes.items() if default is None}
        picture = bs.layout(name, **given).picture()
        assert picture.startswith("<svg") and name in picture


@pytest.mark.parametrize("ask, words", [
    (lambda: bs.layout("tiles"), "unknown layout 'tiles', legal are 'plain'"),
    (lambda: bs.layout("plain", rows=4), "needs 'blocks'"),
    (lambda: bs.layout("plain", rows=4, blocks=-1), "blocks = -1"),
    (lambda: bs.layout("plain", rows=2**40, blocks=2**40), "62 bits"),
    (lambda: bs.layout("plain", rows=4, blocks=2).offset(4), "row 4 is none"),
    (lambda: bs.layout("plain", rows=4, blocks=2).offset(-1), "at least 0"),
    (lambda: bs.layout("plain", rows=4, blocks=2).offset(1.5), "whole"),
    (lambda: bs.layout("plain", rows=4, blocks=2).place(column=1),
     "no coordinate 'column'"),
    (lambda: bs.layout("tensor_metadata").offset(1), "has no offsets"),
    (lambda: bs.explain.layout("png"), "form = 'png'"),
    (lambda: bs.explain.layout(kind="f16"), "has no scales"),
])
def test_refusals(ask, words):
    with pytest.raises(bs.Refused) as caught:
        ask()
    assert words in str(caught.value)


def test_layouts_of_instructions():
    assert "elements 96 to 127" in bs.explain.layout(row=37, block=3)
    assert "tensor" in bs.explain.layout("json", row=37, block=3)
    assert bs.explain.layout("svg", operand="b", n=64).startswith("<svg")


def test_kernels_for_trainium(tmp_path):
    spec = bs.matmul(M=128, N=512, K=512, a="mxfp8", b="mxfp4", layout="plain")
    kernels = bs.compile(spec, target="trn3")
    assert isinstance(kernels, bs.NkiKernels) and kernels.target == "trn3"
    assert "nc_matmul_mx" in kernels.code and "import nki" in kernels.code
    assert kernels.names == ["matmul"]
    assert kernels.plan["kernels"][0]["sizes"]["K"] == 512
    assert "blockscale_nki.kernel" in kernels.mlir("kernel")
    kernels.save(tmp_path / "out")
    assert (tmp_path / "out" / "kernels.nki.py").read_text() == kernels.code
    with pytest.raises(bs.Refused, match="stage = 'llvm'"):
        kernels.mlir("llvm")
    with pytest.raises(bs.CompileError, match="tiled_128x4"):
        bs.compile(bs.matmul(M=128, N=512, K=512, a="mxfp8", b="mxfp4"),
                   target="trn3")
    with pytest.raises(bs.Refused, match="'withCubin' is not for target"):
        bs.compile(spec, target="trn3", cubin=True)
