//===- GreenContexts.cpp - contexts with a part of the SMs ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GreenContexts.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {
struct GreenContexts {
  std::unordered_set<const CUgreenCtx_st *> contexts;
  std::unordered_set<const CUdevResourceDesc_st *> descriptors;
};

GreenContexts &all() {
  static GreenContexts *contexts = new GreenContexts;
  return *contexts;
}
} // namespace

unsigned cuda::smsOf(const CUctx_st *context) {
  unsigned device = Core::get().device.chip().smCount;
  return context && context->green ? context->sms : device;
}

unsigned cuda::currentSms() { return smsOf(currentContext()); }

unsigned cuda::smsOf(const CUstream_st *stream) {
  const CUctx_st *context = stateOf(stream).context;
  return context ? smsOf(context) : currentSms();
}

CUgreenCtx_st *cuda::createGreenContext(unsigned sms) {
  auto *green = new CUgreenCtx_st;
  green->context = createContext(/*flags=*/0);
  green->context->green = green;
  green->context->sms = sms;
  ++primaryUsers();
  all().contexts.insert(green);
  return green;
}

bool cuda::isGreenContext(const CUgreenCtx_st *context) {
  return all().contexts.count(context);
}

void cuda::destroyGreenContext(CUgreenCtx_st *context) {
  all().contexts.erase(context);
  context->context->green = nullptr;
  // Memory and modules are the primary context's.
  dropStreams(context->context);
  endContext(context->context);
  if (primaryUsers() > 0)
    --primaryUsers();
  delete context;
}

CUdevResourceDesc_st *cuda::keepDescriptor(unsigned sms) {
  auto *descriptor = new CUdevResourceDesc_st{sms};
  all().descriptors.insert(descriptor);
  return descriptor;
}

bool cuda::isDescriptor(const CUdevResourceDesc_st *descriptor) {
  return all().descriptors.count(descriptor);
}
