//===- ApiCopies.cpp - copies, fills and symbols --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "Runtime.h"
#include "Streams.h"

#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct Sides {
  Side destination, source;
};

std::optional<Sides> sidesOf(cudaMemcpyKind kind) {
  switch (kind) {
  case cudaMemcpyHostToHost:
    return Sides{Side::Host, Side::Host};
  case cudaMemcpyHostToDevice:
    return Sides{Side::Device, Side::Host};
  case cudaMemcpyDeviceToHost:
    return Sides{Side::Host, Side::Device};
  case cudaMemcpyDeviceToDevice:
    return Sides{Side::Device, Side::Device};
  case cudaMemcpyDefault:
    return Sides{Side::Any, Side::Any};
  }
  return std::nullopt;
}

cudaError_t copy(void *to, size_t toPitch, const void *from, size_t fromPitch,
                 size_t width, size_t height, cudaMemcpyKind kind) {
  return call([&] {
    if (Core::get().sticky != cudaSuccess)
      return Core::get().sticky;
    std::optional<Sides> sides = sidesOf(kind);
    if (!sides)
      return cudaErrorInvalidMemcpyDirection;
    return copyRows({to, toPitch, sides->destination},
                    {from, fromPitch, sides->source}, width, height);
  });
}

cudaError_t fill(void *pointer, size_t pitch, int value, size_t width,
                 size_t height) {
  return call([&] {
    return fillRows(pointer, pitch, unsigned(value) & 0xFF, 1, width, height);
  });
}

/// Now, or in each launch of the graph that captures the stream.
cudaError_t later(cudaStream_t stream, const std::function<cudaError_t()> &work,
                  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_MEMCPY) {
  return call([&] { return doOrKeep(stream, work, type); });
}

/// The device address of byte `offset` of a variable.
cudaError_t addressOf(const void *symbol, size_t size, size_t offset,
                      void *&pointer) {
  VariableEntry *entry = variableFor(symbol);
  if (!entry)
    return cudaErrorInvalidSymbol;
  if (offset > entry->size || size > entry->size - offset) {
    say("variable '" + readableName(entry->name) + "' has " +
        std::to_string(entry->size) + " bytes, a copy wants " +
        std::to_string(size) + " from byte " + std::to_string(offset));
    return cudaErrorInvalidValue;
  }
  uint64_t address = 0, bytes = 0;
  if (cudaError_t error = locate(*entry->module, entry->name, address, bytes);
      error != cudaSuccess)
    return error;
  pointer = reinterpret_cast<void *>(address + offset);
  return cudaSuccess;
}

} // namespace

BLOCKSCALE_API cudaError_t cudaMemcpy(void *destination, const void *source,
                                      size_t size, cudaMemcpyKind kind) {
  return copy(destination, size, source, size, size, 1, kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpyAsync(void *destination,
                                           const void *source, size_t size,
                                           cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return later(stream,
               [=] { return cudaMemcpy(destination, source, size, kind); });
}

BLOCKSCALE_API cudaError_t cudaMemcpy2D(void *destination,
                                        size_t destinationPitch,
                                        const void *source, size_t sourcePitch,
                                        size_t width, size_t height,
                                        cudaMemcpyKind kind) {
  return copy(destination, destinationPitch, source, sourcePitch, width, height,
              kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpy2DAsync(void *destination,
                                             size_t destinationPitch,
                                             const void *source,
                                             size_t sourcePitch, size_t width,
                                             size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
  return later(stream, [=] {
    return copy(destination, destinationPitch, source, sourcePitch, width,
                height, kind);
  });
}

BLOCKSCALE_API cudaError_t cudaMemcpyPeer(void *destination,
                                          int destinationDevice,
                                          const void *source, int sourceDevice,
                                          size_t size) {
  if (destinationDevice || sourceDevice)
    return note(cudaErrorInvalidDevice);
  return cudaMemcpy(destination, source, size, cudaMemcpyDeviceToDevice);
}

BLOCKSCALE_API cudaError_t cudaMemset(void *pointer, int value, size_t size) {
  return fill(pointer, size, value, size, 1);
}

BLOCKSCALE_API cudaError_t cudaMemsetAsync(void *pointer, int value,
                                           size_t size, cudaStream_t stream) {
  return later(
      stream, [=] { return cudaMemset(pointer, value, size); },
      CU_GRAPH_NODE_TYPE_MEMSET);
}

BLOCKSCALE_API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value,
                                        size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height);
}

BLOCKSCALE_API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch,
                                             int value, size_t width,
                                             size_t height,
                                             cudaStream_t stream) {
  return later(
      stream, [=] { return fill(pointer, pitch, value, width, height); },
      CU_GRAPH_NODE_TYPE_MEMSET);
}

BLOCKSCALE_API cudaError_t cudaMemcpyToSymbol(const void *symbol,
                                              const void *source, size_t size,
                                              size_t offset,
                                              cudaMemcpyKind kind) {
  auto guard = locked();
  void *pointer = nullptr;
  if (cudaError_t error = addressOf(symbol, size, offset, pointer);
      error != cudaSuccess)
    return note(error);
  return cudaMemcpy(pointer, source, size, kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol,
                                                   const void *source,
                                                   size_t size, size_t offset,
                                                   cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
  return later(stream, [=] {
    return cudaMemcpyToSymbol(symbol, source, size, offset, kind);
  });
}

BLOCKSCALE_API cudaError_t cudaMemcpyFromSymbol(void *destination,
                                                const void *symbol, size_t size,
                                                size_t offset,
                                                cudaMemcpyKind kind) {
  auto guard = locked();
  void *pointer = nullptr;
  if (cudaError_t error = addressOf(symbol, size, offset, pointer);
      error != cudaSuccess)
    return note(error);
  return cudaMemcpy(destination, pointer, size, kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpyFromSymbolAsync(void *destination,
                                                     const void *symbol,
                                                     size_t size, size_t offset,
                                                     cudaMemcpyKind kind,
                                                     cudaStream_t stream) {
  return later(stream, [=] {
    return cudaMemcpyFromSymbol(destination, symbol, size, offset, kind);
  });
}

BLOCKSCALE_API cudaError_t cudaGetSymbolAddress(void **pointer,
                                                const void *symbol) {
  if (!pointer)
    return note(cudaErrorInvalidValue);
  return call([&] { return addressOf(symbol, 0, 0, *pointer); });
}

BLOCKSCALE_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
  auto guard = locked();
  VariableEntry *entry = variableFor(symbol);
  if (!size || !entry)
    return note(cudaErrorInvalidSymbol);
  *size = entry->size;
  return cudaSuccess;
}
