//===- PlanFormulasTest.cpp - the places that plans name ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host packs operands, scales and metadata by the formulas of the plan, as
// text. Here each is read back from JSON and evaluated for every byte that the
// packing library places, and for the rows of tables made with other people's
// software.
//
//===----------------------------------------------------------------------===//

#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Packing/Operand.h"
#include "blockscale/Packing/Sparse.h"
#include "blockscale/Packing/Tile.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace blockscale;
using blockscale::test::CsvRow;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

/// A product D = A * B. Extents of 0 are dynamic; the run-time sizes are given
/// beside them.
struct Product {
  const char *target, *a, *b, *d;
  int64_t m, n, k, batch;
};

std::string print(const Product &product) {
  return std::string(product.target) + ": " + product.a + " x " + product.b;
}

/// The only kernel of the plan, as a host reads it.
plan::Kernel compileToPlan(const Product &product) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  std::string a = "!blockscale.tensor<" + std::string(product.a) + ">";
  std::string b = "!blockscale.tensor<" + std::string(product.b) + ">";
  std::string d = "tensor<" + std::string(product.d) + ">";
  std::string text = "func.func @f(%a: " + a + ", %b: " + b + ") -> " + d +
                     " {\n  %d = blockscale.matmul %a, %b : " + a + ", " + b +
                     " -> " + d + "\n  return %d : " + d + "\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  CompilerOptions options;
  options.target = product.target;
  options.withPTX = options.withReport = false;
  if (!module)
    return {};
  auto compiled = compile(*module, options);
  if (mlir::failed(compiled) || compiled->size() != 1)
    return {};
  auto plan = plan::parsePlan(plan::printPlan(compiled->front().plan));
  EXPECT_TRUE(bool(plan)) << textOf(plan);
  if (!plan || plan->kernels.size() != 1)
    return {};
  return plan->kernels[0];
}

plan::Environment sizesOf(const Product &product) {
  return {{"M", product.m},
          {"N", product.n},
          {"K", product.k},
          {"batch", product.batch}};
}

int64_t value(const std::string &formula, const plan::Environment &names) {
  Result<int64_t> result = plan::evaluate(formula, names);
  if (!result) {
    ADD_FAILURE() << result.why().text;
    return -1;
  }
  return *result;
}

/// Byte number `byte` of each index from 0 to `count` - 1: three such arrays
/// tell all bytes of a tensor apart.
std::vector<uint8_t> bytesOfIndices(uint64_t count, unsigned byte) {
  std::vector<uint8_t> bytes(count);
  for (uint64_t i = 0; i < count; ++i)
    bytes[i] = static_cast<uint8_t>(i >> 8 * byte);
  return bytes;
}

/// Expects that `formula`, with `l`, `r` and the block (`blockName` is
/// `perBlock` times its number, or lies within it), gives the place where
/// `pack` puts the bytes of batch x rows x blocks matrices.
template <typename Pack>
void expectPlaces(const std::string &formula, plan::Environment names,
                  const char *blockName, int64_t perBlock, int64_t rows,
                  int64_t blocks, Pack pack) {
  int64_t batch = names["batch"];
  uint64_t count = batch * rows * blocks;
  std::vector<std::vector<uint8_t>> stored;
  for (unsigned byte = 0; byte < 3; ++byte) {
    auto packed = pack(bytesOfIndices(count, byte));
    ASSERT_TRUE(packed);
    stored.push_back(*packed);
  }
  ASSERT_LT(count, uint64_t(1) << 24);
  for (int64_t l = 0; l < batch; ++l)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t block = 0; block < blocks; ++block) {
        uint64_t index = (l * rows + r) * blocks + block;
        names["l"] = l;
        names["r"] = r;
        // Not only the first element of each block.
        names[blockName] = block * perBlock + (r + block) % perBlock;
        auto place = static_cast<uint64_t>(value(formula, names));
        ASSERT_LT(place, stored[0].size()) << formula;
        for (unsigned byte = 0; byte < 3; ++byte)
          ASSERT_EQ(stored[byte][place], uint8_t(index >> 8 * byte))
              << formula << " of matrix " << l << ", row " << r << ", block "
              << block;
      }
}

