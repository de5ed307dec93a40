//===- UnitsRubinDescriptorTest.cpp - descriptors of sm_107 ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instruction descriptors compiled by the vendor's DSL for sm_107a, what is
// illegal in them, shared-memory descriptors and allocations.
//
//===----------------------------------------------------------------------===//

#include "UnitsRubin.h"

#include <gtest/gtest.h>

#include <string>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

std::string refusal(uint32_t bits, const MmaForm &form) {
  InstructionDescriptor out;
  OpenPointSet points;
  return decodeInstructionDescriptor(bits, form, out, points).value_or("");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

// Values of PTX that the vendor's DSL compiled for sm_107a.
const struct {
  uint32_t bits;
  MmaKind kind;
  unsigned block, group, m, n, k, scales;
  Element a, b, scale;
} kCompiled[] = {
    {0x08200488, MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, 8, Element::E2M1,
     Element::E2M1, Element::UE4M3},
    {0x08300488, MmaKind::MXF4NVF4, 16, 1, 128, 192, 128, 8, Element::E2M1,
     Element::E2M1, Element::UE4M3},
    {0x10400488, MmaKind::MXF4NVF4, 16, 2, 256, 256, 128, 8, Element::E2M1,
     Element::E2M1, Element::UE4M3},
    {0x09200488, MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, 8, Element::E2M1,
     Element::E2M1, Element::UE5M3},
    {0x11400488, MmaKind::MXF4NVF4, 16, 2, 256, 256, 128, 8, Element::E2M1,
     Element::E2M1, Element::UE5M3},
    {0x10C00488, MmaKind::MXF4NVF4, 32, 2, 256, 256, 128, 4, Element::E2M1,
     Element::E2M1, Element::UE8M0},
    {0x10C00488, MmaKind::MXF4, 32, 2, 256, 256, 128, 4, Element::E2M1,
     Element::E2M1, Element::UE8M0},
    {0x88A00000, MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, 2, Element::E4M3,
     Element::E4M3, Element::UE8M0},
    {0x90C00000, MmaKind::MXF8F6F4, 32, 2, 256, 256, 64, 2, Element::E4M3,
     Element::E4M3, Element::UE8M0},
    {0x90C01400, MmaKind::MXF8F6F4, 32, 2, 256, 256, 64, 2, Element::E4M3,
     Element::E2M1, Element::UE8M0},
};

TEST(UnitsRubinDescriptor, CompiledDescriptors) {
  for (const auto &row : kCompiled) {
    MmaForm form = formOf(row.kind, row.block, row.group);
    InstructionDescriptor out;
    OpenPointSet points;
    auto reason = decodeInstructionDescriptor(row.bits, form, out, points);
    ASSERT_FALSE(reason) << *reason;
    EXPECT_EQ(out.m, row.m);
    EXPECT_EQ(out.n, row.n);
    EXPECT_EQ(out.k, row.k);
    EXPECT_EQ(out.scaleCount, row.scales);
    EXPECT_EQ(out.a, row.a);
    EXPECT_EQ(out.b, row.b);
    EXPECT_EQ(out.scale, row.scale);
    EXPECT_TRUE(out.doubleK);
    EXPECT_FALSE(out.rowScalesA);
    // Each of them is refused for a chip without the wide K.
    form.wide = false;
    EXPECT_NE(refusal(row.bits, form), "");
  }
}

TEST(UnitsRubinDescriptor, RefusalsNameTheRule) {
  MmaForm nv = formOf(MmaKind::MXF4NVF4, 16, 1),
          mx4 = formOf(MmaKind::MXF4, 32, 1),
          mx8 = formOf(MmaKind::MXF8F6F4, 32, 1),
          plain = formOf(MmaKind::F8F6F4, 0, 1);
  auto pair = [](MmaForm form) {
    form.ctaGroup = 2;
    return form;
  };
  auto before = [](MmaForm form) {
    form.wide = form.elementwise = false;
    return form;
  };
  const struct {
    uint32_t bits;
    MmaForm form;
    const char *reason;
  } rows[] = {
      // Chips before.
      {0x08200488, before(nv),
       "instruction descriptor bit 3 must be 0 for kind 'mxf4nvf4'; on sm_107 "
       "it is the K size"},
      {0x88A00000, before(mx8),
       "instruction descriptor bit 31 must be 0 for kind 'mxf8f6f4'; on sm_107 "
       "it is the K size"},
      {0x28200010, before(plain),
       "instruction descriptor bit 29 must be 0 for kind 'f8f6f4'; on sm_107 "
       "it is the K size"},
      {0x09200480, before(nv),
       "instruction descriptor bit 24 must be 0 for kind 'mxf4nvf4'; on sm_107 "
       "it is the upper bit of the scale format, 'ue5m3'"},
      {0x0C200480, before(nv),
       "instruction descriptor bit 26 must be 0 for kind 'mxf4nvf4'; on sm_107 "
       "it lays the scales of A one row to a lane"},
      {0x08200480, before(formOf(MmaKind::MXF4NVF4, 32, 1)),
       "kind 'mxf4nvf4' with blocks of 32 takes 'ue8m0' scales only, found "
       "'ue4m3'; sm_107 takes it"},
      // K sizes.
      {0x88200488, nv,
       "K size code 3 is not one of kind 'mxf4nvf4'; 0 is K=64, 1 K=96, 2 "
       "K=128"},
      {0x0820149C, formOf(MmaKind::MXF4NVF4, 16, 1, true),
       "K=256 does not exist: sparse K is 128 or 192"},
      {0x28200014, formOf(MmaKind::F8F6F4, 0, 1, true),
       "kind 'f8f6f4' has no descriptor code for sparse K=128; legal is sparse "
       "K=64"},
      {0x28201410, plain,
       "K=64 of kind 'f8f6f4' takes 'e4m3' and 'e5m2' only, found 'e4m3' and "
       "'e2m1'"},
      // Rows.
      {0x08400488, pair(nv),
       "K=128 needs M=256 with cta_group::2, found M=128"},
      {0x88400488 & ~8u, pair(nv),
       "K=96 needs M=256 with cta_group::2, found M=128"},
      {0x88C00000, pair(mx8),
       "K=64 needs M=256 with cta_group::2, found M=128"},
      {0x24200010, plain, "K=64 needs M=128 with cta_group::1, found M=64"},
      // Scales.
      {0x09A00488, nv,
       "scale format code 3 does not exist; 0 is 'ue4m3', 1 'ue8m0', 2 "
       "'ue5m3'"},
      {0x09200488, mx4,
       "kind 'mxf4' with blocks of 32 takes 'ue8m0' scales only, found "
       "'ue5m3'"},
      {0x88200000, mx8,
       "kind 'mxf8f6f4' with blocks of 32 takes 'ue8m0' scales only, found "
       "'ue4m3'"},
      {0x89A00000, mx8,
       "instruction descriptor bit 24 must be 0 for kind 'mxf8f6f4'"},
      {0x48200488, nv,
       "SFA_ID 2 is not a multiple of 8 as kind 'mxf4nvf4' with 8 scales per "
       "instruction "
       "needs"},
      {0x082004A8, formOf(MmaKind::MXF4NVF4, 32, 1),
       "SFB_ID 2 is not a multiple of 4 as kind 'mxf4nvf4' with 4 scales per "
       "instruction "
       "needs"},
      {0xA8A00000, mx8,
       "SFA_ID 1 is not a multiple of 2 as kind 'mxf8f6f4' with 2 scales per "
       "instruction needs"},
      // Sparsity.
      {0x08200484, formOf(MmaKind::MXF4NVF4, 16, 1, true),
       "instruction descriptor bit 12 must be 1 for sparse kind 'mxf4nvf4': "
       "metadata counts elements on sm_107a, not pairs"},
      {0x08201484, before(formOf(MmaKind::MXF4NVF4, 16, 1, true)),
       "instruction descriptor bit 12 must be 0 for sparse kind 'mxf4nvf4': "
       "metadata counts pairs of elements before sm_107"},
      {0x08201480, nv,
       "instruction descriptor bit 12 must be 0 for kind 'mxf4nvf4'"},
  };
  for (const auto &row : rows)
    EXPECT_EQ(refusal(row.bits, row.form), row.reason) << std::hex << row.bits;
}

TEST(UnitsRubinDescriptor, ChoicesAreNamed) {
  auto points = [](uint32_t bits, const MmaForm &form) {
    InstructionDescriptor out;
    OpenPointSet found;
    EXPECT_FALSE(decodeInstructionDescriptor(bits, form, out, found));
    return found;
  };
  MmaForm one = formOf(MmaKind::MXF4, 32, 1),
          pair = formOf(MmaKind::MXF4, 32, 2);
  // K=96 with the ids 3 and 0, and 2 and 0.
  EXPECT_TRUE(points(0xE8A00480, one).contains(OpenPoint::K96Block32Ids));
  EXPECT_FALSE(points(0xC8A00480, one).contains(OpenPoint::K96Block32Ids));
  // Pairs with M=128, with a row of scales to a lane and without.
  EXPECT_TRUE(points(0x0CA00480, pair).contains(OpenPoint::RowScalesPairM128));
  EXPECT_TRUE(points(0x08A00480, pair).contains(OpenPoint::CtaPairM128Scales));
  EXPECT_FALSE(points(0x08A00480, pair).contains(OpenPoint::RowScalesPairM128));
}

TEST(UnitsRubinDescriptor, SharedAddressesOf15Bits) {
  const uint64_t tile = 0x4000404000010000; // K-major, 128-byte swizzle
  SharedDescriptor high = decodeSharedDescriptor(tile | 0x5000);
  EXPECT_EQ(high.start, 0x50000u);
  EXPECT_FALSE(whyNot(high, {true}));
  EXPECT_EQ(*whyNot(high),
            "reserved bits 14-15 or 30-31 of the shared-memory descriptor are "
            "set; addresses of 15 bits are those of sm_107");
  EXPECT_EQ(*whyNot(decodeSharedDescriptor(tile | 0x8000), {true}),
            "reserved bit 15 or 31 of the shared-memory descriptor is set");
  SharedDescriptor next = decodeSharedDescriptor(0x4010404052345000);
  EXPECT_EQ(next.leading, 0x52340u);
  EXPECT_FALSE(whyNot(next, {true}));
}

TEST(UnitsRubinDescriptor, TransposedAtoms) {
  // PTX ISA 9.4: tf32 transposed only with the 128-byte swizzle of 32-byte
  // atoms, all others never with it.
  const uint64_t base = 0x0000404000010000;
  SharedDescriptor atoms32 = decodeSharedDescriptor(base | uint64_t(1) << 61),
                   atoms16 = decodeSharedDescriptor(base | uint64_t(2) << 61);
  EXPECT_FALSE(whyNotOperand(atoms32, true, 32, 32));
  EXPECT_EQ(*whyNotOperand(atoms16, true, 32, 32),
            "MN-major operands of 32-bit elements need the 128-byte swizzle "
            "with 32-byte atoms");
  EXPECT_FALSE(whyNotOperand(atoms16, true, 32, 16));
  EXPECT_EQ(*whyNotOperand(atoms32, true, 32, 16),
            "MN-major operands of 16-bit elements cannot use the 128-byte "
            "swizzle with 32-byte atoms");
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

TEST(UnitsRubinMemory, ExclusiveAllocation) {
  TensorMemory rubin(576), blackwell(512);
  uint32_t address = 99;
  EXPECT_EQ(rubin.allocate(576, address, 64, true), AllocStatus::Ok);
  EXPECT_EQ(address, 0u);
  EXPECT_TRUE(rubin.allocated(0, 576));
  // Every other one waits.
  EXPECT_EQ(rubin.canAllocate(32), AllocStatus::WouldBlock);
  EXPECT_EQ(rubin.canAllocate(32, true), AllocStatus::WouldBlock);
  EXPECT_EQ(*rubin.deallocate(0, 576, false),
            "the allocation is '.exclusive', its dealloc must be so too");
  EXPECT_EQ(*rubin.deallocate(0, 544, true),
            "no allocation of 544 columns at tensor-memory address 0");
  EXPECT_FALSE(rubin.deallocate(0, 576, true));
  EXPECT_EQ(rubin.allocate(256, address), AllocStatus::Ok);
  EXPECT_EQ(rubin.canAllocate(96, true), AllocStatus::WouldBlock);
  EXPECT_EQ(*rubin.deallocate(0, 256, true),
            "the allocation is not '.exclusive', its dealloc must not be "
            "either");
  for (uint32_t columns : {16u, 100u, 608u, 1024u})
    EXPECT_EQ(TensorMemory(576).canAllocate(columns, true),
              AllocStatus::IllegalExclusiveCount)
        << columns;
  EXPECT_EQ(describe(AllocStatus::IllegalExclusiveCount, 576),
            "number of columns of an exclusive allocation is not a multiple of "
            "32 in 32..576");
  // Elsewhere it lifts the power-of-two rule up to 512.
  EXPECT_EQ(blackwell.canAllocate(576, true),
            AllocStatus::IllegalExclusiveCount);
  EXPECT_EQ(blackwell.canAllocate(384), AllocStatus::IllegalCount);
  EXPECT_EQ(blackwell.allocate(384, address, 0, true), AllocStatus::Ok);
  EXPECT_TRUE(blackwell.allocated(0, 384));
  EXPECT_FALSE(blackwell.allocated(384, 1));
  // Plain allocations share 512 columns.
  TensorMemory plain(576);
  EXPECT_EQ(plain.canAllocate(544), AllocStatus::IllegalCount);
  EXPECT_EQ(plain.allocate(512, address), AllocStatus::Ok);
  EXPECT_EQ(plain.canAllocate(32), AllocStatus::WouldBlock);
}

} // namespace
