"""Writes what TOSA's reference model makes of values that it quantises.

    pip install tosa-tools==2026.8.0
    python make_tosa.py FOLDER

values.npy goes through CAST_TO_BLOCK_SCALED (e4m3, blocks of 32) and
CAST_FROM_BLOCK_SCALED; result.npy is what comes out.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

MODULE = """
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %data, %scale = tosa.cast_to_block_scaled %x {block_size = BLOCK_SIZE_32} : (tensor<64x64xf32>) -> (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>)
  %result = tosa.cast_from_block_scaled %data, %scale {block_size = BLOCK_SIZE_32} : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32>
  return %result : tensor<64x64xf32>
}
"""


def values():
    """Blocks of all magnitudes; the first rows have largest values at which a
    scale changes, and those that f32 ends with."""
    random = np.random.default_rng(1)
    exponents = random.integers(-20, 20, (64, 2)).repeat(32, 1)
    result = random.standard_normal((64, 64)) * np.exp2(exponents)
    for row, value in enumerate([0, 448, 449, 464, 465, 480, 2.0**-130, 3e38,
                                 2.0**-149, 1.75 * 2.0**100, 1.76 * 2.0**100]):
        result[row, :32] = value
    return result.astype(np.float32)


def main():
    folder = pathlib.Path(sys.argv[1])
    programs = pathlib.Path(sys.executable).parent
    work = pathlib.Path(tempfile.mkdtemp())
    (work / "cast.mlir").write_text(MODULE)
    target = "specification_version=1.1.draft profiles=pro_fp extensions=mxfp,fp8e4m3"
    subprocess.run([programs / "tosa-opt", work / "cast.mlir",
                    f"--tosa-attach-target={target}", "--tosa-serialize",
                    f"--tosa-flatbuffer-filename={work}/cast.tosa"], check=True,
                   stdout=subprocess.DEVNULL)
    np.save(work / "values.npy", values())
    (work / "cast.json").write_text(json.dumps({
        "tosa_file": "cast.tosa", "ifm_name": ["TosaInput_0"],
        "ifm_file": ["values.npy"], "ofm_name": ["TosaOutput_0"],
        "ofm_file": ["result.npy"], "variable_name": [], "variable_file": [],
        "expected_return_code": 0, "expected_failure": False}))
    schema, = programs.parent.rglob("tosa.fbs")
    subprocess.run([programs / "tosa_reference_model", "--test_desc",
                    work / "cast.json", "--operator_fbs", schema], check=True)
    for name in ("values.npy", "result.npy"):
        np.save(folder / name, np.load(work / name).astype(np.float32))


if __name__ == "__main__":
    main()
