//===- kernels.cpp - from builders to PTX and a launch plan ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds y = x * w^T for block-scaled x and w, compiles it for the chip that
// the command line names, and writes PREFIX.ptx and PREFIX.plan.json.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/Builders.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fstream>
#include <iostream>

using namespace mlir;

/// A function of one product: rows x 4096 times 4096 x columns, in NVFP4.
static LogicalResult addProduct(ModuleOp module, StringRef name,
                                int64_t columns) {
  MLIRContext *context = module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = builder.getUnknownLoc();
  auto operand = [&](int64_t rows) {
    return blockscale::getScaledTensorType(
        [&] { return mlir::emitError(loc); }, {rows, 4096},
        Float4E2M1FNType::get(context), "multi_float32_e4m3fn_t16",
        blockscale::ScaleLayout::Tiled128x4);
  };
  Type x = operand(ShapedType::kDynamic), w = operand(columns);
  if (!x || !w)
    return failure();
  Type y = RankedTensorType::get({ShapedType::kDynamic, columns},
                                 builder.getBF16Type());
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType({x, w}, y));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value product =
      blockscale::createMatmul(builder, loc, function.getArgument(0),
                               function.getArgument(1), builder.getBF16Type());
  func::ReturnOp::create(builder, loc, product);
  return success();
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: kernels CHIP PREFIX\n";
    return 2;
  }
  DialectRegistry registry;
  blockscale::registerCompilerDialects(registry);
  MLIRContext context(registry);
  context.loadDialect<blockscale::BlockscaleDialect, func::FuncDialect>();

  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&context), "kernels");
  if (failed(addProduct(*module, "up", 1024)))
    return 1;

  blockscale::CompilerOptions options;
  options.target = argv[1];
  if (std::optional<blockscale::Reason> why = blockscale::whyNot(options)) {
    std::cerr << "kernels: " << why->text << '\n';
    return 2;
  }
  // What is wrong is a diagnostic of the context, which prints it.
  FailureOr<std::vector<blockscale::Compilation>> compiled =
      blockscale::compile(*module, options);
  if (failed(compiled))
    return 1;
  const blockscale::Compilation &chip = compiled->front();
  std::string prefix = argv[2];
  std::ofstream(prefix + ".ptx") << chip.ptx;
  std::ofstream(prefix + ".plan.json")
      << blockscale::plan::printPlan(chip.plan);
  for (const blockscale::plan::Kernel &kernel : chip.plan.kernels)
    std::cout << kernel.name << " for " << chip.target << '\n';
  return 0;
}
