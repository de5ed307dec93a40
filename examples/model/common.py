"""What the models share: progress, fixtures, the table at the end.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import dataclasses
import importlib.util
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
    save_arrays(name, arrays)


def save_arrays(name, arrays):
    FIXTURES.mkdir(exist_ok=True)
    stored = {}
    for key, value in arrays.items():
        kind = str(value.dtype)
        bits = value.view(f"u{value.dtype.itemsize}") if kind in NARROW else value
        stored[f"{key}:{kind}"] = bits
    np.savez_compressed(FIXTURES / f"{name}.npz", **stored)


def load(name):
    return (FIXTURES / f"{name}.mlir").read_text(), load_arrays(name)


def load_arrays(name):
    arrays = {}
    with np.load(FIXTURES / f"{name}.npz") as stored:
        for label in stored.files:
            key, kind = label.split(":")
            dtype = getattr(ml_dtypes, kind) if kind in NARROW else np.dtype(kind)
            arrays[key] = stored[label].view(dtype)
    return arrays


def array_of(tensor):
    """A tensor of PyTorch in the host's memory."""
    kind = str(tensor.dtype).removeprefix("torch.")
    tensor = tensor.detach().contiguous()
    if kind not in NARROW:
        return tensor.numpy()
    dtype = np.dtype(getattr(ml_dtypes, kind))
    bits = tensor.view({1: sys.modules["torch"].uint8,
                        2: sys.modules["torch"].int16}[dtype.itemsize])
    return bits.numpy().view(dtype)


def from_jax(name, made, options):
    """The import, its arguments and XLA's results: of JAX where it is there, or what
    it made before. made(): the function and its arguments."""
    if options.fixture or not importlib.util.find_spec("jax"):
        print("JAX's program from fixtures/" + ("" if options.fixture else
                                                ", since jax is not installed"))
        text, arrays = load(name)
        expected = arrays.pop("expected")
        imported = bs.from_mlir(text, f"{name}.mlir", options.target)
        return imported, list(arrays.values()), expected
    import jax
    print("JAX's program, lowered now")
    function, arguments = made()
    jitted = jax.jit(function)
    expected = np.asarray(jitted(*arguments))
    inputs = [np.asarray(one) for one in jax.tree.leaves(arguments)]
    lowered = jitted.lower(*arguments)
    if options.write_fixture:
        text = lowered.compiler_ir("stablehlo").operation.get_asm(
            print_generic_op_form=True) + "\n"
        named = {f"a{at:02}": one for at, one in enumerate(inputs)}
        save(name, text, {**named, "expected": expected})
    return bs.from_jax(lowered, target=options.target), inputs, expected


def main(text, name, made, bound, why, more=None):
    """A model of JAX as a command. `more(found, expected)` may say what else there is
    to see. Returns the exit status."""
    options = arguments(text.splitlines()[0], "JAX").parse_args()
    imported, inputs, expected = from_jax(name, made, options)
    return 0 if run_both(imported, inputs, options.target, "output", expected,
                         bound, why, CLOSE, more) else 1


def run_both(imported, inputs, target, name, expected, bound, why, closer,
             more=None):
    """Runs the function with the kernels that are chosen, pairs of CTAs where the chip
    has them, and with kernels of one CTA; prints a table of each. Returns whether both
    results, called `name`, are right."""
    right = True
    for one in [imported] if target.startswith("sm_12") else [
            imported, with_one_cta(imported)]:
        outcome = run(one, inputs, target)
        found, = outcome.results
        right &= report(outcome, epilogues(one, target),
                        [(name, found, expected)], bound, why, closer)
        if more:
            more(found, expected)
        print()
    return right


def with_one_cta(imported):
    """The same with `cta_group = 1` in the schedule of each product: in front of the
    types, which follow the first " : " outside of its clauses."""
    pieces = imported.mlir.split("blockscale.matmul ")
    for at, piece in enumerate(pieces[1:], 1):
        depth, place = 0, 0
        while depth or not piece.startswith(" : ", place):
            depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(piece[place], 0)
            place += 1
        pieces[at] = (f"{piece[:place]} schedule(#blockscale.schedule<"
                      f"cta_group = 1>){piece[place:]}")
    return dataclasses.replace(imported, mlir="blockscale.matmul ".join(pieces))


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


def epilogues(imported, target):
    """What each kernel does behind its sums, by its name."""
    kernels = bs.compile(imported, target, host_duties=True)
    plans = [one.plan for one in (kernels if isinstance(kernels, list)
                                  else [kernels])]
    found = {}
    for kernel in (one for plan in plans for one in plan["kernels"]):
        said = kernel["epilogue"]
        words = ["alpha"] * said["alpha"] + [
            "bias" if "bias" in step["operands"] else step["op"].split(".")[1]
            for step in said.get("steps", []) if step["op"] != "arith.constant"]
        found[kernel["name"]] = ", ".join(words) or "-"
    return found


# Where nothing was rounded otherwise results differ by the order of sums alone.
CLOSE, CLOSE_SHARE = 2.0 ** -16, 0.9


def report(outcome, behind, results, bound, why, closer=CLOSE):
    """Prints launches and, for each (name, found, expected), the error in units
    of the largest magnitude. Returns whether all are within `bound`, and nine of ten
    within `closer`. behind: of `epilogues`."""
    table(["kernel", "grid", "cluster", "mma", "epilogue", "multiply-adds",
           "seconds"],
          [[launch["kernel"], "x".join(map(str, launch["grid"])),
            "x".join(map(str, launch["cluster"])),
            ", ".join(kind for kind, count in
                      launch["counters"]["mmas"].items() if count) or "-",
            behind[launch["kernel"]], launch["counters"]["macs"],
            f"{launch['seconds']:.2f}"] for launch in outcome.launches])
    print()
    rows, is_right = [], True
    for name, found, expected in results:
        found, expected = (np.asarray(one, np.float64) for one in (found, expected))
        if found.shape != expected.shape or not np.isfinite(found).all():
            sys.exit(f"{name}: found {found.shape}, expected {expected.shape}, all "
                     "of them numbers")
        errors = abs(found - expected) / abs(expected).max()
        close = (errors <= closer).mean()
        right = bool(errors.max() <= bound and close >= CLOSE_SHARE)
        is_right = is_right and right
        rows.append([name, "x".join(map(str, found.shape)), found.size,
                     f"{errors.max():.2e}", f"{bound:.2e}", f"{100 * close:.1f} %",
                     "pass" if right else "FAIL"])
    table(["result", "shape", "compared", "largest error", "bound",
           f"within 2^{int(np.log2(closer))}", "verdict"], rows)
    print(f"\n{why}")
    return is_right
