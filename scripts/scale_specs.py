"""Every kind of scale spec as either operand of a product, on every family of chips.

    scripts/scale_specs.py [--only REGEX] [--chips LIST] [--no-runs] [--blockscale PATH]

Prints the table of docs/scale-specs.md: what a kernel multiplies as it is, what is made
dense or cut into two products first ('dense-fallback'), and what is refused, with the
sentence that says why and what would work. What is not refused is compiled for each
chip and, shared out among the chips, run on the emulator against the reference, with
exact data. Exits with 1 if something that compiles does not agree.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

CHIPS = ["sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a"]
ROLES = "AB"
SIZES = {"A": 40, "B": 48}
K = 512

# What the operand is, and what stands beside it; 'itself' where both are alike. The
# first word of each is the element type, the second the spec.
Row = namedtuple("Row", "name operands")
Pair = namedtuple("Pair", "operand other")

FP8, BF8, FP4 = "f8E4M3FN", "f8E5M2", "f4E2M1FN"
FP6, BF6 = "f6E2M3FN", "f6E3M2FN"
NARROW = [FP8, BF8, FP6, BF6, FP4]


def alike(spec, *elements):
    return tuple(Pair(f"{element} {spec}", f"{element} {spec}")
                 for element in elements)


def beside(other, spec, *elements):
    return tuple(Pair(f"{element} {spec}", other) for element in elements)


def codebook(name):
    return f'!blockscale.codebook<"{name}">'


MXFP8 = f"{FP8} e8m0_t32"
ROWS = [
    Row("e8m0_t32", alike("e8m0_t32", *NARROW)),
    Row("e8m0_t16 of e2m1", alike("e8m0_t16", FP4)),
    Row("e8m0_t16 of fp8 and fp6", alike("e8m0_t16", FP8, BF8, FP6, BF6)),
    Row("e8m0_t64 and longer",
        beside(MXFP8, "e8m0_t64", FP8) + beside(MXFP8, "e8m0_t128", FP8) +
        beside(MXFP8, "e8m0_t256", FP8) + alike("e8m0_t64", FP4)),
    Row("e8m0_t4, e8m0_t8", beside(MXFP8, "e8m0_t4", FP8) + alike("e8m0_t8", FP4)),
    Row("e8m0 of squares", beside(MXFP8, "e8m0_t32_t32", FP8, BF6) +
        alike("e8m0_t128_t128", FP4)),
    Row("e8m0_t16_t16 of e2m1", alike("e8m0_t16_t16", FP4)),
    Row("e8m0_t0_t32", beside(MXFP8, "e8m0_t0_t32", FP8)),
    Row("e8m0 and e8m0_t0", alike("e8m0", FP8) + alike("e8m0_t0", FP4, "i8") +
        beside(MXFP8, "e8m0_t0", FP6)),
    Row("e4m3_t16 of e2m1", alike("e4m3_t16", FP4) + alike("e4m3fn_t16", FP4)),
    Row("multi_float32_e4m3_t16 of e2m1", alike("multi_float32_e4m3_t16", FP4) +
        alike("multi_float32_e4m3fn_t16", FP4)),
    Row("multi_float32_e4m3_t16_t16 of e2m1",
        alike("multi_float32_e4m3_t16_t16", FP4)),
    Row("multi_float32_e4m3_t16 of fp8 and fp6",
        alike("multi_float32_e4m3_t16", FP8, BF8, FP6, BF6)),
    Row("float16, bfloat16 and e5m3 of tiles",
        alike("float16_t32", FP8) + alike("bfloat16_t64", FP6) +
        alike("e5m3fn_t32", FP8) + alike("e5m3fn_t16", FP4)),
    Row("float32", alike("float32", FP8, BF8, FP4, "i8")),
    Row("float32_t0", alike("float32_t0", FP8, BF8, FP6, FP4, "i8")),
    Row("float32 of rows of tiles", alike("float32_t32_t0", FP8) +
        alike("float32_t128_t0", BF8)),
    Row("float32_t128 beside squares", beside(f"{FP8} float32_t128_t128",
                                              "float32_t128", FP8)),
    Row("float32 of other tiles", alike("float32_t32", FP8) +
        alike("float32_t64", BF8) + alike("float32_t256", FP4) +
        alike("float32_t16", FP8) + alike("float32_t8", FP8)),
    Row("float32_t0_t128, along K alone", beside(f"{FP8} float32_t0",
                                                 "float32_t0_t128", FP8)),
    Row("MXINT8", alike("e8m0_t32", "i8")),
    Row("MXINT4", alike("e8m0_t32", "i4") + beside(MXFP8, "e8m0_t32", "i4")),
    Row("int4 and int8 under float tiles", alike("float32_t64", "i4", "i8") +
        beside(f"{FP8} float32_t128", "float32_t128", "i4", "i8")),
    Row("uint4 less zero points", beside(f"{FP8} float32_t0", "float32_int8_t128",
                                         "ui4") +
        beside("bf16", "float16_float16_t64", "ui4") +
        beside(f"{FP8}", "e4m3fn_int8_t32", "ui4")),
    Row("uint8 less zero points", beside(f"{FP8} float32_t0", "float32_int16_t128",
                                         "ui8") +
        beside("bf16", "float32_float32_t0", "ui8") +
        beside(f"{FP8}", "e4m3fn_float32_t32", "ui8")),
    Row("fnuz", alike("e8m0_t32", "f8E4M3FNUZ", "f8E5M2FNUZ") +
        beside(MXFP8, "e8m0_t32", "f8E4M3FNUZ")),
    Row("e4m3 with infinities", beside(MXFP8, "e8m0_t32", "f8E4M3")),
    Row("codebooks", beside(MXFP8, "e8m0_t32s4", codebook("cb41f01_e2m2fnuz")) +
        beside(MXFP8, "e8m0_t32s8", codebook("cb42fe0123_e3m2fnuz")) +
        beside(f"{FP4} e8m0_t16", "e8m0_t16s2", codebook("cb31ie_int5")) +
        beside(f"{FP8} e8m0_t16", "e8m0_t16s2", codebook("cb81ie_int9"))),
    Row("n2m4 beside tiles of as many elements",
        beside(f"{FP8} e8m0_t64", "e8m0_t32n2m4", *NARROW) +
        beside(f"{FP8}", "float32_t0n2m4", FP8) + beside("bf16", "n2m4", "bf16") +
        beside("i8", "n2m4", "i8")),
    Row("n2m4 beside shorter tiles", beside(MXFP8, "e8m0_t32n2m4", FP8, FP4)),
    Row("n4m8 of e2m1 in pairs", beside(f"{FP4} e8m0_t64", "e8m0_t32n4m8", FP4) +
        beside(f"{FP4} e4m3fn_t32", "e4m3fn_t16n4m8", FP4)),
    Row("n2m4 of e2m1 under e4m3", beside(f"{FP4} e4m3fn_t32", "e4m3fn_t16n2m4",
                                          FP4)),
    Row("n1m2", beside(f"{FP8} e8m0_t64", "e8m0_t32n1m2", FP8, FP4) +
        beside("tf32", "n1m2", "tf32")),
    Row("n1m4 and what keeps as little",
        beside(f"{FP8} e8m0_t64", "e8m0_t16n1m4", FP8, BF6) +
        beside(f"{FP4} e4m3fn_t32", "e4m3fn_t16n1m4", FP4) +
        beside(f"{FP8} e8m0_t64", "e8m0_t16n2m8", FP8) +
        beside("tf32", "n1m4", "tf32") + beside("i8", "n2m16", "i8")),
    Row("n4m8, n8m16, n3m4 of single elements",
        beside(f"{FP8} e8m0_t64", "e8m0_t32n4m8", FP8, FP6) +
        beside(f"{FP4} e8m0_t64", "e8m0_t32n8m16", FP4) +
        beside(f"{FP4} e4m3fn_t32", "e4m3fn_t32n8m16", FP4) +
        beside(f"{FP8} float32_t0", "float32_t0n3m4", FP8) +
        beside("i8", "n4m8", "i8") + beside("bf16", "n3m4", "bf16") +
        beside(f"{FP8} float32_t128", "float32_t64n4m8", FP8) +
        beside("tf32", "n2m4", "tf32")),
    Row("zero points of sparse elements",
        beside(f"{FP8} float32_t128", "float32_int8_t64n2m4", "ui4") +
        beside(f"{FP8} float32_t128", "float32_int16_t64n2m4", "ui8") +
        beside("f16", "float32_int8_t0n1m4", "ui4")),
    Row("zero points in real units of sparse elements",
        beside(f"{FP8} float32_t128", "float32_float32_t64n2m4", "ui4", "ui8") +
        beside(f"{FP8} float32_t128", "float32_float16_t64n4m8", "ui4", "ui8")),
    Row("both sparse", alike("e8m0_t32n2m4", FP8)),
]

# One operand of one function: a row, the place among its operands, and the role.
Case = namedtuple("Case", "row number role")


def cases(rows):
    return [Case(row, number, role) for row in rows
            for number, pair in enumerate(row.operands) for role in ROLES
            if role == "A" or pair.operand != pair.other]


def layouts(operand):
    """What the scales and metadata may lie in: what instructions read is named first."""
    spec = operand.partition(" ")[2]
    is_sparse = re.search(r"n\d+m\d+$", spec)
    has_bytes = re.match(r"(multi_float32_)?(e8m0|e4m3|e4m3fn|e5m3fn)_", spec)
    is_tile = re.search(r"_t[1-9]\d*(s\d+)?(n\d+m\d+)?$", spec)
    tiled = ", layout = tiled_128x4"
    if is_sparse:
        return [tiled]
    return [tiled, ""] if has_bytes and is_tile else [""]


def type_of(operand, rows, layout):
    element, _, spec = operand.partition(" ")
    spec = f', "{spec}"' if spec else ""
    return f"!blockscale.tensor<{rows}x{K}x{element}{spec}{layout}>"


def function(case, name, chip, chosen, is_whole=False):
    """With `is_whole` it does more than a kernel does, so that `verify` calls it."""
    pair = case.row.operands[case.number]
    order = pair if case.role == "A" else (pair.other, pair.operand)
    a, b = (type_of(one, rows, layout)
            for one, rows, layout in zip(order, SIZES.values(), chosen))
    element = "i32" if all(re.fullmatch(r"u?i8( n.*)?", one) for one in order) else "f32"
    d = f"tensor<{SIZES['A']}x{SIZES['B']}x{element}>"
    behind = ""
    if is_whole:
        behind = (f"  %1 = arith.addi %0, %0 : {d}\n" if element == "i32" else
                  f"  %1 = arith.negf %0 : {d}\n")
    return (f"func.func @{name}(%a: {a}, %b: {b}) -> {d} {{\n"
            f"  %0 = blockscale.matmul %a, %b {{blockscale.target = "
            f"#blockscale.target<{chip}>}} : {a}, {b} -> {d}\n{behind}"
            f"  return %{1 if is_whole else 0} : {d}\n}}\n")


class Candidates:
    """The functions of all cases for a chip, one for each layout that may do."""

    def __init__(self, all_cases, chip):
        self.chip = chip
        self.of = {}
        for place, case in enumerate(all_cases):
            pair = case.row.operands[case.number]
            order = pair if case.role == "A" else (pair.other, pair.operand)
            self.of[case] = [
                (f"f{place}_{i}", chosen) for i, chosen in enumerate(
                    itertools.product(*map(layouts, order)))]

    def legalize(self, program):
        """What becomes of each function: its text, or the reason of a refusal."""
        chunks, starts, line = [], [], 1
        for case, candidates in self.of.items():
            for name, chosen in candidates:
                text = function(case, name, self.chip, chosen)
                starts.append((line, name))
                chunks.append(text)
                line += text.count("\n") + 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.mlir")
            with open(path, "w") as file:
                file.write("// -----\n".join(chunks))
            done = subprocess.run(
                [program, path, "-split-input-file",
                 "-blockscale-legalize-scales=dense-fallback"],
                capture_output=True, text=True)
        texts = {name: body for name, body in re.findall(
            r"func\.func @(\w+)(.*?)\n  }\n", done.stdout, re.DOTALL)}
        reasons = {}
        for number, reason in re.findall(r"rows\.mlir:(\d+):\d+: error: (.*)",
                                         done.stderr):
            name = [name for start, name in starts if start <= int(number)][-1]
            reasons.setdefault(name, re.sub(r"^'blockscale.matmul' op ", "", reason))
        return texts, reasons


Outcome = namedtuple("Outcome", "kind reason name layouts")


def kind_of(text):
    if text.count("blockscale.matmul") > 1:
        return "two products"
    return "dense" if "blockscale.densify" in text else "kernel"


def outcomes(all_cases, chip, program):
    candidates = Candidates(all_cases, chip)
    texts, reasons = candidates.legalize(program)
    found = {}
    for case, functions in candidates.of.items():
        made = [(kind_of(texts[name]), name, chosen)
                for name, chosen in functions if name in texts]
        # What is multiplied as it is counts for more than what is made dense.
        made.sort(key=lambda one: ["kernel", "two products", "dense"].index(one[0]))
        if made:
            kind, name, chosen = made[0]
            found[case] = Outcome(kind, None, name, chosen)
        else:
            name, chosen = functions[0]
            found[case] = Outcome("refused", reasons.get(name, "no reason given"), name,
                                  chosen)
    return found


def write(path, all_cases, of_chip, chip):
    with open(path, "w") as file:
        file.write("\n".join(
            function(case, of_chip[case].name, chip, of_chip[case].layouts,
                     of_chip[case].kind != "kernel")
            for case in all_cases if of_chip[case].kind != "refused"))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stdout + done.stderr


def compile_all(program, all_cases, of_chip, chip):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.mlir")
        write(path, all_cases, of_chip, chip)
        code, _, said = run([program, "compile", "--no-cubin", "--dense-fallback",
                             "--host-duties", f"--target={chip}", "-o", folder, path])
    return [f"{chip}: {said}"] if code else []


def verify_share(program, all_cases, of_chip, chip):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.mlir")
        write(path, all_cases, of_chip, chip)
        code, table, said = run(
            [program, "verify", "--dense-fallback", f"--target={chip}", "--data=exact",
             "--conditions=plain", "--num-sms=8", "--threads=1", path])
    kernels, _, functions = table.partition("\nfunction ")

    def agrees(outcome):
        lines = kernels if outcome.kind == "kernel" else functions
        return re.search(rf"^{outcome.name}\b.*\bpass\b", lines, re.MULTILINE)

    missing = [case for case in all_cases if of_chip[case].kind != "refused" and
               not agrees(of_chip[case])]
    return [f"{chip}: {case.row.name}, {case.row.operands[case.number]}, {case.role}"
            for case in missing] + ([f"{chip}: {said}"] if code else [])


def runs(program, all_cases, found, chips):
    """Compiles all for each chip; of what runs each chip has a share."""
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, chip in enumerate(chips):
            jobs.append(pool.submit(compile_all, program, all_cases, found[chip], chip))
            jobs.append(pool.submit(verify_share, program, all_cases[i::len(chips)],
                                    found[chip], chip))
        return [error for job in jobs for error in job.result()]


def print_table(all_cases, found, chips):
    """Operands that do the same as A and as B share a line, and so do sentences that
    differ in the operand or in the chip alone."""
    reasons, lines = {}, {}

    def cell(outcome, chip):
        if outcome.kind != "refused":
            return outcome.kind
        same = re.sub(r"(operand|sparse) '[ab]'", r"\1 'a'", outcome.reason)
        same = re.sub(r" \((mma\.sync|source: [^)]*)\)", "", same.replace(chip, "CHIP"))
        same = re.sub(r"expected mxf4 or mxf4nvf4 [^;]*", "expected others", same)
        number = reasons.setdefault(same, (len(reasons) + 1, outcome.reason))[0]
        return f"no [{number}]"

    for case in all_cases:
        pair = case.row.operands[case.number]
        cells = tuple(cell(found[chip][case], chip) for chip in chips)
        roles = "A, B" if pair.other == pair.operand else case.role
        lines.setdefault((case.row.name, pair, cells), []).append(roles)
    print("| row | operand | beside | as |", " | ".join(chips), "|")
    print("|---|---|---|---|" + "---|" * len(chips))
    for (name, pair, cells), roles in lines.items():
        other = "itself" if pair.other == pair.operand else f"`{pair.other}`"
        print(f"| {name} | `{pair.operand}` | {other} | {', '.join(roles)} |",
              " | ".join(cells), "|")
    print()
    for number, reason in reasons.values():
        print(f"{number}. {reason}")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--no-runs", action="store_true")
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    options = parser.parse_args()
    rows = [row for row in ROWS if re.search(options.only, row.name)]
    all_cases, chips = cases(rows), options.chips.split(",")
    opt = options.blockscale + "-opt"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(chips, pool.map(lambda chip: outcomes(all_cases, chip, opt),
                                         chips)))
    print_table(all_cases, found, chips)
    if options.no_runs:
        return
    errors = runs(options.blockscale, all_cases, found, chips)
    print("\n".join(errors), file=sys.stderr)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
