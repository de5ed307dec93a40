//===- RuntimeTest.cpp - launches through a stub of the driver ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-runtime/Runtime.h"
#include "SmallPlan.h"
#include "StubDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <thread>

using namespace blockscale;

namespace {

/// The stub that the runtime finds under the driver's name because it is there
/// already.
StubDriver &stub() {
  static StubDriver *driver = [] {
    void *library = dlopen(BLOCKSCALE_STUB_DRIVER, RTLD_NOW | RTLD_LOCAL);
    auto *get =
        library
            ? reinterpret_cast<StubDriver *(*)()>(dlsym(library, "stubDriver"))
            : nullptr;
    return get ? get() : nullptr;
  }();
  return *driver;
}

/// A launch of the small kernel: A is 3 x 5, B 2 x 5.
class Launch : public ::testing::Test {
protected:
  void SetUp() override {
    plan::Plan plan;
    plan.target = "sm_100a";
    plan.kernels = {test::smallKernel()};
    text = plan::printPlan(plan);
    kernels = {text.data(), int64_t(text.size()), "PTX", 3, nullptr};
    unsigned clusters = 3;
    stub() = StubDriver();
    stub().clusters = int(clusters);
    stub().parameterBytes = {128, 128, 8, 4, 4, 4};
    stub().d = 2;
    float values[] = {1, 2, 3, 4, 5, 6};
    stub().result.resize(sizeof(values));
    std::memcpy(stub().result.data(), values, sizeof(values));
  }
  void TearDown() override { blockscaleRuntimeUnload(&kernels); }

  int32_t run(const char *name = "small", int64_t count = 4) {
    BlockscaleOperand operands[] = {
        {"a_data", a, 2, aSizes, aStrides, 1, 0},
        {"b_data", b, 2, bSizes, aStrides, 1, 0},
        {"alpha", &alpha, 0, nullptr, nullptr, 4, 0},
        {"d", d, 2, dSizes, dStrides, 4, 0}};
    return blockscaleRuntimeLaunch(&kernels, name, operands, count);
  }

