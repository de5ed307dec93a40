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

/// Looks of this kind before giving up, and instructions between two.
constexpr unsigned kLooks = 512, kStride = 500;

/// A warp and a state that it had.
struct Probe {
  explicit Probe(Warp &warp) : warp(warp) {}

  void save() {
    storage = warp.storage;
    undefined = warp.undefined;
    groups = warp.groups;
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
           std::equal(groups.begin(), groups.end(), warp.groups.begin(),
                      same) &&
           storage == warp.storage && undefined == warp.undefined;
  }

  Warp &warp;
  bool saved = false, cycles = false;
  std::vector<uint64_t> storage;
  std::vector<uint32_t> undefined;
  std::vector<Group> groups;
  uint32_t carry = 0;
};

} // namespace

bool spinsForever(Cluster &cluster) {
  if (!cluster.pending.empty())
    return false;
  uint64_t before = cluster.activity();
  std::vector<Probe> probes;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      if (warp->live && runnable(cluster, *warp))
        probes.emplace_back(*warp);
  for (unsigned look = 1; look <= kLooks; ++look) {
    bool all = true;
    for (Probe &probe : probes) {
      if (runnable(cluster, probe.warp))
        runWarp(cluster, probe.warp, kStride);
      if (cluster.faulted || cluster.activity() != before)
        return false;
      probe.cycles |= !runnable(cluster, probe.warp) || probe.returned();
      all &= probe.cycles;
      if ((look & (look - 1)) == 0)
        probe.save();
    }
    if (all)
      return true;
  }
  return false;
}

} // namespace blockscale::emulator::machine
