//===- Start.cpp - builds the CTAs and warps of a cluster -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Order/StrictObserver.h"
#include "../Report/Events.h"
#include "../Report/Trace.h"
#include "Launch.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// The value of a special register for one lane.
uint32_t specialValue(const Grid &grid, const Cta &cta, const Warp &warp,
                      SpecialRegister special, unsigned c, unsigned lane) {
  const Launch &l = grid.launch;
  auto pick = [&](const Dim3 &d) {
    return c == 0 ? d.x : c == 1 ? d.y : c == 2 ? d.z : 0;
  };
  Dim3 at{cta.id[0], cta.id[1], cta.id[2]};
  Dim3 inside{cta.inCluster[0], cta.inCluster[1], cta.inCluster[2]};
  auto inClusters = [&](const Dim3 &d) {
    return pick({d.x / l.cluster.x, d.y / l.cluster.y, d.z / l.cluster.z});
  };
  uint32_t thread = warp.index * 32 + lane;
  uint32_t self = 1u << lane;
  switch (special) {
  case SpecialRegister::Tid:
    return pick({thread % l.block.x, thread / l.block.x % l.block.y,
                 thread / (l.block.x * l.block.y)});
  case SpecialRegister::Ntid:
    return pick(l.block);
  case SpecialRegister::Laneid:
    return lane;
  case SpecialRegister::Warpid:
    return warp.index;
  case SpecialRegister::Nwarpid:
    return uint32_t(cta.warps.size());
  case SpecialRegister::Ctaid:
    return pick(at);
  case SpecialRegister::Nctaid:
    return pick(l.grid);
  case SpecialRegister::Smid:
    return cta.rank;
  case SpecialRegister::Nsmid:
    return grid.sms;
  case SpecialRegister::IsExplicitCluster:
    return l.cluster.count() > 1;
  case SpecialRegister::Clusterid:
    return inClusters(at);
  case SpecialRegister::Nclusterid:
    return inClusters(l.grid);
  case SpecialRegister::ClusterCtaid:
    return pick(inside);
  case SpecialRegister::ClusterNctaid:
    return pick(l.cluster);
  case SpecialRegister::ClusterCtarank:
    return cta.rank;
  case SpecialRegister::ClusterNctarank:
    return uint32_t(l.cluster.count());
  case SpecialRegister::LanemaskEq:
    return self;
  case SpecialRegister::LanemaskLt:
    return self - 1;
  case SpecialRegister::LanemaskLe:
    return self | (self - 1);
  case SpecialRegister::LanemaskGt:
    return ~(self | (self - 1));
  case SpecialRegister::LanemaskGe:
    return ~(self - 1);
  case SpecialRegister::Envreg:
    return uint32_t(c == 1   ? l.gridWorkspace >> 32
                    : c == 2 ? l.gridWorkspace
                             : 0);
  case SpecialRegister::DynamicSmemSize:
    return l.dynamicSharedBytes;
  case SpecialRegister::TotalSmemSize:
  case SpecialRegister::AggrSmemSize:
    return uint32_t(cta.shared.size());
  case SpecialRegister::ReservedSmemOffsetEnd:
  case SpecialRegister::ReservedSmemOffsetCap:
    return kSharedBase;
  default:
    return 0;
  }
}

/// Registers that a CTA can share out through setmaxnreg.
constexpr uint32_t kRegisterPool = 65536;

/// Registers per thread at the start: the kernel's own .maxnreg, else what
/// ptxas takes from the launch bounds.
uint32_t registersPerThread(const Grid &grid) {
  uint32_t own = grid.program.kernel->launch.maxnreg;
  auto threads = uint32_t((grid.launch.block.count() + 31) / 32 * 32);
  return own ? own : std::min(kRegisterPool / threads / 8 * 8, 256u);
}

void startWarp(Grid &grid, Cta &cta, unsigned index) {
  const Program &program = grid.program;
  auto warp = std::make_unique<Warp>();
  warp->cta = &cta;
  warp->index = index;
  uint32_t left = cta.threads - index * 32;
  warp->live = left >= 32 ? ~0u : (1u << left) - 1;
  warp->storage.assign(program.registerBytes / 8 + 8, 0);
  auto raw = reinterpret_cast<uintptr_t>(warp->storage.data());
  warp->registers = reinterpret_cast<uint8_t *>((raw + 63) & ~uintptr_t(63));
  warp->undefined.assign(program.registerBytes / 64 + 1, 0);
  warp->definedHalves.resize(warp->undefined.size());
  for (Slot slot : program.neverWritten)
    warp->undefined[slot >> 6] = ~0u;
  warp->tainted = !program.neverWritten.empty();
  warp->registersPerThread = registersPerThread(grid);
  warp->local.assign(size_t(32) * program.localBytes + 16, 0);
  if (program.stackTop != kNoSlot)
    std::fill_n(
        reinterpret_cast<uint64_t *>(warp->registers + program.stackTop), 32,
        program.stackBase);
  Group group;
  group.pc = program.entry;
  group.mask = warp->live;
  warp->groups.push_back(group);
  cta.warps.push_back(std::move(warp));
}

