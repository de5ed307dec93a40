# Prints a module of products with K = 96, one for each way in which K can end.
#
# usage: k96.py SPEC BLOCK TILE_N FIRST_K LAST_K STEP_K [CTA_GROUP]
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

spec = sys.argv[1]
block, tile_n, first, last, step = map(int, sys.argv[2:7])
group = int(sys.argv[7]) if len(sys.argv) > 7 else 1
scale = "ue4m3" if spec.startswith("e4m3") else "ue8m0"
# One row more than a tile, and some columns less than two.
rows, columns = 128 * group + 1, tile_n - 8
for k in range(first, last + 1, step):
    a = f'!blockscale.tensor<{rows}x{k}xf4E2M1FN, "{spec}", layout = tiled_128x4>'
    b = f'!blockscale.tensor<{columns}x{k}xf4E2M1FN, "{spec}", layout = tiled_128x4>'
    d = f"tensor<{rows}x{columns}xf32>"
    print(f"""func.func @k{k}(%a: {a}, %b: {b}) -> {d} {{
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = {tile_n}, mma_k = 96, cta_group = {group}, split_k = 1, swap_operands = false>) {{blockscale.target = #blockscale.target<sm_103a>}} : {a}, {b} -> {d}
  return %0 : {d}
}}""")
