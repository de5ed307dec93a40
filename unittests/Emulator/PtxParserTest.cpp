//===- PtxParserTest.cpp - the grammar of PTX -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxTesting.h"
#include <ctime>

using namespace blockscale::emulator;

TEST(PtxParser, ModuleDirectives) {
  Module module = parsed(".version 8.7 // comment\n.target sm_103a, debug\n"
                         ".address_size 64\n.file 1 \"a.cu\", 12, 34\n"
                         ".section .debug_x { .b8 1, 2 \n x: .b64 x }\n");
  EXPECT_EQ(module.versionMajor, 8u);
  EXPECT_EQ(module.versionMinor, 7u);
  EXPECT_EQ(module.target, "sm_103a");
  ASSERT_EQ(module.files.size(), 1u);
  EXPECT_EQ(module.files[0].second, "a.cu");
}

TEST(PtxParser, ParametersLieInOrderAtTheirAlignment) {
  Module module = parsed(
      std::string(kHeader) +
      ".visible .entry k(.param .u32 a, .param .align 128 .b8 map[128],\n"
      ".param .u8 c, .param .u64 .ptr .global .align 16 d)\n"
      ".reqntid 128, 2\n.explicitcluster .reqnctapercluster 2, 1, 1\n"
      ".maxnreg 168 { ret; }");
  const Function &k = module.functions.at(0);
  ASSERT_EQ(k.parameters.size(), 4u);
  EXPECT_EQ(k.parameters[0].offset, 0u);
  EXPECT_EQ(k.parameters[1].offset, 128u);
  EXPECT_EQ(k.parameters[2].offset, 256u);
  EXPECT_EQ(k.parameters[3].offset, 264u);
  EXPECT_TRUE(k.parameters[3].isPointer);
  EXPECT_EQ(k.parameterBytes, 272u);
  EXPECT_EQ(k.launch.reqntid, (std::array<uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(k.launch.reqnctapercluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(k.launch.maxnreg, 168u);
  EXPECT_TRUE(k.launch.explicitcluster);
}

TEST(PtxParser, VariablesAndInitialValues) {
  Module module = parsed(std::string(kHeader) +
                         ".global .align 8 .b8 g[8] = {1, 0xFF};\n"
                         ".const .u16 m[2][3] = {{1, 2}, {3, 4, 5}};\n"
                         ".global .u64 p[2] = {generic(g)+4, m};\n"
                         ".global .b8 q[2] = {0xFF(g), 0xFF00(g)};\n"
                         ".global .f32 f = 1.5;\n"
                         ".extern .shared .align 1024 .b8 dyn[];\n");
  ASSERT_EQ(module.variables.size(), 6u);
  EXPECT_EQ(module.variables[0].size, 8u);
  EXPECT_EQ(module.variables[0].init, (std::vector<uint8_t>{1, 0xFF}));
  EXPECT_EQ(module.variables[1].init,
            (std::vector<uint8_t>{1, 0, 2, 0, 0, 0, 3, 0, 4, 0, 5, 0}));
  const std::vector<Relocation> &p = module.variables[2].relocations;
  ASSERT_EQ(p.size(), 2u);
  EXPECT_TRUE(p[0].generic);
  EXPECT_EQ(p[0].addend, 4);
  EXPECT_EQ(p[1].offset, 8u);
  EXPECT_EQ(p[1].variable, 1u);
  EXPECT_EQ(module.variables[3].relocations[1].shift, 8u);
  EXPECT_EQ(module.variables[4].init,
            (std::vector<uint8_t>{0x00, 0x00, 0xC0, 0x3F}));
  EXPECT_TRUE(module.variables[5].unsized);
  EXPECT_EQ(module.variables[5].align, 1024u);
}

TEST(PtxParser, ManagedVariables) {
  Module module = parsed(std::string(kHeader) +
                         ".global .attribute(.managed) .align 4 .u32 m = 5;\n"
                         ".global .align 4 .u32 g;\n");
  ASSERT_EQ(module.variables.size(), 2u);
  EXPECT_TRUE(module.variables[0].isManaged);
  EXPECT_FALSE(module.variables[1].isManaged);
  EXPECT_EQ(
      parsePtx(std::string(kHeader) + ".shared .attribute(.managed) .u32 m;\n")
          .errors.at(0)
          .message,
      "expected '.managed' of a '.global' variable, found '.managed'");
}

TEST(PtxParser, LabelsResolveInsideOut) {
  Module module = parsed(kernelOf("L: { bra L; L: bra L; }\n"
                                  "{ L: bra L; bra OUT; }\n"
                                  "bra L; OUT:"));
  const std::vector<Instruction> &code = module.functions.at(0).instructions;
  ASSERT_EQ(code.size(), 5u);
  EXPECT_EQ(code[0].operands[0].index, 1u);
  EXPECT_EQ(code[1].operands[0].index, 1u);
  EXPECT_EQ(code[2].operands[0].index, 2u);
  EXPECT_EQ(code[3].operands[0].index, 5u);
  EXPECT_EQ(code[4].operands[0].index, 0u);
}

TEST(PtxParser, InnerRegistersHideOuterOnesUntilTheBlockEnds) {
  Module module = parsed(kernelOf(".reg .b32 %r<4>; mov.b32 %r1, 5;\n"
                                  "{ mov.b32 %r2, 1; .reg .b64 %r1;\n"
                                  "mov.b64 %r1, 7; }\nmov.b32 %r1, 6;"));
  const Function &k = module.functions.at(0);
  EXPECT_EQ(k.registers.size(), 5u);
  EXPECT_EQ(k.instructions.at(0).operands[0].reg, 1u);
  EXPECT_EQ(k.instructions.at(1).operands[0].reg, 2u);
  EXPECT_EQ(k.instructions.at(2).operands[0].reg, 4u);
  EXPECT_EQ(k.registers[4].width(), 64u);
  EXPECT_EQ(k.instructions.at(3).operands[0].reg, 1u);
  EXPECT_EQ(k.registerName(3), "%r3");
}

TEST(PtxParser, ImmediatesKeepTheirKind) {
  Module module = parsed(kernelOf(
      ".reg .b64 %rd<2>;.reg .b32 %r<2>;\n"
      "mov.b64 %rd1, (1+2)*3; mov.b64 %rd1, -0x10; mov.b64 %rd1, 017;\n"
      "mov.b64 %rd1, 0xFFFFFFFFFFFFFFFFU; mov.b32 %r1, 0fBF800000;\n"
      "mov.b64 %rd1, 0d3FF0000000000000; mov.b64 %rd1, WARP_SZ*2;\n"
      "mov.b64 %rd1, 7/2-(3<4?1:0)<<4; mov.f64 %rd1, -1.5;"));
  const std::vector<Instruction> &code = module.functions.at(0).instructions;
  ASSERT_EQ(code.size(), 9u);
  auto value = [&](unsigned i) { return code[i].operands[1].value; };
  EXPECT_EQ(value(0), 9);
  EXPECT_EQ(value(1), -16);
  EXPECT_EQ(value(2), 15);
  EXPECT_EQ(value(3), -1);
  EXPECT_EQ(code[4].operands[1].kind, OperandKind::Float32);
  EXPECT_EQ(value(4), 0xBF800000);
  EXPECT_EQ(code[5].operands[1].kind, OperandKind::Float64);
  EXPECT_EQ(value(6), 64);
  EXPECT_EQ(value(7), 32);
  EXPECT_EQ(code[8].operands[1].bits(), 0xBFF8000000000000u);
}

TEST(PtxParser, OperandsOfEveryKindPrintAgain) {
  const char *lines[] = {
      "@!%p1 add.s32 %r1, %r2, -4",
      "ld.global.v4.b32 {%r1, _, %r2, %r3}, [%rd1+-16]",
      "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1",
      "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r2, 8}]",
      "mbarrier.expect_tx.shared::cta.b64 [smem+8], 16",
      "setp.ne.or.s32 %p1, %r1, 3, !%p2",
      "mov.b64 %rd1, smem+4",
      "mov.u32 %r1, %tid.x",
      "mov.b32 %r1, 0f3F800000",
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2]",
  };
  for (const char *line : lines) {
    Module module =
        parsed(kernelOf(".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
                        ".shared .b8 smem[64];\n" +
                        std::string(line) + ";"));
    ASSERT_EQ(module.functions.size(), 1u) << line;
    const Function &k = module.functions[0];
    EXPECT_EQ(print(module, k, k.instructions.at(0)), line);
    EXPECT_EQ(k.instructions[0].position.line, 7u);
  }
}

TEST(PtxParser, BlanksAndCommentsBetweenAnyTokens) {
  Module module = parsed(kernelOf(
      ".reg .b32 %r<9>;\n.loc 1 20 3, function_name $L+3, inlined_at 1 2 3\n"
      "ld/* x */.global // y\n .v2 .b32{%r1,%r2},[ %r1 + 8 ];"));
  const Function &k = module.functions.at(0);
  const Instruction &load = k.instructions.at(0);
  EXPECT_EQ(load.opcode, Opcode::Ld);
  EXPECT_TRUE(load.has(Modifier::Global));
  EXPECT_TRUE(load.has(Modifier::V2));
  EXPECT_EQ(load.type(), Type::B32);
  EXPECT_EQ(load.operands[1].value, 8);
  EXPECT_EQ(k.locations.at(load.location).line, 20u);
}

TEST(PtxParser, CallsAndBranchTables) {
  Module module = parsed(
      std::string(kHeader) +
      ".func (.param .b32 r) f(.param .b32 a, .param .b64 b);\n"
      ".entry k() { .reg .b32 %r<3>;\n"
      "{ .param .b32 a0; st.param.b32 [a0], %r1; .param .b32 r0;\n"
      "call.uni (r0), f, (a0, 4); ld.param.b32 %r1, [r0]; }\n"
      "T: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA: ret; B: trap; }\n"
      ".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { ret; }\n");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(module.findFunction("f")->hasBody);
  const Function &k = *module.findFunction("k");
  const Instruction &call = k.instructions.at(1);
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].elements.at(0).symbol.scope,
            SymbolScope::Function);
  EXPECT_EQ(call.operands[1].index, 0u);
  EXPECT_EQ(call.operands[2].elements.size(), 2u);
  EXPECT_EQ(k.branchTables.at(0), (std::vector<uint32_t>{4, 5, 4}));
  EXPECT_EQ(k.instructions.at(3).operands[1].kind, OperandKind::BranchTable);
}

