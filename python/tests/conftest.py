# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What several files of tests use."""

import importlib.util
import os

import numpy as np
import pytest
from hypothesis import settings

import blockscale as bs

# The same inputs in each run, so that nobody is stopped by luck; whoever looks
# for mistakes sets BLOCKSCALE_RANDOM_TESTS for others.
settings.register_profile("fixed", derandomize=True)
if not os.environ.get("BLOCKSCALE_RANDOM_TESTS"):
    settings.load_profile("fixed")


@pytest.fixture(scope="session")
def device():
    """The card of this machine, or an emulated one."""
    if not importlib.util.find_spec("cuda.bindings"):
        pytest.skip("cuda-bindings is not installed")
    try:
        return bs.emulate_without_card("B200")
    except bs.Refused as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def kernel():
    """A layer with a bias and a factor; files that need another have their own."""
    return bs.compile(bs.matmul(M="M", N=16, K=64, a="mxfp8", b="mxfp8",
                                bias="column", alpha=True))


@pytest.fixture(scope="module")
def good(kernel):
    """Operands that it takes."""
    return dict(a=bs.quantize(np.ones((4, 64)), like=kernel.arg("a")),
                b=bs.quantize(np.ones((16, 64)), like=kernel.arg("b")),
                bias=np.ones(16, np.float32))


def integers(rng, shape, step=32):
    """Small integers in blocks of which each has a power of two of its own: what
    they are scaled by is a power of two, and sums of their products are exact.
    Rows and blocks differ."""
    values = rng.integers(-3, 4, shape).astype(np.float32)
    exponents = rng.integers(-2, 3, (*shape[:-1], -(-shape[-1] // step)))
    return values * np.repeat(2.0 ** exponents, step, -1)[..., :shape[-1]]


def exact_product(x, w):
    """x @ w.T of the values of two operands, in double precision."""
    return np.einsum("...mk,...nk->...mn", x.dequantize().astype(np.float64),
                     w.dequantize().astype(np.float64))


def is_rounded(d, x, w):
    """Whether sums differ from the exact ones by what f32 rounds off."""
    bound = (np.abs(x.dequantize()).astype(np.float64) @
             np.abs(w.dequantize()).T) * 2.0 ** -20
    return (np.abs(d - exact_product(x, w)) <= bound).all()


def holding(values, argument):
    """Values as an argument of a kernel takes them, pruned if its format is sparse."""
    return bs.prune(values, argument.format) if argument.format.sparsity else values
