//===- AddressSpace.cpp - the memory that kernels and the host share ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddressSpace.h"
#include "Memory.h"

#include <sys/mman.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

constexpr uint64_t kPage = 4096;
/// Where the ranges are wanted: far from what the host maps by itself and from
/// the windows of the machine.
constexpr uint64_t kDeviceRange = uint64_t(0x20) << 40;
constexpr uint64_t kHostRange = uint64_t(0x40) << 40;
constexpr uint64_t kMapRange = uint64_t(0x30) << 40;

void *map(uint64_t at, uint64_t size, int rights, int flags) {
  void *memory =
      mmap(reinterpret_cast<void *>(at), size, rights,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

uint64_t pages(uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

} // namespace

bool AddressSpace::reserve(uint64_t bytes) {
  void *device = map(kDeviceRange, bytes, PROT_NONE, 0);
  void *host = map(kHostRange, bytes, PROT_NONE, 0);
  void *mapped = map(kMapRange, bytes, PROT_NONE, 0);
  if (!device || !host || !mapped) {
    for (void *range : {device, host, mapped})
      if (range)
        munmap(range, bytes);
    return false;
  }
  deviceBase = deviceNext = reinterpret_cast<uint64_t>(device);
  hostBase = hostNext = reinterpret_cast<uint64_t>(host);
  mapBase = reinterpret_cast<uint64_t>(mapped);
  rangeBytes = bytes;
  return true;
}

AddressSpace::AddressSpace() {
  // Less where there is a limit (`ulimit -v`) or ThreadSanitizer, which has the
  // rest of the addresses for itself.
  constexpr uint64_t kMost = uint64_t(16) << 40, kLeast = uint64_t(1) << 28;
  uint64_t bytes = kMost;
  while (bytes >= kLeast && !reserve(bytes))
    bytes /= 4;
}

/// An address for `size` bytes and a page after them that nobody may touch.
std::optional<uint64_t> AddressSpace::place(uint64_t base, uint64_t &next,
                                            uint64_t size) {
  uint64_t needed = pages(size) + kPage;
  if (!base || size > rangeBytes - 2 * kPage)
    return std::nullopt;
  if (next + needed <= base + rangeBytes) {
    uint64_t at = next;
    next += needed;
    return at;
  }
  // The range has been used up once: look for a gap.
  uint64_t at = base;
  for (auto it = allocations.lower_bound(base);; ++it) {
    uint64_t end = base + rangeBytes;
    if (it != allocations.end() && it->first < end)
      end = it->first;
    if (at + needed <= end)
      return at;
    if (end == base + rangeBytes)
      return std::nullopt;
    at = it->first + pages(it->second.size) + kPage;
  }
}

Allocation *AddressSpace::allocate(MemoryKind kind, uint64_t size,
                                   unsigned flags) {
  bool device = kind == MemoryKind::Device;
  size = size ? size : 1;
  std::optional<uint64_t> address = device ? place(deviceBase, deviceNext, size)
                                           : place(hostBase, hostNext, size);
  if (!address)
    return nullptr;
  void *memory = map(device ? 0 : *address, pages(size), PROT_READ | PROT_WRITE,
                     device ? 0 : MAP_FIXED);
  if (!memory)
    return nullptr;
  if (kind != MemoryKind::Pinned)
    used += size;
  listIsFresh = false;
  Allocation &one = allocations[*address];
  one = {*address, size, static_cast<uint8_t *>(memory), kind, flags, ++lastId};
  return &one;
}

const Allocation *AddressSpace::adopt(void *host, uint64_t size,
                                      unsigned flags) {
  auto address = reinterpret_cast<uint64_t>(host);
  auto next = allocations.lower_bound(address);
  if (find(address) ||
      (next != allocations.end() && next->first - address < size))
    return nullptr;
  listIsFresh = false;
  Allocation &one = allocations[address];
  one = {address, size,    static_cast<uint8_t *>(host), MemoryKind::Registered,
         flags,   ++lastId};
  return &one;
}

bool AddressSpace::release(uint64_t address) {
  auto it = allocations.find(address);
  if (it == allocations.end())
    return false;
  const Allocation &one = it->second;
  if (one.kind == MemoryKind::Device)
    munmap(one.data, pages(one.size));
  else if (one.kind != MemoryKind::Registered)
    map(one.address, pages(one.size), PROT_NONE, MAP_FIXED);
  if (one.kind == MemoryKind::Device || one.kind == MemoryKind::Managed)
    used -= one.size;
  if (one.pool)
    giveBack(one.pool, one.size);
  allocations.erase(it);
  listIsFresh = false;
  return true;
}

void AddressSpace::setMapped(uint64_t address, uint64_t size,
                             const std::vector<Allocation> &runs) {
  allocations.erase(allocations.lower_bound(address),
                    allocations.lower_bound(address + size));
  for (Allocation run : runs) {
    run.id = ++lastId;
    allocations[run.address] = run;
  }
  listIsFresh = false;
}

void AddressSpace::releaseAll(const CUctx_st *context) {
  std::vector<uint64_t> addresses;
  for (const auto &[address, one] : allocations)
    if (one.context == context && !one.isMapped)
      addresses.push_back(address);
  for (uint64_t address : addresses)
    release(address);
}

const Allocation *AddressSpace::find(uint64_t address) const {
  const Allocation *one = nearest(address);
  return one && address - one->address < one->size ? one : nullptr;
}

const Allocation *AddressSpace::nearest(uint64_t address) const {
  auto it = allocations.upper_bound(address);
  return it == allocations.begin() ? nullptr : &std::prev(it)->second;
}

const std::vector<emulator::Buffer> &AddressSpace::buffers() {
  if (!listIsFresh) {
    list.clear();
    for (const auto &[address, one] : allocations)
      list.push_back({one.data, one.size, one.writable, address});
    listIsFresh = true;
  }
  return list;
}
