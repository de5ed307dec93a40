//===- ApiCopies.cpp - copies and fills -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "Driver.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// A single row as a box.
CUDA_MEMCPY3D lineBox(const void *to, CUmemorytype toType, const void *from,
                      CUmemorytype fromType, size_t size) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = fromType;
  box.srcHost = from;
  box.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  box.dstMemoryType = toType;
  box.dstHost = const_cast<void *>(to);
  box.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  box.WidthInBytes = size;
  box.Height = box.Depth = 1;
  return box;
}

CUDA_MEMCPY3D toBox(const CUDA_MEMCPY2D &p) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = p.srcXInBytes;
  box.srcY = p.srcY;
  box.srcMemoryType = p.srcMemoryType;
  box.srcHost = p.srcHost;
  box.srcDevice = p.srcDevice;
  box.srcPitch = p.srcPitch;
  box.dstXInBytes = p.dstXInBytes;
  box.dstY = p.dstY;
  box.dstMemoryType = p.dstMemoryType;
  box.dstHost = p.dstHost;
  box.dstDevice = p.dstDevice;
  box.dstPitch = p.dstPitch;
  box.WidthInBytes = p.WidthInBytes;
  box.Height = p.Height;
  box.Depth = 1;
  return box;
}

/// Copies the box, or keeps it if the stream is being captured.
CUresult copyLater(CUstream stream, const CUDA_MEMCPY3D &box) {
  return withContext([&] {
    if (cudaError_t error = checkStream(stream); error != cudaSuccess)
      return error;
    if (captureOf(stream))
      return keep(stream, CU_GRAPH_NODE_TYPE_MEMCPY, box);
    return copyBox(box);
  });
}

CUresult copyLine(CUstream stream, CUdeviceptr to, CUmemorytype toType,
                  CUdeviceptr from, CUmemorytype fromType, size_t size) {
  return copyLater(stream,
                   lineBox(reinterpret_cast<void *>(to), toType,
                           reinterpret_cast<void *>(from), fromType, size));
}

CUresult fillLater(CUstream stream, CUdeviceptr to, size_t pitch,
                   unsigned value, unsigned elementSize, size_t width,
                   size_t height) {
  return withContext([&] {
    CUDA_MEMSET_NODE_PARAMS fill{to, pitch, value, elementSize, width, height};
    if (cudaError_t error = checkStream(stream); error != cudaSuccess)
      return error;
    if (captureOf(stream))
      return keep(stream, CU_GRAPH_NODE_TYPE_MEMSET, fill);
    return fillBox(fill);
  });
}

CUdeviceptr address(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

constexpr auto kDevice = CU_MEMORYTYPE_DEVICE, kUnified = CU_MEMORYTYPE_UNIFIED;

} // namespace

BLOCKSCALE_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from,
                                      size_t size, CUstream stream) {
  return copyLine(stream, to, kUnified, from, kUnified, size);
}

BLOCKSCALE_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from,
                                          size_t size, CUstream stream) {
  return copyLine(stream, to, kDevice, address(from), kUnified, size);
}

BLOCKSCALE_API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from,
                                          size_t size, CUstream stream) {
  return copyLine(stream, address(to), kUnified, from, kDevice, size);
}

BLOCKSCALE_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                                          size_t size, CUstream stream) {
  return copyLine(stream, to, kDevice, from, kDevice, size);
}

