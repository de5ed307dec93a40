# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a launch that is prepared costs besides the driver.

usage: overhead.py EMPTY_DRIVER KERNEL.bsk
"""

import ctypes
import sys
import time

ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)

import numpy as np  # noqa: E402

import blockscale as bs  # noqa: E402


def fastest(work, calls):
    """Microseconds of a call in the fastest of ten turns."""
    turns = []
    for _ in range(10):
        start = time.perf_counter()
        for i in range(calls):
            work(i)
        turns.append((time.perf_counter() - start) / calls)
    return 1e6 * min(turns)


kernel = bs.load_kernel(sys.argv[2])
prepared = kernel.prepare(M=64)
x, w = (bs.quantize(np.ones((rows, 512), np.float32), like=kernel.arg(name))
        for name, rows in (("a", 64), ("b", 256)))
a, b = prepared.upload("a", x), prepared.upload("b", w)
others = [prepared.upload("a", x) for _ in range(2)]
out = prepared.empty_out()
same = fastest(lambda i: prepared(a, b, out=out), 2000)
changing = fastest(lambda i: prepared(others[i % 2], b, out=out), 2000)
print(f"prepared: {same:.1f} us, with another operand each time: "
      f"{changing:.1f} us")

# Far above what an idle machine takes (docs/python.md), for those that are not.
if same > 60 or changing > 120:
    sys.exit("too slow")
