//===- Compiler.cpp - from a module to everything a host needs ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "Apart.h"
#include "Archive.h"
#include "Cache.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/DeviceTargets.h"
#include "blockscale/InitAll.h"
#include "blockscale/Target/PTX/HostPlan.h"
#include "blockscale/Target/PTX/KernelReport.h"
#include "blockscale/Target/PTX/LaunchPlan.h"
#include "blockscale/Target/PTX/TranslateToPTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

void blockscale::registerCompilerDialects(DialectRegistry &registry) {
  registerDialects(registry);
  registerPTXTranslations(registry);
}

/// Completes a context whose program registered less than
/// `registerCompilerDialects`: without it no product would be known as one.
static void completeContext(MLIRContext *context) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  context->appendDialectRegistry(registry);
}

std::optional<Reason> blockscale::whyNot(const CompilerOptions &options) {
  if (options.expectedRows < 1)
    return "expected rows are at least 1, found " +
           std::to_string(options.expectedRows);
  if (!options.dispatchRows.empty())
    if (auto limits = parseDispatchRows(options.dispatchRows); !limits)
      return limits.why();
  if (options.target.empty())
    return std::nullopt;
  Result<std::vector<hw::Target>> targets = hw::parseTargets(options.target);
  return targets ? std::nullopt : std::optional<Reason>(targets.why());
}

std::vector<std::string> blockscale::targetsOf(const CompilerOptions &options) {
  if (options.target.find(',') == std::string::npos)
    return {options.target};
  std::vector<std::string> names;
  if (auto targets = hw::parseTargets(options.target))
    for (hw::Target target : *targets)
      names.push_back(hw::targetName(target));
  return names;
}

/// Refuses several targets for what has room for one.
static LogicalResult requireOneTarget(ModuleOp module,
                                      const CompilerOptions &options,
                                      StringRef what) {
  if (targetsOf(options).size() == 1)
    return success();
  return module.emitError()
         << what << " is for one target, found '" << options.target
         << "'; PTX, launch plan and launcher may be for several";
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// How far a module has come. `Source` precedes the stages of the pipeline.
enum class Progress { Source, Expandable, Kernel, Assigned, NVVM, LLVM };
} // namespace

static StringRef nameOf(Progress progress) {
  switch (progress) {
  case Progress::Source:
  case Progress::Expandable:
    return "tensor";
  case Progress::Kernel:
    return "kernel";
  case Progress::Assigned:
    return "assigned";
  case Progress::NVVM:
    return "nvvm";
  case Progress::LLVM:
    return "llvm";
  }
  llvm_unreachable("covered switch");
}

static Progress progressOf(Stage stage) {
  switch (stage) {
  case Stage::Tensor:
    return Progress::Source;
  case Stage::Kernel:
    return Progress::Kernel;
  case Stage::Assigned:
    return Progress::Assigned;
  case Stage::NVVM:
    return Progress::NVVM;
  case Stage::LLVM:
    return Progress::LLVM;
  }
  llvm_unreachable("covered switch");
}

static Stage stageOf(Progress progress) {
  switch (progress) {
  case Progress::Source:
  case Progress::Expandable:
    return Stage::Tensor;
  case Progress::Kernel:
    return Stage::Kernel;
  case Progress::Assigned:
    return Stage::Assigned;
  case Progress::NVVM:
    return Stage::NVVM;
  case Progress::LLVM:
    return Stage::LLVM;
  }
  llvm_unreachable("covered switch");
}

static bool isKernel(Operation *op) {
  return op->hasAttrOfType<KernelAttr>(KernelAttr::name);
}

/// How far a kernel of the dialect has come.
static Progress progressOf(gpu::GPUFuncOp kernel) {
  Progress progress = Progress::Assigned;
  kernel.walk([&](Operation *op) {
    bool isWhole = isa<KernelBodyOpInterface>(op);
    bool lacksPlace =
        llvm::TypeSwitch<Operation *, bool>(op)
            .Case<SharedAllocOp, BarrierAllocOp>(
                [](auto alloc) { return !alloc.getOffset(); })
            .Case<TmemAllocOp, TmemDeallocOp>(
                [](auto alloc) { return !alloc.getColumns(); })
            .Case([](TmemViewOp view) { return !view.getColumn(); })
            .Case([](MmaOp mma) { return !mma.getSteps(); })
            .Case([](WarpMmaOp mma) { return mma.getSfa() && !mma.getSfaId(); })
            .Default(false);
    if (isWhole || lacksPlace)
      progress =
          std::min(progress, isWhole ? Progress::Expandable : Progress::Kernel);
  });
  return progress;
}

