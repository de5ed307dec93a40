"""Small programs: mbarriers, asynchronous copies, clusters.

Each program has %r0 = %tid.x, %r1 = shared memory, %d0 = its input and %d1 = the
output of its CTA. {put} lines store a word of thread 0 at the next place.
"""

import random

OUT = 32768  # bytes of output for each CTA

PROGRAM = """
.visible .entry {name}(.param .u64 source, .param .u64 target)
{{
.reg .b32 %r<60>; .reg .b64 %d<60>; .reg .b16 %h<8>; .reg .pred %p<8>, %first, %yes;
.reg .b64 %token<400>; .reg .b32 %loop, %word;
mov.u32 %r0, %tid.x; mov.u32 %r1, dynamic; setp.eq.u32 %first, %r0, 0;
ld.param.u64 %d0, [source]; cvta.to.global.u64 %d0, %d0;
ld.param.u64 %d1, [target]; cvta.to.global.u64 %d1, %d1;
mov.u32 %r2, %ctaid.x; mul.wide.u32 %d2, %r2, {out}; add.u64 %d1, %d1, %d2;
{body}
ret;
}}
"""
HEADER = (".version 9.0\n.target sm_90a\n.address_size 64\n"
          ".extern .shared .align 1024 .b8 dynamic[];\n")
DUMP = """
shl.b32 %loop, %r0, 2;
save{tag}: setp.ge.u32 %p7, %loop, {size}; @%p7 bra saved{tag};
add.u32 %word, %r1, %loop; ld.shared.b32 %word, [%word+{start}];
cvt.u64.u32 %d59, %loop; add.u64 %d59, %d59, %d1; st.global.b32 [%d59+{at}], %word;
add.u32 %loop, %loop, 512; bra save{tag};
saved{tag}:
"""
FILL = """
shl.b32 %loop, %r0, 2;
fill{tag}: setp.ge.u32 %p7, %loop, {size}; @%p7 bra filled{tag};
cvt.u64.u32 %d59, %loop; add.u64 %d59, %d59, %d0; ld.global.b32 %word, [%d59+{start}];
add.u32 %r59, %r1, %loop; st.shared.b32 [%r59+{at}], %word;
add.u32 %loop, %loop, 512; bra fill{tag};
filled{tag}: fence.proxy.async; bar.sync 0;
"""
WAIT = """
mov.u32 %loop, 0;
wait{tag}: mbarrier.try_wait.parity{scope}.shared::cta.b64 %yes, [%r3], {parity};
@%yes bra done{tag};
add.u32 %loop, %loop, 1; setp.lt.u32 %p7, %loop, 2000; @%p7 bra wait{tag};
done{tag}: selp.b32 %word, 1, 0, %yes; @%first st.global.b32 [%d1+{at}], %word;
"""
CLUSTER = ("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n")


def fill(size, at=0, start=0, tag="0"):
    return FILL.format(size=size, at=at, start=start, tag=tag)


def dump(size, at=16, start=0, tag="0"):
    return DUMP.format(size=size, at=at, start=start, tag=tag)


def wait(at=0, parity=0, tag="0", scope=""):
    return WAIT.format(at=at, parity=parity, tag=tag, scope=scope)


def barrier(count=1):
    """An mbarrier at 30720 of shared memory, its address in %r3."""
    return ("add.u32 %r3, %r1, 30720;\n"
            f"@%first mbarrier.init.shared.b64 [%r3], {count};\n"
            "fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n")


