//===- Heap.h - malloc and free of kernels ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The heap lies behind the global variables of a module that calls malloc, and
// so lives as long as they do: what one kernel allocates another may use.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_HEAP_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_HEAP_H

#include "../Program/Program.h"

namespace blockscale::emulator::machine {

/// As large as CUDA's is if nobody asks for another size.
inline constexpr uint64_t kHeapBytes = uint64_t(8) << 20;

/// Bytes of the heap of a module: 0 if it does not call malloc.
uint64_t heapBytes(const Module &module);

/// A call of a function that the machine provides; places are offsets of local
/// memory.
struct ExternRecord {
  List<uint32_t> arguments;
  uint32_t result = kNoSlot; ///< kNoSlot if there is none
};

/// malloc, with an argument and a result of 64 bits, and free.
Step heapAllocate(Exec &x, const Record &r);
Step heapRelease(Exec &x, const Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_HEAP_H
