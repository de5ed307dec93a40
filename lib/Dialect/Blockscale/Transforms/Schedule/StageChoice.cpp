//===- StageChoice.cpp - how deep the rings of a kernel are ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageChoice.h"
#include "blockscale/HW/Target.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

/// The most stages that there are.
static constexpr int64_t kMostStages = 16;

/// How much faster something must be, because the model is only good to some
/// percent.
static constexpr double kMargin = 0.98;

static std::string text(int64_t number) { return std::to_string(number); }

/// Bytes of one stage without its scales.
static int64_t operandBytes(const TileGeometry &geometry) {
  return geometry.stageBytes() - geometry.scaleBytes();
}

static int64_t bytesOf(const TileGeometry &geometry, RingStages rings) {
  int64_t ofScales = rings.scales ? rings.scales : rings.operands;
  return rings.operands * operandBytes(geometry) +
         ofScales * geometry.scaleBytes();
}

/// Stages that fit `bytes` of shared memory with their scales, or without those
/// of `free` of them.
static int64_t stagesThatFit(const TileGeometry &geometry, int64_t bytes,
                             int64_t free = 0) {
  return std::min(kMostStages, (bytes + free * geometry.scaleBytes()) /
                                   geometry.stageBytes());
}

/// Why not even one stage fits beside the `reserved` bytes.
static std::optional<Reason> whyNotOneStage(const TileGeometry &geometry,
                                            hw::Target target,
                                            int64_t reserved) {
  int64_t limit = hw::mostSharedMemory(target.chip);
  if (reserved + geometry.stageBytes() <= limit)
    return std::nullopt;
  return Reason("a stage of " + text(geometry.stageBytes()) +
                " bytes and the " + text(reserved) +
                " bytes of what a CTA holds beside its stages exceed the " +
                text(limit) + " bytes of shared memory that " +
                hw::targetName(target) +
                " gives a CTA; nearest legal: a smaller 'tile_n', or sums of "
                "the parts of K in a workspace ('cluster_k' of 1)");
}

/// Why `rings` do not fit `bytes` of shared memory; of those `most` would.
static Reason whyNotBytes(const TileGeometry &geometry, RingStages rings,
                          hw::Target target, int64_t reserved, int64_t most) {
  int64_t ofStage =
      rings.scales ? operandBytes(geometry) : geometry.stageBytes();
  std::string found =
      text(rings.operands) + " stages of " + text(ofStage) + " bytes";
  if (rings.scales)
    found += " and " + text(rings.scales) + " of scales of " +
             text(geometry.scaleBytes()) + " bytes";
  return Reason(
      found + " exceed the " + text(hw::mostSharedMemory(target.chip)) +
      " bytes of shared memory that " + hw::targetName(target) +
      " gives a CTA; at most " + text(most) + " fit" +
      hw::whereSharedMemory(target, bytesOf(geometry, rings) + reserved));
}

/// What `wish` names: as many stages of scales as fit where it names only those
/// of A and B, and the other way round.
static Result<RingStages> completeWish(ScheduleAttr wish,
                                       const TileGeometry &geometry,
                                       hw::Target target, int64_t reserved) {
  int64_t bytes = hw::mostSharedMemory(target.chip) - reserved;
  RingStages rings{wish.getStages(), wish.getScaleStages()};
  int64_t least = std::max<int64_t>(1, rings.scales);
  int64_t most = std::min(kMostStages, (bytes - least * geometry.scaleBytes()) /
                                           operandBytes(geometry));
  if (!rings.operands)
    rings.operands = std::min(kUsefulStages, most);
  if (rings.operands < rings.scales)
    return Reason("'scale_stages' of " + text(rings.scales) + " of " +
                  text(geometry.scaleBytes()) + " bytes leave room for " +
                  text(most) + " 'stages' of " + text(operandBytes(geometry)) +
                  " bytes; expected at most as many as those");
  if (rings.operands == rings.scales)
    rings.scales = 0;
  if (!rings.scales && bytesOf(geometry, rings) > bytes &&
      rings.operands <= most && !wish.getScaleStages())
    rings.scales = (bytes - rings.operands * operandBytes(geometry)) /
                   geometry.scaleBytes();
  if (bytesOf(geometry, rings) > bytes)
    return whyNotBytes(geometry, rings, target, reserved, most);
  return rings;
}

