"""Forms of mma.sync: each warp multiplies fragments of its own."""

import itertools

from form import Form

# shape, bits of an element of A and B; registers of A, B, C follow
SHAPES_OF = {
    "f16": ("m8n8k4", "m16n8k8", "m16n8k16"), "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"), "e4m3": ("m16n8k16", "m16n8k32"),
    "e5m2": ("m16n8k16", "m16n8k32"), "s8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "s4": ("m8n8k32", "m16n8k32", "m16n8k64"),
    "b1": ("m8n8k128", "m16n8k128", "m16n8k256"),
}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
        "s4": 4, "u4": 4, "b1": 1, "f64": 64}


STYLES = ("small", "wide", "rare")


def sizes(shape):
    text = shape.replace("m", " ").replace("n", " ").replace("k", " ").split()
    return [int(x) for x in text]


def call(op, regs_d, a, b, c, extra=""):
    group = lambda names: "{{" + ", ".join(names) + "}}"
    return (f"{op} {group(regs_d)}, {group(a)}, {group(b)}, {group(c)}{extra};")


def product(name, op, shape, a_kind, b_kind, out_kind, style, sparse=None, count=2048):
    """One product of a warp; 'style' is the pools' kind of values."""
    m, n, k = sizes(shape)
    if shape == "m8n8k4" and a_kind == "f16":
        registers_a = registers_b = 2
        elements_c = 8
    else:
        divide = 2 if sparse else 1
        registers_a = max(m * k * BITS[a_kind] // divide // 32 // max(
            32, BITS[a_kind]), 1)
        registers_b = max(n * k * BITS[b_kind] // 32 // max(32, BITS[b_kind]), 1)
        elements_c = m * n // 32
    per = 2 if out_kind == "f16" else 1
    registers_c = elements_c // per
    width = "b64" if out_kind == "f64" else "b32"
    style_of = lambda kind: f"{kind}.{style}" if kind + ".small" in KINDS else "any32"
    pools = ([style_of(a_kind)] * registers_a + [style_of(b_kind)] * registers_b +
             ["i32" if out_kind == "s32" else style_of(out_kind)] * registers_c)
    letters = ["{x%d}" % i for i in range(len(pools))]
    a, b, c = (letters[:registers_a],
               letters[registers_a:registers_a + registers_b],
               letters[registers_a + registers_b:])
    result = [f"r{i}" for i in range(registers_c)]
    extra = ""
    if sparse:
        pools.append(sparse[0])
        extra = ", {x%d}, %d" % (len(pools) - 1, sparse[1])
    size = (8 if width == "b64" else 4) * registers_c
    save = "".join(f"st.global.{width} [{{o}}+{size // registers_c * i}], r{i}; "
                   for i in range(registers_c))
    code = (f"{{{{ .reg .{width} r<{registers_c}>; " +
            call(op, result, a, b, c, extra) + " " + save + "}}")
    exact = style == "small" or out_kind == "s32"
    return Form(name, code, tuple(pools), size, "exact" if exact else "sum",
                count=count, warp=True, apart=bool(sparse and sparse[1] > 1))


KINDS = {kind + ".small" for kind in ("f16", "bf16", "tf32", "e4m3", "e5m2", "f32",
                                      "f64")}


def floats():
    for a_kind, style in itertools.product(("f16", "bf16", "tf32", "e4m3", "e5m2"),
                                           STYLES):
        for shape in SHAPES_OF[a_kind]:
            b_kinds = ("e4m3", "e5m2") if a_kind[0] == "e" else (a_kind,)
            for b_kind, out in itertools.product(b_kinds, ("f32", "f16")):
                layouts = itertools.product(
                    ("row", "col"), repeat=2) if shape == "m8n8k4" else (
                        ("row", "col"),)
                for layout in layouts:
                    op = (f"mma.sync.aligned.{shape}.{layout[0]}.{layout[1]}.{out}."
                          f"{a_kind}.{b_kind}.{out}")
                    yield product(f"{op} {style}", op, shape, a_kind, b_kind, out,
                                  style)
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
            for style in STYLES:
                op = (f"mma.sync.aligned.{shape}.row.col{rounding}.f64.f64.f64.f64")
                yield product(f"{op} {style}", op, shape, "f64", "f64", "f64", style)


def integers():
    for base in ("s8", "s4"):
        for shape in SHAPES_OF[base]:
            other = "u" + base[1:]
            for a_kind, b_kind in itertools.product((base, other), repeat=2):
                for sat in ("", ".satfinite"):
                    op = (f"mma.sync.aligned.{shape}.row.col{sat}.s32.{a_kind}."
                          f"{b_kind}.s32")
                    yield product(op, op, shape, a_kind, b_kind, "s32", "small")
    for shape in SHAPES_OF["b1"]:
        for how in ("and", "xor"):
            op = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{how}.popc"
            yield product(op, op, shape, "b1", "b1", "s32", "small")


SPARSE = {"f16": ("m16n8k16", "m16n8k32"), "bf16": ("m16n8k16", "m16n8k32"),
          "tf32": ("m16n8k8", "m16n8k16"), "e4m3": ("m16n8k64",),
          "e5m2": ("m16n8k64",), "s8": ("m16n8k32", "m16n8k64"),
          "s4": ("m16n8k64", "m16n8k128")}


def sparse():
    for a_kind, shapes in SPARSE.items():
        for shape, ordered, selector in itertools.product(
                shapes, ("", "::ordered_metadata"), range(4)):
            meta = ("single" if a_kind == "tf32" else "pairs", selector)
            if a_kind in ("s8", "s4"):
                for a, b, sat in itertools.product((a_kind, "u" + a_kind[1:]),
                                                   (a_kind, "u" + a_kind[1:]),
                                                   ("", ".satfinite")):
                    op = (f"mma.sp{ordered}.sync.aligned.{shape}.row.col{sat}.s32."
                          f"{a}.{b}.s32")
                    yield product(f"{op} {selector}", op, shape, a, b, "s32", "small",
                                  meta, 1024)
                continue
            b_kinds = ("e4m3", "e5m2") if a_kind[0] == "e" else (a_kind,)
            for b, out, style in itertools.product(b_kinds, ("f32", "f16"),
                                                   STYLES):
                op = (f"mma.sp{ordered}.sync.aligned.{shape}.row.col.{out}."
                      f"{a_kind}.{b}.{out}")
                yield product(f"{op} {selector} {style}", op, shape, a_kind, b, out,
                              style, meta, 1024)


def forms():
    yield from floats()
    yield from integers()
    yield from sparse()
