"""Forms of integers, bits and video."""

from form import Form

INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")


def bits_of(kind):
    return kind[1:]


def plain(op, kinds, operands, out=None):
    letters = ["a", "b", "c", "e"][:operands]
    for kind in kinds:
        bits = bits_of(kind)
        yield Form(f"{op}.{kind}",
                   f"{op}.{kind} {{d}}, " + ", ".join("{%s}" % x for x in letters)
                   + ";", ("i" + bits,) * operands, out or "b" + bits)


def arithmetic():
    for op in ("add", "sub", "min", "max"):
        yield from plain(op, INTEGERS, 2)
    for op in ("abs", "neg"):
        yield from plain(op, ("s16", "s32", "s64"), 1)
    for op in ("add.sat", "sub.sat"):
        yield from plain(op, ("s32",), 2)
    for op in ("mul.lo", "mul.hi"):
        yield from plain(op, INTEGERS, 2)
    for op in ("mad.lo", "mad.hi", "sad"):
        yield from plain(op, INTEGERS, 3)
    yield from plain("mad.hi.sat", ("s32",), 3)
    for op in ("mul24.lo", "mul24.hi"):
        yield from plain(op, ("s32", "u32"), 2)
    for op in ("mad24.lo", "mad24.hi"):
        yield from plain(op, ("s32", "u32"), 3)
    yield from plain("mad24.hi.sat", ("s32",), 3)
    for kind in ("s16", "u16", "s32", "u32"):
        bits = bits_of(kind)
        wide = "b" + str(2 * int(bits))
        yield Form(f"mul.wide.{kind}", f"mul.wide.{kind} {{d}}, {{a}}, {{b}};",
                   ("i" + bits,) * 2, wide)
        yield Form(f"mad.wide.{kind}", f"mad.wide.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i" + bits, "i" + bits, "i" + wide[1:]), wide)
    for op in ("div", "rem"):
        for kind in INTEGERS:
            bits = bits_of(kind)
            yield Form(f"{op}.{kind}", f"{op}.{kind} {{d}}, {{a}}, {{b}};",
                       ("i" + bits, "nz" + bits), "b" + bits)
    for kind in ("s16x2", "u16x2"):
        for op in ("add", "min", "max", "min.relu", "max.relu"):
            yield Form(f"{op}.{kind}", f"{op}.{kind} {{d}}, {{a}}, {{b}};",
                       ("i32", "i32"), "b32")
    for op in ("min.relu", "max.relu"):
        yield from plain(op, ("s32",), 2)


def carries():
    for bits in ("32", "64"):
        pools = ("i" + bits,) * 3
        reg = "b" + bits
        for first, last in (("add", "addc"), ("sub", "subc")):
            for kind in ("s", "u"):
                t = kind + bits
                yield Form(f"{first}.cc,{last}.{t}",
                           f"{{{{ .reg .{reg} t; {first}.cc.{t} t, {{a}}, {{b}}; "
                           f"{last}.{t} {{d}}, {{c}}, {{a}}; }}}}", pools, reg)
                yield Form(f"{first}.cc,{last}.cc,{last}.{t}",
                           f"{{{{ .reg .{reg} t; {first}.cc.{t} t, {{a}}, {{b}}; "
                           f"{last}.cc.{t} t, {{c}}, {{a}}; "
                           f"{last}.{t} {{d}}, {{b}}, 0; }}}}", pools, reg)
        for kind in ("s", "u"):
            t = kind + bits
            for low, high in (("lo", "hi"), ("hi", "lo")):
                yield Form(f"mad.{low}.cc,madc.{high}.{t}",
                           f"{{{{ .reg .{reg} t; mad.{low}.cc.{t} t, {{a}}, {{b}}, "
                           f"{{c}}; madc.{high}.{t} {{d}}, {{a}}, {{c}}, {{b}}; }}}}",
                           pools, reg)
                yield Form(f"mad.{low}.cc,madc.{high}.cc,addc.{t}",
                           f"{{{{ .reg .{reg} t; mad.{low}.cc.{t} t, {{a}}, {{b}}, "
                           f"{{c}}; madc.{high}.cc.{t} t, {{a}}, {{c}}, {{b}}; "
                           f"addc.{t} {{d}}, {{a}}, 0; }}}}", pools, reg)


