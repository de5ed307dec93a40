//===- Findings.h - what a run of the emulator complains about ---*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_FINDINGS_H
#define BLOCKSCALE_EMULATOR_FINDINGS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace blockscale::emulator {

/// What kind of mistake a finding reports.
enum class FindingKind : uint8_t {
  /// The launch contradicts the kernel: names, sizes, missing arguments.
  Launch,
  /// An instruction, modifier or operand that this emulator does not run.
  Unsupported,
  /// An access outside every buffer or window of its space.
  OutOfBounds,
  /// An address that is not a multiple of the access size.
  Misaligned,
  /// A store to a read-only buffer, to parameters or to constants.
  ReadOnly,
  /// Shared memory, tensor memory or a register derived from them that was
  /// never written reached memory, an address, a branch or a matrix unit.
  Uninitialised,
  /// An address of the wrong state space, or of a CTA that is not there.
  BadAddress,
  /// Misuse of an mbarrier.
  MBarrier,
  /// Misuse of a named, CTA or cluster barrier.
  Barrier,
  /// Misuse of a tensor map, a bulk copy or their coordinates.
  Tma,
  /// Misuse of tensor-memory allocation: outside it, after free, leaked.
  TensorMemory,
  /// An illegal instruction or shared-memory descriptor, or an illegal tcgen05
  /// combination.
  Descriptor,
  /// A warp-wide instruction executed by the wrong set of lanes.
  Divergence,
  /// Arithmetic whose result the ISA leaves undefined.
  Arithmetic,
  /// `trap`, `brkpt` or a failed device assertion.
  Trap,
  /// No thread can run and nothing is in flight.
  Deadlock,
  /// The step limit was reached.
  StepLimit,
  /// Accesses whose order or visibility nothing ensures.
  Race,
};

/// The lower-case name of `kind`, e.g. `out-of-bounds`.
std::string_view name(FindingKind kind);

/// One complaint: what happened, where in the PTX and on which thread.
struct Finding {
  FindingKind kind;
  /// Lower case, no full stop.
  std::string message;
  /// 1-based line of the PTX text; 0 where no instruction is to blame.
  uint32_t line = 0;
  /// CTA index in the grid (x, y, z).
  uint32_t cta[3] = {0, 0, 0};
  /// Warp in the CTA and lane in the warp; -1 where none is to blame.
  int32_t warp = -1, lane = -1;
  /// The address involved, in its own space; 0 where there is none.
  uint64_t address = 0;
  /// Number of the entry of Hazards.h that explains the rule; 0 for none.
  unsigned hazard = 0;
};

/// `line 12, cta (0,0,0), warp 3, lane 0: out-of-bounds: ...`, with
/// ` [hazard 38]` at the end where there is one.
std::string toString(const Finding &finding);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_FINDINGS_H
