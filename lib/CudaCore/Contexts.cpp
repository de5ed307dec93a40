//===- Contexts.cpp - contexts and what is current ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Modules.h"
#include "Streams.h"

#include <algorithm>
#include <map>

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
  std::map<CUlimit, size_t> limits{{CU_LIMIT_STACK_SIZE, 1024},
                                   {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20},
                                   {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
                                   {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
                                   {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
};

Contexts &all() {
  static Contexts *contexts = new Contexts;
  return *contexts;
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

cudaError_t cuda::setLimit(CUlimit limit, size_t value) {
  auto it = all().limits.find(limit);
  if (it == all().limits.end())
    return cudaErrorUnsupportedLimit;
  it->second = value;
  return cudaSuccess;
}

cudaError_t cuda::getLimit(CUlimit limit, size_t &value) {
  auto it = all().limits.find(limit);
  if (it == all().limits.end())
    return cudaErrorUnsupportedLimit;
  value = it->second;
  return cudaSuccess;
}
