# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers for sparsity.cpp, and pruning in numpy.

  sparsity.py write|check FOLDER
"""

import pathlib
import sys

import numpy as np

SHAPE = (133, 192)
# Bytes behind a result that nobody may write.
BEHIND = 64


def main():
    folder = pathlib.Path(sys.argv[2])
    x = np.random.default_rng(5).integers(-20, 21, SHAPE).astype(np.float16)
    if sys.argv[1] == "write":
        x.tofile(folder / "x.bin")
        return
    groups = x.reshape(*SHAPE[:1], -1, 4)
    order = np.argsort(-np.abs(groups), axis=-1, kind="stable").argsort(-1)
    expected = np.where(order < 2, groups, 0).reshape(SHAPE)
    memory = {name: np.fromfile(folder / f"{name}.bin", np.uint8)
              for name in ("pruned", "stored", "metadata", "dense")}
    behind = all((one[-BEHIND:] == 0xee).all() for one in memory.values())
    pruned, dense = (memory[name][:-BEHIND].view(np.float16).reshape(SHAPE)
                     for name in ("pruned", "dense"))
    # What is stored comes in order, but for groups with fewer than two.
    stored = memory["stored"][:-BEHIND].view(np.float16)
    kept = np.sort(np.abs(stored[stored != 0]))
    print(f"pruned: {(pruned == expected).all()}, "
          f"stored: {(kept == np.sort(np.abs(expected[expected != 0]))).all()}, "
          f"dense: {(dense == expected).all()}, behind: {behind}")


main()
