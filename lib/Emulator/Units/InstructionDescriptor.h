//===- InstructionDescriptor.h - tcgen05.mma instruction word ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 32-bit instruction descriptor of tcgen05.mma, decoded from the published
// bit tables (PTX ISA, tcgen05 instruction descriptor), and what is illegal in
// it for the instruction that uses it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_INSTRUCTIONDESCRIPTOR_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_INSTRUCTIONDESCRIPTOR_H

#include "Convert.h"

#include "blockscale/Emulator/MmaKind.h"
#include "blockscale/Emulator/OpenPoints.h"

#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::emulator {

/// What the mnemonic says, without the descriptor.
struct MmaForm {
  MmaKind kind = MmaKind::F16;
  bool sparse = false;
  unsigned ctaGroup = 1;
  /// Elements per scale as the qualifier names them: 16 or 32, 0 for plain
  /// kinds. scale_vec::1X and 2X are 32, 4X is 16.
  unsigned block = 0;
  /// `.ws`: B is the stationary operand; M may be 32, D has layout E or G.
  bool weightStationary = false;
  /// The chip has the descriptors of sm_107: K bits for the double K, scale
  /// formats of two bits, scales of A one row to a lane.
  bool wide = false;
  /// `.decompress::lut::b`: B holds indices into tables in tensor memory.
  bool lookupB = false;
  /// Metadata of sparse FP4 counts elements, not pairs (sm_107a).
  bool elementwise = false;
};

/// The decoded word.
struct InstructionDescriptor {
  uint32_t bits = 0;
  bool sparse = false;
  unsigned sparsitySelector = 0;
  bool saturate = false;
  Element a = Element::F16, b = Element::F16;
  Element scale = Element::UE8M0;
  Element accumulator = Element::F32; ///< F32 or F16; S32 of integers
  bool negateA = false, negateB = false;
  bool mnMajorA = false, mnMajorB = false;
  unsigned m = 0, n = 0;
  unsigned k = 0; ///< logical K of one instruction
  /// 64 bytes of K per row: K = 64 of the 8-bit kinds (128 sparse), 128 of FP4.
  /// 4- and 6-bit elements of mxf8f6f4 are then packed.
  bool doubleK = false;
  bool rowScalesA = false; ///< scales of A, one row to a lane
  unsigned scaleIdA = 0, scaleIdB = 0;

  /// Scales per row in one instruction, 0 for plain kinds.
  unsigned scaleCount = 0;
};

/// Decodes the word for the form. If the word is illegal gives the reason and
/// leaves `out` partly filled. `openPoints` collects choices it depends on.
std::optional<std::string>
decodeInstructionDescriptor(uint32_t bits, const MmaForm &form,
                            InstructionDescriptor &out,
                            OpenPointSet &openPoints);

/// Bytes that `count` elements of a row of A or B take in shared memory.
unsigned rowBytes(const MmaForm &form, const InstructionDescriptor &idesc,
                  Element type, unsigned count);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_INSTRUCTIONDESCRIPTOR_H
