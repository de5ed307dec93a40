//===- Operand.h - element codes into operand storage and back --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data of an operand in global memory: codes of 4, 6 or 8 bits, packed
// along the contiguous dimension, in rows of a given pitch.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_OPERAND_H
#define BLOCKSCALE_PACKING_OPERAND_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::packing {

/// Where the elements of an operand lie. The logical operand is
/// batch x mn x k; K-major storage has mn rows of k elements, MN-major storage
/// k rows of mn elements.
struct OperandLayout {
  /// Bits an element takes: 4 (two per byte, the first in the low nibble), 6
  /// (a little-endian bit stream, 16 elements in 12 bytes), 8, 16 or 32.
  unsigned bits = 8;
  /// True for rows along mn; only with 8 bits, as the instructions have it.
  bool mnMajor = false;
  uint64_t mn = 0, k = 0, batch = 1;
  /// Bytes from one row to the next; 0 for packed rows.
  uint64_t rowPitch = 0;
  /// Bytes from one batch to the next; 0 for packed batches.
  uint64_t batchPitch = 0;
};

/// Why no storage can look like this: other bits, an empty extent, a pitch
/// below the bytes of a row or batch, or a size that does not fit 63 bits.
std::optional<Reason> whyNot(const OperandLayout &layout);

/// Bytes that the elements of one row take, without padding.
uint64_t rowBytes(const OperandLayout &layout);

/// The pitches with 0 replaced by their packed values.
uint64_t effectiveRowPitch(const OperandLayout &layout);
uint64_t effectiveBatchPitch(const OperandLayout &layout);

/// Bytes of the whole storage, the padding of the last row included.
uint64_t storageBytes(const OperandLayout &layout);

/// Codes, batch x mn x k of them, one per byte, to storage; padding is zero.
/// Bits of a code above `bits` are dropped. Nothing if the layout is not one
/// (whyNot) or `codes` has another size.
std::optional<std::vector<uint8_t>>
packOperand(const OperandLayout &layout, const std::vector<uint8_t> &codes);

/// The inverse: batch x mn x k codes, upper bits zero.
std::optional<std::vector<uint8_t>>
unpackOperand(const OperandLayout &layout, const std::vector<uint8_t> &storage);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_OPERAND_H
