"""Forms of atomics and of loads and stores, each thread at an address of its own."""

from form import Form

SHARED = ("shared", "{s}")
GLOBAL = ("global", "{o}")


def record(kind_bits):
    return kind_bits // 8


def atomic(op, kind, pools, bits, operands):
    """What the atomic returns and what it leaves, both at {o}."""
    size = bits // 8
    for space, at in (SHARED, GLOBAL):
        args = ", ".join(["{b}", "{c}"][:operands])
        yield Form(f"atom.{space}.{op}.{kind}",
                   f"{{{{ .reg .b{bits} old, new; st.{space}.b{bits} [{at}], {{a}}; "
                   f"atom.{space}.{op}.{kind} old, [{at}], {args}; "
                   f"ld.{space}.b{bits} new, [{at}]; st.global.b{bits} [{{o}}], new; "
                   f"st.global.b{bits} [{{o}}+{size}], old; }}}}", pools, 2 * size,
                   count=4096)
        if operands == 1 and op != "exch":
            name = f"red.{space}.{op}.{kind}"
            yield Form(name, f"{{{{ .reg .b{bits} new; "
                       f"st.{space}.b{bits} [{at}], {{a}}; "
                       f"{name} [{at}], {args}; "
                       f"ld.{space}.b{bits} new, [{at}]; "
                       f"st.global.b{bits} [{{o}}], new; }}}}", pools, size,
                       count=4096)


def scalars():
    for op, kinds in (("add", ("s32", "u32", "u64", "f32", "f64")),
                      ("min", ("s32", "u32", "s64", "u64")),
                      ("max", ("s32", "u32", "s64", "u64")), ("inc", ("u32",)),
                      ("dec", ("u32",)), ("and", ("b32", "b64")),
                      ("or", ("b32", "b64")), ("xor", ("b32", "b64")),
                      ("exch", ("b32", "b64"))):
        for kind in kinds:
            bits = int(kind[1:])
            pool = kind if kind[0] == "f" else f"i{bits}"
            yield from atomic(op, kind, (pool, pool), bits, 1)
    for kind in ("f16", "bf16", "f16x2", "bf16x2"):
        yield from atomic("add.noftz", kind, (kind, kind),
                          32 if kind.endswith("x2") else 16, 1)
        for op in ("min.noftz", "max.noftz"):
            yield from atomic(op, kind, (kind, kind),
                              32 if kind.endswith("x2") else 16, 1)
    for bits, pool in ((16, "i16"), (32, "few"), (64, "i64")):
        yield from atomic("cas", f"b{bits}", (pool, pool, pool), bits, 2)


def wide():
    for space, at in (SHARED, GLOBAL):
        load = f"ld.{space}.v2.b64 {{{{x, y}}}}, [{at}]; "
        yield Form(f"atom.{space}.exch.b128", "{{ .reg .b128 q, r; .reg .b64 x, y; "
                   f"st.{space}.v2.b64 [{at}], {{{{{{a}}, {{b}}}}}}; "
                   "mov.b128 q, {{{b}, {c}}}; "
                   f"atom.{space}.exch.b128 r, [{at}], q; {load}"
                   "st.global.v2.b64 [{o}], {{x, y}}; mov.b128 {{x, y}}, r; "
                   "st.global.v2.b64 [{o}+16], {{x, y}}; }}", ("i64",) * 3, 32,
                   count=4096)
        yield Form(f"atom.{space}.cas.b128", "{{ .reg .b128 q, r, t; "
                   ".reg .b64 x, y; "
                   f"st.{space}.v2.b64 [{at}], {{{{{{a}}, {{b}}}}}}; "
                   "mov.b128 q, {{{a}, {c}}}; mov.b128 t, {{{c}, {a}}}; "
                   f"atom.{space}.cas.b128 r, [{at}], q, t; {load}"
                   "st.global.v2.b64 [{o}], {{x, y}}; mov.b128 {{x, y}}, r; "
                   "st.global.v2.b64 [{o}+16], {{x, y}}; }}", ("few", ) * 0 +
                   ("i64",) * 3, 32, count=4096)


VECTORS = (("f32", 2, "b32", "f32"), ("f32", 4, "b32", "f32"),
           ("f16", 2, "b16", "f16"), ("f16", 4, "b16", "f16"),
           ("f16", 8, "b16", "f16"), ("bf16", 2, "b16", "bf16"),
           ("bf16", 8, "b16", "bf16"), ("f16x2", 2, "b32", "f16x2"),
           ("f16x2", 4, "b32", "f16x2"), ("bf16x2", 4, "b32", "bf16x2"))


