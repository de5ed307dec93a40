"""Compares what two runs of a bundle left, form by form.

    python3 test/Hardware/compare.py BUNDLE RUN REFERENCE [--all] [--show=N]

Says of each form whether all its results are equal; else how many differ, by how
many units in the last place, and the first of them with their operands.
"""

import argparse
import json
import os
import struct
import zlib

import numpy as np

from kernels import aligned
from values import DTYPES, width

ULP = {2: np.uint16, 4: np.uint32, 8: np.uint64, 1: np.uint8}


class Run:
    """The results of one run, by the number of the launch."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "index.json")) as file:
            self.index = json.load(file)
        self.files = {}

    def data(self, number):
        entry = self.index["results"].get(str(number))
        if entry is None:
            return None
        part, at, size = entry
        path = os.path.join(self.folder, f"results.{part}")
        if not os.path.exists(path):
            return None  # a part that did not come back
        if part not in self.files:
            with open(path, "rb") as file:
                self.files[part] = file.read()
        return zlib.decompress(self.files[part][at:at + size])

    def failure(self, number):
        return self.index["failures"].get(str(number))


def operands(bundle, plan, launch):
    """Columns of a launch of plain forms."""
    if "input" not in launch:
        return []
    pools = launch["input"].split("/")[:-1]
    count = launch["forms"][0][3]
    offset, _ = plan["inputs"][launch["input"]]
    columns = []
    with open(os.path.join(bundle, "inputs.bin"), "rb") as file:
        for pool in pools:
            kind = DTYPES[width(pool)]
            size = np.dtype(kind).itemsize * count
            file.seek(offset)
            columns.append(np.frombuffer(file.read(size), kind))
            offset += aligned(size)
    return columns


def kind_of(name, size):
    """The format of a form's result, where units in the last place mean something."""
    parts = name.replace(" ", ".").split(".")
    for part in reversed(parts):
        if part in ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2"):
            return part
    return None


def distances(a, b):
    """Units in the last place between the bits of two floats of one width."""
    bits = a.dtype.itemsize * 8
    sign = np.int64(1) << (bits - 1) if bits < 64 else None

    def ordered(x):
        if bits == 64:
            y = x.view(np.int64)
            return np.where(y < 0, np.int64(-(2**63) + 0) - y, y).astype(object)
        y = x.astype(np.int64)
        return np.where(y & sign, -(y & ~sign), y)

    return np.abs(ordered(a) - ordered(b))


def report(name, mine, theirs, size, count, columns, show):
    """Lines about the records that differ."""
    lines = []
    a = np.frombuffer(mine, np.uint8)[:size * count].reshape(count, size)
    b = np.frombuffer(theirs, np.uint8)[:size * count].reshape(count, size)
    rows = np.nonzero((a != b).any(axis=1))[0]
    if not len(rows):
        return lines, 0
    text = f"{len(rows)} of {count} differ"
    kind = kind_of(name, size)
    if kind and size in (2, 4, 8):
        unit = np.uint16 if "16" in kind else ULP[size]
        d = distances(a[rows].copy().view(unit).ravel(),
                      b[rows].copy().view(unit).ravel())
        text += f", at most {d.max()} ulp, {int((d <= 1).sum())} by one or none"
    lines.append(text)
    for row in rows[:show]:
        given = " ".join(f"{int(c[row]):#x}" for c in columns)
        wide = lambda x: x[row][::-1].tobytes().hex() if size <= 8 else " ".join(
            f"{v:08x}" for v in np.frombuffer(x[row].tobytes()[:size // 4 * 4], "<u4"))
        lines.append(f"  [{row}] {given} -> {wide(a)} reference {wide(b)}")
    return lines, len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("run")
    parser.add_argument("reference")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--match", default="")
    options = parser.parse_args()
    with open(os.path.join(options.bundle, "plan.json")) as file:
        plan = json.load(file)
    mine, theirs = Run(options.run), Run(options.reference)
    print(f"{mine.index['device']} against {theirs.index['device']}")
    equal = different = 0
    for number, launch in enumerate(plan["launches"]):
        forms = [f for f in launch["forms"] if options.match in f[0]]
        if not forms:
            continue
        a, b = mine.data(number), theirs.data(number)
        if a is None or b is None:
            both = a is None and b is None
            if both:
                equal += 1
            else:
                different += 1
            if not both or options.all:
                print(f"{forms[0][0]}: fails: {mine.failure(number)} reference "
                      f"{theirs.failure(number)}")
            continue
        columns = operands(options.bundle, plan, launch)
        for name, offset, size, count, group in forms:
            if group == "encode":
                encode(launch, a, b)
                continue
            end = offset + size * count
            lines, differs = report(name, a[offset:end], b[offset:end], size, count,
                                    columns, options.show)
            if differs:
                different += 1
                print(f"{name} ({group}): " + "\n".join(lines))
            else:
                equal += 1
                if options.all:
                    print(f"{name}: equal")
    print(f"{equal} forms equal, {different} different")


def encode(launch, a, b):
    for index, case in enumerate(launch["cases"]):
        x, y = (struct.unpack_from("<I", data, 132 * index)[0] for data in (a, b))
        if x != y:
            keep = {k: v for k, v in case.items()}
            print(f"encode {keep}: {x} reference {y}")


if __name__ == "__main__":
    main()