bool differsByLane(SpecialRegister special) {
  switch (special) {
  case SpecialRegister::Tid:
  case SpecialRegister::Laneid:
  case SpecialRegister::LanemaskEq:
  case SpecialRegister::LanemaskLt:
  case SpecialRegister::LanemaskLe:
  case SpecialRegister::LanemaskGt:
  case SpecialRegister::LanemaskGe:
    return true;
  default:
    return false;
  }
}

template <typename T>
void fillSpecial(Grid &grid, Cta &cta, Warp &warp, T *lanes,
                 SpecialRegister special, unsigned component) {
  if (!differsByLane(special)) {
    std::fill_n(lanes, 32,
                T(specialValue(grid, cta, warp, special, component, 0)));
    return;
  }
  for (unsigned lane = 0; lane != 32; ++lane)
    lanes[lane] = specialValue(grid, cta, warp, special, component, lane);
}

void fillSpecials(Grid &grid, Cta &cta) {
  for (auto &warp : cta.warps)
    for (const auto &[key, slot] : grid.program.specials) {
      auto special = SpecialRegister(key >> 3);
      uint8_t *lanes = warp->registers + slot;
      if (key & 4)
        fillSpecial(grid, cta, *warp, reinterpret_cast<uint64_t *>(lanes),
                    special, key & 3);
      else
        fillSpecial(grid, cta, *warp, reinterpret_cast<uint32_t *>(lanes),
                    special, key & 3);
    }
}

} // namespace

void startCluster(Cluster &cluster, uint64_t id) {
  Grid &grid = cluster.grid;
  const Launch &l = grid.launch;
  uint32_t nx = l.grid.x / l.cluster.x, ny = l.grid.y / l.cluster.y;
  cluster.id = id;
  cluster.at[0] = uint32_t(id % nx);
  cluster.at[1] = uint32_t(id / nx % ny);
  cluster.at[2] = uint32_t(id / nx / ny);
  cluster.random.seed(grid.options.seed * 0x9E3779B97F4A7C15u + id);
  if (grid.options.strict) {
    cluster.order = std::make_unique<Order>(cluster);
    cluster.tensorOrder =
        std::make_unique<TensorOrder>(cluster, *cluster.order);
    cluster.observers.push_back(std::make_unique<StrictObserver>(cluster));
  }
  if (grid.options.event && grid.options.eventCluster == id) {
    cluster.observers.push_back(std::make_unique<EventObserver>());
    cluster.tellsSteps = true;
  }
  if (grid.options.trace)
    cluster.observers.push_back(std::make_unique<TraceObserver>());
  uint32_t shared = grid.program.dynamicShared + l.dynamicSharedBytes;
  shared = (std::max(shared, grid.program.staticShared) + 15) / 16 * 16;
  for (uint32_t rank = 0; rank != l.cluster.count(); ++rank) {
    auto cta = std::make_unique<Cta>(grid.tensorColumns);
    cta->cluster = &cluster;
    cta->rank = rank;
    cta->inCluster[0] = rank % l.cluster.x;
    cta->inCluster[1] = rank / l.cluster.x % l.cluster.y;
    cta->inCluster[2] = rank / l.cluster.x / l.cluster.y;
    cta->id[0] = cluster.at[0] * l.cluster.x + cta->inCluster[0];
    cta->id[1] = cluster.at[1] * l.cluster.y + cta->inCluster[1];
    cta->id[2] = cluster.at[2] * l.cluster.z + cta->inCluster[2];
    cta->shared.assign(shared, 0xCD);
    cta->valid.assign(shared, 0);
    cta->barrierAt.assign(shared / 8 + 1, -1);
    cta->threads = uint32_t(l.block.count());
    for (unsigned warp = 0; warp * 32 < cta->threads; ++warp)
      startWarp(grid, *cta, warp);
    uint64_t held = uint64_t(cta->warps.size()) * 32 * registersPerThread(grid);
    cta->freeRegisters =
        uint32_t(kRegisterPool - std::min<uint64_t>(held, kRegisterPool));
    fillSpecials(grid, *cta);
    if (cluster.order)
      for (auto &warp : cta->warps)
        cluster.order->start(*warp);
    cluster.ctas.push_back(std::move(cta));
  }
}

} // namespace blockscale::emulator::machine
