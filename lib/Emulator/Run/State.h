//===- State.h - warps, CTAs and clusters that run --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The running machine, from the grid down to what a handler works on. What it
// runs is in Program.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_STATE_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_STATE_H

#include "../Order/Clock.h"
#include "../Program/Program.h"
#include "../Units/MBarrier.h"
#include "../Units/TensorCore.h"
#include "../Units/TensorMemory.h"
#include "AccessLocks.h"
#include "Residency.h"

#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Emulator/Machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

namespace blockscale::emulator::machine {

struct Exec;
struct Cluster;
struct Cta;
struct Warp;
struct WarpOrder;
class Order;
class GridOrder;
class TensorOrder;
class Observer;
class ShadowPage;

/// Lanes whose low and whose high half of a register are undefined.
struct UndefinedHalves {
  uint32_t low = 0, high = 0;
};

/// One buffer of global memory.
struct Region {
  uint64_t base = 0, size = 0;
  uint8_t *data = nullptr;
  bool writable = true;
  bool fromPreviousGrid = false;
  /// Strict mode: what is known of each page of 4 KiB, null where nothing is.
  /// The first one holds byte `base`.
  std::atomic<const ShadowPage *> *shadow = nullptr;

  /// Whether an access to it may conflict with another one.
  bool isTracked() const { return writable || fromPreviousGrid; }
};

struct Memory {
  std::vector<Region> regions; ///< sorted by base
  std::vector<uint8_t> params;
  /// The module's variables, as many bytes as Program has of each: the
  /// caller's, or the run's own.
  uint8_t *globals = nullptr, *constants = nullptr;
  std::vector<uint8_t> ownGlobals, ownConstants;
  /// The region that holds the whole range, or null.
  const Region *find(uint64_t address, uint64_t bytes) const;
};

/// Lanes that share a program counter.
struct Group {
  uint32_t pc = 0;
  uint32_t mask = 0;
  uint64_t blockedAt = 0; ///< epoch of the last failed try
  bool blocked = false;
  bool arrived = false; ///< a two-step instruction has done its first step
  bool expired = false; ///< the time limit of the try_wait that it waits at
  uint64_t token = 0;
};

struct BulkGroups {
  /// Operations of a group that are not complete; null if it has had none, as
  /// most threads never issue one.
  using Pending = std::shared_ptr<uint32_t>;
  std::vector<Pending> committed;
  Pending open;

  static bool isDone(const Pending &group) { return !group || *group == 0; }
  /// Counts an operation in the open group; who completes it takes it off.
  Pending issue() {
    if (!open)
      open = std::make_shared<uint32_t>(0);
    ++*open;
    return open;
  }
};

/// What the lanes of `mask` did since their last event, and until the first of
/// a row of failed polls.
struct GroupWork {
  uint32_t mask = 0;
  bool polls = false;
  LaneWork work, beforePolls;
};

/// What a call of a framed function changes.
struct SavedFrame {
  uint64_t stackTop = 0;
  bool saved = false; ///< the function was running
  std::vector<uint8_t> bytes;
};

/// A try_wait whose answer is kept, and the phase that it asked for.
struct Look {
  const void *at = nullptr; ///< its record
  uint32_t address = 0, phase = 0;

