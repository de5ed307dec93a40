"""Copies by tensor maps: kernels, and cases of maps and coordinates.

A load fills shared memory with 0xEE, copies a box there and stores 'size' bytes of
it, after a word that says whether all expected bytes came. A store or a reduction
takes its box from an image; the tensor itself is the result.
"""

import itertools

from tensors import TYPES

IMAGE = "image"  # an input of random bytes
TENSOR = 1 << 18

LOAD = """
.visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 tensor,
    .param .u64 target, .param .u32 c0, .param .u32 c1, .param .u32 c2,
    .param .u32 c3, .param .u32 c4, .param .u32 bytes, .param .u32 size)
{{
.reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p, %q, %first;
.shared .align 8 .b64 barrier;
mov.u32 %r0, %tid.x; setp.eq.u32 %first, %r0, 0;
mov.u32 %r1, dynamic; mov.u32 %r2, barrier;
ld.param.u32 %r3, [size]; ld.param.u32 %r4, [bytes];
ld.param.u64 %d0, [target]; cvta.to.global.u64 %d0, %d0;
shl.b32 %r5, %r0, 2;
fill: setp.ge.u32 %p, %r5, %r3; @%p bra filled;
add.u32 %r6, %r1, %r5; st.shared.b32 [%r6], 0xEEEEEEEE;
add.u32 %r5, %r5, 512; bra fill;
filled:
@%first mbarrier.init.shared.b64 [%r2], 1;
fence.proxy.async; fence.mbarrier_init.release.cluster; bar.sync 0;
mov.u64 %d1, map; cvta.param.u64 %d1, %d1;
ld.param.u32 %r10, [c0]; ld.param.u32 %r11, [c1]; ld.param.u32 %r12, [c2];
ld.param.u32 %r13, [c3]; ld.param.u32 %r14, [c4];
@!%first bra issued;
mbarrier.arrive.expect_tx.shared.b64 %d2, [%r2], %r4;
{copy}
issued:
mov.u32 %r7, 0;
wait: mbarrier.try_wait.parity.shared.b64 %q, [%r2], 0; @%q bra done;
add.u32 %r7, %r7, 1; setp.lt.u32 %p, %r7, 2000; @%p bra wait;
done: selp.b32 %r8, 1, 0, %q; @%first st.global.b32 [%d0], %r8;
and.b32 %r8, %r1, 1023; @%first st.global.b32 [%d0+4], %r8;
shl.b32 %r5, %r0, 2;
save: setp.ge.u32 %p, %r5, %r3; @%p bra saved;
add.u32 %r6, %r1, %r5; ld.shared.b32 %r9, [%r6];
cvt.u64.u32 %d3, %r5; add.u64 %d3, %d3, %d0; st.global.b32 [%d3+16], %r9;
add.u32 %r5, %r5, 512; bra save;
saved: ret;
}}
"""

STORE = """
.visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 image,
    .param .u64 tensor, .param .u32 c0, .param .u32 c1, .param .u32 c2,
    .param .u32 c3, .param .u32 c4, .param .u32 size)
{{
.reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p, %first;
mov.u32 %r0, %tid.x; setp.eq.u32 %first, %r0, 0; mov.u32 %r1, dynamic;
ld.param.u32 %r3, [size]; ld.param.u64 %d0, [image]; cvta.to.global.u64 %d0, %d0;
shl.b32 %r5, %r0, 2;
fill: setp.ge.u32 %p, %r5, %r3; @%p bra filled;
add.u32 %r6, %r1, %r5; cvt.u64.u32 %d3, %r5; add.u64 %d3, %d3, %d0;
ld.global.b32 %r9, [%d3]; st.shared.b32 [%r6], %r9;
add.u32 %r5, %r5, 512; bra fill;
filled: fence.proxy.async; bar.sync 0;
mov.u64 %d1, map; cvta.param.u64 %d1, %d1;
ld.param.u32 %r10, [c0]; ld.param.u32 %r11, [c1]; ld.param.u32 %r12, [c2];
ld.param.u32 %r13, [c3]; ld.param.u32 %r14, [c4];
@!%first bra done;
{copy}
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
done: bar.sync 0; ret;
}}
"""
REGISTERS = ["%r10", "%r11", "%r12", "%r13", "%r14"]


