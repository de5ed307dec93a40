"""Forms of cvt between every pair of types."""

import itertools

from form import Form

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
TO_WHOLE = (".rni", ".rzi", ".rmi", ".rpi")
TO_FLOAT = (".rn", ".rz", ".rm", ".rp", ".rna")
OUT = {"u8": "b32", "s8": "b32", "u16": "b16", "s16": "b16", "f16": "b16",
       "bf16": "b16", "u32": "b32", "s32": "b32", "f32": "b32", "tf32": "b32",
       "u64": "b64", "s64": "b64", "f64": "b64"}


def pool(kind):
    if kind in FLOATS:
        return kind
    return "i16" if kind in ("u8", "s8", "u16", "s16") else "i" + kind[1:]


def scalar():
    for to, source in itertools.product(INTEGERS + FLOATS, repeat=2):
        roundings = [""]
        if source in FLOATS and to in INTEGERS:
            roundings = TO_WHOLE
        elif to in FLOATS and source in INTEGERS:
            roundings = TO_FLOAT
        elif to in FLOATS:
            roundings = ("",) + TO_FLOAT + TO_WHOLE
        ftzs = ("", ".ftz") if "f32" in (to, source) else ("",)
        sats = ("", ".sat", ".satfinite", ".relu", ".satfinite.relu")
        for rounding, ftz, sat in itertools.product(roundings, ftzs, sats):
            name = f"cvt{rounding}{ftz}{sat}.{to}.{source}"
            if sat.endswith("relu"):
                # '.relu' stands before '.satfinite' in the text.
                tail = ".relu" + sat[:-5] if sat != ".relu" else ".relu"
                name = f"cvt{rounding}{ftz}{tail}.{to}.{source}"
            yield Form(name, f"{name} {{d}}, {{a}};", (pool(source),), OUT[to])


def narrow():
    for rounding, sat, relu in itertools.product(
            (".rn", ".rz", ".rna"), ("", ".satfinite"), ("", ".relu")):
        for order in ((sat, relu), (relu, sat)):
            middle = "".join(order)
            name = f"cvt{rounding}{middle}.tf32.f32"
            yield Form(name, f"{name} {{d}}, {{a}};", ("f32",), "b32", count=32768)
            for to in ("f16x2", "bf16x2"):
                name = f"cvt{rounding}{middle}.{to}.f32"
                yield Form(name, f"{name} {{d}}, {{a}}, {{b}};", ("f32", "f32"),
                           "b32", count=16384)
            for to in ("e4m3x2", "e5m2x2"):
                name = f"cvt{rounding}{middle}.{to}.f32"
                yield Form(name, f"{name} {{d}}, {{a}}, {{b}};", ("f32", "f32"),
                           "b16", count=16384)
                for source in ("f16x2", "bf16x2"):
                    name = f"cvt{rounding}{middle}.{to}.{source}"
                    yield Form(name, f"{name} {{d}}, {{a}};", (source,), "b16",
                               count=65536)
            for to, source in itertools.product(("f16x2", "bf16x2"),
                                                ("e4m3x2", "e5m2x2")):
                name = f"cvt{rounding}{middle}.{to}.{source}"
                yield Form(name, f"{name} {{d}}, {{a}};", ("i16",), "b32")
            if not sat and not relu:
                break
    for to in ("s16", "u16"):
        yield Form(f"cvt.pack.sat.{to}.s32",
                   f"cvt.pack.sat.{to}.s32 {{d}}, {{a}}, {{b}};", ("i32", "i32"),
                   "b32")
    for to in ("s8", "u8"):
        yield Form(f"cvt.pack.sat.{to}.s32.b32",
                   f"cvt.pack.sat.{to}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i32", "i32", "i32"), "b32")


def forms():
    seen = set()
    for form in itertools.chain(scalar(), narrow()):
        if form.name not in seen:
            seen.add(form.name)
            yield form
