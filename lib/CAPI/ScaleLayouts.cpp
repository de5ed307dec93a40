//===- ScaleLayouts.cpp - how kernels read scales beside others -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "blockscale-c/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace blockscale;
using namespace blockscale::capi;

/// The type of a scaled tensor that is written as `text`.
static ScaledTensorType typeOf(mlir::MLIRContext &context,
                               BlockscaleSlice slice, const char *name) {
  std::string said;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        said += (said.empty() ? "" : "; ") + diagnostic.str();
        return mlir::success();
      });
  std::string_view text = textOf(slice, name);
  auto type =
      mlir::dyn_cast_or_null<ScaledTensorType>(mlir::parseType(text, &context));
  if (!type)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "'" + std::string(name) +
                                          "' is no type of a scaled tensor" +
                                          (said.empty() ? "" : ": " + said));
  return type;
}

static BlockscaleSlice layoutOf(ScaledTensorType type, ScaledTensorType other) {
  bool isTiled =
      type.getSpec().getValue().isSparse() || hasBlockScales(type, other);
  llvm::StringRef layout = stringifyScaleLayout(
      isTiled ? ScaleLayout::Tiled128x4 : ScaleLayout::Plain);
  return {layout.data(), layout.size()};
}

BlockscaleStatus blockscaleFindScaleLayouts(BlockscaleSlice a,
                                            BlockscaleSlice b,
                                            BlockscaleSlice *layoutOfA,
                                            BlockscaleSlice *layoutOfB) {
  return guarded([&] {
    requirePointer(layoutOfA, "layoutOfA");
    requirePointer(layoutOfB, "layoutOfB");
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<BlockscaleDialect>();
    ScaledTensorType ofA = typeOf(context, a, "a"),
                     ofB = typeOf(context, b, "b");
    *layoutOfA = layoutOf(ofA, ofB);
    *layoutOfB = layoutOf(ofB, ofA);
  });
}
