//===- Apart.cpp - many kernels, each for itself --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Apart.h"
#include "Archive.h"
#include "Cache.h"
#include "JoinPTX.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Target/PTX/FatalErrorGuard.h"
#include "blockscale/Upstream/Bytecode.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Taking kernels apart
//===----------------------------------------------------------------------===//

/// A module that holds `kernel` alone, as bytecode without places: it is where
/// the kernel travels to another context, and what it is known by in the cache.
static std::string takeOut(gpu::GPUFuncOp kernel) {
  auto kernels = kernel->getParentOfType<gpu::GPUModuleOp>();
  Location loc = UnknownLoc::get(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto shell =
      cast<gpu::GPUModuleOp>(builder.insert(kernels->cloneWithoutRegions()));
  shell->setAttr(TargetAttr::name,
                 TargetAttr::get(kernel.getContext(), getTarget(kernels)));
  shell->getRegion(0).emplaceBlock();
  builder.setInsertionPointToEnd(&shell->getRegion(0).front());
  builder.clone(*kernel);
  module->walk([&](Operation *op) { op->setLoc(loc); });
  module->walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      argument.setLoc(loc);
  });
  FailureOr<std::string> bytes = toBytecode(*module);
  return succeeded(bytes) ? std::move(*bytes) : std::string();
}

//===----------------------------------------------------------------------===//
// Compiling one
//===----------------------------------------------------------------------===//

namespace {
/// A kernel on its way.
struct Job {
  std::string source;
  /// Set when it has arrived.
  std::optional<Compilation> result;
  /// Why the cache did not keep it; empty if it did or was not asked to.
  std::string notKept;
};

/// What one thread needs: a context that it uses for one kernel after another.
class Worker {
public:
  explicit Worker(const CompilerOptions &given) : options(given), cache("") {
    options.withLLVMIR = false;
    options.withPTX = options.withPlan = options.withReport = true;
    options.ptxas.clear();
    options.threads = 1;
    options.progress = nullptr;
    cache = Cache(std::move(options.cache));
    options.cache.clear();
  }

  /// False if the kernel cannot be compiled.
  bool run(Job &job) {
    if (job.source.empty())
      return false;
    std::string key;
    if (cache.isThere()) {
      key = Cache::keyOf({"kernel", job.source});
      if (find(key, job))
        return true;
    }
    // A mistake in LLVM or in us ends this kernel, and not the host.
    std::optional<std::string> fatal =
        runCatchingFatalErrors([&] { compile(job); });
    if (fatal)
      (void)context.release();
    if (fatal || !job.result)
      return false;
    job.notKept =
        cache.keep(key, {job.result->ptx, plan::printPlan(job.result->plan),
                         storeReport(job.result->report)});
    return true;
  }

private:
  bool find(const std::string &key, Job &job) {
    std::optional<std::vector<std::string>> parts = cache.find(key);
    if (!parts || parts->size() != 3)
      return false;
    Result<plan::Plan> plan = plan::parsePlan((*parts)[1]);
    std::optional<Report> report = loadReport((*parts)[2]);
    if (!plan || !report)
      return false;
    Compilation &result = job.result.emplace();
    result.ptx = std::move((*parts)[0]);
    result.plan = *std::move(plan);
    result.report = std::move(*report);
    return true;
  }

  void compile(Job &job) {
    if (!context) {
      DialectRegistry registry;
      registerCompilerDialects(registry);
      context = std::make_unique<MLIRContext>(registry,
                                              MLIRContext::Threading::DISABLED);
      // Who asks again hears it from compile().
      context->getDiagEngine().registerHandler([](Diagnostic &) {});
    }
    ParserConfig config(context.get());
    auto module = parseSourceString<ModuleOp>(job.source, config);
    if (!module)
      return;
    FailureOr<std::vector<Compilation>> results =
        blockscale::compile(*module, options);
    if (succeeded(results))
      job.result = std::move(results->front());
  }

  CompilerOptions options;
  Cache cache;
  std::unique_ptr<MLIRContext> context;
};
} // namespace

static bool runAll(std::vector<Job> &jobs, const CompilerOptions &options) {
  std::atomic<size_t> next{0};
  std::atomic<bool> haveAll{true};
  std::mutex telling;
  size_t done = 0;
  auto tell = [&] {
    std::lock_guard<std::mutex> lock(telling);
    options.progress(++done, jobs.size());
  };
  auto work = [&] {
    Worker worker(options);
    for (size_t i; haveAll && (i = next++) < jobs.size();) {
      if (!worker.run(jobs[i]))
        haveAll = false;
      if (options.progress)
        tell();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < threadsFor(options, jobs.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return haveAll;
}

//===----------------------------------------------------------------------===//
// Putting them together
//===----------------------------------------------------------------------===//

/// The kernels of one chip.
static std::optional<Compilation> join(llvm::MutableArrayRef<Job> jobs) {
  Compilation result;
  llvm::SmallVector<llvm::StringRef> texts;
  for (Job &job : jobs)
    texts.push_back(job.result->ptx);
  std::optional<std::string> ptx = joinPTX(texts);
  if (!ptx)
    return std::nullopt;
  result.ptx = std::move(*ptx);
  for (Job &job : jobs) {
    auto move = [](auto &from, auto &to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    result.plan.target = job.result->plan.target;
    result.plan.devices = job.result->plan.devices;
    result.report.target = job.result->report.target;
    move(job.result->plan.kernels, result.plan.kernels);
    move(job.result->report.kernels, result.report.kernels);
  }
  result.target = result.plan.target;
  return result;
}

unsigned blockscale::threadsFor(const CompilerOptions &options,
                                size_t kernels) {
  size_t allowed =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  return static_cast<unsigned>(std::max<size_t>(1, std::min(allowed, kernels)));
}

static size_t countKernels(llvm::ArrayRef<gpu::GPUModuleOp> modules) {
  size_t count = 0;
  for (gpu::GPUModuleOp kernels : modules)
    count += llvm::range_size(kernels.getOps<gpu::GPUFuncOp>());
  return count;
}

bool blockscale::isCompiledApart(llvm::ArrayRef<gpu::GPUModuleOp> modules,
                                 const CompilerOptions &options) {
  // Nothing but kernels: what they share would be lost.
  for (gpu::GPUModuleOp kernels : modules)
    for (Operation &op : kernels.getOps())
      if (!isa<gpu::GPUFuncOp>(op))
        return false;
  return !options.cache.empty() ||
         threadsFor(options, countKernels(modules)) > 1;
}

std::optional<std::vector<Compilation>>
blockscale::compileApart(llvm::ArrayRef<gpu::GPUModuleOp> modules,
                         const CompilerOptions &options) {
  std::vector<Job> jobs;
  std::vector<size_t> ends;
  for (gpu::GPUModuleOp kernels : modules) {
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      jobs.push_back({takeOut(kernel), std::nullopt, ""});
    ends.push_back(jobs.size());
  }
  if (!runAll(jobs, options))
    return std::nullopt;
  // One stands for all: what is wrong with the folder is wrong for each.
  auto lost =
      llvm::find_if(jobs, [](const Job &job) { return !job.notKept.empty(); });
  if (lost != jobs.end())
    emitWarning(gpu::GPUModuleOp(modules.front()).getLoc())
        << "the cache keeps no kernels: " << lost->notKept;
  std::vector<Compilation> results;
  size_t begin = 0;
  for (size_t end : ends) {
    auto joined =
        join(llvm::MutableArrayRef<Job>(jobs).slice(begin, end - begin));
    if (!joined)
      return std::nullopt;
    results.push_back(std::move(*joined));
    begin = end;
  }
  return results;
}
