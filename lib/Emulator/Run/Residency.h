//===- Residency.h - CTAs that share an SM ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each CTA has tensor memory of its own here, as if it were alone on its SM. A
// cooperative launch of more CTAs than a chip has SMs cannot be like that: all
// of its CTAs run at once, several on an SM, and share its 512 columns. They
// are counted here, by SM; which of them a CTA gets is not modelled. Beside an
// exclusive allocation there is no other one. Pairs are taken to be alone.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_RESIDENCY_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_RESIDENCY_H

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace blockscale::emulator {
struct Launch;
} // namespace blockscale::emulator

namespace blockscale::emulator::machine {

struct Cta;

class Residency {
public:
  Residency(const Launch &launch, uint32_t sms);

  /// Takes columns of the SM for the CTA; false if too many are held by others,
  /// and the CTA counts as waiting until it gets them.
  bool take(const Cta &cta, uint32_t columns, bool exclusive, uint32_t line);
  void give(const Cta &cta, uint32_t columns);
  bool waits(const Cta &cta);
  /// Whether any CTA of the grid waits for columns of others.
  bool anyWaits();
  /// What other CTAs hold on the SM, one text for each allocation.
  std::vector<std::string> othersOn(const Cta &cta);

private:
  struct Held {
    uint64_t cta; ///< linear
    uint32_t columns;
    bool exclusive;
    std::array<uint32_t, 3> id;
    uint32_t line;
  };
  const uint32_t sms; ///< of the device
  const bool shared;
  std::mutex lock;
  std::map<uint64_t, std::vector<Held>> held; ///< by SM
  std::set<uint64_t> waiting;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_RESIDENCY_H
