//===- MemoryTest.cpp - whether a run fits into memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/Memory.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

using namespace blockscale;
using namespace blockscale::verify;

namespace {

constexpr uint64_t kMiB = 1 << 20;

/// A folder with the files of a system.
class System : public ::testing::Test {
protected:
  void SetUp() override {
    root = std::filesystem::path(testing::TempDir()) /
           testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root);
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::path file = root / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void writeMeminfo() {
    write("proc/meminfo", "MemTotal:       24000 kB\n"
                          "MemFree:         1024 kB\n"
                          "MemAvailable:   20480 kB\n");
  }

  std::filesystem::path root;
};

TEST_F(System, SaysWhatIsAvailable) {
  writeMeminfo();
  EXPECT_EQ(freeMemory(root), 20 * kMiB);
}

TEST_F(System, NobodyKnows) { EXPECT_EQ(freeMemory(root), std::nullopt); }

TEST_F(System, GroupsLimitWhatIsInside) {
  writeMeminfo();
  write("proc/self/cgroup", "1:name=systemd:/x\n0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/one/memory.current", "1048576\n");
  EXPECT_EQ(freeMemory(root), 20 * kMiB);
  // Ten, of which seven are in use, of which two are of files and go.
  write("sys/fs/cgroup/jobs/memory.max", "10485760\n");
  write("sys/fs/cgroup/jobs/memory.current", "7340032\n");
  write("sys/fs/cgroup/jobs/memory.stat", "anon 5242880\n"
                                          "inactive_file 2097152\n");
  EXPECT_EQ(freeMemory(root), 5 * kMiB);
  // Whoever has no group of his own sees the outermost as his.
  write("sys/fs/cgroup/memory.max", "3145728\n");
  write("sys/fs/cgroup/memory.current", "2097152\n");
  EXPECT_EQ(freeMemory(root), 1 * kMiB);
  write("sys/fs/cgroup/memory.current", "9999999\n");
  EXPECT_EQ(freeMemory(root), 0u);
}

TEST(Memory, WhatDoesNotFitIsNotBegun) {
  EXPECT_FALSE(whyNoMemory("a run", 5, std::nullopt));
  EXPECT_FALSE(whyNoMemory("a run", 5 * kMiB, 5 * kMiB));
  auto why = whyNoMemory("a run", 5 * kMiB, 5 * kMiB - 1);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->text, "a run would take about 5 MiB of memory, of which this "
                       "process can have 4 MiB; give smaller sizes");
}

/// A kernel whose A takes a row of 64 bytes for each of M.
plan::Kernel oneOperand() {
  plan::Kernel kernel;
  kernel.name = "gemm";
  plan::Parameter parameter;
  parameter.kind = plan::ParameterKind::Pointer;
  parameter.role = "a_data";
  parameter.operand = "a";
  kernel.parameters.push_back(parameter);
  plan::DataPacking data;
  data.operand = "a";
  data.batchPitch = "M * 64";
  kernel.data.push_back(data);
  return kernel;
}

TEST(Memory, GrowsWithTheSizes) {
  auto bytes = [](int64_t m) {
    return *bytesToVerify(oneOperand(),
                          {{"M", m}, {"N", 8}, {"K", 64}, {"batch", 2}});
  };
  // 2.5 copies of the packed operand, and a byte for each number of A and B.
  EXPECT_EQ(bytes(1000), 2 * 1000 * 64 * 5 / 2 + 2 * 64 * 1008u);
  EXPECT_GT(bytes(int64_t(1) << 30), uint64_t(400) << 30);
}

} // namespace