/// One ring of as many stages as are useful.
static RingStages oneRing(const TileGeometry &geometry, int64_t bytes) {
  return {std::min(kUsefulStages, stagesThatFit(geometry, bytes))};
}

/// Two rings, of which that of scales has `fewer` stages: a stage of it is free
/// when the instructions of the stage before are done, so that one or two are
/// not missed.
static RingStages twoRings(const TileGeometry &geometry, int64_t bytes,
                           int64_t fewer) {
  int64_t stages =
      std::min(kUsefulStages, stagesThatFit(geometry, bytes, fewer));
  return {stages, stages - fewer};
}

/// Whether two rings have another stage, by which the model is faster.
static bool isFaster(RingStages one, RingStages two, PredictStages predict) {
  return two.operands > one.operands && two.scales > 0 &&
         predict(two).microseconds < kMargin * predict(one).microseconds;
}

/// Whether two rings that have another stage are better than one: where that is
/// faster, or where the latency of the loads takes most of the time, even if
/// the multipliers take more. The timeline has 4 to 5 % for another stage
/// there, since stages become free at uneven times, of which the model does not
/// know. A ring of fewer than six does not let four stages end a tile in
/// halves, in which the left one is stored.
static bool preferTwo(const TileGeometry &geometry, RingStages one,
                      RingStages two, PredictStages predict) {
  constexpr double kMostOfTheTime = 0.7;
  constexpr int64_t kStagesOfHalves = 6;
  bool endsEarly = geometry.hasHalves && one.operands < kStagesOfHalves;
  return two.operands > one.operands &&
         (endsEarly || predict(one).loads > kMostOfTheTime ||
          isFaster(one, two, predict));
}

/// One ring in the standard mode of shared memory, or in the oversized one if
/// that is faster: it leaves 8 KiB of L1. Or two in the same mode.
static RingStages chooseFree(const TileGeometry &geometry, hw::Target target,
                             int64_t reserved, PredictStages predict) {
  int64_t bytes = hw::chipInfo(target.chip).sharedMemoryPerCta - reserved;
  int64_t most = hw::mostSharedMemory(target.chip) - reserved;
  RingStages one = oneRing(geometry, bytes);
  RingStages oversized = oneRing(geometry, most);
  if (one.operands < 1 ||
      (oversized.operands > one.operands &&
       predict(oversized).microseconds < kMargin * predict(one).microseconds)) {
    one = oversized;
    bytes = most;
  }
  if (!geometry.scaleBytes())
    return one;
  RingStages two = twoRings(geometry, bytes, /*fewer=*/1);
  if (preferTwo(geometry, one, two, predict))
    return two;
  RingStages fewer = twoRings(geometry, bytes, /*fewer=*/2);
  return isFaster(one, fewer, predict) ? fewer : one;
}

double blockscale::marginOf(RingStages rings, PredictStages predict) {
  constexpr double kMost = 1.04;
  if (!rings.scales)
    return 1;
  double gain =
      predict({rings.operands - 1}).microseconds / predict(rings).microseconds;
  return std::clamp(gain, 1.0, kMost);
}

Result<RingStages> blockscale::chooseStages(ScheduleAttr wish, MmaAttr mma,
                                            const TileGeometry &geometry,
                                            hw::Target target, int64_t reserved,
                                            PredictStages predict) {
  if (auto why = whyNotScaleRing(mma, wish, target))
    return *why;
  if (auto why = whyNotOneStage(geometry, target, reserved))
    return *why;
  RingStages rings{0};
  if (wish.getStages() || wish.getScaleStages()) {
    Result<RingStages> wished = completeWish(wish, geometry, target, reserved);
    if (!wished)
      return wished.why();
    rings = *wished;
  } else {
    rings = chooseFree(geometry, target, reserved, predict);
  }
  if (auto why = whyNotStages(mma, rings.operands))
    return *why;
  return rings;
}
