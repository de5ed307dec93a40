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
  MmaK96,              ///< tcgen05.mma of mxf4 and mxf4nvf4 with K = 96
  AbsoluteLeading,     ///< bit 52 of a shared-memory descriptor
  PaddedTypesInOwnCta, ///< tensor copies of 4- and 6-bit types reach no other
                       ///< CTA
};

bool hasFeature(std::string_view target, TargetFeature feature);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_TARGETS_H
