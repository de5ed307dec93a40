"""What the models share: progress, fixtures, the table at the end.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import pathlib
import sys
import time

import ml_dtypes
import numpy as np

import blockscale as bs

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
# Names of types that .npz files do not know; their elements are stored as bytes.
NARROW = ("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn", "bfloat16")


class Progress:
    """One line for what is being done; on a terminal it is drawn over."""

    def __init__(self, stream=sys.stderr):
        self.stream, self.live = stream, stream.isatty()
        self.start, self.step, self.count, self.drawn = time.monotonic(), "", 0, 0

    def begin(self, step, unit):
        self.count += 1
        self.step = f"launch {self.count}, {step}"
        if not self.live:
            print(f"  {self.step}", file=self.stream)

    def __call__(self, done, total):
        if not self.live:
            return
        filled = 24 * done // max(total, 1)
        line = (f"  {self.step} [{'#' * filled}{'.' * (24 - filled)}] {done} of "
                f"{total} clusters, {time.monotonic() - self.start:.0f} s")
        self.stream.write("\r" + line.ljust(self.drawn))
        self.stream.flush()
        self.drawn = len(line)

    def close(self):
        if self.live:
            self.stream.write("\r" + " " * self.drawn + "\r")


def arguments(text, producer):
    """The command line that all models have."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--fixture", action="store_true",
                        help=f"take what {producer} made before from fixtures/")
    parser.add_argument("--write-fixture", action="store_true",
                        help=f"write what {producer} makes to fixtures/")
    parser.add_argument("--target", default="", help="chip, such as sm_103a")
    return parser


def save(name, mlir, arrays):
    """A program as text, and its arrays by name."""
    FIXTURES.mkdir(exist_ok=True)
    (FIXTURES / f"{name}.mlir").write_text(mlir)
    stored = {}
    for key, value in arrays.items():
        kind = str(value.dtype)
        bits = value.view(f"u{value.dtype.itemsize}") if kind in NARROW else value
        stored[f"{key}:{kind}"] = bits
    np.savez_compressed(FIXTURES / f"{name}.npz", **stored)


def load(name):
    arrays = {}
    with np.load(FIXTURES / f"{name}.npz") as stored:
        for label in stored.files:
            key, kind = label.split(":")
            dtype = getattr(ml_dtypes, kind) if kind in NARROW else np.dtype(kind)
            arrays[key] = stored[label].view(dtype)
    return (FIXTURES / f"{name}.mlir").read_text(), arrays


def run(imported, inputs, target=""):
    """The function on our kernels, which the emulator runs."""
    print("compiling", file=sys.stderr)
    program = bs.Program(imported, target)
    print("running", file=sys.stderr)
    progress = Progress()
    try:
        return program.run(*inputs, progress=progress)
    finally:
        progress.close()


def table(head, rows):
    """Columns as wide as they need to be."""
    rows = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in
                        zip(row, widths)).rstrip())


def report(outcome, results, bound, why):
    """Prints launches and, for each (name, found, expected), the error in units
    of the largest magnitude. Returns whether all are within `bound`."""
    table(["kernel", "grid", "cluster", "mma", "multiply-adds", "seconds"],
          [[launch["kernel"], "x".join(map(str, launch["grid"])),
            "x".join(map(str, launch["cluster"])),
            ", ".join(kind for kind, count in
                      launch["counters"]["mmas"].items() if count) or "-",
            launch["counters"]["macs"], f"{launch['seconds']:.2f}"]
           for launch in outcome.launches])
    print()
    rows, is_right = [], True
    for name, found, expected in results:
        found, expected = (np.asarray(one, np.float64) for one in (found, expected))
        if found.shape != expected.shape or not np.isfinite(found).all():
            sys.exit(f"{name}: found {found.shape}, expected {expected.shape}, all "
                     "of them numbers")
        worst = abs(found - expected).max() / abs(expected).max()
        right = worst <= bound
        is_right = is_right and bool(right)
        rows.append([name, "x".join(map(str, found.shape)), found.size,
                     f"{worst:.2e}", f"{bound:.2e}", "pass" if right else "FAIL"])
    table(["result", "shape", "compared", "largest error", "bound", "verdict"], rows)
    print(f"\n{why}")
    return is_right