def vectors():
    for kind, count, reg, pool in VECTORS:
        size = int(reg[1:]) // 8
        for op in ("add",) if kind == "f32" else ("add.noftz", "min.noftz",
                                                  "max.noftz"):
            letters = "abce"
            first = [letters[i % 2] for i in range(count)]
            second = [letters[2 + i // 2 % 2] for i in range(count)]
            values = ", ".join("{%s}" % x for x in second)
            old = ", ".join(f"r{i}" for i in range(count))
            fill = "".join(f"st.global.{reg} [{{o}}+{i * size}], {{{x}}}; "
                           for i, x in enumerate(first))
            save = "".join(f"st.global.{reg} [{{o}}+{(count + i) * size}], r{i}; "
                           for i in range(count))
            name = f"atom.global.v{count}.{kind}.{op}"
            op_text = f"atom.global.{op.replace('.noftz', '')}"
            if ".noftz" in op:
                op_text += ".noftz"
            yield Form(name, f"{{{{ .reg .{reg} r<{count}>; {fill}"
                       f"{op_text}.v{count}.{kind} {{{{{old}}}}}, [{{o}}], "
                       f"{{{{{values}}}}}; {save} }}}}",
                       (pool,) * 4, 2 * count * size, count=4096)
            yield Form("red" + name[4:], f"{{{{ {fill}"
                       f"red{op_text[4:]}.v{count}.{kind} [{{o}}], "
                       f"{{{{{values}}}}}; }}}}", (pool,) * 4, count * size,
                       count=4096)


def loads():
    """Widening loads and the cache operators, from what the thread has stored."""
    for kind in ("s8", "u8", "s16", "u16"):
        for reg in ("b32", "b64"):
            if kind.endswith("8"):
                code = "st.global.b8 [{o}], {a}; "
            else:
                code = "st.global.b16 [{o}], {a}; "
            yield Form(f"ld.global.{kind} into {reg}", "{{ .reg ." + reg + " t; "
                       ".reg .b64 u; " + code + f"ld.global.{kind} t, [{{o}}]; " +
                       ("mov.b64 u, t; " if reg == "b64" else
                        "cvt.u64.u32 u, t; ") + "st.global.b64 [{o}], u; }}",
                       ("i16",), 8, count=65536)
    for store in ("", ".wb", ".cg", ".cs", ".wt", ".relaxed.gpu", ".release.sys",
                  ".volatile", ".L1::no_allocate"):
        for load in ("", ".ca", ".cg", ".cs", ".lu", ".cv", ".relaxed.gpu",
                     ".acquire.gpu", ".volatile", ".L1::evict_last.L2::128B"):
            yield Form(f"st{store} ld{load}", "{{ .reg .b32 t, u; "
                       f"st{store}.global.b32 [{{o}}], {{a}}; "
                       f"ld{load}.global.b32 t, [{{o}}]; add.u32 t, t, 1; "
                       "st.global.b32 [{o}], t; }}".replace("st.global", "st.global"),
                       ("i32",), 4, count=4096)


def spaces():
    """Where an address is: {s} is in shared memory, {o} in global memory."""
    code = ("{{ .reg .pred p; .reg .b64 w; .reg .b32 x; .local .align 8 .b8 l{id}[16]; "
            "%s selp.b32 {d}, 1, 0, p; }}")
    for space in ("global", "shared", "shared::cta", "shared::cluster", "local",
                  "const"):
        for name, text in (("global", "mov.b64 w, {o};"),
                           ("shared", "cvt.u64.u32 w, {s}; cvta.shared.u64 w, w;"),
                           ("local", "mov.u64 w, l{id}; cvta.local.u64 w, w;"),
                           ("null", "mov.u64 w, 0;")):
            yield Form(f"isspacep.{space} of {name}",
                       code % (text + f" isspacep.{space} p, w;"), ("bit",), "b32",
                       count=128)
    yield Form("cvta.to.shared", "{{ .reg .b64 w, v; cvt.u64.u32 w, {s}; "
               "cvta.shared.u64 v, w; cvta.to.shared.u64 v, v; sub.u64 v, v, w; "
               "cvt.u32.u64 {d}, v; }}", ("bit",), "b32", count=128)
    yield Form("cvta.to.global", "{{ .reg .b64 w, v; cvta.global.u64 v, {o}; "
               "cvta.to.global.u64 v, v; sub.u64 v, v, {o}; cvt.u32.u64 {d}, v; }}",
               ("bit",), "b32", count=128)
    for special in ("%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid",
                    "%clusterid.x", "%nclusterid.x", "%cluster_ctaid.x",
                    "%cluster_nctaid.x", "%cluster_ctarank", "%cluster_nctarank",
                    "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt",
                    "%lanemask_ge", "%dynamic_smem_size"):
        yield Form(f"mov {special}", f"mov.u32 {{d}}, {special};", ("bit",), "b32",
                   count=512)


def forms():
    yield from scalars()
    yield from wide()
    yield from vectors()
    yield from loads()
    yield from spaces()
