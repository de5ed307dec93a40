//===- Heap.cpp - malloc and free of kernels ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks lie one after another, each behind 16 bytes that say how long it is
// and whether somebody has it. The first that is long enough is given.
//
//===----------------------------------------------------------------------===//

#include "Heap.h"

#include "../Run/Observer.h"

#include <cstring>

namespace blockscale::emulator::machine {

uint64_t heapBytes(const Module &module) {
  const Function *malloc = module.findFunction("malloc");
  return malloc && malloc->isExtern ? kHeapBytes : 0;
}

namespace {

struct Block {
  uint64_t bytes = 0, taken = 0;
};

/// The last variable of the module.
uint64_t heapAddress(const Exec &x) {
  const Program &program = x.cluster->program();
  return program.globalBase + program.globalBytes.size() - kHeapBytes;
}

/// The heap while its lock is held.
class Heap {
public:
  explicit Heap(Exec &x)
      : address(heapAddress(x)),
        bytes(x.cluster->grid.memory.globals +
              x.cluster->program().globalBytes.size() - kHeapBytes),
        guard(x.cluster->grid.accesses, AccessLocks::of(address, 1)) {
    // Bytes of a module start as zeros.
    if (at(0).bytes == 0)
      put(0, {kHeapBytes - sizeof(Block), 0});
  }

  /// An address, or 0.
  uint64_t allocate(uint64_t size) {
    constexpr uint64_t kStep = 16;
    if (size == 0 || size > kHeapBytes)
      return 0;
    size = (size + kStep - 1) / kStep * kStep;
    for (uint64_t i = 0; i + sizeof(Block) <= kHeapBytes;) {
      Block block = at(i);
      if (!block.taken)
        block = joined(i);
      if (!block.taken && block.bytes >= size) {
        if (block.bytes - size > sizeof(Block)) {
          put(i + sizeof(Block) + size,
              {block.bytes - size - sizeof(Block), 0});
          block.bytes = size;
        }
        put(i, {block.bytes, 1});
        return address + i + sizeof(Block);
      }
      i += sizeof(Block) + block.bytes;
    }
    return 0;
  }

  /// False if malloc has not given the address, or it was freed before.
  bool release(uint64_t pointer) {
    for (uint64_t i = 0; i + sizeof(Block) <= kHeapBytes;) {
      Block block = at(i);
      if (address + i + sizeof(Block) == pointer) {
        put(i, {block.bytes, 0});
        return block.taken;
      }
      i += sizeof(Block) + block.bytes;
    }
    return false;
  }

private:
  Block at(uint64_t offset) const {
    Block block;
    std::memcpy(&block, bytes + offset, sizeof block);
    // A kernel may have stored over it.
    block.bytes = std::min(block.bytes, kHeapBytes - offset - sizeof block);
    return block;
  }
  void put(uint64_t offset, Block block) {
    std::memcpy(bytes + offset, &block, sizeof block);
  }
  /// A free block with the free ones behind it.
  Block joined(uint64_t offset) {
    Block block = at(offset);
    for (uint64_t next = offset + sizeof(Block) + block.bytes;
         next + sizeof(Block) <= kHeapBytes && !at(next).taken;
         next = offset + sizeof(Block) + block.bytes)
      block.bytes += sizeof(Block) + at(next).bytes;
    put(offset, block);
    return block;
  }

  const uint64_t address;
  uint8_t *bytes;
  AccessLocks::Guard guard;
};

uint8_t *localOf(Exec &x, unsigned lane, uint32_t place) {
  return x.warp->local.data() + size_t(lane) * x.cluster->program().localBytes +
         place;
}

/// Whoever gets memory that another thread has freed comes after it. To be said
/// before memory is free and after it is got: other clusters run meanwhile.
void orderHeap(Exec &x) {
  Sync sync;
  sync.reads = sync.writes = sync.atomic = true;
  sync.acquires = sync.releases = true;
  ++x.cluster->writes;
  tell(*x.cluster, Synchronised{*x.warp, nullptr, heapAddress(x), sync});
}

} // namespace

Step heapAllocate(Exec &x, const Record &r) {
  const auto &call = r.as<ExternRecord>();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t size;
    std::memcpy(&size, localOf(x, lane, call.arguments[0]), sizeof size);
    uint64_t pointer = Heap(x).allocate(size);
    std::memcpy(localOf(x, lane, call.result), &pointer, sizeof pointer);
  }
  orderHeap(x);
  return Step::Next;
}

Step heapRelease(Exec &x, const Record &r) {
  const auto &call = r.as<ExternRecord>();
  orderHeap(x);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t pointer;
    std::memcpy(&pointer, localOf(x, lane, call.arguments[0]), sizeof pointer);
    if (pointer && !Heap(x).release(pointer))
      return x.fault(r, FindingKind::BadAddress,
                     "free of an address that malloc has not given, or that "
                     "was freed before",
                     int(lane), pointer);
  }
  return Step::Next;
}

} // namespace blockscale::emulator::machine
