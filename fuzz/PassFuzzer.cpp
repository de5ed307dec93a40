//===- PassFuzzer.cpp - hostile modules -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses whatever comes; a module that verifies goes through each pass of ours
// alone and through the whole pipeline. What a pass leaves, MLIR verifies; what
// it says, nobody reads.
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"
#include "blockscale/InitAll.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <cstdlib>
#include <memory>

using namespace blockscale;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  fuzz::Random random(seed);
  std::string text(reinterpret_cast<char *>(data), size);
  fuzz::changeText(random, text);
  return fuzz::store(text, data, maxSize);
}

/// Lines of one text among those of another: ops and types of two levels meet.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize,
                                            const uint8_t *other,
                                            size_t otherSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  fuzz::Random random(seed);
  std::string text(reinterpret_cast<const char *>(one), oneSize);
  auto lines =
      fuzz::split({reinterpret_cast<const char *>(other), otherSize}, '\n');
  for (unsigned i = 1 + fuzz::below(random, 3); i; --i)
    fuzz::changeLines(random, text, lines[fuzz::below(random, lines.size())]);
  return fuzz::store(text, out, maxSize);
}

static const char *const kPasses[] = {
#include "PassNames.inc"
    "blockscale-pipeline"};

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  registerAllPasses();
  registerAllPipelines();
  return 0;
}

static std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  return context;
}

/// A context keeps every type it has seen: a new one now and then.
static mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> current;
  static unsigned uses = 0;
  if (uses++ % 1000 == 0)
    current = makeContext();
  return *current;
}

/// What passes run on: a module, a module of kernels, a kernel.
static const char *const kAnchors[] = {"builtin.module", "gpu.module",
                                       "blockscale_nki.kernel"};

static void runPass(mlir::ModuleOp module, llvm::StringRef pass) {
  for (llvm::StringRef anchor : kAnchors) {
    mlir::PassManager pm(module.getContext(), "builtin.module");
    mlir::OpPassManager &on = anchor == "builtin.module" ? pm : pm.nest(anchor);
    if (mlir::failed(mlir::parsePassPipeline(pass, on, llvm::nulls())))
      continue;
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    (void)pm.run(*copy);
    return;
  }
  llvm::errs() << "'" << pass << "' runs on none of the ops that are tried\n";
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  if (!module)
    return -1;
  for (const char *pass : kPasses)
    runPass(*module, pass);
  return 0;
}
