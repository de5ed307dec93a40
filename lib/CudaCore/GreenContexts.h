//===- GreenContexts.h - contexts with a part of the SMs --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A green context is the primary context with fewer SMs: launches on its
// streams run on so many, and what a program asks about occupancy says so.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_GREENCONTEXTS_H
#define BLOCKSCALE_LIB_CUDACORE_GREENCONTEXTS_H

#include "Contexts.h"

struct CUgreenCtx_st {
  /// What is made current: a context of its own with these SMs.
  CUctx_st *context = nullptr;
};

/// SMs that a green context is to have.
struct CUdevResourceDesc_st {
  unsigned sms = 0;
};

namespace blockscale::cuda {

/// SMs on which work of the context, or of the stream, runs; of a default
/// stream that is the current context's. All of the device's but in a green
/// context.
unsigned smsOf(const CUctx_st *context);
unsigned smsOf(const CUstream_st *stream);
/// SMs of the current context, or of the device if none is current.
unsigned currentSms();

CUgreenCtx_st *createGreenContext(unsigned sms);
bool isGreenContext(const CUgreenCtx_st *context);
void destroyGreenContext(CUgreenCtx_st *context);

/// Keeps the descriptor: the interface has no way to free one.
CUdevResourceDesc_st *keepDescriptor(unsigned sms);
bool isDescriptor(const CUdevResourceDesc_st *descriptor);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_GREENCONTEXTS_H
