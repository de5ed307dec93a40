//===- PtxLinkerTest.cpp - several pieces of PTX as one module ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/PtxLinker.h"
#include "MachineHarness.h"
#include "PtxTesting.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

PtxLinkResult link(const std::vector<std::string> &texts) {
  std::vector<PtxPiece> pieces;
  for (const std::string &text : texts) {
    std::string name(1, char('a' + pieces.size()));
    pieces.push_back({std::move(name), test::kHeader + text});
  }
  return linkPtx(pieces);
}

std::string firstLinkError(const std::vector<std::string> &texts) {
  PtxLinkResult result = link(texts);
  EXPECT_EQ(bool(result), result.errors.empty());
  return result.errors.empty() ? "" : result.errors.front();
}

/// A kernel that stores the result of `instructions` (%r1).
std::string kernel(const std::string &instructions) {
  return ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
         instructions +
         "\nld.param.u64 %rd1, [out];\nst.global.b32 [%rd1], %r1;\nret;\n}\n";
}

/// What the kernel `k` of the linked pieces stores.
uint32_t runLinked(const std::vector<std::string> &texts) {
  PtxLinkResult result = link(texts);
  for (const std::string &error : result.errors)
    ADD_FAILURE() << error;
  for (const std::string &name : result.unresolved)
    ADD_FAILURE() << "unresolved " << name;
  if (!result)
    return 0;
  std::vector<uint32_t> out(1, 0xAAAAAAAA);
  Launch launch;
  launch.kernel = "k";
  launch.buffers = {bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}};
  expectClean(runText(*result.text, launch));
  return out[0];
}

const std::string kCall = "{ .param .b32 r; call.uni (r), f, ();\n"
                          "ld.param.b32 %r1, [r]; }\n";
const std::string kDeclareF = ".extern .func (.param .b32 r) f();\n";

std::string defineF(const std::string &linkage, const std::string &value) {
  return linkage + " .func (.param .b32 r) f()\n{\nst.param.b32 [r], " + value +
         ";\nret;\n}\n";
}

TEST(PtxLinker, FunctionOfAnotherPiece) {
  std::string caller = kDeclareF + kernel(kCall);
  EXPECT_EQ(runLinked({caller, defineF(".visible", "41")}), 41u);
  EXPECT_EQ(runLinked({defineF(".visible", "42"), caller}), 42u);
}

TEST(PtxLinker, VariableOfAnotherPiece) {
  std::string user =
      ".extern .global .align 4 .b32 x;\n" + kernel("ld.global.b32 %r1, [x];");
  EXPECT_EQ(runLinked({user, ".visible .global .align 4 .b32 x = 7;\n"}), 7u);
  EXPECT_EQ(runLinked({".visible .global .align 4 .b32 x = 8;\n", user}), 8u);
  // Open in one piece, and spelled with another type.
  EXPECT_EQ(runLinked({".extern .global .align 4 .b32 t[];\n" +
                           kernel("ld.global.b32 %r1, [t+8];"),
                       ".visible .global .align 4 .u32 t[3] = {1, 2, 3};\n"}),
            3u);
}

TEST(PtxLinker, AddressesInInitialValues) {
  // Each variable holds the other's address.
  EXPECT_EQ(
      runLinked({".extern .global .b64 y;\n"
                 ".visible .global .b64 x = generic(y);\n" +
                     kernel("ld.global.b64 %rd2, [x];\n"
                            "ld.b64 %rd3, [%rd2];\nld.b32 %r1, [%rd3+8];"),
                 ".extern .global .b64 x;\n"
                 ".visible .global .b32 z[3] = {4, 5, 6};\n"
                 ".visible .global .b64 y = generic(z);\n"}),
      6u);
}

TEST(PtxLinker, WhatHasNoLinkageStaysApart) {
  std::string own = ".global .align 4 .b32 hidden = 5;\n";
  std::string other =
      ".global .align 4 .b32 hidden = 100;\n"
      ".visible .func (.param .b32 r) f()\n{\n.reg .b32 %r<2>;\n"
      "ld.global.b32 %r1, [hidden];\nst.param.b32 [r], %r1;\nret;\n}\n";
  std::string sum = kernel(kCall + "ld.global.b32 %r2, [hidden];\n"
                                   "add.s32 %r1, %r1, %r2;");
  EXPECT_EQ(runLinked({own + kDeclareF + sum, other}), 105u);
  // A name that is one piece's own and what the others share.
  EXPECT_EQ(runLinked({own + kDeclareF + sum, other,
                       ".visible .global .align 4 .b32 hidden = 1000;\n"}),
            105u);
  // The new name is new.
  EXPECT_EQ(runLinked({own + ".global .b32 hidden$2 = 1;\n" + kDeclareF + sum,
                       other}),
            105u);
}

TEST(PtxLinker, StrongerDefinitions) {
  std::string caller = kDeclareF + kernel(kCall);
  // The first weak one counts, unless a visible one is there.
  EXPECT_EQ(runLinked({caller, defineF(".weak", "1"), defineF(".weak", "2")}),
            1u);
  EXPECT_EQ(
      runLinked({caller, defineF(".weak", "1"), defineF(".visible", "2")}), 2u);
  EXPECT_EQ(
      runLinked({caller, defineF(".visible", "1"), defineF(".weak", "2")}), 1u);
  std::string user = ".weak .global .align 4 .b32 x = 1;\n" +
                     kernel("ld.global.b32 %r1, [x];");
  EXPECT_EQ(runLinked({user, ".weak .global .align 4 .b32 x = 2;\n"}), 1u);
  EXPECT_EQ(runLinked({user, ".visible .global .align 4 .b32 x = 3;\n"}), 3u);
  // Of `.common` ones the largest.
  EXPECT_EQ(runLinked({".common .global .align 4 .b32 x[2];\n",
                       ".common .global .align 4 .b32 x[40];\n" +
                           kernel("mov.b32 %r1, 9;\n"
                                  "st.global.b32 [x+156], %r1;")}),
            9u);
  // Kernels of templates are weak in each piece.
  std::string weak = kernel("mov.b32 %r1, 6;");
  weak.replace(0, 8, ".weak");
  EXPECT_EQ(runLinked({weak, weak}), 6u);
}