  bool operator!=(const Look &other) const {
    return at != other.at || address != other.address || phase != other.phase;
  }
};

struct Warp {
  Cta *cta = nullptr;
  unsigned index = 0;
  uint32_t live = 0; ///< lanes that exist and have not exited
  uint64_t steps = 0;
  std::vector<Group> groups; ///< sorted by pc
  unsigned current = 0;
  unsigned backward = 0; ///< taken backward branches since the last switch
  std::vector<uint64_t> storage; ///< the register bank
  uint8_t *registers = nullptr;
  std::vector<uint32_t> undefined; ///< lane masks by slot / 64
  /// Of the undefined ones those of which one half is defined.
  std::vector<UndefinedHalves> definedHalves;
  bool tainted = false;
  bool loading = false;       ///< WarpOrder::loads has some
  std::vector<uint8_t> local; ///< 32 lanes, one after another
  std::array<std::vector<SavedFrame>, 32> frames; ///< innermost last
  std::array<BulkGroups, 32> bulk;                ///< cp.async.bulk, per thread
  std::array<BulkGroups, 32> copies;              ///< cp.async, per thread
  uint32_t clusterArrived = 0;
  uint64_t clusterPhase[32] = {};
  uint32_t registersPerThread = 0;                ///< as setmaxnreg counts them
  uint32_t registerChanges = 0, registerLine = 0; ///< setmaxnreg so far
  uint32_t carry = 0;               ///< condition code of add.cc, per lane
  const Region *region = nullptr;   ///< of global memory, accessed last
  std::vector<GroupWork> work;      ///< kept only for an observer
  Look look;                        ///< the last one, likewise
  std::unique_ptr<WarpOrder> order; ///< strict mode only

  Warp();
  ~Warp();
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
  uint64_t phase = 0;
  bool reduces = false;
  uint32_t popc = 0, last = 0;
  bool all = true, any = false;
  uint32_t lastPopc = 0;
  bool lastAll = true, lastAny = false;
  /// Strict mode: what the arrivals of this phase pass on, and those of the two
  /// before, by parity.
  Clock passing, passed[2];
};

/// Where an asynchronous operation was issued, to name it when it fails later.
struct Origin {
  Cta *cta = nullptr;
  int warp = -1, lane = -1;
  uint32_t line = 0;
};

/// Columns of tensor memory between tcgen05.alloc and dealloc.
struct TensorHold {
  uint32_t column, columns;
  Origin origin; ///< of the tcgen05.alloc
};

/// A matrix B in a collector buffer, with its scales.
struct HeldMatrix {
  uint64_t descriptor = 0;
  uint32_t scales = 0;   ///< address
  uint32_t shape = 0;    ///< bits of the instruction descriptor but those of A
  uint64_t contents = 0; ///< a number made of elements and scales

  bool sameMatrix(const HeldMatrix &other) const {
    return descriptor == other.descriptor && scales == other.scales &&
           shape == other.shape;
  }
};

/// A tensor-memory allocation call of cta_group::2.
struct PairCall {
  uint32_t call, columns;
  bool exclusive;
};

/// Four warps in a row, which multiply together: each of them issues the same,
/// for its own rows, and a product is complete when all have.
struct Warpgroup {
  struct Multiply {
    uint32_t line;
    uint64_t a, b; ///< matrix descriptors, 0 of an A in registers
    bool addsToD;
    bool operator==(const Multiply &o) const {
      return line == o.line && a == o.a && b == o.b && addsToD == o.addsToD;
    }
  };
  /// Those that not all warps have issued; the first is number `dropped`.
  std::deque<Multiply> multiplies;
  uint64_t dropped = 0;
  /// How many each warp has issued, and how many of those took effect.
  std::array<uint64_t, 4> issued{}, done{};
  /// Of each warp the groups that it has not waited for: how many it had issued
  /// when it committed them.
  std::array<std::vector<uint64_t>, 4> groups;

  uint64_t doneByAll() const {
    return *std::min_element(done.begin(), done.end());
  }
};

struct Cta {
  explicit Cta(unsigned tensorColumns) : tensor(tensorColumns) {}