  std::string text;
  BlockscaleKernels kernels;
  uint8_t a[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t b[10] = {};
  float alpha = 1, d[8] = {};
  int64_t aSizes[2] = {3, 5}, aStrides[2] = {5, 1}, bSizes[2] = {2, 5};
  int64_t dSizes[2] = {3, 2}, dStrides[2] = {2, 1};
};

TEST_F(Launch, DoesWhatThePlanSays) {
  ASSERT_EQ(run(), 0) << blockscaleRuntimeError();
  // 2 CTAs to a cluster, 3 rows to 2 clusters; 1.0f is 1065353216.
  std::vector<std::string> expected{
      "cuModuleLoadData PTX",
      "cuModuleGetFunction small",
      "cuFuncSetAttribute 8 1024",
      "cuOccupancyMaxActiveClusters grid=2,1,1 block=192,1,1 shared=1024 "
      "cluster=2,1,1 dependent=1",
      "cuMemAllocAsync 48",
      "cuMemcpyHtoDAsync",
      "cuMemAllocAsync 32",
      "cuMemcpyHtoDAsync",
      "cuMemAllocAsync 24",
      "cuTensorMapEncodeTiled type=0 dims=5,3 strides=16 box=64,32 steps=1,1 "
      "codes=0,2,3,0",
      "cuTensorMapEncodeTiled type=0 dims=5,2 strides=16 box=64,32 steps=1,1 "
      "codes=0,2,3,0",
      "cuLaunchKernelEx grid=4,1,1 block=192,1,1 shared=1024 cluster=2,1,1 "
      "dependent=1 1065353216 3 5",
      "cuMemcpyDtoHAsync",
      "cuStreamSynchronize"};
  std::vector<std::string> calls;
  // The first launch of a process also finds a device.
  for (const std::string &call : stub().calls)
    if (call != "cuInit" && call != "cuDeviceGet" &&
        call != "cuDevicePrimaryCtxRetain")
      calls.push_back(call);
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(std::vector<float>(d, d + 8),
            (std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0}));
  ASSERT_EQ(stub().uploads.size(), 2u);
  EXPECT_EQ(stub().uploads[0][16], 6);
  EXPECT_TRUE(stub().memory.empty());
}

// CUDA 13.4: CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE is 17 and
// CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY 3; the size is then not
// asked for.
TEST_F(Launch, AsksForOversizedSharedMemory) {
  text.replace(text.find("\"sharedMemoryBytes\": 1024,"), 26,
               "\"sharedMemoryBytes\": 1024, "
               "\"oversizedSharedMemory\": true,");
  kernels.plan = text.data();
  kernels.planBytes = int64_t(text.size());
  ASSERT_EQ(run(), 0) << blockscaleRuntimeError();
  std::vector<std::string> attributes;
  for (const std::string &call : stub().calls)
    if (call.rfind("cuFuncSetAttribute", 0) == 0)
      attributes.push_back(call);
  EXPECT_EQ(attributes, std::vector<std::string>{"cuFuncSetAttribute 17 3"});
}

// A card starts the CTAs of clusters of one more slowly. The question how many
// run at once is of clusters all the same.
TEST_F(Launch, LeavesClustersOfOneOut) {
  size_t at = text.find("\"cluster\":");
  at = text.find('2', at);
  text[at] = '1';
  kernels.plan = text.data();
  ASSERT_EQ(run(), 0) << blockscaleRuntimeError();
  std::vector<std::string> calls;
  for (const std::string &call : stub().calls)
    if (call.find("grid=") != call.npos)
      calls.push_back(call);
  EXPECT_EQ(calls, (std::vector<std::string>{
                       "cuOccupancyMaxActiveClusters grid=1,1,1 block=192,1,1 "
                       "shared=1024 cluster=1,1,1 dependent=1",
                       "cuLaunchKernelEx grid=4,1,1 block=192,1,1 shared=1024 "
                       "dependent=1 1065353216 3 5"}));
}

TEST_F(Launch, LoadsAModuleOnce) {
  ASSERT_EQ(run(), 0);
  stub().calls.clear();
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(stub().calls.front(), "cuModuleGetFunction small");
  ASSERT_EQ(blockscaleRuntimeUnload(&kernels), 0);
  EXPECT_EQ(stub().calls.back(), "cuModuleUnload");
}

TEST_F(Launch, NoRowsNeedNoDevice) {
  dSizes[0] = aSizes[0] = 0;
  stub().calls.clear();
  EXPECT_EQ(run(), 0) << blockscaleRuntimeError();
  EXPECT_TRUE(stub().calls.empty());
}

TEST_F(Launch, NamesWhatTheDriverRefuses) {
  stub().failing = "cuModuleLoadData";
  EXPECT_EQ(run(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "cuModuleLoadData: CUDA_ERROR_INVALID_VALUE (invalid argument); "
               "the kernels are for 'sm_100a', the device has compute "
               "capability 10.0");
  stub().failing = "cuTensorMapEncodeTiled";
  EXPECT_EQ(run(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': 'a_data': cuTensorMapEncodeTiled: "
               "CUDA_ERROR_INVALID_VALUE (invalid argument)");
  stub().failing = "cuStreamSynchronize";
  EXPECT_EQ(run(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': cuStreamSynchronize: CUDA_ERROR_INVALID_VALUE "
               "(invalid argument)");
  EXPECT_TRUE(stub().memory.empty());
  stub().failing.clear();
  EXPECT_EQ(run(), 0);
  EXPECT_STREQ(blockscaleRuntimeError(), "");
}

TEST_F(Launch, RefusesBadArguments) {
  EXPECT_EQ(run("other"), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "the launch plan has no kernel 'other'");
  EXPECT_EQ(run("small", 3), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': there is no operand 'd'");
  bSizes[1] = 4;
  EXPECT_EQ(run(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': operand 'b_data' has the shape 2x4; expected "
               "1x2x5");
  EXPECT_EQ(blockscaleRuntimeLaunch(nullptr, "small", nullptr, 0), 1);
  BlockscaleKernels broken = {"{", 1, "PTX", 3, nullptr};
  EXPECT_EQ(blockscaleRuntimeLaunch(&broken, "small", nullptr, 0), 1);
  EXPECT_EQ(std::string(blockscaleRuntimeError())
                .rfind("the launch plan cannot be read: ", 0),
            0u);
}

TEST_F(Launch, ADeviceTooSmallForAClusterIsNamed) {
  stub().clusters = 0;
  EXPECT_EQ(run(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': 7 SMs cannot hold a cluster of "
               "2 CTAs");
}

/// What the stub was asked, but for what does not move anything.
static std::vector<std::string> copiesAndLaunches() {
  std::vector<std::string> calls;
  for (const std::string &call : stub().calls)
    if (call.find("Mem") != call.npos || call.find("Launch") != call.npos ||
        call.find("Synchronize") != call.npos)
      calls.push_back(call.substr(0, call.find(" grid")));
  return calls;
}

TEST_F(Launch, TakesWhatIsOnTheDevice) {
  void *stream = reinterpret_cast<void *>(7);
  blockscaleRuntimeSetStream(stream);
  void *onDevice[] = {blockscaleRuntimeAllocate(48),
                      blockscaleRuntimeAllocate(32),
                      blockscaleRuntimeAllocate(24)};
  stub().calls.clear();
  BlockscaleOperand operands[] = {
      {"a_data", onDevice[0], 2, aSizes, aStrides, 1, 0},
      {"b_data", onDevice[1], 2, bSizes, aStrides, 1, 0},
      {"alpha", &alpha, 0, nullptr, nullptr, 4, 0},
      {"d", onDevice[2], 2, dSizes, dStrides, 4, 0}};
  auto launch = [&] {
    return blockscaleRuntimeLaunch(&kernels, "small", operands, 4);
  };
  EXPECT_EQ(launch(), 0) << blockscaleRuntimeError();
  // Nothing is copied, and nobody waits.
  EXPECT_EQ(
      copiesAndLaunches(),
      (std::vector<std::string>{"cuMemGetAddressRange", "cuMemGetAddressRange",
                                "cuMemGetAddressRange", "cuLaunchKernelEx"}));
  EXPECT_NE(stub().calls.back().find("stream=7"), std::string::npos);
  EXPECT_EQ(static_cast<float *>(onDevice[2])[5], 6);
  EXPECT_EQ(blockscaleRuntimeSynchronize(), 0);
  EXPECT_EQ(stub().calls.back(), "cuStreamSynchronize on 7");

  // Three rows of 16 bytes do not fit behind byte 16.
  operands[0].data = static_cast<uint8_t *>(onDevice[0]) + 16;
  EXPECT_EQ(launch(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': operand 'a_data' has 32 bytes on the device; "
               "expected 48, as the launch plan packs it");
  operands[0].data = onDevice[0];
  int64_t gaps[] = {16, 1};
  operands[0].strides = gaps;
  EXPECT_EQ(launch(), 1);
  EXPECT_STREQ(blockscaleRuntimeError(),
               "kernel 'small': operand 'a_data' is on the device and has gaps "
               "between its elements; expected it as the launch plan packs it");
  // One that is not is copied beside the others, and D comes back to the host.
  operands[0] = {"a_data", a, 2, aSizes, aStrides, 1, 0};
  operands[3].data = d;
  stub().calls.clear();
  EXPECT_EQ(launch(), 0) << blockscaleRuntimeError();
  EXPECT_EQ(
      copiesAndLaunches(),
      (std::vector<std::string>{
          "cuMemGetAddressRange", "cuMemAllocAsync 48 on 7",
          "cuMemcpyHtoDAsync", "cuMemAllocAsync 24 on 7", "cuLaunchKernelEx",
          "cuMemcpyDtoHAsync", "cuStreamSynchronize on 7"}));
  EXPECT_EQ(d[5], 6);
  for (void *memory : onDevice)
    blockscaleRuntimeFree(memory);
  EXPECT_TRUE(stub().memory.empty());
  blockscaleRuntimeSetStream(nullptr);
}

TEST_F(Launch, KeepsWhatIsResident) {
  BlockscaleOperand operands[] = {
      {"a_data", a, 2, aSizes, aStrides, 1, 0},
      {"b_data", b, 2, bSizes, aStrides, 1, BLOCKSCALE_OPERAND_RESIDENT},
      {"alpha", &alpha, 0, nullptr, nullptr, 4, 0},
      {"d", d, 2, dSizes, dStrides, 4, 0}};
  auto uploadsOfALaunch = [&] {
    stub().uploads.clear();
    EXPECT_EQ(blockscaleRuntimeLaunch(&kernels, "small", operands, 4), 0)
        << blockscaleRuntimeError();
    return stub().uploads.size();
  };
  EXPECT_EQ(uploadsOfALaunch(), 2u);
  EXPECT_EQ(uploadsOfALaunch(), 1u);
  EXPECT_EQ(uploadsOfALaunch(), 1u);
  // The same address as another matrix, here every other element of it.
  int64_t apart[] = {10, 2};
  uint8_t wide[20] = {};
  operands[1].data = wide;
  EXPECT_EQ(uploadsOfALaunch(), 2u);
  operands[1].strides = apart;
  EXPECT_EQ(uploadsOfALaunch(), 2u);
  EXPECT_EQ(uploadsOfALaunch(), 1u);
  // Two copies of B, and one of it with gaps.
  EXPECT_EQ(stub().memory.size(), 3u);
  EXPECT_EQ(blockscaleRuntimeUnload(&kernels), 0);
  EXPECT_TRUE(stub().memory.empty());
  EXPECT_EQ(uploadsOfALaunch(), 2u);
}

TEST_F(Launch, SomebodyElseCanLaunch) {
  BlockscaleOperand operands[] = {{"a_data", a, 2, aSizes, aStrides, 1, 0},
                                  {"b_data", b, 2, bSizes, aStrides, 1, 0},
                                  {"alpha", &alpha, 0, nullptr, nullptr, 4, 0},
                                  {"d", d, 2, dSizes, dStrides, 4, 0}};
  BlockscalePreparedLaunch *launch =
      blockscaleRuntimePrepare(&kernels, "small", operands, 4);
  ASSERT_NE(launch, nullptr);
  // 7 SMs have room for 3 pairs, M = 3 for 2 of them.
  EXPECT_EQ(blockscaleRuntimeGrid(launch, 0), 4);
  EXPECT_EQ(blockscaleRuntimeGrid(launch, 2), 1);
  for (const std::string &call : stub().calls)
    EXPECT_EQ(call.rfind("cuLaunch", 0), std::string::npos) << call;
  int32_t m = 0;
  std::memcpy(&m, blockscaleRuntimeParameter(launch, 4), sizeof(m));
  EXPECT_EQ(m, 3);
  EXPECT_EQ(blockscaleRuntimeParameter(launch, 6), nullptr);
  void *address = nullptr;
  std::memcpy(&address, blockscaleRuntimeParameter(launch, 2), sizeof(address));
  std::memcpy(address, stub().result.data(), stub().result.size());
  blockscaleRuntimeFinish(launch);
  EXPECT_EQ(d[5], 6);
  EXPECT_TRUE(stub().memory.empty());
  dSizes[0] = aSizes[0] = 0;
  EXPECT_EQ(blockscaleRuntimePrepare(&kernels, "small", operands, 4), nullptr);
}

TEST_F(Launch, ThreadsShareKernelsAndWhatIsResident) {
  constexpr uintptr_t kThreads = 4;
  constexpr int kLaunches = 8;
  std::vector<std::thread> threads;
  for (uintptr_t thread = 1; thread <= kThreads; ++thread)
    threads.emplace_back([this, thread] {
      blockscaleRuntimeSetStream(reinterpret_cast<void *>(thread));
      float mine[8] = {};
      BlockscaleOperand operands[] = {
          {"a_data", a, 2, aSizes, aStrides, 1, 0},
          {"b_data", b, 2, bSizes, aStrides, 1, BLOCKSCALE_OPERAND_RESIDENT},
          {"alpha", &alpha, 0, nullptr, nullptr, 4, 0},
          {"d", mine, 2, dSizes, dStrides, 4, 0}};
      for (int i = 0; i < kLaunches; ++i) {
        ASSERT_EQ(blockscaleRuntimeLaunch(&kernels, "small", operands, 4), 0)
            << blockscaleRuntimeError();
        EXPECT_EQ(mine[5], 6);
        // The sentence is the thread's that asked for the wrong thing.
        if (thread == 1) {
          EXPECT_EQ(blockscaleRuntimeLaunch(&kernels, "no", operands, 4), 1);
          EXPECT_STREQ(blockscaleRuntimeError(),
                       "the launch plan has no kernel 'no'");
        } else {
          EXPECT_STREQ(blockscaleRuntimeError(), "");
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  auto count = [](const std::string &what) {
    int result = 0;
    for (const std::string &call : stub().calls)
      result += call.rfind(what, 0) == 0;
    return result;
  };
  EXPECT_EQ(count("cuModuleLoadData"), 1);
  EXPECT_EQ(count("cuLaunchKernelEx"), int(kThreads) * kLaunches);
  // The one copy of B that stays.
  EXPECT_EQ(stub().memory.size(), 1u);
  EXPECT_EQ(blockscaleRuntimeUnload(&kernels), 0);
  EXPECT_TRUE(stub().memory.empty());
}

TEST_F(Launch, RunEndsTheProcessWithTheSentence) {
  EXPECT_DEATH(blockscaleRuntimeRun(&kernels, "other", nullptr, 0),
               "blockscale: error: the launch plan has no kernel 'other'");
}

void leaveTheProcess(const char *sentence) {
  std::fprintf(stderr, "told: %s\n", sentence);
  std::exit(7);
}

void comeBack(const char *sentence) {
  std::fprintf(stderr, "told: %s\n", sentence);
}

TEST_F(Launch, RunTellsTheHandlerTheSentence) {
  auto runWith = [&](BlockscaleErrorHandler handler) {
    blockscaleRuntimeSetErrorHandler(handler);
    blockscaleRuntimeRun(&kernels, "other", nullptr, 0);
  };
  constexpr const char *kTold = "told: the launch plan has no kernel 'other'";
  EXPECT_EXIT(runWith(leaveTheProcess), testing::ExitedWithCode(7), kTold);
  EXPECT_DEATH(runWith(comeBack), kTold);
  EXPECT_DEATH(runWith(nullptr), "blockscale: error: the launch plan has no "
                                 "kernel 'other'");
}

} // namespace
