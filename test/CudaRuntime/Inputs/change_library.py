"""Writes libcudart_static.a with 64 bytes of its code changed.

usage: change_library.py CUDA_ROOT OUT
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
library = next(root.glob("lib*/libcudart_static.a"))
data = bytearray(library.read_bytes())
# Code comes first in its only object; no relocation is 64 bytes long.
middle = data.index(b"\x7fELF") + 0x20000
for i in range(middle, middle + 64):
    data[i] ^= 0xFF
pathlib.Path(sys.argv[2]).write_bytes(data)
