//===- MachineErrorsTest.cpp - each error names line, CTA, warp and lane --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread of two CTAs of 64, the fifth lane of warp 1 of CTA 1, does
// something wrong at the place `$`; the twin does it right and must be clean.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <algorithm>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Whom a finding blames.
enum Blame {
  Thread, ///< CTA 1, warp 1, lane 5
  Warp,   ///< warp 0 of a CTA, any lane
};

struct Case {
  const char *name;
  FindingKind kind;
  Blame blame;
  /// Text before; `$` in it is the place of the wrong or the right text.
  const char *text;
  const char *wrong, *right;
  const char *module = "";
};

const char kBuffer[] = ".shared .align 128 .b8 buf[256];\n";
const char kBarrier[] = ".shared .align 16 .b64 bar;\n";
const char kSlot[] = ".shared .align 4 .b32 slot;\n"
                     ".shared .align 8 .b64 bar;\n";

/// Each thread has word %r11 of `buf`; all of it is written.
#define SHARED                                                                 \
  "mov.u32 %r10, buf;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r11, %r11, %r10;\n"     \
  "st.shared.b32 [%r11], %r1;\nbar.sync 0;\n"
/// `bar` is live with a count of 2.
#define LIVE                                                                   \
  "mov.u32 %r10, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"                             \
  "@%p1 mbarrier.init.shared.b64 [%r10], 2;\nbar.sync 0;\n"
/// The culprit arrives and waits.
#define WAITED                                                                 \
  "@%p15 mbarrier.arrive.shared.b64 _, [%r10], 2;\n@!%p15 bra E;\n"            \
  "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n@!%p2 bra W;\nE:\n"
/// Warp 0 holds 64 columns from %r12 on; the kernel must free them.
#define TENSOR                                                                 \
  "mov.u32 %r10, slot;\nsetp.lt.u32 %p1, %r1, 32;\n"                           \
  "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 64;\n" \
  "bar.sync 0;\nld.shared.b32 %r12, [%r10];\n"
#define FREE                                                                   \
  "bar.sync 0;\n@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, "     \
  "64;\n"

