//===- MachineKernelTest.cpp - kernels decoded once, memory that stays ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Adds `factor` to `total`, keeps its address, and copies `total` to `out`.
const std::string kText = kHeader + R"(
.global .align 8 .u64 unused = 7;
.const .align 4 .u32 before[3] = {1, 2, 3};
.const .align 4 .u32 factor = 5;
.global .align 4 .u32 total = 100;
.global .align 8 .u64 pointer = generic(total);
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.const.u32 %r1, [factor];
  ld.global.u64 %rd2, [pointer];
  ld.u32 %r2, [%rd2];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [total], %r2;
  st.global.u32 [%rd1], %r2;
  mov.u64 %rd3, total;
  st.global.u64 [%rd1+8], %rd3;
  ret;
}
.visible .entry second(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [total];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

constexpr uint64_t kGlobals = 0x200000000000, kOut = 0x200000010000;

struct MachineKernel : testing::Test {
  Module module = *parsePtx(kText).module;
  std::vector<uint64_t> out = std::vector<uint64_t>(2);
  Launch launch;

  void SetUp() override {
    launch.buffers = {bufferOf(out)};
    launch.buffers[0].address = kOut;
    launch.arguments = {scalar(kOut)};
  }
};

TEST_F(MachineKernel, VariablesStayBetweenLaunchesAndKernels) {
  ModuleVariables variables = initialVariables(module, kGlobals);
  EXPECT_TRUE(variables.refusals.empty());
  // unused 0, before 0, factor 12, total 8, pointer 16.
  EXPECT_EQ(variables.offsets, (std::vector<uint64_t>{0, 0, 12, 8, 16}));
  EXPECT_EQ(variables.global.size(), 24u);
  EXPECT_EQ(variables.constant.size(), 16u);
  launch.globals = variables.global.data();
  launch.constants = variables.constant.data();

  Kernel kernel(module, "k", kGlobals), second(module, "second", kGlobals);
  ASSERT_TRUE(kernel.refusals().empty());
  expectClean(run(kernel, launch, {}));
  EXPECT_EQ(uint32_t(out[0]), 105u);
  EXPECT_EQ(out[1], kGlobals + 8);
  // The host writes the constant, as cudaMemcpyToSymbol does.
  variables.constant[12] = 20;
  expectClean(run(kernel, launch, {}));
  EXPECT_EQ(uint32_t(out[0]), 125u);
  expectClean(run(second, launch, {}));
  EXPECT_EQ(uint32_t(out[0]), 125u);
}

TEST_F(MachineKernel, WithoutStorageEveryRunStartsAfresh) {
  Kernel kernel(module, "k");
  for (int round = 0; round != 2; ++round) {
    expectClean(run(kernel, launch, {}));
    EXPECT_EQ(uint32_t(out[0]), 105u);
  }
}

TEST_F(MachineKernel, PlacedBuffersMustNotOverlap) {
  Kernel kernel(module, "k");
  std::vector<uint64_t> other(4);
  launch.buffers.push_back(bufferOf(other));
  launch.buffers[1].address = kOut + 8;
  RunResult result = run(kernel, launch, {});
  ASSERT_EQ(firstKind(result), FindingKind::Launch);
  EXPECT_EQ(result.findings[0].message,
            "a buffer of 32 bytes at 0x200000010008 overlaps another one or a "
            "window of the machine");
  launch.buffers[1].address = kOut + 16;
  expectClean(run(kernel, launch, {}));
}

// The address of the workspace is in %envreg1 (high) and %envreg2 (low); the
// others hold nothing.
TEST_F(MachineKernel, CooperativeWorkspace) {
  Module reader = *parsePtx(kHeader + R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg5;
  mov.u32 %r4, %envreg0;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
  ret;
}
)")
                       .module;
  launch.gridWorkspace = 0x1234567890ABCDEF;
  expectClean(run(Kernel(reader, "k"), launch, {}));
  EXPECT_EQ(out[0], 0x90ABCDEF12345678u);
  EXPECT_EQ(out[1], 0u);
}

TEST_F(MachineKernel, UnknownKernelIsRefused) {
  Kernel kernel(module, "nothing");
  EXPECT_EQ(kernel.function(), nullptr);
  RunResult result = run(kernel, launch, {});
  ASSERT_EQ(firstKind(result), FindingKind::Launch);
  EXPECT_EQ(result.findings[0].message, "no kernel 'nothing' in the module");
}

} // namespace
