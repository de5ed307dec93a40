//===- PtxVersion.h - what needs which PTX and which CUDA -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX versions, times ten: 94 is PTX 9.4. The header of a module names the
// smallest one that has all of its instructions; the assembler must be of the
// release of CUDA that came with it, or a newer one.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_PTXVERSION_H
#define BLOCKSCALE_HW_PTXVERSION_H

#include <string>
#include <string_view>
#include <utility>

namespace blockscale::hw {

/// A release of CUDA, major and minor number.
using CudaRelease = std::pair<unsigned, unsigned>;

/// The first release whose ptxas takes PTX `version`, from 86 on; of a version
/// that is newer than all we know, the release that its number suggests.
CudaRelease cudaReleaseOf(unsigned version);

/// "9.4" for 94.
std::string ptxVersionName(unsigned version);

/// "13.4".
std::string cudaReleaseName(CudaRelease release);

/// The oldest PTX version that has every instruction in `ptx`, as far as it is
/// newer than 9.0; 90 if none is.
unsigned ptxVersionUsed(std::string_view ptx);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_PTXVERSION_H