def bits():
    for bits in ("16", "32", "64"):
        for op in ("and", "or", "xor"):
            yield from plain(op, ("b" + bits,), 2)
        for op in ("not", "cnot"):
            yield from plain(op, ("b" + bits,), 1)
        for op, kinds in (("shl", "b"), ("shr", "bus")):
            for kind in kinds:
                for pool in ("shift", "i32"):
                    t = kind + bits
                    yield Form(f"{op}.{t} by {pool}",
                               f"{op}.{t} {{d}}, {{a}}, {{b}};", ("i" + bits, pool),
                               "b" + bits)
    for way in ("l", "r"):
        for mode in ("wrap", "clamp"):
            for pool in ("shift", "i32"):
                yield Form(f"shf.{way}.{mode} by {pool}",
                           f"shf.{way}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};",
                           ("i32", "i32", pool), "b32")
    for kind in ("u32", "s32", "u64", "s64"):
        bits = bits_of(kind)
        for pool in ("shift300", "i32"):
            yield Form(f"bfe.{kind} by {pool}",
                       f"bfe.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                       ("i" + bits, pool, pool), "b" + bits)
            if kind[0] == "u":
                yield Form(f"bfi.b{bits} by {pool}",
                           f"bfi.b{bits} {{d}}, {{a}}, {{b}}, {{c}}, {{e}};",
                           ("i" + bits, "i" + bits, pool, pool), "b" + bits)
        for mode in ("", ".shiftamt"):
            yield Form(f"bfind{mode}.{kind}", f"bfind{mode}.{kind} {{d}}, {{a}};",
                       ("i" + bits,), "b32")
    for bits in ("32", "64"):
        yield Form(f"brev.b{bits}", f"brev.b{bits} {{d}}, {{a}};", ("i" + bits,),
                   "b" + bits)
        for op in ("clz", "popc"):
            yield Form(f"{op}.b{bits}", f"{op}.b{bits} {{d}}, {{a}};", ("i" + bits,),
                       "b32")
    for mode in ("clamp", "wrap"):
        for pool in ("shift", "i32"):
            yield Form(f"bmsk.{mode} by {pool}", f"bmsk.{mode}.b32 {{d}}, {{a}}, {{b}};",
                       (pool, pool), "b32")
            for kind in ("s32", "u32"):
                yield Form(f"szext.{mode}.{kind} by {pool}",
                           f"szext.{mode}.{kind} {{d}}, {{a}}, {{b}};",
                           ("i32", pool), "b32")
    yield Form("fns.b32", "{{ .reg .b32 t; and.b32 t, {b}, 31; "
               "fns.b32 {d}, {a}, t, {c}; }}", ("any32", "shift", "i32"), "b32")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield Form(f"prmt.b32{mode}", f"prmt.b32{mode} {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i32", "i32", "any32"), "b32")
    for table in (0x00, 0x80, 0xE8, 0x96, 0xCA, 0x1B, 0x57, 0xFF, 0x2D, 0xA4):
        yield Form(f"lop3.b32 {table:#x}",
                   f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};", ("any32",) * 3,
                   "b32")
    for op in ("and", "or"):
        yield Form(f"lop3.{op}.b32",
                   "{{ .reg .pred p, q; .reg .b32 t, u; setp.ne.b32 q, {c}, 0; "
                   f"lop3.{op}.b32 t|p, {{a}}, {{b}}, {{c}}, 0x96, q; "
                   "selp.b32 u, 1, 0, p; xor.b32 {d}, t, u; }}",
                   ("few", "few", "few"), "b32")
    for first in ("s32", "u32"):
        for second in ("s32", "u32"):
            for op in ("dp4a", "dp2a.lo", "dp2a.hi"):
                yield Form(f"{op}.{first}.{second}",
                           f"{op}.{first}.{second} {{d}}, {{a}}, {{b}}, {{c}};",
                           ("any32", "any32", "i32"), "b32")


