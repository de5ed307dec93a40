//===- Order.h - what happens before what, and who breaks it ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strict mode. `Cluster::order` and `Grid::memoryOrder` are null without it,
// and nothing here has an effect on values or on scheduling.
//
// Edges. Each warp has a clock (`Warp::order->clock`); lanes of a warp count as
// ordered. A releasing operation joins the clock into that of an object and
// starts a new time (`release`); an acquiring one takes the object's clock over
// (`acquire`). Each mbarrier collects a clock per phase (BarrierOrder). Strong
// accesses leave messages at their locations and take them (`synchronise`).
//
// Asynchronous operations are stamped at issue and checked at issue, with the
// clock of the issuing warp, so that findings do not depend on when they
// complete. Two kinds:
//  - Queues: operations of one thread that complete in order, as seen by what
//    observes them. `issue` gives the stamp of the next one; whatever observes
//    completion raises that stamp in a clock: a tcgen05.commit in the clock of
//    the barrier it arrives on (`covered`), a wait_group or tcgen05.wait in
//    that of the waiting warp (`observe`).
//  - Transactions: operations that complete by complete_tx on an mbarrier.
//    `begin` makes a stamp that is not ordered before anything until `end`
//    binds it to the phase of the barrier that the bytes counted in.
// An operation A that happened before point X of warp W: `knows(W, stamp)`.
// Keep the stamp beside whatever the operation touches (columns of tensor
// memory, for instance) and ask `knows` when somebody touches it again.
//
// Memory. `touchShared` and `touchGlobal` check one access against earlier ones
// and report what is wrong, by number of the catalogue.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_ORDER_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_ORDER_H

#include "../Run/State.h"
#include "Locations.h"
#include "Shadow.h"
#include "WarpgroupOrder.h"

#include <map>

namespace blockscale::emulator::machine {

/// Operations of a thread that are observed together. Add to the end.
enum class Queue : uint8_t {
  Tensor1,     ///< tcgen05.mma, cp and shift with cta_group::1
  Tensor2,     ///< the same with cta_group::2
  BulkRead,    ///< bulk groups: the source is read
  BulkWrite,   ///< bulk groups: the destination is written
  CopyAsync,   ///< cp.async; one per warp, not per lane
  TensorLoad,  ///< tcgen05.ld; one per warp
  TensorStore, ///< tcgen05.st; one per warp
  Warpgroup,   ///< wgmma.mma_async; one per warp
  ReadA1,      ///< what Tensor1 reads as A from shared memory
  ReadA2       ///< the same of Tensor2
};

/// What counted on an mbarrier, for reports.
struct BarrierVisit {
  enum Kind : uint8_t { Arrival, Expectation, Copy, Multicast, Answer };
  Kind kind = Arrival;
  Origin origin;
  uint32_t bytes = 0; ///< expected or delivered
};

/// What an mbarrier passes on.
struct BarrierOrder {
  Cta *cta = nullptr;
  uint32_t offset = 0;
  Component component = 0;
  /// Phases completed since the memory was first used for an mbarrier.
  uint32_t completions = 0;
  Clock pending, done; ///< of the current phase, of all completed ones
  Stamp init;          ///< the last mbarrier.init
  uint32_t initLine = 0;
  bool initReported = false;
  uint32_t lastArrival = 0; ///< its line
  /// The line of an arrival of another CTA in the current phase and in the one
  /// before; 0 if there was none.
  uint32_t remoteArrival = 0, remoteArrivalBefore = 0;
  /// Bytes of a multicast were counted here.
  bool multicast = false;
  /// The first visits of the current phase and of the one before.
  std::vector<BarrierVisit> visits, visitsBefore;

