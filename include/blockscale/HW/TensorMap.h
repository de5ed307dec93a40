//===- TensorMap.h - the fields of a TMA tensor map -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_TENSORMAP_H
#define BLOCKSCALE_HW_TENSORMAP_H

#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Mma.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::hw {

/// The element types of a tensor map that this project's kernels use. Values
/// are the codes of `CUtensorMapDataType` (CUDA 13.0 driver header).
enum class TensorMapDataType : uint8_t {
  U8 = 0,
  U32 = 2,
  F16 = 6,
  F32 = 7,
  BF16 = 9,
  U4x16Align8B = 13,
  U4x16Align16B = 14,
  U6x16Align16B = 15
};

/// What one data type means to TMA. Sources: CUDA 13.0 driver API,
/// cuTensorMapEncodeTiled; PTX ISA 9.1, tensor section "packed formats".
struct TensorMapDataTypeInfo {
  TensorMapDataType type;
  /// Name in this project's IR and launch plans.
  std::string_view name;
  /// Enumerator of the driver API.
  std::string_view driverName;
  /// Bits of an element in global memory.
  unsigned globalBits;
  /// Bits of an element in shared memory.
  unsigned sharedBits;
  /// Bits per element that a transaction count counts.
  unsigned countedBits;
  /// Byte alignment of the base address and of all strides.
  unsigned alignment;
  /// The innermost extent, and every innermost coordinate, is a multiple.
  unsigned innerMultiple;
};

const TensorMapDataTypeInfo &tensorMapDataTypeInfo(TensorMapDataType type);
std::optional<TensorMapDataType> parseTensorMapDataType(std::string_view name);

/// The data type that brings elements of `type` into containers of
/// `containerBits` (4 packed, 8 padded or 8-bit, 16, 32); empty if TMA has
/// none. TF32 goes as f32: the instruction ignores the low bits.
std::optional<TensorMapDataType> tensorMapDataType(OperandType type,
                                                   unsigned containerBits);

/// Largest box extent along any dimension, in elements.
inline constexpr unsigned kMaxBoxExtent = 256;
/// Bytes of a tensor map object, and its alignment as a kernel parameter.
inline constexpr unsigned kTensorMapBytes = 128;
inline constexpr unsigned kTensorMapAlignment = 64;

/// Code and enumerator of `CUtensorMapSwizzle`.
unsigned tensorMapSwizzleCode(Swizzle swizzle);
std::string_view tensorMapSwizzleDriverName(Swizzle swizzle);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_TENSORMAP_H
