//===- Machine.cpp - checks a launch, builds the grid, runs it ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include "Control.h"
#include "MapBytes.h"
#include "Order.h"
#include "TensorOrder.h"

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

namespace blockscale::emulator {

Counters &Counters::operator+=(const Counters &other) {
  instructions += other.instructions;
  for (size_t i = 0; i != mmas.size(); ++i)
    mmas[i] += other.mmas[i];
  macs += other.macs;
  warpMmas += other.warpMmas;
  tensorCopies += other.tensorCopies;
  tmaLoadBytes += other.tmaLoadBytes;
  tmaStoreBytes += other.tmaStoreBytes;
  barrierWaits += other.barrierWaits;
  commits += other.commits;
  clusters += other.clusters;
  return *this;
}

namespace machine {

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "0x%llx", (unsigned long long)value);
  return buffer;
}

Warp::Warp() = default;
Warp::~Warp() = default;
Cluster::Cluster(Grid &grid) : grid(grid) {}
Cluster::~Cluster() = default;
Grid::Grid(const Program &program, const Launch &launch, const Options &options)
    : program(program), launch(launch), options(options) {
  if (options.strict)
    memoryOrder = std::make_unique<GridOrder>();
}
Grid::~Grid() = default;

static bool isAdvice(unsigned hazard) {
  const HazardInfo *info = hazardInfo(hazard);
  return info && info->grade == Grade::Advice;
}

/// What a finding of the kind breaks, where it does not say so itself.
static unsigned ruleOf(FindingKind kind) {
  switch (kind) {
  case FindingKind::Uninitialised:
    return 37;
  case FindingKind::OutOfBounds:
  case FindingKind::Misaligned:
    return 38;
  default:
    return 0;
  }
}

void report(Cluster &cluster, const Origin &origin, FindingKind kind,
            std::string message, uint64_t address, unsigned hazard) {
  if (!hazard)
    hazard = ruleOf(kind);
  bool advice = isAdvice(hazard);
  std::vector<Finding> &findings = advice ? cluster.advice : cluster.findings;
  if (findings.size() >= cluster.grid.options.maxFindings ||
      (advice && !cluster.grid.options.advice))
    return;
  // A race recurs in each round of a loop and each warp.
  if (kind == FindingKind::Race || advice)
    for (const Finding &other : findings)
      if (other.hazard == hazard && other.line == origin.line)
        return;
  Finding finding{kind, std::move(message), origin.line};
  if (origin.cta)
    std::copy(origin.cta->id, origin.cta->id + 3, finding.cta);
  finding.warp = origin.warp;
  finding.lane = origin.lane;
  finding.address = address;
  finding.hazard = hazard;
  for (const Finding &other : findings)
    if (other.kind == kind && other.line == finding.line && other.line != 0 &&
        other.message == finding.message && other.warp == finding.warp)
      return;
  findings.push_back(std::move(finding));
}

bool tracing(const Cluster &cluster) {
  return bool(cluster.grid.options.trace);
}

void trace(Cluster &cluster, const Origin &origin, const std::string &text) {
  std::string line = "cta=" + std::to_string(origin.cta->id[0]) + "," +
                     std::to_string(origin.cta->id[1]) + "," +
                     std::to_string(origin.cta->id[2]) +
                     " warp=" + std::to_string(origin.warp) +
                     " line=" + std::to_string(origin.line) + " " + text;
  std::lock_guard<std::mutex> lock(cluster.grid.output);
  cluster.grid.options.trace(line);
}

