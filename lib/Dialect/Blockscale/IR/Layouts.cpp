//===- Layouts.cpp - HW's layouts in MLIR's terms -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

ScaleLayout blockscale::getScaleLayout(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isOfMetadata =
      spec.isSparse() && (spec.coversK() || hasPromotedScales(type));
  return isOfMetadata ? ScaleLayout::Plain : type.getLayout();
}

ScaleLayout blockscale::getMetadataLayout(ScaledTensorType type) {
  return sparsePattern(type) ? type.getLayout() : ScaleLayout::Plain;
}

const hw::Layout &blockscale::getScaleStorage(ScaleLayout layout) {
  switch (layout) {
  case ScaleLayout::Plain:
  case ScaleLayout::Grouped: // each matrix of them
    return hw::kPlainRows;
  case ScaleLayout::Tiled128x4:
  case ScaleLayout::Grouped128x4:
    return hw::kTiledScales;
  case ScaleLayout::Tiled128x16:
    return hw::kRowTiledScales;
  }
  llvm_unreachable("covered switch");
}

const hw::Layout &blockscale::getMetadataStorage(ScaleLayout layout) {
  switch (layout) {
  case ScaleLayout::Plain:
    return hw::kPlainRows;
  case ScaleLayout::Tiled128x4:
    return hw::kTiledMetadata;
  case ScaleLayout::Tiled128x16:
  case ScaleLayout::Grouped128x4:
  case ScaleLayout::Grouped:
    break;
  }
  llvm_unreachable("sparse tensors have no such layout");
}

bool blockscale::isRowPerLane(TensorMemoryType type) {
  auto scales = dyn_cast<TmemScalesAttr>(type.getLayout());
  return scales && scales.getWordStride() == 1 &&
         type.getShape()[0] == hw::kTmemLanes;
}

hw::Layout blockscale::getPlaces(TensorMemoryType type) {
  assert(!type.isAccumulator() && "accumulators hold no rows of bytes");
  auto scales = dyn_cast<TmemScalesAttr>(type.getLayout());
  if (!scales || isRowPerLane(type))
    return hw::kRowPerLane;
  return hw::scaleLayout({hw::ScalePath::FourByOne,
                          static_cast<unsigned>(type.getShape()[0]),
                          static_cast<unsigned>(scales.getWordStride())});
}

static SmallVector<hw::Dim> storageDims(const hw::Layout &layout) {
  SmallVector<hw::Dim> dims;
  for (const hw::Term &term : layout)
    if (!llvm::is_contained(dims, term.target))
      dims.push_back(term.target);
  return dims;
}

SmallVector<int64_t> blockscale::getStorageShape(const hw::Layout &layout,
                                                 int64_t rows, int64_t blocks) {
  // Of what gives a dimension its open end; where there is none of it, there is
  // no tile either.
  auto endOf = [&](hw::Dim dim) -> std::optional<int64_t> {
    std::optional<hw::Dim> source = layout.endlessSource(dim);
    if (!source)
      return std::nullopt;
    return *source == hw::Dim::Row ? rows : blocks;
  };
  hw::Coordinates extents{{hw::Dim::Row, static_cast<uint64_t>(rows)},
                          {hw::Dim::Block, static_cast<uint64_t>(blocks)}};
  SmallVector<int64_t> shape;
  for (hw::Dim dim : storageDims(layout)) {
    int64_t end = endOf(dim).value_or(1);
    bool isKnown = end != 0 && !ShapedType::isDynamic(end);
    shape.push_back(isKnown ? int64_t(layout.extent(dim, extents)) : end);
  }
  return shape;
}

/// The targets as sums of digits of the sources.
static AffineMap affineMap(const hw::Layout &layout, ArrayRef<hw::Dim> sources,
                           ArrayRef<hw::Dim> targets, MLIRContext *context) {
  SmallVector<AffineExpr> results(targets.size(),
                                  getAffineConstantExpr(0, context));
  for (const hw::Term &term : layout) {
    auto source = llvm::find(sources, term.source) - sources.begin();
    auto target = llvm::find(targets, term.target) - targets.begin();
    AffineExpr digit = getAffineDimExpr(source, context);
    if (term.period)
      digit = digit % term.period;
    digit = digit.floorDiv(term.divisor);
    if (term.modulus)
      digit = digit % term.modulus;
    results[target] = results[target] + digit * int64_t(term.stride);
  }
  return AffineMap::get(sources.size(), 0, results, context);
}

static constexpr hw::Dim kMatrix[] = {hw::Dim::Row, hw::Dim::Block};

AffineMap blockscale::getStorageMap(const hw::Layout &layout,
                                    MLIRContext *context) {
  return affineMap(layout, kMatrix, storageDims(layout), context);
}

AffineMap blockscale::getInverseStorageMap(const hw::Layout &layout,
                                           MLIRContext *context) {
  return affineMap(layout.inverse(), storageDims(layout), kMatrix, context);
}

hw::StorageLayout<AffineExpr>
blockscale::getStorageBytes(const hw::Layout &layout, AffineExpr rows,
                            AffineExpr k, int64_t blockSize) {
  return hw::storageLayout<AffineExpr>(
      layout,
      [&](hw::Dim source, uint64_t divisor) {
        return source == hw::Dim::Row ? rows.ceilDiv(divisor)
                                      : k.ceilDiv(divisor * blockSize);
      },
      [&](uint64_t value) {
        return getAffineConstantExpr(value, rows.getContext());
      });
}
