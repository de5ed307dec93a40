//===- TensorMapBytes.h - a tensor map out of its bytes ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_TENSORMAPBYTES_H
#define BLOCKSCALE_EMULATOR_TENSORMAPBYTES_H

#include "blockscale/Emulator/TensorMap.h"

namespace blockscale::emulator {

/// The fields of what encodeTensorMap wrote; nothing if the kTensorMapBytes
/// bytes are something else.
std::optional<TensorMap> decodeTensorMap(const uint8_t *bytes);

/// Bytes of global memory that a tiled box covers, within the tensor or not.
uint64_t boxBytes(const TensorMap &map);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_TENSORMAPBYTES_H
