//===- Compile.cpp - from MLIR to everything a host needs -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Compile.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"
#include "blockscale/InitAll.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Target/PTX/KernelReport.h"
#include "blockscale/Target/PTX/LaunchPlan.h"
#include "blockscale/Target/PTX/Launcher.h"
#include "blockscale/Target/PTX/TranslateToPTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::driver;

void blockscale::driver::prepareContext(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerPTXTranslations(registry);
  context.appendDialectRegistry(registry);
}

std::optional<std::string>
blockscale::driver::whyNot(const CompileOptions &options) {
  std::string why;
  std::optional<hw::Target> target = hw::parseTarget(options.target, &why);
  if (!target)
    return why;
  if (options.expectedRows < 1)
    return "expected rows are at least 1, found " +
           std::to_string(options.expectedRows);
  return hw::whyNotTarget(*target);
}

namespace {
/// One compilation, stage by stage.
class Compiler {
public:
  Compiler(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {
    pipeline.target = options.target;
    pipeline.expectedRows = options.expectedRows;
    pipeline.denseFallback = options.denseFallback;
  }

  /// Runs the passes up to `stage`. `withPlan`, which needs the assigned stage
  /// at least, also notes on the way what later stages no longer tell, and
  /// refuses what neither kernels nor the plan account for.
  LogicalResult runTo(Stage stage, bool withPlan);
  FailureOr<std::string> translate(bool toPTX);

  ModuleOp module;
  const CompileOptions &options;
  plan::Plan plan;
  Report report;

private:
  LogicalResult runBetween(Stage from, Stage to);

  PipelineOptions pipeline;
};
} // namespace

LogicalResult Compiler::runBetween(Stage from, Stage to) {
  if (to <= from)
    return success();
  PassManager pm(module.getContext());
  buildPipelineBetween(pm, pipeline, from, to);
  return pm.run(module);
}

LogicalResult Compiler::runTo(Stage stage, bool withPlan) {
  bool hasMatmul = module.walk([](MatmulOp) { return WalkResult::interrupt(); })
                       .wasInterrupted();
  if (!hasMatmul)
    return module.emitError() << "holds no 'blockscale.matmul' to compile";
  PassManager pm(module.getContext());
  buildPipelineTo(pm, pipeline, Stage::Tensor);
  if (failed(pm.run(module)))
    return failure();
  std::vector<Product> products = collectProducts(module);
  if (failed(runBetween(Stage::Tensor, std::min(stage, Stage::Assigned))))
    return failure();
  if (!withPlan)
    return runBetween(Stage::Assigned, stage);
  FailureOr<plan::Plan> planned =
      buildLaunchPlan(module, products, options.hostDuties);
  FailureOr<Report> reported = buildReport(module);
  if (failed(planned) || failed(reported))
    return failure();
  plan = std::move(*planned);
  report = std::move(*reported);
  return runBetween(Stage::Assigned, stage);
}

FailureOr<std::string> Compiler::translate(bool toPTX) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    PTXOptions ptx;
    ptx.chip = plan.target;
    return toPTX ? translateToPTX(kernels, ptx)
                 : translateToLLVMIR(kernels, ptx);
  }
  return module.emitError() << "holds no 'gpu.module' after the pipeline";
}

FailureOr<Compilation>
blockscale::driver::compile(ModuleOp module, const CompileOptions &options) {
  Compiler compiler(module, options);
  if (failed(compiler.runTo(Stage::LLVM, /*withPlan=*/true)))
    return failure();
  FailureOr<std::string> ptx = compiler.translate(/*toPTX=*/true);
  if (failed(ptx))
    return failure();
  Compilation result;
  result.ptx = std::move(*ptx);
  result.plan = std::move(compiler.plan);
  result.report = std::move(compiler.report);
  if (options.ptxas.empty())
    return result;
  PtxasOptions assembler;
  assembler.program = options.ptxas;
  assembler.chip = result.plan.target;
  llvm::Expected<PtxasResult> assembled = runPtxas(result.ptx, assembler);
  if (!assembled)
    return module.emitError() << llvm::toString(assembled.takeError());
  addResources(result.report, assembled->functions);
  result.cubin = std::move(assembled->cubin);
  return result;
}

/// The stage whose IR `emit` prints or is made from.
static Stage stageOf(Emit emit) {
  switch (emit) {
  case Emit::Tensor:
    return Stage::Tensor;
  case Emit::Kernel:
    return Stage::Kernel;
  case Emit::Assigned:
  case Emit::Launcher:
    return Stage::Assigned;
  case Emit::NVVM:
    return Stage::NVVM;
  case Emit::LLVM:
  case Emit::PTX:
  case Emit::All:
    return Stage::LLVM;
  }
  llvm_unreachable("covered switch");
}

/// Whether the text of `emit` holds the kernels only, and not the functions
/// that launch them.
static bool losesHost(Emit emit) {
  return emit == Emit::LLVM || emit == Emit::PTX || emit == Emit::Launcher;
}

FailureOr<std::string>
blockscale::driver::compileTo(ModuleOp module, Emit emit,
                              const CompileOptions &options) {
  Compiler compiler(module, options);
  if (failed(compiler.runTo(stageOf(emit), losesHost(emit))))
    return failure();
  if (emit == Emit::Launcher)
    return printLauncher(compiler.plan);
  if (emit == Emit::LLVM || emit == Emit::PTX)
    return compiler.translate(emit == Emit::PTX);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << '\n';
  return text;
}
