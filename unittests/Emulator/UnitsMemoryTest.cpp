//===- UnitsMemoryTest.cpp - mbarriers, tensor memory, descriptors --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units/InstructionDescriptor.h"
#include "Units/MBarrier.h"
#include "Units/SharedDescriptor.h"
#include "Units/TensorAreas.h"
#include "Units/TensorMemory.h"
#include "UnitsOracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

//===----------------------------------------------------------------------===//
// MBarrier
//===----------------------------------------------------------------------===//

TEST(MBarrier, FreshBarrierHasThePhaseBeforeOver) {
  MBarrier barrier;
  ASSERT_EQ(barrier.init(1), MBarrierError::None);
  EXPECT_FALSE(barrier.testParity(0).done);
  EXPECT_TRUE(barrier.testParity(1).done);
}

TEST(MBarrier, BytesAndArrivalsEndAPhaseTogether) {
  MBarrier barrier;
  barrier.init(2);
  EXPECT_FALSE(barrier.completeTx(64).completed); // before its expect
  EXPECT_EQ(barrier.tx(), -64);
  EXPECT_FALSE(barrier.arriveExpectTx(96).completed);
  EXPECT_EQ(barrier.tx(), 32);
  EXPECT_FALSE(barrier.arrive().completed);
  EXPECT_EQ(barrier.pending(), 0u);
  EXPECT_FALSE(barrier.testParity(0).done);
  EXPECT_TRUE(barrier.completeTx(32).completed);
  EXPECT_TRUE(barrier.testParity(0).done);
  EXPECT_FALSE(barrier.testParity(1).done);
  EXPECT_EQ(barrier.pending(), 2u);
  EXPECT_EQ(barrier.phase(), 1u);
}

TEST(MBarrier, TokensNameTheirPhase) {
  MBarrier barrier;
  barrier.init(2);
  MBarrierArrival first = barrier.arriveNoComplete(1);
  EXPECT_EQ(MBarrier::pendingCount(first.token), 2u);
  MBarrierArrival second = barrier.arrive();
  EXPECT_EQ(MBarrier::pendingCount(second.token), 1u);
  EXPECT_TRUE(second.completed);
  EXPECT_TRUE(barrier.testToken(first.token).done);
  MBarrierArrival third = barrier.arrive();
  EXPECT_FALSE(barrier.testToken(third.token).done);
  barrier.arrive();
  EXPECT_EQ(barrier.testToken(first.token).error,
            MBarrierError::TokenNotCurrent);
}

TEST(MBarrier, DropLowersTheCountOfLaterPhases) {
  MBarrier barrier;
  barrier.init(2);
  EXPECT_FALSE(barrier.arriveDrop().completed);
  EXPECT_TRUE(barrier.arrive().completed);
  EXPECT_EQ(barrier.expected(), 1u);
  EXPECT_TRUE(barrier.arrive().completed);
}

