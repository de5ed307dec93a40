"""Forms of wmma: one warp loads tiles of global memory, multiplies and stores."""

import itertools

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
KERNEL = """
.visible .entry {name}(.param .u64 left, .param .u64 right, .param .u64 sums,
    .param .u64 target)
{{
.reg .b64 %d<8>; .reg .b32 %r<40>; .reg .f64 %f<40>;
ld.param.u64 %d0, [left]; ld.param.u64 %d1, [right]; ld.param.u64 %d2, [sums];
ld.param.u64 %d3, [target];
cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
cvta.to.global.u64 %d2, %d2; cvta.to.global.u64 %d3, %d3;
wmma.load.a.sync.aligned.{a_layout}.{shape}.global.{a} {{{ra}}}, [%d0], {a_stride};
wmma.load.b.sync.aligned.{b_layout}.{shape}.global.{b} {{{rb}}}, [%d1], {b_stride};
wmma.load.c.sync.aligned.{c_layout}.{shape}.global.{c} {{{rc}}}, [%d2], {c_stride};
{op} {{{rd}}}, {{{ra}}}, {{{rb}}}, {{{rc}}};
wmma.store.d.sync.aligned.{c_layout}.{shape}.global.{d} [%d3], {{{rd}}}, {c_stride};
ret;
}}
"""
SHAPES = {"f16": ("m16n16k16", "m8n32k16", "m32n8k16"),
          "bf16": ("m16n16k16", "m8n32k16", "m32n8k16"), "tf32": ("m16n16k8",),
          "s8": ("m16n16k16", "m8n32k16", "m32n8k16"), "u8": ("m16n16k16",),
          "s4": ("m8n8k32",), "u4": ("m8n8k32",), "b1": ("m8n8k128",),
          "f64": ("m8n8k4",)}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
        "b1": 1, "f64": 64}


def registers(kind, shape, which):
    m, n, k = [int(x) for x in shape.replace("m", " ").replace("n", " ").replace(
        "k", " ").split()]
    size = {"a": m * k, "b": n * k, "c": m * n}[which]
    if kind == "f16":
        return 4 if which == "c" else 8
    if kind == "f64":
        return size // 32
    if which == "c":
        return size // 32
    return max(size * BITS[kind] // 1024, 1)


def names(first, count, letter="r"):
    return ", ".join(f"%{letter}{first + i}" for i in range(count))


def forms():
    for kind, shapes in SHAPES.items():
        outs = {"f16": ("f16.f16", "f32.f32", "f16.f32", "f32.f16"),
                "f64": ("f64.f64",)}.get(
                    kind, ("f32.f32",) if kind in ("bf16", "tf32") else ("s32.s32",))
        free = kind not in ("s4", "u4", "b1")
        layouts = list(itertools.product(("row", "col"), repeat=3))
        if not free:
            layouts = [("row", "col", "row"), ("row", "col", "col")]
        tails = (".and.popc", ".xor.popc") if kind == "b1" else ("",)
        for shape, out, layout, tail in itertools.product(shapes, outs, layouts, tails):
            yield kind, shape, out, layout, tail, ""
        if kind in ("s8", "s4"):
            yield kind, shapes[0], outs[0], layouts[0], "", ".satfinite"


def modules():
    text, launches = HEADER, []
    for index, (kind, shape, out, layout, tail, sat) in enumerate(forms()):
        d, c = out.split(".")
        types = f"{d}.{c}" if kind == "f16" else f"{d}.{kind}.{kind}.{c}"
        op = (f"wmma.mma.sync.aligned.{layout[0]}.{layout[1]}.{shape}{sat}.{types}"
              f"{tail}")
        if kind == "b1":
            op = (f"wmma.mma{tail}.sync.aligned.{layout[0]}.{layout[1]}.{shape}."
                  f"{types}")
        letter = "f" if kind == "f64" else "r"
        counts = [registers(kind, shape, "a"), registers(kind, shape, "b"),
                  registers("f16" if c == "f16" else kind if kind == "f64" else "f32",
                            shape, "c")]
        wide = registers("f16" if d == "f16" else kind if kind == "f64" else "f32",
                         shape, "c")
        at = [0, counts[0], counts[0] + counts[1]]
        name = f"wmma_{index}"
        text += KERNEL.format(
            name=name, a=kind, b=kind, c=c, d=d, shape=shape, op=op,
            a_layout=layout[0], b_layout=layout[1], c_layout=layout[2],
            a_stride=64 if BITS[kind] > 4 else 256,
            b_stride=64 if BITS[kind] > 4 else 256, c_stride=40,
            ra=names(at[0], counts[0], letter), rb=names(at[1], counts[1], letter),
            rc=names(at[2], counts[2], letter),
            rd=names(at[2], wide, letter))
        pool = f"{kind}.small" if kind in ("f16", "bf16", "tf32", "f64") else "any32"
        title = f"{op} {layout[2]}"
        launches.append({
            "special": "launch", "module": "tiles0", "kernel": name, "name": title,
            "grid": 1, "block": 32, "size": 16384,
            "arguments": [["in", f"left.{pool}"], ["in", f"right.{pool}"],
                          ["in", f"sums.{c}.small"], ["out", 16384]],
            "forms": [[title, 0, 4, 4096, "exact"]]})
    yield text, launches
