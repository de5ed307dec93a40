//===- ApiCopies3D.cpp - boxes of pitched memory --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each slice of a box is a rectangle. Arrays are refused.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Slice `z` of memory whose slices have `ysize` rows.
char *slice(const cudaPitchedPtr &memory, const cudaPos &at, size_t z) {
  return static_cast<char *>(memory.ptr) + at.x +
         (at.y + (at.z + z) * memory.ysize) * memory.pitch;
}

cudaError_t copyBox(const cudaMemcpy3DParms &p) {
  for (size_t z = 0; z != p.extent.depth; ++z)
    if (cudaError_t error =
            cudaMemcpy2D(slice(p.dstPtr, p.dstPos, z), p.dstPtr.pitch,
                         slice(p.srcPtr, p.srcPos, z), p.srcPtr.pitch,
                         p.extent.width, p.extent.height, p.kind);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

} // namespace

BLOCKSCALE_API cudaError_t cudaMalloc3D(cudaPitchedPtr *memory,
                                        cudaExtent extent) {
  if (!memory || (extent.depth && extent.height > SIZE_MAX / extent.depth))
    return note(cudaErrorInvalidValue);
  void *pointer = nullptr;
  size_t pitch = 0;
  if (cudaError_t error = cudaMallocPitch(&pointer, &pitch, extent.width,
                                          extent.height * extent.depth);
      error != cudaSuccess)
    return error;
  *memory = {pointer, pitch, extent.width, extent.height};
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t
cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters, cudaStream_t stream) {
  if (!parameters)
    return note(cudaErrorInvalidValue);
  if (parameters->srcArray || parameters->dstArray) {
    say("cudaMemcpy3D: CUDA arrays are not supported");
    return note(cudaErrorNotSupported);
  }
  return call([&] {
    return doOrKeep(stream, [p = *parameters] { return copyBox(p); });
  });
}

BLOCKSCALE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters) {
  return cudaMemcpy3DAsync(parameters, nullptr);
}

BLOCKSCALE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value,
                                             cudaExtent extent,
                                             cudaStream_t stream) {
  auto work = [=] {
    for (size_t z = 0; z != extent.depth; ++z)
      if (cudaError_t error = cudaMemset2D(slice(memory, {}, z), memory.pitch,
                                           value, extent.width, extent.height);
          error != cudaSuccess)
        return error;
    return cudaSuccess;
  };
  return call(
      [&] { return doOrKeep(stream, work, CU_GRAPH_NODE_TYPE_MEMSET); });
}

BLOCKSCALE_API cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value,
                                        cudaExtent extent) {
  return cudaMemset3DAsync(memory, value, extent, nullptr);
}

/// A C function that returns a structure, as the headers declare it.
BLOCKSCALE_API cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
