//===- MutationTest.cpp - single edits that must not go unnoticed ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row edits one place of a correct kernel that nvcc compiled. Silicon
// would take most of them without a word; here each one gives a finding or
// wrong numbers in at least one order of completion.
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"
#include "TensorLaunches.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

enum Base { Pair, Sparse, Wide };

/// How an edit shows.
enum How { Numbers, Report };

struct Mutation {
  const char *name;
  Base base;
  const char *from, *to;
  How how;
  FindingKind kind = FindingKind::Launch; ///< of the first finding
  unsigned occurrence = 0;                ///< which one of equal places
};

const Mutation kMutations[] = {
    {"ScaleColumnOfA", Pair, "[%r125], [%r126], p", "[%r125+4], [%r126], p",
     Numbers},
    {"ScaleColumnOfB", Pair, "[%r125], [%r126], p", "[%r125], [%r126+8], p",
     Numbers},
    {"ScaleColumnOutsideTheAtoms", Pair, "[%r135], [%r136], p",
     "[%r135], [%r136+8], p", Report, FindingKind::Uninitialised},
    {"ScaleCopyOfADropped", Pair,
     "tcgen05.cp.cta_group::2.32x128b.warpx4 [%r125], %rd54;", "", Report,
     FindingKind::Uninitialised},
    {"SecondScaleAtomOfBDropped", Pair,
     "tcgen05.cp.cta_group::2.32x128b.warpx4 [%r111], %rd56;", "", Report,
     FindingKind::Uninitialised},
    {"ScaleCopyOfSecondTileDropped", Pair,
     "tcgen05.cp.cta_group::2.32x128b.warpx4 [%r125], %rd34;", "", Numbers},
    {"ScaleAtomsSwapped", Pair, "add.s32 \t%r150, %r140, 57856",
     "add.s32 \t%r150, %r140, 58368", Numbers},
    {"DescriptorStartOfA", Pair, "%rd25, %rd84, 4611756662049538050",
     "%rd25, %rd84, 4611756662049538051", Numbers},
    {"DescriptorStartOfBNotAdvanced", Pair, "%rd26, %rd83, 4611756662049538050",
     "%rd26, %rd83, 4611756662049538048", Numbers},
    {"SwizzleOf64Bytes", Pair, "%rd24, %rd83, 4611756662049538048",
     "%rd24, %rd83, 0x8000404000010000", Numbers},
    {"StrideOfRowGroups", Pair, "%rd23, %rd84, 4611756662049538048",
     "%rd23, %rd84, 0x4000402000010000", Numbers},
    {"DescriptorConstantMissing", Pair, "%rd24, %rd83, 4611756662049538048",
     "%rd24, %rd83, 0x4000004000010000", Report, FindingKind::Descriptor},
    {"SwizzleThatDoesNotExist", Pair, "%rd24, %rd83, 4611756662049538048",
     "%rd24, %rd83, 0x6000404000010000", Report, FindingKind::Descriptor},
    {"TransactionCountTooLarge", Pair, "mov.b32 \t%r229, 69632",
     "mov.b32 \t%r229, 69648", Report, FindingKind::Deadlock},
    {"TransactionCountTooSmall", Pair, "mov.b32 \t%r229, 69632",
     "mov.b32 \t%r229, 67584", Report, FindingKind::Race},
    {"ConsumerParity", Pair, "P1, [%r104], %r70", "P1, [%r104], 1", Report,
     FindingKind::Race},
    {"ProducerParity", Pair, "P1, [%r225], %r226", "P1, [%r225], 0", Report,
     FindingKind::Deadlock},
    {"EpilogueParity", Pair, "P1, [%r294], %r342", "P1, [%r294], 1", Report,
     FindingKind::Uninitialised},
    {"FormatOfA", Pair, "%r134, 271582336", "%r134, 271582208", Report,
     FindingKind::Descriptor},
    {"ScaleType", Pair, "%r134, 271582336", "%r134, 279970944", Numbers},
    {"NegatedA", Pair, "%r134, 271582336", "%r134, 271590528", Numbers},
    {"NarrowerN", Pair, "%r134, 271582336", "%r134, 270533760", Report,
     FindingKind::Uninitialised},
    {"HalfM", Pair, "%r134, 271582336", "%r134, 137364608", Report,
     FindingKind::Uninitialised},
    {"ScaleIdThatDoesNotExist", Pair, "%r134, 271582336", "%r134, 271582352",
     Report, FindingKind::Descriptor},
    {"MulticastMaskOfLoad", Pair, "mov.b16 \t%rs5, 3", "mov.b16 \t%rs5, 1",
     Report, FindingKind::Deadlock},
    {"MulticastMaskOfCommit", Pair, "mov.b16 \t%rs4, 3", "mov.b16 \t%rs4, 1",
     Report, FindingKind::Deadlock},
    {"LoadDropped", Pair, "[%r259], [%rd100, {%r260, %r6}], [%r270];", nullptr,
     Report, FindingKind::Deadlock},
    {"CoordinateOfK", Pair, "[%rd99, {%r260, %r5}]", "[%rd99, {%r244, %r5}]",
     Numbers},
    {"RowsOfBOfThePeer", Pair, "mul.lo.s32 \t%r6, %r18, 96",
     "mul.lo.s32 \t%r6, %r18, 64", Numbers},
    {"BarrierOfThePeer", Pair, "and.b32  \t%r246, %r251, -16778240",
     "and.b32  \t%r246, %r251, -1", Report, FindingKind::Deadlock},
    {"AccumulatorColumn", Pair, "[%r341];", "[%r341+1];", Numbers},
    {"FirstMmaAccumulates", Pair, "setp.ne.b32 p, %r70, 0",
     "setp.eq.b32 p, %r70, 0", Report, FindingKind::Uninitialised},
    {"LaterMmaOverwrites", Pair, "setp.ne.b32 p, %r137, 0",
     "setp.eq.b32 p, %r137, 0", Numbers},
    {"LastCommitDropped", Pair, "b64 [%r139], %rs4;", nullptr, Report,
     FindingKind::Deadlock},
    {"ArriveCount", Pair, "mbarrier.init.shared::cta.b64 [%r21], %r28",
     "mbarrier.init.shared::cta.b64 [%r21], 2", Report, FindingKind::Deadlock},
    {"AllocationTooSmall", Pair, "mov.b32 \t%r31, 256", "mov.b32 \t%r31, 128",
     Report, FindingKind::TensorMemory},
    {"WrongDeallocation", Pair, "b32 %r4, %r339", "b32 %r4, 128", Report,
     FindingKind::TensorMemory},
    {"MetadataColumn", Sparse, "[%r43], %r44", "[%r37], %r44", Numbers},
    {"MetadataCopyDropped", Sparse, "tcgen05.cp.cta_group::1.128x128b", nullptr,
     Report, FindingKind::Uninitialised},
    {"MetadataFromScales", Sparse, "add.s32 \t%r56, %r32, 18432",
     "add.s32 \t%r56, %r32, 17408", Report, FindingKind::Uninitialised},
    {"ScaleIdsOfSecondStep", Sparse, "%r44, 680525844", "%r44, 143654916",
     Numbers},
    {"ScaleIdOfBOnly", Sparse, "%r44, 680525844", "%r44, 680525828", Numbers},
    {"DenseInstructionDescriptor", Sparse, "%r38, 143654916", "%r38, 143654912",
     Report, FindingKind::Descriptor},
    {"FormatE5M2", Sparse, "%r38, 143654916", "%r38, 143655044", Numbers},
    {"StepOfDenseB", Sparse, "%rd20, %rd24, 4611756662049538052",
     "%rd20, %rd24, 4611756662049538050", Numbers},
    {"SwizzleOf128BytesOverRowsOf64", Sparse,
     "%rd17, %rd25, -9223301530671579136", "%rd17, %rd25, 0x4000402000010000",
     Numbers},
    {"BytesOfScales", Sparse, "mov.b32 \t%r25, 512", "mov.b32 \t%r25, 256",
     Report, FindingKind::Deadlock},
    {"SizeOfK", Wide, "%r113, -1876949888", "%r113, 270533760", Numbers},
    {"ScaleIdsOfOddSteps", Wide, "%r118, -803208032", "%r118, -1876949888",
     Numbers},
    {"ScaleColumnOfOddStep", Wide, "[%r89], [%r90], p", "[%r89+4], [%r90], p",
     Numbers},
    {"RelativeLeadingDimension", Wide, "%rd45, %rd85, 4616260261676843008",
     "%rd45, %rd85, 0x4000404000000000", Report, FindingKind::Descriptor},
};

