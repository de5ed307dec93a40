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


class Rows(torch.nn.Module):
    def forward(self, x, scale_x, w, scale_w):
        return torch._scaled_mm(x, w.t(), scale_x, scale_w,
                                out_dtype=torch.bfloat16)


def test_the_older_operator_tells_rows_by_their_number():
    inputs = (torch.ones(48, 256).to(E4M3), torch.ones(48, 1),
              torch.ones(64, 256).to(E4M3), torch.ones(1, 64))
    imported = bs.from_torch(torch.export.export(Rows(), inputs), "rows")
    text = (INPUTS / "torch/rows.mlir").read_text()
    assert imported.mlir == text.replace("x128x", "x256x")


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
    (lambda x: torch.fft.fft(x), (torch.ones(8),), "nothing takes 'aten._to_copy|nothing takes 'aten._fft"),
    (lambda x, w, s: torch._scaled_mm(x, w, s, s, out_dtype=torch.bfloat16),
     (X, torch.ones(64, 128).to(E4M3).t(), S), "its right side is no transpose"),
    (lambda x, w, s: (x.float().cumsum(0), scaled(x, w, s, s)), (X, W, S),
     r"nothing takes 'aten.cumsum.default'"),
    (lambda x, w, s: (F.dropout(x.float(), 0.5), scaled(x, w, s, s)), (X, W, S),
     "dropout in training"),
])
def test_what_is_not_taken_is_named(function, inputs, words):
    class Module(torch.nn.Module):
        def forward(self, *values):
            return function(*values)

    program = torch.export.export(Module(), inputs)
    with pytest.raises(bs.Refused, match=words):
        bs.from_torch(program)


@pytest.mark.parametrize("recipe", ["RowWise", "TensorWise"])
def test_scales_of_rows_and_of_all_are_those_of_the_cpu(recipe):
    """What PyTorch itself computes on the CPU, of sums that are exact."""
    torch.manual_seed(1)
    x, w = (torch.randint(-3, 4, (rows, 128)).float().to(E4M3) for rows in (48, 64))
    shapes = ((48, 1), (1, 64)) if recipe == "RowWise" else ((1,), (1,))
    s, t = (torch.exp2(torch.randint(-2, 3, shape).float()) for shape in shapes)

    class Module(torch.nn.Module):
        def forward(self, x, w, s, t):
            return torch._scaled_mm(x, w.t(), s, t, out_dtype=torch.bfloat16)

    program = torch.export.export(Module(), (x, w, s, t))
    agrees(program, x, w, s, t)


# Corners of sizes that a call tells ------------------------------------------


def sized(function, inputs, *names, least=2, most=512):
    """A program of what has sizes with names, beside a product. names: for each
    input a dictionary of its dimensions, or None."""
    class Module(torch.nn.Module):
        def forward(self, *values):
            return function(*values)

    dims = {name: torch.export.Dim(name, min=least, max=most)
            for one in names for name in (one or {}).values() if isinstance(name, str)}
    shapes = tuple({at: dims[name] if isinstance(name, str) else name(dims)
                    for at, name in one.items()} if one else None for one in names)
    return torch.export.export(Module(), inputs, dynamic_shapes=(shapes,))


def agrees(program, *inputs):
    """What the program gives is what PyTorch gives, f32 by f32."""
    found = bs.Program(bs.from_torch(program))(*inputs)
    wanted = program.module()(*inputs)
    if not isinstance(wanted, tuple):
        found, wanted = (found,), (wanted,)
    for one, other in zip(found, wanted):
        other = other.float().numpy()
        one = one.astype("float32")
        assert one.shape == other.shape
        assert abs(one - other).max() <= abs(other).max() * 2.0 ** -20


def around(*values):
    """Two sizes that exchange their places, a product of both, one as a number."""
    x, y = values
    pairs = x.reshape(x.shape[1], x.shape[0])
    flat = (x @ y).reshape(-1, 4) + 1
    low = x[:3] * y.mean()
    ones = torch.ones(x.shape[0], 2 * x.shape[1]) * x.shape[1]
    return pairs * 2, flat, low, ones, torch.cat([x, x[1:]], 0), x.mean(0)


def test_several_sizes_and_what_is_computed_of_them():
    x, y = torch.randn(6, 10), torch.randn(10, 4)
    program = sized(around, (x, y), {0: "rows", 1: "inner"}, {0: "inner"},
                    least=4)
    agrees(program, torch.randn(6, 10), y)
    agrees(program, torch.randn(9, 32), torch.randn(32, 4))


