//===- MachineCopiesTest.cpp - rarer bulk copies --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies of images, reductions into the shared memory of another CTA and copies
// with a mask of bytes.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <algorithm>
#include <functional>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

//===----------------------------------------------------------------------===//
// im2col
//===----------------------------------------------------------------------===//

constexpr int kC = 8, kW = 6, kH = 5, kN = 4, kPixels = 16;

TensorMapArgument imagesMap(unsigned buffer) {
  TensorMapArgument argument;
  TensorMap &map = argument.map;
  map.type = TensorMapType::U32;
  map.rank = 4;
  map.traversal = Traversal::Im2col;
  map.globalDim = {kC, kW, kH, kN};
  map.globalStrides = {kC * 4, kC * kW * 4, kC * kW * kH * 4};
  map.boxDim = {kC, 1, 1, 1, 1};
  map.pixels = kPixels;
  argument.buffer = buffer;
  return argument;
}

/// Loads the pixels at W 2, H 1, image 1 with offsets from registers; thread t
/// doubles word t of each pixel; then stores them to the same place without
/// offsets.
const char kImages[] = R"(
.shared .align 8 .b64 bar;
.shared .align 128 .b8 box[512];
.visible .entry k(.param .align 128 .b8 from[128], .param .align 128 .b8 to[128])
{
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, bar;
mov.u32 %r3, box;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
mov.b64 %rd1, from;
cvta.param.u64 %rd1, %rd1;
mov.b64 %rd2, to;
cvta.param.u64 %rd2, %rd2;
mov.b32 %r4, 2;
mov.b32 %r5, 1;
mov.b32 %r6, 0;
mov.b16 %h1, 1;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
@%p1 cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r3], [%rd1, {%r6, %r4, %r5, %r5}], [%r2], {%h1, 2};
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
@!%p2 bra W;
bar.warp.sync -1;
shl.b32 %r7, %r1, 4;
add.u32 %r7, %r7, %r3;
ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r7];
shl.b32 %r8, %r8, 1;
shl.b32 %r9, %r9, 1;
shl.b32 %r10, %r10, 1;
shl.b32 %r11, %r11, 1;
st.shared.v4.u32 [%r7], {%r8, %r9, %r10, %r11};
fence.proxy.async.shared::cta;
bar.sync 0;
@%p1 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd2, {%r6, %r4, %r5, %r5}], [%r3];
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
ret;
}
)";

TEST(MachineCopies, ImagesThereAndBack) {
  std::vector<uint32_t> from(kC * kW * kH * kN), to(from.size(), 7);
  for (size_t i = 0; i != from.size(); ++i)
    from[i] = uint32_t(i + 1);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(from, false), bufferOf(to)};
  launch.arguments = {imagesMap(0), imagesMap(1)};
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    Options options;
    options.completion = completion;
    std::fill(to.begin(), to.end(), 7);
    expectClean(runText(kHeader + kImages, launch, options));
    // W runs fastest, then H, then the images; the box is the whole image.
    std::vector<uint32_t> expected(to.size(), 7);
    int w = 2, h = 1, n = 1;
    for (int pixel = 0; pixel != kPixels; ++pixel) {
      bool inside = w + 1 < kW && h + 2 < kH;
      for (int c = 0; c != kC; ++c) {
        int source = ((n * kH + h + 2) * kW + w + 1) * kC + c;
        expected[((n * kH + h) * kW + w) * kC + c] =
            inside ? 2 * from[source] : 0;
      }
      if (++w == kW) {
        w = 0;
        ++h;
      }
    }
    EXPECT_EQ(to, expected);
  }
}

