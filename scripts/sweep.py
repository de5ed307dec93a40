"""Compiles and assembles the families of tcgen05 and of mma.sync, dense and
sparse; prints a table.

    scripts/sweep.py [--reduced] [--chips LIST] [--jobs N] [--blockscale PATH]

Kinds, type mixes, scale types and blocks, chips, tile widths and epilogues; each
chip and type mix is one module, so that ptxas starts once for all its kernels.
The epilogue changes from one width to the next; e4m3 x e4m3 and e2m1 x e2m1 take
every epilogue at one width besides. Pairs of CTAs take widths of their own,
clusters come in several shapes, with both schedulers. --reduced takes N at its
ends and at odd steps, and one pair and one cluster for each type mix, each on one
of the chips with or without tensor memory that have the mix. Exits with 1 if a
kernel is not compiled or not assembled, or spills.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple

import legality

NARROW = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]

# `b_spec` is the spec of B where it is not that of A: the scales of a sparse A
# count kept elements, those of B all of them. `k` is that of an instruction
# where it is not the kind's ordinary one.
Mix = namedtuple("Mix", "kind a b spec b_spec k", defaults=[None, None])
MIXES = [Mix("mxf8f6f4", a, b, "e8m0_t32")
         for a, b in itertools.product(NARROW, NARROW)]
MIXES += [
    Mix("mxf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e4m3fn_t16"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "multi_float32_e4m3fn_t16"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t16"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e5m3fn_t16"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e5m3fn_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e4m3fn_t32"),
]
MIXES += [Mix("mxf8f6f4", a, b, "e8m0_t32n2m4", "e8m0_t64")
          for a, b in itertools.product(NARROW, NARROW)]
MIXES += [
    Mix("mxf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t32n4m8", "e8m0_t64"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e4m3fn_t16n4m8", "e4m3fn_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "multi_float32_e4m3fn_t16n4m8",
        "multi_float32_e4m3fn_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t16n4m8", "e8m0_t32"),
    Mix("mxf4nvf4", "f4E2M1FN", "f4E2M1FN", "e8m0_t32n4m8", "e8m0_t64"),
]

# Without scales, which is lowered for chips with tensor memory.
UNSCALED_MIXES = [Mix("f8f6f4", a, b, "n2m4", "")
                  for a, b in itertools.product(NARROW, NARROW)]
UNSCALED_MIXES += [
    Mix("f16", "f16", "f16", "n2m4", ""),
    Mix("f16", "bf16", "bf16", "n2m4", ""),
    Mix("tf32", "tf32", "tf32", "n1m2", ""),
]
INTEGER_MIXES = [Mix("i8", a, b, "n2m4", "")
                 for a, b in itertools.product(("i8", "ui8"), repeat=2)]

# K = 96.
LONG_MIXES = [
    Mix(kind, "f4E2M1FN", "f4E2M1FN", spec, k=96)
    for kind, spec in (("mxf4", "e8m0_t32"), ("mxf4nvf4", "e4m3fn_t16"),
                       ("mxf4nvf4", "e8m0_t16"), ("mxf4nvf4", "e8m0_t32"))]
# Whole K tiles of 768; ends of K = 64, of zero fill, in each of the three stages
# of a K tile; and any.
LONG_KS = [1536, 1024, 1248, 1504, 928, 1376, 1440, "?"]

# Name, type of D, extra operands as (name, type), text after the operands.
# {n} is the number of columns.
Epilogue = namedtuple("Epilogue", "name d operands clauses")
EPILOGUES = [
    Epilogue("f32", "f32", [], ""),
    Epilogue("bf16", "bf16", [], ""),
    Epilogue("f16", "f16", [], ""),
    Epilogue("alpha", "f32", [("s", "f32")], "alpha(%s)"),
    Epilogue("beta", "f32", [("s", "f32"), ("c", "tensor<?x{n}xf32>")],
             "beta(%s) c(%c)"),
    Epilogue("bias", "bf16", [("v", "tensor<{n}xf32>")], "bias(%v)"),
    Epilogue("bias_row", "f32", [("v", "tensor<?xf32>")], "bias(%v) row"),
    Epilogue("relu", "f16", [], "activation(relu)"),
    Epilogue("gelu", "bf16", [], "activation(gelu)"),
    Epilogue("silu", "f32", [], "activation(silu)"),
    Epilogue("all", "bf16",
             [("s", "f32"), ("t", "f32"), ("c", "tensor<?x{n}xbf16>"),
              ("v", "tensor<{n}xbf16>")],
             "alpha(%s) beta(%t) c(%c) bias(%v) activation(silu)"),
]

# Columns of the product and the tile: one tile takes each multiple of 8;
# several share the 128-row groups of scales at multiples of 64.
Width = namedtuple("Width", "tile columns")
FULL = [Width(n, n) for n in range(8, 257, 8)]
FULL += [Width(n, columns) for n in (64, 128, 192, 256)
         for columns in (3 * n - 8, "?")]
REDUCED = [Width(n, n) for n in (8, 24, 104, 136, 248, 256)]
REDUCED += [Width(64, "?"), Width(192, 568), Width(256, 760)]
# Chips without tensor memory have four tiles, and no shared groups to mind.
WARP_FULL = [Width(n, columns) for n in (16, 32, 64, 128)
             for columns in (n, 3 * n - 8, "?")]
WARP_REDUCED = [Width(16, 16), Width(64, "?"), Width(128, 376)]

# How CTAs work together: the name of the table's rows and the schedule's text.
Form = namedtuple("Form", "name schedule")
SINGLE = Form("CTA", "")
PAIR = Form("pair", ", cta_group = 2")
PAIR_WIDTHS = [Width(n, n) for n in range(16, 257, 16)] + [
    Width(64, 184), Width(128, "?"), Width(192, 568), Width(256, "?")]
CLUSTERS = [(Form("cluster", ", " + schedule), Width(*width))
            for schedule, width in [
    ("cluster_m = 2", (256, "?")),
    ("cluster_m = 4, scheduler = dynamic", (128, 376)),
    ("cluster_n = 4, dependent_launch = true", (192, "?")),
    ("cluster_m = 8", (72, 72)),
    ("cluster_m = 2, cluster_n = 2", (128, "?")),
    ("cluster_m = 4, cluster_n = 4", (64, "?")),
    ("cta_group = 2, cluster_m = 4, cluster_n = 2", (256, 760)),
    ("cta_group = 2, cluster_n = 4, scheduler = dynamic, "
     "dependent_launch = true", (192, 568)),
    ("cta_group = 2, cluster_m = 8, cluster_n = 2", (128, "?"))]]
Case = namedtuple("Case", "mix width epilogue k form")


def chips():
    """Every architecture-specific target, and a family target of the chips
    without tensor memory."""
    names = legality.chips() + legality.chips("f", family="mma.sync")[:1]
    return sorted(names, key=lambda name: (not legality.has_tensor_memory(name),
                                           name))


def scale_of(mix):
    """Format of the scales and the number in the instruction's block."""
    if is_unscaled(mix):
        return None, 0
    name, tile = mix.spec.rsplit("_t", 1)
    scale = {"e8m0": "ue8m0", "e5m3fn": "ue5m3"}.get(name, "ue4m3")
    return scale, int(tile.split("n")[0])


