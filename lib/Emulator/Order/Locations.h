//===- Locations.h - what is released through memory ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strong write after a release or a fence leaves a message at its location,
// for whoever reads it and acquires. Atomics keep the messages that they find,
// stores replace them. Both sides have a scope, and a message arrives only
// where each side's scope holds the other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_LOCATIONS_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_LOCATIONS_H

#include "Clock.h"

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace blockscale::emulator::machine {

/// Of a strong access or a fence; also how far apart two threads are.
enum class Scope : uint8_t {
  Cta,
  Cluster,
  Gpu, ///< and system, which is no more here
};
inline constexpr size_t kScopes = 3;

/// A CTA of the grid.
struct Place {
  uint64_t cluster = 0;
  uint32_t rank = 0;

  Scope distance(const Place &other) const {
    return cluster != other.cluster ? Scope::Gpu
           : rank != other.rank     ? Scope::Cluster
                                    : Scope::Cta;
  }
};

/// Messages that a thread gets, by the least scope that an acquire of them
/// needs.
using Received = std::array<Message, kScopes>;

/// The messages in a part of memory.
class Locations {
public:
  /// `rows` numbers the rows of editions of the grid.
  explicit Locations(std::atomic<uint64_t> &rows) : rows(rows) {}

  /// Leaves a message, or nothing if it is null; `keep` as atomics do.
  void write(uint64_t address, const Place &from, Scope scope,
             const Message *message, bool keep);
  /// The version of what lies at an address; 0 for nothing. It never recurs.
  uint64_t version(uint64_t address) const;
  /// What a read at `place` sees, for acquires that are no wider than `scope`.
  /// With `apart` what comes from near is told apart from the rest.
  Received read(uint64_t address, const Place &place, Scope scope,
                bool apart) const;

private:
  using Source = std::tuple<uint64_t, uint32_t, Scope>; ///< a place, a scope
  struct Content {
    uint64_t row = 0, version = 0;
    Message wide; ///< all with scope gpu, an edition of the row
    /// Each one's own, for narrow scopes.
    std::map<Source, Message> from;
  };
  /// Shared by locations with the same content, and copied before a change.
  using ContentPtr = std::shared_ptr<Content>;
  static constexpr unsigned kPageShift = 12;
  using Page = std::array<ContentPtr, 1 << (kPageShift - 2)>;

  const Content *find(uint64_t address) const;
  ContentPtr &slot(uint64_t address);

  std::atomic<uint64_t> &rows;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  /// The last that one message made.
  ContentPtr recent;
  Source recentSource;
  std::shared_ptr<const Times> recentAuthor;
  uint64_t versions = 0;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_LOCATIONS_H
