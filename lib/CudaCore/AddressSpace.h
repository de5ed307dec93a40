//===- AddressSpace.h - memory of kernels and host -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory has addresses that the host cannot access: they lie in a range
// that is reserved without any access rights, and the bytes are elsewhere.
// Pinned and managed memory is where its address says.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_ADDRESSSPACE_H
#define BLOCKSCALE_LIB_CUDACORE_ADDRESSSPACE_H

#include "blockscale/Emulator/Machine.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

struct CUctx_st;
struct CUmemPoolHandle_st;

namespace blockscale::cuda {

enum class MemoryKind : uint8_t {
  Device,     ///< cudaMalloc, and variables of a module
  Pinned,     ///< cudaMallocHost
  Managed,    ///< cudaMallocManaged, and managed variables
  Registered, ///< cudaHostRegister: the program's own
};

struct Allocation {
  uint64_t address = 0, size = 0;
  /// The bytes on the host.
  uint8_t *data = nullptr;
  MemoryKind kind = MemoryKind::Device;
  /// As it was asked for, for cudaHostGetFlags.
  unsigned flags = 0;
  /// Distinct for each allocation of the process.
  uint64_t id = 0;
  /// Whose it is; null for what belongs to modules.
  CUctx_st *context = nullptr;
  CUmemPoolHandle_st *pool = nullptr;
  /// Of memory that the program mapped itself; only that may be read-only.
  bool isMapped = false, writable = true;
};

class AddressSpace {
public:
  AddressSpace();

  /// New memory; null if the host has none. A size of 0 takes one byte.
  Allocation *allocate(MemoryKind kind, uint64_t size, unsigned flags = 0);
  /// Takes the program's own memory in; null if it overlaps what is there.
  const Allocation *adopt(void *host, uint64_t size, unsigned flags);
  /// Frees what starts at `address`; false if nothing does.
  bool release(uint64_t address);
  /// Frees what belongs to the context.
  void releaseAll(const CUctx_st *context);
  /// The allocation that holds the byte at `address`; null if none does.
  const Allocation *find(uint64_t address) const;
  /// Whether the host must not access `address`.
  bool isReserved(uint64_t address) const {
    return address - deviceBase < rangeBytes || address - mapBase < rangeBytes;
  }
  /// Where addresses begin that the program reserves; 0 if the host has none.
  uint64_t mappedBase() const { return mapBase; }
  /// What is to be reached in a range of those; `runs` are ordered.
  void setMapped(uint64_t address, uint64_t size,
                 const std::vector<Allocation> &runs);
  /// Memory that the program made for such addresses, or gave back.
  void countMapped(int64_t bytes) { used += uint64_t(bytes); }
  /// Says where the allocation at `address` came from.
  void setPool(uint64_t address, CUmemPoolHandle_st *pool) {
    allocations.at(address).pool = pool;
  }
  /// The allocation that is nearest to a device address, for messages.
  const Allocation *nearest(uint64_t address) const;
  /// All of it, as a launch wants it.
  const std::vector<emulator::Buffer> &buffers();
  /// Bytes of device and managed memory in use.
  uint64_t deviceBytes() const { return used; }

private:
  bool reserve(uint64_t bytes);
  std::optional<uint64_t> place(uint64_t base, uint64_t &next, uint64_t size);
  uint64_t deviceBase = 0, hostBase = 0, deviceNext = 0, hostNext = 0;
  uint64_t mapBase = 0;
  /// Of each of the ranges: device memory, what the host may access, and
  /// addresses for the program to map memory at. 0 if the host has none.
  uint64_t rangeBytes = 0;
  uint64_t used = 0, lastId = 0;
  std::map<uint64_t, Allocation> allocations;
  std::vector<emulator::Buffer> list;
  bool listIsFresh = false;
};

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_ADDRESSSPACE_H
