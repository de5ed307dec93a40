//===- Access.h - from addresses to host memory -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ACCESS_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ACCESS_H

#include "../Order/Order.h"
#include "../Program/Decoder.h"

namespace blockscale::emulator::machine {

/// The space that an instruction names.
enum class Where : uint8_t {
  Generic,
  Global,
  Const,
  SharedCta,
  SharedCluster,
  Local,
  Param,
};

Where whereOf(const Instruction &instruction);
/// The scope that an instruction names, else the one of atomics.
Scope scopeOf(const Instruction &instruction);

/// Host memory behind an address.
struct Access {
  uint8_t *data = nullptr;
  uint8_t *valid = nullptr; ///< one byte per byte; shared memory only
  Cta *cta = nullptr;       ///< shared memory only
  uint32_t offset = 0;      ///< shared memory: without the rank
  bool global = false;
};

enum class Use : uint8_t { Read, Write };

/// Resolves `bytes` bytes that `lane` accesses; `align` 0 asks for natural
/// alignment. On failure reports and returns false.
bool resolve(Exec &x, const Record &r, Where where, uint64_t address,
             unsigned lane, unsigned bytes, Use use, Access &out,
             unsigned align = 0);

/// The shared memory of a CTA behind a 32-bit address with rank; null after a
/// report.
Cta *sharedCta(Exec &x, const Record &r, Where where, uint32_t address,
               unsigned lane);

/// Strict mode: checks `bytes` bytes that `lane` accesses where `resolve` found
/// them; `address` is what the lane gave.
void touchLane(Exec &x, const Record &r, unsigned lane, const Access &access,
               uint64_t address, unsigned bytes, Touch touch);

/// Strict mode: same for ranges of the shared memory of a CTA, without rank.
void touchRanges(Exec &x, const Record &r, unsigned lane, Cta &cta,
                 std::vector<Range> &ranges, Touch touch);

/// Whether accesses to global memory at `address` are to be told.
bool isTracked(const Cluster &cluster, uint64_t address, uint64_t bytes);

/// Marks written bytes, and invalidates `undefined` ones.
void markWritten(const Access &access, unsigned bytes, bool defined);

/// The address that an operand is in a lane.
inline uint64_t laneAddress(const Exec &x, const AddressOperand &operand,
                            unsigned lane) {
  if (operand.base == kNoSlot)
    return uint64_t(operand.imm);
  uint64_t value = operand.wide ? x.reg<uint64_t>(operand.base)[lane]
                                : x.reg<uint32_t>(operand.base)[lane];
  return value + uint64_t(operand.imm);
}
/// Same, as a shared address: 32 bits; generic addresses lose their window, and
/// those without base get the rank.
inline uint32_t laneShared(const Exec &x, const AddressOperand &operand,
                           unsigned lane) {
  auto address = uint32_t(laneAddress(x, operand, lane));
  return operand.base == kNoSlot ? address | x.cta->rank << kRankShift
                                 : address;
}

/// The mbarrier object at a shared address, made on demand; null after a
/// report.
MBarrier *barrierAt(Cta &cta, uint32_t offset, bool create);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ACCESS_H
