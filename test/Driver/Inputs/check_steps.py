"""Compares what the machine decodes with what the assigned kernel says.

    check_steps.py ASSIGNED.mlir TRACE K

ASSIGNED.mlir is `compile --emit=assigned` of one product with K elements along K,
TRACE the lines of `verify --trace --num-sms=1`: one CTA walks all tiles. Every
copy of scales and every MMA must come in the order of the kernel, with the
columns, scale ids, shared-memory addresses and types that the assigned ops
give. The layouts are computed here from the definitions of the op attributes.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import math
import re
import sys
from collections import namedtuple

Ring = namedtuple("Ring", "offset stages shape bits swizzle")
View = namedtuple("View", "column type")
Mma = namedtuple("Mma", "fields accumulator a b sfa sfb metadata shifted range "
                 "crosses steps")
Copy = namedtuple("Copy", "ring view word")
Group = namedtuple("Group", "copies mma")

# Bits 61 to 63 of a matrix descriptor, and the stride of eight rows of that
# many bytes, in 16 bytes.
SWIZZLES = {"128B": (2, 8 * 128 // 16), "64B": (4, 8 * 64 // 16)}
NO_SWIZZLE = (0, None)

# Integers by their names in PTX.
PTX_TYPES = {"int8": "s8", "uint8": "u8"}


def numbers(text):
    return {key: int(value)
            for key, value in re.findall(r"(\w+) = (\d+)", text)}


class Kernel:
    """The assigned ops that end up in tensor-core instructions."""

    def __init__(self, text):
        self.rings, self.views, self.groups = {}, {}, []
        copies = []
        for line in text.splitlines():
            if m := re.search(r"(%\w+) = blockscale.shared_alloc "
                              r"offset\((\d+)\) : <([\dx]+)x\w+, "
                              r"container = (\d+)(?:, swizzle = \"(\w+)\")?",
                              line):
                stages, *shape = map(int, m.group(3).split("x"))
                self.rings[m.group(1)] = Ring(int(m.group(2)), stages, shape,
                                              int(m.group(4)),
                                              SWIZZLES.get(m.group(5),
                                                           NO_SWIZZLE))
            elif m := re.search(r"(%\w+) = blockscale.tmem_view %\w+ "
                                r"column\((\d+)\).*-> <(.*)>$", line):
                self.views[m.group(1)] = View(int(m.group(2)), m.group(3))
            elif m := re.search(r"copy_(?:scales|metadata) (%\w+)\[.*?\] to "
                                r"(%\w+)(?: word (\d+))?", line):
                copies.append(Copy(m.group(1), m.group(2),
                                   int(m.group(3) or 0)))
            elif "blockscale.mma" in line:
                self.groups.append(Group(copies, self.parse_mma(line)))
                copies = []

    @staticmethod
    def parse_mma(line):
        m = re.search(r"mma <(.*?)> (%\w+)\[.*?\], (%\w+), (%\w+) stage (.*?)"
                      r"(?:scales (%\w+), (%\w+) )?(?:metadata (%\w+) )?"
                      r"(accumulate .*?)steps \[(.*?)\]", line)
        fields = dict(re.findall(r"(\w+) = (\w+)", m.group(1)))
        steps = [numbers(s) for s in re.findall(r"step<(.*?)>", m.group(10))]
        stage = m.group(5)
        return Mma(fields, *m.group(2, 3, 4, 6, 7, 8), "shift" in m.group(9),
                   numbers(stage), "previous" in stage, steps)

    def ring_address(self, name, number):
        """That of the stage with a number that counts from the kernel's first on:
        rings of scales may be shorter than those of operands."""
        ring = self.rings[name]
        stage = number % ring.stages
        return ring.offset + stage * math.prod(ring.shape) * ring.bits // 8

    def expected_copies(self, group, number):
        """(column, address) of each 512-byte atom of 128 rows and 4 scales, and
        of each 2048-byte tile of 128 rows and 16 bytes of metadata."""
        for copy in group.copies:
            view, shape = self.views[copy.view], self.rings[copy.ring].shape
            if "tmem_metadata" in view.type:
                for tile in range(shape[0]):
                    yield (view.column + tile * 4,
                           self.ring_address(copy.ring, number) + tile * 2048)
                continue
            stride = numbers(view.type)["word_stride"]
            words = int(re.match(r"\d+x(\d+)xi8", view.type).group(1)) // 4
            for rows in range(shape[0]):
                for word in range(shape[1]):
                    place = (copy.word + word) % words
                    yield (view.column + place * stride + rows * 4,
                           self.ring_address(copy.ring, number)
                           + (rows * shape[1] + word) * 512)

    def accumulator_column(self, mma, copy):
        view = self.views[mma.accumulator]
        columns = int(re.match(r"\d+x\d+x(\d+)x[fi]32", view.type).group(1))
        stride = numbers(view.type).get("copy_stride", columns)
        return view.column + copy * stride

    def expected_mmas(self, group, number, copy, column, first):
        mma = group.mma
        tile_n = int(mma.fields["n"])
        shift = column * tile_n % 128 // 32 if mma.shifted else 0
        long = mma.fields["k"] == "96"
        start = number - mma.crosses
        for index, step in enumerate(mma.steps):
            if mma.metadata:
                sparse = {"sparse": "1",
                          "selector": str(step.get("selector", 0)),
                          "metadata": (self.views[mma.metadata].column
                                       + step.get("metadata_column", 0))}
            else:
                sparse = {"sparse": "0"}
            scales = {}
            if mma.sfa:
                scales = {
                    "block": mma.fields["block"],
                    "scale_type": mma.fields["scale"],
                    "scale_id_a": str(step["sfa_id"]),
                    "scale_id_b": str(step["sfb_id"]),
                    "scale_a": self.views[mma.sfa].column + step["sfa_column"],
                    "scale_b": (self.views[mma.sfb].column + step["sfb_column"]
                                + shift),
                }
            yield sparse | scales | {
                "kind": mma.fields["kind"],
                "m": mma.fields["m"], "n": mma.fields["n"],
                "k": mma.fields["k"],
                "a_type": PTX_TYPES.get(mma.fields["a"], mma.fields["a"]),
                "b_type": PTX_TYPES.get(mma.fields["b"], mma.fields["b"]),
                "cta_group": mma.fields.get("cta_group", "1"), "mn_major_a": "0",
                "mn_major_b": "0", "negate_a": "0", "negate_b": "0",
                "accumulate": str(int(not (first and index == 0))),
                "d": self.accumulator_column(mma, copy),
                "a_desc": self.ring_address(mma.a, start) + step["a"],
                "b_desc": self.ring_address(mma.b, start) + step["b"],
                # Where rows continue: an absolute address, or none.
                "a_next": self.ring_address(mma.a, number) if long else None,
                "b_next": self.ring_address(mma.b, number) if long else None,
            }


def start_address(descriptor, swizzle):
    """Where the operand starts; the rest of the descriptor is checked."""
    value = int(descriptor, 16)
    code, stride = swizzle
    if value >> 61 != code:
        sys.exit(f"descriptor {descriptor}: swizzle {value >> 61}, not {code}")
    if value >> 46 & 7 != 1:
        sys.exit(f"descriptor {descriptor}: bits 46 to 48 are not 1")
    if stride and value >> 32 & 0x3FFF != stride:
        sys.exit(f"descriptor {descriptor}: stride {value >> 32 & 0x3FFF}")
    return (value & 0x3FFF) << 4


def next_address(descriptor, base):
    """The address in the LBO field where bit 52 says that it is one."""
    value = int(descriptor, 16)
    return ((value >> 16 & 0x3FFF) << 4) - base if value >> 52 & 1 else None


def read_trace(path):
    events = []
    with open(path) as file:
        for line in file:
            event = dict(re.findall(r"(\w+)=(\S+)", line))
            if event.get("event") in ("cp", "mma"):
                events.append(event)
    return events


def compare(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: assigned {expected}, decoded {found}")


def check_k_tile(kernel, group, events, base, state):
    """Checks the next K tile; how many events it had."""
    number, copy, column, first = state
    stage = number % kernel.rings[group.mma.a].stages
    wanted = sorted(kernel.expected_copies(group, number))
    count = len(wanted)
    compare(f"events of stage {stage}",
            ["cp"] * count + ["mma"] * len(group.mma.steps),
            [e["event"] for e in events[:count + len(group.mma.steps)]])
    copies = sorted((int(e["d"], 16), start_address(e["desc"], NO_SWIZZLE) - base)
                    for e in events[:count])
    compare(f"copies of stage {stage}", wanted, copies)
    for wanted in kernel.expected_mmas(group, number, copy, column, first):
        event = dict(events[count])
        for key in ("d", "scale_a", "scale_b", "metadata"):
            if key in event:
                event[key] = int(event[key], 16)
        for side, ring in (("a", group.mma.a), ("b", group.mma.b)):
            key, swizzle = f"{side}_desc", kernel.rings[ring].swizzle
            event[f"{side}_next"] = next_address(event[key], base)
            event[key] = start_address(event[key], swizzle) - base
        compare(f"event {count} of stage {stage}", wanted,
                {key: event.get(key) for key in wanted})
        count += 1
    return count


def k_tiles_of(kernel, k):
    """The groups of each K tile with the stage that each ends in, and how many
    stages they take. Several groups share a K tile with K = 96."""
    groups = kernel.groups
    tile_k = kernel.rings[groups[0].mma.b].shape[-1]
    if not groups[0].mma.range:
        count = -(-k // tile_k)
        if (k % tile_k != 0) != (len(groups) == 2):
            sys.exit(f"K = {k} in tiles of {tile_k}: {len(groups)} loops")
        return [[(groups[0] if i + 1 < count else groups[-1], 0)]
                for i in range(count)], [1] * count
    ends = [g.mma.range["end"] for g in groups]
    whole = ends.index(768) + 1 if 768 in ends else 0
    tail = groups[whole:]
    if k % 768 != (tail[-1].mma.range["end"] if tail else 0):
        sys.exit(f"K = {k}: the tail ends at {ends[-1]}")
    tiles = [groups[:whole]] * (k // 768) + [tail] * (k % 768 != 0)
    return ([[(g, g.mma.range["part"]) for g in tile] for tile in tiles],
            [tile[-1].mma.range["part"] + 1 for tile in tiles])


def main():
    with open(sys.argv[1]) as file:
        kernel = Kernel(file.read())
    events, k = read_trace(sys.argv[2]), int(sys.argv[3])
    k_tiles, stages = k_tiles_of(kernel, k)
    ring = kernel.rings[kernel.groups[0].mma.a]
    # The window that the rings lie in.
    first = next(e for e in events if e["event"] == "mma")
    base = start_address(first["a_desc"], ring.swizzle) - ring.offset
    tile = done = slot = 0
    while events:
        for i, k_tile in enumerate(k_tiles):
            for j, (group, part) in enumerate(k_tile):
                state = (slot + part, tile % 2, tile, i == 0 and j == 0)
                count = check_k_tile(kernel, group, events, base, state)
                events, done = events[count:], done + count
            slot += stages[i]
        tile += 1
    print(f"{tile} tiles of {len(k_tiles)} K tiles agree: {done} instructions")


if __name__ == "__main__":
    main()