void expectScales(const Product &product, const plan::ScalePacking &scales) {
  plan::Environment sizes = sizesOf(product);
  int64_t rows = scales.operand == "a" ? product.m : product.n;
  hw::ScaleTensor tensor{scales.block, uint64_t(rows), uint64_t(product.k),
                         uint64_t(product.batch)};
  EXPECT_EQ(scales.layout, "tiled_128x4");
  EXPECT_EQ(value(scales.paddedRows, sizes), (rows + 127) / 128 * 128);
  int64_t blocks = (product.k + scales.block - 1) / scales.block;
  EXPECT_EQ(value(scales.paddedScales, sizes), (blocks + 3) / 4 * 4);
  EXPECT_EQ(value(scales.bytes, sizes), product.batch *
                                            value(scales.paddedRows, sizes) *
                                            value(scales.paddedScales, sizes));
  expectPlaces(scales.offset, sizes, "j", 1, rows, blocks,
               [&](const std::vector<uint8_t> &plain) {
                 return packing::tileScales(tensor, plain);
               });
}

void expectMetadata(const Product &product,
                    const plan::MetadataPacking &metadata) {
  plan::Environment sizes = sizesOf(product);
  hw::MetadataTensor tensor{*hw::parsePattern(metadata.pattern),
                            uint64_t(product.m), uint64_t(product.k)};
  int64_t perByte = metadata.elementsPerByte;
  EXPECT_EQ(metadata.layout, "tiled_128x16");
  EXPECT_EQ(metadata.paddingValue, 0x44u);
  EXPECT_EQ(value(metadata.paddedRows, sizes), (product.m + 127) / 128 * 128);
  int64_t tile = 16 * perByte;
  EXPECT_EQ(value(metadata.paddedElements, sizes),
            (product.k + tile - 1) / tile * tile);
  EXPECT_EQ(value(metadata.bytes, sizes),
            product.batch * value(metadata.paddedRows, sizes) *
                value(metadata.paddedElements, sizes) / perByte);
  expectPlaces(metadata.offset, sizes, "k", perByte, product.m,
               (product.k + perByte - 1) / perByte,
               [&](const std::vector<uint8_t> &plain) {
                 return packing::tileMetadata(tensor, product.batch, plain);
               });
}

class PlanFormulas : public testing::TestWithParam<Product> {};

TEST_P(PlanFormulas, SayWherePackingPutsEachByte) {
  const Product &product = GetParam();
  SCOPED_TRACE(print(product));
  plan::Kernel kernel = compileToPlan(product);
  ASSERT_FALSE(kernel.name.empty());
  std::string a = product.a;
  auto names = [&](const char *part) {
    return a.find(part) != std::string::npos;
  };
  bool isScaled = names("_t");
  bool isSparse = names("n2m4") || names("n4m8") || names("n1m2");
  EXPECT_EQ(kernel.scales.size(), isScaled ? 2u : 0u);
  EXPECT_EQ(kernel.metadata.size(), isSparse ? 1u : 0u);
  for (const plan::ScalePacking &scales : kernel.scales)
    expectScales(product, scales);
  for (const plan::MetadataPacking &metadata : kernel.metadata)
    expectMetadata(product, metadata);
}

#define TILED ", layout = tiled_128x4"