namespace {

using Findings = std::vector<Finding>;

void refuse(Findings &findings, std::string message, unsigned hazard = 0) {
  findings.push_back({FindingKind::Launch, std::move(message)});
  findings.back().hazard = hazard;
}

std::string text(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" +
         std::to_string(d.z);
}
Dim3 dims(const std::array<uint32_t, 3> &a) {
  return {std::max(a[0], 1u), std::max(a[1], 1u), std::max(a[2], 1u)};
}
bool same(const Dim3 &a, const Dim3 &b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

bool checkShape(const Function &kernel, const Launch &launch, Findings &out) {
  const Dim3 &grid = launch.grid, &cluster = launch.cluster,
             &block = launch.block;
  if (!grid.count() || !cluster.count() || !block.count())
    refuse(out, "grid, cluster and block need at least one element each");
  else if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
           block.count() > 1024)
    refuse(out, "block " + text(block) + " has more than 1024 threads");
  else if (cluster.x > 16 || cluster.y > 16 || cluster.z > 16 ||
           cluster.count() > 16)
    refuse(out, "cluster " + text(cluster) + " has more than 16 CTAs");
  else if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    refuse(out, "grid " + text(grid) + " is not a multiple of cluster " +
                    text(cluster));
  else if (grid.y > 65535 || grid.z > 65535 || grid.x > 0x7FFFFFFF)
    refuse(out, "grid " + text(grid) + " is too large");
  if (!out.empty())
    return false;
  const LaunchBounds &bounds = kernel.launch;
  if (bounds.reqntid[0] && !same(dims(bounds.reqntid), block))
    refuse(out, "block is " + text(block) + ", .reqntid says " +
                    text(dims(bounds.reqntid)),
           85);
  if (bounds.maxntid[0] && block.count() > dims(bounds.maxntid).count())
    refuse(out, "block " + text(block) + " is larger than .maxntid " +
                    text(dims(bounds.maxntid)),
           85);
  if (bounds.reqnctapercluster[0] &&
      !same(dims(bounds.reqnctapercluster), cluster))
    refuse(out, "cluster is " + text(cluster) + ", .reqnctapercluster says " +
                    text(dims(bounds.reqnctapercluster)),
           85);
  if (bounds.maxclusterrank && cluster.count() > bounds.maxclusterrank)
    refuse(out, "cluster " + text(cluster) +
                    " is larger than .maxclusterrank " +
                    std::to_string(bounds.maxclusterrank),
           85);
  return out.empty();
}

/// Gives every buffer its address; refuses those that the caller has placed in
/// the way of others.
void placeBuffers(const Launch &launch, const Program &program, Memory &memory,
                  std::vector<uint64_t> &bases, Findings &out) {
  constexpr uint64_t kStep = 1 << 20, kAddressEnd = uint64_t(1) << 47;
  uint64_t at = kBufferBase;
  auto add = [&](const Buffer &buffer) {
    uint64_t base = buffer.address ? buffer.address : at;
    if (!buffer.address)
      at += (buffer.size / kStep + 2) * kStep;
    memory.regions.push_back({base, buffer.size, buffer.data, buffer.writable,
                              buffer.fromPreviousGrid});
    return base;
  };
  uint64_t globalBytes = program.globalBytes.size();
  if (program.globalBase == kBufferBase)
    add({memory.globals, globalBytes});
  else
    add({memory.globals, globalBytes, true, program.globalBase});
  for (const Buffer &buffer : launch.buffers)
    bases.push_back(add(buffer));
  std::vector<Region> &regions = memory.regions;
  std::sort(regions.begin(), regions.end(),
            [](const Region &a, const Region &b) { return a.base < b.base; });
  auto overlaps = [](uint64_t base, uint64_t size, uint64_t other,
                     uint64_t otherSize) {
    return base < other + otherSize && other < base + size;
  };
  for (size_t i = 0; i != regions.size(); ++i) {
    const Region &one = regions[i];
    if (one.base > kAddressEnd || one.size > kAddressEnd - one.base ||
        overlaps(one.base, one.size, kSharedWindow,
                 kFunctionWindow + kWindowSize - kSharedWindow) ||
        (i && overlaps(one.base, one.size, regions[i - 1].base,
                       regions[i - 1].size)))
      refuse(out, "a buffer of " + std::to_string(one.size) + " bytes at " +
                      hex(one.base) +
                      " overlaps another one or a window of the machine");
  }
}

/// The storage of the module's variables: the caller's, or fresh copies.
void placeVariables(const Launch &launch, const Program &program,
                    Memory &memory) {
  memory.globals = launch.globals;
  memory.constants = launch.constants;
  if (!memory.globals) {
    memory.ownGlobals = program.globalBytes;
    memory.globals = memory.ownGlobals.data();
  }
  if (!memory.constants) {
    memory.ownConstants = program.constBytes;
    memory.constants = memory.ownConstants.data();
  }
}

struct ArgumentBytes {
  const Launch &launch;
  const std::vector<uint64_t> &bases;
  Findings &findings;
  size_t index;

