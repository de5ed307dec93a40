//===- EpiloguePlan.h - what a plan says of an epilogue ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_EPILOGUEPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_EPILOGUEPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Plan/Plan.h"

namespace blockscale {

/// Writes the steps and the result of `epilogue`, which may be null, into
/// `plan`. Fails if its number of inputs is not that of `inputs`; `diagnose`
/// starts the error.
mlir::LogicalResult
planEpilogue(EpilogueAttr epilogue, llvm::ArrayRef<EpilogueInput> inputs,
             llvm::function_ref<mlir::InFlightDiagnostic()> diagnose,
             plan::Epilogue &plan);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_EPILOGUEPLAN_H
