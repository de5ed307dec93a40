# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""PyTorch's tensors, and kernels as its operators. Only where torch is there."""

import numpy as np
import pytest

import blockscale as bs

torch = pytest.importorskip("torch")


def test_tensors_are_arrays():
    values = torch.arange(128, dtype=torch.float32).reshape(2, 64)
    expected = bs.quantize(values.numpy(), "mxfp8")
    for given in (values, values.bfloat16(), values.to(torch.float16)):
        assert (bs.quantize(given, "mxfp8").dequantize() ==
                expected.dequantize()).all()
    x = bs.Scaled(values.to(torch.float8_e4m3fn),
                  torch.full((2, 2), 0.5).to(torch.float8_e8m0fnu),
                  format="mxfp8")
    codes = values.to(torch.float8_e4m3fn).float().numpy()
    assert (x.dequantize() == codes / 2).all()
    pairs = torch.tensor([[0x21, 0x7a] * 8], dtype=torch.uint8).view(
        torch.float4_e2m1fn_x2)
    y = bs.Scaled(pairs, torch.ones((1, 1)).to(torch.float8_e8m0fnu),
                  format="mxfp4")
    assert y.dequantize().tolist() == [[0.5, 1, -1, 6] * 8]


def test_operator():
    kernel = bs.compile(bs.matmul(M="M", N=72, K=288, a="mxfp8", b="mxfp8",
                                  bias="column", alpha=True))
    op = kernel.as_torch_op("blockscale_test::layer")
    rng = np.random.default_rng(30)
    x, w = (bs.quantize(rng.standard_normal((rows, 288)),
                        like=kernel.arg(name))
            for name, rows in (("a", 37), ("b", 72)))
    bias = torch.arange(72, dtype=torch.float32)
    tensors = []
    for operand in (x, w):
        tensors += [torch.from_numpy(operand.packed().copy()).reshape(-1, 288),
                    torch.from_numpy(operand.scales.copy())]
    arguments = (*tensors, bias, 0.5)
    y = op(*arguments)
    expected = kernel.emulate(x, w, bias=bias, alpha=0.5)
    assert y.dtype == torch.float32 and (y.numpy() == expected).all()
    for result in torch.library.opcheck(op, arguments).values():
        assert result == "SUCCESS"
    compiled = torch.compile(lambda *given: op(*given) + 1,
                             backend="aot_eager", fullgraph=True)
    assert (compiled(*arguments).numpy() == expected + 1).all()
    with pytest.raises(bs.Refused, match="'a_scales' has 1 bytes, expected"):
        op(tensors[0], tensors[1][:1], *tensors[2:], bias, 0.5)


def test_tensors_of_all_kinds():
    """What needs a gradient, lies in steps, belongs to a module."""
    values = torch.arange(256, dtype=torch.float32).reshape(64, 4)
    expected = bs.quantize(values.T.contiguous().numpy(), "mxfp8").dequantize()
    for given in (values.T, torch.nn.Parameter(values).T,
                  values.T.clone().requires_grad_(), values.T.double(),
                  torch.complex(values, -values).T.conj().imag):
        assert (bs.quantize(given, "mxfp8").dequantize() == expected).all()
    x = bs.quantize(values.T, "mxfp8")
    codes = torch.from_numpy(x.data.view(np.uint8)).view(torch.float8_e4m3fn)
    scales = torch.from_numpy(x.scales.view(np.uint8)).view(
        torch.float8_e8m0fnu)
    again = bs.Scaled(codes.T.contiguous().T, scales, format="mxfp8")
    assert (again.dequantize() == expected).all()


@pytest.mark.parametrize("make, words", [
    (lambda: torch.empty((2, 64), device="meta"), "'meta', expected one in"),
    (lambda: torch.ones((2, 64), dtype=torch.complex64), "type 5 with 64"),
    (lambda: torch.ones((2, 64)).to_sparse(), "torch.sparse_coo.*to_dense"),
    (lambda: torch.ones((0, 64)), "none of them 0"),
    (lambda: torch.full((2, 64), float("nan")), "not finite"),
    (lambda: torch.ones(64), "expected rows x K")])
def test_tensors_that_are_refused(make, words):
    with pytest.raises(bs.Refused, match=words):
        bs.quantize(make(), "mxfp8")


def test_operator_under_export_and_of_other_devices():
    kernel = bs.compile(bs.matmul(M="M", N=64, K=64, a="mxfp8", b="mxfp8"))
    op = kernel.as_torch_op("blockscale_test::exported")
    x, w = (bs.quantize(np.full((rows, 64), 2.0), like=kernel.arg(name))
            for name, rows in (("a", 16), ("b", 64)))
    tensors = []
    for operand in (x, w):
        tensors += [torch.from_numpy(operand.packed().copy()).reshape(-1, 64),
                    torch.from_numpy(operand.scales.copy())]

    class Layer(torch.nn.Module):
        def forward(self, *given):
            return op(*given)

    program = torch.export.export(Layer(), tuple(tensors))
    assert (program.module()(*tensors) == 256).all()
    assert op(*(one.to("meta") for one in tensors)).shape == (16, 64)
    with pytest.raises(bs.Refused, match="'b_data' is not contiguous"):
        op(*tensors[:2], tensors[2].T.contiguous().T, tensors[3])
    with pytest.raises(bs.Refused, match="'a_data' has"):
        op(tensors[0][:, :32].contiguous(), *tensors[1:])


def test_no_operator_of_groups():
    kernel = bs.compile("""
!a = !blockscale.tensor<?x64xbf16>
!b = !blockscale.tensor<3x32x64xbf16>
func.func @k(%a: !a, %b: !b, %ends: tensor<3xi32>) -> tensor<?x32xf32> {
  %d = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !a, !b -> tensor<?x32xf32>
  return %d : tensor<?x32xf32>
}""")
    with pytest.raises(bs.Refused, match="'k' multiplies groups: no operator"):
        kernel.as_torch_op("blockscale_tests::groups")
