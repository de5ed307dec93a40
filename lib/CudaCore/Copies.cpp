//===- Copies.cpp - copies and fills --------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"

#include <cstring>
#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

/// The bytes behind a pointer; null after a message if they cannot be used.
uint8_t *bytesAt(const void *pointer, uint64_t size, Side side,
                 const char *what) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  AddressSpace &memory = Core::get().memory;
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

/// One side of a box: where its first byte is.
struct BoxSide {
  uint64_t address = 0;
  size_t pitch = 0, height = 0;
  Side side = Side::Any;
};

/// Nothing for an array or a kind of memory that does not exist.
std::optional<BoxSide> sideOf(CUmemorytype type, const void *host,
                              CUdeviceptr device, size_t pitch, size_t height,
                              const CUDA_MEMCPY3D &box, size_t x, size_t y,
                              size_t z) {
  BoxSide result;
  result.pitch = pitch ? pitch : box.WidthInBytes;
  result.height = height ? height : box.Height;
  switch (type) {
  case CU_MEMORYTYPE_HOST:
    result.address = reinterpret_cast<uint64_t>(host);
    result.side = Side::Host;
    break;
  case CU_MEMORYTYPE_DEVICE:
    result.address = device;
    result.side = Side::Device;
    break;
  case CU_MEMORYTYPE_UNIFIED:
    result.address = device;
    break;
  default:
    return std::nullopt;
  }
  result.address += x + result.pitch * (y + result.height * z);
  return result;
}

/// Whether rows that lie `pitch` bytes apart and planes of `height` rows hold
/// the box from `x`; 0 is as much as the box has.
bool holdsBox(const CUDA_MEMCPY3D &box, size_t x, size_t pitch, size_t height) {
  bool wide = !pitch || (x <= pitch && box.WidthInBytes <= pitch - x);
  bool high = !height || box.Depth <= 1 || box.Height <= height;
  return wide && high;
}

bool isMemoryType(CUmemorytype type) {
  return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED;
}

Rows slice(const BoxSide &side, size_t z) {
  return {reinterpret_cast<void *>(side.address + side.pitch * side.height * z),
          side.pitch, side.side};
}

} // namespace

cudaError_t cuda::copyRows(const Rows &to, const Rows &from, size_t width,
                           size_t height) {
  if (Core::get().sticky != cudaSuccess)
    return Core::get().sticky;
  auto toBytes = extent(to.pitch, width, height);
  auto fromBytes = extent(from.pitch, width, height);
  if (!toBytes || !fromBytes)
    return cudaErrorInvalidPitchValue;
  if (!*toBytes)
    return cudaSuccess;
  uint8_t *target = bytesAt(to.pointer, *toBytes, to.side, "copy: destination");
  const uint8_t *source =
      bytesAt(from.pointer, *fromBytes, from.side, "copy: source");
  if (!target || !source)
    return cudaErrorInvalidValue;
  for (size_t row = 0; row != height; ++row)
    std::memmove(target + row * to.pitch, source + row * from.pitch, width);
  return cudaSuccess;
}

cudaError_t cuda::fillRows(void *to, size_t pitch, unsigned value,
                           unsigned elementSize, size_t width, size_t height) {
  if (Core::get().sticky != cudaSuccess)
    return Core::get().sticky;
  if (elementSize != 1 && elementSize != 2 && elementSize != 4)
    return cudaErrorInvalidValue;
  if (width > SIZE_MAX / elementSize ||
      reinterpret_cast<uint64_t>(to) % elementSize)
    return cudaErrorInvalidValue;
  auto bytes = extent(pitch, width * elementSize, height);
  if (!bytes || (height > 1 && pitch % elementSize))
    return cudaErrorInvalidValue;
  if (!*bytes)
    return cudaSuccess;
  uint8_t *target = bytesAt(to, *bytes, Side::Device, "memset: destination");
  if (!target)
    return cudaErrorInvalidValue;
  for (size_t row = 0; row != height; ++row, target += pitch)
    if (elementSize == 1)
      std::memset(target, int(value), width);
    else
      for (size_t i = 0; i != width; ++i)
        std::memcpy(target + i * elementSize, &value, elementSize);
  return cudaSuccess;
}

cudaError_t cuda::copyBox(const CUDA_MEMCPY3D &box) {
  if (!isMemoryType(box.srcMemoryType) || !isMemoryType(box.dstMemoryType) ||
      !holdsBox(box, box.srcXInBytes, box.srcPitch, box.srcHeight) ||
      !holdsBox(box, box.dstXInBytes, box.dstPitch, box.dstHeight))
    return cudaErrorInvalidValue;
  auto from =
      sideOf(box.srcMemoryType, box.srcHost, box.srcDevice, box.srcPitch,
             box.srcHeight, box, box.srcXInBytes, box.srcY, box.srcZ);
  auto to = sideOf(box.dstMemoryType, box.dstHost, box.dstDevice, box.dstPitch,
                   box.dstHeight, box, box.dstXInBytes, box.dstY, box.dstZ);
  if (!from || !to) {
    sayOnce("copies from and to CUDA arrays are not supported");
    return cudaErrorNotSupported;
  }
  for (size_t z = 0; z != box.Depth; ++z)
    if (cudaError_t error = copyRows(slice(*to, z), slice(*from, z),
                                     box.WidthInBytes, box.Height);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

cudaError_t cuda::fillBox(const CUDA_MEMSET_NODE_PARAMS &fill) {
  // A single row needs no pitch.
  size_t pitch = fill.height > 1 ? fill.pitch : fill.width * fill.elementSize;
  return fillRows(reinterpret_cast<void *>(fill.dst), pitch, fill.value,
                  fill.elementSize, fill.width, fill.height);
}
