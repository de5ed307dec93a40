//===- VirtualMemory.cpp - memory that the program maps itself ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VirtualMemory.h"
#include "Contexts.h"
#include "Memory.h"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

constexpr unsigned kShareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// A file in memory, so that the host can map it at several places too.
struct Physical {
  int file = -1;
  uint64_t size = 0, uses = 0; ///< mappings included
  /// Uses by cuMemCreate and cuMemRetainAllocationHandle.
  uint64_t handles = 0;
  CUmemAllocationProp properties{};
};

struct Mapping {
  uint64_t size = 0;
  CUmemGenericAllocationHandle memory = 0;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct Reservation {
  uint64_t size = 0;
  uint8_t *data = nullptr; ///< where the host has the bytes
  std::map<uint64_t, Mapping> mappings;
};

struct State {
  std::map<CUmemGenericAllocationHandle, Physical> memory;
  std::map<uint64_t, Reservation> reservations;
  CUmemGenericAllocationHandle last = 0;
};

State &state() {
  static auto *one = new State;
  return *one;
}

bool isWhole(uint64_t value) { return value % kMappingGranularity == 0; }

/// The reservation that holds the range; null if none holds all of it.
std::pair<const uint64_t, Reservation> *findReservation(uint64_t address,
                                                        uint64_t size) {
  auto &all = state().reservations;
  auto it = all.upper_bound(address);
  if (it == all.begin())
    return nullptr;
  --it;
  uint64_t offset = address - it->first;
  bool holds = offset <= it->second.size && size <= it->second.size - offset;
  return holds ? &*it : nullptr;
}

/// The mapping that holds the byte; null if none does.
const Mapping *findMapping(uint64_t address) {
  auto *one = findReservation(address, 1);
  if (!one)
    return nullptr;
  auto it = one->second.mappings.upper_bound(address);
  if (it == one->second.mappings.begin())
    return nullptr;
  --it;
  return address - it->first < it->second.size ? &it->second : nullptr;
}

/// Whether mappings of the reservation make up the range, without a gap.
bool isMapped(const Reservation &one, uint64_t address, uint64_t size) {
  uint64_t end = address + size;
  auto it = one.mappings.find(address);
  for (; it != one.mappings.end() && it->first == address; ++it) {
    address += it->second.size;
    if (address >= end)
      break;
  }
  return address == end;
}

/// Tells the address space what kernels and copies may reach: neighbours of
/// equal access are one piece.
void show(uint64_t base, const Reservation &one) {
  std::vector<Allocation> runs;
  for (const auto &[address, mapping] : one.mappings) {
    if (mapping.access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
      continue;
    bool writable = mapping.access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!runs.empty() && runs.back().address + runs.back().size == address &&
        runs.back().writable == writable) {
      runs.back().size += mapping.size;
      continue;
    }
    Allocation run;
    run.address = address;
    run.size = mapping.size;
    run.data = one.data + (address - base);
    run.isMapped = true;
    run.writable = writable;
    run.context = currentOwner();
    runs.push_back(run);
  }
  Core::get().memory.setMapped(base, one.size, runs);
}

CUmemGenericAllocationHandle keep(int file, uint64_t size,
                                  const CUmemAllocationProp &properties) {
  Core::get().memory.countMapped(int64_t(size));
  CUmemGenericAllocationHandle handle = ++state().last;
  state().memory[handle] = {file, size, 1, 1, properties};
  return handle;
}

void drop(CUmemGenericAllocationHandle handle) {
  Physical &memory = state().memory.at(handle);
  if (--memory.uses)
    return;
  close(memory.file);
  Core::get().memory.countMapped(-int64_t(memory.size));
  state().memory.erase(handle);
}

/// The memory of a handle that the program may use; null if it may not.
Physical *findMemory(CUmemGenericAllocationHandle handle) {
  auto it = state().memory.find(handle);
  return it != state().memory.end() && it->second.handles ? &it->second
                                                          : nullptr;
}

void *mapHost(void *at, uint64_t size, int file) {
  bool isFile = file >= 0;
  return mmap(at, size, isFile ? PROT_READ | PROT_WRITE : PROT_NONE,
              (isFile ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) |
                  MAP_NORESERVE | (at ? MAP_FIXED : 0),
              file, 0);
}

} // namespace

