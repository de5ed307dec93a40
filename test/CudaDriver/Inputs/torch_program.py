"""Tensors of PyTorch as arguments of a Triton kernel."""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside),
             mask=inside)


assert torch.cuda.is_available()
n = 98432
x, y = torch.rand(n), torch.rand(n).pin_memory()
out = torch.empty(n, device="cuda")
add[(triton.cdiv(n, 1024),)](x.cuda(), y, out, n, BLOCK=1024)
print("equal:", torch.equal(out.cpu(), x + y))
try:
    torch.ones(4, device="cuda")
except RuntimeError as error:
    print("refused:", str(error).splitlines()[0])
