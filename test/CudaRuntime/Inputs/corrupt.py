# Copies a program and changes one number in each fat binary in it that has an
# entry: corrupt.py FROM TO OFFSET SIZE VALUE, the offset counted from the magic
# number. Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

source, target = sys.argv[1:3]
offset, size, value = (int(text, 0) for text in sys.argv[3:])
data = bytearray(open(source, "rb").read())
magic = (0xBA55ED50).to_bytes(4, "little")
at = data.find(magic)
found = 0
while at >= 0:
    data[at + offset : at + offset + size] = value.to_bytes(size, "little")
    found += 1
    at = data.find(magic, at + 4)
if not found:
    sys.exit(f"no fat binary in {source}")
with open(target, "wb") as file:
    file.write(data)
os.chmod(target, 0o755)