  void visit(BarrierVisit::Kind kind, const Origin &origin, uint32_t bytes) {
    constexpr size_t kKept = 32;
    if (visits.size() < kKept)
      visits.push_back({kind, origin, bytes});
  }
  /// Whether all bytes of this phase were answers of try_cancel.
  bool countsAnswers() const;
};

/// The last test of an mbarrier by a warp.
struct WaitNote {
  const BarrierOrder *barrier = nullptr;
  bool succeeded = false, relaxed = false;
  uint32_t parity = 0;
  /// Completions when the test succeeded, or when polling began.
  uint32_t completions = 0;
};

/// When lanes of a warp met: what a lane did before is known to those that it
/// met, and to whom they meet later. Times are those of the warp.
class LaneOrder {
public:
  /// Everything that any lane did up to `time` is known to all.
  void meetAll(uint32_t time);
  void meet(uint32_t time, uint32_t lanes);
  /// Whether no lane can be told from another for what was done at `time`.
  bool allMet(uint32_t time) const { return time <= all; }
  /// Whether lane `now` knows what `before` did at `time`.
  bool met(LaneCode before, LaneCode now, uint32_t time) const;

private:
  struct Meeting {
    uint32_t time, lanes;
  };
  uint32_t all = 0;
  std::vector<Meeting> some; ///< after `all`, of a part of the lanes each
};

/// What strict mode keeps for a warp.
struct WarpOrder {
  Component component = 0;
  Clock clock;
  LaneOrder lanes;
  std::vector<WaitNote> waits;
  /// What relaxed stores publish and what relaxed loads have seen: fences make
  /// releases and acquires of them, by scope.
  std::array<std::optional<Message>, kScopes> fenced;
  Received seen;
  /// What relaxed waits on mbarriers have seen.
  Clock seenOnBarriers;
  /// What was found where the warp read last, so that polling costs little.
  struct Look {
    uint64_t address = 0, version = 0;
    bool acquired = false;
    Scope scope = Scope::Cta;
  };
  std::array<Look, 32> looks;
  uint32_t proxyFences = 0;
  /// Bulk groups and groups of cp.async, by lane.
  struct Groups {
    std::vector<uint32_t> ends; ///< time of the last operation of each group
    uint32_t line = 0;          ///< of the last operation
    bool emptyWait = false;     ///< waited without ever committing
    bool waited = false;        ///< waited, if not for the last one
  };
  std::map<unsigned, Groups> bulk, copies;
  /// Runs of tcgen05.ld of which no register has been used, in their order.
  struct Load {
    Stamp stamp;
    Slots registers;
  };
  std::vector<Load> loads;
  /// Once the warp has executed an instruction of wgmma.
  std::optional<WarpgroupOrder> warpgroup;
};

/// What strict mode has to recognise of an operation when it completes.
struct Ticket {
  Stamp stamp;
  /// What an arrival that ends with the operation passes on.
  std::shared_ptr<const Clock> covered;
};

/// One access to memory.
struct Touch {
  Origin origin;
  bool write = false;
  bool async = false;       ///< through the async proxy
  bool strong = false;      ///< atomic, volatile, relaxed or stronger
  Scope scope = Scope::Gpu; ///< of a strong access
  uint16_t bytes = 0;       ///< of one strong access
  uint16_t flags = 0;       ///< more flags of PastAccess
  bool nonCoherent = false; ///< ld.global.nc
  bool collective = false;  ///< by the warp as a whole
  /// Of an asynchronous operation; else that of the warp.
  std::optional<Stamp> stamp;
};

/// What a strong access means for order.
struct Sync {
  bool reads = false, writes = false; ///< an atomic may do both
  bool atomic = false;
  bool acquires = false, releases = false;
  Scope scope = Scope::Gpu;
};

/// fence.proxy.tensormap::generic.acquire of a map.
struct MapAcquire {
  Stamp by;
  Clock clock;
};

/// Strict state of the grid: global memory and what is released through it.
class GridOrder {
public:
  explicit GridOrder(const Program &program);
  /// `bytes` at `address` are written by a previous grid.
  void presetPrevious(uint64_t address, uint64_t bytes);

  static constexpr unsigned kShards = 64;
  struct Shard {
    explicit Shard(std::atomic<uint64_t> &rows) : locations(rows) {}
    std::mutex lock;
    Shadow shadow;
    Locations locations;
  };
  /// A shard has blocks of this size: rows of a tile mostly fall into one.
  static constexpr uint64_t kBlock = 1 << 18;
  Shard &shardOf(uint64_t address) {
    return shards[address / kBlock % kShards];
  }