const Case kCases[] = {
    {"GlobalOutOfBounds", FindingKind::OutOfBounds, Thread, "$",
     "@%p15 st.global.b32 [%rd1+4096], %r1;",
     "@%p15 st.global.b32 [%rd1], %r1;"},
    {"GlobalNull", FindingKind::OutOfBounds, Thread, "mov.b64 %rd9, 0;\n$",
     "@%p15 ld.b32 %r9, [%rd9];", "@%p15 ld.b32 %r9, [%rd2];"},
    {"GlobalMisaligned", FindingKind::Misaligned, Thread, "$",
     "@%p15 ld.global.b32 %r9, [%rd2+2];",
     "@%p15 ld.global.b16 %h9, [%rd2+2];"},
    {"VectorMisaligned", FindingKind::Misaligned, Thread, SHARED "$",
     "@%p15 ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r10+8];",
     "@%p15 ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r10+16];", kBuffer},
    {"GlobalReadOnly", FindingKind::ReadOnly, Thread, "$",
     "@%p15 st.global.b32 [%rd2], %r1;", "@%p15 st.global.b32 [%rd1], %r1;"},
    {"AtomicReadOnly", FindingKind::ReadOnly, Thread, "$",
     "@%p15 red.global.add.u32 [%rd2], %r1;",
     "@%p15 red.global.add.u32 [%rd1], %r1;"},
    {"SharedOutOfBounds", FindingKind::OutOfBounds, Thread, SHARED "$",
     "@%p15 ld.shared.b32 %r9, [%r10+4096];",
     "@%p15 ld.shared.b32 %r9, [%r10+252];", kBuffer},
    {"SharedNull", FindingKind::OutOfBounds, Thread,
     SHARED "mov.b32 %r9, 0;\n$", "@%p15 st.shared.b32 [%r9], %r1;",
     "@%p15 st.shared.b32 [%r10], %r1;", kBuffer},
    {"SharedMisaligned", FindingKind::Misaligned, Thread, SHARED "$",
     "@%p15 st.shared.b32 [%r10+1], %r1;", "@%p15 st.shared.b32 [%r10+4], %r1;",
     kBuffer},
    {"LocalOutOfBounds", FindingKind::OutOfBounds, Thread,
     ".local .align 4 .b8 mine[16];\nst.local.b32 [mine], %r1;\n$",
     "@%p15 st.local.b32 [mine+4096], %r1;",
     "@%p15 st.local.b32 [mine+12], %r1;"},
    {"ConstantOutOfBounds", FindingKind::OutOfBounds, Thread,
     "mov.b64 %rd9, table;\n$", "@%p15 ld.const.b32 %r9, [%rd9+4096];",
     "@%p15 ld.const.b32 %r9, [%rd9+4];",
     ".const .align 4 .b32 table[2] = {3, 4};\n"},
    {"PeerThatIsNotThere", FindingKind::BadAddress, Thread, SHARED "$",
     "@%p15 ld.shared::cluster.b32 %r9, [%r10+117440512];",
     "@%p15 ld.shared::cluster.b32 %r9, [%r10];", kBuffer},
    {"UninitialisedShared", FindingKind::Uninitialised, Thread,
     "mov.u32 %r10, buf;\nsetp.eq.u32 %p1, %r1, 0;\n"
     "@%p1 st.shared.b32 [%r10], %r1;\nbar.sync 0;\n"
     "ld.shared.b32 %r9, [%r10];\n@%p15 ld.shared.b32 %r9, [%r10+128];\n$",
     "st.global.b32 [%rd1], %r9;", "st.global.b32 [%rd1], %r1;", kBuffer},
    {"UninitialisedHalf", FindingKind::Uninitialised, Thread,
     "mov.u32 %r10, buf;\nsetp.eq.u32 %p1, %r1, 0;\n"
     "@%p1 st.shared.b32 [%r10], %r1;\nbar.sync 0;\n"
     "ld.shared.b32 %r9, [%r10];\n@%p15 ld.shared.b32 %r9, [%r10+128];\n"
     "mov.b64 %rd9, {%r1, %r9};\nmul.rn.f32x2 %rd9, %rd9, %rd9;\n"
     "mov.b64 %rd10, %rd9;\nmov.b64 {%r8, %r9}, %rd10;\n$",
     "st.global.b32 [%rd1], %r9;", "st.global.b32 [%rd1], %r8;", kBuffer},
    {"DivisionByZero", FindingKind::Arithmetic, Thread, "mov.b32 %r9, 0;\n$",
     "@%p15 div.s32 %r8, %r1, %r9;", "@%p15 div.s32 %r8, %r1, 3;"},
    {"BranchTableIndex", FindingKind::OutOfBounds, Thread,
     "ts: .branchtargets A, B;\nmov.b32 %r9, 1;\n$\nbrx.idx %r9, ts;\nA:\nB:",
     "@%p15 mov.b32 %r9, 2;", "@%p15 mov.b32 %r9, 0;"},
    {"Trap", FindingKind::Trap, Thread, "$", "@%p15 trap;", "@%p14 trap;"},
    {"Breakpoint", FindingKind::Trap, Thread, "$", "@%p15 brkpt;",
     "@%p14 brkpt;"},
    {"BarrierNeverInitialised", FindingKind::MBarrier, Thread, LIVE "$",
     "@%p15 mbarrier.arrive.shared.b64 _, [%r10+8];",
     "@%p15 mbarrier.arrive.shared.b64 _, [%r10];",
     ".shared .align 16 .b64 bar[2];\n"},
    {"BarrierInitialisedTwice", FindingKind::MBarrier, Thread, LIVE "$",
     "@%p15 mbarrier.init.shared.b64 [%r10], 1;",
     "@%p15 mbarrier.inval.shared.b64 [%r10];\n"
     "@%p15 mbarrier.init.shared.b64 [%r10], 1;",
     kBarrier},
    {"BarrierCountOfZero", FindingKind::MBarrier, Thread,
     "mov.u32 %r10, bar;\n$", "@%p15 mbarrier.init.shared.b64 [%r10], 0;",
     "@%p15 mbarrier.init.shared.b64 [%r10], 1;", kBarrier},
    {"ArrivalsBeyondTheCount", FindingKind::MBarrier, Thread, LIVE "$",
     "@%p15 mbarrier.arrive.shared.b64 _, [%r10], 3;",
     "@%p15 mbarrier.arrive.shared.b64 _, [%r10], 2;", kBarrier},
    {"TransactionsBeyondTheRange", FindingKind::MBarrier, Thread, LIVE "$",
     "@%p15 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r10], 2097152;",
     "@%p15 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r10], 0;", kBarrier},
    {"StoreOverBarrier", FindingKind::MBarrier, Thread, LIVE "$",
     "@%p15 st.shared.b32 [%r10], %r1;", "@%p15 st.shared.b32 [%r10+8], %r1;",
     ".shared .align 16 .b64 bar[2];\n"},
    {"ParityOfTwo", FindingKind::MBarrier, Thread,
     LIVE "mov.b32 %r9, 1;\n$\n"
          "mbarrier.test_wait.parity.shared.b64 %p2, [%r10], %r9;",
     "@%p15 mov.b32 %r9, 2;", "@%p15 mov.b32 %r9, 0;", kBarrier},
    {"BulkSize", FindingKind::Misaligned, Thread,
     LIVE
     "mov.u32 %r12, buf;\nsub.s64 %rd5, %rd2, %rd3;\n"
     "mov.b32 %r9, 32;\n@%p15 mbarrier.expect_tx.relaxed.cta.shared.b64 "
     "[%r10], 32;\n$\n@%p15 cp.async.bulk.shared::cluster.global.mbarrier::"
     "complete_tx::bytes [%r12], [%rd5], %r9, [%r10];\n" WAITED,
     "@%p15 mov.b32 %r9, 24;", "@%p15 mov.b32 %r9, 32;",
     ".shared .align 16 .b64 bar;\n.shared .align 128 .b8 buf[256];\n"},
    {"BulkOutOfBounds", FindingKind::OutOfBounds, Thread,
     LIVE "mov.u32 %r12, buf;\nsub.s64 %rd5, %rd2, %rd3;\n"
          "@%p15 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r10], 32;\n$\n"
          "@%p15 cp.async.bulk.shared::cluster.global.mbarrier::"
          "complete_tx::bytes [%r12], [%rd5], 32, [%r10];\n" WAITED,
     "add.s64 %rd5, %rd5, 65536;", "add.s64 %rd5, %rd5, 16;",
     ".shared .align 16 .b64 bar;\n.shared .align 128 .b8 buf[256];\n"},
    {"ShuffleFromAbsentLane", FindingKind::Divergence, Thread,
     "mov.b32 %r9, 3;\n$\nsetp.ge.u32 %p2, %r1, 32;\n@!%p2 bra E;\n"
     "and.b32 %r8, %r1, 31;\nsetp.ge.u32 %p3, %r8, 16;\n@%p3 bra E;\n"
     "shfl.sync.idx.b32 %r7, %r1, %r9, 31, 0xFFFF;\nE:",
     "@%p15 mov.b32 %r9, 20;", "@%p15 mov.b32 %r9, 7;"},
    {"AllocationOfOddSize", FindingKind::TensorMemory, Warp,
     "mov.u32 %r10, slot;\nsetp.lt.u32 %p1, %r1, 32;\nmov.b32 %r9, 64;\n$\n"
     "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], "
     "%r9;\nbar.sync 0;\nld.shared.b32 %r12, [%r10];\n" FREE,
     "mov.b32 %r9, 96;", "mov.b32 %r9, 64;", kSlot},
    {"LoadOutsideAllocation", FindingKind::TensorMemory, Warp,
     TENSOR "mov.b32 %r9, 0;\n@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 "
            "[%r12], {%r9};\n@%p1 tcgen05.wait::st.sync.aligned;\n$\n"
            "@%p1 tcgen05.wait::ld.sync.aligned;\n" FREE,
     "@%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r12+64];",
     "@%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r12];", kSlot},
    {"LoadOfForeignLanes", FindingKind::TensorMemory, Warp,
     TENSOR "mov.b32 %r9, 0;\n$\n@%p1 tcgen05.wait::st.sync.aligned;\n" FREE,
     "@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+2097152], {%r9};",
     "@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r9};", kSlot},
    {"UseAfterFree", FindingKind::TensorMemory, Warp,
     TENSOR "mov.b32 %r9, 0;\n" FREE "$\n",
     "@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r9};", "", kSlot},
    {"FreedTwice", FindingKind::TensorMemory, Warp, TENSOR FREE "$\n",
     "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r12, 64;", "", kSlot},
    {"AllocationAfterRelinquish", FindingKind::TensorMemory, Warp,
     TENSOR FREE "$\n@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta."
                 "b32 [%r10], 32;\n"
                 "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 32;",
     " @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "",
     kSlot},
    {"Leak", FindingKind::TensorMemory, Warp, TENSOR "$", "", FREE, kSlot},
    {"DescriptorOfNoKind", FindingKind::Descriptor, Warp,
     TENSOR
     "mov.b64 %rd9, 0;\nsetp.eq.u32 %p2, %r1, 0;\nmov.b32 %r9, 8;\n$\n" FREE,
     "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd9, %rd9, %r9, %p2;",
     "", kSlot},
    {"NamedBarrierOfTooMany", FindingKind::Deadlock, Warp, "$",
     "bar.sync 1, 96;", "bar.sync 1, 64;"},
    {"NamedBarrierCount", FindingKind::Barrier, Warp,
     "mov.b32 %r9, 64;\n$\n"
     "bar.sync 1, %r9;",
     "mov.b32 %r9, 48;", ""},
    {"WaitForNobody", FindingKind::Deadlock, Warp,
     LIVE "$\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n"
          "@!%p2 bra W;",
     "", "@%p1 mbarrier.arrive.shared.b64 _, [%r10], 2;", kBarrier},
};

