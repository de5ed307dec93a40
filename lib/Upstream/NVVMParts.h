//===- NVVMParts.h - what files of the NVVM dialect share -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_UPSTREAM_NVVMPARTS_H
#define BLOCKSCALE_LIB_UPSTREAM_NVVMPARTS_H

#include "blockscale/HW/Mma.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <string>

namespace blockscale::nvvm {

/// The kind of tcgen05.mma and mma.sync with scales.
mlir::NVVM::MMABlockScaleKind scaledKind(hw::MmaKind kind);

/// The operands of a piece of assembly in the order in which it names them.
class AssemblyText {
public:
  explicit AssemblyText(unsigned results) : next(results) {}

  /// `values` as "$n", or as a vector if there are several.
  void add(mlir::ValueRange values, llvm::StringRef constraint) {
    std::string list;
    for (mlir::Value value : values) {
      list += (list.empty() ? "$" : ",$") + std::to_string(next++);
      inputs.push_back(value);
      constraints += "," + constraint.str();
    }
    text += values.size() == 1 ? list : "{" + list + "}";
  }

  std::string text, constraints;
  llvm::SmallVector<mlir::Value> inputs;

private:
  unsigned next;
};

/// Emits assembly, an instruction or a block, that returns `result`, nothing if
/// it is null, and has effects unless it only computes that.
mlir::LLVM::InlineAsmOp assemble(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Type result,
                                 const AssemblyText &assembly,
                                 bool hasEffects = true);

} // namespace blockscale::nvvm

#endif // BLOCKSCALE_LIB_UPSTREAM_NVVMPARTS_H
