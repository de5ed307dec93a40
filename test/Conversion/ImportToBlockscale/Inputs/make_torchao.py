"""Writes linear layers that torchao quantises and torch.export traces, and what
torchao makes of given rows.

    pip install torch==2.15.0 torchao==0.18.0
    python make_torchao.py FOLDER

For each rule of scales the folder gets the program as examples/model/traced.py writes
it, and its weights, rows, and torchao's own codes, scales and results.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys

import numpy as np
import torch
from torchao.prototype.mx_formats import MXDynamicActivationMXWeightConfig
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import MXTensor
from torchao.quantization import quantize_
from torchao.quantization.quantize_.common import KernelPreference

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "examples/model"))
import common  # noqa: E402
import traced  # noqa: E402

N, K, BLOCK, ROWS = 32, 64, 32, (5, 100)


def rows(count):
    """Of many magnitudes, some of them odd."""
    rng = np.random.default_rng(count)
    x = rng.normal(0, 1, (count, K)) * 2.0 ** rng.integers(-140, 100, (count, 1))
    x[0, :BLOCK] = 0
    x[1, 3] = np.inf
    x[2, 40] = np.nan
    x[3, :] = 448 * 2.0 ** np.arange(-32, 32)
    x[4, :] = -2.0 ** -133
    return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)


def layer(rule, way):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(K, N)).to(torch.bfloat16).eval()
    quantize_(model, MXDynamicActivationMXWeightConfig(
        kernel_preference=way, scaling_mode=rule))
    return model


def exported(rule):
    count = torch.export.Dim("rows", min=2, max=128)
    with torch.no_grad():
        return torch.export.export(
            layer(rule, KernelPreference.AUTO), (rows(5),),
            dynamic_shapes=({0: count},)).run_decompositions({})


def expected(rule):
    found = {}
    for count in ROWS:
        x = rows(count)
        made = MXTensor.to_mx(x, torch.float8_e4m3fn, BLOCK, rule,
                              is_swizzled_scales=True)
        with torch.no_grad():
            result = layer(rule, KernelPreference.EMULATED)(x)
        for name, one in (("x", x), ("codes", made.qdata), ("scales", made.scale),
                          ("result", result)):
            found[f"{name}{count}"] = common.array_of(one)
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    for rule in (ScaleCalculationMode.RCEIL, ScaleCalculationMode.FLOOR,
                 ScaleCalculationMode.EVEN, ScaleCalculationMode.CEIL):
        name = f"torchao_{rule.name.lower()}"
        program = exported(rule)
        traced.write(folder / f"{name}.json", program)
        stored = {**program.state_dict, **program.constants}
        weights = {spec.arg.name: common.array_of(stored[spec.target])
                   for spec in program.graph_signature.input_specs if spec.target}
        common.save_arrays(folder / name, {**weights, **expected(rule)})


if __name__ == "__main__":
    main()
