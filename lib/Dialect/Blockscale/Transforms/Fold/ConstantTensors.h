//===- ConstantTensors.h - scaled tensors of constants ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a constant scaled tensor consists of, as numbers of the host.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTTENSORS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTTENSORS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace blockscale {

/// Elements and tiles of a scaled tensor of static shape, in logical order.
struct TensorShape {
  explicit TensorShape(ScaledTensorType type);

  uint64_t elements() const { return matrices * rows * k; }
  uint64_t tiles() const { return matrices * tileRows * tileColumns; }
  uint64_t tilesOfMatrix() const { return tileRows * tileColumns; }
  /// The tile and the matrix of the element with that number.
  uint64_t tileOf(uint64_t element) const;
  uint64_t matrixOf(uint64_t element) const { return element / (rows * k); }

  uint64_t matrices, rows, k;
  /// Elements of a tile, and how many tiles a matrix has.
  uint64_t rowTile, columnTile, tileRows, tileColumns;
};

/// The numbers of a constant of floats, as f32.
std::vector<float> floatsOf(mlir::DenseElementsAttr constant);

/// The bits of a constant's numbers, and a constant of such bits.
std::vector<uint32_t> codesOf(mlir::DenseElementsAttr constant);
mlir::DenseElementsAttr constantOf(mlir::RankedTensorType type,
                                   llvm::ArrayRef<uint32_t> codes);

/// Elements in logical order as they are stored in `order`, and back.
std::vector<uint32_t> storeElements(const TensorShape &shape, DataOrder order,
                                    std::vector<uint32_t> codes);
std::vector<uint32_t> loadElements(const TensorShape &shape, DataOrder order,
                                   std::vector<uint32_t> codes);

/// Scales tile by tile as they are stored in `layout`, padding with zeros, and
/// back. No layout of groups.
std::vector<uint32_t> storeScales(const TensorShape &shape, ScaleLayout layout,
                                  std::vector<uint32_t> codes);
std::vector<uint32_t> loadScales(const TensorShape &shape, ScaleLayout layout,
                                 std::vector<uint32_t> codes);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTTENSORS_H
