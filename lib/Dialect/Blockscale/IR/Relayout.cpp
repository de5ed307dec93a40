//===- Relayout.cpp - scales from one layout to another -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"

using namespace mlir;
using namespace blockscale;

/// Why no kernel moves the scales of such a tensor.
static std::optional<Reason> whyNotMoved(ScaledTensorType from) {
  const ScaleSpec &spec = from.getSpec().getValue();
  std::string name = "'" + std::string(from.getSpec().getText()) + "'";
  if (spec.zero)
    return "a kernel moves no zero points, which " + name + " has";
  if (!spec.isTile() || from.getRowTile() != 1)
    return "a kernel moves a scale for each row and block along K, but those "
           "of " +
           name + " are for other tiles; nearest legal: 'e8m0_t32'";
  std::optional<ElementFormat> format = scaleFormat(*spec.scale);
  if (!format || formatInfo(*format).storageBits != 8)
    return "a kernel moves scales of one byte, but those of " + name +
           " are wider";
  return std::nullopt;
}

/// Why no kernel changes the layout of scales.
static std::optional<Reason> whyNot(ScaledTensorType from,
                                    ScaledTensorType to) {
  const ScaleSpec &spec = from.getSpec().getValue();
  if (spec.isUnscaled())
    return Reason("a kernel moves scales, but the operand has none");
  if (from.getOrder() != to.getOrder())
    return Reason(
        "a kernel changes the layout of scales and moves no elements, "
        "but the result is in another order of elements; nearest "
        "legal: the same 'order'");
  if (spec.isSparse())
    return "a kernel moves no metadata, which '" +
           std::string(from.getSpec().getText()) +
           "' has; nearest legal: the host's change of layout";
  return whyNotMoved(from);
}

static QuantizedStorage scalesOf(ScaledTensorType type) {
  MLIRContext *context = type.getContext();
  auto size = [&](int64_t extent, unsigned symbol) -> AffineExpr {
    if (ShapedType::isDynamic(extent))
      return getAffineSymbolExpr(symbol, context);
    return getAffineConstantExpr(extent, context);
  };
  QuantizedStorage storage;
  storage.rows = size(type.getNumRows(), 0);
  storage.k = size(type.getK(), 2);
  storage.batch = size(type.isBatched() ? type.getShape().front() : 1, 3);
  storage.scale = *scaleFormat(*type.getSpec().getValue().scale);
  storage.block = type.getKTile();
  storage.scales = getStorageBytes(getScaleStorage(type.getLayout()),
                                   storage.rows, storage.k, storage.block);
  return storage;
}

Result<RelayoutStorage> blockscale::relayoutStorage(ScaledTensorType from,
                                                    ScaledTensorType to) {
  if (auto why = whyNot(from, to))
    return *why;
  return RelayoutStorage{scalesOf(from), scalesOf(to), from.getLayout(),
                         to.getLayout()};
}

Result<RelayoutStorage> blockscale::repeatedScales(ScaledTensorType from,
                                                   ScaledTensorType to) {
  if (auto why = whyNotMoved(from))
    return *why;
  return RelayoutStorage{scalesOf(from), scalesOf(to), from.getLayout(),
                         to.getLayout()};
}

AffineExpr blockscale::threadsToRepeat(const RepeatedScales &scales) {
  return scales.ofResult * scales.lines * scales.batch;
}

AffineExpr blockscale::wordsOfLine(const QuantizedStorage &storage,
                                   ScaleLayout layout) {
  int64_t atom = layout == ScaleLayout::Tiled128x16 ? 16 : kScalesOfWord;
  return storage.k.floorDiv(storage.block).ceilDiv(atom) *
         (atom / kScalesOfWord);
}

AffineExpr blockscale::linesOfMatrix(const QuantizedStorage &storage,
                                     ScaleLayout layout) {
  constexpr int64_t kAtomRows = 128;
  return layout == ScaleLayout::Plain
             ? storage.rows
             : storage.rows.ceilDiv(kAtomRows) * kAtomRows;
}

AffineExpr blockscale::threadsToRelayout(const RelayoutStorage &storage) {
  return wordsOfLine(storage.to, storage.toLayout) *
         linesOfMatrix(storage.to, storage.toLayout) * storage.to.batch;
}
