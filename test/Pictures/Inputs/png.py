"""Pixels of a PNG file as rsvg-convert and browsers write them.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import struct
import zlib


def _unfilter(kind, line, above, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up = above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            line[i] = line[i] + left & 255
        elif kind == 2:
            line[i] = line[i] + up & 255
        elif kind == 3:
            line[i] = line[i] + (left + up) // 2 & 255
        elif kind == 4:
            guess = left + up - corner
            line[i] = line[i] + min((left, up, corner),
                                    key=lambda x: abs(guess - x)) & 255


class Image:
    """8 bits a channel, RGB or RGBA, not interlaced."""

    def __init__(self, path):
        data = open(path, "rb").read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", path
        at, packed = 8, b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, depth, colour, _, _, interlace = (
                    struct.unpack(">IIBBBBB", body))
                assert depth == 8 and colour in (2, 6) and not interlace
            elif kind == b"IDAT":
                packed += body
            at += 12 + size
        self.step = 4 if colour == 6 else 3
        raw, self.lines = zlib.decompress(packed), []
        stride = self.width * self.step + 1
        above = bytearray(stride - 1)
        for y in range(self.height):
            line = bytearray(raw[y * stride + 1:(y + 1) * stride])
            _unfilter(raw[y * stride], line, above, self.step)
            self.lines.append(line)
            above = line

    def at(self, x, y):
        """(red, green, blue)"""
        first = int(x) * self.step
        return tuple(self.lines[int(y)][first:first + 3])