std::string nameOf(const testing::TestParamInfo<Case> &information) {
  return information.param.name;
}
void PrintTo(const Case &c, std::ostream *stream) { *stream << c.name; }

std::string filled(const Case &c, const char *with) {
  std::string text = std::string("setp.eq.u32 %p15, %r4, 101;\n"
                                 "setp.gt.u32 %p14, %r4, 999;\n") +
                     c.text;
  return text.replace(text.find('$'), 1, with);
}

Simple runCase(const Case &c, const char *with) {
  Options options;
  options.threads = 1;
  return runBody(filled(c, with), {}, 64, 2, options, 1, c.module);
}

class MachineErrors : public testing::TestWithParam<Case> {};

TEST_P(MachineErrors, NamesTheCulprit) {
  const Case &c = GetParam();
  Simple s = runCase(c, c.wrong);
  ASSERT_FALSE(s.result.clean());
  const Finding &f = s.result.findings.front();
  EXPECT_EQ(f.kind, c.kind) << toString(f);
  EXPECT_FALSE(f.message.empty());
  // The line is the wrong one or, where that only prepares a register, a later
  // one of the text.
  std::string whole = body(filled(c, c.wrong), c.module);
  size_t start = whole.find("setp.eq.u32 %p15");
  auto first = 1 + std::count(whole.begin(), whole.begin() + long(start), '\n');
  auto last = std::count(whole.begin(), whole.end(), '\n');
  EXPECT_GE(f.line, unsigned(first)) << toString(f);
  EXPECT_LE(f.line, unsigned(last)) << toString(f);
  if (*c.wrong == '@') {
    auto line =
        1 + std::count(whole.begin(),
                       whole.begin() + long(whole.rfind(c.wrong)), '\n');
    if (std::string(c.wrong).find(" mov.") == std::string::npos) {
      EXPECT_EQ(f.line, unsigned(line)) << toString(f);
    }
  }
  EXPECT_GE(f.warp, 0) << toString(f);
  if (c.blame == Thread) {
    EXPECT_EQ(f.cta[0], 1u) << toString(f);
    EXPECT_EQ(f.warp, 1) << toString(f);
    EXPECT_EQ(f.lane, 5) << toString(f);
  }
}

TEST_P(MachineErrors, TwinIsClean) {
  const Case &c = GetParam();
  expectClean(runCase(c, c.right).result);
}

INSTANTIATE_TEST_SUITE_P(Each, MachineErrors, testing::ValuesIn(kCases),
                         nameOf);

} // namespace
