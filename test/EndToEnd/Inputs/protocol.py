# Makes single edits to a PTX file that break its protocol, not its arithmetic:
# a fence, wait, arrive or commit dropped, moved or changed, a parity, a byte
# count, a multicast mask. Runs each with asynchronous operations that finish at
# once, at random times and as late as they may. Prints one line per edit that
# nobody noticed and per edit that is equivalent, then how many there were.
#
# usage: protocol.py FILE.mlir FILE.ptx FOLDER [VERIFY OPTIONS...]
#        protocol.py PROGRAM - FOLDER [EMULATE OPTIONS...]
#
# The second form takes the PTX in a CUDA program that checks itself.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys

import mutations
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
options = sys.argv[4:]
if ptx_path == "-":
    program = mutations.Program(source, *options)
    ptx, missed = program.ptx(), program.missed
else:
    ptx = Ptx.read(ptx_path)
    missed = mutations.verifier(source, "--num-sms=2", *options)
lines, places, definition = ptx.lines, ptx.places, ptx.definition
edited = ptx.edited

# Edits that leave a correct kernel, each with the reason: regular expressions
# for "KERNEL: EDIT".
EQUIVALENT = [
    (r".*: drop tcgen05.fence::", "the barrier or commit beside it orders "
     "tensor memory on the hardware that is known; entry 75, advice"),
    (r".*: drop tcgen05.relinquish_alloc_permit", "no other CTA fits on the SM"),
    (r".*: drop bar.warp.sync", "the branches join before the next instruction "
     "for the whole warp, with or without it"),
    (r".*: drop fence.mbarrier_init", "a CTA or cluster barrier behind it "
     "publishes the initialisation to the threads that use the barriers"),
    (r"((sparse|promoted)?pair|cluster): relaxed cluster arrive 0 of", "the fence of the "
     "barriers' initialisation in front of it releases what there is to publish"),
    (r"((sparse|promoted)?pair|cluster): relaxed cluster arrive [1-3] of", "tensor memory is "
     "freed behind it: its operations must be over, which a relaxed barrier tells"),
    (r"((sparse)?pair: (drop|flip parity of) wait 1|promotedpair: drop wait 4) of",
     "the producer's wait for its last stages: the epilogue waits for the later "
     "accumulator before the last barrier"),
    (r"cluster: drop wait 1 of", "the producer's wait for its last stages: the "
     "last barrier of the cluster comes behind all that read or write them"),
    (r"((sparse|promoted)?pair|cluster): drop barrier.cluster.arrive 1 of", "that of clusters "
     "without a tile, of which a launch has none"),
    (r"pair-gemm: drop tcgen05.wait::ld", "the use of the registers waits for "
     "the load"),
    (r"pair-gemm: (drop|flip parity of) wait 3 of", "the leader's wait for the "
     "last arrivals of its peer: the last barrier of the cluster waits too"),
    (r"(stores|promotedpair): drop tcgen05.wait::ld", "the registers move in "
     "front of the release, which waits for the load"),
    (r"(stores|promotedpair): drop cp.async.bulk.wait_group 1 of", "what is "
     "known of the hardware keeps the memory until the last stores have read "
     "it; entry 91, advice"),
    (r"(sparse: drop fence.proxy 0|sparsepair: drop fence.proxy [0-2]) of",
     "the same lanes fence again behind the clearing of the other scales"),
    (r"warp: drop fence.proxy", "between reads of a response and the next one, "
     "which barriers keep apart; entry 25, advice"),
    (r"warp: relaxed arrive 0 of", "of the thread that asks for tiles, which alone "
     "waits for that barrier"),
]


def moved(at, to):
    """Line `at` in front of line `to`."""
    rest = lines[:at] + lines[at + 1:]
    to -= at < to
    return rest[:to] + [lines[at]] + rest[to:]


def counted(pattern):
    found = places(pattern)
    for number, at in enumerate(found):
        yield f"{number} of {len(found)}", at


DROPPED = [
    "fence.mbarrier_init", "fence.proxy", "tcgen05.fence::",
    "tcgen05.relinquish_alloc_permit", "tcgen05.dealloc", "tcgen05.commit",
    "tcgen05.wait::ld", "tcgen05.wait::st", "bar.warp.sync", "bar.sync",
    "barrier.cluster.arrive", "barrier.cluster.wait", "mbarrier.init",
    "mbarrier.arrive.expect_tx", "mbarrier.arrive.shared",
    "mbarrier.arrive.release", "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group", "griddepcontrol.wait",
]