def load_kernel(rank, mode):
    at = ", ".join(REGISTERS[:rank])
    tail = ""
    if mode == "im2col":
        tail = ", {%s}" % ", ".join(["%rs0", "%rs1", "%rs2"][:rank - 2])
    copy = (f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}"
            f".mbarrier::complete_tx::bytes [%r1], [%d1, {{{at}}}], [%r2]{tail};")
    text = LOAD.format(name=f"load_{mode}_{rank}", copy=copy)
    if mode == "im2col":
        text = text.replace(".reg .pred %p, %q, %first;",
                            ".reg .pred %p, %q, %first; .reg .b16 %rs<3>; "
                            ".reg .b32 %o;")
        text = text.replace("@!%first bra issued;", "ld.param.u32 %o, [offsets]; "
                            "and.b32 %o, %o, 15; cvt.u16.u32 %rs0, %o; "
                            "ld.param.u32 %o, [offsets]; bfe.u32 %o, %o, 4, 4; "
                            "cvt.u16.u32 %rs1, %o; ld.param.u32 %o, [offsets]; "
                            "bfe.u32 %o, %o, 8, 4; cvt.u16.u32 %rs2, %o;\n"
                            "@!%first bra issued;")
        text = text.replace(".param .u32 size)", ".param .u32 size, "
                            ".param .u32 offsets)")
    return text


def store_kernel(rank, mode, op):
    at = ", ".join(REGISTERS[:rank])
    head = "cp.async.bulk.tensor" if op == "copy" else "cp.reduce.async.bulk.tensor"
    middle = "" if op == "copy" else f".{op}"
    copy = (f"{head}.{rank}d.global.shared::cta{middle}.{mode}.bulk_group "
            f"[%d1, {{{at}}}], [%r1];")
    return STORE.format(name=f"{op}_{mode}_{rank}", copy=copy)


def module_text():
    header = (".version 9.0\n.target sm_90a\n.address_size 64\n"
              ".extern .shared .align 1024 .b8 dynamic[];\n")
    parts = [load_kernel(rank, "tile") for rank in range(1, 6)]
    parts += [load_kernel(rank, "im2col") for rank in range(3, 6)]
    for op in ("copy", "add", "min", "max", "inc", "dec", "and", "or", "xor"):
        for rank in range(1, 6):
            if op == "copy" or rank in (1, 3):
                parts.append(store_kernel(rank, "tile", op))
        parts.append(store_kernel(4, "im2col_no_offs", op))
    return header + "".join(parts)


def strides_of(kind, dims, pad=0):
    size = TYPES[kind][1] * dims[0] // 8
    strides = []
    for index in range(1, len(dims)):
        size = (size + 15) // 16 * 16 + pad
        strides.append(size)
        size *= dims[index]
    return strides


def case(kind, dims, box, at, **more):
    dims, box = list(dims), list(box)
    steps = more.pop("steps", [1] * len(dims))
    return {"type": kind, "dims": dims, "box": box, "at": list(at),
            "strides": more.pop("strides", None) or strides_of(
                kind, dims, more.pop("pad", 0)), "steps": list(steps), **more}


