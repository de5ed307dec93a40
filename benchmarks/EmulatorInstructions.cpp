//===- EmulatorInstructions.cpp - warp instructions per second ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of a few kinds on one host thread, with and without divergence.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include <cstdio>
#include <ctime>

using namespace blockscale::emulator;

namespace {

struct Loop {
  const char *name, *body;
};

const Loop kLoops[] = {
    {"integer", "add.s32 %r3, %r1, %r4;\nxor.b32 %r4, %r3, %r2;\n"
                "shl.b32 %r5, %r4, 3;\nmad.lo.s32 %r6, %r5, %r3, %r4;\n"
                "lop3.b32 %r7, %r6, %r5, %r4, 0x96;\n"
                "and.b32 %r8, %r7, 255;\n"},
    {"f32", "fma.rn.f32 %f1, %f2, %f3, %f1;\nadd.f32 %f2, %f1, %f3;\n"
            "mul.f32 %f4, %f2, %f3;\nmax.f32 %f5, %f4, %f1;\n"
            "fma.rn.f32 %f6, %f5, %f3, %f4;\nsub.f32 %f7, %f6, %f5;\n"},
    {"shared", "st.shared.b32 [%r10], %r1;\nld.shared.b32 %r3, [%r10];\n"
               "add.s32 %r4, %r3, 1;\nst.shared.b32 [%r10], %r4;\n"
               "ld.shared.b32 %r5, [%r10];\nadd.s32 %r6, %r5, %r3;\n"},
    {"global", "st.global.v4.b32 [%rd2], {%r1, %r2, %r3, %r4};\n"
               "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd2];\n"
               "add.s32 %r3, %r5, %r6;\nadd.s32 %r4, %r7, %r8;\n"},
    {"divergent", "@%p2 bra ODD;\nadd.s32 %r3, %r3, 1;\nxor.b32 %r4, %r3, 5;\n"
                  "bra JOIN;\nODD:\nadd.s32 %r3, %r3, 2;\n"
                  "xor.b32 %r4, %r3, 7;\nJOIN:\nadd.s32 %r5, %r3, %r4;\n"},
};

std::string kernelOf(const Loop &loop) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n"
         ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n"
         ".reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n"
         ".shared .align 16 .b8 area[512];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
         "mov.u32 %r4, 1;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F800000;\n"
         "mov.f32 %f3, 0f3F000000;\nld.param.u64 %rd1, [out];\n"
         "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd1, %rd2;\n"
         "mov.u32 %r10, area;\nmad.lo.u32 %r10, %r1, 4, %r10;\n"
         "and.b32 %r11, %r1, 1;\nsetp.eq.u32 %p2, %r11, 1;\n"
         "st.global.v4.b32 [%rd2], {%r1, %r2, %r3, %r4};\n"
         "AGAIN:\n" +
         std::string(loop.body) +
         "add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, 500000;\n"
         "@%p1 bra AGAIN;\nret;\n}\n";
}

} // namespace

/// Million warp instructions per processor second; 0 after a finding.
static double speed(const Module &module, bool strict) {
  std::vector<uint8_t> memory(32 * 16);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {{memory.data(), memory.size(), true}};
  launch.arguments = {BufferArgument{0, 0}};
  Options options;
  options.threads = 1;
  options.strict = strict;
  std::clock_t start = std::clock();
  RunResult result = run(module, launch, options);
  double time = double(std::clock() - start) / CLOCKS_PER_SEC;
  for (const Finding &finding : result.findings)
    std::fprintf(stderr, "%s\n", toString(finding).c_str());
  return result.clean() ? double(result.counters.instructions) / time * 1e-6
                        : 0;
}

int main() {
  std::printf("million warp instructions per processor second\n");
  for (const Loop &loop : kLoops) {
    ParseResult parsed = parsePtx(kernelOf(loop));
    for (const Diagnostic &error : parsed.errors)
      std::fprintf(stderr, "%s\n", error.format().c_str());
    if (!parsed)
      return 1;
    double plain = speed(*parsed.module, false);
    double strict = speed(*parsed.module, true);
    if (!plain || !strict)
      return 1;
    std::printf("%-10s plain %6.1f, strict %6.1f, ratio %.2f\n", loop.name,
                plain, strict, plain / strict);
  }
  return 0;
}
