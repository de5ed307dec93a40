"""Writes what blockscale.from_torch makes of programs that PyTorch 2.15 exports.

    pip install torch==2.15.0
    python make_torch.py FOLDER

Run with the package blockscale on the path.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys

import torch
from torch.nn.functional import ScalingType, SwizzleType, scaled_mm

import blockscale as bs

E4M3, E8M0 = torch.float8_e4m3fn, torch.float8_e8m0fnu
M, N, K = 48, 64, 128


def ones(shape, dtype):
    return torch.ones(shape).to(dtype)


class Mxfp8(torch.nn.Module):
    """The first operator: the layout of the scales follows from their rank."""

    def forward(self, x, scale_x, w, scale_w, bias):
        return torch._scaled_mm(x, w.t(), scale_x, scale_w, bias=bias,
                                out_dtype=torch.bfloat16)


class Nvfp4(torch.nn.Module):
    """Block scales and a factor for each side; pairs of elements in a byte."""

    def forward(self, x, scale_x, factor_x, w, scale_w, factor_w):
        how = [ScalingType.BlockWise1x16, ScalingType.TensorWise]
        lies = [SwizzleType.SWIZZLE_32_4_4, SwizzleType.NO_SWIZZLE]
        return scaled_mm(x, w.t(), [scale_x, factor_x], how, [scale_w, factor_w],
                         how, lies, lies, output_dtype=torch.float32)


class Around(torch.nn.Module):
    """Scales in order, an unknown number of rows, and what follows a product."""

    def forward(self, x, scale_x, w, scale_w, gain):
        y = scaled_mm(x, w.t(), scale_x, ScalingType.BlockWise1x32, scale_w,
                      ScalingType.BlockWise1x32, SwizzleType.NO_SWIZZLE,
                      SwizzleType.NO_SWIZZLE, output_dtype=torch.float32)
        z = torch.relu(y * gain + 2.0)
        pairs = z.reshape(z.shape[0], 2, N // 2)
        return pairs.mean(1) - pairs.amax(1)


class Rows(torch.nn.Module):
    """A factor for each row of both sides."""

    def forward(self, x, scale_x, w, scale_w):
        return scaled_mm(x, w.t(), scale_x, ScalingType.RowWise, scale_w,
                         ScalingType.RowWise, output_dtype=torch.bfloat16)


def pairs(*shape):
    return torch.zeros(shape, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


def programs():
    yield "mxfp8", Mxfp8(), (
        ones((M, K), E4M3), ones(512, E8M0), ones((N, K), E4M3), ones(512, E8M0),
        torch.ones(N, dtype=torch.bfloat16)), None
    yield "nvfp4", Nvfp4(), (
        pairs(M, K // 2), ones(1024, E4M3), torch.ones(1), pairs(N, K // 2),
        ones(1024, E4M3), torch.ones(1)), None
    rows = torch.export.Dim("rows", min=2, max=4096)
    yield "around", Around(), (
        ones((M, K), E4M3), ones((M, K // 32), E8M0), ones((N, K), E4M3),
        ones((N, K // 32), E8M0), torch.ones(N)), ({0: rows}, {0: rows}, None, None,
                                                   None)
    yield "rows", Rows(), (
        ones((M, K), E4M3), torch.ones(M, 1), ones((N, K), E4M3),
        torch.ones(1, N)), None


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, module, inputs, sizes in programs():
        program = torch.export.export(module, inputs, dynamic_shapes=sizes)
        text = bs.from_torch(program, name).mlir
        (folder / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    main()
