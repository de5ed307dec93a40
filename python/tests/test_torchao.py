# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Linear layers that torchao quantises, as torch.export traced them before
(test/Conversion/ImportToBlockscale/Inputs/make_torchao.py), without torch."""

import pathlib
import sys

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

ROOT = pathlib.Path(__file__).parents[2]
INPUTS = ROOT / "test/Conversion/ImportToBlockscale/Inputs/torch"
sys.path.insert(0, str(ROOT / "examples/model"))
common = pytest.importorskip("common")
traced = pytest.importorskip("traced")


def program(rule):
    """The program with codes and scales of its rows as results, too, and arrays."""
    arrays = common.load_arrays(INPUTS / f"torchao_{rule}")
    graph = traced.read(INPUTS / f"torchao_{rule}.json", arrays)
    product, = (node for node in graph.graph.nodes
                if node.target.startswith("aten._scaled_mm"))
    codes, scales = product.args[0], product.args[2]
    # Pairs of 4-bit elements are bytes before they are read as that.
    codes = codes.args[0] if codes.target == "aten.view.dtype" else codes
    scales = scales[0] if isinstance(scales, list) else scales
    last = graph.graph.nodes[-1]
    last.args = ((*last.args[0], codes, scales),)
    return graph, arrays


def check_scales(scales, wanted):
    """The same bytes, of tiles of 512."""
    assert scales.size == wanted.size == 512
    assert np.array_equal(scales.view(np.uint8).ravel(), wanted.view(np.uint8).ravel())


@pytest.mark.parametrize("rule", ["rceil", "floor", "even", "ceil"])
def test_quantisation_is_torchaos_own_bit_for_bit(rule):
    graph, arrays = program(rule)
    imported = bs.from_torch(graph)
    assert imported.mlir.count("blockscale.matmul") == 1
    layer = bs.Program(imported)
    for rows in (5, 100):
        result, codes, scales = layer(arrays[f"x{rows}"])
        check_scales(scales, arrays[f"scales{rows}"])
        wanted = arrays[f"codes{rows}"]
        is_number = ~np.isnan(wanted.astype(np.float32))
        assert (np.isnan(codes.astype(np.float32)) == ~is_number).all()
        assert len(np.unique(wanted[is_number])) > (20 if rows == 5 else 100)
        assert np.array_equal(codes.view(np.uint8)[is_number],
                              wanted.view(np.uint8)[is_number])
        check_results(result, arrays[f"result{rows}"])


@pytest.mark.parametrize("rule", ["mxfp4_rceil", "mxfp4_floor", "nvfp4",
                                  "nvfp4_blocks"])
def test_pairs_of_four_bits_and_their_scales_are_torchaos_own(rule):
    graph, arrays = program(rule)
    imported = bs.from_torch(graph)
    assert imported.mlir.count("blockscale.matmul") == 1
    kind = "mxf4nvf4" if "nvfp4" in rule else "mxf4"
    assert f"kind::{kind}.block_scale" in bs.compile(imported, host_duties=True).ptx
    layer = bs.Program(imported)
    for rows in (5, 100):
        result, codes, scales = layer(arrays[f"x{rows}"])
        check_scales(scales, arrays[f"scales{rows}"])
        wanted = arrays[f"codes{rows}"].view(np.uint8)
        # A row with what is no number has such a scale, whatever its codes.
        is_number = np.isfinite(arrays[f"x{rows}"].astype(np.float32)).all(-1)
        assert len(np.unique(wanted[is_number])) > (15 if rows == 5 else 150)
        assert np.array_equal(codes.view(np.uint8)[is_number], wanted[is_number])
        if "nvfp4" in rule:
            check_rounded(result, arrays[f"result{rows}"])
        else:
            # Of a row with an infinity torchao's emulation overflows on the way.
            wanted = arrays[f"result{rows}"]
            assert np.isnan(result[2].astype(np.float32)).all()
            check_numbers(*(one[is_number].astype(np.float64)
                            for one in (result, wanted)))


def check_rounded(found, wanted):
    """Rounded to bf16 behind the product, the factor and the bias: three steps of the
    largest of a row, and none for nine of ten."""
    found, wanted = (one.astype(np.float64) for one in (found, wanted))
    most = np.maximum(abs(wanted).max(-1, keepdims=True), abs(wanted[0]).max())
    assert (abs(found - wanted) <= most * 3 * 2.0 ** -8).all()
    assert (found == wanted).mean() > 0.9


def check_results(found, wanted):
    """Both sum in f32 and round to bf16 once: one step of it where a sum in another
    order is rounded otherwise. Rows of what is no number are none there either."""
    found, wanted = (one.astype(np.float64) for one in (found, wanted))
    is_none = np.isnan(wanted).any(-1)
    assert is_none.sum() == 1 and np.isnan(found[is_none]).all()
    check_numbers(found, wanted)


def check_numbers(found, wanted):
    """Rows that no rounding makes infinite; those are nearly all."""
    are_numbers = np.isfinite(wanted).all(-1) & (abs(wanted).max(-1) < 2.0 ** 100)
    assert are_numbers.sum() >= len(wanted) - 3
    found, wanted = found[are_numbers], wanted[are_numbers]
    assert (abs(found - wanted) <= abs(wanted).max(-1, keepdims=True) * 2.0 ** -7).all()


def test_sizes_are_those_that_the_program_was_exported_for():
    graph, arrays = program("rceil")
    layer = bs.Program(bs.from_torch(graph))
    with pytest.raises(bs.Refused, match="is 129; the program was made for 2 to 128"):
        layer(np.zeros((129, 64), ml_dtypes.bfloat16))
    with pytest.raises(bs.Refused, match="'input' has size 65 along dimension 1, "
                                         "expected 64"):
        layer(np.zeros((5, 65), ml_dtypes.bfloat16))
