//===- ApiCopies.cpp - copies, fills and symbols --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::cudart;

namespace {

/// Which side of a copy a pointer is on.
enum class Side : uint8_t { Any, Host, Device };

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

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

/// The bytes behind a pointer; null after a message if they cannot be used.
uint8_t *bytesAt(const void *pointer, uint64_t size, Side side,
                 const char *what) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  AddressSpace &memory = Runtime::get().memory;
  const Allocation *one = memory.find(address);
  if (!one) {
    if (side != Side::Device && !memory.isReserved(address) && pointer)
      return static_cast<uint8_t *>(const_cast<void *>(pointer));
    say(std::string(what) + " " + hex(address) +
        " is no device memory: nothing is allocated there");
    return nullptr;
  }
  if (side == Side::Host && one->kind == MemoryKind::Device) {
    say(std::string(what) + " " + hex(address) +
        " is device memory where the kind of the copy says host memory");
    return nullptr;
  }
  uint64_t offset = address - one->address;
  if (size > one->size - offset) {
    say(std::string(what) + " " + hex(address) + ": " + std::to_string(size) +
        " bytes from byte " + std::to_string(offset) + " of an allocation of " +
        std::to_string(one->size) + " bytes");
    return nullptr;
  }
  return one->data + offset;
}

/// Bytes from the first to the last of a rectangle; nothing if its rows overlap
/// or it is too large.
std::optional<uint64_t> extent(size_t pitch, size_t width, size_t height) {
  if (!width || !height)
    return 0;
  if (width > pitch ||
      (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)))
    return std::nullopt;
  return pitch * (height - 1) + width;
}

cudaError_t copyRows(void *destination, size_t destinationPitch,
                     const void *source, size_t sourcePitch, size_t width,
                     size_t height, cudaMemcpyKind kind) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (runtime.sticky != cudaSuccess)
    return note(runtime.sticky);
  std::optional<Sides> sides = sidesOf(kind);
  if (!sides)
    return note(cudaErrorInvalidMemcpyDirection);
  auto toBytes = extent(destinationPitch, width, height);
  auto fromBytes = extent(sourcePitch, width, height);
  if (!toBytes || !fromBytes)
    return note(cudaErrorInvalidPitchValue);
  if (!*toBytes)
    return cudaSuccess;
  uint8_t *to =
      bytesAt(destination, *toBytes, sides->destination, "copy: destination");
  const uint8_t *from =
      bytesAt(source, *fromBytes, sides->source, "copy: source");
  if (!to || !from)
    return note(cudaErrorInvalidValue);
  for (size_t row = 0; row != height; ++row)
    std::memmove(to + row * destinationPitch, from + row * sourcePitch, width);
  return cudaSuccess;
}

cudaError_t fillRows(void *pointer, size_t pitch, int value, size_t width,
                     size_t height) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (runtime.sticky != cudaSuccess)
    return note(runtime.sticky);
  auto bytes = extent(pitch, width, height);
  if (!bytes)
    return note(cudaErrorInvalidPitchValue);
  if (!*bytes)
    return cudaSuccess;
  uint8_t *to = bytesAt(pointer, *bytes, Side::Device, "memset: destination");
  if (!to)
    return note(cudaErrorInvalidValue);
  for (size_t row = 0; row != height; ++row)
    std::memset(to + row * pitch, value, width);
  return cudaSuccess;
}

/// The device address of byte `offset` of a variable.
cudaError_t addressOf(const void *symbol, size_t size, size_t offset,
                      void *&pointer) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  VariableEntry *entry = runtime.findVariable(symbol);
  if (!entry)
    return cudaErrorInvalidSymbol;
  if (offset > entry->size || size > entry->size - offset) {
    say("variable '" + readable(entry->name) + "' has " +
        std::to_string(entry->size) + " bytes, a copy wants " +
        std::to_string(size) + " from byte " + std::to_string(offset));
    return cudaErrorInvalidValue;
  }
  const Allocation *allocation = nullptr;
  uint64_t at = 0;
  if (cudaError_t error = runtime.locate(*entry, allocation, at);
      error != cudaSuccess)
    return error;
  pointer = reinterpret_cast<void *>(allocation->address + at + offset);
  return cudaSuccess;
}

} // namespace

BLOCKSCALE_API cudaError_t cudaMemcpy(void *destination, const void *source,
                                      size_t size, cudaMemcpyKind kind) {
  return copyRows(destination, size, source, size, size, 1, kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpyAsync(void *destination,
                                           const void *source, size_t size,
                                           cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return doOrKeep(stream,
                  [=] { return cudaMemcpy(destination, source, size, kind); });
}

BLOCKSCALE_API cudaError_t cudaMemcpy2D(void *destination,
                                        size_t destinationPitch,
                                        const void *source, size_t sourcePitch,
                                        size_t width, size_t height,
                                        cudaMemcpyKind kind) {
  return copyRows(destination, destinationPitch, source, sourcePitch, width,
                  height, kind);
}

BLOCKSCALE_API cudaError_t cudaMemcpy2DAsync(void *destination,
                                             size_t destinationPitch,
                                             const void *source,
                                             size_t sourcePitch, size_t width,
                                             size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
  return doOrKeep(stream, [=] {
    return copyRows(destination, destinationPitch, source, sourcePitch, width,
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
  return fillRows(pointer, size, value, size, 1);
}

BLOCKSCALE_API cudaError_t cudaMemsetAsync(void *pointer, int value,
                                           size_t size, cudaStream_t stream) {
  return doOrKeep(stream, [=] { return cudaMemset(pointer, value, size); });
}

BLOCKSCALE_API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value,
                                        size_t width, size_t height) {
  return fillRows(pointer, pitch, value, width, height);
}

BLOCKSCALE_API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch,
                                             int value, size_t width,
                                             size_t height,
                                             cudaStream_t stream) {
  return doOrKeep(
      stream, [=] { return fillRows(pointer, pitch, value, width, height); });
}

BLOCKSCALE_API cudaError_t cudaMemcpyToSymbol(const void *symbol,
                                              const void *source, size_t size,
                                              size_t offset,
                                              cudaMemcpyKind kind) {
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
  return doOrKeep(stream, [=] {
    return cudaMemcpyToSymbol(symbol, source, size, offset, kind);
  });
}

BLOCKSCALE_API cudaError_t cudaMemcpyFromSymbol(void *destination,
                                                const void *symbol, size_t size,
                                                size_t offset,
                                                cudaMemcpyKind kind) {
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
  return doOrKeep(stream, [=] {
    return cudaMemcpyFromSymbol(destination, symbol, size, offset, kind);
  });
}

BLOCKSCALE_API cudaError_t cudaGetSymbolAddress(void **pointer,
                                                const void *symbol) {
  if (!pointer)
    return note(cudaErrorInvalidValue);
  return note(addressOf(symbol, 0, 0, *pointer));
}

BLOCKSCALE_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  VariableEntry *entry = runtime.findVariable(symbol);
  if (!size || !entry)
    return note(cudaErrorInvalidSymbol);
  *size = entry->size;
  return cudaSuccess;
}
