# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""C that lies where D is stored: each thread has read what it overwrites, though it
loads C of what comes next before it stores."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from conftest import exact_product, holding, integers

import blockscale as bs

# M, N, K; the element of C and D; the schedule. Tiles end inside of D in both directions.
CASES = {
    "chunks": ((130, 264, 512), "bf16",
               "tile_n = 128, cta_group = 1, cluster_m = 1, epilogue_warps = 4"),
    "eight warps": ((130, 264, 512), "f32",
                    "tile_n = 256, cta_group = 1, cluster_m = 1, epilogue_warps = 8"),
    "elements": ((130, 263, 512), "bf16",
                 "tile_n = 256, cta_group = 1, cluster_m = 1, epilogue_warps = 8"),
    "halves": ((260, 520, 768), "bf16",
               "stages = 3, tile_n = 256, accumulators = 3, cta_group = 2"),
    "halves, f32": ((260, 520, 768), "f32",
                    "stages = 3, tile_n = 256, accumulators = 3, cta_group = 2"),
    "wide": ((260, 640, 512), "bf16", "tile_n = 320, cta_group = 2"),
    "columns": ((264, 130, 512), "bf16", "tile_n = 128, swap_operands = true"),
    "split": ((130, 264, 1024), "f32", "tile_n = 128, cta_group = 1, split_k = 2"),
    "split in a cluster": ((130, 16, 1024), "bf16",
                           "tile_n = 16, cta_group = 1, cluster_m = 1, split_k = 4, "
                           "cluster_k = 4"),
    "shared out": ((260, 520, 1024), "bf16",
                   "tile_n = 256, cta_group = 2, accumulators = 2, stream_k = 4"),
    "groups": ((300, 264, 512), "bf16", "tile_n = 128"),
}
ENDS = np.array([130, 130, 131, 297])
DTYPES = {"bf16": ml_dtypes.bfloat16, "f32": np.float32}


def source(size, element, schedule, ends):
    m, n, k = size
    fixed = "" if "swap_operands" in schedule else "swap_operands = false, "
    groups, count, layout = "", "", "tiled_128x4"
    if ends is not None:
        m, layout = "?", "grouped_128x4"
        groups, count = f"groups(%ends : tensor<{len(ends)}xi32>) ", f"{len(ends)}x"
    d = f"tensor<{m}x{n}x{element}>"
    arguments = f", %ends: tensor<{len(ends)}xi32>" if groups else ""
    return f"""
!a = !blockscale.tensor<{m}x{k}xf8E4M3FN, "e8m0_t32", layout = {layout}>
!b = !blockscale.tensor<{count}{n}x{k}xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @k(%a: !a, %b: !b, %c: {d}{arguments}) -> {d} {{
  %d = blockscale.matmul %a, %b {groups}c(%c) schedule(#blockscale.schedule<{fixed}{schedule}>) : !a, !b, {d} -> {d}
  return %d : {d}
}}"""


def check(name):
    (m, n, k), element, schedule = CASES[name]
    ends = ENDS if name == "groups" else None
    kernel = bs.compile(source((m, n, k), element, schedule, ends), "sm_100a")
    rng = np.random.default_rng(21)
    lead = () if ends is None else (len(ends),)
    x, w = integers(rng, (m, k)), integers(rng, (*lead, n, k))
    x = bs.quantize(holding(x, kernel.arg("a")), like=kernel.arg("a"))
    w = bs.quantize(holding(w, kernel.arg("b")), like=kernel.arg("b"))
    # Another number in each place, as bf16 has them too.
    c = (np.arange(m * n).reshape(m, n) * 7 % 251).astype(np.float32)
    options = {} if ends is None else {"ends": ends}
    c = c.astype(DTYPES[element])
    apart = kernel.emulate(x, w, c=c, **options)
    memory = bs.to_device(c)
    kernel.launch(x, w, c=memory, out=memory, **options)
    stored = m if ends is None else ends[-1]
    d = memory.numpy()
    assert (d[:stored] == apart[:stored]).all(), name
    assert (d[stored:] == c[stored:]).all(), name
    if ends is None:
        expected = (exact_product(x, w) + c).astype(d.dtype)
        assert (d == expected).all(), name


@pytest.mark.parametrize("completion", ["immediate", "latest"])
def test_c_in_the_memory_of_d(device, completion):
    """The emulated driver asks its environment once for a process."""
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True,
        env={**os.environ, "BLOCKSCALE_COMPLETION": completion})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:-1] == list(CASES)


if __name__ == "__main__":
    bs.emulate_without_card("B200")
    for case in CASES:
        check(case)
        print(case)
