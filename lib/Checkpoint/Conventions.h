//===- Conventions.h - how families write what they name --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_CONVENTIONS_H
#define BLOCKSCALE_LIB_CHECKPOINT_CONVENTIONS_H

#include "blockscale/Checkpoint/Recognize.h"

namespace blockscale::checkpoint {

/// What stands behind the layer's name in the names of a parameter's tensors;
/// empty for what the family does not have.
struct NameSuffixes {
  std::string_view elements, packedElements, scales, globalScale, inputScale,
      metadata, mark;
};

/// Formats by the names of packing's `--to`.
enum FormatBit : unsigned {
  kNvfp4 = 1,
  kMxfp8 = 2,
  kMxfp8E5m2 = 4,
  kMxfp6E2m3 = 8,
  kMxfp6E3m2 = 16,
  kMxfp4 = 32,
  kFp8Blocks = 64,
  kFp8BlocksUe8m0 = 128
};

struct Convention {
  Family family;
  NameSuffixes suffixes;
  /// FormatBits of what the family has names for.
  unsigned formats;
  /// Of scales that are exponents.
  DType exponents = DType::U8;
  /// The global scale is a divisor, in a vector of one number.
  bool divides = false;
  /// Scales are always in atoms, in a matrix of whole ones.
  bool isTiled = false;
  bool highNibbleFirst = false;
  /// Elements of a block are a dimension of their own.
  bool splitsBlocks = false;
};

/// How `family`, which packing can write, does it.
const Convention &conventionOf(Family family);

/// Why there are no names for a format, a name of kFormatNames; empty if there
/// are.
std::string whyNoNames(const Convention &convention, std::string_view format);

/// What `P.comfy_quant` holds.
inline constexpr std::string_view kComfyMark = "{\"format\": \"nvfp4\"}";

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_CONVENTIONS_H
