//===- PackWords.h - options of packing in words ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As people give them to the command line, to C and to Python.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_PACKWORDS_H
#define BLOCKSCALE_CHECKPOINT_PACKWORDS_H

#include "blockscale/Checkpoint/Pack.h"

namespace blockscale::checkpoint {

/// An empty word stands for the default.
struct PackWords {
  /// A block format, "fp8-blocks", "fp8-blocks-ue8m0", "f32" or "bf16".
  std::string to;
  /// One of packFamilies(), of packRules().
  std::string names, rule;
  /// "rows" or "tiled".
  std::string scales;
  /// "2:4" or "4:8".
  std::string prune;
  bool compress = false;
  /// "5GB": see parseByteCount().
  std::string shardSize;
};

/// A word and what it means, for help and messages.
struct PackWord {
  std::string_view word, meaning;
};
const std::vector<PackWord> &packFamilies();
const std::vector<PackWord> &packRules();
/// All that `to` can be, for messages.
std::string packFormatNames();

/// A number of bytes: "1000", "5GB", "1.5 GiB"; KB, MB, GB and TB are powers of
/// 1000, KiB and so on of 1024. At least one byte, at most 2^60.
Result<uint64_t> parseByteCount(std::string_view text);

/// The options that the words stand for; all that words do not say is as in
/// PackOptions. Reasons name options as the command line does.
Result<PackOptions> parsePackWords(const PackWords &words);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_PACKWORDS_H
