//===- DeviceTest.cpp - the parts that a program may find -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Device.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

// Chips and sizes as published; see Device.cpp for the sources.
TEST(Device, EachIsItsPart) {
  struct Case {
    const char *name, *product;
    unsigned major, minor, sms;
    uint64_t l2, memory;
  };
  for (const Case &c :
       {Case{"B200", "NVIDIA B200", 10, 0, 148, 132644864, 191501434880},
        {"B300", "NVIDIA B300 SXM6 AC", 10, 3, 148, 132644864, 288400343040},
        {"RTX5090", "NVIDIA GeForce RTX 5090", 12, 0, 170, 100663296,
         34190917632},
        {"H100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 52428800, 85017493504},
        {"VR200", "NVIDIA VR200", 10, 7, 212, 132120576, 288000000000}}) {
    Result<Device> device = findDevice(c.name);
    ASSERT_TRUE(device) << c.name;
    EXPECT_EQ(device->productName, c.product);
    EXPECT_EQ(device->capabilityMajor(), c.major);
    EXPECT_EQ(device->capabilityMinor(), c.minor);
    EXPECT_EQ(device->chip().smCount, c.sms);
    EXPECT_EQ(device->l2Bytes, c.l2);
    EXPECT_EQ(device->memoryBytes, c.memory);
  }
  EXPECT_EQ(allDevices().front().name, "B200");
}

TEST(Device, UnknownNameListsTheKnownOnes) {
  Result<Device> device = findDevice("A100");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.why().text,
            "unknown device 'A100'; known devices: B200, B300, RTX5090, H100, "
            "VR200");
}

// Compute capability 10.7 of the CUDA programming guide.
TEST(Device, Rubin) {
  Device device = *findDevice("VR200");
  DeviceChip chip = device.chip();
  EXPECT_EQ(chip.name, "sm_107");
  EXPECT_EQ(chip.sharedMemoryPerCta, 232448u);
  EXPECT_EQ(chip.sharedMemoryPerSm, 233472u);
  EXPECT_EQ(chip.maxThreadsPerSm, 1024u);
  EXPECT_EQ(device.maxCtasPerSm, 16u);
  EXPECT_EQ(chip.boostMhz, 2376u);
}

TEST(Device, ResidentClusters) {
  Device b200 = *findDevice("B200");
  EXPECT_EQ(residentClusters(b200, 1), 148u);
  EXPECT_EQ(residentClusters(b200, 2), 74u);
  EXPECT_EQ(residentClusters(b200, 4), 33u);
  EXPECT_EQ(residentClusters(b200, 8), 15u);
  EXPECT_EQ(residentClusters(b200, 16), 7u);
  EXPECT_EQ(residentClusters(b200, 17), 0u);
  EXPECT_EQ(residentClusters(b200, 0), 0u);
  EXPECT_EQ(residentClusters(*findDevice("RTX5090"), 16), 0u);
  // As a card told, by what an SM has room for.
  const Device h100 = *findDevice("H100");
  EXPECT_EQ(activeClusters(h100, 1, 32), 1056u);
  EXPECT_EQ(activeClusters(h100, 2, 8), 528u);
  EXPECT_EQ(activeClusters(h100, 3, 8), 327u);
  EXPECT_EQ(activeClusters(h100, 6, 8), 163u);
  EXPECT_EQ(activeClusters(h100, 16, 8), 58u);
  const unsigned counts[][3] = {
      {1, 30, 15}, {2, 62, 30}, {4, 124, 62}, {8, 248, 124}};
  for (auto [perSm, ofFour, ofEight] : counts) {
    EXPECT_EQ(activeClusters(h100, 4, perSm), ofFour);
    EXPECT_EQ(activeClusters(h100, 8, perSm), ofEight);
  }
  EXPECT_EQ(residentClusters(*findDevice("RTX5090"), 8), 17u);
}

} // namespace
