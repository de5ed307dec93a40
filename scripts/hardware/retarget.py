"""PTX of a Blackwell chip as text for sm_90a, where that means the same.

    retarget.py KERNEL.ptx > OTHER.ptx

Only spellings change; each rule below says why it leaves the meaning. What is left of
instructions that sm_90a lacks, `ptxas` names, and such a kernel cannot be run there.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import itertools
import re
import sys

# All four scales of a register of ue8m0 are 1.
ONES = 0x7F7F7F7F


def _halves(counter, names):
    """Declares registers of both halves of values of 64 bits, and fills them."""
    parts = [(f"%hw{next(counter)}", f"%hw{next(counter)}") for _ in names]
    text = "".join(f".reg .f32 {low}, {high};\n\tmov.b64 {{{low}, {high}}}, {name};\n\t"
                   for (low, high), name in zip(parts, names))
    return parts, text


def pairs(ptx):
    """Arithmetic of two f32 in 64 bits: each half by itself, rounded alike."""
    counter = itertools.count()

    def scalar(match):
        op, target, sources = match[1], match[2], re.split(r",\s*", match[3])
        parts, text = _halves(counter, sources)
        low, high = f"%hw{next(counter)}", f"%hw{next(counter)}"
        for i, name in enumerate((low, high)):
            text += (f".reg .f32 {name};\n\t{op}.f32 {name}, "
                     f"{', '.join(part[i] for part in parts)};\n\t")
        return f"{{ {text}mov.b64 {target}, {{{low}, {high}}}; }}"

    return re.sub(r"\b((?:fma|mul|add|sub)\.r[nzmp])\.f32x2\s+(\S+), ([^;]+);", scalar, ptx)


def unit_scales(ptx):
    """Products under block scales that are all 1: the same without scales. The kernel
    has them for elements that have no scales, where the form with scales is faster."""
    ones = set(re.findall(rf"mov\.b32\s+(%\w+), {ONES};", ptx))
    form = re.compile(
        r"(mma\.sync\.aligned\.m16n8k32\.row\.col)\.kind::mxf8f6f4\.block_scale\."
        r"scale_vec::1X(\.f32\.\w+\.\w+\.f32)\.ue8m0([^;]*?\{[^}]*\},[^;]*?\{[^}]*\},"
        r"[^;]*?\{[^}]*\},[^;]*?\{[^}]*\}),\s*(%\w+), \{[^}]*\},\s*(%\w+), \{[^}]*\};")

    def plain(match):
        whole, scales = match[0], {match[4], match[5]}
        return f"{match[1]}{match[2]}{match[3]};" if scales <= ones else whole

    return form.sub(plain, ptx)


def kinds(ptx):
    """FP8 of kind f8f6f4, which the older spelling of the same product does not name."""
    return re.sub(r"(mma\.\S*)\.kind::f8f6f4(\.f32\.e[45]m[32]\.e[45]m[32]\.f32)",
                  r"\1\2", ptx)


def long_loads(ptx):
    """Loads and stores of 32 bytes in two halves: nobody counts on their being one."""

    def load(match):
        op, names, base, offset = match[1], match[2].split(", "), match[3], int(match[4] or 0)
        return "\n\t".join(
            f"{op}.v4.{match[5]} {{{', '.join(names[i:i + 4])}}}, [{base}+{offset + 4 * i}];"
            for i in (0, 4))

    ptx = re.sub(r"(ld\.global\S*?)\.v8\.(?P<t>b32)\s+\{([^}]*)\}, \[(%\w+)(?:\+(\d+))?\];",
                 lambda m: load({1: m[1], 2: m[3], 3: m[4], 4: m[5], 5: m[2]}), ptx)

    def store(m):
        names, offset = m[5].split(", "), int(m[4] or 0)
        return "\n\t".join(
            f"{m[1]}.v4.{m[2]} [{m[3]}+{offset + 4 * i}], {{{', '.join(names[i:i + 4])}}};"
            for i in (0, 4))

    return re.sub(r"(st\.global\S*?)\.v8\.(b32)\s+\[(%\w+)(?:\+(\d+))?\], \{([^}]*)\};",
                  store, ptx)


def of_three(ptx):
    """The largest (smallest) of three f32, or of their magnitudes, in two steps: neither
    rounds, and both drop a NaN or keep it alike."""
    counter = itertools.count()

    def steps(match):
        op, target, sources = match[1], match[2], [match[3], match[4], match[5]]
        text = ""
        if ".abs" in op:
            op = op.replace(".abs", "")
            for i, name in enumerate(sources):
                sources[i] = f"%ab{next(counter)}"
                text += f".reg .f32 {sources[i]};\n\tabs.f32 {sources[i]}, {name};\n\t"
        first = f"%ab{next(counter)}"
        return (f"{{ {text}.reg .f32 {first};\n\t{op} {first}, {sources[0]}, {sources[1]};"
                f"\n\t{op} {target}, {first}, {sources[2]}; }}")

    return re.sub(r"\b((?:max|min)(?:\.NaN|\.abs|\.ftz)*\.f32)\s+(%\w+), (\S+), (\S+), (\S+);",
                  steps, ptx)


def mixed_sums(ptx):
    """A sum of f32 and a shorter float, which is made f32 first; that is exact."""
    counter = itertools.count()

    def widened(match):
        name = f"%wi{next(counter)}"
        return (f"{{ .reg .f32 {name};\n\tcvt.f32.{match[2]} {name}, {match[4]};\n\t"
                f"{match[1]}.f32 {match[3]}, {name}, {match[5]}; }}")

    return re.sub(r"\b((?:add|sub)(?:\.r[nzmp])?)\.f32\.(b?f16)\s+(%\w+), (%\w+), (\S+);",
                  widened, ptx)


# Of the short floats: bits of the mantissa, the least exponent, the bits below the sign
# and the largest number, as f32.
SHORT = {"e2m1x2": (1, 0, 3, "0f40C00000"), "e2m3x2": (3, 0, 5, "0f40F00000"),
         "e3m2x2": (2, -2, 5, "0f41E00000")}
# What f16 with the bits of a short float in its exponent and mantissa lacks.
LARGER = {"e2m1x2": 0x7400, "e2m3x2": 0x7400, "e3m2x2": 0x6C00}


def _short_code(kind, source, target):
    """A magnitude to nearest even: the sum with a power of two that has the place of the
    last bit for its own rounds, and its lower bits are the code in its binade."""
    mantissa, least, magnitude, largest = SHORT[kind]
    return f"""abs.f32 %mag, {source}; min.f32 %mag, %mag, {largest}; mov.b32 %bits, %mag;
	shr.u32 %exp, %bits, 23; max.u32 %exp, %exp, {127 + least};
	add.u32 %bits, %exp, {23 - mantissa}; shl.b32 %bits, %bits, 23; mov.b32 %big, %bits;
	add.rn.f32 %mag, %mag, %big; mov.b32 {target}, %mag; sub.u32 {target}, {target}, %bits;
	sub.u32 %exp, %exp, {127 + least}; shl.b32 %exp, %exp, {mantissa};
	add.u32 {target}, {target}, %exp; mov.b32 %bits, {source}; shr.u32 %bits, %bits, 31;
	setp.nan.f32 %none, {source}, {source}; selp.b32 %bits, 0, %bits, %none;
	shl.b32 %bits, %bits, {magnitude}; or.b32 {target}, {target}, %bits;
	"""


def to_short(ptx):
    """Two f32 to floats of 6 or 4 bits by integer arithmetic, rounded alike."""

    def codes(match):
        kind, target, high, low = match.groups()
        width, at = (8, 4) if kind == "e2m1x2" else (16, 8)
        return ("{ .reg .f32 %mag, %big; .reg .b32 %exp, %bits, %lo, %hi; .reg .pred %none;"
                f"\n\t{_short_code(kind, low, '%lo')}{_short_code(kind, high, '%hi')}"
                f"shl.b32 %hi, %hi, {at}; or.b32 %lo, %lo, %hi; "
                f"cvt.u{width}.u32 {target}, %lo; }}")

    return re.sub(r"cvt\.rn\.satfinite\.(e2m1x2|e2m3x2|e3m2x2)\.f32\s+(%\w+), (%\w+), (%\w+);",
                  codes, ptx)


def from_short(ptx):
    """Floats of 6 or 4 bits to f16, which has them all: a shift, and a power of two for
    the other bias."""

    def numbers(match):
        kind, target, source = match.groups()
        mantissa, _, magnitude, _ = SHORT[kind]
        width, apart = (8, 4) if kind == "e2m1x2" else (16, 8)
        bits, sign = (1 << magnitude) - 1, 15 - magnitude
        both = bits | bits << 16
        return (f"{{ .reg .b32 %two, %sgn; cvt.u32.u{width} %two, {source};\n\t"
                f"shl.b32 %sgn, %two, {16 - apart}; and.b32 %sgn, %sgn, 0xFFFF0000; "
                f"and.b32 %two, %two, {(1 << apart) - 1}; or.b32 %two, %two, %sgn;\n\t"
                f"shl.b32 %sgn, %two, {sign}; and.b32 %sgn, %sgn, 0x80008000; "
                f"and.b32 %two, %two, {both}; shl.b32 %two, %two, {10 - mantissa};\n\t"
                f"mov.b32 {target}, {LARGER[kind] * 0x10001}; "
                f"mul.rn.f16x2 {target}, {target}, %two; or.b32 {target}, {target}, %sgn; }}")

    return re.sub(r"cvt\.rn\.f16x2\.(e2m1x2|e2m3x2|e3m2x2)\s+(%\w+), (%\w+);", numbers, ptx)


def retarget(ptx, target="sm_90a"):
    """The text for another chip; ptxas says whether that has all of it."""
    ptx = re.sub(r"^\.target sm_\w+", f".target {target}", ptx, flags=re.MULTILINE)
    for rule in (pairs, unit_scales, kinds, long_loads, of_three, mixed_sums, to_short,
                 from_short):
        ptx = rule(ptx)
    return ptx


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.stdout.write(retarget(file.read()))
