"""Writes products for nki_check.py that nobody has chosen.

usage: random_nki.py SEED [COUNT] [TARGET]

Sizes, types, scale tiles, batches, epilogues, quantised operands and configurations
come from the seed; all of it is legal.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import random
import sys

from products import E4, E5, F4, product


def size(r, often, largest):
    """One of the sizes where something begins, or any."""
    return r.choice(often) if r.random() < 0.5 else r.randint(1, largest)


def spec(r, rows, k, scales):
    tile = r.choice([t for t in (32, 32, 64, 128, 256) if k % t == 0])
    over_rows = r.choice(["", "", "", "_t0"] + [f"_t{t}" for t in (4, 16, 32) if rows % t == 0])
    return scales + over_rows + f"_t{tile}"


def configuration(r, m, k):
    """Some of the choices, made here."""
    parts = []
    row_tile = 32 if k <= 128 else 64 if k <= 256 else 128
    if r.random() < 0.4:
        row_tile = r.choice([row_tile, 128])
        parts.append(f"row_tile = {row_tile}")
    if r.random() < 0.4:
        parts.append(f"tile_m = {2 * r.randint(1, 64)}")
    if r.random() < 0.4:
        parts.append(f"tile_n = {r.randint(max(1, m // 40), 512)}")
    if r.random() < 0.3:
        parts.append(f"block_m = {r.randint(1, 8 * row_tile // 128)}")
    return ", ".join(parts)


def write(r, name, target):
    m = size(r, [1, 2, 127, 128, 129, 256], 300)
    n = size(r, [1, 2, 511, 512, 513], 700)
    k = 32 * size(r, [1, 2, 4, 8, 12, 16, 17, 32, 33], 36)
    batch = r.choice([0, 0, 0, 2, 3])
    if batch:
        m, n = min(m, 140), min(n, 140)
    a, b = r.choice([E4, E5, F4]), r.choice([E4, E5, F4])
    scales = "e8m0" if batch or r.random() < 0.8 else "multi_float32_e8m0"
    a_spec, b_spec = spec(r, m, k, scales), spec(r, n, k, "e8m0")
    quantised = []
    if r.random() < 0.4:
        for operand in r.choice(["a", "b", "ab"]):
            quantised.append((operand, r.choice(["bf16", "f16"])))
            if operand == "a":
                a, a_spec = r.choice([E4, E5]), "e8m0_t32"
            else:
                b, b_spec = r.choice([E4, E5]), "e8m0_t32"
    prefix, out = f"{batch}x" if batch else "", r.choice(["f32", "bf16", "f16"])
    steps, operands = "", []
    if r.random() < 0.3:
        steps, operands = " alpha(%alpha)", [("%alpha", "f32")]
    late = []
    if r.random() < 0.3:
        if r.random() < 0.5:
            steps += " beta(%beta)"
            late.append(("%beta", "f32"))
        steps += " c(%c)"
        operands.append(("%c", f"tensor<{prefix}{m}x{n}x{r.choice(['f32', 'bf16', 'f16'])}>"))
    if r.random() < 0.3:
        row = r.random() < 0.5
        steps += " bias(%bias)" + (" row" if row else "")
        operands.append(("%bias", f"tensor<{m if row else n}x{r.choice(['f32', 'bf16'])}>"))
    if r.random() < 0.3:
        steps += f" activation({r.choice(['relu', 'relu', 'silu', 'gelu'])})"
    product(name, m, n, k, a, b, out, prefix, a_spec, b_spec, steps, operands + late,
            configuration(r, m, k), quantised=quantised, target=target)


def main():
    seed = int(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    target = sys.argv[3] if len(sys.argv) > 3 else "trn3"
    r = random.Random(seed)
    print(f"// seed {seed}")
    for i in range(count):
        write(r, f"product{i}", target)


if __name__ == "__main__":
    main()
