//===- TensorCore.h - execution of tcgen05.mma and its copies ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One call executes one instruction. Arithmetic: the scales are folded into the
// decoded elements, each product is then exact in f32, and the products are
// added to the f32 accumulator one after the other in order of K with rounding
// to nearest even. If a scale is so large or small that folding could leave
// the range of f32, the products of the instruction are summed in double and
// rounded once. f16 accumulators are kept in f32 within one instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCORE_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCORE_H

#include "InstructionDescriptor.h"
#include "SharedDescriptor.h"
#include "TensorMemory.h"
#include "ZeroColumns.h"

#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Emulator/OpenPoints.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace blockscale::emulator {

/// What the tensor core sees of one CTA.
struct TensorCta {
  const uint8_t *shared = nullptr; ///< byte at window offset `sharedBase`
  uint32_t sharedBase = 0;
  uint32_t sharedSize = 0;
  /// One byte per byte of `shared`, 0xFF where it was written, else 0; null:
  /// all are valid.
  const uint8_t *sharedValid = nullptr;
  TensorMemory *tensor = nullptr;
};

/// The CTAs of the instruction; the second is used by cta_group::2 only. Entry
/// 0 has the even rank.
struct TensorContext {
  std::array<TensorCta, 2> cta;
  bool wideAddresses = false; ///< shared addresses of 19 bits
};

/// One tcgen05.mma or tcgen05.mma.sp.
struct MmaRequest {
  MmaForm form;
  uint32_t idesc = 0;
  uint32_t d = 0; ///< accumulator address
  bool aInTensorMemory = false;
  /// `.ashift`: after the product the rows of A move in tensor memory. Needs A
  /// there, a kind without block scales and M 128 or 256.
  bool aShift = false;
  uint64_t a = 0;                  ///< descriptor, or tensor-memory address
  uint64_t b = 0;                  ///< descriptor
  uint32_t metadata = 0;           ///< tensor-memory address, sparse only
  uint32_t scaleA = 0, scaleB = 0; ///< tensor-memory addresses
  uint32_t lookup = 0;             ///< tensor-memory address of the tables of B
  bool enableInputD = false;
  unsigned scaleInputD = 0; ///< D * 2^-n before the sum; f16, tf32 only
  /// Bit l of word w: lane 32 w + l is not written. Words 4..7: second CTA.
  std::array<uint32_t, 8> disableOutputLane{};
  uint64_t zeroColumns = 0; ///< zero-column mask descriptor; `.ws` only
  /// Asks for TensorReport::contentsB.
  bool tellsB = false;
};

/// Kind of a problem that execution met.
enum class TensorIssueKind : uint8_t {
  IllegalInstruction, ///< descriptor or operand that the ISA forbids
  OutOfRange,         ///< shared or tensor memory beyond its end
  Unallocated,        ///< tensor-memory columns without allocation
  Uninitialised,      ///< operand words never written
  Inconsistent,       ///< replicas of a scale that differ, a scale with a sign
  Advice,             ///< unusual, and executed
};

struct TensorIssue {
  TensorIssueKind kind;
  Hazard hazard = Hazard::None;
  unsigned cta = 0; ///< 0 or 1 within the pair
  uint32_t address = 0;
  std::string message;
};

/// What happened.
struct TensorReport {
  /// The instruction did nothing (the first issue that is no advice says why).
  bool refused = false;
  std::vector<TensorIssue> issues;
  OpenPointSet openPoints;
  InstructionDescriptor idesc; ///< decoded, for traces
  uint64_t macs = 0;           ///< logical multiply-adds
  /// A number made of the elements of B and its scales, where it was asked for.
  uint64_t contentsB = 0;
};

/// What an instruction reads of shared memory.
enum class SharedOperand : uint8_t { A, B, Source };

/// A piece of the shared memory of CTA 0 or 1 of the group.
using OperandVisit = std::function<void(SharedOperand operand, unsigned cta,
                                        uint32_t address, uint32_t bytes)>;

/// The shared memory that an instruction reads; none if it is illegal.
void forOperandRanges(const MmaRequest &request, const OperandVisit &visit);
/// Same for tcgen05.cp, in each CTA.
void forCopyRanges(CopyShape shape, CopyFormat format, unsigned ctaGroup,
                   uint64_t descriptor, const OperandVisit &visit);

/// Executes instructions; keeps scratch memory, so one object per thread.
class TensorCore {
public:
  TensorCore();
  ~TensorCore();

  /// tcgen05.mma. Reports at most one issue per operand. Never throws.
  TensorReport execute(const MmaRequest &request, TensorContext &context);

  /// tcgen05.cp from the shared memory of each CTA of the group, at the same
  /// offset, to its own tensor memory.
  TensorReport copy(CopyShape shape, CopyFormat format, unsigned ctaGroup,
                    uint32_t address, uint64_t descriptor,
                    TensorContext &context);

  /// Forces the double path, so that tests can compare both.
  void forcePrecise(bool value) { precise = value; }

private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch;
  bool precise = false;
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCORE_H
