//===- QuantizeLongColumns.cpp - quantising whole columns -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Lanes have neighbouring columns, so that what they load of a row of memory
// lies together, and the warps of a CTA take the blocks of its columns in
// turns. What they have found they leave in shared memory. They read their
// blocks twice, and store codes of a block each: whole sectors.

#include "QuantizeLongColumns.h"
#include "QuantizeColumns.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kWarps = kColumnThreads / hw::kWarpSize;

AffineExpr blockscale::tilesOfColumns(const QuantizedStorage &storage) {
  return storage.rows.ceilDiv(int64_t(hw::kWarpSize)) * storage.batch;
}

SmallVector<Value> QuantizeLongColumns::load(const BlockPlace &place, Value) {
  return loadColumn(place);
}

/// The largest of the lane's column. All threads of the CTA come.
Value QuantizeLongColumns::largestOfCta(Value own, Value thread, Value lane) {
  auto word = VectorType::get({1}, e.getF32Type());
  Value shared = SharedAllocOp::create(
      e,
      SharedType::get(e.getContext(), {1, kColumnThreads}, e.getF32Type(),
                      /*container=*/32, hw::Swizzle::None),
      /*offset=*/IntegerAttr());
  StoreSharedOp::create(
      e, vector::FromElementsOp::create(e, word, e.fromBits(own)), shared,
      thread);
  gpu::BarrierOp::create(e);
  Value most;
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    Value loaded = LoadSharedOp::create(e, word, shared,
                                        add(lane, e.i32(warp * hw::kWarpSize)));
    Value one = e.bits(vector::ExtractOp::create(e, loaded, 0));
    most = most ? arith::MaxUIOp::create(e, most, one).getResult() : one;
  }
  return most;
}

void QuantizeLongColumns::build() {
  Value thread = number(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  Value cta = ctaNumber();
  Value size = e.i32(hw::kWarpSize);
  Value warp = arith::DivUIOp::create(e, thread, size);
  Value lane = arith::RemUIOp::create(e, thread, size);
  Value tiles =
      extentOf(storage.rows.ceilDiv(int64_t(hw::kWarpSize)), e.getI32Type());
  Value row = add(mul(arith::RemUIOp::create(e, cta, tiles), size), lane);
  BlockPlace first{arith::DivUIOp::create(e, cta, tiles), row, warp};
  Value isThere = below(row, arguments.rows);
  auto found = scf::IfOp::create(e, TypeRange{e.getI32Type()}, isThere,
                                 /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(found.thenBlock());
    scf::YieldOp::create(e, largestOfBlocks(first, kWarps));
    e.setInsertionPointToStart(found.elseBlock());
    scf::YieldOp::create(e, e.i32(0));
  }
  Value most = largestOfCta(found.getResult(0), thread, lane);
  auto condition = scf::IfOp::create(e, isThere);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  BlockScaling scaling =
      quantizer.scalingOf({}, e.fromBits(most), /*factor=*/Value());
  encodeBlocks(first, kWarps, scaling);
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, warp, e.i32(0));
  auto stores = scf::IfOp::create(e, isFirst);
  e.setInsertionPointToStart(stores.thenBlock());
  storeNumber(quantizer.floatNumber(first), scaling.code);
}
