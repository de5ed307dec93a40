//===- Shadow.h - who touched which bytes last ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell per word of memory holds the number of the last write and of a set of
// the reads since. Events and sets of late keep their numbers, so neighbouring
// cells are equal where one operation touched them, and a check of a tile costs
// a comparison per word. A word that was touched in part has a cell per byte.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_SHADOW_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_SHADOW_H

#include "Locations.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace blockscale::emulator::machine {

/// One access, as far as later ones have to know it.
struct PastAccess {
  enum : uint16_t {
    Async = 1,         ///< through the async proxy
    Strong = 2,        ///< atomic, volatile, relaxed or stronger
    Remote = 4,        ///< from another CTA than the one whose memory it is
    Answer = 8,        ///< of clusterlaunchcontrol.try_cancel
    Bulk = 16,         ///< of a bulk group
    MapCopy = 32,      ///< tensormap.cp_fenceproxy
    Same = 64,         ///< a write of the value that was there
    Allocation = 128,  ///< the address that tcgen05.alloc stores
    NonCoherent = 256, ///< ld.global.nc
  };
  uint64_t cluster = 0;
  Stamp stamp;
  uint32_t line = 0;
  uint16_t flags = 0;
  uint16_t bytes = 0; ///< of a strong access, else 0

  bool is(unsigned flag) const { return flags & flag; }
  /// Of a strong access.
  Scope scope() const { return Scope(flags >> kScopeShift); }
  void setScope(Scope scope) {
    flags |= uint16_t(unsigned(scope) << kScopeShift);
  }
  bool operator==(const PastAccess &o) const {
    return cluster == o.cluster && stamp.component == o.stamp.component &&
           stamp.time == o.stamp.time && line == o.line && flags == o.flags &&
           bytes == o.bytes;
  }

private:
  static constexpr unsigned kScopeShift = 14;
};

/// Which lane of a warp made an access: 0 to 31, or one of these.
using LaneCode = uint32_t;
inline constexpr LaneCode kSeveralLanes = 32;
/// The warp as a whole, or it does not matter.
inline constexpr LaneCode kNoLane = 33;
inline constexpr unsigned kOneLane = 31; ///< Range::laneShift of one lane

/// Bytes that are accessed. Of a piece that lanes in a row access, each 2 to
/// the power of `laneShift` bytes, `lane` is the first.
struct Range {
  uint64_t address;
  uint32_t bytes;
  LaneCode lane = kNoLane;
  unsigned laneShift = kOneLane;

  LaneCode laneAt(uint64_t at) const {
    return lane + uint32_t((at - address) >> laneShift);
  }
  /// The same of a word; lanes that share it are not told apart.
  LaneCode laneOfWord(uint64_t at) const {
    return laneShift < 2 ? kNoLane : laneAt(at);
  }
  /// The same from `at` on.
  Range from(uint64_t at, uint32_t count) const {
    return {at, count, laneAt(at), laneShift};
  }
};

enum class Verdict : uint8_t {
  Fine,
  Unordered,     ///< no edge
  Unfenced,      ///< an edge, no proxy fence after the write
  FencedByOther, ///< an edge, the fence in another thread than the write
  ReadUnfenced,  ///< an edge, no proxy fence after the read
};

/// Decides about pairs of accesses, the later of which is now.
class Judge {
public:
  virtual ~Judge() = default;
  virtual Verdict verdict(const PastAccess &earlier, bool wrote) const = 0;
  /// Whether the earlier one happened before, fences aside.
  virtual bool before(const PastAccess &earlier) const = 0;
  /// Whether some cluster knows what another one did.
  virtual bool clustersMet() const = 0;
  virtual void conflict(const PastAccess &earlier, bool wrote, Verdict verdict,
                        uint64_t address) = 0;
  /// Whether lanes of this warp made the earlier access after they last met, so
  /// that it matters which.
  virtual bool sinceLanesMet(const PastAccess &earlier) const = 0;
  /// Whether the two may not meet if other lanes of the warp made them, and
  /// these did not meet in between; reports it. Otherwise they are fine.
  virtual void lanesConflict(const PastAccess &earlier, LaneCode before,
                             LaneCode now, bool wrote, uint64_t address) = 0;
};

/// What is known of a word: its last write, and the reads since. Beside the
/// number of the write and of the set of reads stands which lane made it, of
/// the set the last one added.
struct ShadowCell {
  uint32_t writer = 0, readers = 0; ///< 0 = none
  bool operator==(const ShadowCell &o) const { return bits() == o.bits(); }

  static constexpr unsigned kWriterBits = 26, kReadersBits = 25, kLaneBits = 6;
  static constexpr uint32_t kWriterId = (1u << kWriterBits) - 1;
  static constexpr uint32_t kReadersId = (1u << kReadersBits) - 1;
  /// In `readers`: unordered threads of several clusters are among them.
  static constexpr uint32_t kMany = 1u << 31;
  static_assert(kWriterBits + kLaneBits == 32);
  static_assert(kReadersBits + kLaneBits == 31);
  /// The bits of numbers, without lanes.
  static constexpr uint64_t kNumbers =
      uint64_t(kMany | kReadersId) << 32 | kWriterId;

