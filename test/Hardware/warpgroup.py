"""Forms of wgmma: shared memory full of elements, and descriptors over it.

Every element of the image differs in all likelihood from its neighbours, so a
result is right only if each one came from where the descriptor says.
"""

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
        "b1": 1}
A_AT, B_AT, IMAGE = 0, 32768, 65536

KERNEL = """
.visible .entry {name}(.param .u64 image, .param .u64 sums, .param .u64 target)
{{
.reg .b32 %r<20>; .reg .b64 %d<12>; .reg .pred %p; .reg .b32 %acc<{count}>;
.reg .b32 %a<4>; .reg .b32 %meta;
mov.u32 %r0, %tid.x; mov.u32 %r1, dynamic;
ld.param.u64 %d0, [image]; cvta.to.global.u64 %d0, %d0;
ld.param.u64 %d1, [sums]; cvta.to.global.u64 %d1, %d1;
ld.param.u64 %d2, [target]; cvta.to.global.u64 %d2, %d2;
shl.b32 %r5, %r0, 2;
fill: setp.ge.u32 %p, %r5, {image}; @%p bra filled;
add.u32 %r6, %r1, %r5; cvt.u64.u32 %d3, %r5; add.u64 %d3, %d3, %d0;
ld.global.b32 %r9, [%d3]; st.shared.b32 [%r6], %r9;
add.u32 %r5, %r5, 512; bra fill;
filled: fence.proxy.async; bar.sync 0;
mul.wide.u32 %d4, %r0, {bytes}; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4;
{load}
mul.wide.u32 %d5, %r0, 32; add.u64 %d5, %d5, %d0;
ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%d5];
ld.global.b32 %meta, [%d5+{metadata}];
and.b32 %r7, %r1, 0x3FFFF; shr.u32 %r7, %r7, 4; cvt.u64.u32 %d6, %r7;
add.u64 %d7, %d6, {a_start}; or.b64 %d7, %d7, {a_rest};
add.u64 %d8, %d6, {b_start}; or.b64 %d8, %d8, {b_rest};
setp.ne.b32 %p, {scale}, 0;
wgmma.fence.sync.aligned;
{code}
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
{save}
ret;
}}
"""


def descriptor(swizzle, leading, stride, base=0):
    return (leading >> 4) << 16 | (stride >> 4) << 32 | base << 49 | swizzle << 62


def kernel(name, kind_out, op, n, a, b, flags, register, scale=1, sparse=None):
    count = n // 2 if kind_out in ("f32", "s32") else n // 4
    names = ", ".join(f"%acc{i}" for i in range(count))
    left = "{%a0, %a1, %a2, %a3}" if register else "%d7"
    middle = f", %meta, {sparse}" if sparse is not None else ""
    code = f"{op} {{{names}}}, {left}, %d8{middle}, %p{flags};"
    load = " ".join(f"ld.global.b32 %acc{i}, [%d1+{4 * i}];" for i in range(count))
    save = " ".join(f"st.global.b32 [%d2+{4 * i}], %acc{i};" for i in range(count))
    return KERNEL.format(name=name, count=count, bytes=4 * count, image=IMAGE,
                         load=load, save=save, code=code, scale=scale,
                         a_start=(A_AT + a[1]) >> 4, a_rest=a[0],
                         b_start=(B_AT + b[1]) >> 4, b_rest=b[0],
                         metadata=IMAGE), count


K_OF = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32,
        "b1": 256}
LAYOUTS = [  # swizzle, leading, stride, base offset, start
    (0, 128, 256, 0, 0), (0, 2048, 128, 0, 0), (0, 256, 512, 0, 128),
    (3, 16, 256, 0, 0), (3, 512, 256, 0, 0), (2, 16, 512, 0, 0), (2, 16, 512, 0, 32),
    (1, 16, 1024, 0, 0), (1, 16, 1024, 0, 32), (1, 16, 1024, 0, 96),
    (1, 2048, 1024, 0, 0), (1, 16, 1024, 1, 128), (1, 16, 1024, 3, 384 + 32),
    (1, 16, 1024, 7, 896), (1, 16, 1024, 0, 256), (1, 16, 1024, 3, 0),
    (2, 16, 512, 1, 128), (2, 16, 512, 3, 384), (3, 16, 256, 1, 128),
]
TRANSPOSED = [
    (0, 128, 256, 0, 0), (0, 1024, 128, 0, 0), (3, 512, 256, 0, 0),
    (3, 256, 1024, 0, 0), (2, 1024, 512, 0, 0), (2, 512, 2048, 0, 0),
    (1, 2048, 1024, 0, 0), (1, 1024, 2048, 0, 0), (1, 4096, 1024, 0, 1024),
]


def laid(layout):
    swizzle, leading, stride, base, start = layout
    return descriptor(swizzle, leading, stride, base), start


