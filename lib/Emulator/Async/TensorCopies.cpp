//===- TensorCopies.cpp - copies of boxes of a tensor map -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Order/TensorOrder.h"
#include "../Ptx/Targets.h"
#include "MapBytes.h"
#include "Tma.h"

#include "blockscale/Emulator/TensorMapBytes.h"

namespace blockscale::emulator {

void encodeTensorMap(const TensorMap &map, uint8_t *bytes) {
  machine::writeMap(map, bytes);
}

std::optional<TensorMap> decodeTensorMap(const uint8_t *bytes) {
  TensorMap map;
  if (!machine::readMap(bytes, map))
    return std::nullopt;
  return map;
}

} // namespace blockscale::emulator

namespace blockscale::emulator::machine {
namespace {

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
struct TensorCopyRecord : CopyRecord {
  AddressOperand shared, map;
  Slots coordinates;
  Slots offsets; ///< of the im2col modes
  BoxMode mode = BoxMode::Tile;
  /// What replaces fields of the map: its address, sizes of 8 bits, and strides
  /// as 32 low bits each and four high bits each in one value.
  Slot globalAddress = kNoSlot, upperStrides = kNoSlot;
  Slots sizes, lowerStrides;
};

GlobalAccess globalOf(Cluster &cluster, bool write) {
  Memory *memory = &cluster.grid.memory;
  return [memory, write](uint64_t address, uint64_t bytes) -> uint8_t * {
    const Region *region = memory->find(address, bytes);
    return region && (region->writable || !write)
               ? region->data + (address - region->base)
               : nullptr;
  };
}

SharedSpan spanOf(Cta &cta) {
  return {cta.shared.data(), kSharedBase, uint32_t(cta.shared.size())};
}

bool allValid(const Cta &cta, uint32_t address, uint32_t bytes) {
  uint32_t offset = address - kSharedBase;
  return offset + bytes <= cta.valid.size() &&
         !std::memchr(cta.valid.data() + offset, 0, bytes);
}

/// The tensor map at a generic address; false after a report.
bool mapAt(Exec &x, const Record &r, uint64_t address, unsigned lane,
           TensorMap &map) {
  if (address >= kLocalWindow && address - kLocalWindow < kWindowSize) {
    x.fault(r, FindingKind::Tma, "tensor map in local memory", int(lane),
            address, Hazard::TensorMapUnfenced);
    return false;
  }
  Access access;
  if (!resolve(x, r, Where::Generic, address, lane, kMapBytes, Use::Read,
               access, 64))
    return false;
  if (access.global)
    tell(*x.cluster, MapUsed{x, r, lane, address});
  if (!readMap(access.data, map)) {
    x.fault(r, FindingKind::Tma, "the bytes at the address are no tensor map",
            int(lane), address, Hazard::IllegalTensorMap);
    return false;
  }
  if (auto reason = whyNot(map)) {
    x.fault(r, FindingKind::Tma, "tensor map: " + *reason, int(lane), address,
            Hazard::IllegalTensorMap);
    return false;
  }
  return true;
}

std::string coordinatesText(const int32_t *c, unsigned count) {
  std::string text;
  for (unsigned i = 0; i != count; ++i)
    text += (i ? "," : "") + std::to_string(c[i]);
  return text;
}

/// Strict mode: what a tensor copy touches in shared and global memory.
void orderBox(Exec &x, const Record &r, unsigned lane, const TensorMap &map,
              const Box &box, Cta &cta, uint32_t address, Touch shared,
              Touch global) {
  std::vector<Range> ranges;
  sharedRanges(map, box, address, !shared.write,
               [&](uint32_t at, uint32_t bytes) {
                 if (!ranges.empty() &&
                     ranges.back().address + ranges.back().bytes == at)
                   ranges.back().bytes += bytes;
                 else
                   ranges.push_back({at, bytes});
               });
  touchRanges(x, r, lane, cta, ranges, shared);
  global.origin = x.origin(r, int(lane));
  ranges.clear();
  for (const BoxRun &run : box.runs)
    if (run.globalBytes &&
        isTracked(*x.cluster, run.globalAddress, run.globalBytes))
      ranges.push_back({run.globalAddress, run.globalBytes});
  tell(*x.cluster,
       GlobalTouched{*x.warp, ranges.data(), ranges.size(), global});
}

/// Whether a load finds in the box what it looks for: not in what it fills.
bool isReportedIn(Cluster &cluster, DataReport report, const TensorMap &map,
                  const Box &box) {
  bool halfBytes = globalBits(map.type) == 4;
  GlobalAccess global = globalOf(cluster, false);
  for (const BoxRun &run : box.runs) {
    const uint8_t *data =
        run.globalBytes ? global(run.globalAddress, run.globalBytes) : nullptr;
    if (data &&
        isReported(report, data, run.globalAddress, run.globalBytes, halfBytes))
      return true;
  }
  return false;
}

void postLoad(Exec &x, const Record &r, unsigned lane, const TensorMap &map,
              std::shared_ptr<Box> box, const Target &target) {
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  BarrierVisit::Kind kind = visitKind(r.as<TensorCopyRecord>());
  DataReport inspected = r.as<TensorCopyRecord>().report;
  Ticket ticket = beginTransaction(x, origin, target.barrier);
  if (cluster->order)
    orderBox(x, r, lane, map, *box, *target.cta, target.address,
             loadTouch(ticket.stamp, true), loadTouch(ticket.stamp, false));
  cluster->post(0, [=] {
    if (exitedTarget(*cluster, origin, *target.cta))
      return;
    auto fault = loadBox(map, *box, spanOf(*target.cta), target.address,
                         globalOf(*cluster, false),
                         [&](uint32_t address, uint32_t bytes) {
                           markRange(*target.cta, address, bytes);
                         });
    if (fault)
      return asyncFault(*cluster, origin, FindingKind::Tma, fault->message,
                        fault->address, fault->hazard);
    cluster->counters.tmaLoadBytes += box->transactionBytes;
    tell(*cluster, CopyDone{*cluster, origin, EventKind::Load,
                            box->transactionBytes, target.cta->rank});
    if (inspected != DataReport::None)
      tellReport(*cluster, origin, target.barrier, inspected,
                 isReportedIn(*cluster, inspected, map, *box));
    completeOn(*cluster, origin, target.barrier, box->transactionBytes, ticket,
               kind);
  });
}

/// Whether the target cannot copy 4- and 6-bit types to shared::cluster.
bool lacksPaddedTypes(const Exec &x) {
  return hasFeature(x.cluster->program().module->target,
                    TargetFeature::PaddedTypesInOwnCta);
}
bool isSubByte(TensorMapType type) {
  return type == TensorMapType::U4Align8 || type == TensorMapType::U4Align16 ||
         type == TensorMapType::U6Align16;
}

/// Remembers, for advice, with which swizzle the bytes were written.
void noteSwizzle(const Cluster &cluster, Cta &cta, uint32_t address,
                 const Box &box, Swizzle swizzle) {
  if (!cluster.grid.options.advice)
    return;
  cta.swizzles.resize(cta.shared.size() / 128 + 1);
  for (uint32_t at = 0; at < box.sharedBytes; at += 128) {
    size_t row = (address + at - kSharedBase) / 128;
    if (row < cta.swizzles.size())
      cta.swizzles[row] = uint8_t(1 + unsigned(swizzle));
  }
}

/// Bytes after which the swizzle pattern of a tensor map repeats.
uint32_t patternBytes(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 1;
  case Swizzle::B32:
    return 256;
  case Swizzle::B64:
    return 512;
  default:
    return 1024;
  }
}

/// Advice if a tile starts inside of its swizzle pattern.
void advisePattern(Exec &x, const Record &r, unsigned lane, uint32_t address,
                   Swizzle swizzle) {
  uint32_t pattern = patternBytes(swizzle), row = address % pattern;
  if (row && x.cluster->order && x.cluster->grid.options.advice)
    report(*x.cluster, x.origin(r, int(lane)), FindingKind::Tma,
           "the tile starts at byte " + std::to_string(row) + " of the " +
               std::to_string(pattern) +
               "-byte swizzle pattern; readers have to count rows from there",
           address, Hazard::OffSwizzlePattern, true);
}

/// Bytes behind a replaced address that must be accessible.
constexpr uint64_t kOverrideReach = 128 << 10;

/// Replaces fields of the map; the reason if they break a rule (PTX ISA 9.4,
/// "Tensor base address override", "Tensor attribute override").
std::optional<std::string> overrideMap(const Exec &x,
                                       const TensorCopyRecord &copy,
                                       unsigned lane, const int32_t *start,
                                       TensorMap &map) {
  uint64_t address = x.reg<uint64_t>(copy.globalAddress)[lane];
  if (address % 16)
    return "the address that replaces the map's, " + hex(address) +
           ", is not a multiple of 16";
  if (!x.cluster->grid.memory.find(address, kOverrideReach))
    return "128 KiB from the address that replaces the map's, " + hex(address) +
           ", must be accessible";
  map.globalAddress = address;
  if (copy.sizes.empty())
    return std::nullopt;
  for (size_t i = 0; i != copy.sizes.size() && i < 5; ++i) {
    if (start[i])
      return "coordinates must be 0 where the map's sizes are replaced, "
             "found " +
             std::to_string(start[i]);
    map.globalDim[i] = x.reg<uint16_t>(copy.sizes[i])[lane] & 0xFF;
  }
  for (size_t i = 0; i != copy.lowerStrides.size() && i < 4; ++i) {
    uint64_t upper = x.reg<uint16_t>(copy.upperStrides)[lane] >> 4 * i & 0xF;
    map.globalStrides[i] =
        (x.reg<uint32_t>(copy.lowerStrides[i])[lane] | upper << 32) << 4;
  }
  if (auto reason = whyNot(map))
    return "the tensor map with replaced fields: " + *reason;
  return std::nullopt;
}

/// What one lane copies: the map that it names and the box in it.
struct LaneCopy {
  TensorMap map;
  std::shared_ptr<Box> box;
  uint32_t shared = 0; ///< with rank
};

/// False after a report.
bool resolveCopy(Exec &x, const Record &r, unsigned lane, LaneCopy &out) {
  const auto &copy = r.as<TensorCopyRecord>();
  TensorMap &map = out.map;
  auto fault = [&](FindingKind kind, std::string why, uint64_t address,
                   Hazard hazard) {
    x.fault(r, kind, std::move(why), int(lane), address, hazard);
    return false;
  };
  if (!mapAt(x, r, laneAddress(x, copy.map, lane), lane, map))
    return false;
  auto count = unsigned(copy.coordinates.size());
  int32_t c[5] = {};
  for (unsigned i = 0; i != count && i < 5; ++i)
    c[i] = x.reg<int32_t>(copy.coordinates[i])[lane];
  if (copy.globalAddress != kNoSlot)
    if (auto reason = overrideMap(x, copy, lane, c, map))
      return fault(FindingKind::Tma, *reason, 0, Hazard::IllegalTensorMap);
  if (!map.globalAddress)
    return fault(FindingKind::Tma,
                 "the tensor map has the global address 0: a template needs "
                 "its address by tensormap.replace first",
                 0, Hazard::IllegalTensorMap);
  BoxOffsets offsets{};
  for (unsigned i = 0; i != copy.offsets.size() && i < 3; ++i)
    offsets[i] = x.reg<uint16_t>(copy.offsets[i])[lane];
  if (copy.mode != BoxMode::Gather4 && count != map.rank)
    return fault(FindingKind::Tma,
                 std::to_string(count) + " coordinates for a map of rank " +
                     std::to_string(map.rank),
                 0, Hazard::IllegalTensorMap);
  out.box = std::make_shared<Box>();
  if (auto wrong = resolveBox(map, c, copy.mode, copy.store, *out.box, offsets))
    return fault(FindingKind::Tma, wrong->message, 0, wrong->hazard);
  if (!copy.store && !copy.ownCta && isSubByte(map.type) && lacksPaddedTypes(x))
    return fault(FindingKind::Tma,
                 "4- and 6-bit types need the .shared::cta form on " +
                     x.cluster->program().module->target,
                 0, Hazard::PaddedTypeToCluster);
  out.shared = laneShared(x, copy.shared, lane);
  if (out.shared % 128)
    return fault(FindingKind::Misaligned,
                 "shared address of a tensor copy is not a multiple of 128",
                 out.shared, Hazard::UnalignedTensorCopy);
  if (isWatched(*x.cluster))
    tell(*x.cluster,
         CopyBegun{x, r, lane, [&] {
                     return std::string("event=tma direction=") +
                            (copy.store ? "store" : "load") +
                            " shared=" + hex(out.shared) +
                            " global=" + hex(map.globalAddress) +
                            " coordinates=" + coordinatesText(c, count) +
                            " bytes=" +
                            std::to_string(out.box->transactionBytes) +
                            " swizzle=" + std::to_string(unsigned(map.swizzle));
                   }});
  return true;
}

/// False after a report.
bool tensorLoad(Exec &x, const Record &r, unsigned lane, const LaneCopy &one) {
  const auto &copy = r.as<TensorCopyRecord>();
  std::vector<Target> targets;
  if (!targetsOf(x, r, copy, lane, one.shared, targets))
    return false;
  for (const Target &target : targets) {
    advisePattern(x, r, lane, target.address, one.map.swizzle);
    noteSwizzle(*x.cluster, *target.cta, target.address, *one.box,
                one.map.swizzle);
    if (copy.pair)
      tell(*x.cluster, PairCounted{*x.cluster, target.barrier});
    postLoad(x, r, lane, one.map, one.box, target);
  }
  return true;
}

/// False after a report.
bool tensorStore(Exec &x, const Record &r, unsigned lane, const LaneCopy &one) {
  const auto &copy = r.as<TensorCopyRecord>();
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  Cta *cta = x.cta;
  if (one.shared >> kRankShift != cta->rank) {
    x.fault(r, FindingKind::Tma, "store from the shared memory of another CTA",
            int(lane), one.shared, Hazard::CopyInWrongCta);
    return false;
  }
  Reduction reduction = copy.reduction;
  bool reduces = reduction != Reduction::None;
  // A warp that stores one box by all of its lanes, as epilogues of CUTLASS
  // do, stores it once: the other lanes would write the same bytes again.
  if (!reduces &&
      repeatsFirst(x, lane, {&copy.shared, &copy.map}, copy.coordinates))
    return true;
  auto open = x.warp->bulk[lane].issue();
  uint32_t from = one.shared & 0xFFFFFF;
  if (cluster->order) {
    StoreTouches t =
        storeTouches(x, r, lane, reduces ? globalBits(one.map.type) / 8 : 0);
    orderBox(x, r, lane, one.map, *one.box, *cta, from, t.source,
             t.destination);
  }
  cluster->post(0, [=, map = one.map, box = one.box] {
    AccessLocks::Set locks = 0;
    if (reduction != Reduction::None)
      for (const BoxRun &run : box->runs)
        if (run.globalBytes)
          locks |= AccessLocks::of(run.globalAddress, run.globalBytes);
    AccessLocks::Guard guard(cluster->grid.accesses, locks);
    uint32_t never = 0;
    auto fault = storeBox(map, *box, spanOf(*cta), from, reduction,
                          globalOf(*cluster, true),
                          [&](uint32_t address, uint32_t bytes) {
                            if (!never && !allValid(*cta, address, bytes))
                              never = address;
                          });
    --*open;
    cluster->counters.tmaStoreBytes += box->transactionBytes;
    tell(*cluster, CopyDone{*cluster, origin, EventKind::Store,
                            box->transactionBytes, cta->rank});
    if (fault)
      asyncFault(*cluster, origin, FindingKind::Tma, fault->message,
                 fault->address, fault->hazard);
    else if (never)
      report(*cluster, origin, FindingKind::Uninitialised,
             "a tensor store reads shared memory that was never written",
             never);
  });
  return true;
}

Step tensorCopy(Exec &x, const Record &r) {
  const auto &copy = r.as<TensorCopyRecord>();
  adviseRepeats(x, r, [&](unsigned lane) {
    return repeatsFirst(x, lane, {&copy.shared, &copy.map, &copy.barrier},
                        copy.coordinates);
  });
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    LaneCopy one;
    if (!resolveCopy(x, r, lane, one) ||
        !(copy.store ? tensorStore(x, r, lane, one)
                     : tensorLoad(x, r, lane, one)) ||
        x.cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

BoxMode modeOf(const Instruction &in) {
  if (in.has(Modifier::TileGather4) || in.has(Modifier::TileScatter4))
    return BoxMode::Gather4;
  if (in.has(Modifier::Im2col) || in.has(Modifier::Im2colNoOffs))
    return BoxMode::Im2col;
  if (in.has(Modifier::Im2colW))
    return BoxMode::Im2colW;
  if (in.has(Modifier::Im2colW128))
    return BoxMode::Im2colW128;
  return BoxMode::Tile;
}

/// What replaces fields of the map; the number of values fits the mnemonic.
bool decodeOverrides(Decoder &d, const Operand &map, TensorCopyRecord &copy) {
  const std::vector<Operand> &values = map.overrides;
  if (values.empty())
    return true;
  size_t rank = map.elements.size();
  copy.globalAddress = d.source(values[0], 64);
  if (values.size() < 2)
    return true;
  auto isList = [&](size_t i, size_t count) {
    return values[i].kind == OperandKind::Vector &&
           values[i].elements.size() == count;
  };
  if (!isList(1, rank))
    return d.refuse("expected " + std::to_string(rank) +
                    " sizes that replace the map's");
  if (values.size() == 2 && rank != 1)
    return d.refuse("'.override::global_dim' is for maps of rank 1, others "
                    "need '.override::global_dim_stride'");
  auto slots = [&](const Operand &list, unsigned bits) {
    std::vector<Slot> all;
    for (const Operand &element : list.elements)
      all.push_back(d.source(element, bits));
    return d.list(all);
  };
  copy.sizes = slots(values[1], 16);
  if (values.size() == 2)
    return true;
  if (rank == 1 || !isList(2, rank - 1))
    return d.refuse("expected one stride less than coordinates to replace the "
                    "map's");
  copy.lowerStrides = slots(values[2], 32);
  copy.upperStrides = d.source(values[3], 16);
  return true;
}

} // namespace

bool decodeTensorCopy(Decoder &d, const Instruction &in, Record &r) {
  auto &copy = d.record<TensorCopyRecord>(r);
  decodeForm(in, copy);
  copy.mode = modeOf(in);
  const Operand &map = in.operands[copy.store ? 0 : 1];
  copy.shared = d.address(in.operands[copy.store ? 1 : 0]);
  copy.map = d.address(map);
  // A parameter's own address is in the parameter space.
  if (map.symbol.scope == SymbolScope::Parameter)
    copy.map.add(kParamWindow);
  std::vector<Slot> coordinates;
  for (const Operand &coordinate : map.elements)
    coordinates.push_back(d.source(coordinate, 32));
  copy.coordinates = d.list(coordinates);
  if (!decodeOverrides(d, map, copy))
    return false;
  if (copy.store) {
    copy.reduction = reductionOf(in);
  } else {
    if (in.operands.size() < 3)
      return d.refuse("missing operands");
    copy.barrier = d.address(in.operands[2]);
    size_t next = 3;
    if (copy.mode != BoxMode::Tile && copy.mode != BoxMode::Gather4) {
      // W, H and D of an image, or halo and offset along W.
      size_t axes = map.elements.size() - 2;
      size_t count = copy.mode == BoxMode::Im2col ? axes : 2;
      if (next >= in.operands.size() ||
          in.operands[next].elements.size() != count)
        return d.refuse("expected " + std::to_string(count) +
                        " im2col offsets");
      copy.offsets = d.slots(in.operands[next++], 16, /*write=*/false);
    }
    if (copy.multicast) {
      if (next >= in.operands.size())
        return d.refuse("missing operands");
      copy.mask = d.source(in.operands[next], copy.wideMask ? 32 : 16);
    }
  }
  d.flow().sink = true;
  r.fn = tensorCopy;
  return true;
}

} // namespace blockscale::emulator::machine
