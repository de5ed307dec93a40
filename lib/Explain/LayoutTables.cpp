//===- LayoutTables.cpp - tables of scale, accumulator and metadata layouts===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>

#include "Table.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

namespace blockscale::explain {

using namespace hw;

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static RowAnswer answerScaleGmem(Question &q) {
  ScaleTensor tensor;
  tensor.blockSize = q.count("block_size");
  tensor.mn = q.number("mn_extent", kMaxExtent);
  tensor.k = q.number("k_extent", kMaxExtent);
  tensor.batch = q.number("batch_extent", kMaxExtent);
  std::uint64_t mn = q.number("mn", kMaxExtent);
  std::uint64_t k = q.number("k_element", kMaxExtent);
  std::uint64_t batch = q.number("batch", kMaxExtent);
  if (q.why())
    return *q.why();
  Result<std::uint64_t> offset = scaleOffset(tensor, mn, k, batch);
  return offset ? decimals(*offset) : RowAnswer(offset.why());
}

/// Reads `mn_extent` and gives the region of operand A or B. Tables count B in
/// whole atoms; on the 2x2 path that is also the instruction's N.
static Result<ScaleRegion> regionColumn(Question &q, bool operandB,
                                        ScalePath path) {
  unsigned extent = q.count("mn_extent");
  if (extent != 128 && !(operandB && extent == 256))
    q.fail("mn_extent", std::string("expected ") +
                            (operandB ? "128 or 256 for B" : "128 for A") +
                            ", found '" + q.text("mn_extent") + "'");
  return scaleRegion(path, extent);
}

/// Scales per MMA of a row with kind, block_size, K and sparse columns.
static unsigned scalesColumn(Question &q) {
  std::size_t kind = q.oneOf("kind", {"mxf8f6f4", "mxf4", "mxf4nvf4"});
  unsigned block = q.oneOf("block_size", {"16", "32"}) ? 32 : 16;
  unsigned k = q.count("K");
  bool sparse = q.flag("sparse");
  unsigned usual = (kind == 0 ? 32 : 64) * (sparse ? 2 : 1);
  constexpr MmaKind kKinds[] = {MmaKind::MXF8F6F4, MmaKind::MXF4,
                                MmaKind::MXF4NVF4};
  if (!kSize(kKinds[kind], k, sparse))
    q.fail("K", "kind '" + q.text("kind") + "' has K " + std::to_string(usual) +
                    (sparse ? " when sparse" : " when dense") + ", found " +
                    std::to_string(k));
  if (block == 16 && kind != 2)
    q.fail("block_size", "only kind 'mxf4nvf4' has blocks of 16");
  unsigned scales = scalesPerMma(kKinds[kind], block, k, sparse);
  if (!scales)
    q.fail("K", "no instruction has K " + std::to_string(k) +
                    " with blocks of " + std::to_string(block) +
                    (sparse ? ", sparse" : ", dense"));
  return scales ? scales : 1;
}

static RowAnswer answerScaleTmem(Question &q) {
  bool operandB = q.oneOf("operand", {"A", "B"});
  unsigned scales = scalesColumn(q);
  unsigned ctaGroup = q.oneOf("cta_group", {"1", "2"}) ? 2 : 1;
  unsigned m = q.oneOf("M", {"128", "256"}) ? 256 : 128;
  bool twoByTwo = q.oneOf("datapath", {"4x1", "2x2"});
  unsigned step = q.count("k_step"), mn = q.count("mn");
  unsigned scale = q.count("sf_in_mma"), replica = q.count("replica");
  if (ctaGroup == 1 && m == 256)
    q.fail("M", "cta_group 1 has M 128, found 256");
  if (twoByTwo != (ctaGroup == 2 && m == 128))
    q.fail("datapath", "cta_group 2 with M 128 is '2x2', the others are "
                       "'4x1', found '" +
                           q.text("datapath") + "'");
  if (scale >= scales)
    q.fail("sf_in_mma",
           "an instruction of this kind has " + std::to_string(scales) +
               " scales per row, found number " + std::to_string(scale));
  Result<ScaleRegion> region =
      regionColumn(q, operandB, scalePath(operandB, ctaGroup, m));
  if (q.why())
    return *q.why();
  if (!region)
    return region.why();
  Result<ScaleStep> address = scaleStep(scales, region->wordStride, step);
  if (!address)
    return address.why();
  Result<ScalePosition> position =
      scalePosition(*region, mn, address->firstScale + scale, replica);
  if (!position)
    return position.why();
  return decimals(position->lane, position->column, position->byte,
                  address->column, address->id);
}

namespace {
/// The columns that both K=96 tables share.
struct K96Row {
  ScaleRegion region;
  ScaleStep step;
  unsigned scales;
};
} // namespace

static Result<K96Row> k96Row(Question &q) {
  bool operandB = q.oneOf("operand", {"A", "B"});
  unsigned block = q.oneOf("block_size", {"16", "32"}) ? 32 : 16;
  unsigned scales = scalesPerMma(MmaKind::MXF4NVF4, block, kK96);
  unsigned tile = q.count("k_tile"), index = q.count("mma_index");
  Result<ScaleRegion> region = regionColumn(q, operandB, ScalePath::FourByOne);
  if (tile == 0 || tile % 96 != 0)
    q.fail("k_tile",
           "expected a multiple of 96, found '" + q.text("k_tile") + "'");
  else if (index >= tile / 96)
    q.fail("mma_index", "a K tile of " + std::to_string(tile) + " has " +
                            std::to_string(tile / 96) +
                            " instructions, found number " +
                            std::to_string(index));
  if (q.why())
    return *q.why();
  if (!region)
    return region.why();
  Result<ScaleStep> step = scaleStep(scales, region->wordStride, index);
  if (!step)
    return step.why();
  return K96Row{*region, *step, scales};
}

static RowAnswer answerK96Sequence(Question &q) {
  Result<K96Row> row = k96Row(q);
  if (!row)
    return row.why();
  return decimals(row->step.firstScale, row->step.column, row->step.id);
}

static RowAnswer answerK96Positions(Question &q) {
  Result<K96Row> row = k96Row(q);
  unsigned mn = q.count("mn"), scale = q.count("sf_in_mma");
  if (!row)
    return row.why();
  if (scale >= row->scales)
    q.fail("sf_in_mma", "the instruction has " + std::to_string(row->scales) +
                            " scales per row, found number " +
                            std::to_string(scale));
  Result<ScalePosition> position =
      scalePosition(row->region, mn, row->step.firstScale + scale, 0);
  if (!position)
    return position.why();
  return decimals(position->lane, position->column, position->byte);
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

static RowAnswer answerAccumulator(Question &q) {
  std::size_t id = q.oneOf("layout_id", {"A", "B", "D", "F"});
  unsigned ctaGroup = q.oneOf("cta_group", {"1", "2"}) ? 2 : 1;
  unsigned rows = q.count("M"), columns = q.count("N");
  unsigned rank = static_cast<unsigned>(q.number("cta_rank", ctaGroup - 1));
  unsigned m = q.count("m"), n = q.count("n");
  if (q.why())
    return *q.why();
  constexpr AccumulatorLayout layouts[] = {
      AccumulatorLayout::A, AccumulatorLayout::B, AccumulatorLayout::D,
      AccumulatorLayout::F};
  Result<AccumulatorLayout> layout = accumulatorLayout(ctaGroup, rows, false);
  if (!layout)
    return layout.why();
  if (*layout != layouts[id])
    return Reason("layout '" + q.text("layout_id") +
                  "' is not that of cta_group " + std::to_string(ctaGroup) +
                  " with m " + std::to_string(rows));
  Result<TmemPosition> position = accumulatorPosition(*layout, columns, m, n);
  if (!position)
    return position.why();
  if (position->cta != rank)
    return Reason("row " + std::to_string(m) + " lies in CTA " +
                  std::to_string(position->cta) + " of the pair, found " +
                  std::to_string(rank));
  return decimals(position->lane, position->column);
}

//===----------------------------------------------------------------------===//
// Sparse metadata
//===----------------------------------------------------------------------===//

static MmaKind sparseKindColumn(Question &q) {
  constexpr MmaKind kKinds[] = {
      MmaKind::MXF8F6F4, MmaKind::MXF8F6F4, MmaKind::MXF8F6F4,
      MmaKind::MXF8F6F4, MmaKind::MXF4,     MmaKind::MXF4,
      MmaKind::MXF4NVF4, MmaKind::F8F6F4,   MmaKind::F16,
      MmaKind::TF32,     MmaKind::I8};
  return kKinds[q.oneOf("kind", {"mxf8f6f4", "mxf8f6f4 (fp6)", "mxf8f6f4 (fp4)",
                                 "mxf8f6f4 (fp8)", "mxf4/mxf4nvf4", "mxf4",
                                 "mxf4nvf4", "f8f6f4", "f16", "tf32", "i8"})];
}

static SparsePattern patternColumn(Question &q) {
  return sparsePattern(sparseKindColumn(q));
}

static RowAnswer answerMetadataGmem(Question &q) {
  MetadataTensor tensor;
  tensor.pattern = patternColumn(q);
  tensor.m = q.number("M", kMaxExtent);
  tensor.k = q.number("K_logical", kMaxExtent);
  std::uint64_t m = q.number("m", kMaxExtent);
  std::uint64_t k = q.number("k_logical", kMaxExtent);
  if (q.why())
    return *q.why();
  Result<std::uint64_t> offset = metadataOffset(tensor, m, k);
  if (!offset)
    return offset.why();
  return decimals(*offset, elementsPerMetadataByte(tensor.pattern));
}

static RowAnswer answerMetadataTmem(Question &q) {
  MmaKind kind = sparseKindColumn(q);
  unsigned perMma = q.count("K_logical_per_mma");
  unsigned step = q.count("k_step"), m = q.count("m"), k = q.count("k_logical");
  unsigned expected = instructionK(kind, /*sparse=*/true);
  if (perMma != expected)
    q.fail("K_logical_per_mma", "kind '" + q.text("kind") + "' has " +
                                    std::to_string(expected) + ", found '" +
                                    q.text("K_logical_per_mma") + "'");
  if (q.why())
    return *q.why();
  Result<MetadataPosition> position = metadataPosition(kind, step, m, k);
  if (!position)
    return position.why();
  return decimals(position->lane, position->column, position->byte);
}

/// A list of hexadecimal codes separated by blanks.
static std::vector<std::uint32_t>
codesColumn(Question &q, std::string_view column, std::uint32_t max) {
  std::vector<std::uint32_t> codes;
  const std::string &list = q.text(column);
  for (std::size_t at = 0; at < list.size();) {
    std::size_t end = std::min(list.find(' ', at), list.size());
    if (end > at) {
      Question one;
      one.set(column, list.substr(at, end - at));
      codes.push_back(static_cast<std::uint32_t>(one.hexNumber(column, max)));
      if (one.why())
        q.fail(column, "'" + list.substr(at, end - at) +
                           "' is no hexadecimal code up to " + hex(max, 1));
    }
    at = end + 1;
  }
  return codes;
}

static RowAnswer answerCompress(Question &q) {
  SparsePattern pattern = patternColumn(q);
  unsigned bits = pattern == SparsePattern::TwoOfFour ? 8 : 4;
  std::vector<std::uint32_t> logical = codesColumn(
      q, "logical_elements_hex_low_k_first", bits == 8 ? 0xff : 0xf);
  if (q.why())
    return *q.why();
  Result<CompressedRow> row = compress(pattern, bits, logical);
  if (!row)
    return row.why();
  std::string stored, metadata;
  for (std::uint32_t code : row->stored)
    stored += (stored.empty() ? "" : " ") + hex(code, bits / 4).substr(2);
  for (std::uint8_t byte : row->metadata)
    metadata += (metadata.empty() ? "" : " ") + hex(byte, 2);
  return std::vector<std::string>{stored, metadata};
}

void addLayoutTables(std::vector<Table> &tables) {
  tables.push_back({"sf_gmem_offsets",
                    {{"block_size", false},
                     {"mn_extent", false},
                     {"k_extent", false},
                     {"batch_extent", false},
                     {"mn", false},
                     {"k_element", false},
                     {"batch", false},
                     {"byte_offset", true}},
                    answerScaleGmem});
  tables.push_back({"tmem_sf_layout",
                    {{"operand", false},
                     {"kind", false},
                     {"block_size", false},
                     {"K", false},
                     {"sparse", false},
                     {"cta_group", false},
                     {"M", false},
                     {"mn_extent", false},
                     {"datapath", false},
                     {"k_step", false},
                     {"mn", false},
                     {"sf_in_mma", false},
                     {"replica", false},
                     {"lane", true},
                     {"column", true},
                     {"byte", true},
                     {"instr_addr_column", true},
                     {"instr_sf_id", true}},
                    answerScaleTmem});
  tables.push_back({"k96_sequence",
                    {{"operand", false},
                     {"block_size", false},
                     {"mn_extent", false},
                     {"k_tile", false},
                     {"mma_index", false},
                     {"first_sf", true},
                     {"column_offset", true},
                     {"sf_id", true}},
                    answerK96Sequence});
  tables.push_back({"k96_scale_positions",
                    {{"operand", false},
                     {"block_size", false},
                     {"mn_extent", false},
                     {"k_tile", false},
                     {"mma_index", false},
                     {"mn", false},
                     {"sf_in_mma", false},
                     {"lane_in_quadrant", true},
                     {"column", true},
                     {"byte", true}},
                    answerK96Positions});
  tables.push_back({"tmem_accumulator",
                    {{"layout_id", false},
                     {"cta_group", false},
                     {"M", false},
                     {"N", false},
                     {"cta_rank", false},
                     {"m", false},
                     {"n", false},
                     {"lane", true},
                     {"column", true}},
                    answerAccumulator});
  tables.push_back({"sparse_meta_gmem_offsets",
                    {{"kind", false},
                     {"M", false},
                     {"K_logical", false},
                     {"m", false},
                     {"k_logical", false},
                     {"byte_offset", true},
                     {"logical_elements_per_metadata_byte", true}},
                    answerMetadataGmem});
  tables.push_back({"tmem_sparse_meta",
                    {{"kind", false},
                     {"K_logical_per_mma", false},
                     {"k_step", false},
                     {"m", false},
                     {"k_logical", false},
                     {"lane", true},
                     {"column", true},
                     {"byte", true}},
                    answerMetadataTmem});
  tables.push_back({"sparse_compress",
                    {{"kind", false},
                     {"logical_elements_hex_low_k_first", false},
                     {"stored_elements_hex_low_k_first", true},
                     {"metadata_byte", true},
                     {"empty_chunk", false}},
                    answerCompress});
}

} // namespace blockscale::explain
