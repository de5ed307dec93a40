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

struct Range {
  uint64_t address;
  uint32_t bytes;
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
};

/// What is known of a word: its last write, and the reads since.
struct ShadowCell {
  uint32_t writer = 0, readers = 0; ///< 0 = none
  bool operator==(const ShadowCell &o) const { return bits() == o.bits(); }

  /// In `readers`: unordered threads of several clusters are among them.
  static constexpr uint32_t kMany = 1u << 31;
  /// Nothing wrote the word, and one more reader makes no difference to whoever
  /// will: while no cluster knows of another one, that races already.
  bool isRead() const { return writer == 0 && readers & kMany; }

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

  ShadowCell load(size_t i) const {
    return ShadowCell::of(cells[i].load(std::memory_order_relaxed));
  }
  void store(size_t i, ShadowCell cell) {
    cells[i].store(cell.bits(), std::memory_order_relaxed);
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
  /// In ShadowCell::writer: `readers` is the index of the cells of the bytes.
  static constexpr uint32_t kSplit = ~uint32_t(0);
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
    return sets[set & ~Cell::kMany];
  }
  bool ofManyClusters(const std::vector<uint32_t> &members) const;
  /// The access that is being checked.
  struct Visit {
    uint32_t event;
    bool write;
    Judge &judge;
    Cell in, out; ///< the last cell and what became of it
  };
  Cell next(Cell cell, Visit &visit, uint64_t address);
  void touchBytes(Cell &cell, unsigned first, unsigned count, Visit &visit,
                  uint64_t address);
  void touchRange(const Range &range, Visit &visit);
  /// Drops the events that no cell names any more.
  void collect();

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  std::function<void(uint64_t, const ShadowPage *)> pageMade;
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page *page = nullptr;
  };
  std::array<Recent, 64> recent;
  std::vector<std::array<Cell, 4>> splits;
  std::vector<Preset> presets;
  std::vector<PastAccess> events{1};
  std::vector<std::vector<uint32_t>> sets{1};
  /// Numbers by hash.
  std::array<uint32_t, kRemembered> eventIds{}, setIds{};
  /// What a set becomes with one more reader.
  struct Grown {
    uint32_t set = 0, reader = 0, result = 0;
  };
  std::array<Grown, kRemembered> grown{}; ///< by hash
  uint32_t lastEvent = 0;
  size_t limit = 1 << 16;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_SHADOW_H