// Sizes that are no multiples of tiles, batches, and every way in which a size
// may be dynamic.
INSTANTIATE_TEST_SUITE_P(
    Scales, PlanFormulas,
    testing::Values(Product{"sm_100a", "130x288xf8E4M3FN, \"e8m0_t32\"" TILED,
                            "200x288xf4E2M1FN, \"e8m0_t32\"" TILED,
                            "130x200xf32", 130, 200, 288, 1},
                    Product{"sm_100a", "3x129x192xf4E2M1FN, \"e8m0_t32\"" TILED,
                            "3x72x192xf4E2M1FN, \"e8m0_t32\"" TILED,
                            "3x129x72xf32", 129, 72, 192, 3},
                    Product{"sm_100a", "?x400xf4E2M1FN, \"e4m3fn_t16\"" TILED,
                            "264x400xf4E2M1FN, \"e4m3fn_t16\"" TILED,
                            "?x264xf32", 257, 264, 400, 1},
                    Product{"sm_103a",
                            "384x2880xf4E2M1FN, \"e4m3fn_t16\"" TILED,
                            "256x2880xf4E2M1FN, \"e4m3fn_t16\"" TILED,
                            "384x256xf32", 384, 256, 2880, 1},
                    Product{"sm_100a", "?x?x?xf8E5M2, \"e8m0_t32\"" TILED,
                            "?x?x?xf6E3M2FN, \"e8m0_t32\"" TILED, "?x?x?xf32",
                            131, 65, 416, 5},
                    Product{"sm_120a", "2x?x?xf4E2M1FN, \"e4m3fn_t16\"" TILED,
                            "2x?x?xf4E2M1FN, \"e4m3fn_t16\"" TILED, "2x?x?xf32",
                            33, 130, 208, 2},
                    Product{"sm_121a", "65x160xf8E4M3FN, \"e8m0_t32\"" TILED,
                            "40x160xf8E4M3FN, \"e8m0_t32\"" TILED, "65x40xf32",
                            65, 40, 160, 1}));

INSTANTIATE_TEST_SUITE_P(
    Metadata, PlanFormulas,
    testing::Values(Product{"sm_100a", "3x?x?xf6E3M2FN, \"e8m0_t32n2m4\"" TILED,
                            "3x?x?xf8E5M2, \"e8m0_t64\"" TILED, "3x?x?xf32",
                            145, 96, 320, 3},
                    Product{"sm_100a",
                            "?x800xf4E2M1FN, \"e4m3fn_t16n4m8\"" TILED,
                            "264x800xf4E2M1FN, \"e4m3fn_t32\"" TILED,
                            "?x264xf32", 300, 264, 800, 1},
                    Product{"sm_120a",
                            "2x65x640xf4E2M1FN, \"e8m0_t32n4m8\"" TILED,
                            "2x40x640xf4E2M1FN, \"e8m0_t64\"" TILED,
                            "2x65x40xf32", 65, 40, 640, 2},
                    Product{"sm_100a", "136x416xf8E4M3FN, \"n2m4\"" TILED,
                            "48x416xf6E2M3FN", "136x48xf32", 136, 48, 416, 1},
                    Product{"sm_100a", "?x400xbf16, \"n2m4\"" TILED,
                            "264x400xbf16", "?x264xf32", 150, 264, 400, 1},
                    Product{"sm_100a", "200x136xtf32, \"n1m2\"" TILED,
                            "72x136xtf32", "200x72xf32", 200, 72, 136, 1},
                    Product{"sm_100a", "?x?xi8, \"n2m4\"" TILED, "?x?xui8",
                            "?x?xi32", 129, 80, 320, 1}));

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Bits of an element, and bytes from a line to the next: whole elements, up to
/// a multiple of 16 bytes, or of 128 elements for those of 4 and 6 bits beside
/// ones of 8 (CUDA driver API, "cuTensorMapEncodeTiled").
struct Lines {
  unsigned bits;
  uint64_t pitch;
};

struct DataCase {
  Product product;
  /// Elements along K that A stores.
  int64_t storedK;
  Lines a, b;
};

class PlanData : public testing::TestWithParam<DataCase> {};

/// Digit `digit` of `index` in codes of `bits` bits, or of 8 where they have
/// more, in every byte of the element.
void appendCode(std::vector<uint8_t> &codes, uint64_t index, unsigned digit,
                unsigned bits) {
  unsigned width = std::min(bits, 8u);
  auto code =
      static_cast<uint8_t>(index >> digit * width & ((1u << width) - 1));
  for (unsigned byte = 0; byte < std::max(bits / 8, 1u); ++byte)
    codes.push_back(static_cast<uint8_t>(code + byte));
}

/// `bits` bits, or the lowest 8 of more, of what starts at bit `first`.
uint8_t bitsAt(const std::vector<uint8_t> &storage, uint64_t first,
               unsigned bits) {
  unsigned word = storage[first / 8];
  if (first / 8 + 1 < storage.size())
    word |= storage[first / 8 + 1] << 8;
  return static_cast<uint8_t>(word >> first % 8 &
                              ((1u << std::min(bits, 8u)) - 1));
}

