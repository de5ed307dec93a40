//===- Targets.h - what the chips of a target have --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator's own table of targets, written from the PTX ISA. Names are
// those of `.target`: `sm_103a`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_TARGETS_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_TARGETS_H

#include <cstdint>
#include <string_view>

namespace blockscale::emulator {

/// What no mnemonic shows and some targets have.
enum class TargetFeature : uint8_t {
  MmaK96, ///< tcgen05.mma of mxf4 and mxf4nvf4 with K = 96
  /// What descriptors of sm_107 have: K = 64 of 8-bit kinds and 128 of FP4,
  /// ue5m3, scales of A one row to a lane, start addresses of 15 bits.
  WideMma,
  ElementwiseSparsity, ///< metadata of sparse FP4 counts elements, not pairs
  AbsoluteLeading,     ///< bit 52 of a shared-memory descriptor
  OversizedShared,     ///< 327 KiB for a CTA, if the launch asks
  PaddedTypesInOwnCta, ///< tensor copies of 4- and 6-bit types reach no other
                       ///< CTA
};

bool hasFeature(std::string_view target, TargetFeature feature);

/// Columns of the tensor memory of an SM.
unsigned tensorColumns(std::string_view target);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_TARGETS_H