def test_a_size_is_the_double_of_another():
    def function(x, y):
        return x.reshape(-1, 2, 8).sum(1) + y

    program = sized(function, (torch.randn(12, 8), torch.randn(6, 8)),
                    {0: lambda dims: 2 * torch.export.Dim("half", max=128)},
                    {0: "half"}, most=128)
    agrees(program, torch.randn(20, 8), torch.randn(10, 8))
    layer = bs.Program(bs.from_torch(program))
    with pytest.raises(bs.Refused, match="has size 19 along dimension 0, expected 2"):
        layer(torch.randn(19, 8), torch.randn(9, 8))


def test_limits_of_sizes_are_kept():
    program = sized(lambda x: x + 1, (torch.randn(6, 10),), {0: "rows"}, least=4,
                    most=40)
    agrees(program, torch.randn(40, 10))
    layer = bs.Program(bs.from_torch(program))
    for rows in (3, 41):
        with pytest.raises(bs.Refused, match=f"is {rows}; the program was made for 4 to "
                                             "40"):
            layer(torch.randn(rows, 10))


# Ops around products ----------------------------------------------------------


X32 = torch.linspace(-3, 3, 60).reshape(3, 4, 5)
ONES = torch.arange(60).reshape(3, 4, 5) % 7


@pytest.mark.parametrize("function", [
    lambda x: torch.where(x > 0, x, x * 2) - x.clamp(-1, 2).abs(),
    lambda x: torch.sin(x) + torch.cos(x) * torch.tanh(x) / 3,
    lambda x: F.silu(x) + F.gelu(x) + F.gelu(x, approximate="tanh") + torch.sigmoid(x),
    lambda x: (x ** 3 + (x * x + 1) ** -0.5, 2 ** x, torch.exp2(x), x.square()),
    lambda x: x[:, 1:4:2, -3:].permute(2, 0, 1).flatten(1) + x[0, 0, 1],
    lambda x: F.pad(x, (1, 2, 0, 3), value=2.0).unsqueeze(1).expand(3, 2, 7, 8),
    lambda x: torch.softmax(x, 1) + x.amax((0, 2), keepdim=True) + x.mean((1, 2))[0],
    lambda x: (x.tril(1) + x.triu(-1)).argmax(-1),
    lambda x: torch.stack([x, x + 1], 2).chunk(2, 1)[1],
    lambda x: x.masked_fill(x < 0, float("inf")).clamp(max=3) + torch.zeros(4, 5),
    lambda x: ((x * 7).to(torch.int32) & 6) + ((x * 9).to(torch.int64) >> 1),
    lambda x: (x.view(torch.int32) >> 23).to(torch.uint8).to(torch.float32),
    lambda x: (x > 0) & ~(x > 1) | (x != x),
    lambda x: (x.to(torch.bfloat16) * 3).to(torch.float16) + 1,
    lambda x: x.clamp(-448, 448).to(E4M3).to(torch.float32),
    lambda x: x.abs().to(E8M0).to(torch.float32),
    lambda x: F.embedding(torch.tensor([[0, 2], [1, 2]]), x.reshape(3, 20)),
    lambda x: x.reshape(3, 20)[torch.tensor([2, 0])] + x.reshape(20, 3).t()[:2],
    lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=False, scale=0.3),
    lambda x: F.scaled_dot_product_attention(x, x * 2, x, attn_mask=x[0, 0, 0] +
                                             torch.zeros(4, 4)),
    lambda x: F.linear(x, torch.ones(2, 5), torch.ones(2)) @ torch.ones(2, 6),
    lambda x: F.layer_norm(x, (5,)) + F.rms_norm(x, (5,)),
], ids=range(22))
def test_ops_around_products_are_pytorchs(function):
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    agrees(torch.export.export(Module(), (X32,)), X32)


def test_layers_of_torchao_are_decomposed():
    """Their weights are codes with scales, which a program says behind its first
    decomposition alone."""
    formats = pytest.importorskip("torchao.prototype.mx_formats")
    quantization = pytest.importorskip("torchao.quantization")
    model = torch.nn.Sequential(torch.nn.Linear(64, 32)).to(torch.bfloat16).eval()
    quantization.quantize_(model, formats.MXDynamicActivationMXWeightConfig(
        activation_dtype=torch.float4_e2m1fn_x2,
        weight_dtype=torch.float4_e2m1fn_x2))
    x = torch.linspace(-3, 3, 5 * 64).reshape(5, 64).to(torch.bfloat16)
    with torch.no_grad():
        program = torch.export.export(model, (x,))
        whole, parts = (bs.from_torch(one) for one in
                        (program, program.run_decompositions({})))
    assert "blockscale.matmul" in whole.mlir and whole.mlir == parts.mlir
    assert bs.Program(whole)(x).shape == (5, 32)
