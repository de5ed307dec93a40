//===- MachineHarness.h - run PTX text in a test ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_MACHINEHARNESS_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_MACHINEHARNESS_H

#include "blockscale/Emulator/Machine.h"

#include "gtest/gtest.h"

#include <cstring>

namespace blockscale::emulator::test {

inline const std::string kHeader =
    ".version 9.0\n.target sm_100a\n.address_size 64\n";

/// Parses and runs; parse errors fail the test.
inline RunResult runText(const std::string &text, const Launch &launch,
                         const Options &options = {}) {
  ParseResult parsed = parsePtx(text);
  for (const Diagnostic &error : parsed.errors)
    ADD_FAILURE() << error.format();
  return parsed ? run(*parsed.module, launch, options) : RunResult();
}

template <typename T>
Buffer bufferOf(std::vector<T> &data, bool writable = true) {
  return {reinterpret_cast<uint8_t *>(data.data()), data.size() * sizeof(T),
          writable};
}

inline void expectClean(const RunResult &result) {
  for (const Finding &finding : result.findings)
    ADD_FAILURE() << toString(finding);
}

/// A kernel `k` with the parameters `out` and `in`; %rd1 and %rd2 hold their
/// addresses advanced by 4 * (global thread), %r1 the thread.
inline std::string body(const std::string &instructions,
                        const std::string &module = "") {
  return kHeader + module +
         ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
         ".reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>;\n"
         ".reg .b32 %f<64>;\n.reg .b64 %rd<64>;\n.reg .b128 %q<4>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
         "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r4, 4;\n"
         "add.s64 %rd1, %rd1, %rd3;\nadd.s64 %rd2, %rd2, %rd3;\n" +
         instructions + "\nret;\n}\n";
}

struct Simple {
  std::vector<uint32_t> out, in;
  RunResult result;
};

/// Runs `instructions` with one word of input and output per thread.
inline Simple runBody(const std::string &instructions,
                      std::vector<uint32_t> in = {}, uint32_t threads = 32,
                      uint32_t ctas = 1, const Options &options = {},
                      uint32_t cluster = 1, const std::string &module = "") {
  Simple s;
  s.in = std::move(in);
  s.in.resize(std::max<size_t>(s.in.size(), threads * ctas));
  s.out.assign(threads * ctas, 0xAAAAAAAA);
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = ctas;
  launch.cluster.x = cluster;
  launch.block.x = threads;
  launch.buffers = {bufferOf(s.out), bufferOf(s.in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  s.result = runText(body(instructions, module), launch, options);
  return s;
}

/// Runs kernel k of a text with one CTA over words to write and to read.
inline RunResult runWords(const std::string &text, std::vector<uint32_t> &out,
                          std::vector<uint32_t> &in, uint32_t threads) {
  Launch launch;
  launch.kernel = "k";
  launch.block.x = threads;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  return runText(text, launch);
}

/// The first finding's kind, or nothing.
inline std::optional<FindingKind> firstKind(const RunResult &result) {
  if (result.findings.empty())
    return std::nullopt;
  return result.findings.front().kind;
}

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_MACHINEHARNESS_H