def without():
    for what in DROPPED:
        for number, at in counted(r"^\s*(@!?%p\d+ )?" + re.escape(what)):
            yield f"drop {what} {number}", edited(at, "")


def waits():
    for number, at in counted(r"mbarrier\.try_wait"):
        line = lines[at]
        done = re.search(r"[\t ](%?[pP]\d+), ", line).group(1)
        parity = re.search(r"(%r\d+)(, %?r?\d+)?;", line).group(1)
        yield f"drop wait {number}", edited(at, f"\tsetp.eq.u32 {done}, 0, 0;")
        yield f"flip parity of wait {number}", edited(
            at, mutations.flipped(line, parity))


def relaxed():
    for number, at in counted(r"mbarrier\.arrive\.shared"):
        scope = "cluster" if "shared::cluster" in lines[at] else "cta"
        text = lines[at].replace(
            "arrive.shared", f"arrive.relaxed.{scope}.shared")
        yield f"relaxed arrive {number}", edited(at, text)
    for number, at in counted(r"mbarrier\.arrive\.release"):
        text = lines[at].replace("arrive.release", "arrive.relaxed")
        yield f"relaxed arrive at a release {number}", edited(at, text)
    for number, at in counted(r"barrier\.cluster\.arrive\.aligned"):
        text = lines[at].replace("arrive.aligned", "arrive.relaxed.aligned")
        yield f"relaxed cluster arrive {number}", edited(at, text)


def counts():
    for number, at in counted(r"mbarrier\.arrive\.expect_tx"):
        size = lines[at].rsplit(" ", 1)[1].rstrip(";")
        line = definition(size, at)
        value = int(re.search(r", (\d+);", lines[line]).group(1))
        for change in (-16, 16):
            yield f"expect {change:+d} bytes {number}", edited(
                line, re.sub(r", \d+;", f", {value + change};", lines[line]))
    for number, at in counted(r"mbarrier\.init"):
        count = re.search(r"(%r\d+);", lines[at]).group(1)
        more = f"\tadd.s32 \t{count}, {count}, 1;\n"
        less = f"\n\tsub.s32 \t{count}, {count}, 1;"
        yield f"one arrival more {number}", edited(at, more + lines[at] + less)


def orders():
    """Instructions in front of what they must follow."""
    for number, at in counted(r"tcgen05\.commit"):
        work = [i for i in places(r"tcgen05\.(mma|cp)") if i < at]
        label = max([i for i in places(r"^\$L") if i < at], default=0)
        if work and work[-1] > label:
            # With the block of inline text around it.
            first = last = work[-1]
            while "{" in lines[first - 1] or "setp" in lines[first - 1]:
                first -= 1
            while "}" == lines[last + 1].strip():
                last += 1
            yield (f"commit before the last MMA {number}",
                   lines[:first] + lines[last + 1:at + 1]
                   + lines[first:last + 1] + lines[at + 1:])
    for number, at in counted(r"mbarrier\.arrive\.(shared|release)"):
        loads = [i for i in places(r"tcgen05\.wait::ld") if i < at]
        if loads:
            yield f"arrive before wait::ld {number}", moved(at, loads[-1])
    for number, at in counted(r"tcgen05\.dealloc"):
        barriers = [i for i in places(r"bar\.sync|barrier\.cluster\.wait")
                    if i < at]
        # The barrier behind the deallocation instead of in front of it.
        yield f"free before the barrier {number}", moved(barriers[-1], at + 1)


def masks():
    for number, at in counted(r"multicast::cluster"):
        mask = re.search(r"(%rs\d+)(, %rd\d+)?;", lines[at])
        if mask:
            mask = mask.group(1)
            yield f"narrower multicast mask {number}", edited(
                at, f"\tand.b16 \t{mask}, {mask}, 1;\n" + lines[at])


def all_mutations():
    for family in (without, waits, relaxed, counts, orders, masks):
        yield from family()


kernel = os.path.basename(source).split(".")[0]
mutations.report(
    ((f"{kernel}: {name}", text) for name, text in all_mutations()), folder,
    missed, ("immediate", "latest", "random"), EQUIVALENT)
