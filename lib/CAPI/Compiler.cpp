//===- Compiler.cpp - from modules to PTX and plans -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"
#include "blockscale/NKI/Target.h"
#include "blockscale/Target/NKI/TranslateToNKI.h"
#include "blockscale/Target/PTX/Launcher.h"

#include <array>

using namespace blockscale;
using namespace blockscale::capi;

static constexpr unsigned kOutputs = BLOCKSCALE_OUTPUT_JOINED_LAUNCHER + 1;

namespace {
struct CompiledKernels : Object {
  static constexpr const char *kKind = "compilation";
  /// For each chip, by BlockscaleOutput.
  std::vector<std::array<std::string, kOutputs>> chips;
};
} // namespace

static BlockscaleCompileOptions defaultOptions() {
  BlockscaleCompileOptions options = {};
  options.structSize = sizeof(options);
  options.expectedRows = CompilerOptions().expectedRows;
  return options;
}

CompilerOptions capi::compilerOptions(const BlockscaleCompileOptions *pointer) {
  BlockscaleCompileOptions given = optionsOf(pointer, defaultOptions());
  CompilerOptions options;
  options.target = textOf(given.target);
  options.expectedRows = given.expectedRows;
  options.dispatchRows = textOf(given.dispatchRows);
  options.denseFallback = given.denseFallback;
  options.hostDuties = given.hostDuties;
  options.cache = textOf(given.cache);
  options.threads = given.threads;
  options.quantizeOnDevice = given.quantizeOnDevice;
  options.withFunctions = !given.kernelsOnly;
  if (std::optional<Reason> why = whyNot(options))
    fail(BLOCKSCALE_REFUSED, why->text);
  return options;
}

static std::string findAssembler(const BlockscaleCompileOptions &given) {
  if (!given.withCubin)
    return "";
  llvm::Expected<std::string> program = findPtxas(textOf(given.ptxas));
  if (!program)
    fail(BLOCKSCALE_REFUSED, llvm::toString(program.takeError()));
  return *program;
}

static mlir::LogicalResult lowerToStage(mlir::ModuleOp module,
                                        BlockscaleStage stage,
                                        const CompilerOptions &options) {
  switch (stage) {
  case BLOCKSCALE_STAGE_HOST_LINALG:
    return lowerToHost(module, HostStage::Linalg, options);
  case BLOCKSCALE_STAGE_HOST_MEMREF:
    return lowerToHost(module, HostStage::MemRef, options);
  case BLOCKSCALE_STAGE_HOST_LLVM:
    return lowerToHost(module, HostStage::LLVM, options);
  default:
    return lowerTo(module, static_cast<Stage>(stage), options);
  }
}

static std::array<std::string, kOutputs> outputsOf(Compilation &&chip) {
  std::array<std::string, kOutputs> outputs;
  outputs[BLOCKSCALE_OUTPUT_PLAN] = plan::printPlan(chip.plan);
  outputs[BLOCKSCALE_OUTPUT_REPORT] = printReportJSON(chip.report);
  outputs[BLOCKSCALE_OUTPUT_REPORT_TEXT] = printReportText(chip.report);
  outputs[BLOCKSCALE_OUTPUT_LAUNCHER] = printLauncher(chip.plan);
  outputs[BLOCKSCALE_OUTPUT_TARGET] = std::move(chip.target);
  outputs[BLOCKSCALE_OUTPUT_PTX] = std::move(chip.ptx);
  outputs[BLOCKSCALE_OUTPUT_CUBIN] = std::move(chip.cubin);
  return outputs;
}

//===----------------------------------------------------------------------===//
// AWS's chips
//===----------------------------------------------------------------------===//

