//===- TensorMap.cpp - the fields of a TMA tensor map ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/TensorMap.h"

using namespace blockscale;
using namespace blockscale::hw;

// 16U4_ALIGN16B and 16U6_ALIGN16B unpack 16 elements into 16 bytes; their
// transactions count the packed bytes (64 and 96 per 128 elements).
static constexpr TensorMapDataTypeInfo kDataTypes[] = {
    {TensorMapDataType::U8, "u8", "CU_TENSOR_MAP_DATA_TYPE_UINT8", 8, 8, 8, 16,
     1},
    {TensorMapDataType::U32, "u32", "CU_TENSOR_MAP_DATA_TYPE_UINT32", 32, 32,
     32, 16, 1},
    {TensorMapDataType::F16, "f16", "CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 16, 16,
     16, 16, 1},
    {TensorMapDataType::F32, "f32", "CU_TENSOR_MAP_DATA_TYPE_FLOAT32", 32, 32,
     32, 16, 1},
    {TensorMapDataType::BF16, "bf16", "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 16,
     16, 16, 16, 1},
    {TensorMapDataType::U4x16Align8B, "u4x16_align8b",
     "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B", 4, 4, 4, 16, 2},
    {TensorMapDataType::U4x16Align16B, "u4x16_align16b",
     "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B", 4, 8, 4, 32, 128},
    {TensorMapDataType::U6x16Align16B, "u6x16_align16b",
     "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B", 6, 8, 6, 32, 128},
};

const TensorMapDataTypeInfo &hw::tensorMapDataTypeInfo(TensorMapDataType type) {
  for (const TensorMapDataTypeInfo &info : kDataTypes)
    if (info.type == type)
      return info;
  return kDataTypes[0];
}

std::optional<TensorMapDataType>
hw::parseTensorMapDataType(std::string_view name) {
  for (const TensorMapDataTypeInfo &info : kDataTypes)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

std::optional<TensorMapDataType> hw::tensorMapDataType(OperandType type,
                                                       unsigned containerBits) {
  auto in = [&](unsigned bits, TensorMapDataType dataType) {
    return containerBits == bits ? std::optional(dataType) : std::nullopt;
  };
  switch (type.bits()) {
  case 4:
    if (containerBits == 4)
      return TensorMapDataType::U4x16Align8B;
    return in(8, TensorMapDataType::U4x16Align16B);
  case 6:
    return in(8, TensorMapDataType::U6x16Align16B);
  case 8:
    return in(8, TensorMapDataType::U8);
  case 16:
    return in(16, type == OperandType(ElementFormat::F16)
                      ? TensorMapDataType::F16
                      : TensorMapDataType::BF16);
  case 32:
    return in(32, TensorMapDataType::F32);
  default:
    return std::nullopt;
  }
}

unsigned hw::tensorMapSwizzleCode(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 0;
  case Swizzle::B32:
    return 1;
  case Swizzle::B64:
    return 2;
  case Swizzle::B128:
    return 3;
  case Swizzle::B128Atom32:
    return 4;
  }
  return 0;
}

std::string_view hw::tensorMapSwizzleDriverName(Swizzle swizzle) {
  static constexpr std::string_view kNames[] = {
      "CU_TENSOR_MAP_SWIZZLE_NONE", "CU_TENSOR_MAP_SWIZZLE_32B",
      "CU_TENSOR_MAP_SWIZZLE_64B", "CU_TENSOR_MAP_SWIZZLE_128B",
      "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B"};
  return kNames[tensorMapSwizzleCode(swizzle)];
}