BLOCKSCALE_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from,
                                 size_t size) {
  return cuMemcpyAsync(to, from, size, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from,
                                     size_t size) {
  return cuMemcpyHtoDAsync(to, from, size, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
  return cuMemcpyDtoHAsync(to, from, size, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from,
                                     size_t size) {
  return cuMemcpyDtoDAsync(to, from, size, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext,
                                          CUdeviceptr from, CUcontext,
                                          size_t size, CUstream stream) {
  return cuMemcpyDtoDAsync(to, from, size, stream);
}

BLOCKSCALE_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext toContext,
                                     CUdeviceptr from, CUcontext fromContext,
                                     size_t size) {
  return cuMemcpyPeerAsync(to, toContext, from, fromContext, size, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *parameters,
                                        CUstream stream) {
  return parameters ? copyLater(stream, toBox(*parameters))
                    : CUDA_ERROR_INVALID_VALUE;
}

BLOCKSCALE_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *parameters) {
  return cuMemcpy2DAsync(parameters, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *parameters) {
  return cuMemcpy2DAsync(parameters, nullptr);
}

BLOCKSCALE_API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *parameters,
                                        CUstream stream) {
  return parameters ? copyLater(stream, *parameters) : CUDA_ERROR_INVALID_VALUE;
}

BLOCKSCALE_API CUresult cuMemcpy3D(const CUDA_MEMCPY3D *parameters) {
  return cuMemcpy3DAsync(parameters, nullptr);
}

namespace {

/// Whether the attributes hold for all copies of a batch: each from its index
/// on, the first one from the start.
bool areForAll(const CUmemcpyAttributes *attributes, const size_t *indices,
               size_t attributeCount, size_t count) {
  if (!attributes || !indices || !attributeCount || attributeCount > count)
    return false;
  for (size_t i = 0; i != attributeCount; ++i) {
    bool isNext = i ? indices[i] > indices[i - 1] : indices[i] == 0;
    CUmemcpySrcAccessOrder order = attributes[i].srcAccessOrder;
    if (!isNext || indices[i] >= count ||
        order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY ||
        attributes[i].flags &
            ~unsigned(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE))
      return false;
  }
  return true;
}

} // namespace

BLOCKSCALE_API CUresult
cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes,
                      size_t count, CUmemcpyAttributes *attributes,
                      size_t *indices, size_t attributeCount, CUstream stream) {
  // The default stream has none.
  if (!to || !from || !sizes || !count || !stream ||
      stream == CU_STREAM_LEGACY ||
      !areForAll(attributes, indices, attributeCount, count))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i != count; ++i)
    if (CUresult error = cuMemcpyAsync(to[i], from[i], sizes[i], stream);
        error != CUDA_SUCCESS)
      return error;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                        size_t count, CUstream stream) {
  return fillLater(stream, to, 0, value, 1, count, 1);
}

BLOCKSCALE_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value,
                                         size_t count, CUstream stream) {
  return fillLater(stream, to, 0, value, 2, count, 1);
}

BLOCKSCALE_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value,
                                         size_t count, CUstream stream) {
  return fillLater(stream, to, 0, value, 4, count, 1);
}

BLOCKSCALE_API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value,
                                   size_t count) {
  return cuMemsetD8Async(to, value, count, nullptr);
}

BLOCKSCALE_API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value,
                                    size_t count) {
  return cuMemsetD16Async(to, value, count, nullptr);
}

BLOCKSCALE_API CUresult cuMemsetD32(CUdeviceptr to, unsigned value,
                                    size_t count) {
  return cuMemsetD32Async(to, value, count, nullptr);
}

BLOCKSCALE_API CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch,
                                          unsigned char value, size_t width,
                                          size_t height, CUstream stream) {
  return fillLater(stream, to, pitch, value, 1, width, height);
}

BLOCKSCALE_API CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch,
                                           unsigned short value, size_t width,
                                           size_t height, CUstream stream) {
  return fillLater(stream, to, pitch, value, 2, width, height);
}

BLOCKSCALE_API CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch,
                                           unsigned value, size_t width,
                                           size_t height, CUstream stream) {
  return fillLater(stream, to, pitch, value, 4, width, height);
}

BLOCKSCALE_API CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch,
                                     unsigned char value, size_t width,
                                     size_t height) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}

BLOCKSCALE_API CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch,
                                      unsigned short value, size_t width,
                                      size_t height) {
  return cuMemsetD2D16Async(to, pitch, value, width, height, nullptr);
}

BLOCKSCALE_API CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch,
                                      unsigned value, size_t width,
                                      size_t height) {
  return cuMemsetD2D32Async(to, pitch, value, width, height, nullptr);
}
