//===- CompileKernels.cpp - time of the compiler as a library -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: compile-kernels FILE.mlir...       one kernel after another
//        compile-kernels --many FILE.mlir   all kernels of a file at once
//
// The first prints the median wall and processor time of 50 compilations to PTX
// in one process, each from text on. The second compiles on all cores without a
// cache, into an empty one, and from it; `test/Driver/Inputs/many_kernels.py`
// writes such a file.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

using namespace blockscale;

namespace {
/// In milliseconds.
struct Time {
  double wall, processor;
};
} // namespace

static Time now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double, std::milli>(wall).count(),
          double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6};
}

/// Compiles `path` and returns how long it took; ends the program if it cannot.
static Time measure(const char *path, mlir::MLIRContext &context,
                    const CompilerOptions &options) {
  Time start = now();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  if (!module || mlir::failed(compile(*module, options)))
    std::exit(1);
  Time end = now();
  return {end.wall - start.wall, end.processor - start.processor};
}

static void measureOne(const char *path, mlir::MLIRContext &context) {
  constexpr unsigned kRounds = 50;
  std::vector<double> wall, processor;
  for (unsigned round = 0; round < kRounds; ++round) {
    Time time = measure(path, context, {});
    wall.push_back(time.wall);
    processor.push_back(time.processor);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(processor.begin(), processor.end());
  std::printf("%s: median %.1f ms, processor %.1f ms; least %.1f ms\n", path,
              wall[kRounds / 2], processor[kRounds / 2], wall.front());
}

static void measureMany(const char *path, mlir::MLIRContext &context) {
  llvm::SmallString<128> cache;
  if (llvm::sys::fs::createUniqueDirectory("blockscale-cache", cache))
    std::exit(1);
  llvm::scope_exit remove([&] { llvm::sys::fs::remove_directories(cache); });
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  auto print = [&](const char *what, Time time) {
    std::printf("%s: %.0f ms, processor %.0f ms; %.2f times processor / %u "
                "cores\n",
                what, time.wall, time.processor,
                time.wall * cores / time.processor, cores);
  };
  CompilerOptions options;
  options.threads = 1;
  print("one thread", measure(path, context, options));
  options.threads = 0;
  print("all cores", measure(path, context, options));
  options.cache = cache.str().str();
  print("into a cache", measure(path, context, options));
  print("from the cache", measure(path, context, options));
}

int main(int argc, char **argv) {
  bool isMany = argc > 1 && llvm::StringRef(argv[1]) == "--many";
  if (argc < 2 || (isMany && argc != 3)) {
    std::fputs("usage: compile-kernels [--many] FILE.mlir...\n", stderr);
    return 2;
  }
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (isMany)
    measureMany(argv[2], context);
  else
    for (int i = 1; i < argc; ++i)
      measureOne(argv[i], context);
  return 0;
}
