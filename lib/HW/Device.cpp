//===- Device.cpp - the parts that a program may find ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Device.h"

#include <algorithm>
#include <charconv>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

constexpr uint64_t kMiB = uint64_t(1) << 20;

// H100: the CUDA programming guide's compute capability 9.0, and the SXM card's
// 132 SMs at up to 1980 MHz.
constexpr DeviceChip kHopper{"sm_90", 232448, 233472, 2048, 132, 1980};

// SMs that clusters of an H100 share. No call of the driver names them; these
// explain every number of clusters that one card gave, for 1 to 16 CTAs of
// which an SM holds 1 to 8. Cards differ in what is switched off.
constexpr unsigned kHopperGroups[] = {18, 18, 16, 16, 16, 16,
                                      16, 8,  2,  2,  2,  2};

} // namespace

// B200: what a program printed of cudaDeviceProp (pytorch/ao, pull request
// 4002: 178.35 GB, L2 126.50 MB, 7680 bits) and nvidia-smi of its memory clock.
// B300: the same with the memory that nvidia-smi shows, 275040 MiB. RTX 5090:
// 32607 MiB of nvidia-smi, 512 bits at 28 Gbit/s, L2 of 96 MiB. CTAs per SM and
// clusters: the CUDA programming guide's compute capabilities, as is the rate
// of 64-bit arithmetic. H100: every number is what a card said to driver
// 580.159.04 (test/CudaDriver/Inputs/answers/h100.txt). The copy engines of the
// others are not known, 1 is the least. VR200: 288 GB of the vendor, L2 of 126
// MiB by one note; its name and the width and rate of its memory, 22 TB/s over
// 16384 bits, are inferred.
const std::vector<Device> &hw::allDevices() {
  static const std::vector<Device> devices{
      {"B200", "NVIDIA B200", "B200", 182630 * kMiB, 253 * kMiB / 2, 7680, 3996,
       32, kMaxCluster, true, 1, 2},
      {"B300", "NVIDIA B300 SXM6 AC", "B300", 275040 * kMiB, 253 * kMiB / 2,
       7680, 3996, 32, kMaxCluster, true, 1, 64},
      {"RTX5090", "NVIDIA GeForce RTX 5090", "RTX 5090", 32607 * kMiB,
       96 * kMiB, 512, 14001, 24, kMaxPortableCluster, false, 1, 64},
      {"H100", "NVIDIA H100 80GB HBM3", "", 81079 * kMiB, 50 * kMiB, 5120, 2619,
       32, kMaxCluster, true, 3, 2},
      {"VR200", "NVIDIA VR200", "VR200", 288000000000, 126 * kMiB, 16384, 5371,
       16, kMaxCluster, true, 1, 0},
  };
  return devices;
}

const Part *Device::part() const {
  for (const Part &part : allParts())
    if (part.name == partName)
      return &part;
  return nullptr;
}

DeviceChip Device::chip() const {
  const Part *own = part();
  if (!own)
    return kHopper;
  const ChipInfo &info = chipInfo(own->chip);
  return {info.name,
          info.sharedMemoryPerCta,
          info.sharedMemoryPerSm,
          info.maxThreadsPerSm,
          own->smCount,
          own->boostMhz,
          info.oversizedSharedPerCta,
          info.oversizedSharedPerSm};
}

Result<Device> hw::findDevice(std::string_view name) {
  for (const Device &device : allDevices())
    if (device.name == name)
      return device;
  std::string why =
      "unknown device '" + std::string(name) + "'; known devices:";
  const char *separator = " ";
  for (const Device &device : allDevices()) {
    why += separator + std::string(device.name);
    separator = ", ";
  }
  return Reason(why);
}

/// The number in "sm_100": ten times the capability.
static unsigned capability(const Device &device) {
  std::string_view name = device.chip().name;
  unsigned number = 0;
  std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return number;
}

unsigned Device::capabilityMajor() const { return capability(*this) / 10; }
unsigned Device::capabilityMinor() const { return capability(*this) % 10; }

unsigned hw::residentClusters(const Device &device, unsigned ctas) {
  if (ctas == 0 || ctas > device.maxCluster)
    return 0;
  // Parts of all sizes leave the same share of SMs idle.
  Part part = device.part() ? *device.part() : allParts().front();
  part.smCount = device.chip().smCount;
  return residentClusters(part, ctas);
}

unsigned hw::activeClusters(const Device &device, unsigned ctas,
                            unsigned ctasPerSm) {
  ctasPerSm = std::min(ctasPerSm, kMaxClusterCtasPerSm);
  if (device.part() || ctas == 0 || ctas > device.maxCluster)
    return residentClusters(device, ctas) * ctasPerSm;
  unsigned clusters = 0;
  for (unsigned sms : kHopperGroups)
    if (ctas <= sms)
      clusters += sms * ctasPerSm / ctas;
  return clusters;
}

std::optional<Reason> hw::whyNotCluster(const Device &device, unsigned ctas,
                                        bool nonPortable) {
  unsigned limit = nonPortable ? kMaxCluster : kMaxPortableCluster;
  if (ctas == 0 || ctas > limit)
    return Reason("a cluster of " + std::to_string(ctas) +
                  " CTAs does not fit on " + std::string(device.name) +
                  ": 1 to " + std::to_string(kMaxPortableCluster) + " CTAs, " +
                  std::to_string(kMaxCluster) +
                  " when the kernel asks for a non-portable size");
  return std::nullopt;
}