/// Expects the elements of a batch x rows x k operand, as packing stores them
/// in lines of `expected.pitch` bytes, where the plan says they are.
void expectElements(const Product &product, const plan::DataPacking &data,
                    int64_t rows, int64_t k, Lines expected) {
  plan::Environment sizes = sizesOf(product);
  bool kMajor = data.order == "k_major";
  EXPECT_EQ(data.bits, expected.bits);
  EXPECT_EQ(value(data.lines, sizes), kMajor ? rows : k);
  EXPECT_EQ(value(data.elements, sizes), kMajor ? k : rows);
  packing::OperandLayout layout;
  layout.bits = expected.bits;
  layout.mnMajor = !kMajor;
  layout.mn = rows;
  layout.k = k;
  layout.batch = product.batch;
  layout.rowPitch = expected.pitch;
  uint64_t count = product.batch * rows * k;
  ASSERT_LT(count, uint64_t(1) << 20);
  int64_t linePitch = value(data.linePitch, sizes);
  int64_t batchPitch = value(data.batchPitch, sizes);
  for (unsigned digit = 0; digit * std::min(expected.bits, 8u) < 20; ++digit) {
    std::vector<uint8_t> codes;
    for (uint64_t i = 0; i < count; ++i)
      appendCode(codes, i, digit, expected.bits);
    auto storage = packing::packOperand(layout, codes);
    ASSERT_TRUE(storage);
    std::size_t bytes = codes.size() / count;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t column = i % k, row = i / k % rows, matrix = i / k / rows;
      uint64_t line = kMajor ? row : column, element = kMajor ? column : row;
      uint64_t bit =
          (matrix * batchPitch + line * linePitch) * 8 + element * data.bits;
      ASSERT_LE(bit + data.bits, storage->size() * 8);
      ASSERT_EQ(bitsAt(*storage, bit, data.bits), codes[i * bytes])
          << "row " << row << ", k " << column << " of matrix " << matrix;
    }
  }
}

TEST_P(PlanData, SaysWherePackingPutsEachElement) {
  const DataCase &c = GetParam();
  SCOPED_TRACE(print(c.product));
  plan::Kernel kernel = compileToPlan(c.product);
  ASSERT_EQ(kernel.data.size(), 2u);
  {
    SCOPED_TRACE("a");
    EXPECT_EQ(kernel.data[0].operand, "a");
    expectElements(c.product, kernel.data[0], c.product.m, c.storedK, c.a);
  }
  SCOPED_TRACE("b");
  EXPECT_EQ(kernel.data[1].operand, "b");
  expectElements(c.product, kernel.data[1], c.product.n, c.product.k, c.b);
}

INSTANTIATE_TEST_SUITE_P(
    Operands, PlanData,
    testing::Values(
        DataCase{{"sm_100a", "130x288xf8E4M3FN, \"e8m0_t32\"" TILED,
                  "200x288xf4E2M1FN, \"e8m0_t32\"" TILED, "130x200xf32", 130,
                  200, 288, 1},
                 288,
                 {8, 288},
                 {4, 192}},
        DataCase{{"sm_100a", "?x?x?xf6E2M3FN, \"e8m0_t32\"" TILED,
                  "?x?x?xf8E5M2, \"e8m0_t32\"" TILED, "?x?x?xf32", 37, 65, 160,
                  3},
                 160,
                 {6, 192},
                 {8, 160}},
        DataCase{{"sm_100a", "2x129x192xf4E2M1FN, \"e8m0_t32\"" TILED,
                  "2x72x192xf4E2M1FN, \"e8m0_t32\"" TILED, "2x129x72xf32", 129,
                  72, 192, 2},
                 192,
                 {4, 96},
                 {4, 96}},
        DataCase{{"sm_100a",
                  "200x160xf8E4M3FN, \"e8m0_t32\"" TILED ", order = mn_major",
                  "144x160xf8E5M2, \"e8m0_t32\"" TILED ", order = mn_major",
                  "200x144xf32", 200, 144, 160, 1},
                 160,
                 {8, 208},
                 {8, 144}},
        DataCase{{"sm_100a", "130x320xf4E2M1FN, \"e4m3fn_t16n4m8\"" TILED,
                  "72x320xf4E2M1FN, \"e4m3fn_t32\"" TILED, "130x72xf32", 130,
                  72, 320, 1},
                 160,
                 {4, 80},
                 {4, 160}},
        DataCase{{"sm_100a", "150x400xbf16, \"n2m4\"" TILED, "264x400xbf16",
                  "150x264xf32", 150, 264, 400, 1},
                 200,
                 {16, 400},
                 {16, 800}},
        DataCase{{"sm_100a", "200x136xtf32, \"n1m2\"" TILED, "72x136xtf32",
                  "200x72xf32", 200, 72, 136, 1},
                 68,
                 {32, 272},
                 {32, 544}},
        DataCase{{"sm_120a", "65x160xf6E3M2FN, \"e8m0_t32\"" TILED,
                  "40x160xf8E4M3FN, \"e8m0_t32\"" TILED, "65x40xf32", 65, 40,
                  160, 1},
                 160,
                 {6, 192},
                 {8, 160}}));