/// Whether the options name one of AWS's chips; refuses one that has no such
/// kernels, and what only NVIDIA's chips have.
static bool isForNKI(const BlockscaleCompileOptions &given) {
  std::string name = textOf(given.target);
  if (!nki::isTargetName(name))
    return false;
  Result<nki::Target> target = nki::parseTarget(name);
  std::optional<Reason> why =
      target ? nki::whyNotTarget(*target) : target.why();
  if (why)
    fail(BLOCKSCALE_REFUSED, why->text);
  for (auto [option, isSet] : {std::pair("withCubin", given.withCubin),
                               {"denseFallback", given.denseFallback},
                               {"hostDuties", given.hostDuties},
                               {"kernelsOnly", given.kernelsOnly}})
    if (isSet)
      fail(BLOCKSCALE_REFUSED, "option '" + std::string(option) +
                                   "' is not for target '" + name +
                                   "', which runs kernels of NKI");
  return true;
}

static nki::Stage nkiStage(BlockscaleStage stage, const char *target) {
  switch (stage) {
  case BLOCKSCALE_STAGE_TENSOR:
    return nki::Stage::Tensor;
  case BLOCKSCALE_STAGE_KERNEL:
    return nki::Stage::Kernel;
  case BLOCKSCALE_STAGE_ASSIGNED:
    return nki::Stage::Assigned;
  default:
    fail(BLOCKSCALE_REFUSED, "stage is not one of target '" +
                                 std::string(target) +
                                 "', which has tensor, kernel and assigned");
  }
}

static std::array<std::string, kOutputs>
compileForNKI(mlir::ModuleOp module, const BlockscaleCompileOptions &given) {
  if (mlir::failed(nki::lowerToNKI(module, given.target, nki::Stage::Assigned)))
    fail(BLOCKSCALE_REFUSED, "");
  mlir::FailureOr<std::string> kernels = nki::translateToNKI(module);
  mlir::FailureOr<std::string> plan = nki::buildHostPlan(module);
  if (mlir::failed(kernels) || mlir::failed(plan))
    fail(BLOCKSCALE_REFUSED, "");
  std::array<std::string, kOutputs> outputs;
  outputs[BLOCKSCALE_OUTPUT_TARGET] = given.target;
  outputs[BLOCKSCALE_OUTPUT_PLAN] = std::move(*plan);
  outputs[BLOCKSCALE_OUTPUT_NKI] = std::move(*kernels);
  return outputs;
}

//===----------------------------------------------------------------------===//
// Other compilers
//===----------------------------------------------------------------------===//

namespace {
/// While it lives, ops of dialects that are not known may be read.
class ForeignDialects {
public:
  explicit ForeignDialects(mlir::MLIRContext &context) : context(context) {
    context.allowUnregisteredDialects(true);
  }
  ~ForeignDialects() { context.allowUnregisteredDialects(false); }
  ForeignDialects(const ForeignDialects &) = delete;
  ForeignDialects &operator=(const ForeignDialects &) = delete;

private:
  mlir::MLIRContext &context;
};
} // namespace

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleCompileOptionsInit(BlockscaleCompileOptions *options,
                                              size_t structSize) {
  return guarded([&] { initOptions(options, structSize, defaultOptions()); });
}

BlockscaleStatus blockscaleModuleImport(BlockscaleSession handle,
                                        BlockscaleSlice source,
                                        BlockscaleSlice name,
                                        const BlockscaleCompileOptions *given,
                                        BlockscaleModule *module) {
  return guarded([&] {
    requirePointer(module, "module");
    std::string_view text = textOf(source, "source");
    std::string_view called = textOf(name, "name");
    CompilerOptions options = compilerOptions(given);
    std::shared_ptr<Session> session = get<Session>(handle.id);
    mlir::OwningOpRef<mlir::ModuleOp> op;
    inSession(
        session,
        [&](Session &in) {
          ForeignDialects allowed(*in.context);
          mlir::OwningOpRef<mlir::ModuleOp> read =
              parseModule(in, text, called);
          if (mlir::failed(importProducts(*read, options)))
            fail(BLOCKSCALE_REFUSED, "");
          op = std::move(read);
        },
        [&] { *module = makeModule(session, std::move(op)); });
  });
}

