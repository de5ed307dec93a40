//===- Contexts.h - contexts and what is current ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context is a token: there is one device, and all memory is one space. What
// a context owns goes with it, and handles of a destroyed one are stale.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_CONTEXTS_H
#define BLOCKSCALE_LIB_CUDACORE_CONTEXTS_H

#include "Core.h"

struct CUctx_st {
  bool primary = false;
  unsigned flags = 0;
  unsigned long long id = 0;
  /// The green context that it was made for, and its SMs (GreenContexts.h).
  CUgreenCtx_st *green = nullptr;
  unsigned sms = 0;
};

namespace blockscale::cuda {

/// Whether the program has called cuInit, or the runtime, which does so.
bool &isInitialised();

/// The device's own context, which the runtime uses.
CUctx_st *primaryContext();
bool isContext(const CUctx_st *context);

/// What is current in this thread; null if nothing is.
CUctx_st *currentContext();
/// Whose memory, modules and events those of the current context are: of a
/// green context the primary one's.
CUctx_st *currentOwner();
/// Replaces what is current; null leaves what lies below it on the stack.
void setCurrent(CUctx_st *context);
void pushContext(CUctx_st *context);
/// Null if the stack is empty.
CUctx_st *popContext();

/// The runtime's way: the primary context is current unless another one is.
void useAnyContext();

CUctx_st *createContext(unsigned flags);
/// Frees what the context owns, and the context unless it is the primary one.
void destroyContext(CUctx_st *context);

/// Ends one whose memory and modules are not its own.
void endContext(CUctx_st *context);

/// How often the primary context was retained and not released.
unsigned &primaryUsers();

/// Flags that a context may have: of kinds of waiting at most one.
bool areContextFlags(unsigned flags);

/// What was asked for last; the emulator has no such cache.
CUfunc_cache &cacheConfig();

/// The size of one of the device's pools; none of them binds the emulator.
/// Sizes are rounded as the device has them.
cudaError_t setLimit(CUlimit limit, size_t value);
cudaError_t getLimit(CUlimit limit, size_t &value);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_CONTEXTS_H
