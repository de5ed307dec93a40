"""tensormap.replace on a map in shared memory, and loads that several CTAs share.

The changed map goes to global memory, where its copy must have the fields of a map
that the host would have encoded so: the box that it loads says.
"""

from async_tensor import IMAGE, case
from scripts import CLUSTER, dump, fill, wait, barrier

HEADER = (".version 9.0\n.target sm_90a\n.address_size 64\n"
          ".extern .shared .align 1024 .b8 dynamic[];\n")
KERNEL = """
.visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 source,
    .param .u64 target, .param .u64 scratch)
{{
.reg .b32 %r<60>; .reg .b64 %d<60>; .reg .b16 %h<8>; .reg .pred %p<8>, %first, %yes;
.reg .b32 %loop, %word;
mov.u32 %r0, %tid.x; mov.u32 %r1, dynamic; setp.eq.u32 %first, %r0, 0;
ld.param.u64 %d0, [source]; cvta.to.global.u64 %d0, %d0;
ld.param.u64 %d1, [target]; cvta.to.global.u64 %d1, %d1;
ld.param.u64 %d50, [scratch]; cvta.to.global.u64 %d50, %d50;
mov.u32 %r2, %ctaid.x; mul.wide.u32 %d2, %r2, 32768; add.u64 %d1, %d1, %d2;
{body}
ret;
}}
"""


def copy_map():
    """The map to shared memory at 28672."""
    return ("shl.b32 %r4, %r0, 2; setp.lt.u32 %p1, %r0, 32; mov.u64 %d3, map; "
            "cvt.u64.u32 %d4, %r4; add.u64 %d3, %d3, %d4; add.u32 %r4, %r4, %r1;\n"
            "@%p1 ld.param.b32 %word, [%d3]; @%p1 st.shared.b32 [%r4+28672], %word;\n"
            "bar.sync 0; add.u32 %r5, %r1, 28672;\n")


def changed(name, lines, at, amount):
    body = fill(16384) + barrier() + copy_map()
    body += "@!%first bra changed;\n" + "\n".join(lines) + "\nchanged: bar.sync 0;\n"
    body += ("shr.u32 %r6, %r0, 5; setp.ne.u32 %p2, %r6, 0; @%p2 bra copied;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
             "gpu.sync.aligned [%d50], [%r5], 128;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%d50], 128;\ncopied: "
             "bar.sync 0;\n")
    where = ", ".join(str(x) for x in at)
    body += ("@!%first bra go; mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], "
             f"{amount};\ncp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile."
             f"mbarrier::complete_tx::bytes [%r1], [%d50, {{{where}}}], [%r3];\ngo:\n")
    return KERNEL.format(name=name, body=body + wait() + dump(16384))


def replace(field, value, kind="b32", index=None):
    ordinal = "" if index is None else f"{index}, "
    return (f"tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [%r5], "
            f"{ordinal}{value};")


# name, lines, coordinates, bytes of the box
CHANGES = [
    ("nothing", [], (16, 1), 64 * 8),
    ("global_address", ["add.u64 %d6, %d0, 4096;",
                        replace("global_address", "%d6", "b64")], (16, 1), 64 * 8),
    ("box_dim", ["mov.u32 %r7, 4;", replace("box_dim", "%r7", index=1)], (16, 1), 64 * 4),
    ("box_dim inner", ["mov.u32 %r7, 32;", replace("box_dim", "%r7", index=0)], (16, 1),
     32 * 8),
    ("global_dim", ["mov.u32 %r7, 40;", replace("global_dim", "%r7", index=0)], (16, 1),
     64 * 8),
    ("global_dim outer", ["mov.u32 %r7, 5;", replace("global_dim", "%r7", index=1)],
     (16, 1), 64 * 8),
    ("global_stride", ["mov.u64 %d6, 512;",
                       replace("global_stride", "%d6", "b64", index=0)], (16, 1),
     64 * 8),
    ("element_stride", ["mov.u32 %r7, 2;", replace("element_stride", "%r7", index=1)],
     (16, 1), 64 * 4),
    ("swizzle_mode", [replace("swizzle_mode", "2")], (16, 1), 64 * 8),
    ("elemtype and fill_mode", [replace("elemtype", "6"), replace("fill_mode", "1"),
                                "mov.u32 %r7, 32;", replace("box_dim", "%r7", index=0)],
     (240, 1), 64 * 8),
    ("rank", [replace("rank", "0")], (16,), 64),
]


def modules():
    one = case("u8", (256, 40), (64, 8), (0, 0))
    text, launches = HEADER, []
    for index, (name, lines, at, amount) in enumerate(CHANGES):
        kernel = f"map_{index}"
        text += changed(kernel, lines, at, amount)
        launches.append(entry(kernel, f"tensormap.replace {name}", one, 1))
    for index, (mask, issuer) in enumerate(((0xF, 1), (0x5, 3), (0xA, 0))):
        kernel = f"multicast_{index}"
        body = (fill(4096) + barrier() + f"mov.u32 %r4, %cluster_ctarank; "
                f"mov.u32 %r7, {mask}; shr.u32 %r7, %r7, %r4; and.b32 %r7, %r7, 1; "
                "mul.lo.u32 %r7, %r7, 512;\n"
                "@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], %r7;\n" +
                CLUSTER + f"mov.u16 %h1, {mask}; setp.ne.u32 %p1, %r4, {issuer};\n"
                "mov.u64 %d51, map; cvta.param.u64 %d51, %d51;\n"
                "@!%first bra go; @%p1 bra go;\n"
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                "complete_tx::bytes.multicast::cluster [%r1+1024], [%d51, {32, 3}], "
                "[%r3], %h1;\ngo:\n" + wait(scope=".acquire.cluster") + dump(4096) +
                CLUSTER)
        text += KERNEL.format(name=kernel, body=body)
        launches.append(entry(kernel, f"tensor multicast {mask:#x}", one, 4))
    yield text, launches


def entry(kernel, title, one, cluster):
    return {"special": "launch", "module": "map0", "kernel": kernel, "name": title,
            "grid": cluster, "block": 128, "shared": 32768, "cluster": cluster,
            "size": 32768 * cluster,
            "arguments": [["map", one, 0], ["in", IMAGE], ["out", 32768 * cluster],
                          ["scratch", 256]],
            "forms": [[title, 0, 4, 8192 * cluster, "exact"]]}
