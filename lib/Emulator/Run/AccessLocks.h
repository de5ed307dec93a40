//===- AccessLocks.h - accesses that happen in one piece --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clusters run on several host threads. What reads and writes global memory in
// one step holds the locks of its addresses: atomics, reductions by copies, and
// in strict mode strong accesses, whose value and meaning for order go
// together. Shared memory belongs to one host thread.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_ACCESSLOCKS_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_ACCESSLOCKS_H

#include <array>
#include <cstdint>
#include <mutex>

namespace blockscale::emulator::machine {

class AccessLocks {
public:
  /// A bit for each lock.
  using Set = uint64_t;

  /// The locks of `bytes` bytes, at least one, at an address of the device.
  static Set of(uint64_t address, uint64_t bytes) {
    uint64_t first = address >> kPageShift,
             pages = ((address + bytes - 1) >> kPageShift) - first + 1;
    if (pages >= kLocks)
      return ~Set(0);
    Set set = (Set(1) << pages) - 1;
    unsigned shift = first % kLocks;
    return shift ? set << shift | set >> (kLocks - shift) : set;
  }

  /// Holds a set of locks. All take them in one order, so that nobody waits for
  /// somebody who waits for him.
  class Guard {
  public:
    Guard(AccessLocks &locks, Set set) : locks(locks), set(set) {
      for (Set left = set; left; left &= left - 1)
        locks.all[unsigned(__builtin_ctzll(left))].lock();
    }
    ~Guard() {
      for (Set left = set; left; left &= left - 1)
        locks.all[unsigned(__builtin_ctzll(left))].unlock();
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    AccessLocks &locks;
    Set set;
  };

private:
  static constexpr unsigned kPageShift = 12, kLocks = 64;
  std::array<std::mutex, kLocks> all;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_ACCESSLOCKS_H
