//===- Memory.h - whether a run fits into the memory of the host *- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linux gives memory that it does not have and ends the process that uses it,
// without a word. Sizes are anybody's, so they are asked for before.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_MEMORY_H
#define BLOCKSCALE_VERIFY_MEMORY_H

#include "blockscale/Plan/Sizes.h"

#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::verify {

/// Bytes that this process may still take: the least of what /proc/meminfo
/// calls available, of what its control groups (version 2) leave and of what
/// its limit of address space (`ulimit -v`) leaves. Empty if the system says
/// nothing. `root` is the folder in which proc and sys lie; the limit of
/// address space counts in any.
std::optional<uint64_t> freeMemory(const std::string &root = "");

/// About what one verification of `kernel` takes at most, in bytes: the
/// operands as numbers and as they are packed, and the emulator's copy with
/// what it keeps of each byte.
Result<uint64_t> bytesToVerify(const plan::Kernel &kernel,
                               const plan::Environment &sizes);

/// Why a work that takes `bytes` is not begun with `free` bytes of memory;
/// empty if it fits or if nobody knows. `what` names the work.
std::optional<Reason> whyNoMemory(const std::string &what, uint64_t bytes,
                                  std::optional<uint64_t> free);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_MEMORY_H