BlockscaleStatus blockscaleModuleLower(BlockscaleModule handle,
                                       BlockscaleStage stage,
                                       const BlockscaleCompileOptions *given) {
  return guarded([&] {
    auto until = enumeratorOf<BlockscaleStage>(
        stage, BLOCKSCALE_STAGE_HOST_LLVM + 1, "stage");
    BlockscaleCompileOptions chosen = optionsOf(given, defaultOptions());
    bool forNKI = isForNKI(chosen);
    CompilerOptions options =
        forNKI ? CompilerOptions() : compilerOptions(&chosen);
    if (until > BLOCKSCALE_STAGE_LLVM)
      options.ptxas = findAssembler(chosen);
    // A module that fails half-way is of no use to anybody.
    mlir::OwningOpRef<mlir::ModuleOp> copy;
    inModule(
        handle,
        [&](Module &module) {
          copy = module.op->clone();
          if (mlir::failed(forNKI
                               ? nki::lowerToNKI(*copy, chosen.target,
                                                 nkiStage(until, chosen.target))
                               : lowerToStage(*copy, until, options)))
            fail(BLOCKSCALE_REFUSED, "");
        },
        [&](Module &module) { module.op = std::move(copy); });
  });
}

BlockscaleStatus blockscaleCompile(BlockscaleModule handle,
                                   const BlockscaleCompileOptions *given,
                                   BlockscaleCompilation *compilation) {
  return guarded([&] {
    requirePointer(compilation, "compilation");
    BlockscaleCompileOptions chosen = optionsOf(given, defaultOptions());
    if (isForNKI(chosen)) {
      auto result = std::make_shared<CompiledKernels>();
      inModule(handle, [&](Module &module) {
        mlir::OwningOpRef<mlir::ModuleOp> copy = module.op->clone();
        result->chips.push_back(compileForNKI(*copy, chosen));
      });
      *compilation = {addObject(std::move(result))};
      return;
    }
    CompilerOptions options = compilerOptions(&chosen);
    options.ptxas = findAssembler(chosen);
    options.otherPtxas = textOf(chosen.ptxas).empty();
    auto result = std::make_shared<CompiledKernels>();
    inModule(handle, [&](Module &module) {
      mlir::OwningOpRef<mlir::ModuleOp> copy = module.op->clone();
      mlir::FailureOr<std::vector<Compilation>> chips = compile(*copy, options);
      if (mlir::failed(chips))
        fail(BLOCKSCALE_REFUSED, "");
      std::string plan, launcher;
      if (targetsOf(options).size() > 1) {
        plan::Plan joined = joinPlans(*chips);
        plan = plan::printPlan(joined);
        launcher = printLauncher(joined);
      }
      for (Compilation &chip : *chips) {
        auto &outputs = result->chips.emplace_back(outputsOf(std::move(chip)));
        outputs[BLOCKSCALE_OUTPUT_JOINED_PLAN] = plan;
        outputs[BLOCKSCALE_OUTPUT_JOINED_LAUNCHER] = launcher;
      }
    });
    *compilation = {addObject(std::move(result))};
  });
}

BlockscaleStatus
blockscaleCompilationGetChipCount(BlockscaleCompilation compilation,
                                  size_t *count) {
  return guarded([&] {
    requirePointer(count, "count");
    *count = get<CompiledKernels>(compilation.id)->chips.size();
  });
}

BlockscaleStatus
blockscaleCompilationGetOutput(BlockscaleCompilation compilation, size_t chip,
                               BlockscaleOutput output,
                               BlockscaleSlice *slice) {
  return guarded([&] {
    requirePointer(slice, "slice");
    auto index = enumeratorOf<unsigned>(output, kOutputs, "output");
    auto object = get<CompiledKernels>(compilation.id);
    if (chip >= object->chips.size())
      fail(BLOCKSCALE_INVALID_ARGUMENT,
           "chip " + std::to_string(chip) + " of " +
               std::to_string(object->chips.size()));
    *slice = sliceOf(object->chips[chip][index]);
  });
}

BlockscaleStatus
blockscaleCompilationDestroy(BlockscaleCompilation compilation) {
  return guarded([&] { destroy<CompiledKernels>(compilation.id); });
}
