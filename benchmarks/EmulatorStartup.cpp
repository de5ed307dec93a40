//===- EmulatorStartup.cpp - parsing and preparing long PTX ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a kernel of 20,000 lines with the mix of instructions of a GEMM, whose
// first instruction jumps over all others, and times parsing and the run, which
// is all preparation then.
//
// emulator-startup [LINES [ROUNDS]]
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>

using namespace blockscale::emulator;

namespace {

std::string longKernel(unsigned lines) {
  static const char *const kMix[] = {
      "mov.u32 %r1, %tid.x;",
      "add.s32 %r7, %r1, 4;",
      "shl.b32 %r8, %r7, 3;",
      "setp.lt.u32 %p1, %r7, %r8;",
      "@%p1 bra LABEL;",
      "mad.lo.s32 %r9, %r8, 55296, %r7;",
      "cvt.u64.u32 %rd4, %r9;",
      "or.b64 %rd5, %rd4, 0x4000404000010000;",
      "fma.rn.f32 %f3, %f1, %f2, %f3;",
      "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r8+16];",
      "st.global.v4.b32 [%rd4+64], {%r10, %r11, %r12, %r13};",
      "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r7;",
      "prmt.b32 %r14, %r13, %r12, 0x5410;",
      "cvt.rn.bf16x2.f32 %r15, %f3, %f2;",
      "selp.b32 %r16, %r15, %r14, %p2;",
      "lop3.b32 %r17, %r16, %r15, %r14, 0x96;"};
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n"
                     ".visible .entry k()\n{\n.reg .pred %p<4>;\n"
                     ".reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<8>;\n"
                     "bra END;\n";
  unsigned labels = 0;
  for (unsigned line = 12; line < lines; ++line) {
    std::string one = kMix[line % std::size(kMix)];
    size_t label = one.find("LABEL");
    if (label != std::string::npos) {
      one.replace(label, 5, "L" + std::to_string(labels));
      one += " L" + std::to_string(labels++) + ":";
    }
    text += one + "\n";
  }
  return text + "END:\nret;\n}\n";
}

} // namespace

int main(int argc, char **argv) {
  unsigned lines = argc > 1 ? unsigned(std::atoi(argv[1])) : 20000;
  unsigned rounds = argc > 2 ? unsigned(std::atoi(argv[2])) : 5;
  std::string text = longKernel(lines);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  double best = 1e30, bestProcessor = 1e30;
  for (unsigned round = 0; round != rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    std::clock_t processor = std::clock();
    ParseResult parsed = parsePtx(text);
    for (const Diagnostic &error : parsed.errors)
      std::fprintf(stderr, "%s\n", error.format().c_str());
    if (!parsed)
      return 1;
    double parse = double(std::clock() - processor) / CLOCKS_PER_SEC;
    RunResult result = run(*parsed.module, launch);
    for (const Finding &finding : result.findings)
      std::fprintf(stderr, "%s\n", toString(finding).c_str());
    if (!result.clean())
      return 1;
    double both = double(std::clock() - processor) / CLOCKS_PER_SEC;
    double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    std::printf("round %u: parse %.3f s, prepare %.3f s processor time, "
                "%.3f s in all\n",
                round, parse, both - parse, wall);
    best = std::min(best, wall);
    bestProcessor = std::min(bestProcessor, both);
  }
  std::printf("%u lines: best %.3f s, processor %.3f s\n", lines, best,
              bestProcessor);
  return 0;
}