  /// Keeps track of the pages of these regions, which stay where they are.
  void cover(std::vector<Region> &regions);
  /// Whether one more read of these bytes makes no difference, as long as no
  /// clusters met; `offset` counts from the base of a region that is tracked.
  bool isRead(const Region &region, uint64_t offset, uint64_t bytes) const;
  bool isRead(const Memory &memory, const Range *ranges, size_t count) const;
  /// Some cluster knows what another one did.
  bool met() const { return clustersMet.load(std::memory_order_relaxed); }
  void meet() { clustersMet.store(true, std::memory_order_relaxed); }

  /// Whether a fence may acquire from near only.
  const bool narrowFences;
  std::atomic<uint64_t> rows{0}; ///< of editions, see Locations

private:
  std::deque<Shard> shards;
  std::vector<std::unique_ptr<std::atomic<const ShadowPage *>[]>> directories;
  std::atomic<bool> clustersMet{false};
};

/// Strict state of a cluster.
class Order {
public:
  explicit Order(Cluster &cluster);

  /// Gives a warp its component, before it runs.
  void start(Warp &warp);

  //===-- Edges -----------------------------------------------------------===//

  /// Passes what `warp` knows to `into` and starts a new time of the warp.
  void release(Warp &warp, Clock &into, bool relaxed = false);
  void acquire(Warp &warp, const Clock &from, bool relaxed = false);
  /// Lanes of a warp meet and order what they did, as in bar.warp.sync.
  void meetLanes(Warp &warp, uint32_t lanes);
  /// Starts a new time: what follows is not covered by what was passed on.
  void tick(Warp &warp);
  /// The time of a warp, which what it does now has.
  Stamp now(const Warp &warp) const {
    const WarpOrder &own = *warp.order;
    return {own.component, own.clock.at(own.component)};
  }
  /// Whether an operation happened before what `warp` does now.
  bool knows(const Warp &warp, Stamp stamp, View view = View::Happens) const;

  //===-- Queues of a thread ----------------------------------------------===//

  Component queue(const Warp &warp, unsigned lane, Queue queue);
  /// The stamp of the operation that the thread issues now.
  Stamp issue(const Warp &warp, unsigned lane, Queue queue);
  /// The stamp of the last one issued; time 0 if there is none.
  Stamp last(const Warp &warp, unsigned lane, Queue queue);
  /// The warp has seen that operations up to `stamp` are complete.
  void observe(Warp &warp, Stamp stamp);
  /// What an arrival says that ends with the operations of queues issued so
  /// far. Operations that the thread had seen complete before it issued them
  /// happened before too; its ordinary accesses are not passed on.
  std::shared_ptr<const Clock> covered(Warp &warp, unsigned lane,
                                       std::initializer_list<Queue> queues);

  //===-- Transactions ----------------------------------------------------===//

  /// A stamp for an operation that will complete on an mbarrier.
  Stamp begin(BarrierOrder &barrier, const Origin &origin,
              BarrierVisit::Kind kind);
  /// Its bytes count in the current phase of its barrier; reports a phase that
  /// ended since `begin`, under the number of `kind`.
  void end(const Origin &origin, Stamp operation, BarrierVisit::Kind kind);
  /// The stamp of an operation, if it has one by now.
  Stamp resolve(Stamp stamp) const {
    return stamp.component == kOperation ? operations[stamp.time].stamp : stamp;
  }

  //===-- mbarriers -------------------------------------------------------===//

  /// The order of the mbarrier at `offset`; made on demand.
  BarrierOrder &barrier(Cta &cta, uint32_t offset);
  void initialised(Warp &warp, BarrierOrder &barrier, uint32_t line);
  /// Reports use of an mbarrier whose init is not visible to the warp.
  void use(const Origin &origin, Warp &warp, BarrierOrder &barrier);
  /// A thread or a commit has arrived.
  void arrived(BarrierOrder &barrier, const Origin &origin, uint32_t bytes);
  /// Whether an arrival at `line` was executed.
  bool hasArrived(uint32_t line) const {
    return line < arrivalLines.size() && arrivalLines[line];
  }
  /// A relaxed arrival or completion: passes on what a fence of the warp with
  /// this scope or a wider one made a release of.
  void passFenced(const Warp &warp, BarrierOrder &barrier, Scope scope);
  /// The current phase is complete.
  void complete(BarrierOrder &barrier);
  /// A wait of `warp` was tested; reports waits that fell behind. True if it is
  /// the first that failed in a row.
  struct Test {
    bool succeeded, relaxed;
    Scope scope;
    uint32_t parity;
  };
  bool tested(const Origin &origin, Warp &warp, BarrierOrder &barrier,
              const Test &test);

