//===- DecodedParts.cpp - the numbers of scaled results -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecodedParts.h"
#include "CallFrame.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

static constexpr llvm::StringLiteral kFunction = "decode";

static OwningOpRef<ModuleOp> buildModule(ScaledTensorType type,
                                         RankedTensorType numbers) {
  Location loc = UnknownLoc::get(type.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  auto b = OpBuilder::atBlockEnd(module->getBody());
  auto function =
      func::FuncOp::create(b, loc, kFunction, b.getFunctionType(type, numbers));
  b.setInsertionPointToStart(function.addEntryBlock());
  auto decoded = DequantizeOp::create(b, loc, numbers, function.getArgument(0));
  func::ReturnOp::create(b, loc, decoded.getResult());
  return module;
}

static std::unique_ptr<HostProgram>
compileModule(ModuleOp module, const CompilerOptions &options) {
  // What cannot be decoded is no mistake of the user's.
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  std::string error;
  if (failed(verify(module)) ||
      failed(lowerToHost(module, HostStage::LLVM, options, /*onHost=*/true)))
    return nullptr;
  return HostProgram::create(module, error);
}

std::vector<HostArray>
execute::decodeParts(ScaledTensorType type,
                     ArrayRef<std::vector<HostArray>> values,
                     const CompilerOptions &options) {
  auto numbers = RankedTensorType::get(type.getShape(),
                                       Float32Type::get(type.getContext()));
  OwningOpRef<ModuleOp> module = buildModule(type, numbers);
  std::unique_ptr<HostProgram> program = compileModule(*module, options);
  std::vector<HostArray> decoded;
  if (!program || type.getOrder() == DataOrder::MNMajor)
    return decoded;
  for (const std::vector<HostArray> &parts : values) {
    auto result = callFunction(
        *program, kFunction.str(), parts, {numbers},
        [](BlockscaleKernels &, const std::string &, const BlockscaleOperand *,
           int64_t) { return "host code that decodes launches no kernel"; });
    if (!result || result->front().count() != parts.front().count())
      return {};
    decoded.push_back(std::move(result->front()));
  }
  return decoded;
}