class Sequence:
    """A random life of an mbarrier, of which one thread does everything."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.at, self.tokens = [], 0, []
        self.count = self.random.choice([1, 2, 3, 7, 100, (1 << 20) - 1])
        self.pending, self.tx, self.phase = self.count, 0, 0
        self.lines.append(f"mbarrier.init.shared.b64 [%r3], {self.count};")

    def put(self, register):
        self.lines.append(f"st.global.b32 [%d1+{self.at}], {register};")
        self.at += 4

    def complete(self):
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.pending = self.count

    def arrive(self):
        amount = self.random.choice([1, 1, self.pending,
                                     self.random.randint(1, self.pending)])
        index = len(self.tokens)
        drop = self.random.random() < 0.2 and self.count > amount
        finishes = amount == self.pending and self.tx == 0
        no_complete = not finishes and self.random.random() < 0.3
        expects = not no_complete and amount == 1 and self.random.random() < 0.3
        op = "mbarrier.arrive_drop" if drop else "mbarrier.arrive"
        if expects:
            more = self.random.choice([16, 100, 4096])
            if self.tx + more > 1 << 19:
                return
            self.tx += more
            self.lines.append(f"{op}.expect_tx.shared.b64 %token{index}, [%r3], "
                              f"{more};")
        else:
            tail = ".noComplete" if no_complete else ""
            self.lines.append(f"{op}{tail}.shared.b64 %token{index}, [%r3], "
                              f"{amount};")
        self.tokens.append(self.phase)
        self.lines.append(f"mbarrier.pending_count.b64 %word, %token{index};")
        self.put("%word")
        if drop:
            self.count -= amount
        self.pending -= amount
        self.complete()

    def expect(self):
        amount = self.random.choice([1, 64, 1000])
        self.lines.append("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], "
                          f"{amount};")
        self.tx += amount

    def finish(self):
        if self.tx <= 0:
            return
        amount = self.random.choice([self.tx, self.random.randint(1, self.tx)])
        self.lines.append("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], "
                          f"{amount};")
        self.tx -= amount
        self.complete()

    def test(self):
        waits = self.random.choice(["test_wait", "try_wait"])
        if self.tokens and self.random.random() < 0.5:
            index = self.random.randrange(max(len(self.tokens) - 4, 0),
                                          len(self.tokens))
            if self.tokens[index] < self.phase - 1:
                return
            if waits == "try_wait" and self.tokens[index] == self.phase:
                waits = "test_wait"
            self.lines.append(f"mbarrier.{waits}.shared.b64 %yes, [%r3], "
                              f"%token{index};")
        else:
            parity = self.random.randint(0, 1)
            if parity == self.phase & 1:
                waits = "test_wait"
            self.lines.append(f"mbarrier.{waits}.parity.shared.b64 %yes, [%r3], "
                              f"{parity};")
        self.lines.append("selp.b32 %word, 1, 0, %yes;")
        self.put("%word")

    def text(self):
        for _ in range(60):
            steps = [self.arrive] if self.pending else []
            steps += [self.finish, self.finish, self.test, self.test]
            if self.pending and self.tx < 1 << 18:
                steps.append(self.expect)
            self.random.choice(steps)()
        if self.tx:
            self.lines.append("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], "
                              f"{self.tx};")
        return ("add.u32 %r3, %r1, 0;\n@!%first bra end;\n" + "\n".join(self.lines) +
                "\nend: bar.sync 0;\n")


def copies():
    for how, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        body = fill(4096, start=16384)
        body += (f"mul.lo.u32 %r4, %r0, {size}; cvt.u64.u32 %d4, %r4; "
                 "add.u64 %d4, %d4, %d0; add.u32 %r4, %r4, %r1; "
                 "and.b32 %r5, %r0, 31; ")
        body += f"min.u32 %r5, %r5, {size};\n"
        for kind in ("", ", %r5", ", ignore"):
            if kind == ", ignore":
                text = ("and.b32 %r6, %r0, 3; setp.eq.u32 %p1, %r6, 2;\n"
                        f"cp.async.{how}.shared.global [%r4], [%d4], {size}, %p1;\n")
            else:
                amount = f"{size}{kind}"
                text = f"cp.async.{how}.shared.global [%r4], [%d4], {amount};\n"
            for tail in ("cp.async.commit_group; cp.async.wait_group 0;",
                         "cp.async.wait_all;"):
                yield (f"cp.async.{how} {size}{kind} {tail.split(';')[0]}",
                       body + text + tail + " bar.sync 0;\n" + dump(4096), 1, 4112)
    for inc, count in (("", 128), (".noinc", 128)):
        text = barrier(128)
        text += ("shl.b32 %r4, %r0, 4; cvt.u64.u32 %d4, %r4; add.u64 %d4, %d4, %d0; "
                 "add.u32 %r4, %r4, %r1; cp.async.ca.shared.global [%r4], [%d4], 16;\n"
                 f"cp.async.mbarrier.arrive{inc}.shared.b64 [%r3];\n")
        if not inc:
            text += "mbarrier.arrive.shared.b64 %d5, [%r3];\n"
        yield (f"cp.async.mbarrier.arrive{inc}", text + wait() + dump(2048), 1, 2064)


def bulk():
    for size in (16, 48, 1024, 8192):
        yield (f"cp.async.bulk to shared {size}", fill(16384, start=16384) + barrier() +
               f"@!%first bra go; mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], "
               f"{size};\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
               f"::bytes [%r1+16], [%d0+64], {size}, [%r3];\ngo:\n" + wait() +
               dump(8192 + 64), 1, 8192 + 80)
        yield (f"cp.async.bulk to global {size}", fill(16384) +
               f"@!%first bra go; cp.async.bulk.global.shared::cta.bulk_group "
               f"[%d1+32], [%r1+16], {size};\ncp.async.bulk.commit_group; "
               "cp.async.bulk.wait_group 0;\ngo: bar.sync 0;\n", 1, 8192 + 64)
    for op, kinds in (("add", ("u32", "s32", "u64", "f32", "f64", "noftz.f16",
                               "noftz.bf16")),
                      ("min", ("u32", "s32", "u64", "s64", "f16", "bf16")),
                      ("max", ("u32", "s32", "u64", "s64", "f16", "bf16")),
                      ("inc", ("u32",)), ("dec", ("u32",)), ("and", ("b32", "b64")),
                      ("or", ("b32", "b64")), ("xor", ("b32", "b64"))):
        for kind in kinds:
            pool = kind.split(".")[-1]
            copy = ("shl.b32 %loop, %r0, 2;\n"
                    "copy: setp.ge.u32 %p7, %loop, 8192; @%p7 bra copied;\n"
                    "cvt.u64.u32 %d59, %loop; add.u64 %d58, %d59, %d0; "
                    "ld.global.b32 %word, [%d58+8192]; add.u64 %d58, %d59, %d1; "
                    "st.global.b32 [%d58], %word; add.u32 %loop, %loop, 512; "
                    "bra copy;\ncopied: fence.proxy.async; bar.sync 0;\n")
            yield (f"cp.reduce.async.bulk to global .{op}.{kind}", copy + fill(8192) +
                   f"@!%first bra go; cp.reduce.async.bulk.global.shared::cta."
                   f"bulk_group.{op}.{kind} [%d1], [%r1], 8192;\n"
                   "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
                   "go: bar.sync 0;\n", 1, 8192, pool)
    for op, kind in (("and", "b32"), ("or", "b32"), ("xor", "b32"), ("add", "s32"),
                     ("add", "u32"), ("add", "u64"), ("min", "s32"), ("min", "u32"),
                     ("max", "s32"), ("max", "u32"), ("inc", "u32"), ("dec", "u32")):
        yield (f"cp.reduce.async.bulk to shared .{op}.{kind}", fill(16384) + barrier() +
               "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
               "@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], 8192;\n" +
               CLUSTER + "mapa.shared::cluster.u32 %r5, %r1, %r4; "
               "mapa.shared::cluster.u32 %r6, %r3, %r4;\n@!%first bra go;\n"
               "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
               f"::bytes.{op}.{kind} [%r5+8192], [%r1], 8192, [%r6];\ngo:\n" +
               wait(scope=".acquire.cluster") + dump(16384) + CLUSTER, 2, OUT,
               "i" + kind[1:])


def clusters():
    yield ("cp.async.bulk to another CTA", fill(8192) + barrier() +
           "mov.u32 %r4, %cluster_ctarank; add.u32 %r4, %r4, 1; and.b32 %r4, %r4, 3;\n"
           "@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], 4096;\n" +
           CLUSTER + "mapa.shared::cluster.u32 %r5, %r1, %r4; "
           "mapa.shared::cluster.u32 %r6, %r3, %r4;\n@!%first bra go;\n"
           "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx"
           "::bytes [%r5+16384], [%r1+1024], 4096, [%r6];\ngo:\n" +
           wait(scope=".acquire.cluster") + dump(4096, start=16384) + CLUSTER, 4, OUT)
    for mask in (0xF, 0x5, 0x8):
        yield (f"cp.async.bulk multicast {mask:#x}", fill(4096, start=32768) +
               barrier() + f"mov.u32 %r4, %cluster_ctarank; mov.u32 %r7, {mask}; "
               "shr.u32 %r7, %r7, %r4; and.b32 %r7, %r7, 1; mul.lo.u32 %r7, %r7, 2048;"
               "\n@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], %r7;\n" +
               CLUSTER + f"mov.u16 %h1, {mask}; setp.ne.u32 %p1, %r4, 1;\n"
               "@!%first bra go; @%p1 bra go;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
               "multicast::cluster [%r1+512], [%d0+4096], 2048, [%r3], %h1;\ngo:\n" +
               wait(scope=".acquire.cluster") + dump(4096) + CLUSTER, 4, OUT)
    for kind, size in (("b32", 4), ("u32", 4), ("s64", 8), ("f32", 4), ("v2.b32", 8),
                       ("v4.b32", 16), ("v2.f32", 8), ("v2.u64", 16), ("v4.f32", 16)):
        reg = "%d" if "64" in kind else "%r"
        width = "b64" if "64" in kind else "b32"
        count = int(kind[1]) if kind[0] == "v" else 1
        step = 8 if width == "b64" else 4
        loads = "".join(f"ld.global.{width} {reg}{20 + i}, [%d6+{i * step}]; "
                        for i in range(count))
        values = ", ".join(f"{reg}{20 + i}" for i in range(count))
        if count > 1:
            values = "{" + values + "}"
        yield (f"st.async.{kind}", fill(4096, start=16384) + barrier() +
               "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
               "@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], "
               f"{size * 128};\n" + CLUSTER +
               f"mul.lo.u32 %r8, %r0, {size}; cvt.u64.u32 %d6, %r8; "
               f"add.u64 %d6, %d6, %d0; {loads} add.u32 %r8, %r8, %r1;\n"
               "mapa.shared::cluster.u32 %r5, %r8, %r4; "
               "mapa.shared::cluster.u32 %r6, %r3, %r4;\n"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes."
               f"{kind} [%r5], {values}, [%r6];\n" + wait(scope=".acquire.cluster") +
               dump(4096) + CLUSTER, 2, OUT)
    for op, kind in (("add", "u32"), ("add", "s32"), ("add", "u64"), ("min", "s32"),
                     ("max", "u32"), ("inc", "u32"), ("dec", "u32"), ("and", "b32"),
                     ("or", "b32"), ("xor", "b32")):
        size = int(kind[1:]) // 8
        reg = "%d20" if size == 8 else "%r20"
        yield (f"red.async.{op}.{kind}", fill(4096, start=16384) + barrier() +
               "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
               "@%first mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], "
               f"{size * 128};\n" + CLUSTER +
               f"mul.lo.u32 %r8, %r0, {size}; cvt.u64.u32 %d6, %r8; "
               f"add.u64 %d6, %d6, %d0; ld.global.b{size * 8} {reg}, [%d6]; "
               "add.u32 %r8, %r8, %r1;\nmapa.shared::cluster.u32 %r5, %r8, %r4; "
               "mapa.shared::cluster.u32 %r6, %r3, %r4;\n"
               "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
               f"{op}.{kind} [%r5], {reg}, [%r6];\n" + wait(scope=".acquire.cluster") +
               dump(4096) + CLUSTER, 2, OUT, f"i{size * 8}")
    names = ["%clusterid.x", "%nclusterid.x", "%cluster_ctaid.x", "%cluster_nctaid.x",
             "%cluster_ctarank", "%cluster_nctarank", "%ctaid.x", "%nctaid.x",
             "%cluster_ctaid.y", "%cluster_nctaid.z", "%nclusterid.z"]
    lines = "".join(f"mov.u32 %word, {name}; @%first st.global.b32 [%d1+{4 * i}], "
                    "%word;\n" for i, name in enumerate(names))
    lines += ("mov.pred %p1, %is_explicit_cluster; selp.b32 %word, 1, 0, %p1; "
              f"@%first st.global.b32 [%d1+{4 * len(names)}], %word;\n")
    yield "cluster registers", lines, 4, OUT
    yield ("mapa and getctarank", fill(4096) + CLUSTER +
           "mov.u32 %r4, %cluster_ctarank; add.u32 %r4, %r4, %r0; and.b32 %r4, %r4, 3;"
           "\nshl.b32 %r8, %r0, 2; add.u32 %r8, %r8, %r1;\n"
           "mapa.shared::cluster.u32 %r5, %r8, %r4; "
           "getctarank.shared::cluster.u32 %r6, %r5; "
           "ld.shared::cluster.u32 %r7, [%r5];\n"
           "cvt.u64.u32 %d4, %r8; cvta.shared.u64 %d4, %d4; mapa.u64 %d5, %d4, %r4; "
           "getctarank.u64 %r9, %d5; ld.u32 %r10, [%d5+512];\n"
           "isspacep.shared::cluster %p1, %d5; isspacep.shared::cta %p2, %d5; "
           "isspacep.global %p3, %d5; selp.b32 %r11, 1, 0, %p1; "
           "selp.b32 %r12, 2, 0, %p2; selp.b32 %r13, 4, 0, %p3; "
           "or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, %r13;\n"
           "mul.wide.u32 %d6, %r0, 32; add.u64 %d6, %d6, %d1; "
           "st.global.v4.b32 [%d6], {%r6, %r7, %r9, %r10}; "
           "st.global.b32 [%d6+16], %r11;\n" + CLUSTER, 4, OUT)
    yield ("atomics of another CTA", fill(4096) + CLUSTER +
           "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
           "and.b32 %r8, %r0, 15; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r1;\n"
           "mapa.shared::cluster.u32 %r5, %r8, %r4; add.u32 %r9, %r0, 77; "
           "red.shared::cluster.add.u32 [%r5], %r9; red.relaxed.cluster."
           "shared::cluster.max.s32 [%r5+64], %r9; "
           "red.shared::cluster.xor.b32 [%r5+128], %r9;\n" + CLUSTER + dump(256), 2,
           OUT)
    yield ("setmaxnreg", "setmaxnreg.dec.sync.aligned.u32 40; mov.u32 %word, 5; "
           "setmaxnreg.inc.sync.aligned.u32 64; @%first st.global.b32 [%d1], %word;\n",
           1, 16)
    yield ("griddepcontrol", "griddepcontrol.wait; griddepcontrol.launch_dependents; "
           "mov.u32 %word, 5; @%first st.global.b32 [%d1], %word;\n", 1, 16)
    yield ("remote arrivals", barrier(256) + CLUSTER +
           "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n"
           "mapa.shared::cluster.u32 %r6, %r3, %r4; "
           "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; "
           "mbarrier.arrive.shared.b64 %d5, [%r3];\n" +
           wait(scope=".acquire.cluster") + CLUSTER, 2, OUT)


def programs():
    for seed in range(60):
        yield f"life of an mbarrier {seed}", Sequence(seed).text(), 1, 1024
    yield from copies()
    yield from bulk()
    yield from clusters()


def modules():
    every = list(programs())
    for number, at in enumerate(range(0, len(every), 30)):
        text, launches = HEADER, []
        for index, program in enumerate(every[at:at + 30]):
            title, body, cluster, size = program[:4]
            name = f"script_{number}_{index}"
            text += PROGRAM.format(name=name, body=body, out=OUT)
            total = OUT * cluster
            launches.append({
                "special": "launch", "module": f"script{number}", "kernel": name,
                "name": title, "grid": cluster, "block": 128, "shared": 32768,
                "cluster": cluster, "size": total,
                "arguments": [["in", f"script.{(program + ('image',))[4]}"],
                              ["out", total]],
                "forms": [[title, 0, 4, total // 4, "exact"]]})
        yield text, launches
