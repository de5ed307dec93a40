//===- KernelNames.h - what the Python of a kernel calls things -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_NKI_KERNELNAMES_H
#define BLOCKSCALE_LIB_TARGET_NKI_KERNELNAMES_H

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace blockscale::nki {

/// A Python name for each parameter, loop variable and tile of a kernel. Tiles
/// that share a name are numbered; those of the kernel's host side keep theirs.
class KernelNames {
public:
  explicit KernelNames(KernelOp kernel);

  /// The name of a parameter, a loop's variable or the result of an alloc.
  llvm::StringRef of(mlir::Value value) const {
    return names.find(value)->second;
  }

private:
  std::string unique(llvm::StringRef wish);

  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringSet<> taken;
};

/// `name` as a Python name.
std::string pythonName(llvm::StringRef name);

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_TARGET_NKI_KERNELNAMES_H
