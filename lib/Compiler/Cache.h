//===- Cache.h - results kept by what they were made from -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of files that are named by the hash of all that went into them.
// Processes and threads may share it: a file is written under another name and
// then renamed, and one that is damaged is as good as none. A cache that cannot
// be read or written is slow and never an error; who compiles hears of it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_COMPILER_CACHE_H
#define BLOCKSCALE_LIB_COMPILER_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace blockscale {

class Cache {
public:
  /// An empty folder stands for no cache: nothing is found and nothing kept.
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  bool isThere() const { return !folder.empty(); }

  /// The name of what `parts` make, with this build of the compiler.
  static std::string keyOf(llvm::ArrayRef<llvm::StringRef> parts);

  /// What was kept under `key`; nothing but files is looked into.
  std::optional<std::vector<std::string>> find(const std::string &key) const;
  /// Why nothing was kept; empty if it was, or if there is no cache.
  std::string keep(const std::string &key,
                   llvm::ArrayRef<llvm::StringRef> parts) const;

private:
  std::string pathOf(const std::string &key) const;

  std::string folder;
};

/// What tells one state of a file from another: path, size and time.
std::string identityOf(llvm::StringRef path);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_COMPILER_CACHE_H
