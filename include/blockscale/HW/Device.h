//===- Device.h - the parts that a program may find ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the CUDA runtime says of a card, beyond what its chip (Target.h) and the
// part (Part.h) say.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_DEVICE_H
#define BLOCKSCALE_HW_DEVICE_H

#include "blockscale/HW/Part.h"

namespace blockscale::hw {

/// What the chip of a card has. Sizes in bytes.
struct DeviceChip {
  /// "sm_100", without a letter.
  std::string_view name;
  unsigned sharedMemoryPerCta, sharedMemoryPerSm, maxThreadsPerSm;
  unsigned smCount, boostMhz;
  /// Of a CTA and of an SM where the launcher asks for the oversized mode; 0 if
  /// there is none.
  unsigned oversizedSharedPerCta = 0, oversizedSharedPerSm = 0;
};

/// One card.
struct Device {
  /// As `--device` spells it.
  std::string_view name;
  /// As the driver spells it.
  std::string_view productName;
  /// Name of the part, whose chip and SMs the card has; empty for a card of
  /// before, for whose chip we do not compile.
  std::string_view partName;
  uint64_t memoryBytes;
  uint64_t l2Bytes;
  unsigned memoryBusBits;
  unsigned memoryMhz;
  /// CTAs that one SM holds.
  unsigned maxCtasPerSm;
  /// CTAs of the largest cluster, the kernel asking for a non-portable size.
  unsigned maxCluster;
  /// Memory corrects its errors.
  bool hasEcc;
  /// Engines that copy beside kernels.
  unsigned copyEngines;
  /// Rate of 32-bit floating point over that of 64 bits; 0 if it is not known.
  unsigned singleToDouble;

  DeviceChip chip() const;
  /// Null for a card for whose chip there is no part.
  const Part *part() const;
  /// "10.3" is 10 and 3.
  unsigned capabilityMajor() const;
  unsigned capabilityMinor() const;
};

/// All devices; the first is the default.
const std::vector<Device> &allDevices();

/// The device of that name. The reason why there is none lists the names.
Result<Device> findDevice(std::string_view name);

/// Clusters of `ctas` CTAs, one to an SM, that `device` holds at once; 0 if it
/// takes none.
unsigned residentClusters(const Device &device, unsigned ctas);

/// CTAs of clusters that one SM holds; an H100 told.
inline constexpr unsigned kMaxClusterCtasPerSm = 8;

/// Clusters of `ctas` CTAs that `device` holds at once where one SM has room
/// for `ctasPerSm`.
unsigned activeClusters(const Device &device, unsigned ctas,
                        unsigned ctasPerSm);

/// Why `device` takes no clusters of `ctas` CTAs; empty if it does. More than
/// 8 needs `nonPortable`.
std::optional<Reason> whyNotCluster(const Device &device, unsigned ctas,
                                    bool nonPortable);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_DEVICE_H