TEST(PtxParser, ErrorsNameTheLineAndTheName) {
  auto body = [](const char *text) { return firstError(kernelOf(text)); };
  EXPECT_EQ(body("mov.u32 %r1, 2;"), "5:9: undefined name '%r1'");
  EXPECT_EQ(body(".reg .b32 %r<2>; mov.u32 %r2, 2;"),
            "5:26: undefined name '%r2'");
  EXPECT_EQ(body("\nbra L;"), "6:5: undefined label 'L'");
  EXPECT_EQ(body("bra L; { L: }"), "5:5: undefined label 'L'");
  EXPECT_EQ(body("L: L: ret;"), "5:4: redefinition of label 'L'");
  EXPECT_EQ(body(".reg .b32 a; .reg .b64 a;"), "5:24: redefinition of 'a'");
  EXPECT_EQ(body(".reg .b32 a; add.u32 a, a;"),
            "5:14: 'add' takes 3 operands, found 2");
  EXPECT_EQ(body(".reg .b32 a; @a ret;"), "5:15: guard 'a' is not a predicate");
  EXPECT_EQ(body("mov.u32 _, 3"), "6:1: expected ';' after the instruction, "
                                  "found '}'");
  EXPECT_EQ(body("mov.u32 _, 1/0;"),
            "5:13: division by zero in a constant expression");
  EXPECT_EQ(body("mov.u32 _, 0f12;"),
            "5:12: '0f' needs exactly 8 hexadecimal digits");
  EXPECT_EQ(firstError(".version 8.7\n.target sm_100a\n.address_size 32\n"),
            "3:1: address size is 32, only 64 is supported");
  EXPECT_EQ(firstError(std::string(kHeader) + ".tex .u64 t;"),
            "4:1: directive '.tex' is not supported");
  EXPECT_EQ(firstError(std::string(kHeader) + ".entry k() { /* "),
            "4:14: comment is not closed");
}

