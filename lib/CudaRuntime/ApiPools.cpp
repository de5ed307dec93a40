//===- ApiPools.cpp - the device's own memory pool ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory comes straight from the device, so that a pool has nothing but its
// attributes.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <map>

using namespace blockscale::cudart;

struct CUmemPoolHandle_st {
  /// 64 bits, or an int in them.
  std::map<cudaMemPoolAttr, uint64_t> attributes;
};

namespace {

CUmemPoolHandle_st *pool() {
  static CUmemPoolHandle_st *one = new CUmemPoolHandle_st;
  return one;
}

std::lock_guard<std::recursive_mutex> locked() {
  return std::lock_guard<std::recursive_mutex>(Runtime::get().lock);
}

/// Whether the attribute is an int: one of the three kinds of reuse.
bool isInt(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

/// Of the others only the threshold may be set.
bool isSettable(cudaMemPoolAttr attribute) {
  return isInt(attribute) || attribute == cudaMemPoolAttrReleaseThreshold;
}

} // namespace

BLOCKSCALE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *result,
                                                       int ordinal) {
  if (!result)
    return note(cudaErrorInvalidValue);
  *result = pool();
  return note(ordinal ? cudaErrorInvalidDevice : cudaSuccess);
}

BLOCKSCALE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *result,
                                                int ordinal) {
  return cudaDeviceGetDefaultMemPool(result, ordinal);
}

BLOCKSCALE_API cudaError_t cudaDeviceSetMemPool(int ordinal,
                                                cudaMemPool_t which) {
  if (ordinal)
    return note(cudaErrorInvalidDevice);
  return note(which == pool() ? cudaSuccess : cudaErrorInvalidValue);
}

BLOCKSCALE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t which,
                                                   cudaMemPoolAttr attribute,
                                                   void *value) {
  auto guard = locked();
  if (which != pool() || !value || !isSettable(attribute))
    return note(cudaErrorInvalidValue);
  pool()->attributes[attribute] = isInt(attribute)
                                      ? uint64_t(*static_cast<int *>(value))
                                      : *static_cast<uint64_t *>(value);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t which,
                                                   cudaMemPoolAttr attribute,
                                                   void *value) {
  auto guard = locked();
  if (which != pool() || !value)
    return note(cudaErrorInvalidValue);
  // Reuse of all kinds is on unless it was switched off; what is in use is
  // freed at once and reserved by nobody.
  auto it = pool()->attributes.find(attribute);
  uint64_t now = it == pool()->attributes.end() ? isInt(attribute) : it->second;
  if (isInt(attribute))
    *static_cast<int *>(value) = int(now);
  else
    *static_cast<uint64_t *>(value) = now;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t which, size_t) {
  return note(which == pool() ? cudaSuccess : cudaErrorInvalidValue);
}
