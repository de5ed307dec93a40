//===- DeviceRuntime.h - functions that kernels get from CUDA ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What NVIDIA's libcudadevrt.a holds as machine code, as far as it is here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_DEVICERUNTIME_H
#define BLOCKSCALE_LIB_CUDACORE_DEVICERUNTIME_H

#include "blockscale/Emulator/PtxLinker.h"

namespace blockscale::cuda {

/// Links the pieces, with those functions of the device runtime that they call.
emulator::PtxLinkResult linkDeviceCode(std::vector<emulator::PtxPiece> pieces);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_DEVICERUNTIME_H
