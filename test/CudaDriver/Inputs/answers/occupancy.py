"""Section occupancy of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def occupancy():
    retained()
    module = loaded()
    kernels = {entry: function(module, entry) for entry in KERNELS}
    add1, limited = kernels["add1"], kernels["limited"]
    blocks, grid, block, room = Int(), Int(), Int(), Size()
    active = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    for threads in (1, 32, 33, 64, 65, 96, 128, 256, 257, 512, 768, 1024, 1025, 0, -1):
        ask(f"{threads}", active, ref(blocks), add1, threads, Size(0), show=lambda: blocks.value)
    for shared in (0, 1, 1024, 6 * 1024, 7 * 1024, 8 * 1024, 10 * 1024, 16 * 1024, 32 * 1024, 48 * 1024, 56 * 1024, 64 * 1024, 75 * 1024, 76 * 1024, 100 * 1024, 113 * 1024, 114 * 1024,
                   227 * 1024, 228 * 1024, 1 << 40):
        ask(f"32, {shared}", active, ref(blocks), add1, 32, Size(shared), show=lambda: blocks.value)
    cu.cuFuncSetAttribute(add1, 8, 227 * 1024)
    for shared in (49 * 1024, 100 * 1024, 113 * 1024, 114 * 1024, 227 * 1024, 228 * 1024):
        ask(f"asked for, 32, {shared}", active, ref(blocks), add1, 32, Size(shared), show=lambda: blocks.value)
    for share in (0, 10, 50, 100, -1):
        cu.cuFuncSetAttribute(add1, 9, share)
        ask(f"carveout {share}", active, ref(blocks), add1, 32, Size(40 * 1024), show=lambda: blocks.value)
    for threads in (32, 64, 65):
        ask(f"limited {threads}", active, ref(blocks), limited, threads, Size(0), show=lambda: blocks.value)
    for threads in (32, 96):
        ask(f"required {threads}", active, ref(blocks), kernels["required"], threads, Size(0), show=lambda: blocks.value)
    ask("clustered", active, ref(blocks), kernels["clustered"], 32, Size(0), show=lambda: blocks.value)
    for flags in (0, 1, 2):
        ask(f"{flags}", active + "WithFlags", ref(blocks), add1, 128, Size(0), flags, show=lambda: blocks.value)
    potential = "cuOccupancyMaxPotentialBlockSize"
    for entry in ("add1", "limited", "required", "clustered"):
        for shared in (0, 40 * 1024, 100 * 1024):
            ask(f"{entry} {shared}", potential, ref(grid), ref(block), kernels[entry], None, Size(shared), 0, show=lambda: (grid.value, block.value))
    ask("at most 100", potential, ref(grid), ref(block), add1, None, Size(0), 100, show=lambda: (grid.value, block.value))
    ask("at most 5000", potential, ref(grid), ref(block), add1, None, Size(0), 5000, show=lambda: (grid.value, block.value))
    by_size = C.CFUNCTYPE(Size, Int)(lambda threads: 64 * threads)
    ask("by size", potential, ref(grid), ref(block), add1, by_size, Size(0), 0, show=lambda: (grid.value, block.value))
    ask("flags 1", potential + "WithFlags", ref(grid), ref(block), add1, None, Size(0), 0, 1, show=lambda: (grid.value, block.value))
    ask("flags 2", potential + "WithFlags", ref(grid), ref(block), add1, None, Size(0), 0, 2)
    for count, threads in ((1, 32), (1, 1024), (2, 256), (2, 1024), (3, 1024), (4, 32), (8, 256), (9, 256), (32, 32), (33, 32), (0, 32), (2, 1025), (2, 0)):
        ask(f"{count} of {threads}", "cuOccupancyAvailableDynamicSMemPerBlock", ref(room), add1, count, threads, show=lambda: room.value)
        ask(f"limited, {count} of {threads}", "cuOccupancyAvailableDynamicSMemPerBlock", ref(room), limited, count, threads, show=lambda: room.value)