TEST(MBarrier, UndefinedUsesAreErrors) {
  MBarrier barrier;
  EXPECT_EQ(barrier.arrive().error, MBarrierError::NotInitialised);
  EXPECT_EQ(barrier.testParity(0).error, MBarrierError::NotInitialised);
  EXPECT_EQ(barrier.init(0), MBarrierError::CountOutOfRange);
  EXPECT_EQ(barrier.init(1 << 20), MBarrierError::CountOutOfRange);
  EXPECT_EQ(barrier.init((1 << 20) - 1), MBarrierError::None);
  EXPECT_EQ(barrier.init(1), MBarrierError::InitOverLive);
  EXPECT_EQ(barrier.inval(), MBarrierError::None);
  EXPECT_EQ(barrier.inval(), MBarrierError::NotInitialised);
  barrier.init(2);
  EXPECT_EQ(barrier.arrive(0).error, MBarrierError::CountOutOfRange);
  EXPECT_EQ(barrier.arrive(3).error, MBarrierError::OverArrival);
  EXPECT_EQ(barrier.arriveNoComplete(2).error,
            MBarrierError::NoCompleteCompletes);
  EXPECT_EQ(barrier.testParity(2).error, MBarrierError::BadParity);
  EXPECT_EQ(barrier.expectTx(1 << 20).error, MBarrierError::TxOutOfRange);
  EXPECT_EQ(barrier.expectTx((1 << 20) - 1).error, MBarrierError::None);
  EXPECT_EQ(barrier.expectTx(1).error, MBarrierError::TxOutOfRange);
  EXPECT_EQ(barrier.completeTx(2 * ((1 << 20) - 1) + 1).error,
            MBarrierError::TxOutOfRange);
  EXPECT_EQ(barrier.pending(), 2u);
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

TEST(TensorMemory, AllocatesFromAColumnOn) {
  TensorMemory tensor;
  uint32_t address = 0;
  EXPECT_EQ(tensor.allocate(128, address, 256), AllocStatus::Ok);
  EXPECT_EQ(address, 256u);
  EXPECT_EQ(tensor.allocate(128, address, 256), AllocStatus::Ok);
  EXPECT_EQ(address, 384u);
  EXPECT_EQ(tensor.allocate(128, address, 256), AllocStatus::Ok);
  EXPECT_EQ(address, 0u);
  EXPECT_EQ(tensor.allocate(64, address, 32), AllocStatus::Ok);
  EXPECT_EQ(address, 128u);
}

TEST(TensorMemory, AllocationRules) {
  TensorMemory tensor;
  uint32_t address = 99;
  EXPECT_EQ(tensor.allocate(16, address), AllocStatus::IllegalCount);
  EXPECT_EQ(tensor.allocate(96, address), AllocStatus::IllegalCount);
  EXPECT_EQ(tensor.allocate(256, address), AllocStatus::Ok);
  EXPECT_EQ(address, 0u);
  EXPECT_EQ(tensor.allocate(512, address), AllocStatus::Grows);
  EXPECT_EQ(tensor.allocate(256, address), AllocStatus::Ok);
  EXPECT_EQ(address, 256u);
  EXPECT_EQ(tensor.allocate(32, address), AllocStatus::WouldBlock);
  EXPECT_TRUE(tensor.deallocate(0, 128).has_value());
  EXPECT_FALSE(tensor.deallocate(0, 256).has_value());
  EXPECT_TRUE(tensor.deallocate(0, 256).has_value());
  EXPECT_TRUE(tensor.allocated(256, 256));
  EXPECT_FALSE(tensor.allocated(255, 2));
  tensor.relinquish();
  EXPECT_EQ(tensor.allocate(32, address), AllocStatus::Relinquished);
  EXPECT_EQ(tensor.liveAllocations(), 1u);
}

TEST(TensorMemory, FragmentsMatchTheOracle) {
  const std::map<std::string, FragmentShape> shapes = {
      {"32x32b", FragmentShape::S32x32b},
      {"16x64b", FragmentShape::S16x64b},
      {"16x128b", FragmentShape::S16x128b},
      {"16x256b", FragmentShape::S16x256b},
      {"16x32bx2", FragmentShape::S16x32bx2}};
  unsigned checked = 0;
  for (auto &row : readCsv("tcgen05_ld_fragments.csv")) {
    Fragment fragment{shapes.at(row["shape"]), num(row["num"]), false,
                      num(row["num"])};
    unsigned lane, column;
    fragmentPosition(fragment, num(row["thread"]), num(row["register"]), lane,
                     column);
    ASSERT_EQ(lane, num(row["lane_offset"])) << row["shape"];
    ASSERT_EQ(column, num(row["column_offset"])) << row["shape"];
    ++checked;
  }
  EXPECT_GT(checked, 500u);
}

TEST(TensorMemory, LoadReturnsWhatStoreWroteAndReportsTheRest) {
  TensorMemory tensor;
  uint32_t address;
  tensor.allocate(64, address);
  Fragment fragment{FragmentShape::S16x256b, 2};
  uint32_t in[8 * 32], out[8 * 32] = {};
  for (unsigned i = 0; i < 8 * 32; ++i)
    in[i] = 1000 + i;
  std::optional<uint32_t> bad;
  EXPECT_FALSE(tensor.store(fragment, 32u << 16 | 8, 5, in).has_value());
  EXPECT_FALSE(tensor.load(fragment, 32u << 16 | 8, 5, out, bad).has_value());
  EXPECT_EQ(0, std::memcmp(in, out, sizeof(in)));
  EXPECT_FALSE(bad.has_value());
  // Thread 6, register 3: lane 1 + 8, column 2 * 2 + 1.
  EXPECT_EQ(tensor.row(32 + 9)[8 + 5], 1000u + 3 * 32 + 6);
  Fragment all{FragmentShape::S32x32b, 1};
  tensor.load(all, 32u << 16 | 8, 1, out, bad);
  EXPECT_EQ(bad, (32u + 16) << 16 | 8);
  EXPECT_TRUE(tensor.load(all, 0, 1, out, bad).has_value());
  EXPECT_TRUE(tensor.load(all, 64, 0, out, bad).has_value());
  EXPECT_TRUE(tensor.load({FragmentShape::S16x256b, 64}, 0, 0, out, bad));
}

TEST(TensorMemory, PackTakesTheLowHalvesOfTwoColumns) {
  TensorMemory tensor;
  uint32_t address, word = 0xbbbbaaaa, out[32];
  tensor.allocate(32, address);
  uint32_t in[32];
  std::fill(in, in + 32, word);
  Fragment packed{FragmentShape::S32x32b, 1, true};
  tensor.store(packed, 4, 0, in);
  EXPECT_EQ(tensor.row(31)[4], 0xaaaau);
  EXPECT_EQ(tensor.row(31)[5], 0xbbbbu);
  std::optional<uint32_t> bad;
  tensor.load(packed, 4, 0, out, bad);
  EXPECT_EQ(out[17], word);
}

TEST(TensorMemory, CopiesReplicateAndExpand) {
  TensorMemory tensor;
  uint32_t address;
  tensor.allocate(32, address);
  uint8_t source[64 * 16];
  for (unsigned i = 0; i < sizeof(source); ++i)
    source[i] = uint8_t(i / 16 * 3 + i % 16 * 17);
  auto byteAt = [&](unsigned lane, unsigned byte) {
    return uint8_t(tensor.row(lane)[byte / 4] >> byte % 4 * 8);
  };
  OpenPointSet points;
  ASSERT_FALSE(tensor.copyIn(CopyShape::S32x128bWarp4, CopyFormat::Plain, 0,
                             source, points));
  for (unsigned q = 0; q < 4; ++q)
    EXPECT_EQ(byteAt(7 + 32 * q, 5), 7 * 3 + 5 * 17);
  ASSERT_FALSE(tensor.copyIn(CopyShape::S64x128bWarp02_13, CopyFormat::Plain, 0,
                             source, points));
  EXPECT_EQ(byteAt(40, 1), 40 * 3 + 17);
  EXPECT_EQ(byteAt(104, 1), 40 * 3 + 17);
  ASSERT_FALSE(tensor.copyIn(CopyShape::S64x128bWarp01_23, CopyFormat::Plain, 0,
                             source, points));
  EXPECT_EQ(byteAt(72, 1), 40 * 3 + 17);
  EXPECT_EQ(byteAt(104, 1), 40 * 3 + 17);
  EXPECT_EQ(byteAt(40, 1), 8 * 3 + 17);
  ASSERT_FALSE(
      tensor.copyIn(CopyShape::S4x256b, CopyFormat::Plain, 0, source, points));
  EXPECT_EQ(byteAt(96, 0), uint8_t(6 * 3));
  EXPECT_TRUE(points.contains(OpenPoint::Copy4x256Lanes));
  // 6-bit codes 1, 2, 3, 4 in 24 bits, little end first.
  uint8_t padded[32 * 16] = {0x81, 0x30, 0x10};
  ASSERT_FALSE(tensor.copyIn(CopyShape::S32x128bWarp4, CopyFormat::B6x16P32, 0,
                             padded, points));
  EXPECT_EQ(tensor.row(64)[0], 0x04030201u);
  ASSERT_FALSE(tensor.copyIn(CopyShape::S32x128bWarp4, CopyFormat::B4x16P64, 0,
                             padded, points));
  EXPECT_EQ(tensor.row(64)[0], 0x0c002004u);
  EXPECT_TRUE(tensor.copyIn(CopyShape::S32x128bWarp4, CopyFormat::Plain, 2,
                            source, points));
  EXPECT_TRUE(tensor.copyIn(CopyShape::S32x128bWarp4, CopyFormat::Plain, 32,
                            source, points));
}

TEST(TensorMemory, ShiftTakesTheNextLaneInEachSlice) {
  TensorMemory tensor;
  uint32_t address;
  tensor.allocate(32, address);
  for (unsigned lane = 0; lane < 128; ++lane) {
    tensor.row(lane)[3] = tensor.row(lane)[8] = lane;
    tensor.markValid(lane, 0, 9);
  }
  OpenPointSet points;
  ASSERT_FALSE(tensor.shiftDown(0, points));
  // What a B200 was read back to give: 1..31,31 | 33..63,63 | 65..95,95 |
  // 97..127,127.
  for (unsigned lane = 0; lane < 128; ++lane)
    EXPECT_EQ(tensor.row(lane)[3], lane % 32 == 31 ? lane : lane + 1) << lane;
  EXPECT_EQ(tensor.row(40)[8], 40u);
  EXPECT_TRUE(tensor.shiftDown(16u << 16, points));
}

//===----------------------------------------------------------------------===//
// Areas
//===----------------------------------------------------------------------===//

TEST(TensorAreas, OfFragmentsCoverExactlyTheirPositions) {
  for (FragmentShape shape :
       {FragmentShape::S32x32b, FragmentShape::S16x64b, FragmentShape::S16x128b,
        FragmentShape::S16x256b, FragmentShape::S16x32bx2})
    for (bool pack : {false, true}) {
      Fragment fragment{shape, 4, pack, 40};
      uint32_t address = 96u << 16 | 64;
      std::array<std::array<bool, 512>, 8> touched{}, covered{};
      for (unsigned t = 0; t != 32; ++t)
        for (unsigned q = 0; q != fragment.registers(); ++q) {
          unsigned lane, column;
          fragmentPosition(fragment, t, q, lane, column);
          for (unsigned c = 0; c != (pack ? 2u : 1u); ++c)
            touched[(96 + lane) / 16][64 + column + c] = true;
        }
      for (const TensorArea &area : areasOf(fragment, address, true)) {
        EXPECT_TRUE(area.write && !area.read);
        for (unsigned c = 0; c != area.count; ++c)
          for (unsigned g = 0; g != 8; ++g)
            covered[g][area.column + c] |= area.lanes >> g & 1;
      }
      EXPECT_EQ(covered, touched) << int(shape) << " " << pack;
    }
}

/// `column+count/lanes`, with r and w for reads and writes.
std::string text(const std::vector<TensorArea> &areas) {
  std::string all;
  for (const TensorArea &a : areas)
    all += std::to_string(a.column) + "+" + std::to_string(a.count) + "/" +
           std::to_string(a.lanes) + (a.read ? "r" : "") +
           (a.write ? "w" : "") + " ";
  return all;
}

TEST(TensorAreas, OfMmas) {
  auto areas = [](MmaKind kind, unsigned group, bool sparse, unsigned block,
                  uint32_t idesc, bool accumulate, bool aInTensor) {
    MmaRequest q;
    q.form.kind = kind;
    q.form.ctaGroup = group;
    q.form.sparse = sparse;
    q.form.block = block;
    q.idesc = idesc;
    q.aInTensorMemory = aInTensor;
    q.a = 300;
    q.metadata = 320;
    q.scaleA = 400;
    q.scaleB = 440;
    q.enableInputD = accumulate;
    InstructionDescriptor decoded;
    OpenPointSet points;
    EXPECT_FALSE(decodeInstructionDescriptor(idesc, q.form, decoded, points));
    return text(areasOf(q, decoded));
  };
  // 128 x 256 nvfp4: 4 columns of scales of A, 8 of B.
  EXPECT_EQ(areas(MmaKind::MXF4NVF4, 1, false, 16, 0x08400480, true, false),
            "0+256/255rw 400+4/255r 440+8/255r ");
  // K=96, block 16: the second words are 4 and 8 columns on.
  EXPECT_EQ(areas(MmaKind::MXF4NVF4, 1, false, 16, 0x88400480, false, false),
            "0+256/255w 400+4/255r 404+4/255r 440+8/255r 448+8/255r ");
  // 64 x 16 f16 in the first 16 lanes of each quadrant, A in tensor memory.
  EXPECT_EQ(areas(MmaKind::F16, 1, false, 0, 0x04040010, false, true),
            "0+16/85w 300+8/85r ");
  // Sparse mxf8f6f4: 2 columns of metadata, one word of scales.
  EXPECT_EQ(areas(MmaKind::MXF8F6F4, 1, true, 32, 0x08900004, false, false),
            "0+64/255w 320+2/255r 400+4/255r 440+2/255r ");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

TEST(InstructionDescriptor, DecodesTheOracle) {
  const std::map<std::string, MmaKind> kinds = {
      {"mxf8f6f4", MmaKind::MXF8F6F4},
      {"mxf4", MmaKind::MXF4},
      {"mxf4nvf4", MmaKind::MXF4NVF4}};
  unsigned checked = 0;
  for (auto &row : readCsv("idesc.csv")) {
    MmaForm form{kinds.at(row["kind"]), row["sparse"] == "1",
                 num(row["cta_group"]), num(row["block_size"])};
    // The table's block of sparse rows may be given in logical elements.
    if (form.sparse && form.block == 64)
      form.block = 32;
    InstructionDescriptor idesc;
    OpenPointSet points;
    auto reason =
        decodeInstructionDescriptor(hex(row["idesc"]), form, idesc, points);
    ASSERT_FALSE(reason.has_value()) << *reason << " " << row["idesc"];
    EXPECT_EQ(idesc.m, num(row["M"]));
    EXPECT_EQ(idesc.n, num(row["N"]));
    EXPECT_EQ(idesc.k, num(row["K"]));
    EXPECT_EQ(name(idesc.a), row["a_type"]);
    EXPECT_EQ(name(idesc.b), row["b_type"]);
    EXPECT_EQ(name(idesc.scale), row["sf_type"]);
    EXPECT_EQ(idesc.mnMajorA, row["a_major"] != "K");
    EXPECT_EQ(idesc.mnMajorB, row["b_major"] != "K");
    EXPECT_EQ(idesc.negateA, row["negate_a"] == "1");
    EXPECT_EQ(idesc.negateB, row["negate_b"] == "1");
    EXPECT_EQ(idesc.scaleIdA, num(row["sfa_id"]));
    EXPECT_EQ(idesc.scaleIdB, num(row["sfb_id"]));
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

TEST(InstructionDescriptor, RefusesWhatTheIsaForbids) {
  auto why = [](uint32_t bits, MmaForm form) {
    InstructionDescriptor idesc;
    OpenPointSet points;
    return decodeInstructionDescriptor(bits, form, idesc, points).value_or("");
  };
  MmaForm mxf8{MmaKind::MXF8F6F4, false, 1, 32};
  MmaForm nvf4{MmaKind::MXF4NVF4, false, 1, 16};
  EXPECT_EQ(why(0x28900490, mxf8), "");
  EXPECT_EQ(why(0x28900498, mxf8),
            "instruction descriptor bit 3 must be 0 for kind 'mxf8f6f4'");
  EXPECT_EQ(
      why(0x28900494, mxf8),
      "instruction descriptor bit 2 says sparse, the instruction is dense");
  EXPECT_EQ(why(0x28900510, mxf8),
            "A format code 2 is not one of kind 'mxf8f6f4'");
  EXPECT_EQ(why(0x28100490, mxf8),
            "kind 'mxf8f6f4' with blocks of 32 takes 'ue8m0' scales only, "
            "found 'ue4m3'");
  EXPECT_EQ(why(0x08100480, nvf4), "");
  EXPECT_EQ(why(0x08100490, nvf4),
            "SFB_ID 1 is not a multiple of 4 as kind 'mxf4nvf4' with 4 scales "
            "per instruction needs");
  EXPECT_EQ(why(0x10100480, nvf4),
            "M 256 is not legal for kind 'mxf4nvf4' with cta_group::1");
  // K=96 has the N of the other K (PTX ISA 9.4, the table of shapes).
  EXPECT_EQ(why(0x88140480, nvf4), "");
  EXPECT_EQ(why(0x88120480, nvf4), "");
  // kind f16: f32 accumulator, M 128, N 256; then f16 in an integer kind.
  MmaForm plain{MmaKind::F16, false, 1, 0};
  EXPECT_EQ(why(1u << 4 | 32u << 17 | 8u << 24, plain), "");
  EXPECT_EQ(why(1u << 4 | 32u << 17 | 8u << 24, {MmaKind::I8, false, 1, 0}),
            "accumulator type 1 is not one of kind 'i8'");
}

TEST(SharedDescriptor, AddressesMatchTheOracle) {
  const std::map<std::string, uint64_t> codes = {
      {"128B", 2}, {"64B", 4}, {"32B", 6}};
  unsigned checked = 0;
  for (auto &row : readCsv("smem_swizzle_offsets.csv")) {
    auto code = codes.find(row["swizzle"]);
    if (code == codes.end())
      continue;
    unsigned bits = num(row["element_bits"]), mn = num(row["mn"]),
             k = num(row["k"]), tileMn = num(row["tile_mn"]),
             tileK = num(row["tile_k"]);
    unsigned span = code->second == 2 ? 128 : code->second == 4 ? 64 : 32;
    bool kMajor = row["major"] == "K";
    // Atom columns are the whole tile apart (K-major tiles run MN first).
    uint64_t leading = kMajor ? 0 : tileK * span;
    uint64_t raw = code->second << 61 | uint64_t(1) << 46 |
                   uint64_t(8 * span / 16) << 32 | leading / 16 << 16;
    unsigned byte = k * bits / 8;
    if (kMajor)
      raw |= byte / span * (tileMn * span) / 16;
    SharedDescriptor descriptor = decodeSharedDescriptor(raw);
    uint32_t address = kMajor ? addressKMajor(descriptor, mn, byte % span)
                              : addressMNMajor(descriptor, mn, k);
    ASSERT_EQ(address, num(row["element_offset"]) * bits / 8)
        << row["major"] << row["swizzle"] << " " << mn << "," << k;
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

TEST(SharedDescriptor, RowsLongerThanTheSwizzleGoOnAfterTheLeadingOffset) {
  // The 64 bytes of a column of a sparse wgmma's B, as measured on an H100:
  // 32-byte swizzle, leading offset 512, stride 256.
  SharedDescriptor descriptor = decodeSharedDescriptor(
      uint64_t(6) << 61 | uint64_t(1) << 46 | 16ull << 32 | 32ull << 16 | 64);
  EXPECT_EQ(addressKMajor(descriptor, 0, 16), 1024u + 16);
  EXPECT_EQ(addressKMajor(descriptor, 0, 32), 1024u + 512);
  EXPECT_EQ(addressKMajor(descriptor, 5, 48), 1024u + 512 + 5 * 32);
  EXPECT_EQ(addressKMajor(descriptor, 9, 32), 1024u + 256 + 32 + 512);
}

TEST(SharedDescriptor, AbsoluteModeContinuesInTheNextBuffer) {
  // MMA 2 of the K=96 example: 32 bytes in buffer 0, 16 bytes in buffer 1.
  SharedDescriptor two = decodeSharedDescriptor(0x4010404014c010c6);
  EXPECT_EQ(two.start, 68608u + 96);
  EXPECT_EQ(two.leading, 84992u);
  EXPECT_TRUE(two.leadingAbsolute);
  EXPECT_FALSE(whyNotOperand(two, false, 48, 4).has_value());
  EXPECT_EQ(addressKMajor(two, 0, 16), 68608u + 112);
  EXPECT_EQ(addressKMajor(two, 0, 32), 84992u);
  // Row 9: second group of eight, row 1 of it, chunk 6 lands at 6 ^ 1.
  EXPECT_EQ(addressKMajor(two, 9, 0), 68608u + 1024 + 128 + 7 * 16);
  EXPECT_EQ(addressKMajor(two, 9, 40), 84992u + 1024 + 128 + 16 + 8);
  SharedDescriptor five = decodeSharedDescriptor(0x4010404018c014c7);
  EXPECT_EQ(addressKMajor(five, 0, 0), 84992u + 112);
  EXPECT_EQ(addressKMajor(five, 0, 16), 101376u);
}

TEST(SharedDescriptor, PatternStartsWhereTheBaseOffsetSays) {
  auto starts = [](uint64_t swizzle, uint64_t address, uint64_t baseOffset) {
    uint64_t bits =
        swizzle << 61 | baseOffset << 49 | uint64_t(1) << 46 | address >> 4;
    return !whyNotPattern(decodeSharedDescriptor(bits));
  };
  // 128 bytes: the pattern repeats every 1024 bytes; within a row K advances.
  EXPECT_TRUE(starts(2, 4096, 0));
  EXPECT_TRUE(starts(2, 4096 + 96, 0));
  EXPECT_FALSE(starts(2, 4096 + 512, 0));
  EXPECT_TRUE(starts(2, 4096 + 512, 4));
  // 64 bytes: every 512. 32 bytes: every 256. None: no pattern.
  EXPECT_TRUE(starts(4, 4096 + 512, 0));
  EXPECT_FALSE(starts(4, 4096 + 256, 0));
  EXPECT_TRUE(starts(6, 4096 + 256, 0));
  EXPECT_FALSE(starts(6, 4096 + 128, 0));
  EXPECT_TRUE(starts(0, 4096 + 128, 0));
}

TEST(SharedDescriptor, RefusesWhatTheIsaForbids) {
  const uint64_t good = 0x4000404000010080;
  EXPECT_FALSE(whyNot(decodeSharedDescriptor(good)).has_value());
  for (unsigned code : {3, 5, 7})
    EXPECT_TRUE(whyNot(decodeSharedDescriptor((good & ~(uint64_t(7) << 61)) |
                                              uint64_t(code) << 61)));
  EXPECT_TRUE(whyNot(decodeSharedDescriptor(good ^ uint64_t(1) << 46)));
  EXPECT_TRUE(whyNot(decodeSharedDescriptor(good | uint64_t(1) << 53)));
  EXPECT_TRUE(whyNot(decodeSharedDescriptor(
      0x8010402000010080))); // absolute with the 64-byte swizzle
  EXPECT_TRUE(whyNotOperand(decodeSharedDescriptor(good + 7), false, 32, 8));
  EXPECT_TRUE(whyNotOperand(decodeSharedDescriptor(good), true, 32, 4));
}
