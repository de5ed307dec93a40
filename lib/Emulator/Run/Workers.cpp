//===- Workers.cpp - host threads that run clusters -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace blockscale::emulator::machine {
namespace {

struct ClusterResult {
  uint64_t id;
  std::vector<Finding> findings, advice;
  Counters counters;
  OpenPointSet openPoints;
};

/// A host thread: runs clusters one after another and keeps those that spin
/// until others have moved on.
struct Worker {
  Grid &grid;
  std::vector<ClusterResult> &results;
  std::mutex &lock;
  std::vector<std::unique_ptr<Cluster>> parked;

  void finish(const Cluster &cluster) {
    if (cluster.faulted)
      grid.stop = true;
    std::lock_guard<std::mutex> guard(lock);
    results.push_back({cluster.id, cluster.findings, cluster.advice,
                       cluster.counters, cluster.openPoints});
    if (grid.options.progress)
      grid.options.progress(results.size(), grid.order.size());
  }

  void moved() {
    std::lock_guard<std::mutex> guard(grid.schedule);
    ++grid.version;
    grid.stuck = 0;
  }

  /// Starts the next cluster; false if none is left or the chip is full.
  bool startNext() {
    auto size = uint32_t(grid.launch.cluster.count());
    uint32_t room = grid.options.residentClusters
                        ? grid.options.residentClusters * size
                        : grid.sms;
    if (grid.parkedCtas + size > room && !parked.empty() &&
        !grid.launch.cooperative)
      return false;
    std::optional<uint64_t> id;
    {
      std::lock_guard<std::mutex> guard(grid.schedule);
      id = grid.start();
    }
    if (!id)
      return false;
    auto cluster = std::make_unique<Cluster>(grid);
    startCluster(*cluster, *id);
    if (runCluster(*cluster) == Outcome::Ended) {
      finish(*cluster);
    } else {
      grid.parkedCtas += size;
      parked.push_back(std::move(cluster));
    }
    moved();
    return true;
  }

  /// Runs each parked cluster again; false if none of them got anywhere.
  bool resumeParked() {
    bool any = false;
    std::vector<uint64_t> activity;
    // All see what they wait for before one of them goes on: what it writes
    // then would be known to the rest, and order what nothing orders.
    for (auto &cluster : parked) {
      if (grid.residency.anyWaits())
        ++cluster->epoch; // columns may be free by now
      activity.push_back(cluster->activity());
      lookAgain(*cluster);
    }
    auto before = activity.begin();
    for (size_t i = 0; i != parked.size() && !grid.stop; ++before) {
      Cluster &cluster = *parked[i];
      Outcome outcome = runCluster(cluster);
      if (outcome == Outcome::Ended || cluster.activity() != *before) {
        any = true;
        moved();
      }
      if (outcome == Outcome::Spins) {
        ++i;
        continue;
      }
      finish(cluster);
      grid.parkedCtas -= uint32_t(cluster.ctas.size());
      parked.erase(parked.begin() + long(i));
    }
    return any;
  }

  /// Waits until another thread's cluster has moved on since `seen`; false if
  /// every thread waits here.
  bool othersMove(uint64_t seen) {
    std::unique_lock<std::mutex> guard(grid.schedule);
    if (grid.version != seen)
      return true;
    ++grid.stuck;
    while (grid.version == seen && grid.stuck < grid.workers && !grid.stops()) {
      guard.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      guard.lock();
    }
    return grid.version != seen;
  }

  /// Nothing moves: where CTAs wait for columns of others, these are to blame.
  void reportParked() {
    bool columns = grid.residency.anyWaits();
    for (auto &cluster : parked) {
      bool waits = false;
      for (auto &cta : cluster->ctas)
        waits |= grid.residency.waits(*cta);
      if (waits || !columns)
        reportDeadlock(*cluster, true);
    }
  }

  void run() {
    while (!grid.stops()) {
      uint64_t seen;
      {
        std::lock_guard<std::mutex> guard(grid.schedule);
        seen = grid.version;
      }
      if (startNext())
        continue;
      if (parked.empty())
        break;
      if (resumeParked() || grid.stop || othersMove(seen) || grid.stop)
        continue;
      reportParked();
      break;
    }
    for (auto &cluster : parked)
      finish(*cluster);
    std::lock_guard<std::mutex> guard(grid.schedule);
    --grid.workers;
  }
};

} // namespace

void runGrid(Grid &grid, RunResult &result) {
  grid.next = grid.residents();
  unsigned threads = grid.options.threads;
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  if (grid.options.residentClusters)
    threads = std::min(threads, grid.options.residentClusters);
  threads = unsigned(std::min<uint64_t>(threads, grid.order.size()));
  grid.workers = threads;
  std::vector<ClusterResult> results;
  std::mutex lock;
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back([&] { Worker{grid, results, lock, {}}.run(); });
  Worker{grid, results, lock, {}}.run();
  for (std::thread &thread : pool)
    thread.join();
  std::sort(results.begin(), results.end(),
            [](const ClusterResult &a, const ClusterResult &b) {
              return a.id < b.id;
            });
  for (ClusterResult &one : results) {
    auto keep = [&](std::vector<Finding> &from, std::vector<Finding> &to) {
      for (Finding &finding : from)
        if (to.size() < grid.options.maxFindings)
          to.push_back(std::move(finding));
    };
    keep(one.findings, result.findings);
    keep(one.advice, result.advice);
    result.counters += one.counters;
    result.openPoints.add(one.openPoints);
  }
}

} // namespace blockscale::emulator::machine
