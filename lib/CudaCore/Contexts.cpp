//===- Contexts.cpp - contexts and what is current ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Device.h"
#include "Graphs.h"
#include "Modules.h"
#include "Streams.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct Contexts {
  CUctx_st primary{true, 0, 1, nullptr, 0};
  unsigned primaryUsers = 0;
  unsigned long long lastId = 1;
  std::unordered_set<const CUctx_st *> created;
  /// Handles that were destroyed. They may be current in other threads, so
  /// their addresses are not used again.
  std::vector<std::unique_ptr<CUctx_st>> ended;
  CUfunc_cache cacheConfig = CU_FUNC_CACHE_PREFER_NONE;
};

Contexts &all() {
  static Contexts *contexts = new Contexts;
  return *contexts;
}

/// The cache's part that persisting accesses may have grows in 16ths of it, as
/// on an H100.
size_t persistingUnit() { return Core::get().device.l2Bytes / 16; }

/// Sizes of a new process, as an H100 has them.
std::map<CUlimit, size_t> newLimits() {
  const hw::Device &device = Core::get().device;
  return {{CU_LIMIT_STACK_SIZE, 1024},
          {CU_LIMIT_PRINTF_FIFO_SIZE, size_t(device.chip().smCount) << 16},
          {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
          {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
          {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
          {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 3 * persistingUnit()},
          {CU_LIMIT_SHMEM_SIZE, device.chip().sharedMemoryPerCta},
          {CU_LIMIT_CIG_ENABLED, 0}};
}

std::map<CUlimit, size_t> &limits() {
  static auto *sizes = new std::map<CUlimit, size_t>(newLimits());
  return *sizes;
}

size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// What a limit becomes when a program asks for `value`; nothing for more than
/// there is.
std::optional<size_t> legalLimit(CUlimit limit, size_t value) {
  constexpr size_t kLargestStack = 512 << 10, kSmallestHeap = 4 << 20;
  constexpr size_t kLargestFetch = 128;
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    return value <= kLargestStack ? std::optional(roundUp(value, 16))
                                  : std::nullopt;
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    return std::max(value, kSmallestHeap);
  case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    return value <= kLargestFetch ? std::optional(value) : std::nullopt;
  case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
    return value <= size_t(deviceAttribute(cudaDevAttrMaxPersistingL2CacheSize))
               ? std::optional(roundUp(value, persistingUnit()))
               : std::nullopt;
  default:
    return value;
  }
}

/// Of this thread; the last one is current.
std::vector<CUctx_st *> &stack() {
  static thread_local std::vector<CUctx_st *> contexts;
  return contexts;
}

} // namespace

bool &cuda::isInitialised() {
  static bool initialised = false;
  return initialised;
}

CUctx_st *cuda::primaryContext() { return &all().primary; }

bool cuda::isContext(const CUctx_st *context) {
  return context == &all().primary || all().created.count(context);
}

CUctx_st *cuda::currentContext() {
  return stack().empty() ? nullptr : stack().back();
}

CUctx_st *cuda::currentOwner() {
  CUctx_st *context = currentContext();
  return context && context->green ? primaryContext() : context;
}

void cuda::setCurrent(CUctx_st *context) {
  if (!stack().empty())
    stack().pop_back();
  if (context)
    stack().push_back(context);
}

void cuda::pushContext(CUctx_st *context) { stack().push_back(context); }

CUctx_st *cuda::popContext() {
  CUctx_st *context = currentContext();
  if (context)
    stack().pop_back();
  return context;
}

void cuda::useAnyContext() {
  isInitialised() = true;
  if (currentContext())
    return;
  // The runtime never lets go of it.
  static bool retained = false;
  primaryUsers() += !retained;
  retained = true;
  pushContext(primaryContext());
}

CUctx_st *cuda::createContext(unsigned flags) {
  auto *context = new CUctx_st{false, flags, ++all().lastId, nullptr, 0};
  all().created.insert(context);
  return context;
}

void cuda::destroyContext(CUctx_st *context) {
  Core &core = Core::get();
  std::vector<CUmod_st *> modules;
  for (CUmod_st *module : core.modules)
    if (module->origin == ModuleOrigin::Module && module->context == context)
      modules.push_back(module);
  for (CUmod_st *module : modules)
    unloadModule(module);
  dropStreams(context);
  core.memory.releaseAll(context);
  forgetGraphMemory();
  if (!context->primary)
    endContext(context);
}

void cuda::endContext(CUctx_st *context) {
  all().created.erase(context);
  all().ended.emplace_back(context);
  stack().erase(std::remove(stack().begin(), stack().end(), context),
                stack().end());
}

unsigned &cuda::primaryUsers() { return all().primaryUsers; }

bool cuda::areContextFlags(unsigned flags) {
  unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return !(flags & ~unsigned(CU_CTX_FLAGS_MASK)) &&
         (schedule & (schedule - 1)) == 0;
}

CUfunc_cache &cuda::cacheConfig() { return all().cacheConfig; }

/// Of an error for a limit that is none, or that this device does not have:
/// the depth of synchronisation, which went with the first device runtime.
static cudaError_t noLimit(CUlimit limit) {
  return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH ? cudaErrorUnsupportedLimit
                                                  : cudaErrorInvalidValue;
}

cudaError_t cuda::setLimit(CUlimit limit, size_t value) {
  auto it = limits().find(limit);
  if (it == limits().end())
    return noLimit(limit);
  if (limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED)
    return cudaErrorNotPermitted;
  std::optional<size_t> legal = legalLimit(limit, value);
  if (!legal)
    return cudaErrorInvalidValue;
  it->second = *legal;
  return cudaSuccess;
}

cudaError_t cuda::getLimit(CUlimit limit, size_t &value) {
  auto it = limits().find(limit);
  if (it == limits().end())
    return noLimit(limit);
  value = it->second;
  return cudaSuccess;
}