TEST(MachineCopies, FaultsOfImagesNameTheRule) {
  std::vector<uint32_t> from(kC * kW * kH * kN), to(from.size());
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(from, false), bufferOf(to)};
  TensorMapArgument narrow = imagesMap(0);
  narrow.map.upperCorner = {-4, 0, 0};
  launch.arguments = {narrow, imagesMap(1)};
  RunResult result = runText(kHeader + kImages, launch);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].message,
            "the first pixel is outside the bounding box of the tensor map");
  TensorMapArgument outside = imagesMap(1);
  outside.map.lowerCorner = {-1, 0, 0};
  launch.arguments = {imagesMap(0), outside};
  result = runText(kHeader + kImages, launch);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].message,
            "a store needs a bounding box inside of the tensor");
}

//===----------------------------------------------------------------------===//
// Reductions into shared memory
//===----------------------------------------------------------------------===//

/// CTA 1 reduces 256 bytes of its own into those of CTA 0, which waits.
std::string reduction(const std::string &op,
                      const std::string &write = "st.shared.u32 [%r12], %r11;",
                      const std::string &wait =
                          "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, "
                          "[%r10], 0;\n@!%p3 bra W;\n") {
  return "mov.u32 %r10, bar;\nmov.u32 %r12, data;\nmov.u32 %r13, "
         "%cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 0;\n"
         "setp.eq.and.u32 %p2, %r13, 1, %p1;\n"
         "setp.eq.and.u32 %p6, %r13, 0, %p1;\nmov.u32 %r14, %r12;\n"
         "mul.lo.u32 %r15, %r1, 4;\nadd.u32 %r12, %r12, %r15;\n"
         "ld.global.u32 %r11, [%rd2];\n" +
         write +
         "\n@%p1 mbarrier.init.shared::cta.b64 [%r10], 1;\n"
         "fence.mbarrier_init.release.cluster;\nfence.proxy.async;\n"
         "@%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "mapa.shared::cluster.u32 %r16, %r14, 0;\n"
         "mapa.shared::cluster.u32 %r17, %r10, 0;\n"
         "@%p2 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
         "complete_tx::bytes." +
         op +
         " [%r16], [%r14], 256, [%r17];\n"
         "setp.eq.u32 %p4, %r13, 1;\n@%p4 bra D;\n" +
         wait +
         "bar.warp.sync -1;\nD:\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\nld.shared.u32 %r20, [%r12];\n"
         "st.global.u32 [%rd1], %r20;\n";
}
const char kData[] = ".shared .align 8 .b64 bar;\n"
                     ".shared .align 128 .b8 data[256];\n";

/// Words of both CTAs: small, large and negative numbers in turn.
std::vector<uint32_t> words() {
  std::vector<uint32_t> in(128);
  for (uint32_t i = 0; i != 128; ++i)
    in[i] = i % 5 == 0 ? i : i % 5 == 1 ? 0xFFFFFFF0 + i : i * 0x01234567;
  // Equal and zero words, for inc and dec.
  in[3] = in[67];
  in[4] = 0;
  in[70] = 0;
  return in;
}

using Words = std::vector<uint32_t>;

Words expected(const Words &in,
               const std::function<uint32_t(uint32_t, uint32_t)> &op) {
  Words out = in;
  for (unsigned i = 0; i != 64; ++i)
    out[i] = op(in[i], in[64 + i]);
  return out;
}

