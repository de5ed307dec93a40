//===- TensorMaps.cpp - encoders of tensor maps ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps are encoded as the emulator keeps them. No context is needed. Which
// parameters the driver takes on an H100 was measured (test/Hardware): it does
// not look at the alignment of the map itself, looks at all element strides,
// and wants an array of strides for rank 1 too.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Driver.h"
#include "blockscale/Emulator/TensorMapBytes.h"

#include <cstring>
#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

CUresult refuse(const char *function, const std::string &reason) {
  say(std::string(function) + ": " + reason);
  return CUDA_ERROR_INVALID_VALUE;
}

/// Types of packed elements and swizzles with other atoms came with sm_100.
std::optional<std::string> tooNew(CUtensorMapDataType type,
                                  CUtensorMapSwizzle swizzle) {
  if (Core::get().device.capabilityMajor() >= 10)
    return std::nullopt;
  if (type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)
    return "data type code " + std::to_string(int(type)) +
           " needs a device of compute capability 10";
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    return "swizzle code " + std::to_string(int(swizzle)) +
           " needs a device of compute capability 10";
  return std::nullopt;
}

/// A box has at most the bytes of an SM's shared memory, those of gaps between
/// swizzled rows not counted.
std::optional<std::string> tooLarge(const emulator::TensorMap &map) {
  uint64_t bytes = emulator::boxBytes(map);
  uint64_t most = Core::get().device.chip().sharedMemoryPerSm;
  if (bytes <= most)
    return std::nullopt;
  return "the box has " + std::to_string(bytes) + " bytes, more than the " +
         std::to_string(most) + " of an SM's shared memory";
}

/// What the encoders share; the reason if something is illegal.
std::optional<std::string>
fillMap(emulator::TensorMap &map, const CUtensorMap *result,
        CUtensorMapDataType type, cuuint32_t rank, void *address,
        const cuuint64_t *dims, const cuuint64_t *strides,
        const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
        CUtensorMapFloatOOBfill fill) {
  if (!result)
    return "the tensor map is null";
  if (rank == 0 || rank > 5)
    return "rank is " + std::to_string(rank) + ", must be in 1..5";
  // A null address is legal: programs encode templates whose address a kernel
  // sets by tensormap.replace.
  if (!dims || !elementStrides || !strides)
    return std::string("an array is null");
  if (unsigned(swizzle) > unsigned(emulator::Swizzle::B128Atom64))
    return "swizzle code " + std::to_string(int(swizzle)) + " does not exist";
  if (unsigned(interleave) > unsigned(emulator::Interleave::B32))
    return "interleave code " + std::to_string(int(interleave)) +
           " does not exist";
  if (unsigned(promotion) > 3)
    return "L2 promotion code " + std::to_string(int(promotion)) +
           " does not exist";
  if (unsigned(fill) > 1)
    return "fill code " + std::to_string(int(fill)) + " does not exist";
  if (auto reason = tooNew(type, swizzle))
    return reason;
  if (elementStrides[0] == 0 || elementStrides[0] > 8)
    return "elementStrides[0] is " + std::to_string(elementStrides[0]) +
           ", must be in 1..8";
  map.type = emulator::TensorMapType(type);
  map.rank = rank;
  map.globalAddress = reinterpret_cast<uint64_t>(address);
  for (unsigned i = 0; i != rank; ++i) {
    map.globalDim[i] = dims[i];
    map.elementStrides[i] = elementStrides[i];
    if (i + 1 != rank)
      map.globalStrides[i] = strides[i];
  }
  map.interleave = emulator::Interleave(interleave);
  // The inner one is used by pixels of interleaved tensors alone.
  if (map.interleave == emulator::Interleave::None)
    map.elementStrides[0] = 1;
  map.swizzle = emulator::Swizzle(swizzle);
  map.l2Promotion = unsigned(promotion);
  map.oobFill = emulator::OobFill(fill);
  return std::nullopt;
}

