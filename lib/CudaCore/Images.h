//===- Images.h - PTX in whatever a program loads ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs hand over device code as a bare pointer: to the text of PTX, to a
// fat binary, to nvcc's wrapper of one, or to a cubin, an ELF file with machine
// code. A cubin carries its PTX if it has a section of the name below, which
// our stand-ins for ptxas and others add.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_IMAGES_H
#define BLOCKSCALE_LIB_CUDACORE_IMAGES_H

#include "FatBinary.h"

namespace blockscale::cuda {

/// Of a cubin that carries the PTX that it was made of.
inline constexpr std::string_view kPtxSection = ".blockscale.ptx";

/// Bytes from `data` on that may be read; 0 if there is none. What is mapped
/// counts, so a corrupt header cannot lead out of it.
uint64_t readableBytes(const void *data);

/// The images at `data`, of which at most `available` bytes may be looked at.
/// An error names what is wrong. A cubin without PTX is an image without text.
FatBinary readImages(const uint8_t *data, uint64_t available);

/// Where the fat binaries of the objects are whose device code nvcc has linked
/// (`-rdc=true`); none if `data` is no wrapper of such a program.
std::vector<const uint8_t *> linkedObjects(const uint8_t *data,
                                           uint64_t available);

/// The cubin with the PTX as a section of its own; nothing if it is none, or
/// not one whose section headers are at its end.
std::optional<std::string> addPtx(std::string_view cubin, std::string_view ptx);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_IMAGES_H
