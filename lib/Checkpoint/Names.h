//===- Names.h - ends of names and paths ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_NAMES_H
#define BLOCKSCALE_LIB_CHECKPOINT_NAMES_H

#include <string_view>

namespace blockscale::checkpoint {

/// Whether `text` is something with that end.
inline bool endsWith(std::string_view text, std::string_view end) {
  return text.size() > end.size() &&
         text.substr(text.size() - end.size()) == end;
}

inline constexpr std::string_view kNumpyEnd = ".npy",
                                  kSafetensorsEnd = ".safetensors",
                                  kIndexEnd = ".index.json";

/// Whether `path` names .npy files, one for each tensor.
inline bool isNumpyPath(std::string_view path) {
  return endsWith(path, kNumpyEnd);
}

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_NAMES_H
