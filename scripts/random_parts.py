"""What random products are made of: types, sizes, schedules and epilogues.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
from dataclasses import dataclass, field

import legality
from sweep import INTEGER_MIXES, MIXES, UNSCALED_MIXES, is_legal

# A product takes some seconds on the emulator at most.
MAX_WORK = 1 << 27

# Scales that cover all of K: factors of a product without other scales.
FACTORS = ["float32", "float32_t0", "float16_t0", "bfloat16_t4_t0",
           "float32_t16_t0", "float32_t128_t0"]
POWERS_OF_TWO = ["e8m0", "e8m0_t0", "e8m0_t32_t0"]


@dataclass
class Product:
    """A source file, and the options that `verify` gets with it."""
    chip: str
    schedule: list
    options: list
    text: str = field(repr=False, default="")

    def schedules(self):
        """All of the schedule, the first half of it, and so on until none is left."""
        fields = self.schedule
        while fields:
            yield fields
            fields = fields[:len(fields) // 2]
        yield []

    def source(self, fields):
        """With a schedule of these fields."""
        clause = (f"schedule(#blockscale.schedule<{', '.join(fields)}>)"
                  if fields else "")
        return self.text.replace("SCHEDULE", clause)


def dense_unscaled(mix):
    """The same elements without sparsity."""
    return mix._replace(spec="", b_spec="")


def draw_mix(rng, chip):
    mixes = [mix for mix in MIXES if is_legal(chip, mix)]
    if legality.has_tensor_memory(chip):
        unscaled = UNSCALED_MIXES + INTEGER_MIXES * legality.has(chip, kind="i8")
    else:
        # Those of kinds with scales, which are 1 there.
        unscaled = [m for m in UNSCALED_MIXES if m.kind == "f8f6f4"]
    mixes += unscaled + [dense_unscaled(m) for m in unscaled]
    # Every kind is as likely as any other, however many type mixes it has.
    kind = rng.choice(sorted({(m.kind, "n" in m.spec) for m in mixes}))
    return rng.choice([m for m in mixes if (m.kind, "n" in m.spec) == kind])


def draw_extent(rng, most):
    """Small, near a multiple of a tile, or anything."""
    value = rng.choice([
        rng.randint(1, min(most, 40)),
        128 * rng.randint(1, 4) + rng.randint(-3, 3),
        rng.randint(1, most)])
    return max(1, min(value, most))


def draw_shape(rng, mix):
    """M, N, K and the batch, within what may be emulated in a moment."""
    # K is whole blocks of both sides, and pitches are multiples of 16 bytes.
    step = 64
    if mix.kind in ("mxf4", "mxf4nvf4", "mxf8f6f4", "f8f6f4"):
        step = 128
    while True:
        m, n = draw_extent(rng, 600), draw_extent(rng, 600)
        # Rows of B along K need no multiple, those of D do in some epilogues.
        if rng.random() < 0.7:
            n = -(-n // 8) * 8
        k = step * rng.randint(1, 16) + (32 if rng.random() < 0.4 else 0)
        batch = rng.choice([0, 0, 0, 1, 2, 3, 5])
        if m * n * k * max(1, batch) <= MAX_WORK:
            return m, n, k, batch


def draw_warps_schedule(rng):
    """Where warps multiply."""
    fields = []
    if rng.random() < 0.6:
        fields.append(f"tile_n = {rng.choice([16, 32, 64, 128, 192, 256])}")
    if rng.random() < 0.25:
        fields.append(f"tile_m = {rng.choice([64, 128])}")
    if rng.random() < 0.3:
        fields.append(f"stages = {rng.randint(2, 5)}")
    if rng.random() < 0.3:
        fields.append("swap_operands = " + rng.choice(["true", "false"]))
    if rng.random() < 0.15:
        fields.append("scheduler = dynamic")
    if rng.random() < 0.2:
        fields.append("consumer_groups = 2")
    if rng.random() < 0.15:
        fields.append(f"split_k = {rng.choice([2, 3])}")
    return fields


def draw_tiles(rng, chip):
    """Sizes of tiles and instructions, and the CTAs that have them together."""
    fields, ctas = [], rng.choice([0, 1, 2])
    widths = [16, 32, 40, 48, 64, 64, 96, 128, 128, 160, 192, 192, 224, 256, 256]
    if ctas:
        fields.append(f"cta_group = {ctas}")
    if rng.random() < 0.65:
        # Wider ones are those of pairs, of two instructions beside each other.
        width = rng.choice(widths + [320, 384, 448] * (ctas == 2))
        fields.append(f"tile_n = {width}")
    for name in ("cluster_m", "cluster_n"):
        if rng.random() < 0.3:
            fields.append(f"{name} = {rng.choice([1, 1, 2, 4])}")
    if legality.has(chip, k=96) and rng.random() < 0.2:
        fields.append("mma_k = 96")
    elif legality.has(chip, k=128, sparse=False) and rng.random() < 0.3:
        fields.append("tile_m = 512")
    return fields


def draw_tensor_memory_schedule(rng, chip):
    fields = draw_tiles(rng, chip)
    if rng.random() < 0.35:
        fields.append("swap_operands = " + rng.choice(["true", "false"]))
    for chance, field in ((0.2, "scheduler = dynamic"),
                          (0.15, "dependent_launch = true"),
                          (0.2, "stores = tma"),
                          (0.25, "epilogue_warps = 8"),
                          (0.15, f"accumulators = {rng.choice([1, 2, 3, 3])}"),
                          (0.2, f"stages = {rng.randint(2, 5)}"),
                          (0.15, f"scale_stages = {rng.choice([1, 2])}")):
        if rng.random() < chance:
            fields.append(field)
    if rng.random() < 0.2:
        splits = rng.choice([2, 2, 3, 4, 5])
        fields.append(f"split_k = {splits}")
        if rng.random() < 0.6:
            fields.append(f"cluster_k = {rng.choice([1, splits, splits])}")
    elif rng.random() < 0.1:
        fields.append(f"stream_k = {rng.randint(2, 12)}")
    return fields


def draw_schedule(rng, chip):
    """Fields in any order, of which `Product.schedules` leaves out the last ones."""
    if rng.random() < 0.25:
        return []
    fields = (draw_tensor_memory_schedule(rng, chip)
              if legality.has_tensor_memory(chip) else draw_warps_schedule(rng))
    rng.shuffle(fields)
    return fields


def draw_region(rng, operands):
    """An epilogue that no keyword names: up to six steps on the product and
    what else there is."""
    names = [name for name, _ in operands if name in ("c", "v")]
    values = ["%x"] + [f"%{name}" for name in names]
    lines = ["%half = arith.constant 0.5 : f32"]
    for i in range(rng.randint(1, 6)):
        operation = rng.choice(
            ["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
             "arith.minimumf", "arith.negf", "math.absf", "math.tanh",
             "math.exp", "math.erf", "math.floor", "math.copysign"])
        count = 1 if operation in ("arith.negf", "math.absf", "math.tanh",
                                   "math.exp", "math.erf",
                                   "math.floor") else 2
        inputs = [values[-1]] + [rng.choice(values + ["%half"])] * (count - 1)
        lines.append(f"%t{i} = {operation} {', '.join(inputs)} : f32")
        values.append(f"%t{i}")
    lines.append(f"blockscale.yield {values[-1]}")
    names = ", ".join(["%x"] + [f"%{name}" for name in names])
    body = "".join(f"    {line}\n" for line in lines)
    return f"epilogue({names}) {{\n{body}  }}"


def draw_scaled_addend(rng, chance, chance_of_beta, shape, elements):
    """An alpha now and then, and by `chance` a C, with a beta or without: operands
    and clauses."""
    operands, clauses = [], []
    if rng.random() < 0.3:
        operands.append(("alpha", "f32"))
        clauses.append("alpha(%alpha)")
    if rng.random() < chance:
        if rng.random() < chance_of_beta:
            operands.append(("beta", "f32"))
            clauses.append("beta(%beta)")
        operands.append(("c", f"tensor<{shape}x{rng.choice(elements)}>"))
        clauses.append("c(%c)")
    return operands, clauses


def draw_epilogue(rng, mix, m, n, batch):
    """Extra operands as (name, type), clauses, and the type of D. `m` and `n`
    are texts."""
    if mix.kind == "i8" and rng.random() < 0.5:
        return [], "", "i32"
    d = rng.choice(["f32", "bf16", "f16"])
    prefix = f"{batch}x" if batch else ""
    operands, clauses = draw_scaled_addend(
        rng, 0.3, 0.6, f"{prefix}{m}x{n}", ["f32", "bf16", "f16", d])
    if rng.random() < 0.4:
        row = rng.random() < 0.5
        element = rng.choice(["f32", "bf16", "f16"])
        operands.append(("v", f"tensor<{m if row else n}x{element}>"))
        clauses.append("bias(%v)" + (" row" if row else ""))
    if rng.random() < 0.4:
        name = rng.choice(["relu", "relu", "gelu", "silu"])
        clauses.append(f"activation({name})")
    elif rng.random() < 0.3:
        clauses.append(draw_region(rng, operands))
    return operands, " ".join(clauses), d


def tensor_type(shape, element, spec, order):
    text = f"!blockscale.tensor<{'x'.join(shape)}x{element}"
    if spec:
        text += f', "{spec}"'
    if spec and spec not in FACTORS + POWERS_OF_TWO:
        text += ", layout = tiled_128x4"
    return text + (", order = mn_major>" if order else ">")


def draw_factors(rng, mix, d):
    """The specs of A and B: with scales that cover all of K now and then, where
    they have no others."""
    specs = [mix.spec, mix.spec if mix.b_spec is None else mix.b_spec]
    if mix.kind not in ("f8f6f4", "i8") or d == "i32":
        return specs
    for side, element in enumerate((mix.a, mix.b)):
        legal = FACTORS + POWERS_OF_TWO * (mix.kind != "i8")
        if not specs[side] and element != "ui8" and rng.random() < 0.5:
            specs[side] = rng.choice(legal)
    return specs


def draw_repeated(rng, spec, k):
    """The spec with longer tiles and tiles of rows now and then, whose scales are
    repeated when they are packed; k is None where only the launch knows it."""
    found = re.fullmatch(r"(.*)_t(\d+)(n\d+m\d+)?", spec)
    if not found or rng.random() < 0.7:
        return spec
    size, pruned = int(found[2]), 2 if found[3] else 1
    legal = [one for one in (2 * size, 4 * size, 8 * size) if one <= 256
             and (k is None or k % (one * pruned) == 0)]
    rows = rng.choice(["", "_t0", "_t4", "_t16", "_t32", "_t128"])
    return (f"{found[1]}{rows}_t{rng.choice([size] + legal)}{found[3] or ''}")


def draw_options(rng, chip, sizes, dynamic):
    """What `verify` gets with a product: the sizes that are dynamic, SMs, a seed and
    an order of completion."""
    return ([f"--target={chip}"]
            + [f"--{name}={sizes[name]}" for name in sorted(dynamic)]
            + [f"--num-sms={rng.choice([16, 17, 33, 148])}",
               f"--seed={rng.randrange(1 << 32)}",
               f"--completion={rng.choice(['immediate', 'random', 'latest'])}"])