  uint32_t writerId() const { return writer & kWriterId; }
  LaneCode writerLane() const { return writer >> kWriterBits; }
  /// With kMany.
  uint32_t readersId() const { return readers & (kMany | kReadersId); }
  LaneCode readerLane() const {
    return readers >> kReadersBits & ((1u << kLaneBits) - 1);
  }
  static constexpr uint64_t kWriterLane = uint64_t(uint32_t(~kWriterId));
  static constexpr uint64_t kReaderLane = uint64_t(~(kReadersId | kMany)) << 32;
  /// Lanes as bits(), to be added to numbers.
  static uint64_t ofWriter(LaneCode lane) {
    return uint64_t(lane) << kWriterBits;
  }
  static uint64_t ofReader(LaneCode lane) {
    return uint64_t(lane) << (32 + kReadersBits);
  }
  /// Nothing wrote the word, and one more reader makes no difference to whoever
  /// will: while no cluster knows of another one, that races already. Of a
  /// split word, that is so for each of its bytes.
  bool isRead() const {
    return (writer == 0 || writer == kSplit) && readers & kMany;
  }

  /// `writer` of a word whose bytes have cells of their own; `readers` is their
  /// index, and kMany if isRead() goes for all of them.
  static constexpr uint32_t kSplit = ~uint32_t(0);
  uint32_t splitIndex() const { return readers & ~kMany; }

  uint64_t bits() const { return uint64_t(readers) << 32 | writer; }
  static ShadowCell of(uint64_t bits) {
    return {uint32_t(bits), uint32_t(bits >> 32)};
  }
};

/// The cells of 4 KiB. Whoever holds the lock of the shadow changes them;
/// others may look.
class ShadowPage {
public:
  static constexpr unsigned kShift = 12;
  static constexpr uint32_t kWords = 1 << (kShift - 2);

  ShadowCell load(size_t i) const { return ShadowCell::of(loadBits(i)); }
  void store(size_t i, ShadowCell cell) { storeBits(i, cell.bits()); }
  uint64_t loadBits(size_t i) const {
    return cells[i].load(std::memory_order_relaxed);
  }
  void storeBits(size_t i, uint64_t bits) {
    cells[i].store(bits, std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<uint64_t>, kWords> cells{};
};

class Shadow {
public:
  /// Checks one access to `ranges` against earlier ones, and remembers it.
  void touch(const Range *ranges, size_t count, const PastAccess &event,
             bool write, Judge &judge);
  /// Last writes of the bytes of a range, each once; absent pages give none.
  std::vector<PastAccess> writers(uint64_t address, uint32_t bytes) const;
  /// All bytes count as written by `event` until they are touched.
  void preset(uint64_t address, uint64_t bytes, const PastAccess &event);
  /// Calls `made` with the address of each page that is made from now on.
  void tell(std::function<void(uint64_t, const ShadowPage *)> made) {
    pageMade = std::move(made);
  }

private:
  static constexpr unsigned kPageShift = ShadowPage::kShift;
  static constexpr uint32_t kPageWords = ShadowPage::kWords;
  static constexpr uint32_t kSplit = ShadowCell::kSplit;
  using Cell = ShadowCell;
  using Page = ShadowPage;
  struct Preset {
    uint64_t address, bytes;
    uint32_t event;
  };
  /// How many events, sets and steps between sets are found again. Those that
  /// are forgotten get another number, which costs memory only.
  static constexpr size_t kRemembered = 1024;

  Page &page(uint64_t number);
  uint32_t intern(const PastAccess &event);
  uint32_t addReader(uint32_t set, uint32_t reader, const Judge &judge);
  uint32_t internSet(std::vector<uint32_t> members);
  const std::vector<uint32_t> &membersOf(uint32_t set) const {
    return sets[set & Cell::kReadersId];
  }
  bool ofManyClusters(const std::vector<uint32_t> &members) const;
  /// The access that is being checked.
  struct Visit {
    uint32_t event;
    bool write;
    Judge &judge;
    /// The numbers of the last cell, and what became of them.
    uint64_t in, out;
    /// kWriterLane and kReaderLane, where the writer and the last reader are
    /// lanes of this warp that have not met since.
    uint64_t lanes;
    /// Where the lane of the access goes, and the lanes that stay.
    uint64_t own, kept;
    bool isReader; ///< the access is now the last reader
  };
  /// Sets what the access makes of the numbers of a cell.
  void next(Cell cell, Visit &visit, uint64_t address);
  /// What the access of `lane` makes of a cell with the numbers visit.in.
  uint64_t withLanes(Cell cell, LaneCode lane, const Visit &visit,
                     uint64_t address);
  void touchBytes(Cell &cell, unsigned first, unsigned count, Visit &visit,
                  const Range &range, uint64_t address);
  size_t touchRun(Page &cells, size_t first, size_t last, const Range &range,
                  uint64_t address, Visit &visit);
  void touchRange(const Range &range, Visit &visit);
  /// Drops the events that no cell names any more.
  void collect();
  /// Drops all that is known.
  void forget();

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  std::function<void(uint64_t, const ShadowPage *)> pageMade;
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page *page = nullptr;
  };
  std::array<Recent, 64> recent;
  /// Grows without a second copy of what is there.
  std::deque<std::array<Cell, 4>> splits;
  std::vector<Preset> presets;
  std::vector<PastAccess> events{1};
  std::vector<std::vector<uint32_t>> sets{1};
  /// What a set becomes with one more reader.
  struct Grown {
    uint32_t set = 0, reader = 0, result = 0;
  };
  /// What was numbered lately, by hash.
  struct Recall {
    std::array<uint32_t, kRemembered> eventIds{}, setIds{};
    std::array<Grown, kRemembered> grown{};
  };
  /// Made with the first access: most parts of memory never see one.
  Recall &recall() {
    if (!recalled)
      recalled = std::make_unique<Recall>();
    return *recalled;
  }
  std::unique_ptr<Recall> recalled;
  uint32_t lastEvent = 0;
  static constexpr size_t kLeastLimit = 1 << 16;
  size_t limit = kLeastLimit;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_SHADOW_H
