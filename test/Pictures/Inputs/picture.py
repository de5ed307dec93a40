"""Reads the pictures of `explain layout --svg` as a reader does: by position.

A byte's place is what stands beside and above its box: the numbers of its line to
the left, the number of its group and of the byte above. Nothing of how the picture
was made is used.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import collections
import functools
import re
import subprocess
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
Byte = collections.namedtuple("Byte", "line group byte row along mma fill x y")
Text = collections.namedtuple("Text", "x y anchor content")


def draw(*options):
    done = subprocess.run(["blockscale", "explain", "layout", "--svg",
                           *options], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{options}: {done.stderr}")
    return done.stdout


@functools.lru_cache(maxsize=None)
def refuses(*options):
    done = subprocess.run(["blockscale", "explain", "layout", "--svg", *options],
                          capture_output=True, text=True)
    return done.returncode == 2 and "is not legal for" in done.stderr


class Picture:
    def __init__(self, svg):
        root = ET.fromstring(svg)
        self.texts = [Text(float(t.get("x")), float(t.get("y")),
                           t.get("text-anchor"), t.text)
                      for t in root.iter(SVG + "text")]
        fills = [(float(r.get("x")), float(r.get("y")),
                       float(r.get("width")), float(r.get("height")),
                       r.get("class"))
                      for r in root.iter(SVG + "rect")
                      if re.fullmatch(r"bs-(h\d|empty)", r.get("class"))]
        self.box_width = {fill[2] for fill in fills if fill[2] > 20}.pop()
        # By the middle: boxes are as wide as their column.
        self.fills = collections.defaultdict(list)
        for fill in fills:
            self.fills[fill[0] + fill[2] / 2].append(fill)
        # "MMA 3: column 0, id 3"
        self.key = {int(m[1]): m[2] for t in self.texts
                    if (m := re.fullmatch(r"MMA (\d+): (.*)", t.content))}
        self.bytes = list(self.read())
        self.holders = collections.defaultdict(list)
        for byte in self.bytes:
            self.holders[byte.row, byte.along].append(byte)

    def fill_at(self, x, y):
        found = [f[4] for f in self.fills[x]
                 if f[0] < x < f[0] + f[2] and f[1] < y < f[1] + f[3]]
        assert len(found) == 1, (x, y, found)
        return found[0]

    def read(self):
        heads = [t for t in self.texts if re.fullmatch(r"\d(: M\d+)?", t.content)
                 and t.anchor == "middle"]
        groups = [(t, int(m[1])) for t in self.texts if t.anchor == "middle"
                  and (m := re.fullmatch(r"[a-z ]+ (\d+)", t.content))]
        numbers = collections.defaultdict(list)
        for t in self.texts:
            if t.anchor == "end" and t.content.isdigit():
                numbers[t.y].append(t)
        by_x = collections.defaultdict(list)
        for head in heads:
            by_x[head.x].append(head)
        for t in self.texts:
            cell = re.fullmatch(r"(\d+)·(\d+)", t.content)
            if not cell:
                continue
            head = max((h for h in by_x[t.x] if h.y < t.y),
                       key=lambda h: h.y)
            top = max(g.y for g, _ in groups if g.y < t.y)
            group = min(((g, n) for g, n in groups if g.y == top),
                        key=lambda each: abs(each[0].x - t.x))[1]
            # From the box to the left, as long as numbers follow each other.
            line, last = [], None
            for number in sorted((n for n in numbers[t.y] if n.x < t.x),
                                 key=lambda n: -n.x):
                if last is not None and last - number.x > 50:
                    break
                line.insert(0, int(number.content))
                last = number.x
            byte, _, mma = head.content.partition(": M")
            yield Byte(tuple(line), group, int(byte), int(cell[1]),
                       int(cell[2]), int(mma) if mma else None,
                       self.fill_at(t.x, t.y - 4), t.x, t.y)

    def at(self, row, along):
        """The one byte that holds it."""
        found = self.holders[row, along]
        assert len(found) == 1, (row, along, found)
        return found[0]