CUresult cuda::reserveAddresses(uint64_t size, uint64_t alignment,
                                uint64_t &address) {
  if (!size || !isWhole(size) || (alignment & (alignment - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  alignment = std::max(alignment, kMappingGranularity);
  // The first gap, with a piece after it that nobody may touch.
  uint64_t at = Core::get().memory.mappedBase();
  auto align = [&] { at = (at + alignment - 1) / alignment * alignment; };
  align();
  for (const auto &[start, one] : state().reservations) {
    if (at + size + kMappingGranularity <= start)
      break;
    at = start + one.size + kMappingGranularity;
    align();
  }
  if (!Core::get().memory.mappedBase() || !Core::get().memory.isReserved(at) ||
      !Core::get().memory.isReserved(at + size))
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *data = mapHost(nullptr, size, -1);
  if (data == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  state().reservations[at] = {size, static_cast<uint8_t *>(data), {}};
  address = at;
  return CUDA_SUCCESS;
}

CUresult cuda::freeAddresses(uint64_t address, uint64_t size) {
  auto it = state().reservations.find(address);
  if (it == state().reservations.end() || it->second.size != size ||
      !it->second.mappings.empty())
    return CUDA_ERROR_INVALID_VALUE;
  munmap(it->second.data, size);
  state().reservations.erase(it);
  return CUDA_SUCCESS;
}

CUresult cuda::createMemory(uint64_t size,
                            const CUmemAllocationProp &properties,
                            CUmemGenericAllocationHandle &handle) {
  if (!size || !isWhole(size) ||
      properties.type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties.requestedHandleTypes & ~kShareable) {
    sayOnce(
        "cuMemCreate shares memory with other processes by file descriptors "
        "only");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    sayOnce("cuMemCreate gives memory of the device only");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (properties.location.id != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (size > freeBytes())
    return CUDA_ERROR_OUT_OF_MEMORY;
  int file = memfd_create("blockscale", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(size)) != 0) {
    if (file >= 0)
      close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  handle = keep(file, size, properties);
  return CUDA_SUCCESS;
}

CUresult cuda::exportMemory(CUmemGenericAllocationHandle handle, int &file) {
  Physical *memory = findMemory(handle);
  if (!memory || !(memory->properties.requestedHandleTypes & kShareable))
    return CUDA_ERROR_INVALID_VALUE;
  file = fcntl(memory->file, F_DUPFD_CLOEXEC, 0);
  return file < 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuda::importMemory(int file, CUmemGenericAllocationHandle &handle) {
  struct stat facts;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || !facts.st_size ||
      !isWhole(uint64_t(facts.st_size)))
    return CUDA_ERROR_INVALID_VALUE;
  int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  handle = keep(own, uint64_t(facts.st_size), properties);
  return CUDA_SUCCESS;
}

CUresult cuda::releaseMemory(CUmemGenericAllocationHandle handle) {
  Physical *memory = findMemory(handle);
  if (!memory)
    return CUDA_ERROR_INVALID_VALUE;
  --memory->handles;
  drop(handle);
  return CUDA_SUCCESS;
}

CUresult cuda::retainMemory(uint64_t address,
                            CUmemGenericAllocationHandle &handle) {
  const Mapping *mapping = findMapping(address);
  if (!mapping)
    return CUDA_ERROR_INVALID_VALUE;
  handle = mapping->memory;
  Physical &memory = state().memory.at(handle);
  ++memory.handles;
  ++memory.uses;
  return CUDA_SUCCESS;
}

CUresult cuda::propertiesOf(CUmemGenericAllocationHandle handle,
                            CUmemAllocationProp &properties) {
  Physical *memory = findMemory(handle);
  if (!memory)
    return CUDA_ERROR_INVALID_VALUE;
  properties = memory->properties;
  return CUDA_SUCCESS;
}

CUresult cuda::mapMemory(uint64_t address, uint64_t size,
                         CUmemGenericAllocationHandle handle) {
  Physical *memory = findMemory(handle);
  auto *one = findReservation(address, size);
  if (!memory || !one || !size || !isWhole(address))
    return CUDA_ERROR_INVALID_VALUE;
  if (size != memory->size)
    return CUDA_ERROR_NOT_SUPPORTED;
  auto &mappings = one->second.mappings;
  auto next = mappings.lower_bound(address);
  bool isFree =
      (next == mappings.end() || next->first >= address + size) &&
      (next == mappings.begin() ||
       std::prev(next)->first + std::prev(next)->second.size <= address);
  if (!isFree)
    return CUDA_ERROR_INVALID_VALUE;
  void *at = one->second.data + (address - one->first);
  if (mapHost(at, size, memory->file) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  mappings[address] = {size, handle, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  ++memory->uses;
  return CUDA_SUCCESS;
}

CUresult cuda::unmapMemory(uint64_t address, uint64_t size) {
  auto *one = findReservation(address, size);
  if (!one || !size || !isMapped(one->second, address, size))
    return CUDA_ERROR_INVALID_VALUE;
  auto &mappings = one->second.mappings;
  for (auto it = mappings.find(address);
       it != mappings.end() && it->first < address + size;
       it = mappings.erase(it))
    drop(it->second.memory);
  mapHost(one->second.data + (address - one->first), size, -1);
  show(one->first, one->second);
  return CUDA_SUCCESS;
}

CUresult cuda::setAccess(uint64_t address, uint64_t size,
                         CUmemAccess_flags access) {
  auto *one = findReservation(address, size);
  bool isKnown = access == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                 access == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                 access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (!one || !size || !isKnown || !isMapped(one->second, address, size))
    return CUDA_ERROR_INVALID_VALUE;
  auto &mappings = one->second.mappings;
  for (auto it = mappings.find(address);
       it != mappings.end() && it->first < address + size; ++it)
    it->second.access = access;
  show(one->first, one->second);
  return CUDA_SUCCESS;
}

CUresult cuda::accessOf(uint64_t address, unsigned long long &access) {
  const Mapping *mapping = findMapping(address);
  if (!mapping)
    return CUDA_ERROR_INVALID_VALUE;
  access = mapping->access;
  return CUDA_SUCCESS;
}