/// Checks and encodes a map of one of the im2col modes whose corners are set.
CUresult finishIm2col(const char *name, emulator::TensorMap &map,
                      cuuint32_t channels, cuuint32_t pixels,
                      CUtensorMap *result) {
  map.boxDim.fill(1);
  map.boxDim[0] = channels;
  map.pixels = pixels;
  if (auto reason = emulator::whyNot(map))
    return refuse(name, *reason);
  emulator::encodeTensorMap(map, reinterpret_cast<uint8_t *>(result));
  return CUDA_SUCCESS;
}

} // namespace

BLOCKSCALE_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides,
    const cuuint32_t *box, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr char kName[] = "cuTensorMapEncodeTiled";
  emulator::TensorMap map;
  if (auto reason =
          fillMap(map, result, type, rank, address, dims, strides,
                  elementStrides, interleave, swizzle, promotion, fill))
    return refuse(kName, *reason);
  if (!box)
    return refuse(kName, "an array is null");
  std::copy(box, box + rank, map.boxDim.begin());
  if (auto reason = emulator::whyNot(map))
    return refuse(kName, *reason);
  if (auto reason = tooLarge(map))
    return refuse(kName, *reason);
  emulator::encodeTensorMap(map, reinterpret_cast<uint8_t *>(result));
  return CUDA_SUCCESS;
}

/// The corners are in the order of the dimensions, W first, as CUTLASS passes
/// them; the comment of cuda.h names D first.
BLOCKSCALE_API CUresult cuTensorMapEncodeIm2col(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides,
    const int *lower, const int *upper, cuuint32_t channels, cuuint32_t pixels,
    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
  constexpr char kName[] = "cuTensorMapEncodeIm2col";
  emulator::TensorMap map;
  if (auto reason =
          fillMap(map, result, type, rank, address, dims, strides,
                  elementStrides, interleave, swizzle, promotion, fill))
    return refuse(kName, *reason);
  if (!lower || !upper)
    return refuse(kName, "an array is null");
  map.traversal = emulator::Traversal::Im2col;
  for (unsigned i = 0; i + 2 < rank; ++i) {
    map.lowerCorner[i] = lower[i];
    map.upperCorner[i] = upper[i];
  }
  return finishIm2col(kName, map, channels, pixels, result);
}

BLOCKSCALE_API CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides, int lower,
    int upper, cuuint32_t channels, cuuint32_t pixels,
    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr char kName[] = "cuTensorMapEncodeIm2colWide";
  emulator::TensorMap map;
  if (auto reason =
          fillMap(map, result, type, rank, address, dims, strides,
                  elementStrides, interleave, swizzle, promotion, fill))
    return refuse(kName, *reason);
  bool fixed = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  if (!fixed && mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W)
    return refuse(kName,
                  "mode code " + std::to_string(int(mode)) + " does not exist");
  map.traversal =
      fixed ? emulator::Traversal::Im2colW128 : emulator::Traversal::Im2colW;
  map.lowerCorner[0] = lower;
  map.upperCorner[0] = upper;
  return finishIm2col(kName, map, channels, fixed ? 128 : pixels, result);
}

BLOCKSCALE_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map,
                                                  void *address) {
  constexpr char kName[] = "cuTensorMapReplaceAddress";
  if (!map)
    return refuse(kName, "the tensor map is null");
  auto *bytes = reinterpret_cast<uint8_t *>(map);
  std::optional<emulator::TensorMap> fields = emulator::decodeTensorMap(bytes);
  if (!fields)
    return refuse(kName, "the bytes are no tensor map");
  fields->globalAddress = reinterpret_cast<uint64_t>(address);
  if (auto reason = emulator::whyNot(*fields))
    return refuse(kName, *reason);
  emulator::encodeTensorMap(*fields, bytes);
  return CUDA_SUCCESS;
}
