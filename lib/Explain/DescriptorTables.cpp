//===- DescriptorTables.cpp - tables of descriptors===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"

namespace blockscale::explain {

using namespace hw;

static ElementFormat formatColumn(Question &q, std::string_view column) {
  std::optional<ElementFormat> format = parseFormat(q.text(column));
  if (!format)
    q.fail(column, "'" + q.text(column) + "' is no element format");
  return format.value_or(ElementFormat::E4M3);
}

static MmaKind kindColumn(Question &q) {
  std::size_t index = q.oneOf("kind", {"mxf8f6f4", "mxf4", "mxf4nvf4"});
  return index == 0   ? MmaKind::MXF8F6F4
         : index == 1 ? MmaKind::MXF4
                      : MmaKind::MXF4NVF4;
}

//===----------------------------------------------------------------------===//
// Instruction descriptors
//===----------------------------------------------------------------------===//

/// The rules that tie the shape columns together; none of them depends on the
/// chip.
static void checkShape(Question &q, MmaKind kind, unsigned block, unsigned k,
                       unsigned ctaGroup, const BlockScaledInstr &instr) {
  unsigned usual = (kind == MmaKind::MXF8F6F4 ? 32 : 64) * (instr.sparse + 1);
  if (k != usual && instr.kSize == KSize::Narrow)
    q.fail("K", "kind '" + q.text("kind") + "' has K " + std::to_string(usual) +
                    (instr.sparse ? " when sparse" : " when dense") +
                    ", found " + std::to_string(k));
  if (block == 16 && kind != MmaKind::MXF4NVF4)
    q.fail("block_size", "only kind 'mxf4nvf4' has blocks of 16");
  if (block == 32 && instr.scale == ElementFormat::UE4M3 &&
      instr.kSize != KSize::Wide)
    q.fail("sf_type", "'ue4m3' scales go with blocks of 16");
  if (ctaGroup == 1 && instr.m != 128)
    q.fail("M", "cta_group 1 has M 128, found " + std::to_string(instr.m));
  if (ctaGroup == 2 && instr.m != 256 &&
      (instr.sparse || instr.kSize != KSize::Narrow))
    q.fail("M",
           "cta_group 2 has M 256 when sparse or with K=" +
               std::string(instr.kSize == KSize::Wide ? q.text("K") : "96") +
               ", found " + std::to_string(instr.m));
  unsigned scales = scalesPerMma(kind, block, k, instr.sparse);
  if (!scales) {
    q.fail("K", "no instruction has K " + std::to_string(k) +
                    " with blocks of " + std::to_string(block) +
                    (instr.sparse ? ", sparse" : ", dense"));
    return;
  }
  for (auto [column, id] :
       {std::pair{"sfa_id", instr.sfaId}, std::pair{"sfb_id", instr.sfbId}})
    if (!isScaleId(scales, id))
      q.fail(column, "id " + std::to_string(id) + " with " +
                         std::to_string(scales) +
                         " scales per instruction; it must be " +
                         (scales == 4 ? "0" : "0 or 2"));
}

static RowAnswer answerInstr(Question &q) {
  BlockScaledInstr instr;
  MmaKind kind = kindColumn(q);
  unsigned block = q.oneOf("block_size", {"16", "32"}) ? 32 : 16;
  unsigned ctaGroup = q.oneOf("cta_group", {"1", "2"}) ? 2 : 1;
  instr.variant = instrVariant(kind);
  instr.sparse = q.flag("sparse");
  instr.m = q.count("M");
  instr.n = q.count("N");
  unsigned k = q.count("K");
  instr.a = formatColumn(q, "a_type");
  instr.b = formatColumn(q, "b_type");
  instr.scale = formatColumn(q, "sf_type");
  instr.aMnMajor = q.oneOf("a_major", {"K", "MN"});
  instr.bMnMajor = q.oneOf("b_major", {"K", "MN"});
  instr.negateA = q.flag("negate_a");
  instr.negateB = q.flag("negate_b");
  instr.sfaId = static_cast<unsigned>(q.number("sfa_id", 3));
  instr.sfbId = static_cast<unsigned>(q.number("sfb_id", 3));
  instr.kSize = kSize(kind, k, instr.sparse).value_or(KSize::Narrow);
  if (q.why())
    return *q.why();
  Result<std::uint32_t> bits = encode(instr);
  if (!bits)
    return bits.why();
  checkShape(q, kind, block, k, ctaGroup, instr);
  return std::vector<std::string>{hex(*bits, 8)};
}

//===----------------------------------------------------------------------===//
// Shared-memory descriptors
//===----------------------------------------------------------------------===//

static OperandMajor majorColumn(Question &q) {
  return q.oneOf("major", {"K", "MN"}) ? OperandMajor::MN : OperandMajor::K;
}

static Swizzle swizzleColumn(Question &q) {
  std::optional<Swizzle> swizzle = parseSwizzle(q.text("swizzle"));
  if (!swizzle)
    q.fail("swizzle", "expected '128B', '128B_32B_atoms', '64B', '32B' or "
                      "'none', found '" +
                          q.text("swizzle") + "'");
  return swizzle.value_or(Swizzle::None);
}

/// The type must agree with the container, and only true 8-bit elements may be
/// MN-major.
static void checkElementType(Question &q, const OperandTile &tile) {
  const std::string &type = q.text("type");
  std::optional<ElementFormat> format = parseFormat(type);
  bool packed = type == "e2m1 packed" || format == ElementFormat::E2M1;
  bool padded = type.rfind("unpacked 4/6-bit", 0) == 0;
  bool byte = format == ElementFormat::E4M3 || format == ElementFormat::E5M2;
  if (!packed && !padded && !byte) {
    q.fail("type", "'" + type + "' is no operand type");
    return;
  }
  if (tile.containerBits != (packed ? 4u : 8u))
    q.fail("container_bits", "'" + type + "' is stored in " +
                                 (packed ? "4" : "8") + " bits, found " +
                                 std::to_string(tile.containerBits));
  if (tile.major == OperandMajor::MN && !byte)
    q.fail("major", "4-bit and 6-bit operands are K-major only");
}

static RowAnswer answerSmem(Question &q) {
  OperandTile tile;
  tile.major = majorColumn(q);
  tile.swizzle = swizzleColumn(q);
  tile.containerBits = q.count("container_bits");
  tile.mn = q.count("tile_mn");
  tile.k = q.count("tile_k");
  OperandStep step;
  step.mmaMn = q.count("mma_mn");
  step.mmaK = q.count("mma_k");
  step.mnIndex = q.count("mn_index");
  step.kIndex = q.count("k_index");
  unsigned base = q.count("smem_base");
  checkElementType(q, tile);
  if (q.why())
    return *q.why();
  Result<StepAddress> address = stepAddress(tile, step);
  if (!address)
    return address.why();
  Result<SmemDescriptor> descriptor = stepDescriptor(tile, step, base);
  if (!descriptor)
    return descriptor.why();
  Result<std::uint64_t> bits = encode(*descriptor);
  if (!bits)
    return bits.why();
  return std::vector<std::string>{
      std::to_string(address->startOffset), std::to_string(address->lbo),
      std::to_string(address->sbo),
      std::to_string(static_cast<unsigned>(tile.swizzle)), hex(*bits, 16)};
}

static RowAnswer answerK96Smem(Question &q) {
  unsigned rows = q.count("rows");
  std::array<std::uint32_t, 3> bases{q.count("buf0_base"), q.count("buf1_base"),
                                     q.count("buf2_base")};
  unsigned index = q.count("mma_index");
  if (!q.why() && (rows == 0 || rows % 8 != 0 || rows > 256))
    q.fail("rows",
           "expected a multiple of 8 up to 256, found " + std::to_string(rows));
  if (q.why())
    return *q.why();
  Result<K96Step> step = k96Step(index);
  if (!step)
    return step.why();
  Result<SmemDescriptor> descriptor = k96Descriptor(bases, index);
  if (!descriptor)
    return descriptor.why();
  Result<std::uint64_t> bits = encode(*descriptor);
  if (!bits)
    return bits.why();
  return std::vector<std::string>{
      std::to_string(step->startBuffer), std::to_string(step->startByte),
      std::to_string(step->lboBuffer), hex(*bits, 16)};
}

static RowAnswer answerCopy(Question &q) {
  // The text after the shape says what is copied and does not matter.
  std::string_view shape = q.text("copy");
  shape = shape.substr(0, shape.find(' '));
  if (shape != "32x128b.warpx4" && shape != "128x128b")
    q.fail("copy", "expected '32x128b.warpx4' or '128x128b', found '" +
                       q.text("copy") + "'");
  Result<SmemDescriptor> descriptor = copyDescriptor(q.count("smem_base"));
  if (!descriptor)
    return descriptor.why();
  Result<std::uint64_t> bits = encode(*descriptor);
  if (!bits)
    return bits.why();
  return std::vector<std::string>{
      std::to_string(descriptor->lbo), std::to_string(descriptor->sbo),
      std::to_string(static_cast<unsigned>(descriptor->swizzle)),
      hex(*bits, 16)};
}

static RowAnswer answerSwizzle(Question &q) {
  OperandTile tile;
  tile.major = majorColumn(q);
  tile.swizzle = swizzleColumn(q);
  tile.containerBits = q.count("element_bits");
  tile.mn = q.count("tile_mn");
  tile.k = q.count("tile_k");
  unsigned mn = q.count("mn"), k = q.count("k");
  if (q.why())
    return *q.why();
  Result<std::uint64_t> offset = elementOffset(tile, mn, k);
  return offset ? decimals(*offset) : RowAnswer(offset.why());
}

void addDescriptorTables(std::vector<Table> &tables) {
  tables.push_back({"idesc",
                    {{"kind", false},
                     {"block_size", false},
                     {"cta_group", false},
                     {"sparse", false},
                     {"M", false},
                     {"N", false},
                     {"K", false},
                     {"a_type", false},
                     {"b_type", false},
                     {"sf_type", false},
                     {"a_major", false},
                     {"b_major", false},
                     {"negate_a", false},
                     {"negate_b", false},
                     {"sfa_id", false},
                     {"sfb_id", false},
                     {"idesc", true}},
                    answerInstr});
  tables.push_back({"smem_desc",
                    {{"major", false},
                     {"swizzle", false},
                     {"container_bits", false},
                     {"type", false},
                     {"tile_mn", false},
                     {"tile_k", false},
                     {"mma_mn", false},
                     {"mma_k", false},
                     {"mn_index", false},
                     {"k_index", false},
                     {"smem_base", false},
                     {"start_offset_bytes", true},
                     {"lbo_bytes", true},
                     {"sbo_bytes", true},
                     {"layout_type", true},
                     {"descriptor", true}},
                    answerSmem});
  tables.push_back({"k96_smem_desc",
                    {{"rows", false},
                     {"buf0_base", false},
                     {"buf1_base", false},
                     {"buf2_base", false},
                     {"mma_index", false},
                     {"start_buffer", true},
                     {"start_byte", true},
                     {"next_buffer", true},
                     {"descriptor", true}},
                    answerK96Smem});
  tables.push_back({"utccp_desc",
                    {{"copy", false},
                     {"smem_base", false},
                     {"lbo_bytes", true},
                     {"sbo_bytes", true},
                     {"layout_type", true},
                     {"descriptor", true}},
                    answerCopy});
  tables.push_back({"smem_swizzle_offsets",
                    {{"major", false},
                     {"swizzle", false},
                     {"element_bits", false},
                     {"tile_mn", false},
                     {"tile_k", false},
                     {"mn", false},
                     {"k", false},
                     {"element_offset", true}},
                    answerSwizzle});
}

} // namespace blockscale::explain
