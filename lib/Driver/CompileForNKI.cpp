//===- CompileForNKI.cpp - compile a file for AWS's chips -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileForNKI.h"
#include "InputModule.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/NKI/Target.h"
#include "blockscale/Target/NKI/TranslateToNKI.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace blockscale;
using namespace blockscale::driver;

/// The stage that `emit` prints or is made from; none if it is of another
/// target's stages.
static std::optional<nki::Stage> stageOf(Emit emit) {
  switch (emit) {
  case Emit::Tensor:
    return nki::Stage::Tensor;
  case Emit::Kernel:
    return nki::Stage::Kernel;
  case Emit::Assigned:
  case Emit::NKI:
  case Emit::All:
    return nki::Stage::Assigned;
  default:
    return std::nullopt;
  }
}

static std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << '\n';
  return text;
}

static std::optional<Reason> writeAll(const std::string &path,
                                      const std::string &output,
                                      const std::string &kernel,
                                      const std::string &plan) {
  std::string stem =
      path == "-" ? "kernels" : std::filesystem::path(path).stem().string();
  OutputFiles files;
  files.add(stem + ".nki.py", kernel);
  files.add(stem + ".plan.json", plan);
  return files.write(output.empty() ? "." : output);
}

int blockscale::driver::compileForNKI(const std::string &path,
                                      const std::string &target, Emit emit,
                                      const std::string &output) {
  Result<nki::Target> parsed = nki::parseTarget(target);
  std::optional<Reason> why =
      parsed ? nki::whyNotTarget(*parsed) : parsed.why();
  if (why)
    return reportError(why->text, kNotUnderstood);
  std::optional<nki::Stage> stage = stageOf(emit);
  if (!stage)
    return reportError("stage is not one of target '" + target +
                           "', legal are --emit=tensor, kernel, assigned and "
                           "nki",
                       kNotUnderstood);
  InputModule module(path);
  if (!module || mlir::failed(nki::lowerToNKI(*module, target, *stage)))
    return kFailure;
  if (emit != Emit::All && emit != Emit::NKI) {
    why = writeFile(output.empty() ? "-" : output, printModule(*module));
  } else {
    mlir::FailureOr<std::string> kernel = nki::translateToNKI(*module);
    mlir::FailureOr<std::string> plan = nki::buildHostPlan(*module);
    if (mlir::failed(kernel) || mlir::failed(plan))
      return kFailure;
    why = emit == Emit::NKI ? writeFile(output.empty() ? "-" : output, *kernel)
                            : writeAll(path, output, *kernel, *plan);
  }
  return why ? reportError(why->text, kFailure) : kSuccess;
}
