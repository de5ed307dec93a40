//===- Json.h - JSON of strangers -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_JSON_H
#define BLOCKSCALE_LIB_CHECKPOINT_JSON_H

#include "blockscale/Formats/Result.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace blockscale::checkpoint {

/// Levels of nesting that are read.
inline constexpr unsigned kMaxJsonDepth = 32;

/// Reads JSON of limited depth; the error says where it is none.
Result<nlohmann::json> parseJson(std::string_view text);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_JSON_H
