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
                if node.target == "aten._scaled_mm.default")
    last = graph.graph.nodes[-1]
    last.args = ((*last.args[0], product.args[0], product.args[2]),)
    return graph, arrays


@pytest.mark.parametrize("rule", ["rceil", "floor", "even", "ceil"])
def test_quantisation_is_torchaos_own_bit_for_bit(rule):
    graph, arrays = program(rule)
    imported = bs.from_torch(graph)
    assert imported.mlir.count("blockscale.matmul") == 1
    layer = bs.Program(imported)
    for rows in (5, 100):
        result, codes, scales = layer(arrays[f"x{rows}"])
        wanted = arrays[f"scales{rows}"]
        assert scales.size == wanted.size == 512
        assert np.array_equal(scales.view(np.uint8).ravel(),
                              wanted.view(np.uint8).ravel())
        wanted = arrays[f"codes{rows}"]
        is_number = ~np.isnan(wanted.astype(np.float32))
        assert (np.isnan(codes.astype(np.float32)) == ~is_number).all()
        assert len(np.unique(wanted[is_number])) > (20 if rows == 5 else 100)
        assert np.array_equal(codes.view(np.uint8)[is_number],
                              wanted.view(np.uint8)[is_number])
        check_results(result, arrays[f"result{rows}"])


def check_results(found, wanted):
    """Both sum in f32 and round to bf16 once: one step of it where a sum in another
    order is rounded otherwise. Rows of what is no number are none there either."""
    found, wanted = (one.astype(np.float64) for one in (found, wanted))
    is_none = np.isnan(wanted).any(-1)
    assert is_none.sum() == 1 and np.isnan(found[is_none]).all()
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
