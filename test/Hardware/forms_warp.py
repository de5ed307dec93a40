"""Forms in which the lanes of a warp work together."""

from form import Form

HALF = ("{{ .reg .pred half; .reg .b32 l; mov.u32 l, %laneid; and.b32 l, l, 5; "
        "setp.eq.s32 half, l, 1; mov.b32 {d}, 0x1234; @!half bra done{id}; ")
HALF_MASK = sum(1 << lane for lane in range(32) if lane & 5 == 1)
END = " done{id}: bar.warp.sync -1; }}"


def forms():
    for mode in ("up", "down", "bfly", "idx"):
        yield Form(f"shfl.sync.{mode}.b32", "{{ .reg .pred p; .reg .b32 t; "
                   f"shfl.sync.{mode}.b32 {{d}}|p, {{a}}, {{b}}, {{c}}, -1; "
                   "@!p xor.b32 {d}, {d}, -1; }}", ("i32", "lane", "clamp"), "b32",
                   warp=True)
        yield Form(f"shfl.sync.{mode}.b32 predicate", "{{ .reg .pred p; .reg .b32 t; "
                   f"shfl.sync.{mode}.b32 t|p, {{a}}, {{b}}, {{c}}, -1; "
                   "selp.b32 {d}, 1, 0, p; }}", ("i32", "lane", "clamp"), "b32",
                   warp=True)
    for mode in ("all", "any", "uni"):
        for pool in ("bit", "i32"):
            yield Form(f"vote.sync.{mode}.pred of {pool}",
                       "{{ .reg .pred p; setp.ne.b32 p, {a}, 0; "
                       f"vote.sync.{mode}.pred {{d}}, p, -1; }}}}", (pool,), "pred",
                       warp=True)
            yield Form(f"vote.sync.{mode}.pred of {pool} in some lanes",
                       HALF + ".reg .pred p, r; setp.ne.b32 p, {a}, 0; "
                       f"vote.sync.{mode}.pred r, p, {HALF_MASK}; "
                       "selp.b32 {d}, 1, 0, r;" + END, (pool,), "b32", warp=True)
    yield Form("vote.sync.ballot.b32", "{{ .reg .pred p; setp.ne.b32 p, {a}, 0; "
               "vote.sync.ballot.b32 {d}, p, -1; }}", ("bit",), "b32", warp=True)
    yield Form("vote.sync.ballot.b32 in some lanes",
               HALF + ".reg .pred p; setp.ne.b32 p, {a}, 0; "
               f"vote.sync.ballot.b32 {{d}}, p, {HALF_MASK};" + END, ("bit",), "b32",
               warp=True)
    yield Form("activemask in some lanes", HALF + "activemask.b32 {d};" + END,
               ("bit",), "b32", warp=True)
    for pool, bits in (("few", "32"), ("i32", "32"), ("i64", "64")):
        yield Form(f"match.any.sync.b{bits} of {pool}",
                   f"match.any.sync.b{bits} {{d}}, {{a}}, -1;", (pool,), "b32",
                   warp=True)
        yield Form(f"match.any.sync.b{bits} of {pool} in some lanes",
                   HALF + f"match.any.sync.b{bits} {{d}}, {{a}}, {HALF_MASK};" + END,
                   (pool,), "b32", warp=True)
        for change in ("", "and"):
            code = "{{ .reg .pred p; .reg .b32 t; .reg .b64 w; "
            value = "{a}"
            if change:
                value = "t" if bits == "32" else "w"
                code += f"and.b{bits} {value}, {{a}}, 0; "
            yield Form(f"match.all.sync.b{bits} of {pool} {change}", code +
                       f"match.all.sync.b{bits} {{d}}|p, {value}, -1; "
                       "@p xor.b32 {d}, {d}, 0x5555; }}", (pool,), "b32", warp=True)
    for op, kinds in (("add", ("s32", "u32")), ("min", ("s32", "u32")),
                      ("max", ("s32", "u32")), ("and", ("b32",)), ("or", ("b32",)),
                      ("xor", ("b32",))):
        for kind in kinds:
            for pool in ("i32", "bit"):
                yield Form(f"redux.sync.{op}.{kind} of {pool}",
                           f"redux.sync.{op}.{kind} {{d}}, {{a}}, -1;", (pool,),
                           "b32", warp=True)
                yield Form(f"redux.sync.{op}.{kind} of {pool} in some lanes",
                           HALF + f"redux.sync.{op}.{kind} {{d}}, {{a}}, "
                           f"{HALF_MASK};" + END, (pool,), "b32", warp=True)
    yield Form("elect.sync", "{{ .reg .pred p; .reg .b32 t; elect.sync t|p, -1; "
               "selp.b32 {d}, 100, 0, p; add.u32 {d}, {d}, t; }}", ("bit",), "b32",
               warp=True)
    yield Form("elect.sync in some lanes", HALF + ".reg .pred p; .reg .b32 t; "
               f"elect.sync t|p, {HALF_MASK}; selp.b32 {{d}}, 100, 0, p; "
               "add.u32 {d}, {d}, t;" + END, ("bit",), "b32", warp=True)
    yield Form("movmatrix.sync.aligned.m8n8.trans.b16",
               "movmatrix.sync.aligned.m8n8.trans.b16 {d}, {a};", ("any32",), "b32",
               warp=True)
    yield from matrices()
    yield from barriers()


def matrices():
    """Each warp has 1024 bytes of shared memory of its own, {w}; rows of 16 bytes."""
    store = ("{{ .reg .b32 at, l; .reg .b32 m<4>; mov.u32 l, %laneid; "
             "mad.lo.u32 at, l, 16, {w}; "
             "st.shared.v4.b32 [at], {{{a}, {b}, {c}, {e}}}; bar.warp.sync -1; ")
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            names = ", ".join(f"m{i}" for i in range(count))
            code = store + "".join(f"mov.b32 m{i}, 7; " for i in range(4))
            op = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            yield Form(op, code + f"{op} {{{{{names}}}}}, [at]; bar.warp.sync -1; "
                       "st.global.v4.b32 [{o}], {{m0, m1, m2, m3}}; }}",
                       ("any32",) * 4, 16, warp=True, count=2048)
            op = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            regs = ", ".join(["{a}", "{b}", "{c}", "{e}"][:count])
            yield Form(op, "{{ .reg .b32 at, l; .reg .b32 m<4>; "
                       "mov.u32 l, %laneid; mad.lo.u32 at, l, 16, {w}; "
                       "st.shared.v4.b32 [at], {{l, l, l, l}}; bar.warp.sync -1; "
                       f"{op} [at], {{{{{regs}}}}}; bar.warp.sync -1; "
                       "ld.shared.v4.b32 {{m0, m1, m2, m3}}, [at]; "
                       "bar.warp.sync -1; "
                       "st.global.v4.b32 [{o}], {{m0, m1, m2, m3}}; }}",
                       ("any32",) * 4, 16, warp=True, count=2048)


def barriers():
    for op in ("popc.u32", "and.pred", "or.pred"):
        code = "{{ .reg .pred p, r; setp.ne.b32 p, {a}, 0; "
        if op == "popc.u32":
            code += "barrier.sync 0; barrier.red.popc.u32 {d}, 1, p; }}"
        else:
            code += (f"barrier.red.{op} r, 1, p; selp.b32 {{d}}, 1, 0, r; }}}}")
        yield Form(f"barrier.red.{op}", code, ("bit",), "b32", warp=True)
