"""Writes linear layers that torchao quantises and torch.export traces, and what
torchao makes of given rows.

    pip install torch==2.15.0 torchao==0.18.0
    python make_torchao.py FOLDER

For each rule of MXFP8's scales, two of MXFP4's, and for NVFP4 with a factor of the whole
and without, the folder gets the program as examples/model/traced.py writes it, and its
weights, rows, and torchao's own codes, scales and results. NVFP4's results are computed
here from these codes, as the program says: PyTorch has no such product on the CPU.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys

import numpy as np
import torch
from torchao.prototype.mx_formats import (
    MXDynamicActivationMXWeightConfig, NVFP4DynamicActivationNVFP4WeightConfig,
    inference_workflow)
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import MXTensor
from torchao.prototype.mx_formats.nvfp4_tensor import (NVFP4Tensor,
                                                       per_tensor_amax_to_scale)
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


def tame_rows(count):
    """Of magnitudes that one factor can serve, with rows of zeros and of subnormals."""
    rng = np.random.default_rng(count)
    x = rng.normal(0, 1, (count, K)) * 2.0 ** rng.integers(-12, 5, (count, 1))
    x[0, :BLOCK] = 0
    x[1, :] = 2.0 ** -np.arange(-4, 60)
    x[2, :] = np.tile([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6], K // 8)
    return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)


def linear():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(K, N)).to(torch.bfloat16).eval()


def exported(model):
    count = torch.export.Dim("rows", min=2, max=128)
    with torch.no_grad():
        return torch.export.export(
            model, (rows(5),), dynamic_shapes=({0: count},)).run_decompositions({})


# MX -------------------------------------------------------------------------


def layer(rule, way, element):
    model = linear()
    quantize_(model, MXDynamicActivationMXWeightConfig(
        activation_dtype=element, weight_dtype=element, kernel_preference=way,
        scaling_mode=rule))
    return model


def expected(rule, element):
    found = {}
    for count in ROWS:
        x = rows(count)
        made = MXTensor.to_mx(x, element, BLOCK, rule, is_swizzled_scales=True)
        with torch.no_grad():
            result = layer(rule, KernelPreference.EMULATED, element)(x)
        for name, one in (("x", x), ("codes", made.qdata), ("scales", made.scale),
                          ("result", result)):
            found[f"{name}{count}"] = common.array_of(one)
    return found


# NVFP4 ----------------------------------------------------------------------


def nvfp4_layer(has_factor):
    # torchao asks for the card when it quantises, though that needs none.
    inference_workflow.is_sm_at_least_100 = lambda: True
    model = linear()
    quantize_(model, NVFP4DynamicActivationNVFP4WeightConfig(
        use_triton_kernel=False, use_dynamic_per_tensor_scale=has_factor))
    return model


def quantised(x, has_factor, is_swizzled):
    factor = per_tensor_amax_to_scale(x.abs().max()) if has_factor else None
    return NVFP4Tensor.to_nvfp4(x, per_tensor_scale=factor,
                                is_swizzled_scales=is_swizzled), factor


def values(made):
    """Codes times scales of blocks."""
    bits = made.qdata.view(torch.uint8).numpy()
    codes = np.stack([bits & 15, bits >> 4], -1).reshape(len(bits), -1)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    numbers = np.where(codes & 8, -1, 1) * table[codes & 7]
    return numbers * np.repeat(made.scale.float().numpy().astype(np.float64), 16, -1)


def nvfp4_expected(has_factor):
    found = {}
    weight, weight_factor = quantised(linear()[0].weight.detach(), has_factor, False)
    for count in ROWS:
        x = tame_rows(count)
        made, factor = quantised(x, has_factor, True)
        product = values(quantised(x, has_factor, False)[0]) @ values(weight).T
        product, bias = torch.from_numpy(product), linear()[0].bias.detach()
        # With a factor the product is rounded before it, without one behind the bias.
        result = (product + bias).to(torch.bfloat16) if not has_factor else \
            product.to(torch.bfloat16) * (factor * weight_factor).to(
                torch.bfloat16) + bias
        for name, one in (("x", x), ("codes", made.qdata), ("scales", made.scale),
                          ("result", result)):
            found[f"{name}{count}"] = common.array_of(one)
    return found


def write(folder, name, program, wanted):
    traced.write(folder / f"{name}.json", program)
    stored = {**program.state_dict, **program.constants}
    weights = {spec.arg.name: common.array_of(stored[spec.target])
               for spec in program.graph_signature.input_specs if spec.target}
    common.save_arrays(folder / name, {**weights, **wanted})


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    modes, fp8, fp4 = (ScaleCalculationMode, torch.float8_e4m3fn,
                       torch.float4_e2m1fn_x2)
    for rule, element in ((modes.RCEIL, fp8), (modes.FLOOR, fp8), (modes.EVEN, fp8),
                          (modes.CEIL, fp8), (modes.RCEIL, fp4), (modes.FLOOR, fp4)):
        kind = "" if element == fp8 else "mxfp4_"
        write(folder, f"torchao_{kind}{rule.name.lower()}",
              exported(layer(rule, KernelPreference.AUTO, element)),
              expected(rule, element))
    for name, has_factor in (("nvfp4", True), ("nvfp4_blocks", False)):
        write(folder, f"torchao_{name}", exported(nvfp4_layer(has_factor)),
              nvfp4_expected(has_factor))


if __name__ == "__main__":
    main()