/// How far a kernel in other dialects has come.
static Progress progressOf(FunctionOpInterface kernel) {
  auto isLast = [](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    return dialect == "llvm" || dialect == "nvvm";
  };
  return kernel->walk([&](Operation *op) {
                 return isLast(op) ? WalkResult::advance()
                                   : WalkResult::interrupt();
               }).wasInterrupted()
             ? Progress::NVVM
             : Progress::LLVM;
}

/// Whether a function that only quantises or converts becomes a kernel: the
/// host's duties are what no product does.
static bool quantizes(const CompilerOptions &options) {
  return !options.hostDuties;
}

/// The least progress of anything in `module`; none if it holds nothing to
/// compile.
static std::optional<Progress> findProgress(ModuleOp module, bool quantize) {
  std::optional<Progress> least;
  auto note = [&](Progress progress) {
    least = std::min(least.value_or(progress), progress);
  };
  module.walk([&](Operation *op) {
    bool isConverted = isa<QuantizeOp>(op) || isConversion(op);
    if (isKernelSource(op) && (quantize || !isConverted))
      note(Progress::Source);
    else if (!isKernel(op))
      return;
    else if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
      note(progressOf(kernel));
    else
      note(progressOf(cast<FunctionOpInterface>(op)));
  });
  return least;
}

static FailureOr<Progress> progressOf(ModuleOp module,
                                      const CompilerOptions &options) {
  if (std::optional<Progress> progress =
          findProgress(module, quantizes(options)))
    return *progress;
  return module.emitError() << "holds no 'blockscale.matmul' to compile, and "
                               "no kernel that was made of one";
}

template <typename T>
static void setPipelineOptions(ProductPipelineOptions<T> &pipeline,
                               const CompilerOptions &options) {
  pipeline.target = options.target;
  pipeline.expectedRows = options.expectedRows;
  pipeline.dispatchRows = options.dispatchRows;
  pipeline.denseFallback = options.denseFallback;
}

/// Runs passes that may rely on each other: what the last one leaves is
/// verified, not what each of them does, which would take longer than they do.
static LogicalResult runAll(PassManager &pm, ModuleOp module) {
  pm.enableVerifier(false);
  if (failed(pm.run(module)))
    return failure();
  return verify(module);
}

LogicalResult blockscale::lowerTo(ModuleOp module, Stage stage,
                                  const CompilerOptions &options) {
  if (failed(requireOneTarget(module, options, "a stage")))
    return failure();
  completeContext(module.getContext());
  FailureOr<Progress> progress = progressOf(module, options);
  if (failed(progress))
    return failure();
  if (*progress > progressOf(stage))
    return module.emitError()
           << "is at the stage '" << nameOf(*progress) << "' already, behind '"
           << nameOf(progressOf(stage)) << "'";
  PassManager pm(module.getContext());
  PipelineOptions pipeline;
  setPipelineOptions(pipeline, options);
  // A plan holds no loops of products.
  pipeline.splitGroups = !options.withFunctions;
  pipeline.quantize = quantizes(options);
  if (*progress == Progress::Source)
    buildPipelineTo(pm, pipeline, stage);
  else
    buildPipelineBetween(pm, stageOf(*progress), stage);
  return runAll(pm, module);
}