def is_legal(chip, mix):
    """Whether the chip has an instruction for the mix."""
    scale, block = scale_of(mix)
    fields = {"k": mix.k} if mix.k else {}
    return legality.has(chip, kind=mix.kind, scale=scale, block=block,
                        sparse=mix.b_spec is not None, **fields)


def mixes_of(chip):
    """The mixes that the chip has an instruction for, with their numbers."""
    return [(i, mix) for i, mix in enumerate(
        MIXES + LONG_MIXES + UNSCALED_MIXES + INTEGER_MIXES) if is_legal(chip, mix)]


def share_of(chip, mix_index, mix, cases):
    """What one chip has of the cases of a mix, which are shared out among the chips
    like it; one at least."""
    alike = [other for other in chips() if is_legal(other, mix)
             and legality.has_tensor_memory(other) == legality.has_tensor_memory(chip)]
    place = (mix_index + alike.index(chip)) % len(alike)
    return cases[place::len(alike)] or [cases[place % len(cases)]]


def long_cases_of(mix_index, mix, widths):
    """K = 96 takes N in steps of 16. Every width comes with another end of K."""
    tiles = sorted({w.tile // 16 * 16 for w in widths if w.tile >= 16})
    widths = [Width(n, n) for n in tiles]
    widths += [Width(n, "?") for n in (64, 192, 256)]
    forms = [(SINGLE, width) for width in widths]
    forms += [(PAIR, width) for width in widths]
    for i, (form, width) in enumerate(forms):
        epilogue = EPILOGUES[(mix_index + i) % len(EPILOGUES)]
        k = LONG_KS[(mix_index + i) % len(LONG_KS)]
        yield Case(mix, width, epilogue, k, form)


def is_unscaled(mix):
    return mix.b_spec == ""


def unscaled_cases_of(mix_index, mix, reduced):
    """N goes in steps of 16, of pairs in steps of 32; no groups of scales mind
    where a tile starts."""
    if reduced:
        forms = [(SINGLE, Width(16 * (mix_index % 16 + 1), "?")),
                 (SINGLE, Width(176, 520)), (PAIR, Width(224, 664))]
    else:
        forms = [(SINGLE, Width(n, columns)) for n in range(16, 257, 16)
                 for columns in (n, "?")]
        forms += [(PAIR, Width(n, columns)) for n in range(32, 257, 32)
                  for columns in (n, "?")]
        forms += [(form, width) for form, width in CLUSTERS
                  if width.tile % 64 == 0]
    for i, (form, width) in enumerate(forms):
        epilogue = EPILOGUES[(mix_index + i) % len(EPILOGUES)]
        yield Case(mix, width, epilogue, 1064 if i % 3 == 2 else 1024, form)


def cases_of(chip, mix_index, mix, reduced):
    """What to compile of one mix. K = 1056 and 1088 end inside a K tile. A
    sparse A changes the main loop, but not what the epilogue makes of it."""
    widths = REDUCED if reduced else FULL
    if is_unscaled(mix):
        yield from unscaled_cases_of(mix_index, mix, reduced)
        return
    if mix.k:
        yield from long_cases_of(mix_index, mix, widths)
        return
    together = [(PAIR, width) for width in PAIR_WIDTHS]
    if not legality.has_tensor_memory(chip):
        widths = WARP_REDUCED if reduced else WARP_FULL
        together = []
    elif reduced:
        together = [together[mix_index % len(together)],
                    CLUSTERS[mix_index % len(CLUSTERS)]]
        if mix.b_spec:
            together = together if mix_index % 3 == 0 else []
    else:
        together += CLUSTERS
    tail = 1088 if mix.b_spec else 1056
    forms = [(SINGLE, width) for width in widths] + together
    # Of few widths, too, each has a tail of some mix.
    first = mix_index // 3 if not legality.has_tensor_memory(chip) else 0
    for i, (form, width) in enumerate(forms, first):
        epilogue = EPILOGUES[(mix_index + i) % len(EPILOGUES)]
        yield Case(mix, width, epilogue, tail if i % 3 == 2 else 1024, form)
    if reduced and not legality.has_tensor_memory(chip):
        return
    if not mix.b_spec and mix.a == mix.b and mix.a in ("f8E4M3FN", "f4E2M1FN"):
        for epilogue in EPILOGUES:
            yield Case(mix, Width(128, 384), epilogue, 1024, SINGLE)


# What one process compiles: all cases of one mix on one chip.
Module = namedtuple("Module", "chip mix cases")


def modules(chips, reduced):
    for chip in chips:
        for i, mix in mixes_of(chip):
            cases = list(cases_of(chip, i, mix, reduced))
            if reduced:
                cases = share_of(chip, i, mix, cases)
            yield Module(chip, mix, cases)


def instruction(mix):
    scale, block = scale_of(mix)
    a_name, b_name = (t[2:].split("FN")[0].lower() for t in (mix.a, mix.b))
    return (f"mma(<kind = {mix.kind}, a = {a_name}, b = {b_name}, "
            f"scale = {scale}, block = {block}>)")


def function(name, case):
    n, k, mix = case.width.columns, case.k, case.mix
    a = f'!blockscale.tensor<?x{k}x{mix.a}, "{mix.spec}", layout = tiled_128x4>'
    b = (f'!blockscale.tensor<{n}x{k}x{mix.b}, "{mix.b_spec or mix.spec}", '
         "layout = tiled_128x4>")
    if is_unscaled(mix):
        b = f"!blockscale.tensor<{n}x{k}x{mix.b}>"
    extra = [(x, t.format(n=n)) for x, t in case.epilogue.operands]
    arguments = "".join(f", %{x}: {t}" for x, t in extra)
    types = "".join(f", {t}" for x, t in extra if x in "cv")
    mma = "" if is_unscaled(mix) else instruction(mix)
    d = f"tensor<?x{n}x{case.epilogue.d}>"
    return (f"func.func @{name}(%a: {a}, %b: {b}{arguments}) -> {d} {{\n"
            f"  %d = blockscale.matmul %a, %b {case.epilogue.clauses} {mma} "
            f"schedule(#blockscale.schedule<tile_n = {case.width.tile}, "
            f"{f'mma_k = {mix.k}, ' if mix.k else ''}swap_operands = false"
            f"{case.form.schedule}>) : {a}, {b}{types} -> {d}\n"
            f"  return %d : {d}\n}}\n")


class Result:
    def __init__(self):
        self.kernels = self.compiled = self.assembled = 0
        self.registers = self.spilled = 0
        self.errors = []

    def add(self, other):
        self.kernels += other.kernels
        self.compiled += other.compiled
        self.assembled += other.assembled
        self.registers = max(self.registers, other.registers)
        self.spilled += other.spilled
        self.errors += other.errors


def compile_module(blockscale, chip, folder, cases, flags=()):
    """The output of one process; its report, or None if it failed."""
    path = os.path.join(folder, "k.mlir")
    with open(path, "w") as file:
        for i, case in enumerate(cases):
            file.write(function(f"k{i}", case))
    done = subprocess.run(
        [blockscale, "compile", f"--target={chip}", "-o", folder, *flags, path],
        capture_output=True, text=True)
    if done.returncode:
        return done.stderr, None
    with open(os.path.join(folder, "k.report.json")) as file:
        return done.stderr, json.load(file)


def title(chip, mix):
    return (f"{chip} {mix.kind} {mix.a} x {mix.b} {mix.spec} {family(mix)}")


def describe(chip, case):
    return (f"{title(chip, case.mix)} tile_n {case.width.tile} of {case.width.columns} "
            f"K {case.k} {case.epilogue.name}{case.form.schedule}")


def sweep(blockscale, chip, cases):
    """Results of the cases by the name of their form."""
    results = {case.form.name: Result() for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        errors, report = compile_module(blockscale, chip, folder, cases)
        if report is None and len(cases) > 1:
            for case in cases:
                for form, result in sweep(blockscale, chip, [case]).items():
                    results[form].add(result)
            return results
        for case in cases:
            results[case.form.name].kernels += 1
        if report is None:
            result = results[cases[0].form.name]
            result.errors.append(f"{describe(chip, cases[0])}: {errors}")
            _, report = compile_module(blockscale, chip, folder, cases,
                                       ["--no-cubin"])
            result.compiled = int(report is not None)
            return results
    for kernel in report["kernels"]:
        case = cases[int(kernel["name"][1:])]
        result = results[case.form.name]
        result.compiled += 1
        result.assembled += 1
        result.registers = max(result.registers, kernel["registers"])
        if kernel["kind"] != case.mix.kind:
            result.errors.append(
                f"{describe(chip, case)}: compiled for {kernel['kind']}")
        if (kernel["spill_store_bytes"] or kernel["spill_load_bytes"]
                or kernel["stack_bytes"]):
            result.spilled += 1
            result.errors.append(f"{describe(chip, case)}: spills "
                                 f"{kernel['spill_store_bytes']} bytes")
    return results


def family(mix):
    if mix.k:
        return f"{mix.kind} K = {mix.k}"
    return mix.kind if mix.b_spec is None else mix.kind + " sparse"


def print_table(results):
    print("| chip | kind | form | kernels | compiled | assembled "
          "| most registers | spilling |")
    print("|---|---|---|---|---|---|---|---|")
    for (chip, kind, form), r in sorted(results.items()):
        print(f"| {chip} | {kind} | {form} | {r.kernels} | {r.compiled} | {r.assembled} "
              f"| {r.registers} | {r.spilled} |")


def print_widths(where, widths):
    """What the run covers, in words."""
    one = [str(w.tile) for w in widths if w.columns == w.tile]
    several = [f"{w.tile} of {'any' if w.columns == '?' else w.columns}"
               for w in widths if w.columns != w.tile]
    print(f"Tile widths {where} tensor memory, of products of one tile: "
          f"{', '.join(one)}; of several, with their columns: "
          f"{', '.join(several)}.\n")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--reduced", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    parser.add_argument("--chips", type=lambda names: names.split(","))
    options = parser.parse_args()
    legality.use(options.blockscale)
    options.chips = options.chips or chips()
    unknown = sorted(set(options.chips) - set(chips()))
    if unknown:
        parser.error(f"unknown chips: {', '.join(unknown)}; "
                     f"expected some of {', '.join(chips())}")
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {
            pool.submit(sweep, options.blockscale, module.chip, module.cases):
                (module.chip, family(module.mix))
            for module in modules(options.chips, options.reduced)}
        for task in concurrent.futures.as_completed(running):
            for form, result in task.result().items():
                results.setdefault((*running[task], form),
                                   Result()).add(result)
    print_widths("with", REDUCED if options.reduced else FULL)
    print_widths("without", WARP_REDUCED if options.reduced else WARP_FULL)
    print_table(results)
    errors = [e for r in results.values() for e in r.errors]
    print("\n".join(sorted(errors)), file=sys.stderr)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