  Cluster *cluster = nullptr;
  uint32_t rank = 0;
  uint32_t id[3] = {0, 0, 0};
  uint32_t inCluster[3] = {0, 0, 0};
  std::vector<uint8_t> shared, valid; ///< from kSharedBase on; 0xFF = written
  std::vector<int16_t> barrierAt;     ///< by offset / 8; -1 = none
  /// By 128 bytes: 1 + the swizzle of the tensor copy that wrote them; kept
  /// for advice only.
  std::vector<uint8_t> swizzles;
  std::deque<MBarrier> barriers;
  TensorMemory tensor;
  std::vector<TensorHold> holds;
  /// Collector buffers of tcgen05.mma.ws that hold a matrix B, a bit each.
  uint32_t filledCollectors = 0;
  /// The matrix A (descriptor or tensor-memory address) that the collector
  /// buffer of tcgen05.mma holds.
  std::optional<uint64_t> collectorA;
  /// What the collector buffer of B of tcgen05.mma holds.
  std::optional<HeldMatrix> collectorB;
  std::vector<PairCall> pairCalls; ///< in the order they were made
  /// setmaxnreg: registers of all threads that are left for increases.
  uint32_t freeRegisters = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Warpgroup> warpgroups; ///< one for each four warps
  NamedBarrier named[16];
  uint32_t threads = 0, exited = 0;
  bool done() const { return exited == threads; }
};

/// An asynchronous operation in flight.
struct AsyncOp {
  uint64_t due = 0;
  uint32_t queue = 0; ///< 0 = free order; equal numbers keep their order
  std::function<void()> act;
};

/// The whole grid, shared by the workers.
struct Grid {
  const Program &program;
  const Launch &launch;
  const Options &options;
  Memory memory;
  std::vector<uint64_t> order; ///< clusters to run
  /// Guarded by schedule: next of the first resident clusters, which nothing
  /// cancels, and next of the rest.
  size_t first = 0, next = 0;
  /// The cluster to start now; nothing when none is left.
  std::optional<uint64_t> start() {
    if (first < residents())
      return order[first++];
    if (next == order.size())
      return std::nullopt;
    return order[next++];
  }
  size_t residents() const {
    return options.residentClusters
               ? std::min<size_t>(options.residentClusters, order.size())
               : order.size();
  }
  std::atomic<bool> stop{false};
  /// Whether the run has to end, be it that the caller wants it to.
  bool stops() {
    if (options.stop && options.stop->load(std::memory_order_relaxed))
      stop.store(true, std::memory_order_relaxed);
    return stop.load(std::memory_order_relaxed);
  }
  AccessLocks accesses;
  std::mutex output, schedule;
  /// Guarded by schedule: how often a cluster that another may wait for has
  /// moved on, host threads that run clusters, and those of them all of whose
  /// clusters spin at this version.
  uint64_t version = 0;
  unsigned workers = 0, stuck = 0;
  std::atomic<uint32_t> parkedCtas{0};
  std::unique_ptr<GridOrder> memoryOrder; ///< strict mode only
  const unsigned sms;                     ///< of the device
  const unsigned tensorColumns;           ///< of an SM
  const bool wideMma;                     ///< descriptors are those of sm_107
  Residency residency{launch, sms};

  Grid(const Program &program, const Launch &launch, const Options &options);
  ~Grid();
};

struct Cluster {
  Grid &grid;
  uint64_t id = 0;
  uint32_t at[3] = {0, 0, 0}; ///< in clusters
  std::vector<std::unique_ptr<Cta>> ctas;
  std::deque<AsyncOp> pending;
  uint64_t epoch = 1;  ///< grows whenever a blocked group may go on
  uint64_t writes = 0; ///< to any memory by instructions
  uint64_t looks = 0;  ///< strong reads of global memory
  uint64_t turn = 0;
  /// How often in a row waits expired, and activity() when they did last.
  unsigned expiries = 0;
  uint64_t expiredAt = 0;
  bool faulted = false;
  std::mt19937_64 random;
  TensorCore core;
  /// barrier.cluster
  uint32_t clusterArrivals = 0;
  uint64_t clusterPhase = 0;
  Clock passing, passed[2]; ///< as in NamedBarrier
  bool cancelFailed = false;
  std::vector<Finding> findings, advice;
  Counters counters;
  OpenPointSet openPoints;
  std::vector<std::unique_ptr<Observer>> observers;
  bool tellsSteps = false; ///< one of them wants to know each instruction
  /// What strict mode knows, for it and for reports; null without it.
  std::unique_ptr<Order> order;
  std::unique_ptr<TensorOrder> tensorOrder; ///< same