//===----------------------------------------------------------------------===//
// Against tables made with other people's software
//===----------------------------------------------------------------------===//

int64_t num(const CsvRow &row, const char *column) {
  return std::stoll(row.at(column));
}

TEST(PlanFormulas, MatchTheOracleOfScales) {
  constexpr const char *kBlock16 = "?x?x?xf4E2M1FN, \"e4m3fn_t16\"" TILED;
  constexpr const char *kBlock32 = "?x?x?xf8E4M3FN, \"e8m0_t32\"" TILED;
  plan::Kernel kernels[] = {
      compileToPlan({"sm_100a", kBlock16, kBlock16, "?x?x?xf32", 0, 0, 0, 0}),
      compileToPlan({"sm_100a", kBlock32, kBlock32, "?x?x?xf32", 0, 0, 0, 0})};
  unsigned compared = 0;
  for (const CsvRow &row : readOracle("sf_gmem_offsets.csv")) {
    int64_t block = num(row, "block_size");
    if (block != 16 && block != 32)
      continue;
    const plan::Kernel &kernel = kernels[block == 32];
    ASSERT_EQ(kernel.scales.size(), 2u);
    int64_t extent = num(row, "mn_extent");
    plan::Environment names{{"M", extent},
                            {"N", extent},
                            {"K", num(row, "k_extent")},
                            {"batch", num(row, "batch_extent")},
                            {"l", num(row, "batch")},
                            {"r", num(row, "mn")},
                            {"j", num(row, "k_element") / block}};
    for (const plan::ScalePacking &scales : kernel.scales)
      EXPECT_EQ(value(scales.offset, names), num(row, "byte_offset"));
    ++compared;
  }
  EXPECT_GT(compared, 300u);
}

TEST(PlanFormulas, MatchTheOracleOfMetadata) {
  plan::Kernel eight = compileToPlan(
      {"sm_100a", "?x?xf8E4M3FN, \"e8m0_t32n2m4\"" TILED,
       "?x?xf8E4M3FN, \"e8m0_t64\"" TILED, "?x?xf32", 0, 0, 0, 0});
  plan::Kernel sixteen = compileToPlan(
      {"sm_100a", "?x?xf4E2M1FN, \"e4m3fn_t16n4m8\"" TILED,
       "?x?xf4E2M1FN, \"e4m3fn_t32\"" TILED, "?x?xf32", 0, 0, 0, 0});
  unsigned compared = 0;
  for (const CsvRow &row : readOracle("sparse_meta_gmem_offsets.csv")) {
    int64_t perByte = num(row, "logical_elements_per_metadata_byte");
    const plan::Kernel &kernel = perByte == 8 ? eight : sixteen;
    ASSERT_EQ(kernel.metadata.size(), 1u);
    ASSERT_EQ(kernel.metadata[0].elementsPerByte, perByte);
    plan::Environment names{{"M", num(row, "M")}, {"K", num(row, "K_logical")},
                            {"batch", 1},         {"l", 0},
                            {"r", num(row, "m")}, {"k", num(row, "k_logical")}};
    EXPECT_EQ(value(kernel.metadata[0].offset, names), num(row, "byte_offset"));
    ++compared;
  }
  EXPECT_GT(compared, 100u);
}

} // namespace
