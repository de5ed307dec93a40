//===- Layouts.h - where one byte lies, and where all do --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `explain layout`: scales and sparsity metadata in memory, in tensor memory
// and in registers, for an instruction that the legality table has. Every place
// is asked of HW's layouts.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXPLAIN_LAYOUTS_H
#define BLOCKSCALE_EXPLAIN_LAYOUTS_H

#include "blockscale/Formats/Result.h"
#include "blockscale/Pictures/ByteMap.h"

#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::explain {

/// A question as typed; what is empty is chosen by us.
struct LayoutQuestion {
  /// "shared" (global memory has the same tiles), "tensor" or "registers";
  /// empty: all that the instruction has, but of a picture "tensor".
  std::string memory;
  /// "a" and "b" for their scales (default "a"), or "metadata" of a sparse A.
  std::string operand;
  /// Kind of the instruction (default mxf8f6f4).
  std::string kind;
  /// Elements along K under a scale as PTX's `.blockN` counts them, and the
  /// shape of the instruction.
  std::optional<unsigned> blockSize, m, n, k, ctaGroup;
  bool sparse = false;
  /// Scales of A as sm_107 may have them: one row to a lane, and in memory rows
  /// of 16 bytes.
  bool rowPerLane = false;
  /// The instruction's SFA_ID or SFB_ID (byte-id of mma.sync), whichever is the
  /// operand's, and thread-id of mma.sync: pictures leave the others aside.
  std::optional<unsigned> sfaId, sfbId, threadId;
  /// The byte that is asked for: row of A or column of B, and number of the
  /// block (of metadata: of the byte) along K. Both or neither.
  std::optional<std::uint64_t> row, block;
  /// Blocks along K that the whole operand has; without it places in memory are
  /// relative to their tile.
  std::optional<std::uint64_t> blocks;
};

/// Where the byte lies, a line for each memory; without a byte the formulas of
/// each memory and the addresses of successive MMAs.
Result<std::string> layoutText(const LayoutQuestion &question);

/// The same as JSON: an object with the memories "shared", "tensor" and
/// "registers"; without a byte the map of one memory.
Result<std::string> layoutJson(const LayoutQuestion &question);

/// All bytes of one memory.
Result<pictures::ByteMap> layoutMap(const LayoutQuestion &question);

} // namespace blockscale::explain

#endif // BLOCKSCALE_EXPLAIN_LAYOUTS_H
