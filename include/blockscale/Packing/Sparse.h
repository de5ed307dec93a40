//===- Sparse.h - structured sparsity of whole operands ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pruning to N of M, compression to stored elements and metadata, and the
// metadata's way into the tiles that the kernels read (HW/Metadata.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_SPARSE_H
#define BLOCKSCALE_PACKING_SPARSE_H

#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Metadata.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace blockscale::packing {

/// Which elements of each group stay.
struct PruneRule {
  /// `keep` of `group` consecutive elements.
  unsigned keep = 2, group = 4;
  /// Aligned pairs stay or go together, by the sum of their squares; else
  /// elements by their magnitude. Ties go to the lower index.
  bool pairs = false;
};

/// One flag per value, true for those that stay. The length is a multiple of
/// the group; a NaN counts as the largest magnitude.
std::vector<bool> keptElements(const PruneRule &rule,
                               const std::vector<float> &values);

/// Stored codes, rows x k/2, and metadata, rows x k/elementsPerMetadataByte.
struct CompressedOperand {
  std::vector<uint8_t> stored, metadata;
};

/// Compresses `codes`, rows x k of them, of elements of `elementBits` bits; one
/// takes 1 byte, or 2 and 4 above 8 and 16 bits, the low one first. Refuses
/// what hw::compress refuses, naming the row.
Result<CompressedOperand>
compressOperand(hw::SparsePattern pattern, unsigned elementBits, uint64_t k,
                const std::vector<uint8_t> &codes,
                hw::HighestBit highestBit = hw::HighestBit::Sign);

/// Metadata rows, batch x m x ceil(k / elementsPerMetadataByte) bytes, to
/// batch x hw::storageBytes(tensor) bytes of tiles. `padding` fills what no row
/// owns; its halves are legal index pairs. Nothing if the tensor has no layout
/// (hw::whyNot says why) or `plain` has another size.
std::optional<std::vector<uint8_t>>
tileMetadata(const hw::MetadataTensor &tensor, uint64_t batch,
             const std::vector<uint8_t> &plain,
             uint8_t padding = hw::kEmptyMetadataByte);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_SPARSE_H
