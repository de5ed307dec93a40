//===- LayoutsTest.cpp - HW's layouts in MLIR's terms ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/Storage.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace blockscale;

namespace {

template <typename T> std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

TEST(Layouts, AffineMaps) {
  MLIRContext context;
  EXPECT_EQ(
      print(getStorageMap(getScaleStorage(ScaleLayout::Tiled128x4), &context)),
      "(d0, d1) -> (d0 floordiv 128, d1 floordiv 4, d0 mod 32, ((d0 floordiv "
      "32) mod 4) * 4 + d1 mod 4)");
  EXPECT_EQ(print(getInverseStorageMap(getScaleStorage(ScaleLayout::Tiled128x4),
                                       &context)),
            "(d0, d1, d2, d3) -> (d0 * 128 + d2 + (d3 floordiv 4) * 32, d1 * 4 "
            "+ d3 mod 4)");
  EXPECT_EQ(print(getStorageMap(getMetadataStorage(ScaleLayout::Tiled128x4),
                                &context)),
            "(d0, d1) -> (d1 floordiv 16, d0 floordiv 128, d0 mod 128, d1 mod "
            "16)");
  EXPECT_EQ(print(getInverseStorageMap(
                getMetadataStorage(ScaleLayout::Tiled128x4), &context)),
            "(d0, d1, d2, d3) -> (d1 * 128 + d2, d0 * 16 + d3)");
  EXPECT_TRUE(getStorageMap(getScaleStorage(ScaleLayout::Plain), &context)
                  .isIdentity());
}

TEST(Layouts, InverseMapsUndoMaps) {
  MLIRContext context;
  for (const hw::Layout &layout :
       {getScaleStorage(ScaleLayout::Plain),
        getScaleStorage(ScaleLayout::Tiled128x4),
        getMetadataStorage(ScaleLayout::Tiled128x4)}) {
    AffineMap map = getStorageMap(layout, &context);
    AffineMap inverse = getInverseStorageMap(layout, &context);
    for (int64_t row : {0, 31, 32, 127, 128, 300})
      for (int64_t block : {0, 3, 4, 15, 16, 40})
        EXPECT_EQ(inverse.compose(map.compose({row, block})),
                  (SmallVector<int64_t>{row, block}));
  }
}

TEST(Layouts, Shapes) {
  using Shape = SmallVector<int64_t>;
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  const hw::Layout &scales = getScaleStorage(ScaleLayout::Tiled128x4);
  const hw::Layout &metadata = getMetadataStorage(ScaleLayout::Tiled128x4);
  EXPECT_EQ(getStorageShape(scales, 300, 9), (Shape{3, 3, 32, 16}));
  EXPECT_EQ(getStorageShape(scales, kDynamic, 9), (Shape{kDynamic, 3, 32, 16}));
  EXPECT_EQ(getStorageShape(scales, 300, kDynamic),
            (Shape{3, kDynamic, 32, 16}));
  EXPECT_EQ(getStorageShape(metadata, 300, 33), (Shape{3, 3, 128, 16}));
  EXPECT_EQ(getStorageShape(metadata, kDynamic, 33),
            (Shape{3, kDynamic, 128, 16}));
  EXPECT_EQ(getStorageShape(getScaleStorage(ScaleLayout::Plain), 300, 9),
            (Shape{300, 9}));
}

TEST(Layouts, BytesInMemory) {
  MLIRContext context;
  AffineExpr m = getAffineSymbolExpr(0, &context);
  AffineExpr k = getAffineSymbolExpr(1, &context);
  auto storage = getStorageBytes(getScaleStorage(ScaleLayout::Tiled128x4), m, k,
                                 /*blockSize=*/32);
  ASSERT_EQ(storage.digits.size(), 5u);
  EXPECT_EQ(print(storage.digits[0].extent), "s0 ceildiv 128");
  EXPECT_EQ(print(storage.digits[0].stride), "(s1 ceildiv 128) * 512");
  EXPECT_EQ(print(storage.digits[1].extent), "s1 ceildiv 128");
  EXPECT_EQ(print(storage.digits[1].stride), "512");
  EXPECT_EQ(print(storage.matrixBytes),
            "((s1 ceildiv 128) * (s0 ceildiv 128)) * 512");
}

/// The byte of row `row` and block `block` of matrix `matrix` in `storage`,
/// whose symbols are `m` and `k`.
uint64_t byteOf(const hw::StorageLayout<AffineExpr> &storage, int64_t matrix,
                int64_t row, int64_t block, int64_t m, int64_t k) {
  hw::Coordinates place{{hw::Dim::Batch, static_cast<uint64_t>(matrix)},
                        {hw::Dim::Row, static_cast<uint64_t>(row)},
                        {hw::Dim::Block, static_cast<uint64_t>(block)}};
  AffineExpr offset = storage.offset(place);
  MLIRContext *context = offset.getContext();
  AffineExpr sizes[] = {getAffineConstantExpr(m, context),
                        getAffineConstantExpr(k, context)};
  return cast<AffineConstantExpr>(offset.replaceSymbols(sizes)).getValue();
}

// Three matrices of 130 rows and 37 blocks: neither is whole tiles.
TEST(Layouts, BytesLieWherePackingPutsThem) {
  constexpr int64_t kMatrices = 3, kRows = 130, kBlocks = 37, kBlockSize = 32;
  constexpr int64_t kElements = kBlocks * kBlockSize - 5;
  MLIRContext context;
  AffineExpr m = getAffineSymbolExpr(0, &context);
  AffineExpr k = getAffineSymbolExpr(1, &context);
  for (const hw::Layout &layout :
       {getScaleStorage(ScaleLayout::Plain),
        getScaleStorage(ScaleLayout::Tiled128x4),
        getMetadataStorage(ScaleLayout::Plain),
        getMetadataStorage(ScaleLayout::Tiled128x4)}) {
    packing::ByteMatrices matrices{kMatrices, kRows, kBlocks};
    uint64_t bytes = packing::storageBytes(layout, matrices);
    // Two bytes of an index tell all of them apart.
    std::vector<uint8_t> low, high, storedLow(bytes), storedHigh(bytes);
    for (int64_t i = 0; i < kMatrices * kRows * kBlocks; ++i) {
      low.push_back(static_cast<uint8_t>(i));
      high.push_back(static_cast<uint8_t>(i >> 8));
    }
    packing::toStorage(layout, matrices, low.data(), storedLow.data());
    packing::toStorage(layout, matrices, high.data(), storedHigh.data());
    auto storage = getStorageBytes(layout, m, k, kBlockSize);
    for (int64_t i = 0; i < kMatrices * kRows * kBlocks; ++i) {
      uint64_t byte = byteOf(storage, i / kBlocks / kRows, i / kBlocks % kRows,
                             i % kBlocks, kRows, kElements);
      ASSERT_LT(byte, bytes);
      ASSERT_EQ(storedLow[byte] | storedHigh[byte] << 8, i);
    }
  }
}

// A stage of NVFP4 with K = 256 has 16 scales: 16 columns for 128 rows, 32 for
// 256; with 2 words more to every group as much more.
TEST(Layouts, ColumnsOfTensorMemory) {
  MLIRContext context;
  context.loadDialect<BlockscaleDialect>();
  Type i8 = IntegerType::get(&context, 8);
  auto scales = [&](int64_t rows, int64_t stride) {
    return TensorMemoryType::get(&context, {rows, 16}, i8,
                                 TmemScalesAttr::get(&context, stride))
        .getColumns();
  };
  EXPECT_EQ(scales(128, 4), 16);
  EXPECT_EQ(scales(256, 8), 32);
  EXPECT_EQ(scales(256, 10), 40);
  EXPECT_EQ(scales(32, 1), 4);
  auto metadata = TensorMemoryType::get(&context, {128, 48}, i8,
                                        TmemMetadataAttr::get(&context));
  EXPECT_EQ(metadata.getColumns(), 12);
}

} // namespace