def load_cases():
    for kind in TYPES:
        bits = TYPES[kind][1]
        if bits < 8:
            continue
        size = bits // 8
        inner = 64 // size
        for fill in (0, 1):
            yield case(kind, (inner * 3, 9), (inner, 8), (inner * 2, 3), fill=fill)
            yield case(kind, (inner * 2 + 16 // size, 9), (inner, 8),
                       (inner * 2, -3), fill=fill)
    # Swizzles: full width and narrower, from each phase of the pattern.
    for swizzle, span in ((0, 256), (1, 32), (2, 64), (3, 128), (4, 128), (5, 128),
                          (6, 128)):
        for width in (16, 32, 48, 64, 80, 96, 128, 256):
            if width <= span:
                yield case("u8", (512, 40), (width, 32), (48, 5), swizzle=swizzle)
                yield case("u16", (256, 5, 7), (width // 2, 3, 4), (32, 1, 1),
                           swizzle=swizzle)
    # Ranks, with boxes that leave the tensor on either side.
    for rank in range(1, 6):
        dims = (40, 5, 4, 3, 6)[:rank]
        for at in itertools.product((-4, 0, 24), (-1, 3), (-2, 2), (0, 1), (4,)):
            yield case("u32", dims, (16, 4, 3, 2, 2)[:rank], at[:rank], pad=16)
            if rank < 3:
                yield case("f16", dims, (16, 4)[:rank], [at[0] * 2, *at[1:rank]],
                           fill=1)
            if rank < 2 and at[1:] != (-1, -2, 0, 4):
                break
    # Strides of elements.
    for steps in ((1, 2), (1, 3), (2, 1), (4, 8), (1, 1, 2), (3, 2, 3), (1, 5, 1)):
        rank = len(steps)
        for at in ((0, 0, 0), (4, 3, 1), (-4, -3, -1)):
            yield case("u32", (64, 30, 9)[:rank], (16, 9, 5)[:rank], at[:rank],
                       steps=steps)
    yield from interleaved_cases()
    # Coordinates along the inner dimension off a multiple of 16 bytes.
    for at in (1, 3, 5, -3, 13):
        yield case("u8", (200, 9), (64, 4), (at, 1), pad=48)
        yield case("u8", (200, 9), (128, 8), (at, 1), pad=48, swizzle=3)
        yield case("f32", (50, 9), (16, 4), (at, 1), fill=1)
        yield case("u64", (50, 9), (8, 4), (at, 1))
    yield case("u8", (208, 3), (256, 3), (0, 0))
    yield case("u8", (16, 300), (16, 256), (0, 60))
    # Sizes of the inner dimension that no multiple of 16 bytes.
    for inner in (17, 33, 63):
        yield case("u8", (inner, 9), (64, 8), (0, 2), strides=[64])
        yield case("u16", (inner, 9), (32, 8), (16, 2), strides=[128])
        yield case("f32", (inner, 9), (32, 4), (32, 2), strides=[256], fill=1)


def interleaved_cases():
    """Units of 16 or 32 bytes: W, H and D of them, slices of channels, images."""
    for unit in (1, 2):
        strides = [1024, 8192, 65536, 98304]
        for kind in ("u8", "u16", "f32", "u64"):
            for swizzle in range(4):
                yield case(kind, (24, 8, 6), (16, 4, 3), (2, 1, 2), interleave=unit,
                           swizzle=swizzle, strides=strides[:2])
        for at in ((16, 0, 0), (-4, 1, 0), (0, 7, 4), (0, 8, 0), (0, -1, 0), (3, 2, -1),
                   (23, 3, 5), (24, 3, 5)):
            yield case("f16", (24, 8, 6), (16, 2, 3), at, interleave=unit,
                       strides=strides[:2], fill=1)
            yield case("u8", (24, 8, 6), (16, 2, 3), at, interleave=unit, swizzle=1,
                       strides=strides[:2])
        for rank in (4, 5):
            for at in ((1, 2, 1, 1, 1), (-1, 3, 4, 2, -1)):
                yield case("f16", (24, 8, 6, 3, 2)[:rank], (8, 3, 2, 2, 2)[:rank],
                           at[:rank], interleave=unit, strides=strides[:rank - 1])
        for steps in ((2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 2)):
            yield case("u16", (24, 8, 6), (16, 2, 3), (1, 1, 0), interleave=unit,
                       steps=steps, strides=strides[:2])


def im2col_cases():
    for rank in range(3, 6):
        dims = (32, 9, 7, 5, 4)[:rank - 1] + (4,)
        axes = rank - 2
        for lower, upper, at, offsets, steps in (
                (0, 0, (0, 0, 0), 0, 1), (-1, -1, (-1, -1, -1), 0, 1),
                (-1, -1, (2, 1, -1), 0x12, 1), (-1, 1, (5, 3, 1), 0x102, 1),
                (-2, 0, (-2, 0, 0), 0x221, 1), (0, -2, (0, 0, 0), 0x222, 1),
                (-1, -1, (-1, -1, -1), 0x111, 2), (-2, 1, (4, 4, 2), 0x211, 3)):
            for kind, channels, swizzle, fill in (("u8", 32, 0, 0), ("f16", 16, 1, 1),
                                                  ("f32", 32, 3, 0)):
                if swizzle == 1:
                    channels = 16
                one = case(kind, dims, [1] * rank,
                           (0, *at[:axes], 1), swizzle=swizzle, fill=fill,
                           steps=[1] + [steps] * axes + [1])
                one.update(lower=[lower] * axes, upper=[upper] * axes,
                           channels=channels, pixels=50, offsets=offsets)
                yield one


def store_cases():
    for rank in range(1, 6):
        dims = (40, 5, 4, 3, 6)[:rank]
        for at in ((0, 0, 0, 0, 0), (32, 3, 2, 2, 5), (4, 1, 1, 1, 1)):
            yield "copy", case("u32", dims, (16, 4, 3, 2, 2)[:rank], at[:rank],
                               pad=16)
            yield "copy", case("u32", dims, (16, 4, 3, 2, 2)[:rank],
                               [-4] + [-1] * (rank - 1), pad=16)
    for swizzle, span in ((1, 32), (2, 64), (3, 128)):
        for width in (16, 32, 64, 128):
            if width <= span:
                yield "copy", case("u8", (512, 40), (width, 32), (48, 5),
                                   swizzle=swizzle)
    for steps in ((1, 2), (1, 3), (2, 1)):
        yield "copy", case("u32", (64, 30), (16, 9), (4, 3), steps=steps)
    for kind in ("f32ftz", "tf32", "tf32ftz", "f32", "bf16", "f64"):
        size = TYPES[kind][1] // 8
        yield "copy", case(kind, (64, 30), (64 // size, 9), (16 // size, 3))
    reductions = {
        "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64", "f32ftz"),
        "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
        "max": ("u32", "s32", "u64", "s64", "f16", "bf16"), "inc": ("u32",),
        "dec": ("u32",), "and": ("u32", "u64", "s32"), "or": ("u32", "u64"),
        "xor": ("u32", "u64")}
    for op, kinds in reductions.items():
        for kind in kinds:
            size = TYPES[kind][1] // 8
            yield op, case(kind, (128 // size * 4, 7, 6), (128 // size, 4, 3),
                           (16 // size, 5, 2), swizzle=3)
            yield op, case(kind, (4096,), (256 // size,), (32 // size,))


def expected_bytes(one):
    size = TYPES[one["type"]][1]
    if one.get("interleave"):
        # Of one slice of channels.
        count = 16 * one["interleave"]
        for axis, (box, step) in enumerate(zip(one["box"], one["steps"])):
            count *= 1 if axis == len(one["dims"]) - 2 else -(-box // step)
        return count
    if "lower" in one:
        return one["channels"] * one["pixels"] * size // 8
    count = one["box"][0]
    for box, step in list(zip(one["box"], one["steps"]))[1:]:
        count *= -(-box // step)
    return count * size // 8


def launches():
    """Launches of the module 'tensor', each with a name."""
    for number, one in enumerate(itertools.chain(load_cases(), im2col_cases())):
        at = (one["at"] + [0] * 5)[:5]
        mode = "im2col" if "lower" in one else "tile"
        amount = expected_bytes(one)
        # Narrow rows may lie apart: 128 bytes at most.
        rows = amount // max(one.get("channels", one["box"][0]) *
                             TYPES[one["type"]][1] // 8, 1)
        size = min(max((amount + 1023) // 1024 * 1024, rows * 128) + 1024, 98304)
        arguments = [["in", IMAGE], ["out", size + 16],
                     *[["u32", x] for x in at], ["u32", amount], ["u32", size]]
        arguments.insert(0, ["map", one, 0])
        if mode == "im2col":
            arguments.append(["u32", one["offsets"]])
        yield launch(f"load_{mode}_{len(one['dims'])}",
                     f"tensor load {number} {describe(one)}", arguments, size, size + 16)
    for number, (op, one) in enumerate(store_cases()):
        at = (one["at"] + [0] * 5)[:5]
        rank = len(one["dims"])
        arguments = [["map", one, 1], ["in", IMAGE],
                     ["out", 65536, "tensor." + one["type"]],
                     *[["u32", x] for x in at], ["u32", 32768]]
        kernel = f"{op}_tile_{rank}"
        yield launch(kernel, f"tensor {op} {number} {describe(one)}", arguments, 32768,
                     65536)


def launch(kernel, name, arguments, shared, size):
    return {"special": "launch", "module": "tensor", "kernel": kernel, "name": name,
            "arguments": arguments, "grid": 1, "block": 128, "shared": shared,
            "forms": [[name, 0, 1, size, "exact"]], "size": size}


def describe(one):
    keep = {k: v for k, v in one.items() if v not in (0, None)}
    return " ".join(f"{k}={v}" for k, v in keep.items()).replace(" ", "")