TEST(PtxLinker, DynamicSharedMemory) {
  EXPECT_EQ(
      runLinked({".extern .shared .align 16 .b8 s[];\n"
                 ".extern .func (.param .b32 r) f();\n" +
                     kernel("mov.b32 %r2, s;\n" + kCall +
                            "sub.s32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, 7;"),
                 ".extern .shared .align 4 .b32 s[];\n"
                 ".visible .func (.param .b32 r) f()\n{\n"
                 ".reg .b32 %r<2>;\nmov.b32 %r1, s;\n"
                 "st.param.b32 [r], %r1;\nret;\n}\n"}),
      7u);
}

TEST(PtxLinker, WhatDisagrees) {
  EXPECT_EQ(
      firstLinkError({defineF(".visible", "1"), defineF(".visible", "2")}),
      "'f' is defined in 'a' and again in 'b'");
  EXPECT_EQ(
      firstLinkError({kernel("mov.b32 %r1, 1;"), kernel("mov.b32 %r1, 2;")}),
      "'k' is defined in 'a' and again in 'b'");
  EXPECT_EQ(firstLinkError({".extern .func (.param .b64 r) f();\n",
                            defineF(".visible", "1")}),
            "'f' has other parameters or results in 'a' and in 'b'");
  EXPECT_EQ(
      firstLinkError({".extern .global .b32 f;\n", defineF(".visible", "1")}),
      "'f' is a function in one and a variable in the other: in 'a' and "
      "in 'b'");
  EXPECT_EQ(firstLinkError(
                {".extern .global .b32 x;\n", ".visible .const .b32 x = 1;\n"}),
            "'x' lies in different state spaces in 'a' and in 'b'");
  EXPECT_EQ(firstLinkError({".extern .global .b32 x[4];\n",
                            ".visible .global .b32 x[5];\n"}),
            "'x' has 16 and 20 bytes in 'a' and in 'b'");
  EXPECT_EQ(firstLinkError({".visible .global .b32 x, y;\n"}),
            "a: 'x' and others are defined in one statement, which the linker "
            "does not take apart: declare each variable by itself");
  EXPECT_EQ(firstLinkError({"", ".visible .global .b99 x;\n"}),
            "b:4:18: unexpected '.b99' in a variable");
  EXPECT_EQ(linkPtx({}).errors.front(), "there is nothing to link");
}

TEST(PtxLinker, Unresolved) {
  PtxLinkResult result =
      link({kDeclareF + ".extern .func (.param .b32 r) vprintf(.param .b64 a, "
                        ".param .b64 b);\n",
            kDeclareF + ".extern .global .b32 x;\n"});
  ASSERT_TRUE(result);
  ASSERT_EQ(result.unresolved.size(), 2u);
  EXPECT_EQ(result.unresolved[0], "'f', which 'a' declares");
  EXPECT_EQ(result.unresolved[1], "'x', which 'b' declares");
}

TEST(PtxLinker, VersionTargetAndLines) {
  PtxLinkResult result = linkPtx(
      {{"a", ".version 8.7\n.target sm_90\n.address_size 64\n"
             ".visible .func f()\n{\n.loc 2 5 1\nret;\n}\n"
             ".file 1 \"a.cu\"\n.file 2 \"a.h\"\n"},
       {"b", ".version 9.0\n.target sm_100a, texmode_independent\n"
             ".address_size 64\n.visible .func g()\n{\n"
             ".loc 1 7 3, function_name $L__info_string0, inlined_at 1 9 1\n"
             "ret;\n}\n.file 1 \"b.cu\"\n"
             ".section .debug_str\n{\n$L__info_string0:\n.b8 98\n.b8 0\n}\n"
             ".section .debug_info\n{\n.b32 1\n}\n"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(*result.text, R"(.version 9.0
.target sm_100a
.address_size 64

// a
.visible .func f()
{
.loc 2 5 1
ret;
}
.file 1 "a.cu"
.file 2 "a.h"

// b
.visible .func g()
{
.loc 3 7 3, function_name $L__info_string0, inlined_at 3 9 1
ret;
}
.file 3 "b.cu"
.section .debug_str
{
$L__info_string0:
.b8 98
.b8 0
}
)");
  parsed(*result.text);
}

TEST(PtxLinker, OnePieceStaysWhatItIs) {
  for (const char *name : {"nvcc-mixed.ptx", "llvm-mixed.ptx"}) {
    std::string text = readSample(name);
    PtxLinkResult result = linkPtx({{"a", text}});
    ASSERT_TRUE(result) << result.errors.front();
    Module before = parsed(text), after = parsed(*result.text);
    ASSERT_EQ(before.functions.size(), after.functions.size());
    for (size_t i = 0; i != before.functions.size(); ++i)
      EXPECT_EQ(before.functions[i].instructions.size(),
                after.functions[i].instructions.size());
    EXPECT_EQ(before.variables.size(), after.variables.size());
  }
}

} // namespace
