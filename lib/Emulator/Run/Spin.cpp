//===- Spin.cpp - loops that wait for what nobody does --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp that comes back to a state it had before, while nobody in the cluster
// wrote anything, will do so for ever unless another cluster writes. States are
// compared whole, so a loop that counts or looks at the clock is never taken
// for one that waits.
//
//===----------------------------------------------------------------------===//

#include "Control.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// A warp and a state that it had.
struct Probe {
  explicit Probe(Warp &warp) : warp(warp) {}

  void save() {
    storage = warp.storage;
    undefined = warp.undefined;
    groups = warp.groups;
    backward = warp.backward;
    carry = warp.carry;
    saved = true;
  }
  bool returned() const {
    auto same = [](const Group &a, const Group &b) {
      return a.pc == b.pc && a.mask == b.mask && a.arrived == b.arrived &&
             a.token == b.token;
    };
    return saved && carry == warp.carry &&
           groups.size() == warp.groups.size() &&
           (alone() || backward == warp.backward) &&
           std::equal(groups.begin(), groups.end(), warp.groups.begin(),
                      same) &&
           storage == warp.storage && undefined == warp.undefined;
  }

  /// Else the count of branches decides when another group has its turn.
  bool alone() const {
    uint64_t epoch = warp.cta->cluster->epoch;
    return std::count_if(groups.begin(), groups.end(), [&](const Group &g) {
             return !g.blocked || g.blockedAt != epoch;
           }) <= 1;
  }

  Warp &warp;
  bool saved = false, cycles = false;
  std::vector<uint64_t> storage;
  std::vector<uint32_t> undefined;
  std::vector<Group> groups;
  unsigned backward = 0;
  uint32_t carry = 0;
};

} // namespace

bool spinsForever(Cluster &cluster, uint64_t steps) {
  if (!cluster.pending.empty())
    return false;
  uint64_t before = cluster.activity();
  std::vector<Probe> probes;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      if (warp->live && runnable(cluster, *warp))
        probes.emplace_back(*warp);
  for (uint64_t step = 1; step <= steps; ++step) {
    bool all = true;
    for (Probe &probe : probes) {
      if (runnable(cluster, probe.warp))
        runWarp(cluster, probe.warp, 1);
      if (cluster.faulted || cluster.activity() != before)
        return false;
      probe.cycles |= !runnable(cluster, probe.warp) || probe.returned();
      all &= probe.cycles;
      if ((step & (step - 1)) == 0)
        probe.save();
    }
    if (all)
      return true;
  }
  return false;
}

void lookAgain(Cluster &cluster) {
  // As long as the loops that are found to be endless mostly are.
  constexpr unsigned kSteps = 256;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps) {
      uint64_t before = cluster.looks;
      for (unsigned step = 0;
           step != kSteps && cluster.looks == before && !cluster.faulted &&
           warp->live && runnable(cluster, *warp);
           ++step)
        runWarp(cluster, *warp, 1);
    }
}

} // namespace blockscale::emulator::machine