LogicalResult blockscale::lowerToHost(ModuleOp module, HostStage stage,
                                      const CompilerOptions &options,
                                      bool onHost) {
  if (failed(requireOneTarget(module, options, "host code")))
    return failure();
  Progress progress =
      findProgress(module, /*quantize=*/false).value_or(Progress::Source);
  Progress last = onHost ? Progress::Source : Progress::Assigned;
  if (progress > last)
    return module.emitError()
           << "is at the stage '" << nameOf(progress)
           << "' already; host code is made from the stage '" << nameOf(last)
           << "'" << (onHost ? "" : " or one before it");
  HostPipelineOptions pipeline;
  setPipelineOptions(pipeline, options);
  pipeline.onHost = onHost;
  pipeline.ptxas = options.ptxas;
  pipeline.stage = stage;
  pipeline.quantizeOperands = options.quantizeOnDevice;
  completeContext(module.getContext());
  DialectRegistry extensions;
  registerHostExtensions(extensions);
  module.getContext()->appendDialectRegistry(extensions);
  PassManager pm(module.getContext());
  if (progress == Progress::Source)
    buildHostPipeline(pm, pipeline);
  else
    buildHostPipelineFrom(pm, pipeline, stageOf(progress));
  return pm.run(module);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The modules of kernels, none of which may hold anything that is not ours.
static FailureOr<SmallVector<gpu::GPUModuleOp>> kernelModules(ModuleOp module) {
  SmallVector<gpu::GPUModuleOp> modules(module.getOps<gpu::GPUModuleOp>());
  for (gpu::GPUModuleOp kernels : modules) {
    if (llvm::none_of(*kernels.getBody(),
                      [](Operation &op) { return isKernel(&op); }))
      return kernels.emitError() << "holds no kernel that was made of a "
                                    "'blockscale.matmul'; nothing here "
                                    "compiles it";
    for (auto function : kernels.getOps<gpu::GPUFuncOp>())
      if (!isKernel(function))
        return function.emitError()
               << "is no kernel that was made of a 'blockscale.matmul'; "
                  "nothing here compiles it";
  }
  return modules;
}

/// Plan and report of `kernels`, which are at the assigned stage; in any case
/// what the functions around them do has to be accounted for.
static LogicalResult describe(gpu::GPUModuleOp kernels,
                              const CompilerOptions &options,
                              Compilation &result) {
  if (options.withPlan) {
    FailureOr<plan::Plan> plan =
        options.withFunctions ? buildLaunchPlan(kernels, options.hostDuties)
                              : planKernels(kernels);
    if (failed(plan))
      return failure();
    result.plan = std::move(*plan);
  } else if (options.withFunctions &&
             failed(planFunctions(kernels, options.hostDuties))) {
    return failure();
  }
  if (!options.withReport)
    return success();
  FailureOr<Report> report = buildReport(kernels);
  if (failed(report))
    return failure();
  result.report = std::move(*report);
  return success();
}

/// The cubin of `kernels`, if it is asked for.
static LogicalResult assemble(gpu::GPUModuleOp kernels,
                              const CompilerOptions &options,
                              Compilation &result) {
  if (options.ptxas.empty())
    return success();
  llvm::Expected<std::string> program =
      choosePtxas(options.ptxas, options.otherPtxas, result.ptx);
  if (!program)
    return kernels.emitError() << llvm::toString(program.takeError());
  Cache cache(options.cache);
  std::string key;
  if (cache.isThere()) {
    key = Cache::keyOf(
        {"cubin", result.target, identityOf(*program), result.ptx});
    std::optional<std::vector<std::string>> parts = cache.find(key);
    auto functions =
        parts && parts->size() == 2 ? loadFunctions((*parts)[1]) : std::nullopt;
    if (functions) {
      addResources(result.report, *functions);
      result.cubin = std::move(parts->front());
      return success();
    }
  }
  PtxasOptions assembler;
  assembler.program = *program;
  assembler.chip = result.target;
  assembler.threads =
      threadsFor(options, llvm::count_if(kernels.getOps(), [](Operation &op) {
                   return isKernel(&op);
                 }));
  llvm::Expected<PtxasResult> assembled = runPtxas(result.ptx, assembler);
  if (!assembled)
    return kernels.emitError() << llvm::toString(assembled.takeError());
  addResources(result.report, assembled->functions);
  std::string notKept =
      cache.keep(key, {assembled->cubin, storeFunctions(assembled->functions)});
  if (!notKept.empty())
    emitWarning(kernels.getLoc()) << "the cache keeps no cubin: " << notKept;
  result.cubin = std::move(assembled->cubin);
  return success();
}

static LogicalResult translate(gpu::GPUModuleOp kernels,
                               const CompilerOptions &options,
                               Compilation &result) {
  PTXOptions ptx;
  ptx.chip = result.target;
  auto add = [&](bool isWanted, auto translate, std::string &text) {
    if (!isWanted)
      return success();
    FailureOr<std::string> made = translate(kernels, ptx);
    if (succeeded(made))
      text = std::move(*made);
    return LogicalResult(made);
  };
  if (failed(add(options.withLLVMIR, translateToLLVMIR, result.llvmIR)) ||
      failed(add(options.withPTX, translateToPTX, result.ptx)))
    return failure();
  return assemble(kernels, options, result);
}

//===----------------------------------------------------------------------===//
// Each kernel for itself
//===----------------------------------------------------------------------===//

/// Makes kernels of the products in `module`, as far as they say what they
/// compute.
static LogicalResult formKernels(ModuleOp module,
                                 const CompilerOptions &options) {
  PassManager pm(module.getContext());
  PipelineOptions pipeline;
  setPipelineOptions(pipeline, options);
  // A plan holds no loops of products.
  pipeline.splitGroups = !options.withFunctions;
  pipeline.quantize = quantizes(options);
  buildKernelFormation(pm, pipeline);
  return pm.run(module);
}

/// What compileApart() made, with the functions around the kernels and without
/// what nobody asked for.
static LogicalResult complete(gpu::GPUModuleOp kernels,
                              const CompilerOptions &options,
                              Compilation &result) {
  if (options.withFunctions) {
    auto functions = planFunctions(kernels, options.hostDuties);
    if (failed(functions))
      return failure();
    result.plan.functions = std::move(*functions);
  }
  if (failed(assemble(kernels, options, result)))
    return failure();
  if (!options.withPlan)
    result.plan = {};
  if (!options.withReport)
    result.report = {};
  return success();
}

/// Compiles the kernels of `module` each for itself; nothing where that is not
/// worth while, or where one of them cannot be compiled so.
static FailureOr<std::optional<std::vector<Compilation>>>
tryApart(ModuleOp module, Progress progress, const CompilerOptions &options) {
  using Results = std::optional<std::vector<Compilation>>;
  if (progress > Progress::Expandable || !options.withPTX ||
      options.withLLVMIR || (options.threads == 1 && options.cache.empty()))
    return Results();
  if (progress == Progress::Source && failed(formKernels(module, options)))
    return failure();
  FailureOr<SmallVector<gpu::GPUModuleOp>> modules = kernelModules(module);
  if (failed(modules))
    return failure();
  if (!isCompiledApart(*modules, options))
    return Results();
  Results results = compileApart(*modules, options);
  if (!results)
    return results;
  for (auto [kernels, result] : llvm::zip_equal(*modules, *results))
    if (failed(complete(kernels, options, result)))
      return failure();
  return results;
}

/// Compiles `module` for each of `targets`, and leaves it as it is.
static FailureOr<std::vector<Compilation>>
compileForEach(ModuleOp module, const std::vector<std::string> &targets,
               CompilerOptions options) {
  std::vector<Compilation> results;
  for (const std::string &target : targets) {
    options.target = target;
    OwningOpRef<ModuleOp> copy = module.clone();
    FailureOr<std::vector<Compilation>> compiled = compile(*copy, options);
    if (failed(compiled))
      return failure();
    for (Compilation &each : *compiled) {
      if (each.target != target)
        return module.emitError()
               << "has kernels that name '" << each.target
               << "' as their target, so that they are not compiled for '"
               << target << "', one of several";
      results.push_back(std::move(each));
    }
  }
  return results;
}

FailureOr<std::vector<Compilation>>
blockscale::compile(ModuleOp module, const CompilerOptions &options) {
  if (auto targets = targetsOf(options); targets.size() > 1)
    return compileForEach(module, targets, options);
  completeContext(module.getContext());
  FailureOr<Progress> progress = progressOf(module, options);
  if (failed(progress))
    return failure();
  bool isDescribed = options.withPlan || options.withReport;
  if (isDescribed && *progress > Progress::Assigned)
    return module.emitError()
           << "is at the stage '" << nameOf(*progress)
           << "', which no longer tells what the launch plan and the report "
              "say; expected the stage 'tensor', 'kernel' or 'assigned', or to "
              "be asked for LLVM IR or PTX alone";
  auto apart = tryApart(module, *progress, options);
  if (failed(apart))
    return failure();
  if (*apart)
    return std::move(**apart);
  if (*progress <= Progress::Assigned &&
      failed(lowerTo(module, Stage::Assigned, options)))
    return failure();
  FailureOr<SmallVector<gpu::GPUModuleOp>> modules = kernelModules(module);
  if (failed(modules))
    return failure();
  std::vector<Compilation> results(modules->size());
  for (auto [kernels, result] : llvm::zip_equal(*modules, results)) {
    result.target = hw::targetName(getTarget(kernels));
    if (failed(describe(kernels, options, result)))
      return failure();
  }
  if (!options.withPTX && !options.withLLVMIR)
    return results;
  if (failed(lowerTo(module, Stage::LLVM, options)))
    return failure();
  for (auto [kernels, result] : llvm::zip_equal(*modules, results))
    if (failed(translate(kernels, options, result)))
      return failure();
  return results;
}

plan::Plan blockscale::joinPlans(const std::vector<Compilation> &compilations) {
  std::vector<plan::Plan> plans;
  for (const Compilation &compilation : compilations)
    plans.push_back(compilation.plan);
  return plan::joinPlans(std::move(plans));
}
