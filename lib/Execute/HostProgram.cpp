//===- HostProgram.cpp - compiled functions, called in this process -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Execute/HostProgram.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

namespace {
/// The call that the code of this thread is in.
struct Call {
  const Launcher &launcher;
  std::string error;
};
} // namespace

static thread_local Call *current = nullptr;

/// What compiled functions call in place of the runtime. They cannot be
/// stopped half way: after a failure they go on with what they have.
static void runLaunch(BlockscaleKernels *kernels, const char *kernel,
                      const BlockscaleOperand *operands, int64_t count) {
  std::string why = current->launcher(*kernels, kernel, operands, count);
  if (current->error.empty())
    current->error = std::move(why);
}

/// Memory of the device is the host's here.
static void *allocate(int64_t bytes) { return std::malloc(size_t(bytes)); }

/// The nearest bf16, ties to even: what code calls for processors without an
/// instruction for it, and GCC's library has from release 13 on only. A bf16 is
/// returned in the lowest bits of the register that a float has.
static float roundToBF16(float value) {
  constexpr uint32_t kHalf = 0x7fff, kQuiet = 0x40, kBits = 16;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value))
    bits = bits >> kBits | kQuiet;
  else
    bits = (bits + kHalf + (bits >> kBits & 1)) >> kBits;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

HostProgram::HostProgram() = default;
HostProgram::~HostProgram() = default;

std::unique_ptr<HostProgram> HostProgram::create(ModuleOp module,
                                                 std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  constexpr unsigned kSpeed = 2, kSize = 0;
  auto transformer = makeOptimizingTransformer(kSpeed, kSize, nullptr);
  ExecutionEngineOptions options;
  options.transformer = transformer;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
      ExecutionEngine::create(module, options);
  if (!engine) {
    error = llvm::toString(engine.takeError());
    return nullptr;
  }
  std::unique_ptr<HostProgram> program(new HostProgram);
  program->engine = std::move(*engine);
  program->engine->registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    auto add = [&](const char *name, auto *function) {
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported};
    };
    add("blockscaleRuntimeRun", &runLaunch);
    add("blockscaleRuntimeAllocate", &allocate);
    add("blockscaleRuntimeFree", &std::free);
    add("__truncsfbf2", &roundToBF16);
    return symbols;
  });
  return program;
}

std::string HostProgram::call(const std::string &name,
                              MutableArrayRef<void *> arguments,
                              const Launcher &launcher) {
  Call call{launcher, ""};
  Call *outer = std::exchange(current, &call);
  llvm::Error failed = engine->invokePacked("_mlir_ciface_" + name, arguments);
  current = outer;
  if (failed)
    return llvm::toString(std::move(failed));
  return call.error;
}
