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
     "its peers have made their last arrival, copy or access."},
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
     "has waited on."},
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
     "An access must lie within one buffer or window and be aligned to its "
     "size."},
    {39, E, "remote store and copy without synchronisation",
     "A store into the shared memory of another CTA and a copy into the same "
     "bytes need a cluster barrier or an mbarrier between them."},
    {89, E, "race on shared memory",
     "Two accesses of different warps to the same bytes of which one writes "
     "need a barrier or another edge between them."},
};

const HazardInfo *hazardInfo(unsigned number) {
  const HazardInfo *it =
      std::lower_bound(std::begin(kHazards), std::end(kHazards), number,
                       [](const HazardInfo &info, unsigned value) {
                         return info.number < value;
                       });
  return it != std::end(kHazards) && it->number == number ? it : nullptr;
}

} // namespace blockscale::emulator
