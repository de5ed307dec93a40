//===- Compiler.h - from a module to everything a host needs ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler as a library: a module goes in; PTX, cubin, launch plan, report
// or the IR of a stage come out. No command line, no files, no emulator. What
// is wrong is a diagnostic of the module's context.
//
//   mlir::DialectRegistry registry;
//   blockscale::registerCompilerDialects(registry);
//   mlir::MLIRContext context(registry);
//   auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
//   auto compiled = blockscale::compile(*module, {});
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_COMPILER_COMPILER_H
#define BLOCKSCALE_COMPILER_COMPILER_H

#include "blockscale/Pipelines/HostPipeline.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Plan/Plan.h"
#include "blockscale/Target/PTX/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace blockscale {

struct CompilerOptions {
  /// Chip of what names none: "sm_100a", ... Empty leaves it at that, which
  /// stands for sm_100a. Several, "sm_100a,sm_107a", are for compile() and
  /// importProducts(), of modules that name none.
  std::string target;
  /// Value of a dynamic M or N for the cost model.
  int64_t expectedRows = 4096;
  /// Up to how many rows there are kernels of their own where the number of
  /// rows of A is not known: "16,512"; "auto" for what the model of time finds.
  /// Empty for one kernel only.
  std::string dispatchRows;
  /// Whether sparse operands that no instruction takes are multiplied as dense
  /// ones.
  bool denseFallback = false;
  /// Whether what no kernel does goes into the plan, for the host to do, in
  /// place of being refused.
  bool hostDuties = false;
  /// Whether whole functions run kernels for what quantises operands of
  /// products, where there are such, and not host code.
  bool quantizeOnDevice = false;
  /// Whether the plan accounts for what functions do around kernels. Without it
  /// nothing is refused that becomes part of no kernel.
  bool withFunctions = true;
  /// What to make.
  bool withLLVMIR = false, withPTX = true, withPlan = true, withReport = true;
  /// Threads that compile kernels, if there are several; 0 for as many as the
  /// host has cores. What comes out does not depend on it.
  unsigned threads = 0;
  /// Called with the kernels that are compiled and all of them, where there are
  /// several, by one thread at a time.
  std::function<void(uint64_t, uint64_t)> progress;
  /// Folder in which compiled kernels are kept by what they were made from, and
  /// looked up; made if it is not there. Empty for none.
  std::string cache;
  /// Assembler for the cubin as `findPtxas` returns it; empty for no cubin.
  std::string ptxas;
  /// Whether another ptxas of this machine may take its place where that one is
  /// too old for the PTX of a chip.
  bool otherPtxas = false;
};

/// What became of the kernels of one chip; empty where it was not asked for.
struct Compilation {
  /// "sm_100a", ...
  std::string target;
  /// As text, before optimisation.
  std::string llvmIR;
  std::string ptx;
  std::string cubin;
  plan::Plan plan;
  Report report;
};

/// Registers all dialects that inputs and stages need, and how they become
/// LLVM IR. To be done before modules are read.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Why nothing can be compiled with `options`: an unknown target, or one
/// without block-scaled instructions. Empty if it can.
std::optional<Reason> whyNot(const CompilerOptions &options);

/// The targets that `options` name, in the order in which a device is to be
/// offered their code (hw::parseTargets), or one empty name; whyNot() must have
/// nothing against them.
std::vector<std::string> targetsOf(const CompilerOptions &options);

/// Writes block-scaled products of other dialects as ours
/// (`blockscale-import`), drops attributes of dialects that are not here and
/// refuses ops of such dialects that are left, each by name. Contexts that read
/// such modules have `allowUnregisteredDialects` set.
mlir::LogicalResult importProducts(mlir::ModuleOp module,
                                   const CompilerOptions &options);

/// Lowers `module`, which may be at any stage up to `stage`, to that stage.
/// Functions keep their level.
mlir::LogicalResult lowerTo(mlir::ModuleOp module, Stage stage,
                            const CompilerOptions &options);

/// Lowers `module`, which may be at any stage up to `Stage::Assigned` or hold
/// no product at all, to host code with its kernels: see buildHostPipeline.
/// With `onHost` products become host code, too, which needs the tensor stage.
/// The kernels are machine code if `options.ptxas` is set.
mlir::LogicalResult lowerToHost(mlir::ModuleOp module, HostStage stage,
                                const CompilerOptions &options,
                                bool onHost = false);

/// Compiles `module`, which may be at any stage and is changed on the way; the
/// plan and the report need one up to `Stage::Assigned`. The results are for
/// one chip each, in the order of their modules of kernels, or of targetsOf()
/// where `options` name several. Emits an error and
/// fails if there is nothing to compile, if a step refuses it, or if anything
/// in the module would become part of neither a kernel nor the plan.
mlir::FailureOr<std::vector<Compilation>>
compile(mlir::ModuleOp module, const CompilerOptions &options);

/// The plans of what was compiled for several targets as one, from which a
/// launcher chooses by device.
plan::Plan joinPlans(const std::vector<Compilation> &compilations);

} // namespace blockscale

#endif // BLOCKSCALE_COMPILER_COMPILER_H