def video():
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in ("s32.s32.s32", "u32.u32.u32", "s32.u32.s32", "u32.s32.u32"):
            for parts in ((".b0", ".b3"), (".h1", ".b2"), ("", ".h0"), ("", "")):
                a, b = ("{a}" + parts[0], "{b}" + parts[1])
                for sat in ("", ".sat"):
                    yield Form(f"{op}.{types}{sat} {parts}",
                               f"{op}.{types}{sat} {{d}}, {a}, {b};",
                               ("i32", "i32"), "b32", count=4096)
                if parts == ("", ".h0"):
                    for second in (".add", ".min", ".max"):
                        for sat in ("", ".sat"):
                            yield Form(f"{op}.{types}{sat}{second}",
                                       f"{op}.{types}{sat}{second} {{d}}, {a}, {b}, "
                                       "{c};", ("i32", "i32", "i32"), "b32",
                                       count=4096)
    for op in ("vshl", "vshr"):
        for types in ("u32.u32.u32", "s32.s32.u32"):
            for mode in (".clamp", ".wrap"):
                for sat in ("", ".sat"):
                    yield Form(f"{op}.{types}{mode}{sat}",
                               f"{op}.{types}{sat}{mode} {{d}}, {{a}}, {{b}}.b0;",
                               ("i32", "shift"), "b32", count=4096)
                    yield Form(f"{op}.{types}{mode}{sat}.add",
                               f"{op}.{types}{sat}{mode}.add {{d}}, {{a}}.h1, "
                               "{b}, {c};", ("i32", "shift", "i32"), "b32",
                               count=4096)
    for types in ("s32.s32", "u32.u32", "s32.u32"):
        for compare in ("eq", "ne", "lt", "le", "gt", "ge"):
            yield Form(f"vset.{types}.{compare}",
                       f"vset.{types}.{compare} {{d}}, {{a}}.b1, {{b}}.b1;",
                       ("i32", "i32"), "b32", count=4096)
            yield Form(f"vset.{types}.{compare}.add",
                       f"vset.{types}.{compare}.add {{d}}, {{a}}.h0, {{b}}.h1, "
                       "{c};", ("i32", "i32", "i32"), "b32", count=4096)
    for types in ("s32.s32.s32", "u32.u32.u32", "s32.u32.u32"):
        for sat in ("", ".sat"):
            yield Form(f"vmad.{types}{sat}",
                       f"vmad.{types}{sat} {{d}}, {{a}}.h0, {{b}}.h1, {{c}};",
                       ("i32", "i32", "i32"), "b32", count=4096)
    for lanes in ("2", "4"):
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for types in ("s32.s32.s32", "u32.u32.u32", "s32.u32.u32"):
                for mode in ("", ".sat", ".add"):
                    yield Form(f"{op}{lanes}.{types}{mode}",
                               f"{op}{lanes}.{types}{mode} {{d}}, {{a}}, {{b}}, {{c}};",
                               ("i32", "i32", "i32"), "b32", count=4096)
        for compare in ("eq", "lt", "ge"):
            for mode in ("", ".add"):
                yield Form(f"vset{lanes}.s32.u32.{compare}{mode}",
                           f"vset{lanes}.s32.u32.{compare}{mode} {{d}}, {{a}}, {{b}}, "
                           "{c};", ("i32", "i32", "i32"), "b32", count=4096)


def comparisons():
    for kind in INTEGERS + ("b16", "b32", "b64"):
        bits = bits_of(kind)
        names = ["eq", "ne"]
        if kind[0] != "b":
            names += ["lt", "le", "gt", "ge"]
        if kind[0] == "u":
            names += ["lo", "ls", "hi", "hs"]
        for compare in names:
            yield Form(f"setp.{compare}.{kind}", f"setp.{compare}.{kind} {{d}}, {{a}}, "
                       "{b};", ("i" + bits, "i" + bits), "pred", count=4096)
            yield Form(f"set.{compare}.s32.{kind}",
                       f"set.{compare}.s32.{kind} {{d}}, {{a}}, {{b}};",
                       ("i" + bits, "i" + bits), "b32", count=4096)
        yield Form(f"slct.{kind}.s32", f"slct.{kind}.s32 {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i" + bits, "i" + bits, "i32"), "b" + bits, count=4096)
        yield Form(f"slct.{kind}.f32", f"slct.{kind}.f32 {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i" + bits, "i" + bits, "f32"), "b" + bits, count=4096)
        yield Form(f"slct.ftz.{kind}.f32",
                   f"slct.ftz.{kind}.f32 {{d}}, {{a}}, {{b}}, {{c}};",
                   ("i" + bits, "i" + bits, "f32"), "b" + bits, count=4096)
    for op in ("and", "or", "xor"):
        yield Form(f"setp.lt.{op}.s32", "{{ .reg .pred p, q, r; .reg .b32 t, u; "
                   "setp.ne.b32 r, {c}, 0; "
                   f"setp.lt.{op}.s32 p|q, {{a}}, {{b}}, r; "
                   "selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 {d}, t, u; }}",
                   ("i32", "i32", "bit"), "b32")


def forms():
    yield from arithmetic()
    yield from carries()
    yield from bits()
    yield from video()
    yield from comparisons()
