//===- TensorMapTest.cpp - the fields of a TMA tensor map -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/TensorMap.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

// Codes and names of CUtensorMapDataType, CUDA 13.0 driver header.
TEST(TensorMap, DataTypesOfOperands) {
  struct Case {
    OperandType type;
    unsigned container;
    int code;
    const char *driverName;
    unsigned globalBits, sharedBits, innerMultiple;
  };
  const Case cases[] = {
      {ElementFormat::E4M3, 8, 0, "CU_TENSOR_MAP_DATA_TYPE_UINT8", 8, 8, 1},
      {ElementFormat::INT8, 8, 0, "CU_TENSOR_MAP_DATA_TYPE_UINT8", 8, 8, 1},
      {ElementFormat::F16, 16, 6, "CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 16, 16, 1},
      {ElementFormat::BF16, 16, 9, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 16, 16,
       1},
      {OperandType::tf32(), 32, 7, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32", 32, 32,
       1},
      {ElementFormat::E2M1, 4, 13, "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B", 4, 4,
       2},
      {ElementFormat::E2M1, 8, 14, "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B", 4,
       8, 128},
      {ElementFormat::E3M2, 8, 15, "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B", 6,
       8, 128},
  };
  for (const Case &c : cases) {
    auto type = tensorMapDataType(c.type, c.container);
    ASSERT_TRUE(type) << c.driverName;
    EXPECT_EQ(int(*type), c.code);
    const TensorMapDataTypeInfo &info = tensorMapDataTypeInfo(*type);
    EXPECT_EQ(info.driverName, c.driverName);
    EXPECT_EQ(info.globalBits, c.globalBits);
    EXPECT_EQ(info.sharedBits, c.sharedBits);
    EXPECT_EQ(info.innerMultiple, c.innerMultiple);
    EXPECT_EQ(parseTensorMapDataType(info.name), *type);
  }
}

TEST(TensorMap, ContainersThatTmaDoesNotFill) {
  EXPECT_FALSE(tensorMapDataType(ElementFormat::F16, 8));
  EXPECT_FALSE(tensorMapDataType(ElementFormat::F16, 32));
  EXPECT_FALSE(tensorMapDataType(OperandType::tf32(), 16));
  EXPECT_FALSE(tensorMapDataType(ElementFormat::E4M3, 16));
  EXPECT_FALSE(tensorMapDataType(ElementFormat::E2M1, 16));
}

} // namespace
