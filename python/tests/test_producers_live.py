# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What tosa-tools, IREE's compiler and torch-mlir write, against what TOSA's reference
model computes and what the ops mean. Each only where its package is there; what they
wrote before is run in test/Conversion/ImportToBlockscale, without them."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

E4M3, E8M0, E2M1 = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu,
                    ml_dtypes.float4_e2m1fn)


def program_of(package, name):
    """A program that a package installs; skips where there is none."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    for folder in (pathlib.Path(sys.executable).parent,
                   pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0]
                                ).parents[3] / "bin"):
        if (folder / name).exists():
            return folder / name
    return pytest.skip(f"{package} has no {name}")


def elements(shape, dtype, seed):
    """Small integers, so that sums are exact."""
    values = np.random.default_rng(seed).integers(-3, 4, shape)
    return values.astype(np.float32).astype(dtype)


def powers(shape, seed):
    exponents = np.random.default_rng(seed + 50).integers(-2, 3, shape)
    return np.exp2(exponents.astype(np.float32)).astype(E8M0)


def wide(data, scale, axis=-1):
    return data.astype(np.float64) * np.repeat(scale.astype(np.float64), 32, axis)


# TOSA -------------------------------------------------------------------------


TOSA = """
func.func @main(%x: tensor<2x48x128xf32>, %w: tensor<{batch}x64x128xf32>) -> tensor<2x48x64xf32> {{
  %a, %s = tosa.cast_to_block_scaled %x {{block_size = BLOCK_SIZE_32}} : (tensor<2x48x128xf32>) -> (tensor<2x48x128xf8E4M3FN>, tensor<2x48x4xf8E8M0FNU>)
  %b, %t = tosa.cast_to_block_scaled %w {{block_size = BLOCK_SIZE_32}} : (tensor<{batch}x64x128xf32>) -> (tensor<{batch}x64x128xf8E4M3FN>, tensor<{batch}x64x4xf8E8M0FNU>)
  %y = tosa.matmul_t_block_scaled %a, %s, %b, %t {{block_size = BLOCK_SIZE_32}} : (tensor<2x48x128xf8E4M3FN>, tensor<2x48x4xf8E8M0FNU>, tensor<{batch}x64x128xf8E4M3FN>, tensor<{batch}x64x4xf8E8M0FNU>) -> tensor<2x48x64xf32>
  return %y : tensor<2x48x64xf32>
}}
"""


def reference(work, text, inputs):
    """The only result, by TOSA's reference model."""
    model = program_of("tosa_tools_cli", "tosa_reference_model")
    programs = model.parent
    (work / "main.mlir").write_text(text)
    target = "specification_version=1.1.draft profiles=pro_fp extensions=mxfp,fp8e4m3"
    subprocess.run([programs / "tosa-opt", work / "main.mlir",
                    f"--tosa-attach-target={target}", "--tosa-serialize",
                    f"--tosa-flatbuffer-filename={work}/main.tosa"], check=True,
                   stdout=subprocess.DEVNULL)
    for at, one in enumerate(inputs):
        np.save(work / f"{at}.npy", one)
    (work / "main.json").write_text(json.dumps({
        "tosa_file": "main.tosa",
        "ifm_name": [f"TosaInput_{at}" for at in range(len(inputs))],
        "ifm_file": [f"{at}.npy" for at in range(len(inputs))],
        "ofm_name": ["TosaOutput_0"], "ofm_file": ["result.npy"], "variable_name": [],
        "variable_file": [], "expected_return_code": 0, "expected_failure": False}))
    schema, = programs.parent.rglob("tosa.fbs")
    subprocess.run([model, "--test_desc", work / "main.json", "--operator_fbs", schema],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load(work / "result.npy").astype(np.float32)


@pytest.mark.parametrize("batch", [1, 2])
def test_tosa_is_as_its_reference_model(tmp_path, batch):
    """Both quantise and multiply; they differ by the order of sums alone."""
    rng = np.random.default_rng(batch)
    inputs = [(rng.normal(0, 1, shape) * np.exp2(rng.integers(-9, 9, shape[:2])
                                                 )[..., None]).astype(np.float32)
              for shape in ((2, 48, 128), (batch, 64, 128))]
    text = TOSA.format(batch=batch)
    wanted = reference(tmp_path, text, inputs)
    imported = bs.from_mlir(text)
    assert imported.mlir.count("blockscale.matmul") == 1
    found = bs.Program(imported)(*inputs)
    assert found.shape == wanted.shape
    scale = abs(wanted).max((1, 2), keepdims=True)
    assert (abs(found - wanted) <= 2.0 ** -18 * scale).all()


# IREE -------------------------------------------------------------------------


IREE = """
#a = affine_map<(m, n, k, b) -> (m, k, b)>
#s = affine_map<(m, n, k, b) -> (m, k)>
#b = affine_map<(m, n, k, b) -> (n, k, b)>
#t = affine_map<(m, n, k, b) -> (n, k)>
#o = affine_map<(m, n, k, b) -> (m, n)>
func.func @main(%a: tensor<48x4x32xf4E2M1FN>, %s: tensor<48x4xf8E8M0FNU>, %b: tensor<64x4x32xf4E2M1FN>, %t: tensor<64x4xf8E8M0FNU>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x64xf32>) -> tensor<48x64xf32>
  %y = linalg.scaled_contract indexing_maps = [#a, #s, #b, #t, #o] ins(%a, %s, %b, %t : tensor<48x4x32xf4E2M1FN>, tensor<48x4xf8E8M0FNU>, tensor<64x4x32xf4E2M1FN>, tensor<64x4xf8E8M0FNU>) outs(%start : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %y : tensor<48x64xf32>
}
"""


def test_iree_generalises_a_scaled_contraction(tmp_path):
    (tmp_path / "main.mlir").write_text(IREE)
    done = subprocess.run(
        [program_of("iree", "iree-opt"), tmp_path / "main.mlir",
         "--linalg-generalize-named-ops"], capture_output=True, text=True, check=True)
    assert "linalg.scaled_contract" not in done.stdout
    imported = bs.from_mlir(done.stdout)
    assert imported.mlir.count("blockscale.matmul") == 1
    a, b = elements((48, 128), E2M1, 1), elements((64, 128), E2M1, 2)
    s, t = powers((48, 4), 1), powers((64, 4), 2)
    found = bs.Program(imported)(a.reshape(48, 4, 32), s, b.reshape(64, 4, 32), t)
    assert np.array_equal(found, wide(a, s) @ wide(b, t).T)


# torch-mlir -------------------------------------------------------------------


def test_torch_mlir_writes_tosa():
    """Its TOSA reads scales of one dimension in order, although CUDA reads the same
    bytes in tiles; what arrives here is what TOSA says."""
    torch = pytest.importorskip("torch")
    fx = pytest.importorskip("torch_mlir.fx")

    class Module(torch.nn.Module):
        def forward(self, x, w, s, t):
            return torch._scaled_mm(x, w.t(), s, t, out_dtype=torch.float32)

    e4m3, e8m0 = torch.float8_e4m3fn, torch.float8_e8m0fnu
    given = (torch.ones(128, 128).to(e4m3), torch.ones(128, 128).to(e4m3),
             torch.ones(512).to(e8m0), torch.ones(512).to(e8m0))
    module = fx.export_and_import(torch.export.export(Module(), given),
                                  output_type="tosa")
    text = module.operation.get_asm(print_generic_op_form=True)
    assert "tosa.matmul_t_block_scaled" in text
    a, b = elements((128, 128), E4M3, 1), elements((128, 128), E4M3, 2)
    s, t = powers((128, 4), 1), powers((128, 4), 2)
    found = bs.Program(bs.from_mlir(text))(a, b, s.reshape(-1), t.reshape(-1))
    assert np.array_equal(found, wide(a, s) @ wide(b, t).T)