def one(kind, other, out, n, a_layout, b_layout, scales=("1", "1"), trans=("0", "0"),
        register=False, scale=1, sat="", sparse=None):
    k = K_OF[kind] * (2 if sparse is not None else 1)
    dot = ".sp" if sparse is not None else ""
    op = f"wgmma.mma_async{dot}.sync.aligned.m64n{n}k{k}.{out}.{kind}.{other}"
    if kind in ("s8", "u8"):
        op = f"wgmma.mma_async{dot}.sync.aligned.m64n{n}k{k}{sat}.{out}.{kind}.{other}"
    if kind == "b1":
        op += ".and.popc"
    flags = ""
    if kind not in ("s8", "u8", "b1"):
        flags += "".join(f", {x}" for x in scales)
    if kind in ("f16", "bf16"):
        flags += "".join(f", {x}" for x in (trans[1:] if register else trans))
    return dict(op=op, kind=kind, out=out, n=n, a=a_layout, b=b_layout, flags=flags,
                register=register, scale=scale, sparse=sparse)


def forms():
    plain = LAYOUTS[7]
    for kind, other, out in (("f16", "f16", "f32"), ("f16", "f16", "f16"),
                             ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"),
                             ("e4m3", "e4m3", "f32"), ("e4m3", "e5m2", "f16"),
                             ("e5m2", "e4m3", "f32"), ("e5m2", "e5m2", "f16"),
                             ("s8", "s8", "s32"), ("u8", "s8", "s32"),
                             ("s8", "u8", "s32"), ("u8", "u8", "s32"),
                             ("b1", "b1", "s32")):
        counts = (8, 24, 64, 128, 256) if kind != "b1" else (8, 64, 128, 256)
        for n in counts:
            yield one(kind, other, out, n, plain, plain)
        if kind in ("f16", "tf32", "e4m3", "s8"):
            if out == "f32" or kind == "s8":
                for layout in LAYOUTS:
                    yield one(kind, other, out, 32, layout, plain)
                    yield one(kind, other, out, 32, plain, layout)
                    yield one(kind, other, out, 32, layout, plain, sparse=0)
                    yield one(kind, other, out, 32, plain, layout, sparse=0)
        if kind in ("f16", "bf16"):
            for layout in TRANSPOSED:
                yield one(kind, other, out, 64, layout, plain, trans=("1", "0"))
                yield one(kind, other, out, 64, plain, layout, trans=("0", "1"))
                yield one(kind, other, out, 128, layout, layout, trans=("1", "1"))
                yield one(kind, other, out, 64, plain, layout, trans=("0", "1"),
                          register=True)
        if kind not in ("s8", "u8", "b1"):
            for scales in (("-1", "1"), ("1", "-1"), ("-1", "-1")):
                yield one(kind, other, out, 32, plain, plain, scales=scales)
        if kind in ("s8", "u8"):
            yield one(kind, other, out, 32, plain, plain, sat=".satfinite")
        yield one(kind, other, out, 32, plain, plain, register=True)
        yield one(kind, other, out, 32, plain, plain, scale=0)
        if kind != "b1":
            for selector in range(4):
                for n in (8, 96):
                    yield one(kind, other, out, n, plain, plain, sparse=selector)
                yield one(kind, other, out, 32, plain, plain, sparse=selector,
                          register=True)


HEADER = (".version 9.0\n.target sm_90a\n.address_size 64\n"
          ".extern .shared .align 1024 .b8 dynamic[];\n")


def module(number, batch):
    """The text of a module and its launches."""
    text, launches = HEADER, []
    for index, form in enumerate(batch):
        name = f"wgmma_{number}_{index}"
        body, count = kernel(name, form["out"], form["op"], form["n"],
                             laid(form["a"]), laid(form["b"]), form["flags"],
                             form["register"], form["scale"], form["sparse"])
        text += body
        for style in ("small", "wide", "rare"):
            exact = style == "small" or form["out"] == "s32"
            if style != "small" and (form["out"] == "s32" or form["a"] != LAYOUTS[7]):
                continue
            kind = form["kind"] if form["kind"] in ("f16", "bf16", "tf32", "e4m3",
                                                    "e5m2") else "any32"
            title = (f"{form['op']} a={form['a']} b={form['b']}{form['flags']} "
                     f"{'registers ' if form['register'] else ''}scale={form['scale']} "
                     f"selector={form['sparse']} {style}").replace("  ", " ")
            size = 128 * 4 * count
            meta = "single" if form["kind"] == "tf32" else "pairs"
            launches.append({
                "special": "launch", "module": f"warpgroup{number}", "kernel": name,
                "name": title, "grid": 1, "block": 128, "shared": IMAGE, "size": size,
                "arguments": [["in", f"wgmma.{kind}.{style}.{meta}"],
                              ["in", f"sums.{form['out']}.{style}"], ["out", size]],
                "forms": [[title, 0, 4, size // 4, "exact" if exact else "sum"]]})
    return text, launches


def modules():
    every = list(forms())
    for number, at in enumerate(range(0, len(every), 24)):
        yield module(number, every[at:at + 24])
