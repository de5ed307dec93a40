//===- TextOf.h - reasons for comparisons -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests expect of a reason is its text. Where there is none they get
// something that no reason says.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_FORMATS_TEXTOF_H
#define BLOCKSCALE_UNITTESTS_FORMATS_TEXTOF_H

#include "blockscale/Formats/Result.h"

namespace blockscale::test {

template <typename T> std::string textOf(const Result<T> &result) {
  return result ? "<a value>" : result.why().text;
}

inline std::string textOf(const std::optional<Reason> &why) {
  return why ? why->text : "<nothing against it>";
}

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_FORMATS_TEXTOF_H
