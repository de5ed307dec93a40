//===- Tma.h - parts of the bulk and tensor copies --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ASYNC_TMA_H
#define BLOCKSCALE_LIB_EMULATOR_ASYNC_TMA_H

#include "../Instructions/Access.h"
#include "../Report/Events.h"
#include "../Run/Observer.h"
#include "../Units/DataReport.h"
#include "../Units/TensorMapCopy.h"
#include "Async.h"

namespace blockscale::emulator::machine {

/// A bulk or tensor copy.
struct CopyRecord {
  bool store = false;     ///< to global memory
  bool pair = false;      ///< .cta_group::2
  bool multicast = false; ///< `mask` names the CTAs
  bool wideMask = false;  ///< of 32 bits, not 16
  bool ownCta = false;    ///< a load of the form .shared::cta
  AddressOperand barrier; ///< of a load
  Slot mask = kNoSlot;
  Reduction reduction = Reduction::None;
  DataReport report = DataReport::None; ///< of a load
};

/// A destination of a load.
struct Target {
  Cta *cta;
  uint32_t address; ///< destination in that CTA, without rank
  uint32_t barrier; ///< with rank
};

/// Destinations of a load; false after a report.
bool targetsOf(Exec &x, const Record &r, const CopyRecord &copy, unsigned lane,
               uint32_t destination, std::vector<Target> &out);

/// How the bytes of a load count on mbarriers.
inline BarrierVisit::Kind visitKind(const CopyRecord &copy) {
  return copy.multicast ? BarrierVisit::Multicast : BarrierVisit::Copy;
}

/// Tells the mbarrier of a load whether something was found in its data.
void tellReport(Cluster &cluster, const Origin &origin, uint32_t barrier,
                DataReport report, bool found);

/// Marks shared memory of a CTA as written.
void markRange(Cta &cta, uint32_t address, uint32_t bytes);

/// Reports a copy that lands in a CTA that has exited.
bool exitedTarget(Cluster &cluster, const Origin &origin, const Cta &cta);

/// Whether the lane issues the same copy as the first one: equal addresses and
/// coordinates.
bool repeatsFirst(const Exec &x, unsigned lane,
                  std::initializer_list<const AddressOperand *> addresses,
                  Slots coordinates = {});
/// Advice that two lanes issue the same copy, where `repeats` says so of the
/// second one that executes.
template <typename F>
void adviseRepeats(Exec &x, const Record &r, F &&repeats) {
  uint32_t rest = x.mask & (x.mask - 1);
  if (!rest || !x.cluster->grid.options.advice)
    return;
  auto second = unsigned(__builtin_ctz(rest));
  if (repeats(second))
    reportHazard(*x.cluster, x.origin(r, int(second)), Hazard::RepeatedIssue,
                 FindingKind::Tma,
                 std::to_string(__builtin_popcount(x.mask)) +
                     " lanes issue the same copy");
}

/// Strict mode: the accesses of a load into one CTA.
Touch loadTouch(Stamp stamp, bool write);

/// Strict mode: the accesses of a store of a bulk group, which reads its source
/// and writes its destination at different times.
struct StoreTouches {
  Touch source, destination;
};
StoreTouches storeTouches(Exec &x, const Record &r, unsigned lane,
                          unsigned reducedBytes);

/// Fills in what the mnemonic says.
void decodeForm(const Instruction &in, CopyRecord &copy);

/// What a reducing copy does to each element.
Reduction reductionOf(const Instruction &in);

/// The type of the elements of a reduction, as tensor maps name it.
std::optional<TensorMapType> elementType(Type type);

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
bool decodeTensorCopy(Decoder &d, const Instruction &in, Record &r);

/// cp.async.bulk and cp.reduce.async.bulk.
bool decodeBulk(Decoder &d, const Instruction &in, Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNC_TMA_H
