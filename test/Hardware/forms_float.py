"""Forms of floating-point numbers."""

from form import Form

ROUNDINGS = ("", ".rn", ".rz", ".rm", ".rp")
COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
            "geu", "num", "nan")
REGISTER = {"f64": "b64", "f32": "b32", "f16": "b16", "bf16": "b16", "f16x2": "b32",
            "bf16x2": "b32"}
APPROXIMATE = 65536


def form(op, kind, operands, **more):
    letters = ("a", "b", "c")[:operands]
    return Form(f"{op}.{kind}", f"{op}.{kind} {{d}}, " + ", ".join(
        "{%s}" % x for x in letters) + ";", (kind,) * operands, REGISTER[kind], **more)


def arithmetic():
    for kind in REGISTER:
        for op, operands in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            for rounding in ROUNDINGS:
                for ftz in ("", ".ftz"):
                    for sat in ("", ".sat", ".relu", ".oob", ".oob.relu"):
                        strange = op == "fma" and rounding[1:] in (
                            "rz", "rm", "rp") and kind.endswith(("16", "16x2"))
                        yield form(op + rounding + ftz + sat, kind, operands,
                                   apart="oob" in sat or strange)
        for op in ("neg", "abs"):
            for ftz in ("", ".ftz"):
                yield form(op + ftz, kind, 1)
        for op in ("min", "max"):
            for ftz in ("", ".ftz"):
                for nan in ("", ".NaN"):
                    for sign in ("", ".xorsign.abs"):
                        yield form(op + ftz + nan + sign, kind, 2)
                        yield form(op + ftz + nan + sign, kind, 3)
    for kind in ("f32", "f64"):
        yield form("copysign", kind, 2)
        for test in ("finite", "infinite", "number", "notanumber", "normal",
                     "subnormal"):
            yield Form(f"testp.{test}.{kind}", f"testp.{test}.{kind} {{d}}, {{a}};",
                       (kind,), "pred")
        for rounding in (".rn", ".rz", ".rm", ".rp"):
            for ftz in ("", ".ftz"):
                yield form("div" + rounding + ftz, kind, 2)
                yield form("rcp" + rounding + ftz, kind, 1, count=16384)
                yield form("sqrt" + rounding + ftz, kind, 1, count=16384)
    for kind in ("f16", "bf16"):
        # Sums of mixed widths.
        for rounding in ROUNDINGS:
            for sat in ("", ".sat"):
                for op in ("add", "sub"):
                    yield Form(f"{op}{rounding}{sat}.f32.{kind}",
                               f"{op}{rounding}{sat}.f32.{kind} {{d}}, {{a}}, {{b}};",
                               (kind, "f32"), "b32")


def near_the_least():
    """What `.ftz` flushes, and which NaN is left of several."""
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        for sign, pools in (("", ("f32.one", "f32.least")),
                            (" reversed", ("f32.least", "f32.one"))):
            for op in ("mul", "div"):
                name = f"{op}{rounding}.ftz.f32"
                yield Form(f"{name} near the least{sign}",
                           f"{name} {{d}}, {{a}}, {{b}};", pools, "b32", count=4096)
        name = f"fma{rounding}.ftz.f32"
        yield Form(f"{name} near the least", f"{name} {{d}}, {{a}}, {{b}}, {{c}};",
                   ("f32.one", "f32.least", "f32"), "b32")
        for op, operands in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3),
                             ("div", 2)):
            for kind in ("f32", "f64"):
                name = f"{op}{rounding}.{kind}"
                yield Form(f"{name} of NaN", f"{name} {{d}}, " + ", ".join(
                    ("{a}", "{b}", "{c}")[:operands]) + ";",
                    (kind + ".nan",) * operands, REGISTER[kind], count=1024)
    for op in ("mul.rn.ftz.f16", "mul.ftz.sat.f16"):
        yield Form(f"{op} near the least", f"{op} {{d}}, {{a}}, {{b}};",
                   ("f16.one", "f16.least"), "b16", count=4096)
    yield Form("fma.rn.ftz.f16 near the least", "fma.rn.ftz.f16 {d}, {a}, {b}, {c};",
               ("f16.one", "f16.least", "f16"), "b16")
    for op in ("fma.rn.oob", "fma.rn.oob.relu", "fma.rn"):
        for kind in ("f16", "bf16"):
            yield Form(f"{op}.{kind} of fill", f"{op}.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                       ("f16.oob",) * 3, "b16", count=4096, apart="oob" in op)
            yield Form(f"{op}.{kind}x2 of fill", "{{ .reg .b32 x, y, z; "
                       "mov.b32 x, {{{a}, {b}}}; mov.b32 y, {{{b}, {c}}}; "
                       "mov.b32 z, {{{c}, {a}}}; "
                       f"{op}.{kind}x2 {{d}}, x, y, z; }}}}", ("f16.oob",) * 3, "b32",
                       count=4096, apart="oob" in op)


def approximate():
    more = {"group": "approximate", "count": APPROXIMATE}
    for ftz in ("", ".ftz"):
        for op in ("rcp.approx", "sqrt.approx", "rsqrt.approx", "ex2.approx",
                   "lg2.approx", "sin.approx", "cos.approx"):
            yield form(op + ftz, "f32", 1, **more)
        for op in ("div.approx", "div.full"):
            yield form(op + ftz, "f32", 2, **more)
        for op in ("rcp.approx", "sqrt.approx", "rsqrt.approx"):
            yield form(op + ftz, "f64", 1, group="approximate", count=16384)
        for kind in ("f16", "bf16", "f16x2", "bf16x2"):
            yield form("ex2.approx" + ftz, kind, 1, **more)
    for kind in ("f32", "f16", "bf16", "f16x2", "bf16x2"):
        yield form("tanh.approx", kind, 1, **more)


def comparisons():
    for kind in REGISTER:
        for compare in COMPARES:
            for ftz in ("", ".ftz"):
                if kind.endswith("x2"):
                    yield Form(f"setp.{compare}{ftz}.{kind}",
                               "{{ .reg .pred p, q; .reg .b32 t, u; "
                               f"setp.{compare}{ftz}.{kind} p|q, {{a}}, {{b}}; "
                               "selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; "
                               "or.b32 {d}, t, u; }}", (kind, kind), "b32",
                               count=4096)
                    targets = (kind, "u32", "s32")
                else:
                    yield Form(f"setp.{compare}{ftz}.{kind}",
                               f"setp.{compare}{ftz}.{kind} {{d}}, {{a}}, {{b}};",
                               (kind, kind), "pred", count=4096)
                    targets = ("u32", "f32", "f16", "bf16", "u16", "s16")
                for target in targets:
                    out = "b16" if target in ("f16", "bf16", "u16", "s16") else "b32"
                    yield Form(f"set.{compare}{ftz}.{target}.{kind}",
                               f"set.{compare}{ftz}.{target}.{kind} {{d}}, {{a}}, "
                               "{b};", (kind, kind), out, count=4096)
    for kind in ("f32", "f64"):
        bits = REGISTER[kind]
        yield Form(f"slct.{kind}.f32", f"slct.{kind}.f32 {{d}}, {{a}}, {{b}}, {{c}};",
                   (kind, kind, "f32"), bits, count=4096)


def forms():
    yield from arithmetic()
    yield from near_the_least()
    yield from approximate()
    yield from comparisons()
