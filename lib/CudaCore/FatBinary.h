//===- FatBinary.h - the device code inside a program -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc puts the PTX and the machine code of a source file into one "fat
// binary": a header of 16 bytes, then entries, each with a header of its own
// and a payload that may be compressed. There is no public specification; the
// fields below are those of files that `fatbinary` of CUDA 13.0 writes with
// each of its compression modes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_FATBINARY_H
#define BLOCKSCALE_LIB_CUDACORE_FATBINARY_H

#include "blockscale/HW/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::cuda {

/// What an entry of a fat binary holds.
enum class ImageKind : uint8_t { Ptx, Cubin, Other };

/// One entry.
struct FatImage {
  ImageKind kind = ImageKind::Other;
  /// "sm_100a": of PTX what its `.target` says; of a cubin without the letter,
  /// which is not known.
  std::string target;
  /// The text of PTX.
  std::string ptx;
};

/// PTX as an image of the target that it names, or of "sm_?" if it names none.
FatImage ptxImage(std::string ptx);

/// What was read, or why it could not be.
struct FatBinary {
  std::vector<FatImage> images;
  std::string error;
};

/// Bytes of the header, which say how long the rest is.
inline constexpr uint64_t kFatHeaderBytes = 16;

/// Reads the fat binary at `data`, of which at most `available` bytes may be
/// looked at. Never reads beyond them, whatever the bytes are.
FatBinary readFatBinary(const uint8_t *data, uint64_t available);

/// The PTX that `chip` ("sm_100") runs best: its own ("sm_100a"), then that of
/// its family
/// ("sm_100f" also on sm_103), then the newest plain one. Null with a sentence
/// in `why` that lists what there is.
const FatImage *chooseImage(const FatBinary &binary, std::string_view chip,
                            std::string &why);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_FATBINARY_H
