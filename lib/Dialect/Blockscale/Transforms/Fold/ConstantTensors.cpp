//===- ConstantTensors.cpp - scaled tensors of constants ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantTensors.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// TensorShape
//===----------------------------------------------------------------------===//

TensorShape::TensorShape(ScaledTensorType type)
    : matrices(type.isBatched() ? type.getShape().front() : 1),
      rows(type.getNumRows()), k(type.getK()), rowTile(type.getRowTile()),
      columnTile(type.getKTile()) {
  // A tile of 0 is all there is.
  rowTile = rowTile ? rowTile : std::max<uint64_t>(rows, 1);
  columnTile = columnTile ? columnTile : std::max<uint64_t>(k, 1);
  tileRows = type.getRowTile() ? hw::ceilDiv(rows, rowTile) : 1;
  tileColumns = type.getKTile() ? hw::ceilDiv(k, columnTile) : 1;
}

uint64_t TensorShape::tileOf(uint64_t element) const {
  uint64_t row = element / k % rows, column = element % k;
  return (matrixOf(element) * tileRows + row / rowTile) * tileColumns +
         column / columnTile;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::vector<float> blockscale::floatsOf(DenseElementsAttr constant) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(constant.getNumElements()));
  if (constant.getElementType().isF32()) {
    llvm::append_range(values, constant.getValues<float>());
    return values;
  }
  for (APFloat value : constant.getValues<APFloat>()) {
    bool losesInfo = false;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    values.push_back(value.convertToFloat());
  }
  return values;
}

std::vector<uint32_t> blockscale::codesOf(DenseElementsAttr constant) {
  std::vector<uint32_t> codes;
  codes.reserve(static_cast<size_t>(constant.getNumElements()));
  if (isa<FloatType>(constant.getElementType()))
    for (const APFloat &value : constant.getValues<APFloat>())
      codes.push_back(value.bitcastToAPInt().getZExtValue());
  else
    for (const APInt &value : constant.getValues<APInt>())
      codes.push_back(value.getZExtValue());
  return codes;
}

DenseElementsAttr blockscale::constantOf(RankedTensorType type,
                                         ArrayRef<uint32_t> codes) {
  unsigned width = type.getElementTypeBitWidth();
  auto real = dyn_cast<FloatType>(type.getElementType());
  if (!real) {
    SmallVector<APInt> values;
    for (uint32_t code : codes)
      values.emplace_back(width, code);
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APFloat> values;
  for (uint32_t code : codes)
    values.emplace_back(real.getFloatSemantics(), APInt(width, code));
  return DenseElementsAttr::get(type, values);
}

//===----------------------------------------------------------------------===//
// Orders and layouts
//===----------------------------------------------------------------------===//

/// Where the element with that number is stored.
static uint64_t placeOfElement(const TensorShape &shape, DataOrder order,
                               uint64_t element) {
  if (order == DataOrder::KMajor)
    return element;
  uint64_t row = element / shape.k % shape.rows, column = element % shape.k;
  return (shape.matrixOf(element) * shape.k + column) * shape.rows + row;
}

/// The layout of one matrix of scales, whose bytes are codes here.
static hw::StorageLayout<uint64_t> storageOf(const TensorShape &shape,
                                             ScaleLayout layout) {
  return hw::storageLayout(
      getScaleStorage(layout),
      {{hw::Dim::Row, shape.tileRows}, {hw::Dim::Block, shape.tileColumns}});
}

static uint64_t placeOfScale(const hw::StorageLayout<uint64_t> &storage,
                             const TensorShape &shape, uint64_t tile) {
  return storage.offset(
      {{hw::Dim::Batch, tile / shape.tilesOfMatrix()},
       {hw::Dim::Row, tile / shape.tileColumns % shape.tileRows},
       {hw::Dim::Block, tile % shape.tileColumns}});
}

std::vector<uint32_t> blockscale::storeElements(const TensorShape &shape,
                                                DataOrder order,
                                                std::vector<uint32_t> codes) {
  std::vector<uint32_t> stored(codes.size());
  for (uint64_t i = 0; i < codes.size(); ++i)
    stored[placeOfElement(shape, order, i)] = codes[i];
  return stored;
}

std::vector<uint32_t> blockscale::loadElements(const TensorShape &shape,
                                               DataOrder order,
                                               std::vector<uint32_t> codes) {
  std::vector<uint32_t> loaded(codes.size());
  for (uint64_t i = 0; i < codes.size(); ++i)
    loaded[i] = codes[placeOfElement(shape, order, i)];
  return loaded;
}

std::vector<uint32_t> blockscale::storeScales(const TensorShape &shape,
                                              ScaleLayout layout,
                                              std::vector<uint32_t> codes) {
  auto storage = storageOf(shape, layout);
  std::vector<uint32_t> stored(shape.matrices * storage.matrixBytes);
  for (uint64_t i = 0; i < codes.size(); ++i)
    stored[placeOfScale(storage, shape, i)] = codes[i];
  return stored;
}

std::vector<uint32_t> blockscale::loadScales(const TensorShape &shape,
                                             ScaleLayout layout,
                                             std::vector<uint32_t> codes) {
  auto storage = storageOf(shape, layout);
  std::vector<uint32_t> loaded(shape.tiles());
  for (uint64_t i = 0; i < loaded.size(); ++i)
    loaded[i] = codes[placeOfScale(storage, shape, i)];
  return loaded;
}
