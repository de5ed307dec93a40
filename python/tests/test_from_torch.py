# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs that torch.export traces. Only where torch is there; what comes out is
run in test/Conversion/ImportToBlockscale, without it."""

import pathlib
import sys

import pytest

import blockscale as bs

torch = pytest.importorskip("torch")
F = torch.nn.functional

INPUTS = (pathlib.Path(__file__).parents[2] / "test/Conversion/ImportToBlockscale"
          / "Inputs")
sys.path.insert(0, str(INPUTS))
make_torch = pytest.importorskip("make_torch")
E4M3, E8M0 = torch.float8_e4m3fn, torch.float8_e8m0fnu


@pytest.mark.parametrize("case", list(make_torch.programs()), ids=lambda one: one[0])
def test_programs_are_those_that_run_without_torch(case):
    name, module, inputs, sizes = case
    program = torch.export.export(module, inputs, dynamic_shapes=sizes)
    imported = bs.from_torch(program, name)
    assert imported.mlir == (INPUTS / f"torch/{name}.mlir").read_text()
    kernel = bs.compile(imported.mlir, host_duties=True)
    assert kernel.verify(M=48).ok


class Layer(torch.nn.Module):
    """With weights of its own and ordinary products around."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(64, 128).to(E4M3), False)
        self.scale = torch.nn.Parameter(torch.ones(512).to(E8M0), False)
        self.register_buffer("mix", torch.ones(64, 32, dtype=torch.bfloat16))

    def forward(self, x, scale):
        y = torch._scaled_mm(x, self.w.t(), scale, self.scale,
                             out_dtype=torch.bfloat16)
        z = F.gelu(F.silu(y) @ self.mix).transpose(0, 1)
        return torch.cat([z, z[:8]], 0).softmax(-1) / 3


def test_parameters_come_first_and_whole_layers_compile():
    layer = Layer()
    program = torch.export.export(layer, (torch.ones(48, 128).to(E4M3),
                                          torch.ones(512).to(E8M0)))
    imported = bs.from_torch(program.run_decompositions({}))
    assert imported.inputs == ("p_w", "p_scale", "b_mix", "x", "scale")
    assert list(imported.parameters) == ["p_w", "p_scale", "b_mix"]
    assert imported.parameters["p_w"] is program.state_dict["w"] or \
        (imported.parameters["p_w"].view(torch.uint8) ==
         layer.w.view(torch.uint8)).all()
    assert bs.compile(imported.mlir, host_duties=True).verify().ok


def scaled(x, w, scale, other, recipe=F.ScalingType.BlockWise1x32, swizzle=1):
    return F.scaled_mm(x, w.t(), scale, recipe, other, recipe,
                       F.SwizzleType(swizzle), F.SwizzleType(swizzle),
                       output_dtype=torch.bfloat16)


X, W = torch.ones(48, 128).to(E4M3), torch.ones(64, 128).to(E4M3)
S = torch.ones(512).to(E8M0)


@pytest.mark.parametrize("function, inputs, words", [
    (lambda x: torch.fft.fft(x), (torch.ones(8),), "nothing takes 'aten.fft"),
    (lambda x, w, s, t: scaled(x, w, s, t, F.ScalingType.RowWise, 0),
     (X, W, torch.ones(48, 1), torch.ones(1, 64)), "'RowWise', which no kernel"),
    (lambda x, w, s: torch._scaled_mm(x, w, s, s, out_dtype=torch.bfloat16),
     (X, torch.ones(64, 128).to(E4M3).t(), S), "its right side is no transpose"),
    (lambda x, w, s: (x.float() ** 3, scaled(x, w, s, s)), (X, W, S),
     "a power of 3; only 2"),
])
def test_what_is_not_taken_is_named(function, inputs, words):
    class Module(torch.nn.Module):
        def forward(self, *values):
            return function(*values)

    program = torch.export.export(Module(), inputs)
    with pytest.raises(bs.Refused, match=words):
        bs.from_torch(program)