TEST(PtxParser, LimitsHoldOnHostileText) {
  EXPECT_EQ(firstError(kernelOf(std::string(100000, '{'))),
            "5:64: blocks are nested deeper than 64");
  EXPECT_NE(firstError(kernelOf("mov.u32 _, " + std::string(100000, '(')))
                .find("nested deeper than 64"),
            std::string::npos);
  EXPECT_NE(firstError(kernelOf("mov.u32 _, " + std::string(100000, '-')))
                .find("nested deeper than 64"),
            std::string::npos);
  EXPECT_EQ(firstError(kernelOf(".reg .b32 %r<4000000000>;")),
            "5:11: more than 1048576 registers in a function");
  EXPECT_EQ(firstError(std::string(kHeader) +
                       ".global .b64 x[4000000000][4000000000];"),
            "4:16: variable is larger than 4 GiB");
}

TEST(PtxParser, SmallTextCannotClaimMuchMemory) {
  EXPECT_EQ(firstError(std::string(kHeader) +
                       ".global .b8 a[2][200000000] = {{1}, {1}};\n"
                       ".global .b8 b[2][200000000] = {{1}, {1}};"),
            "5:39: initial values of the module take more than 256 MiB");
  std::string text = kHeader;
  for (unsigned i = 0; i != 9; ++i)
    text += ".entry k" + std::to_string(i) + "() { .reg .b32 %r<1048576>; }\n";
  EXPECT_EQ(firstError(text),
            "12:25: more than 8388608 registers in the module");
}

TEST(PtxParser, TwentyThousandLinesInUnderAThirdOfASecond) {
  std::string body = ".reg .b32 %r<5000>; .reg .b64 %rd<100>;\n";
  for (unsigned i = 0; i != 20000; ++i) {
    std::string a = "%r" + std::to_string(i % 4999);
    body += i % 3 ? "add.s32 " + a + ", %r7, 12;\n"
                  : "ld.global.v2.b32 {" + a + ", %r9}, [%rd7+64];\n";
  }
  std::string text = kernelOf(body);
  // Processor time, which other work on the machine does not disturb.
  std::clock_t start = std::clock();
  ParseResult result = parsePtx(text);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(result);
  EXPECT_EQ(result.module->functions[0].instructions.size(), 20000u);
#ifndef BLOCKSCALE_SANITIZED
  EXPECT_LT(seconds, 0.3);
#endif
  std::printf("20,000 lines: %.1f ms\n", seconds * 1e3);
}
