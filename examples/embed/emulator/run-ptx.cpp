//===- run-ptx.cpp - a kernel on the emulator -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include <iostream>
#include <vector>

namespace emulator = blockscale::emulator;

/// out[i] = 3 * in[i] + 1, one thread for each of them.
static constexpr const char *kSource = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry affine(.param .u64 in, .param .u64 out)
{
  .reg .b32 %thread, %value;
  .reg .b64 %in, %out, %from, %to;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %thread, %tid.x;
  mad.wide.u32 %from, %thread, 4, %in;
  mad.wide.u32 %to, %thread, 4, %out;
  ld.global.b32 %value, [%from];
  mad.lo.u32 %value, %value, 3, 1;
  st.global.b32 [%to], %value;
  ret;
}
)";

int main() {
  emulator::ParseResult source = emulator::parsePtx(kSource);
  for (const emulator::Diagnostic &error : source.errors)
    std::cerr << "PTX:" << error.format() << '\n';
  if (!source)
    return 1;

  std::vector<uint32_t> in{0, 1, 10, 100}, out(4);
  auto buffer = [](std::vector<uint32_t> &words, bool writable) {
    return emulator::Buffer{reinterpret_cast<uint8_t *>(words.data()),
                            words.size() * sizeof(uint32_t), writable};
  };
  emulator::Launch launch;
  launch.kernel = "affine";
  launch.block.x = 4;
  launch.buffers = {buffer(in, false), buffer(out, true)};
  launch.arguments = {emulator::BufferArgument{0}, emulator::BufferArgument{1}};

  emulator::RunResult result = emulator::run(*source.module, launch);
  for (const emulator::Finding &finding : result.findings)
    std::cerr << emulator::toString(finding) << '\n';
  for (uint32_t word : out)
    std::cout << word << '\n';
  return result.clean() ? 0 : 1;
}
