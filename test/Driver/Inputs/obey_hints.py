# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Does what refusals say, until the product compiles.

  obey_hints.py BLOCKSCALE CHIP...
  obey_hints.py BLOCKSCALE CHIP... --mixed=COUNT

Multiplies operands of many element types and scale specs, alike or, with --mixed,
COUNT pairs that are not. Where `compile`
refuses them, the change that the refusal asks for is made, mechanically, and
the product is tried again. Every chain of changes ends in a kernel, or in a
refusal that names no change because nothing lowers such scales yet; none comes
back to what was refused before.
"""

import itertools
import random
import re
import subprocess
import sys
from collections import namedtuple

Product = namedtuple("Product", "a a_spec b b_spec chip alpha a_plain b_plain")

ELEMENTS = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN", "i8",
            "i4", "bf16", "tf32"]
SPECS = ["", "n2m4", "n1m2", "n1m4", "float32", "e8m0", "float16", "float32_t0",
         "e8m0_t32", "e8m0_t16", "e8m0_t64", "e8m0_t128_t128", "e4m3fn_t16", "e4m3_t16",
         "e4m3fn_t32", "float32_t32", "float32_t128", "bfloat16_t16",
         "e5m2_t16", "e8m0_t32_t32", "multi_float32_e4m3fn_t16",
         "multi_float32_e4m3_t16_t16", "multi_float16_e4m3fn_t16",
         "multi_float32_e8m0_t32", "e4m3_float32_t16_t16", "e4m3_float32_t16",
         "e8m0_t32n2m4", "e8m0_t16n2m4", "e4m3fn_t16n2m4", "e4m3fn_t16n4m8",
         "e8m0_t32n4m8", "e8m0_t32n1m4", "e5m3fn_t32", "e5m3fn_t16", "e4m3fn_t0",
         "float32_t0n2m4", "float32_n2m4", "e5m3fn_t32n2m4"]
NAMES = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e3m2": "f6E3M2FN",
         "e2m3": "f6E2M3FN", "e2m1": "f4E2M1FN", "int8": "i8", "uint8": "ui8",
         "f16": "f16", "bf16": "bf16", "tf32": "tf32"}
# Nothing lowers these, or no instruction has them in any form: no change is
# offered, so none is made.
FINAL = ["is not lowered yet", "are not lowered yet", "not defined",
         "have at most 8 bits", "cannot go unscaled", "skips 1 of 2",
         "skip 2 of 4", "no instruction skips", "no whole number of groups",
         "needs a zero point", "multiple of", "of 2 to 8 bits",
         "which is lowered for elements of kinds 'f8f6f4'",
         "has scales that instructions read", "have scales of 1 where they are",
         "which no kind multiplies", "which no block-scaled kind multiplies",
         "subtiles are for"]


def text_of(product):
    def type_of(element, spec, tiled, plain):
        # Metadata are never plain.
        tiled = tiled and not (plain and not sparsity(spec))
        spec = f', "{spec}"' if spec else ""
        layout = ", layout = tiled_128x4" if spec and tiled else ""
        return f"!blockscale.tensor<128x512x{element}{spec}{layout}>"
    a_tiled, b_tiled = (sparsity(spec) or not re.fullmatch(
        r"(float|bfloat|e5m2|e8m0$|e4m3_float).*|e8m0|multi_.*"
        r"_(float|bfloat|e5m2).*|.*_t0", spec)
        for spec in (product.a_spec, product.b_spec))
    a = type_of(product.a, product.a_spec, a_tiled, product.a_plain)
    b = type_of(product.b, product.b_spec, b_tiled, product.b_plain)
    integers = (product.a in ("i8", "ui8") and not product.a_spec.strip("n12m4")
                and product.b in ("i8", "ui8") and not product.b_spec.strip("n12m4"))
    d = "tensor<128x128xi32>" if integers and not product.alpha \
        else "tensor<128x128xf32>"
    clause = "alpha(%s) " if product.alpha else ""
    return (f"func.func @f(%a: {a}, %b: {b}, %s: f32) -> {d} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}: {a}, {b} -> {d}\n"
            f"  return %d : {d}\n}}\n")


def compile_error(blockscale, product):
    done = subprocess.run(
        [blockscale, "compile", f"--target={product.chip}", "--emit=tensor",
         "-o", "-", "-"], input=text_of(product), capture_output=True,
        text=True)
    return done.stderr if done.returncode else None


def sparsity(spec):
    return (re.search(r"n\d+m\d+$", spec) or [""])[0]


def dense(spec):
    return re.sub(r"_?n\d+m\d+$", "", spec)


def rescaled(spec, name):
    """A scale spec like `name`, with the tensor scale and sparsity of `spec`."""
    if not re.search(r"_t\d", name):
        return name
    prefix = "multi_float32_" if spec.startswith("multi_") else ""
    return prefix + name + sparsity(spec)


def nearest(product, changes):
    """Obeys "nearest legal: A = e4m3, block = 32"."""
    scale = block = None
    for change in re.split(r", (?=[A-Za-z_]+(?: =| A|$))", changes):
        if found := re.match(r"A = (\w+)", change):
            product = product._replace(a=NAMES[found[1]])
        elif found := re.match(r"B = (\w+)", change):
            product = product._replace(b=NAMES[found[1]])
        elif found := re.match(r"scale = (\w+)", change):
            scale = {"ue8m0": "e8m0", "ue4m3": "e4m3fn"}[found[1]]
        elif found := re.match(r"block = (\w+)", change):
            block = int(found[1])
        elif change.startswith("dense A"):
            product = product._replace(a_spec=dense(product.a_spec))
        elif found := re.match(r"target = (\w+)", change):
            product = product._replace(chip=found[1])
        elif not re.match(r"(K|kind) = ", change):  # these follow from the types
            raise ValueError(f"cannot obey '{change}' of '{changes}'")
    if scale or block:
        tile = r"(\w+?)_t(\d+)(n\d+m\d+)?$"
        old = re.search(tile, product.a_spec) or re.search(tile, product.b_spec)
        name = scale or old[1].split("_")[-1]
        size = block or int(old[2])
        if not re.search(tile, product.a_spec):
            return product._replace(b_spec=rescaled(product.b_spec, f"{name}_t{size}"))
        spec = rescaled(product.a_spec, f"{name}_t{size}")
        factor = 2 if sparsity(spec) else 1
        product = product._replace(
            a_spec=spec,
            b_spec=rescaled(product.b_spec, f"{name}_t{size * factor}"))
    return product


def operand_of(error):
    return re.search(r"operand '(\w)'", error)[1]


def obey(product, error):
    """The product changed as the refusal says; None if it says nothing."""
    if found := re.search(r"write '(\w+)'", error):
        return product._replace(a_spec=found[1], b_spec=found[1])
    if "give it as 'alpha' and leave it out" in error:
        return product._replace(a_spec="", b_spec="", alpha=True)
    if found := re.search(r"expected tiles of (\d+)", error):
        longer = lambda s: re.sub(r"_t\d+(?=(n\d+m\d+)?$)", f"_t{found[1]}", s)
        return product._replace(a_spec=longer(product.a_spec),
                                b_spec=longer(product.b_spec))
    if found := re.search(r"expected scales of '(\w+)'", error):
        return product._replace(a_spec=rescaled(product.a_spec, found[1]),
                                b_spec=rescaled(product.b_spec, found[1]))
    if "a tensor scale must be float32" in error:
        change = lambda s: re.sub("multi_[a-z0-9]+_", "multi_float32_", s)
        return product._replace(a_spec=change(product.a_spec),
                                b_spec=change(product.b_spec))
    if found := re.search(r"quantize 'b' in tiles of (\d+)", error):
        return product._replace(
            b_spec=re.sub(r"_t\d+", f"_t{found[1]}", product.b_spec))
    if found := re.search(r"quantize 'a' in tiles of (\d+)", error):
        return product._replace(
            a_spec=re.sub(r"_t\d+", f"_t{found[1]}", product.a_spec))
    if "expected a dense 'a' or 'b'" in error:
        return product._replace(b_spec=dense(product.b_spec))
    if "skips 4:8 in pairs" in error:
        return product._replace(
            a_spec=product.a_spec.replace(sparsity(product.a_spec), "n4m8"))
    if "skips 2:4" in error:
        return product._replace(
            a_spec=product.a_spec.replace(sparsity(product.a_spec), "n2m4"))
    if "lie in layout 'plain'" in error:
        return product._replace(**{f"{operand_of(error)}_plain": True})
    if "in layout 'plain'; the tensor core reads 'tiled_128x4'" in error:
        return product._replace(**{f"{operand_of(error)}_plain": False})
    if "or the same scales in layout 'plain'" in error:
        return product._replace(a_plain=True, b_plain=True)
    if found := re.search(r"it is legal on (sm_\w+)", error):
        return product._replace(chip=found[1])
    if found := re.search(r"nearest legal: ([^;\n]*)", error):
        return nearest(product, found[1])
    return None


def follow(blockscale, product):
    """How the chain ends, and what is wrong with it, if anything."""
    seen, chain = set(), []
    while True:
        error = compile_error(blockscale, product)
        if error is None:
            return "compiled" if not chain else "obeyed", None
        error = error.split("error: ", 1)[1].split("\n")[0]
        chain.append(f"{product.a} {product.a_spec} x {product.b} "
                     f"{product.b_spec}: {error}")
        seen.add(product)
        product = obey(product, error)
        if product is None:
            final = any(text in error for text in FINAL)
            return "refused", None if final else chain
        if product in seen:
            return "refused", chain


def operands(count):
    """Of each product both elements and specs; `count` pairs that differ, if any."""
    every = list(itertools.product(ELEMENTS, SPECS))
    if not count:
        return [(one, one) for one in every]
    generator = random.Random(count)
    return [generator.sample(every, 2) for _ in range(count)]


def main():
    blockscale, *chips = [one for one in sys.argv[1:] if not one.startswith("--")]
    count = sum(int(one.split("=")[1]) for one in sys.argv if one.startswith("--mixed"))
    ends = {"compiled": 0, "obeyed": 0, "refused": 0}
    for chip in chips:
        for a, b in operands(count):
            end, wrong = follow(blockscale, Product(*a, *b, chip, False, False, False))
            ends[end] += 1
            if wrong:
                print("\n  ".join(["wrong hint:"] + wrong))
    print(", ".join(f"{count} {end}" for end, count in ends.items()))


if __name__ == "__main__":
    main()
