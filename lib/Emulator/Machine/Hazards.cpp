//===- Hazards.cpp - the catalogue of hazards -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules are those of the PTX ISA (memory consistency model, async operations,
// proxies, mbarrier); grades follow what published kernels do.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>
#include <iterator>

namespace blockscale::emulator {

static constexpr Grade E = Grade::Error, A = Grade::Advice;

/// By number.
static constexpr HazardInfo kHazards[] = {
    {1, E, "mbarrier used before its init is visible",
     "mbarrier.init is an ordinary write. Another thread may use the object "
     "only after a barrier that follows the init; across a cluster, "
     "fence.mbarrier_init.release.cluster and a cluster barrier."},
    {2, E, "illegal mbarrier.init",
     "The count of mbarrier.init is 1 to 1048575, and an object that is live "
     "must be invalidated before it is initialised again."},
    {3, E, "write over a live mbarrier",
     "The bytes of a live mbarrier may be accessed by mbarrier operations "
     "only. Invalidate it before the memory serves another purpose, and keep "
     "buffers apart from barriers."},
    {4, E, "too many arrivals",
     "A phase takes as many arrivals as it expects. One more is undefined; on "
     "silicon the count wraps and waiters hang or pass early. Typical: a whole "
     "warp arrives where one elected lane should."},
    {5, E, "too few arrivals",
     "A phase ends when all expected arrivals were made. A role that skips its "
     "arrival on one path leaves the waiters hanging."},
    {6, E, "more bytes expected than delivered",
     "The transaction count of a phase must return to zero: the bytes of "
     "expect_tx must equal what the copies deliver to this barrier."},
    {7, E, "fewer bytes expected than delivered",
     "A phase whose transaction count is zero too early ends before all copies "
     "did, and their bytes count in the next phase. Expect what the copies "
     "deliver, bytes outside the tensor included."},
    {8, E, "transaction count out of range",
     "The transaction count of an mbarrier must stay within -1048575 to "
     "1048575 at every step."},
    {9, E, "wrong start parity",
     "Waiting for parity 1 on a fresh mbarrier returns at once: only the side "
     "whose buffer is free at the start may do so. The side that waits for "
     "data starts with parity 0."},
    {10, E, "wait for an older phase",
     "The parity of a ring's barrier flips once per round. A wait with the "
     "parity of an earlier phase returns at once, before the copy into the "
     "buffer is complete."},
    {11, E, "wait on another barrier",
     "The data of a copy are visible to those who wait on the mbarrier that "
     "the copy names. Waiting on the barrier of another stage does not help."},
    {12, E, "waiter two phases behind",
     "A wait by parity cannot tell a phase from the one two later. While a "
     "thread waits for a phase, at most that one may complete; the next needs "
     "back-pressure from the waiter."},
    {13, E, "data used without a wait that succeeded",
     "mbarrier.try_wait and test_wait may return false. Data of an "
     "asynchronous copy may be used only after one of them returned true for "
     "its phase."},
    {14, E, "relaxed operation where order is needed",
     "Relaxed arrivals and waits order nothing. To pass data on, arrive with "
     "release and wait with acquire (the defaults), or add fences."},
    {15, E, "mbarrier operation that only the own CTA has",
     "Waits, init, inval and the result of an arrival exist for mbarriers in "
     "the CTA's own shared memory; a remote arrival has no result."},
    {16, E, "access to a CTA that has exited",
     "Shared memory and mbarriers of a CTA end with it. A CTA must stay until "
     "its peers have made their last arrival, copy or access. A rank beyond "
     "the "
     "cluster names no CTA at all."},
    {17, A, "scope of a remote arrival",
     "An arrival on an mbarrier of another CTA has the default scope .cta, "
     "which is formally too narrow to pass data on; .cluster is meant. "
     "Published kernels rely on the default."},
    {18, E, "nobody arrives",
     "A wait for a phase in which no arrival was made at all never ends. "
     "Typical: with a single iteration both prologue and epilogue skip the "
     "arrival."},
    {19, E, "missing proxy fence",
     "Ordinary stores go through the generic proxy, bulk copies and tensor "
     "cores read through the async proxy. Between them the writing thread "
     "needs fence.proxy.async after its stores, then synchronisation with the "
     "issuing thread."},
    {20, A, "proxy fence in another thread than the stores",
     "fence.proxy.async belongs into each thread that stored. A fence in the "
     "issuing thread after a barrier works on silicon and is not promised."},
    {21, E, "store after the proxy fence",
     "fence.proxy.async covers earlier stores only. A store after it needs "
     "another fence before the async proxy reads it."},
    {22, E, "proxy fence skipped",
     "The path taken has a store that the async proxy reads and skips the "
     "kernel's fence.proxy.async, as an empty loop may."},
    {23, E, "buffer overwritten while the tensor core reads it",
     "tcgen05.mma and cp read shared memory until the mbarrier of a "
     "tcgen05.commit that covers them has completed. Release the stage by that "
     "commit, not at issue."},
    {24, E, "buffer overwritten while threads read it",
     "A copy may overwrite a stage only after all readers have arrived on a "
     "barrier that the issuer of the copy has waited on."},
    {25, A, "no proxy fence between a read and a copy over it",
     "Formally a generic read, too, needs fence.proxy.async before the async "
     "proxy overwrites the bytes. Most kernels have only a barrier there; "
     "one failure on silicon was reported."},
    {26, E, "answer of try_cancel overwritten or read too early",
     "The 16 bytes of an answer may be asked for again only after every "
     "reader of the last answer has arrived on a barrier that the requester "
     "has waited on. Behind that arrival the old answer must not be read "
     "again."},
    {27, E, "stage of a peer overwritten",
     "A multicast or remote copy writes the stage of other CTAs. Its issuer "
     "must have waited for the consumers of each of them."},
    {28, E, "multicast that the receivers do not expect",
     "Each CTA of a multicast must expect the bytes that it receives. CTAs "
     "that disagree about tile or group leave one barrier with bytes too few "
     "and another with too many."},
    {29, E, "source of a bulk store overwritten",
     "A bulk store reads its source until the issuing thread has seen "
     "cp.async.bulk.wait_group[.read] cover its group. Wait with a count that "
     "leaves out the group of this buffer."},
    {30, E, "result of a bulk store read too early",
     "After wait_group.read only the source may be reused. To read what a "
     "bulk store wrote, its thread needs wait_group without .read, then an "
     "edge to the reader."},
    {31, E, "exit before a bulk store has read its source",
     "Shared memory ends with the CTA. A thread with bulk stores must wait for "
     "their groups before the CTA ends."},
    {32, E, "wait_group by another thread",
     "Bulk groups belong to the thread that committed them. wait_group in "
     "another thread finds no group and returns at once."},
    {33, E, "race on global memory",
     "Two accesses to the same bytes of which one writes need an edge between "
     "them, or both must be atomic or relaxed, of equal size."},
    {34, E, "ld.global.nc of data of this grid",
     "ld.global.nc may read through a cache that is not kept coherent. It is "
     "for data that the whole grid only reads."},
    {35, E, "tensor map changed without fences",
     "A map changed in global memory needs a tensormap release by the writer "
     "(tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release) and, "
     "after the edge, fence.proxy.tensormap::generic.acquire of the 128 bytes. "
     "Maps in local memory cannot be used."},
    {36, E, "data of the previous grid used too early",
     "A dependent grid may start while the previous one runs. What that writes "
     "is there after griddepcontrol.wait."},
    {37, E, "uninitialised shared memory",
     "Shared memory starts undefined; what was never written must not reach "
     "global memory, an address, a branch or a matrix unit."},
    {38, E, "access outside memory, or misaligned",
     "An access must lie within one buffer or window of its state space and be "
     "aligned to its size; parameters, constants and read-only buffers are not "
     "stored to."},
    {39, E, "remote store and copy without synchronisation",
     "A store into the shared memory of another CTA and a copy into the same "
     "bytes need a cluster barrier or an mbarrier between them."},
    {40, E, "tensor copy at an unaligned shared address",
     "The shared-memory address of a cp.async.bulk.tensor must be a multiple "
     "of 128 bytes. Silicon stops with an illegal instruction."},
    {41, E, "swizzled tile off its pattern",
     "The swizzle is a function of absolute shared-memory addresses and "
     "repeats every 1024, 512 or 256 bytes for spans of 128, 64 and 32. A tile "
     "that starts elsewhere is permuted by a shifted pattern, which a matrix "
     "descriptor may state in its base offset (bits 49-51), and then must "
     "state as it is: another one gives permuted data. Copying such a tile, "
     "and "
     "reading it with base offset 0, which takes the pattern of the absolute "
     "addresses as the copy does, is reported as advice."},
    {42, E, "tensor copy from an unaligned global address",
     "The first coordinate times the element size must be a multiple of 16 "
     "bytes, so that each row of the box starts on a 16-byte boundary of "
     "global memory. Silicon stops with an illegal instruction."},
    {43, E, "coordinate of a padded 4- or 6-bit tensor",
     "The types 16U4_ALIGN16B and 16U6_ALIGN16B are copied in groups of 128 "
     "elements: the first coordinate counts elements, not bytes, and must be "
     "a multiple of 128. Silicon stops with an illegal instruction."},
    {44, E, "negative coordinate of a store",
     "Tensor stores and reductions skip elements beyond the upper end of a "
     "dimension, but a coordinate below 0 is not allowed in this direction."},
    {45, E, "illegal tensor map",
     "The fields of a tensor map must satisfy the rules of "
     "cuTensorMapEncodeTiled: rank 1 to 5, aligned address and strides, boxes "
     "of 1 to 256, inner box a multiple of 16 bytes and no wider than the "
     "swizzle span. The driver refuses to encode others, and a device-side "
     "tensormap.replace does not check them."},
    {46, E, "copy or its mbarrier in the wrong CTA",
     "A copy with a .shared::cta destination writes the executing CTA only. "
     "The mbarrier must be in the CTA that receives the data; with "
     ".cta_group::2 it may be in that CTA's pair peer, but in no third CTA."},
    {47, E, "bytes of a pair counted on two mbarriers",
     "With .cta_group::2 both CTAs of a pair should count their bytes on the "
     "barrier of the even one, by clearing bit 24 of the barrier's "
     "shared::cluster address (mask 0xFEFFFFFF). If the odd CTA keeps its own "
     "bit, its bytes arrive on its own barrier, and the barrier that expects "
     "the sum never completes."},
    {48, E, "padded type in the shared::cluster form",
     "On sm_120 and sm_121 tensor maps of 4- and 6-bit types can be loaded "
     "with a .shared::cta destination only."},
    {49, E, "bulk copy that is not a multiple of 16",
     "Size, source and destination of cp.async.bulk must be multiples of 16 "
     "bytes, and the size must not be 0. Silicon traps."},
    {50, A, "several lanes issue the same operation",
     "A bulk copy or a tcgen05.mma is issued once per executing lane. Where "
     "several lanes of a warp issue it with equal operands, the bytes are "
     "copied and counted, and the products added, as often; usually an "
     "elect.sync is missing."},
    {51, E, "tensor memory outside every allocation",
     "tcgen05 instructions may touch only columns that this CTA has allocated "
     "and not yet freed. Silicon does not check it: the access hits whatever "
     "another CTA keeps there."},
    {52, E, "allocation leaked or freed wrongly",
     "Every tcgen05.alloc needs one tcgen05.dealloc with the same address and "
     "the same number of columns before the CTA exits. A leak makes later "
     "CTAs on the same SM wait for ever."},
    {53, E, "tensor memory freed while it is in use",
     "Before tcgen05.dealloc all tcgen05 operations on the columns must be "
     "complete, and the freeing warp must have seen it: mma, cp and shift "
     "through a commit and its mbarrier, loads and stores of other warps "
     "through their tcgen05.wait and a barrier. The next owner of the columns "
     "overwrites what is still being read."},
    {54, E, "pair allocation without meeting the peer",
     "tcgen05.alloc and dealloc with .cta_group::2 act on both CTAs of a pair. "
     "The peer must be known to run before the allocation, and neither CTA "
     "may free before the other has finished with its tensor memory: a "
     "cluster barrier, or an arrival of the peer, has to come first. Silicon "
     "fails the launch or hangs now and then."},
    {55, E, "illegal allocation",
     "The number of columns is a power of two from 32 to 512, never larger "
     "than the allocation before it in the same CTA, and nothing can be "
     "allocated after tcgen05.relinquish_alloc_permit."},
    {56, E, "allocated address read without an edge",
     "tcgen05.alloc writes the address with an ordinary weak store to shared "
     "memory. Threads that read it need a barrier with release and acquire in "
     "between; barrier.cluster.arrive.relaxed alone is not one."},
    {57, E, "allocation that waits for ever",
     "tcgen05.alloc blocks until enough columns are free, with .cta_group::2 "
     "in both CTAs of the pair. CTAs that run on one SM share its 512 columns. "
     "They come back only from tcgen05.dealloc; here nobody is left to free "
     "any."},
    {58, E, "tensor memory accessed before its operation completed",
     "tcgen05.mma, cp and shift complete asynchronously. Before tcgen05.ld or "
     "st touches the same columns, the issuing thread must have executed "
     "tcgen05.commit, and the accessing warp must have waited for the phase "
     "of the mbarrier that the commit arrives on."},
    {59, E, "commit by another thread than the mma",
     "tcgen05.commit tracks the operations that the executing thread itself "
     "issued before it. A commit of another thread, for example because two "
     "elect.sync picked different lanes, arrives at once and says nothing "
     "about the mma."},
    {60, E, "commit before the last operation",
     "tcgen05.commit covers the mma, cp and shift that the thread issued "
     "before it. The operation in question was issued after the last commit, "
     "so no mbarrier tells when it is complete."},
    {61, E, "commit with another cta_group",
     "tcgen05.commit tracks operations with its own .cta_group only, and all "
     "tcgen05 instructions of a kernel have to use the same one. Silicon "
     "stops with an illegal instruction."},
    {62, E, "columns overwritten while they are loaded",
     "tcgen05.ld reads asynchronously. Whoever overwrites the columns must be "
     "ordered behind a tcgen05.wait::ld of the loading warp: that warp waits, "
     "then arrives on a barrier, and the thread that issues the next "
     "tcgen05.mma, cp, shift or st waits for it."},
    {63, E, "tensor store used before it completed",
     "tcgen05.st writes asynchronously. Before tensor memory that it wrote is "
     "read by mma, cp or ld or written again, the storing warp must execute "
     "tcgen05.wait::st, and other threads need a barrier behind that."},
    {64, E, "accumulator that was never written",
     "Tensor memory is not zeroed by allocation. The first tcgen05.mma of a "
     "tile must have enable-input-d false, or the columns must have been "
     "written before."},
    {65, E, "scales missing in tensor memory",
     "The scale factors of a block-scaled mma must be present, and equal, in "
     "all four quadrants of 32 lanes, in the column and at the byte that "
     "address and id name. tcgen05.cp.32x128b.warpx4 writes all quadrants, a "
     "tcgen05.st only that of its warp."},
    {66, A, "scales overwritten behind running mmas",
     "A tcgen05.cp overwrites columns that an earlier tcgen05.mma of the same "
     "thread may still read. The ISA does not list mma before cp among the "
     "pairs that keep their order; kernels rely on it. A commit and its "
     "mbarrier, or a second set of columns, makes it certain."},
    {67, E, "operand copied by another thread",
     "tcgen05.cp and tcgen05.mma keep their order within one thread. If "
     "another thread issued the copy, or if it overwrites what an mma of "
     "another thread reads, the issuing threads must be ordered: a commit and "
     "its mbarrier, or a barrier between two tcgen05.fence."},
    {68, E, "lanes of another warp",
     "Warp w of a CTA reaches lanes 32 * (w % 4) to 32 * (w % 4) + 31 of "
     "tensor memory with tcgen05.ld and st. Shapes of 16 lanes may start at "
     "the first or the seventeenth of them."},
    {69, E, "accumulator in the wrong place",
     "The accumulator address names lane 0 (or 16 where half of the lanes are "
     "used), and all its columns lie below 512. Adding columns beyond 65535 "
     "carries into the lane."},
    {70, E, "illegal instruction descriptor",
     "The 32-bit instruction descriptor must agree with the mnemonic: element "
     "and scale types of the kind, the sparsity bit, M, N and K that exist for "
     "it, scale ids at which its scales fit, reserved bits 0. The assembler "
     "sees none of it."},
    {71, E, "illegal matrix descriptor",
     "A shared-memory descriptor needs 0b001 in bits 46-48, zeros in bits "
     "53-60, a swizzle code of 0, 1, 2, 4 or 6, and an operand that lies "
     "within the shared memory of the CTA and does not cross a swizzle row."},
    {72, A, "descriptor and tensor map disagree on the swizzle",
     "The bytes were written by a tensor copy with one swizzle and are read "
     "through a matrix descriptor with another one, so elements are permuted "
     "unless the layouts were chosen to match."},
    {73, E, "tensor load by a part of a warp",
     "tcgen05.ld, st and wait are .sync.aligned: all 32 lanes execute the same "
     "instruction with the same address."},
    {74, E, "columns released before tcgen05.wait::ld",
     "A warp arrived on the barrier that releases the columns while its "
     "tcgen05.ld could still be reading them: registers that no instruction "
     "has used yet give no order. tcgen05.wait::ld has to come before the "
     "arrival."},
    {75, A, "tcgen05.fence missing",
     "Between a barrier and tcgen05 operations that depend on it the ISA asks "
     "for tcgen05.fence::before_thread_sync ahead of the arrival (a commit "
     "implies it) and tcgen05.fence::after_thread_sync behind the wait. "
     "Barriers with acquire and release work without in known kernels."},
    {76, E, "pair operation without a running peer",
     "Operations with .cta_group::2 read and write the shared and tensor "
     "memory of both CTAs of the pair. The peer must have started, which a "
     "cluster barrier or an arrival of it tells, and must not have exited."},
    {77, E, "aligned instruction in divergent code",
     "An .aligned instruction must be executed by all lanes of the warp "
     "together; in conditional code the condition must be the same for all. "
     "Copies of one bar.sync in two branches are two instructions."},
    {78, E, "lanes of the member mask are missing",
     "A .sync warp instruction waits until every living lane of its mask "
     "executes it with the same mask, and shfl may read only lanes that take "
     "part."},
    {79, E, "named barrier with wrong counts",
     "The thread count of a named barrier is a positive multiple of 32, the "
     "same in all arrivals of a phase, and that many threads must come: warps "
     "that exited are missed."},
    {80, E, "barrier that not all threads reach",
     "A barrier without a count is one of all threads of the CTA that have "
     "not exited. In warp-specialised code the other roles must reach it too, "
     "or a named barrier with a count is needed. barrier.cluster is one of all "
     "threads of the cluster, each of which arrives once and then waits once."},
    {81, E, "setmaxnreg without registers",
     "setmaxnreg takes a multiple of 8 from 24 to 256 and is executed by all "
     "warps of a warpgroup. An increase waits until decreases of other "
     "warpgroups have left enough of the 65536 registers of the CTA."},
    {82, E, "wait for another cluster",
     "Only the CTAs of one cluster are promised to run at the same time. A "
     "thread that spins until another cluster writes global memory hangs when "
     "that cluster has not been started."},
    {84, E, "cluster launch control misused",
     "After a failed answer no further clusterlaunchcontrol.try_cancel may be "
     "issued, and get_first_ctaid of a failed answer is undefined. An answer "
     "delivers 16 bytes: the barrier that a try_cancel names must expect them, "
     "in each CTA of a multicast, and the answer may be read only behind a "
     "wait for that phase."},
    {85, E, "launch against the kernel's directives",
     "Block and cluster must be those that .reqntid, .maxntid and "
     ".reqnctapercluster of the kernel ask for."},
    {86, E, "endless loop",
     "The warp neither ends nor changes anything that another could see."},
    {87, E, "arithmetic or address without a meaning",
     "The result of an integer division by zero, of cvta.to for an address of "
     "another state space and of brx.idx beyond its table is undefined."},
    {88, E, "instruction that the target does not have",
     "The PTX assembler refuses instructions and modifiers that the .target "
     "of the module lacks; architecture-specific ones need the target with "
     "suffix a, or f where the family has them."},
    {89, E, "race on shared memory",
     "Two accesses of different warps to the same bytes of which one writes "
     "need a barrier or another edge between them."},
    {90, A, "mbarrier initialised behind its fence",
     "fence.mbarrier_init makes the mbarrier.init in front of it visible to "
     "the cluster. An init behind it is published by a cluster barrier with "
     "release only; published kernels rely on the relaxed one."},
    {91, A, "last bulk stores not waited for",
     "Shared memory ends with the CTA. A thread that waits for its earlier "
     "bulk "
     "groups leaves without waiting for the last ones; published kernels rely "
     "on the hardware keeping the memory until they are read."},
    {92, E, "collector buffer used without a fill",
     "tcgen05.mma with .collector::a::use or lastuse takes A, with "
     ".collector::bN of .ws takes B, from a buffer that an earlier instruction "
     "filled with the same matrix. After lastuse, discard, or an instruction "
     "that names no collector, the buffer holds nothing."},
    {93, E, "ue4m3 scale with bit 7",
     "A ue4m3 scale has seven bits; what hardware makes of bit 7 is not "
     "documented. Padding may have it where it scales zeros alone; the scale "
     "of a block with other elements must not."},
    {94, A, "scope of a wait for another CTA",
     "A wait on an mbarrier has the default scope .cta, which is formally too "
     "narrow for a phase in which threads or commits of another CTA arrived; "
     ".acquire.cluster is meant. Published kernels rely on the default."},
    {95, A, "no proxy fence between cp.async and the tensor core",
     "cp.async writes shared memory through the generic proxy. Formally the "
     "copying thread, or the one that waited for the copy, needs "
     "fence.proxy.async before tcgen05.mma or cp reads the bytes; published "
     "kernels have only the mbarrier."},
};

const HazardInfo *hazardInfo(unsigned number) {
  const HazardInfo *it =
      std::lower_bound(std::begin(kHazards), std::end(kHazards), number,
                       [](const HazardInfo &info, unsigned value) {
                         return info.number < value;
                       });
  return it != std::end(kHazards) && it->number == number ? it : nullptr;
}

std::vector<HazardInfo> hazardCatalogue() {
  return {std::begin(kHazards), std::end(kHazards)};
}

} // namespace blockscale::emulator