TEST(MachineCopies, ReductionsIntoAnotherCta) {
  struct {
    const char *op;
    std::function<uint32_t(uint32_t, uint32_t)> value;
  } cases[] = {
      {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
      {"add.s32", [](uint32_t a, uint32_t b) { return a + b; }},
      {"min.u32", [](uint32_t a, uint32_t b) { return a < b ? a : b; }},
      {"max.u32", [](uint32_t a, uint32_t b) { return a < b ? b : a; }},
      {"min.s32",
       [](uint32_t a, uint32_t b) { return int(a) < int(b) ? a : b; }},
      {"max.s32",
       [](uint32_t a, uint32_t b) { return int(a) < int(b) ? b : a; }},
      {"inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32",
       [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
      {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
      {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
      {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};
  for (const auto &one : cases)
    for (Completion completion : {Completion::Immediate, Completion::Latest}) {
      Options options;
      options.completion = completion;
      Words in = words();
      Simple s = runBody(reduction(one.op), in, 64, 2, options, 2, kData);
      expectClean(s.result);
      EXPECT_EQ(s.out, expected(in, one.value)) << one.op;
    }
  Words in = words();
  Simple s = runBody(reduction("add.u64"), in, 64, 2, {}, 2, kData);
  expectClean(s.result);
  for (unsigned i = 0; i != 64; i += 2) {
    uint64_t sum = (in[i] | uint64_t(in[i + 1]) << 32) +
                   (in[64 + i] | uint64_t(in[65 + i]) << 32);
    EXPECT_EQ(s.out[i], uint32_t(sum)) << i;
    EXPECT_EQ(s.out[i + 1], uint32_t(sum >> 32)) << i;
  }
}

TEST(MachineCopies, ReductionsNeedWaitsAndValues) {
  Simple s = runBody(reduction("add.u32", "st.shared.u32 [%r12], %r11;", ""),
                     words(), 64, 2, {}, 2, kData);
  ASSERT_FALSE(s.result.findings.empty());
  EXPECT_EQ(s.result.findings[0].kind, FindingKind::Race);
  EXPECT_EQ(s.result.findings[0].hazard, 13u);
  // CTA 0 leaves its half of the data unwritten.
  s = runBody(reduction("add.u32", "setp.eq.u32 %p5, %r13, 1;\n"
                                   "@%p5 st.shared.u32 [%r12], %r11;"),
              words(), 64, 2, {}, 2, kData);
  ASSERT_FALSE(s.result.findings.empty());
  EXPECT_EQ(s.result.findings[0].kind, FindingKind::Uninitialised);
}

//===----------------------------------------------------------------------===//
// Masks of bytes
//===----------------------------------------------------------------------===//

/// Stores 64 bytes; the thread of lane 31 leaves its word unwritten if
/// `partial`.
std::string maskedStore(uint32_t mask, bool partial = false) {
  return "mov.u32 %r12, data;\nmul.lo.u32 %r15, %r1, 4;\n"
         "add.u32 %r13, %r12, %r15;\nld.global.u32 %r11, [%rd2];\n" +
         std::string(partial ? "setp.ne.u32 %p2, %r1, 15;\n@%p2 " : "") +
         "st.shared.u32 [%r13], %r11;\nfence.proxy.async;\nbar.sync 0;\n"
         "setp.eq.u32 %p1, %r1, 0;\nmov.b16 %h1, " +
         std::to_string(mask) +
         ";\n@%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], "
         "[%r12], 64, %h1;\n@%p1 cp.async.bulk.commit_group;\n"
         "@%p1 cp.async.bulk.wait_group 0;\n";
}

TEST(MachineCopies, OnlyMaskedBytesAreStored) {
  Words in(32);
  for (uint32_t i = 0; i != 32; ++i)
    in[i] = 0x03020100 + i * 0x04040404;
  for (uint32_t mask : {0x5A0Fu, 0x8001u, 0xFFFFu, 0u}) {
    Simple s = runBody(maskedStore(mask), in, 32, 1, {}, 1, kData);
    expectClean(s.result);
    for (unsigned byte = 0; byte != 128; ++byte) {
      bool copied = byte < 64 && mask >> byte % 16 & 1;
      EXPECT_EQ(s.out[byte / 4] >> byte % 4 * 8 & 0xFF, copied ? byte : 0xAA)
          << mask << " byte " << byte;
    }
  }
}

TEST(MachineCopies, BytesOutsideTheMaskNeedNoValue) {
  // The last word of 16 bytes is bytes 12 to 15.
  expectClean(runBody(maskedStore(0x0FFF, true), Words(32), 32, 1, {}, 1, kData)
                  .result);
  Simple s = runBody(maskedStore(0x1000, true), Words(32), 32, 1, {}, 1, kData);
  ASSERT_EQ(s.result.findings.size(), 1u);
  EXPECT_EQ(s.result.findings[0].kind, FindingKind::Uninitialised);
}

} // namespace