std::string nameOf(const testing::TestParamInfo<Mutation> &information) {
  return information.param.name;
}

void PrintTo(const Mutation &mutation, std::ostream *stream) {
  *stream << mutation.name;
}

const char *kernelOf(Base base) {
  return base == Pair     ? "ringPair"
         : base == Sparse ? "sparseMxf8Single"
                          : "widePair";
}

/// The text with one place of the kernel edited; a null replacement drops the
/// whole line.
std::string edited(std::string text, const Mutation &m) {
  std::string entry = std::string(".visible .entry ") + kernelOf(m.base) + "(";
  size_t at = text.find(entry);
  EXPECT_NE(at, std::string::npos);
  size_t end = text.find(".visible .entry", at + 1);
  for (unsigned i = 0; i <= m.occurrence && at != std::string::npos; ++i)
    at = text.find(m.from, at + 1);
  if (at == std::string::npos || at >= end) {
    ADD_FAILURE() << "no place '" << m.from << "' in " << kernelOf(m.base);
    return text;
  }
  if (m.to)
    return text.replace(at, std::strlen(m.from), m.to);
  size_t line = text.rfind('\n', at) + 1;
  return text.erase(line, text.find('\n', at) - line);
}

class MutationTest : public testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, IsCaught) {
  const Mutation &m = GetParam();
  std::string original =
      readFile(std::string(BLOCKSCALE_SOURCE_DIR "/test/Emulator/cuda/") +
               (m.base == Wide ? "wide.ptx" : "tensor.ptx"));
  std::string text = edited(original, m);
  ASSERT_NE(text, original);
  ParseResult parsed = parsePtx(text);
  ASSERT_TRUE(parsed) << parsed.errors.front().format();
  TensorLaunch t;
  if (m.base == Pair)
    t.ring(kernelOf(m.base), 2);
  else if (m.base == Sparse)
    t.sparse(kernelOf(m.base), 1, false);
  else
    t.wide(kernelOf(m.base), 2);
  Options options;
  options.stepLimit = 1 << 20;
  bool reported = false, wrong = false;
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    options.completion = completion;
    t.clear();
    RunResult result = run(*parsed.module, t.launch, options);
    if (!result.clean()) {
      const Finding &finding = result.findings.front();
      EXPECT_EQ(m.how, Report) << toString(finding);
      EXPECT_EQ(finding.kind, m.kind) << toString(finding);
      reported = true;
    }
    wrong |= t.p.out != t.p.expected;
  }
  EXPECT_EQ(reported, m.how == Report);
  EXPECT_TRUE(reported || wrong) << "nobody noticed";
}

INSTANTIATE_TEST_SUITE_P(Edits, MutationTest, testing::ValuesIn(kMutations),
                         nameOf);

} // namespace
