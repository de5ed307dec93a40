//===- CudaAbiTest.cpp - our declarations of the driver are cuda.h's ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Driver.h"

#include <cuda.h>
#include <gtest/gtest.h>

using namespace blockscale::runtime;

static_assert(sizeof(TensorMapBytes) == sizeof(CUtensorMap));
static_assert(alignof(TensorMapBytes) == alignof(CUtensorMap));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfiguration) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfiguration, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfiguration, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfiguration, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfiguration, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr));

TEST(CudaAbi, NumbersOfEnumerators) {
  EXPECT_EQ(int(DeviceAttribute::MultiprocessorCount),
            int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(int(DeviceAttribute::ComputeCapabilityMajor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(DeviceAttribute::ComputeCapabilityMinor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(FunctionAttribute::MaxDynamicSharedSizeBytes),
            int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(FunctionAttribute::NonPortableClusterSizeAllowed),
            int(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
  EXPECT_EQ(int(PointerAttribute::MemoryType),
            int(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  EXPECT_EQ(kDeviceMemory, unsigned(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(int(LaunchAttributeId::ClusterDimension),
            int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(int(LaunchAttributeId::ProgrammaticStreamSerialization),
            int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
}
