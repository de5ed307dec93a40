"""Puts a line into one entry of a cache, as somebody would who may write there.

    mark_cache.py FOLDER KERNEL LINE

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import hashlib
import pathlib
import sys


def main(arguments):
    folder, kernel, line = arguments[1:]
    for path in pathlib.Path(folder).rglob("*"):
        if not path.is_file():
            continue
        head, body = path.read_bytes().split(b"\n", 1)
        size, rest = body.split(b"\n", 1)
        ptx, others = rest[:int(size)], rest[int(size):]
        if f".entry {kernel}(".encode() not in ptx:
            continue
        ptx += line.encode() + b"\n"
        body = str(len(ptx)).encode() + b"\n" + ptx + others
        # The hash of the one part that follows: its length, a colon, itself.
        digest = hashlib.sha256(str(len(body)).encode() + b":" + body)
        path.write_bytes(b"blockscale-cache 1 " + digest.hexdigest().encode()
                         + b"\n" + body)
        return 0
    print(f"no entry of '{kernel}'")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
