//===- QuantizeLines.cpp - whole rows and columns of a matrix -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What has a scale for all of a row is read whole before its first code is
// known, so that no CTA can have a tile of both results: the first CTAs of the
// grid have the rows, those behind them the columns, each as in a kernel of its
// own. Both find the matrix in the caches as far as it fits there.

#include "QuantizeLines.h"
#include "QuantizeLongColumns.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

static AffineExpr ctasOfRows(const QuantizedStorage &storage) {
  return threadsToQuantize(storage).ceilDiv(kColumnThreads);
}

AffineExpr blockscale::ctasOfLines(const QuantizedStorage &rows,
                                   const QuantizedStorage &columns) {
  AffineExpr ofColumns =
      columns.coversRow() ? tilesOfColumns(columns) : ctasOfRows(columns);
  // M of the transpose is K of the matrix.
  constexpr unsigned kRows = 0, kElements = 2, kSizes = 4;
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < kSizes; ++i)
    symbols.push_back(getAffineSymbolExpr(i, rows.k.getContext()));
  std::swap(symbols[kRows], symbols[kElements]);
  return ctasOfRows(rows) + ofColumns.replaceSymbols(symbols);
}

/// Emits what a CTA does that stands for CTA `number` of a kernel for one of
/// both.
template <typename BodyT>
static void buildPart(ImplicitLocOpBuilder &b, const QuantizedWay &way,
                      Value number) {
  BodyT body(way.what, way.storage, b, way.arguments);
  body.standFor(number, kColumnThreads);
  body.build();
}

void blockscale::buildLines(ImplicitLocOpBuilder &b, const QuantizedWay &rows,
                            const QuantizedWay &columns) {
  Emitter e(b.getLoc(), b);
  StorageAccess access(
      e, rows.storage,
      {rows.arguments.rows, Value(), rows.arguments.k, rows.arguments.batch});
  Value cta = arith::IndexCastUIOp::create(
      e, e.getI32Type(), gpu::BlockIdOp::create(e, gpu::Dimension::x));
  Value first = access.extentOf(ctasOfRows(rows.storage), e.getI32Type());
  Value isOfRows =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, cta, first);
  auto condition = scf::IfOp::create(e, isOfRows, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  if (rows.storage.coversRow())
    buildPart<QuantizeRows>(b, rows, cta);
  else
    buildPart<QuantizeBody>(b, rows, cta);
  b.setInsertionPointToStart(condition.elseBlock());
  Value number = arith::SubIOp::create(b, cta, first);
  if (columns.storage.coversRow())
    buildPart<QuantizeLongColumns>(b, columns, number);
  else
    buildPart<QuantizeColumns>(b, columns, number);
}
