# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a type checker says of uses of the package, right ones and wrong ones."""

import numpy as np

import blockscale as bs

kernel: bs.Kernel = bs.compile(
    bs.matmul(M="M", N=256, K=512, a="nvfp4", b=bs.FORMATS["nvfp4"]))
x = bs.quantize(np.ones((4, 512)), like=kernel.arg("a"))
w = bs.quantize([[1.0] * 512] * 256, "nvfp4", layout="tiled_128x4")
reveal_type(kernel.emulate(x, w, progress=True, seed=3))
reveal_type(kernel.verify(M=[1, 129]).ok)
prepared = kernel.prepare(M=4)
reveal_type(prepared.upload("a", x))
prepared(prepared.upload("a", x), kernel.upload("b", w),
         out=prepared.empty_out(), stream=7)

bs.matmul(M=8, N=8, K=64, a="mxfp8", b="mxfp8", out="f64")
kernel.arg("c")
x.to("swizzled")
prepared(x, w, out=prepared.empty_out())
