//===- GivenScales.cpp - results under one scale for a matrix -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::hasOneScale(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.isTensor() && !spec.tensorScale && !spec.zero;
}

Type blockscale::scaleMemory(ScaledTensorType type) {
  QuantizedStorage storage = sizesInMemory(type);
  storage.plainScale = plainScaleType(type);
  return storage.scaleMemory();
}

int64_t blockscale::rowsTogether(ScaledTensorType type) {
  return std::max<int64_t>(1, type.getRowTile());
}

int64_t blockscale::elementsTogether(ScaledTensorType type) {
  constexpr int64_t kOfThread = 32;
  int64_t tile = type.getKTile();
  return tile ? tile : kOfThread;
}

std::optional<Reason>
blockscale::whyNotWholeBlocks(const QuantizedStorage &storage) {
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  if (!k || k.getValue() % storage.block == 0)
    return std::nullopt;
  return "a kernel quantises whole blocks, but K = " +
         std::to_string(k.getValue()) + " is no multiple of " +
         std::to_string(storage.block) + "; nearest legal: K = " +
         std::to_string((k.getValue() / storage.block + 1) * storage.block);
}
