//===- Device.h - what the device says of itself ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_DEVICE_H
#define BLOCKSCALE_LIB_CUDACORE_DEVICE_H

#include "Core.h"

namespace blockscale::cuda {

// Limits that all devices of HW/Device.h share (CUDA programming guide, table
// of compute capabilities).
inline constexpr int kMaxBlock[3] = {1024, 1024, 64};
inline constexpr int kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr int kConstantBytes = 64 << 10;

inline constexpr char kBusId[] = "0000:00:00.0";

/// An attribute by its number, which runtime and driver share (cudaDeviceAttr,
/// CUdevice_attribute); 0 for what the device does not have.
int deviceAttribute(int number);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_DEVICE_H