  explicit Cluster(Grid &grid);
  ~Cluster();
  const Program &program() const { return grid.program; }
  /// Runs `act` now or later, as the options say.
  void post(uint32_t queue, std::function<void()> act);
  /// Changes with everything that another warp or cluster could see.
  uint64_t activity() const { return epoch + writes; }
  /// Lets due operations act; with `force` the oldest one if none is due.
  bool pump(bool force);
  void drain();
  uint32_t threads() const;
  uint32_t exited() const;
  void checkClusterBarrier();
};

/// `hazard`: number of the catalogue, 0 where it has none; `mild` makes advice
/// of what breaks no rule yet.
void report(Cluster &cluster, const Origin &origin, FindingKind kind,
            std::string message, uint64_t address = 0,
            Hazard hazard = Hazard::None, bool mild = false);

/// What a handler works on.
struct Exec {
  Cluster *cluster = nullptr;
  Cta *cta = nullptr;
  Warp *warp = nullptr;
  Group *group = nullptr;
  uint8_t *bank[2] = {nullptr, nullptr};
  uint32_t mask = 0; ///< lanes that execute

  uint8_t *at(Slot slot) const {
    return bank[slot >> 31] + (slot & ~kConstantBank);
  }
  template <typename T> T *reg(Slot slot) const {
    return reinterpret_cast<T *>(at(slot));
  }
  uint32_t predicate(Slot slot) const {
    uint32_t bits = *reinterpret_cast<uint32_t *>(at(slot & ~1u));
    return slot & 1 ? ~bits : bits;
  }
  void setPredicate(Slot slot, uint32_t value) const {
    auto *bits = reinterpret_cast<uint32_t *>(at(slot & ~1u));
    *bits = (*bits & ~mask) | (value & mask);
  }
  unsigned firstLane() const { return __builtin_ctz(mask); }
  /// Lanes whose value in `slot` is undefined.
  uint32_t undefined(Slot slot) const {
    return !warp->tainted || slot & kConstantBank ? 0
                                                  : warp->undefined[slot >> 6];
  }
  void setUndefined(Slot slot, uint32_t lanes) const {
    setUndefined(slot, {lanes, lanes});
  }
  UndefinedHalves undefinedHalves(Slot slot) const {
    uint32_t lanes = undefined(slot);
    if (!lanes)
      return {};
    UndefinedHalves defined = warp->definedHalves[slot >> 6];
    return {lanes & ~defined.low, lanes & ~defined.high};
  }
  void setUndefined(Slot slot, UndefinedHalves halves) const {
    uint32_t lanes = (halves.low | halves.high) & mask;
    uint32_t &bits = warp->undefined[slot >> 6];
    bits = (bits & ~mask) | lanes;
    UndefinedHalves &defined = warp->definedHalves[slot >> 6];
    defined.low = (defined.low & ~mask) | (lanes & ~halves.low);
    defined.high = (defined.high & ~mask) | (lanes & ~halves.high);
    if (lanes)
      warp->tainted = true;
  }
  Origin origin(const Record &record, int lane = -1) const {
    return {cta, int(warp->index), lane, record.line};
  }
  /// Records a finding that ends the run.
  Step fault(const Record &record, FindingKind kind, std::string message,
             int lane = -1, uint64_t address = 0,
             Hazard hazard = Hazard::None) const {
    report(*cluster, origin(record, lane), kind, std::move(message), address,
           hazard);
    return Step::Fault;
  }
};

template <typename F> inline void forLanes(uint32_t mask, F &&body) {
  if (mask == 0xFFFFFFFFu) {
    for (unsigned lane = 0; lane != 32; ++lane)
      body(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    body(unsigned(__builtin_ctz(mask)));
}

std::string hex(uint64_t value);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_STATE_H