  uint64_t address(const BufferArgument &argument) {
    if (argument.buffer >= bases.size() ||
        argument.offset > launch.buffers[argument.buffer].size) {
      refuse(findings, "argument " + std::to_string(index) + " names buffer " +
                           std::to_string(argument.buffer) + " at offset " +
                           std::to_string(argument.offset) +
                           ", which is not there");
      return 0;
    }
    return bases[argument.buffer] + argument.offset;
  }
  std::vector<uint8_t> operator()(const std::vector<uint8_t> &bytes) {
    return bytes;
  }
  std::vector<uint8_t> operator()(const BufferArgument &argument) {
    uint64_t value = address(argument);
    std::vector<uint8_t> bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    return bytes;
  }
  std::vector<uint8_t> operator()(const TensorMapArgument &argument) {
    TensorMap map = argument.map;
    map.globalAddress = address({argument.buffer, argument.offset});
    if (auto reason = whyNot(map))
      refuse(findings,
             "argument " + std::to_string(index) + ": tensor map: " + *reason,
             45);
    std::vector<uint8_t> bytes(kMapBytes);
    writeMap(map, bytes.data());
    return bytes;
  }
  std::vector<uint8_t> operator()(const StructArgument &argument) {
    std::vector<uint8_t> bytes = argument.bytes;
    auto patch = [&](uint64_t offset, const std::vector<uint8_t> &part) {
      if (offset > bytes.size() || part.size() > bytes.size() - offset)
        refuse(findings, "argument " + std::to_string(index) +
                             ": a patch lies outside the structure");
      else
        std::copy(part.begin(), part.end(), bytes.begin() + long(offset));
    };
    for (const auto &[offset, pointer] : argument.pointers)
      patch(offset, (*this)(pointer));
    for (const auto &[offset, map] : argument.maps)
      patch(offset, (*this)(map));
    return bytes;
  }
};

bool fillParameters(const Function &kernel, const Launch &launch,
                    const std::vector<uint64_t> &bases, Memory &memory,
                    Findings &out) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    refuse(out, "kernel '" + kernel.name + "' takes " +
                    std::to_string(kernel.parameters.size()) +
                    " arguments, found " +
                    std::to_string(launch.arguments.size()));
    return false;
  }
  memory.params.assign(kernel.parameterBytes, 0);
  for (size_t i = 0; i != launch.arguments.size(); ++i) {
    const Parameter &parameter = kernel.parameters[i];
    auto bytes =
        std::visit(ArgumentBytes{launch, bases, out, i}, launch.arguments[i]);
    if (bytes.size() != parameter.size ||
        parameter.offset + parameter.size > memory.params.size()) {
      refuse(out, "argument " + std::to_string(i) + " has " +
                      std::to_string(bytes.size()) + " bytes, '" +
                      parameter.name + "' has " +
                      std::to_string(parameter.size));
      return false;
    }
    std::copy(bytes.begin(), bytes.end(),
              memory.params.begin() + long(parameter.offset));
  }
  return out.empty();
}

