"""Breaks every entry of the constraint list of nc_matmul_mx and quantize_mx, one at a
time, in `explain legality` and, where the compiler's input can say such a thing, in
`compile`. Each refusal must name the rule, its source, and what would be legal.

usage: constraints.py BLOCKSCALE

The rows of `explain legality --all` are walked: one without a case here is a failure.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import csv
import io
import re
import subprocess
import sys

API = "NKI API reference, nki.isa."
MEMORIES = "Trainium3 Architecture Guide for NKI"


# ---------------------------------------------------------------------------
# Inputs of the compiler
# ---------------------------------------------------------------------------


def matmul(stationary="128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf",
           stationary_scale="128x64xui8, sbuf",
           moving="128x64x!blockscale_nki.x4<f8E4M3FN>, sbuf",
           moving_scale="128x64xui8, sbuf", dst="64x64xf32, psum", suffix="group(0 of 1)",
           target="trn3", slices=(), twice=False):
    """One instruction in a kernel; `slices` are operands that are parts of larger tiles, as
    pairs of an operand and its first partition."""
    kinds = [f"!blockscale_nki.buffer<{kind}>"
             for kind in (stationary, stationary_scale, moving, moving_scale, dst)]
    names = [f"%x{i}" for i in range(5)]
    body = []
    for i, (name, kind) in enumerate(zip(names, kinds)):
        first = dict(slices).get(i)
        if first is None:
            body.append(f'{name} = blockscale_nki.alloc "x{i}" : {kind}')
            continue
        rest = kind[kind.index("x"):]
        whole = "!blockscale_nki.buffer<128" + rest
        body.append(f'%w{i} = blockscale_nki.alloc "w{i}" : {whole}')
        body.append(f"{name} = blockscale_nki.slice %w{i}[{first}, 0] : {whole} to {kind}")
    if suffix.startswith("{"):
        call = (f'"blockscale_nki.nc_matmul_mx"({", ".join(names)}) {suffix} : '
                f'({", ".join(kinds)}) -> ()')
    else:
        call = (f"blockscale_nki.nc_matmul_mx %x0 scaled %x1, %x2 scaled %x3 into %x4 {suffix} : "
                + ", ".join(kinds))
    body += [call] * (2 if twice else 1)
    return kernel(body, f"blockscale_nki.return %x0 : {kinds[0]}", target)


def quantize(src="128x64xbf16, sbuf", dst="128x16x!blockscale_nki.x4<f8E4M3FN>, sbuf",
             scale="128x16xui8, sbuf", target="trn3", offset=None):
    kinds = [f"!blockscale_nki.buffer<{kind}>" for kind in (src, dst, scale)]
    body = [f'%x{i} = blockscale_nki.alloc "x{i}" : {kind}' for i, kind in enumerate(kinds)]
    if offset is not None:
        body[2] = ('%w = blockscale_nki.alloc "w" : !blockscale_nki.buffer<128x16xui8, sbuf>\n'
                   f"%x2 = blockscale_nki.slice %w[{offset}, 0] : "
                   f"!blockscale_nki.buffer<128x16xui8, sbuf> to {kinds[2]}")
    body.append(f"blockscale_nki.quantize_mx %x0 to %x1, %x2 : {kinds[0]} to {kinds[1]}, "
                f"{kinds[2]}")
    return kernel(body, f"blockscale_nki.return %x0 : {kinds[0]}", target)


def kernel(body, end, target="trn3"):
    return (f'blockscale_nki.kernel @k target("{target}") sizes {{K = 512 : i64, M = 64 : i64, '
            "N = 64 : i64, batch = 1 : i64} parameters [] {\n"
            + "\n".join(body) + f"\n{end}\n}}\n")


def buffer_use(kind, address=None):
    where = f" at {address}" if address is not None else ""
    kind = f"!blockscale_nki.buffer<{kind}>"
    return kernel([f'%x = blockscale_nki.alloc "x"{where} : {kind}'],
                  f"blockscale_nki.return %x : {kind}")


def copy(op, *kinds):
    kinds = [f"!blockscale_nki.buffer<{kind}>" for kind in kinds]
    body = [f'%x{i} = blockscale_nki.alloc "x{i}" : {kind}' for i, kind in enumerate(kinds)]
    sources = ", ".join(f"%x{i}" for i in range(len(kinds) - 1))
    body.append(f"blockscale_nki.{op} {sources} to %x{len(kinds) - 1} : "
                f"{', '.join(kinds[:-1])} to {kinds[-1]}")
    return kernel(body, f"blockscale_nki.return %x0 : {kinds[0]}")


def product(a="4x512xf8E4M3FN", b="4x512xf8E4M3FN", a_spec=', "e8m0_t32"', b_spec=', "e8m0_t32"',
            out="f32", config="", rows="4"):
    kinds = f"!blockscale.tensor<{a}{a_spec}>, !blockscale.tensor<{b}{b_spec}>"
    attribute = f" {{blockscale_nki.config = #blockscale_nki.config<target = \"trn3\", {config}>}}"
    result = f"tensor<{rows}x4x{out}>"
    return (f"func.func @f(%a: {kinds.replace(', !', ', %b: !')}) -> {result} {{\n"
            f"  %y = blockscale.matmul %a, %b{attribute if config else ''} : {kinds} -> {result}\n"
            f"  return %y : {result}\n}}\n")


def quantisation(src="4x512xbf16", dst='4x512xf8E4M3FN, "e8m0_t32"',
                 rule=" rule(floor_plus_one)"):
    kind = f"!blockscale.tensor<{dst}>"
    return (f"func.func @f(%x: tensor<{src}>) -> {kind} {{\n"
            f"  %y = blockscale.quantize %x{rule} : tensor<{src}> to {kind}\n"
            f"  return %y : {kind}\n}}\n")


X4 = "!blockscale_nki.x4<f8E4M3FN>"

# ---------------------------------------------------------------------------
# The constraint list
# ---------------------------------------------------------------------------

# Instruction, row of the table, source, options of `explain`, input of `compile` or the
# reason why none can break it, and how the refusal begins. An @ in the options names
# another revision than the newest.
MAKES = "the compiler writes it"
RULES = [
    ("nc_matmul_mx", "structured sparsity", API + "nc_matmul_mx, Parameters", "--sparse",
     product(a_spec=', "e8m0_t32n2m4"', b_spec=', "e8m0_t64"'),
     "structured sparsity is not legal"),
    ("nc_matmul_mx", "zero points", API + "nc_matmul_mx, Parameters", "--zero-points",
     product("4x512xui8", "4x512xui8", ', "float16_int8_t32"', ', "float16_int8_t32"'),
     "a zero point is not legal"),
    ("nc_matmul_mx", "presence of scales", API + "nc_matmul_mx, Parameters", "--scale=none",
     product(a_spec="", b_spec=""), "an operand without scales is not legal"),
    ("nc_matmul_mx", "stationary elements", API + "nc_matmul_mx, Data types", "--a=e2m3",
     product("4x512xf6E2M3FN"), "type 'e2m3' of the stationary is not legal"),
    ("nc_matmul_mx", "moving elements", API + "nc_matmul_mx, Data types", "--b=e3m2",
     product(b="4x512xf6E3M2FN"), "type 'e3m2' of the moving is not legal"),
    ("nc_matmul_mx", "scale format", API + "nc_matmul_mx, introduction", "--scale=ue4m3",
     product("4x512xf4E2M1FN", "4x512xf4E2M1FN", ', "e4m3fn_t16"', ', "e4m3fn_t16"'),
     "scale 'ue4m3' is not legal"),
    ("nc_matmul_mx", "type of the scale tiles", API + "nc_matmul_mx, Data types",
     "@2026-04 --scale-type=float8_e8m0fnu",
     matmul(stationary_scale="128x64xf8E8M0FNU, sbuf", target="trn3@2026-04"),
     "scale tile of type 'float8_e8m0fnu' is not legal"),
    ("nc_matmul_mx", "elements per scale", API + "nc_matmul_mx, introduction", "--block=16",
     product("4x512xf4E2M1FN", "4x512xf4E2M1FN", ', "e8m0_t16"', ', "e8m0_t16"'),
     "block 16 is not legal"),
    ("nc_matmul_mx", "K map of both operands", API + "nc_matmul_mx, introduction",
     "--moving-k-map=1,8", MAKES, "k = 1 * p + 8 * q of the moving is not legal"),
    ("nc_matmul_mx", "K map and scale groups", API + "quantize_mx, Layout", "--k-map=1,128",
     MAKES, "k = 1 * p + 128 * q of the stationary is not legal"),
    ("nc_matmul_mx", "type of dst", API + "nc_matmul_mx, Data types", "--dst=float16",
     matmul(dst="64x64xf16, psum"), "dst of type 'float16' is not legal"),
    ("nc_matmul_mx", "memory of dst", API + "nc_matmul_mx, Memory types", "--dst-memory=sbuf",
     matmul(dst="64x64xf32, sbuf"), "dst in 'sbuf' is not legal"),
    ("nc_matmul_mx", "memory of operands and scales", API + "nc_matmul_mx, Memory types",
     "--src-memory=psum", matmul(moving=f"128x64x{X4}, psum"),
     "an operand in 'psum' is not legal"),
    ("nc_matmul_mx", "partitions P of the stationary tile", API + "nc_matmul_mx, Tile size",
     "--partitions=48",
     matmul(f"48x64x{X4}, sbuf", "48x64xui8, sbuf", f"48x64x{X4}, sbuf", "48x64xui8, sbuf"),
     "P = 48 is not legal"),
    ("nc_matmul_mx", "partitions P of the moving tile", API + "nc_matmul_mx, Tile size",
     "--moving-partitions=64", matmul(moving=f"64x64x{X4}, sbuf"),
     "P = 64 of the moving tile is not legal"),
    ("nc_matmul_mx", "free size M of the stationary tile", API + "nc_matmul_mx, Tile size",
     "--m=63",
     matmul(f"128x63x{X4}, sbuf", "128x63xui8, sbuf", dst="63x64xf32, psum"),
     "M = 63 is not legal"),
    ("nc_matmul_mx", "free size N of the moving tile", API + "nc_matmul_mx, Tile size",
     "@2026-04 --n=513",
     matmul(moving=f"128x513x{X4}, sbuf", moving_scale="128x513xui8, sbuf",
            dst="64x513xf32, psum", target="trn3@2026-04"), "N = 513 is not legal"),
    ("nc_matmul_mx", "partitions of dst", API + "nc_matmul_mx, Layout", "--dst-partitions=62",
     matmul(dst="62x64xf32, psum"), "dst of 62 partitions is not legal"),
    ("nc_matmul_mx", "free size of dst", API + "nc_matmul_mx, Layout", "--dst-free=65",
     matmul(dst="64x65xf32, psum"), "dst of free size 65 is not legal"),
    ("nc_matmul_mx", "row tiling arguments", API + "nc_matmul_mx, Tiling mode",
     "--row-size=64 --partitions=64",
     matmul(f"64x64x{X4}, sbuf", "64x64xui8, sbuf", f"64x64x{X4}, sbuf", "64x64xui8, sbuf",
            suffix="{static_step = 0 : i64, steps = 1 : i64, row_tile = 64 : i64}"),
     "tile_size = (64, 128) with no tile_position is not legal"),
    ("nc_matmul_mx", "tile_size", API + "nc_matmul_mx, Tiling mode",
     "--row-size=96 --start-row=0", matmul(suffix="group(0 of 1) row_tile(96 at 0)"),
     "tile_size = (96, 128) is not legal"),
    ("nc_matmul_mx", "P in a row tile", API + "nc_matmul_mx, Tiling mode",
     "--row-size=64 --start-row=0", matmul(suffix="group(0 of 1) row_tile(64 at 0)"),
     "P = 128 in tile_size = (64, 128) is not legal"),
    ("nc_matmul_mx", "tile_position", API + "nc_matmul_mx, Tiling mode",
     "--partitions=32 --row-size=32 --start-row=48",
     matmul(f"32x64x{X4}, sbuf", "32x64xui8, sbuf", f"32x64x{X4}, sbuf", "32x64xui8, sbuf",
            suffix="group(0 of 1) row_tile(32 at 48)"),
     "tile_position = (48, 0) is not legal"),
    ("nc_matmul_mx", "first partition of the operands", API + "nc_matmul_mx, Tiling mode",
     "--partitions=32 --row-size=32 --start-row=64 --operand-partition=32",
     matmul(f"32x64x{X4}, sbuf", "32x64xui8, sbuf", f"32x64x{X4}, sbuf", "32x64xui8, sbuf",
            suffix="group(0 of 1) row_tile(32 at 64)",
            slices=[(i, 32) for i in range(4)]), "operands from partition 32 is not legal"),
    ("nc_matmul_mx", "first partition of the moving tile", API + "nc_matmul_mx, Layout",
     "--partitions=32 --moving-partition=32",
     matmul(f"32x64x{X4}, sbuf", "32x64xui8, sbuf", f"32x64x{X4}, sbuf", "32x64xui8, sbuf",
            slices=[(2, 32)]), "moving tile from partition 32 is not legal"),
    ("nc_matmul_mx", "partitions of a scale tile",
     "MXFP Matrix Multiplication with NKI, Scale Tensor", "--scale-partitions=16",
     matmul(moving_scale="16x64xui8, sbuf"), "scale tile of 16 partitions is not legal"),
    ("nc_matmul_mx", "free size of stationary_scale", API + "quantize_mx, Layout",
     "--scale-free=32", matmul(stationary_scale="128x32xui8, sbuf"),
     "stationary_scale of free size 32 is not legal"),
    ("nc_matmul_mx", "free size of moving_scale", API + "quantize_mx, Layout",
     "--moving-scale-free=65", matmul(moving_scale="128x65xui8, sbuf"),
     "moving_scale of free size 65 is not legal"),
    ("nc_matmul_mx", "first scale row of each quadrant", API + "quantize_mx, Layout",
     "--partitions=32 --scale-offset=16",
     matmul(f"32x64x{X4}, sbuf", "4x64xui8, sbuf", f"32x64x{X4}, sbuf", "32x64xui8, sbuf",
            slices=[(1, 16)]), "scale offset 16 is not legal"),
    ("nc_matmul_mx", "indirection", API + "nc_matmul_mx, indirection",
     "@2026-04 --data-index=0 --scale-index=0", MAKES,
     "data through an index from partition 0 and scales through an index"),
    ("nc_matmul_mx", "index of data and of scales", API + "nc_matmul_mx, indirection",
     "--data-index=0", MAKES,
     "data through an index from partition 0 and scales without an index"),
    ("nc_matmul_mx", "first partition of an index", API + "nc_matmul_mx, indirection",
     "--data-index=16 --scale-index=16", MAKES, "data through an index from partition 16"),
    ("nc_matmul_mx", "indirection with row tiling", API + "nc_matmul_mx, indirection",
     "--data-index=0 --scale-index=0 --row-size=128 --start-row=0", MAKES,
     "an index with tile_size = (128, 128) is not legal"),
    ("nc_matmul_mx", "accumulation argument", API + "nc_matmul_mx, Parameters",
     "@2025-12-19 --accumulate=true", MAKES, "accumulate = True is not legal"),
    ("nc_matmul_mx", "psum_accumulate_flag", API + "nc_matmul_mx, Parameters",
     "@2025-12-01 --accumulate-flag=5", MAKES, "psum_accumulate_flag = 5 is not legal"),
    ("nc_matmul_mx", "accumulation group", API + "nc_matmul_mx, Parameters",
     "@2025-12-01 --accumulate-flag=1,1,2", matmul(suffix="group(0 of 2)", twice=True),
     ("psum_accumulate_flag = 1, 1, 2 is not legal",
      "is step 0 of its accumulation group where step 1 is due")),
    ("quantize_mx", "type of src", API + "quantize_mx, Data types", "--a=float32",
     quantisation("4x512xf32"), "src of type 'float32' is not legal"),
    ("quantize_mx", "elements of dst", API + "quantize_mx, Data types", "--b=e2m1",
     quantisation(dst='4x512xf4E2M1FN, "e8m0_t32"'), "dst of 'e2m1' is not legal"),
    ("quantize_mx", "type of dst_scale", API + "quantize_mx, Data types",
     "@2026-04 --scale-type=float8_e8m0fnu",
     quantize(scale="128x16xf8E8M0FNU, sbuf", target="trn3@2026-04"),
     "dst_scale of type 'float8_e8m0fnu' is not legal"),
    ("quantize_mx", "memory of src", API + "quantize_mx, Memory types", "--src-memory=psum",
     quantize("128x64xbf16, psum"), "src in 'psum' is not legal"),
    ("quantize_mx", "memory of dst and dst_scale", API + "quantize_mx, Memory types",
     "--dst-memory=psum", quantize(scale="128x16xui8, psum"), "dst in 'psum' is not legal"),
    ("quantize_mx", "partitions P", API + "quantize_mx, Tile size", "--partitions=16",
     quantize("16x64xbf16, sbuf", f"16x16x{X4}, sbuf", "16x16xui8, sbuf"),
     "P = 16 is not legal"),
    ("quantize_mx", "free size F of src", API + "quantize_mx, Tile size", "--n=66",
     quantize("128x66xbf16, sbuf"), "F = 66 is not legal"),
    ("quantize_mx", "partitions of dst", API + "quantize_mx, Tile size", "--dst-partitions=64",
     quantize(dst=f"64x16x{X4}, sbuf"), "dst of 64 partitions is not legal"),
    ("quantize_mx", "free size of dst", API + "quantize_mx, Tile size", "--dst-free=64",
     quantize(dst=f"128x64x{X4}, sbuf"), "dst of free size 64 is not legal"),
    ("quantize_mx", "free size of dst_scale", API + "quantize_mx, Layout", "--scale-free=64",
     quantize(scale="128x64xui8, sbuf"), "dst_scale of free size 64 is not legal"),
    ("quantize_mx", "partitions of dst_scale",
     "MXFP Matrix Multiplication with NKI, Scale Tensor", "--scale-partitions=16",
     quantize(scale="16x16xui8, sbuf"), "dst_scale of 16 partitions is not legal"),
    ("quantize_mx", "first scale row of each quadrant", API + "quantize_mx, Layout",
     "--partitions=32 --scale-offset=2",
     quantize("32x64xbf16, sbuf", f"32x16x{X4}, sbuf", "32x16xui8, sbuf", offset=2),
     "scale offset 2 is not legal"),
]

# What only an input of the compiler can break: source, input, beginning of the refusal.
INPUTS = [
    ("NKI Language Guide", product("?x512xf8E4M3FN", rows="?"), "has a dynamic size"),
    (API + "nc_matmul_mx, introduction",
     product(a_spec=', "e8m0_t0"', b_spec=', "e8m0_t0"'), "a scale that covers whole rows"),
    (API + "nc_matmul_mx, introduction",
     product(a_spec=', "float32_t32"', b_spec=', "float32_t32"'),
     "tile scales of 'float32' are not 'ue8m0'"),
    (API + "tensor_scalar", product(a_spec=', "multi_float16_e8m0_t32"'),
     "a tensor scale must be float32"),
    ("MXFP Matrix Multiplication with NKI, Scale Tensor",
     product(a_spec=', "e8m0_t32", layout = tiled_128x4'),
     "has its scales in layout 'tiled_128x4', which another vendor's tensor cores read"),
    (API + "nc_matmul_mx, Tiling mode", product(config="row_tile = 32"),
     "row_tile = 32 is for products of at most 128 along K"),
    (MEMORIES, product(config="tile_n = 1024"), "tile_n = 1024 does not fit into a bank"),
    (MEMORIES, product(config="block_m = 9"), "block_m = 9: expected 1 to 8"),
    (API + "nc_matmul_mx, Tile size", product(config="tile_m = 63"), "M = 63 is not legal"),
    (API + "nc_matmul_mx, Tile size", product(config="tile_m = 4294967360"),
     "M = 4294967295 is not legal"),
    (API + "quantize_mx, Layout", quantisation(dst='4x512xf8E4M3FN, "e8m0_t64"'),
     "spec 'e8m0_t64' is not what quantize_mx makes"),
    (API + "quantize_mx, introduction", quantisation(rule=""),
     "chooses scales by rule 'floor'"),
    (MEMORIES, buffer_use("129x4xf32, sbuf"), "'sbuf' has 128 partitions, found 129"),
    (MEMORIES, buffer_use("128x4xf32, sbuf", 262140), "outside of 'sbuf'"),
    (MEMORIES, buffer_use("128x512xf32, psum", 1024), "in more than one bank of 2048 bytes"),
    ("NKI API reference, nki.language, data types", buffer_use("128x4xf64, sbuf"),
     "NKI has no tensors of 'f64'"),
    ("NKI API reference, nki.language, data types",
     buffer_use("128x4x!blockscale_nki.x4<f6E2M3FN>, sbuf"),
     "NKI packs no four elements of type 'f6E2M3FN'"),
    (API + "dma_copy", copy("dma_copy", "128x4xf32, psum", "128x4xf32, hbm"),
     "'src' is in 'psum': expected 'hbm' or 'sbuf'"),
    (API + "dma_copy", copy("dma_copy", "128x4xf32, hbm", "128x4xbf16, sbuf"),
     "expected one element type"),
    (API + "tensor_copy", copy("tensor_copy", "128x4xf32, psum", "128x4xf32, hbm"),
     "'dst' is in 'hbm': expected 'sbuf' or 'psum'"),
    (API + "tensor_tensor",
     copy("tensor_tensor add", "128x4xf32, psum", "128x4xf32, psum", "128x4xf32, sbuf"),
     "'data1' and 'data2' are both in 'psum'"),
]


# ---------------------------------------------------------------------------
# Runs
# ---------------------------------------------------------------------------


class Checker:
    def __init__(self, program):
        self.program, self.failures, self.refusals = program, [], 0

    def run(self, *arguments, text=None):
        done = subprocess.run([self.program, *arguments], input=text, text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(self, name, output, beginning, source):
        self.refusals += 1
        for part in (beginning, f"({source})"):
            if part not in output:
                self.failures.append(f"{name}: no '{part}' in: {output.strip()}")

    def explain(self, row):
        instruction, what, source, options, _, beginning = row
        words = options.split()
        revision = words.pop(0) if words[0].startswith("@") else ""
        # Everything else of the question is legal.
        given = {word.split("=")[0] for word in words}
        sizes = ("--m", "--n") if instruction == "nc_matmul_mx" else ("--n",)
        words += [f"{size}=64" for size in sizes if size not in given]
        name = f"explain {instruction}, {what}"
        _, output = self.run("explain", "legality", f"--target=trn3{revision}",
                             f"--kind={instruction}", *words)
        first = beginning[0] if isinstance(beginning, tuple) else beginning
        self.expect(name, output, "illegal: " + first, source)
        if "; nearest legal: " not in output or output.strip().endswith(": "):
            self.failures.append(f"{name}: nothing that is legal in: {output.strip()}")

    def compile(self, name, text, beginning, source):
        named = re.search(r'target\("([^"]*)"\)', text)
        code, output = self.run("compile", "-", "--emit=nki", "-o", "-",
                                f"--target={named.group(1) if named else 'trn3'}", text=text)
        if code == 0:
            self.failures.append(f"{name}: compiled")
            return
        last = beginning[-1] if isinstance(beginning, tuple) else beginning
        self.expect(name, output, last, source)

    def table(self):
        _, text = self.run("explain", "legality", "--target=trn3", "--all", "--format=csv")
        rows = {(r["instruction"], r["what"]): r for r in csv.DictReader(io.StringIO(text))}
        cases = {(r[0], r[1]): r for r in RULES}
        for key in rows.keys() - cases.keys():
            self.failures.append(f"{key}: a rule that nothing here breaks")
        for key in cases.keys() - rows.keys():
            self.failures.append(f"{key}: no such rule")
        for key, row in cases.items():
            if key in rows and rows[key]["source"] != row[2]:
                self.failures.append(f"{key}: source {rows[key]['source']}")


def main():
    checker = Checker(sys.argv[1])
    checker.table()
    for row in RULES:
        checker.explain(row)
        if row[4] != MAKES:
            checker.compile(f"compile {row[0]}, {row[1]}", row[4], row[5], row[2])
    for i, (source, text, beginning) in enumerate(INPUTS):
        checker.compile(f"compile, input {i}", text, beginning, source)
    older = ("explain", "legality", "--target=trn2"), ("compile", "-", "--target=trn2")
    for arguments in older:
        _, output = checker.run(*arguments, text=product())
        checker.expect("older core", output, "target 'trn2' is a NeuronCore-v3",
                       API + "nc_matmul_mx, note")
    # The inputs are legal but for what they break.
    for text in (matmul(), quantize()):
        code, output = checker.run("compile", "-", "--target=trn3", "--emit=kernel", "-o", "-",
                                   text=text)
        if code != 0:
            checker.failures.append(f"the legal input: {output.strip()}")
    for failure in checker.failures:
        print(failure)
    print(f"{checker.refusals} refusals, {len(checker.failures)} without rule or source")


if __name__ == "__main__":
    main()
