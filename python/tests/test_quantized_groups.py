# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of groups of rows whose result is quantised for the next one."""

import numpy as np
import pytest

import blockscale as bs
from conftest import integers

# Of two tiles, none, one row, the rest but three rows that nobody has.
ENDS = np.array([130, 130, 131, 297])
ROWS, GROUPS, K, N, L = 300, len(ENDS), 128, 96, 72
USED = slice(0, ENDS[-1])
FORMS = {"mxfp8": ('f8E4M3FN, "e8m0_t32"', False),
         "nvfp4": ('f4E2M1FN, "multi_float32_e4m3fn_t16"', True)}


@pytest.fixture(scope="module", params=FORMS)
def kernels(request):
    """Both products in one module, and the tensor scale of the first's result."""
    form, has_scale = FORMS[request.param]
    scale, factor = (", %t: tensor<f32>", "tensor_scale(%t : tensor<f32>)") \
        if has_scale else ("", "")
    kernel = bs.compile(f"""
!a = !blockscale.tensor<?x{K}x{form}, layout = grouped_128x4>
!b = !blockscale.tensor<{GROUPS}x{N}x{K}x{form}, layout = tiled_128x4>
!d = !blockscale.tensor<?x{N}x{form}, layout = grouped_128x4>
!c = !blockscale.tensor<{GROUPS}x{L}x{N}x{form}, layout = tiled_128x4>
!ends = tensor<{GROUPS}xi32>
func.func @first(%a: !a, %b: !b, %ends: !ends{scale}) -> !d {{
  %y = blockscale.matmul %a, %b groups(%ends : !ends) activation(relu) : !a, !b -> tensor<?x{N}xf32>
  %d = blockscale.quantize %y groups(%ends : !ends) {factor} : tensor<?x{N}xf32> to !d
  return %d : !d
}}
func.func @second(%a: !d, %b: !c, %ends: !ends) -> tensor<?x{L}xf32> {{
  %d = blockscale.matmul %a, %b groups(%ends : !ends) : !d, !c -> tensor<?x{L}xf32>
  return %d : tensor<?x{L}xf32>
}}""", "sm_100a")
    return kernel, {"tensor_scale": np.float32(0.125)} if has_scale else {}


def by_groups(x, w):
    """Products in double precision."""
    wanted, start = np.zeros((ROWS, w.shape[1])), 0
    for at, end in enumerate(ENDS):
        wanted[start:end] = x[start:end].astype(np.float64) @ w[at].astype(np.float64).T
        start = end
    return wanted


def operands(kernel):
    rng = np.random.default_rng(1)
    return [bs.quantize(integers(rng, shape), like=kernel.arg(name, which))
            for which, name, shape in (("first", "a", (ROWS, K)),
                                       ("first", "b", (GROUPS, N, K)),
                                       ("second", "b", (GROUPS, L, N)))]


def near(found, wanted):
    np.testing.assert_allclose(found[USED], wanted[USED], rtol=1e-4,
                               atol=1e-4 * np.abs(wanted).max())


def test_chain(device, kernels):
    kernel, factors = kernels
    a, b, c = operands(kernel)
    sums = np.maximum(by_groups(a.dequantize(), b.dequantize()), 0)
    assert kernel.arg("d", "first").layout == "grouped_128x4"
    d = kernel.emulate(a, b, ends=ENDS, kernel="first", num_sms=3, **factors)
    # In its format the result is what numpy's would be, row by row, but where the order
    # of a sum decides.
    wanted = bs.quantize(sums[USED].astype(np.float32), d.format, **factors)
    assert d.layout == "plain" and d.shape == (ROWS, N)
    same = d.data[USED].view(np.uint8) == wanted.data.view(np.uint8)
    assert same.mean() > 0.99
    assert not d.scales[ENDS[-1]:].view(np.uint8).any()
    product = by_groups(d.dequantize(), c.dequantize())
    near(kernel.emulate(d, c, ends=ENDS, kernel="second"), product)

    launched = kernel.launch(a, b, ends=ENDS, kernel="first", **factors)
    assert np.array_equal(launched.data[USED].view(np.uint8),
                          d.data[USED].view(np.uint8))
    assert np.array_equal(launched.scales.view(np.uint8), d.scales.view(np.uint8))


def test_on_the_device(device, kernels):
    """What the first launch wrote is what the second reads, without a step between."""
    kernel, factors = kernels
    a, b, c = operands(kernel)
    ends = bs.to_device(ENDS.astype(np.int32))
    first = kernel.prepare(M=ROWS, kernel="first")
    second = kernel.prepare(M=ROWS, kernel="second")
    d, out = first.empty_out(), second.empty_out()
    assert d.layout == "grouped_128x4" and d.shape == (ROWS, N)
    scales = {name: bs.to_device(value.reshape(1)) for name, value in factors.items()}
    first(first.upload("a", a, ENDS), first.upload("b", b), out=d, ends=ends, **scales)
    second(d, second.upload("b", c), out=out, ends=ends)
    there = kernel.launch(a, b, ends=ENDS, kernel="first", **factors)
    near(out.numpy(), by_groups(there.dequantize(), c.dequantize()))


def test_ends_on_the_device(device, kernels):
    """Without them on the host the result stays on the device."""
    kernel, factors = kernels
    a, b, _ = operands(kernel)
    first = kernel.prepare(M=ROWS, kernel="first")
    d = kernel.launch(first.upload("a", a, ENDS), b, kernel="first",
                      ends=bs.to_device(ENDS.astype(np.int32)), **factors)
    assert isinstance(d, bs.DeviceScaled) and d.layout == "grouped_128x4"


def test_tensor_scales(kernels):
    kernel, factors = kernels
    a, b, _ = operands(kernel)
    given = {"tensor_scale": np.ones(GROUPS, np.float32)}
    words = "4 tensor scales: expected 1" if factors else "takes no 'tensor_scale'"
    with pytest.raises(bs.Refused) as caught:
        kernel.emulate(a, b, ends=ENDS, kernel="first", **given)
    assert words in str(caught.value)