/// The value of a special register for one lane.
uint32_t specialValue(const Grid &grid, const Cta &cta, const Warp &warp,
                      SpecialRegister special, unsigned c, unsigned lane) {
  const Launch &l = grid.launch;
  auto pick = [&](const Dim3 &d) {
    return c == 0 ? d.x : c == 1 ? d.y : c == 2 ? d.z : 0;
  };
  uint32_t thread = warp.index * 32 + lane;
  Dim3 clusters{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y,
                l.grid.z / l.cluster.z};
  Dim3 tid{thread % l.block.x, thread / l.block.x % l.block.y,
           thread / (l.block.x * l.block.y)};
  Dim3 at{cta.id[0], cta.id[1], cta.id[2]};
  Dim3 inside{cta.inCluster[0], cta.inCluster[1], cta.inCluster[2]};
  Dim3 cluster{at.x / l.cluster.x, at.y / l.cluster.y, at.z / l.cluster.z};
  uint32_t self = 1u << lane;
  switch (special) {
  case SpecialRegister::Tid:
    return pick(tid);
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
    return 148;
  case SpecialRegister::IsExplicitCluster:
    return l.cluster.count() > 1;
  case SpecialRegister::Clusterid:
    return pick(cluster);
  case SpecialRegister::Nclusterid:
    return pick(clusters);
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
constexpr uint32_t kRegisterPool = 64512;

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
  for (Slot slot : program.neverWritten)
    warp->undefined[slot >> 6] = ~0u;
  warp->tainted = !program.neverWritten.empty();
  warp->registersPerThread = registersPerThread(grid);
  warp->local.assign(size_t(32) * program.localBytes + 16, 0);
  Group group;
  group.pc = program.entry;
  group.mask = warp->live;
  warp->groups.push_back(group);
  cta.warps.push_back(std::move(warp));
}

void fillSpecials(Grid &grid, Cta &cta) {
  for (auto &warp : cta.warps)
    for (const auto &[key, slot] : grid.program.specials)
      for (unsigned lane = 0; lane != 32; ++lane) {
        uint32_t value = specialValue(grid, cta, *warp,
                                      SpecialRegister(key >> 3), key & 3, lane);
        if (key & 4)
          reinterpret_cast<uint64_t *>(warp->registers + slot)[lane] = value;
        else
          reinterpret_cast<uint32_t *>(warp->registers + slot)[lane] = value;
      }
}

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
  }
  uint32_t shared = grid.program.dynamicShared + l.dynamicSharedBytes;
  shared = (std::max(shared, grid.program.staticShared) + 15) / 16 * 16;
  for (uint32_t rank = 0; rank != l.cluster.count(); ++rank) {
    auto cta = std::make_unique<Cta>();
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

struct ClusterResult {
  uint64_t id;
  std::vector<Finding> findings, advice;
  Counters counters;
  OpenPointSet openPoints;
};

/// CTAs that wait for others at once: what a chip holds.
constexpr uint32_t kResidentCtas = 148;

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
                        : kResidentCtas;
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
    for (size_t i = 0; i != parked.size() && !grid.stop;) {
      Cluster &cluster = *parked[i];
      uint64_t before = cluster.activity();
      Outcome outcome = runCluster(cluster);
      if (outcome == Outcome::Ended || cluster.activity() != before) {
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
    while (grid.version == seen && grid.stuck < grid.workers && !grid.stop) {
      guard.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      guard.lock();
    }
    return grid.version != seen;
  }

  void run() {
    while (!grid.stop) {
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
      for (auto &cluster : parked)
        reportDeadlock(*cluster, true);
      break;
    }
    for (auto &cluster : parked)
      finish(*cluster);
    std::lock_guard<std::mutex> guard(grid.schedule);
    --grid.workers;
  }
};

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

/// Clusters of one run, and bytes of registers and local memory of a cluster.
constexpr uint64_t kMaxClusters = 1 << 24;
constexpr uint64_t kMaxThreadState = uint64_t(1) << 30;

bool chooseClusters(const Launch &launch, const Options &options,
                    std::vector<uint64_t> &order, Findings &out) {
  uint64_t count = launch.grid.count() / launch.cluster.count();
  if (options.clusters.empty() && count > kMaxClusters) {
    refuse(out, "the grid has " + std::to_string(count) +
                    " clusters, a run takes at most " +
                    std::to_string(kMaxClusters));
    return false;
  }
  if (options.clusters.empty()) {
    for (uint64_t id = 0; id != count; ++id)
      order.push_back(id);
    return true;
  }
  for (uint64_t id : options.clusters) {
    if (id >= count) {
      refuse(out, "cluster " + std::to_string(id) + " of a grid of " +
                      std::to_string(count) + " clusters");
      return false;
    }
    order.push_back(id);
  }
  return true;
}

} // namespace
} // namespace machine

uint32_t sharedCapacity(std::string_view target) {
  return target.rfind("sm_12", 0) == 0 ? 101376 : 232448;
}

RunResult run(const Module &module, const Launch &launch,
              const Options &options) {
  return run(Kernel(module, launch.kernel), launch, options);
}

RunResult run(const Kernel &kernel, const Launch &launch,
              const Options &options) {
  using namespace machine;
  RunResult result;
  result.findings = kernel.refusals();
  if (!result.findings.empty() ||
      !checkShape(*kernel.function(), launch, result.findings))
    return result;
  const Program &program = *kernel.program;
  const Module &module = *program.module;
  uint64_t shared = uint64_t(program.dynamicShared) + launch.dynamicSharedBytes;
  if (shared > sharedCapacity(module.target)) {
    refuse(result.findings, "the kernel needs " + std::to_string(shared) +
                                " bytes of shared memory, " + module.target +
                                " has " +
                                std::to_string(sharedCapacity(module.target)));
    return result;
  }
  uint64_t warps = (launch.block.count() + 31) / 32 * launch.cluster.count();
  uint64_t state = warps * (program.registerBytes + 32 * program.localBytes);
  if (state > kMaxThreadState) {
    refuse(result.findings, "the threads of a cluster need " +
                                std::to_string(state) +
                                " bytes of registers and local memory, a run "
                                "has " +
                                std::to_string(kMaxThreadState));
    return result;
  }
  Grid grid(program, launch, options);
  std::vector<uint64_t> bases;
  placeVariables(launch, program, grid.memory);
  placeBuffers(launch, program, grid.memory, bases, result.findings);
  if (!result.findings.empty() ||
      !fillParameters(*kernel.function(), launch, bases, grid.memory,
                      result.findings) ||
      !chooseClusters(launch, options, grid.order, result.findings))
    return result;
  if (grid.memoryOrder)
    for (const Region &region : grid.memory.regions)
      if (region.fromPreviousGrid)
        grid.memoryOrder->presetPrevious(region.base, region.size);
  runGrid(grid, result);
  return result;
}

} // namespace blockscale::emulator
