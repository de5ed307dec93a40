//===- Arguments.h - kernel arguments from text -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_ARGUMENTS_H
#define BLOCKSCALE_VERIFY_ARGUMENTS_H

#include "blockscale/Emulator/Machine.h"
#include "blockscale/Formats/Result.h"
#include "blockscale/Packing/Npy.h"

namespace blockscale::verify {

/// One kernel argument and the array behind it.
struct TextArgument {
  /// The buffer index of a BufferArgument or TensorMapArgument is 0; whoever
  /// collects the buffers sets it.
  emulator::Argument argument;
  /// The memory of a pointer or tensor map; none for a scalar.
  std::optional<packing::NpyArray> array;
  bool writable = false;
};

/// Reads an argument:
///
/// | text | meaning |
/// |---|---|
/// | `i32:-3`, `u32:7`, `i64:5`, `u64:5`, `f32:0.5` | a scalar |
/// | `in:FILE.npy` | a pointer to memory that must not be written |
/// | `inout:FILE.npy` | a pointer to memory that starts as the file says |
/// | `out:f4:16x8` | a pointer to zeros of a .npy type and a shape |
/// | `map:FILE.npy:type=u8,dims=64x8,strides=64,box=64x8,swizzle=128B` | a
/// tensor map; dimensions innermost first, strides in bytes of all but the
/// first; `swizzle` may be left out |
Result<TextArgument> parseArgument(const std::string &text);

/// Reads `1,2,3`, `1,2` or `1` as extents along x, y, z.
Result<emulator::Dim3> parseDim3(const std::string &text);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_ARGUMENTS_H