  //===-- Fences ----------------------------------------------------------===//

  void fence(Warp &warp, Scope scope); ///< fence, membar
  void fenceProxyAsync(Warp &warp, bool shared, bool global);
  void fenceBarrierInit(Warp &warp);
  void fenceTensorMap(Warp &warp, bool release, bool acquire, uint64_t address);
  /// A strong access at a location, of shared memory if there is a CTA.
  void synchronise(Warp &warp, Cta *cta, uint64_t address, const Sync &sync);

  //===-- Memory ----------------------------------------------------------===//

  void touchShared(Warp &warp, Cta &cta, const Range *ranges, size_t count,
                   const Touch &touch);
  void touchGlobal(Warp &warp, const Range *ranges, size_t count,
                   const Touch &touch);
  /// The tensor map at `address` is used by the warp.
  void useTensorMap(const Origin &origin, Warp &warp, uint64_t address);

  //===-- Bulk groups -----------------------------------------------------===//

  void commitGroup(Warp &warp, unsigned lane, bool copies);
  /// A wait until at most `keep` groups are pending; `all` takes the open one
  /// too.
  void waitGroup(Warp &warp, unsigned lane, bool copies, size_t keep,
                 bool readOnly, bool all);
  /// A CTA has ended: its bulk operations must have read their sources, and
  /// what its mbarriers count must have been waited for.
  void checkExit(const Cta &cta);

  /// "warp 2 of CTA 1" and the like.
  std::string describe(const PastAccess &event) const;

private:
  friend class AccessCheck;

  enum class Kind : uint8_t { Previous, Warp, Barrier, Queue };
  struct Part {
    Kind kind;
    const Warp *warp = nullptr;
    const BarrierOrder *barrier = nullptr;
    uint32_t issued = 0;
    Queue queue = Queue::Tensor1;
  };
  struct Operation {
    Stamp stamp{kOperation, 0};
    BarrierOrder *barrier = nullptr;
    uint32_t begun = 0; ///< BarrierOrder::completions at issue
    Origin origin;
    BarrierVisit::Kind kind = BarrierVisit::Copy;
  };
  void checkUnawaited(const Cta &cta);
  void checkNonCoherent(const Shadow &shadow, const Range &range,
                        const Touch &touch);
  Place placeOf(const Warp &warp) const { return {cluster.id, warp.cta->rank}; }
  void acquire(WarpOrder &own, const Message &from);
  void acquireFrom(Warp &warp, const Locations &locations, uint64_t address,
                   const Sync &sync);
  void releaseTo(Warp &warp, Locations &locations, uint64_t address,
                 const Sync &sync);
  /// The stamp of an operation as other clusters know it: they have no access
  /// to `operations`.
  Stamp predict(Stamp stamp) const;

  Cluster &cluster;
  std::vector<Part> parts;
  std::map<std::pair<Component, unsigned>, Component> queues;
  std::vector<Operation> operations;
  std::map<uint64_t, std::vector<MapAcquire>> mapAcquires;
  std::deque<BarrierOrder> barriers;
  std::vector<bool> arrivalLines;
  std::map<std::pair<uint32_t, uint32_t>, BarrierOrder *> barrierAt;
  Shadow shadow;       ///< of shared memory, by address with rank
  Locations locations; ///< same
};

/// A finding of the catalogue; advice goes where the options say.
void reportHazard(Cluster &cluster, const Origin &origin, Hazard hazard,
                  FindingKind kind, std::string message, uint64_t address = 0);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_ORDER_H
