//===- InputFile.h - a file read piece by piece -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkpoints are larger than memory, and of most of one nothing is wanted.
// Pieces are read at their positions and not mapped: a file that another
// program cuts short while it is read then gives an error and not a signal, and
// what is read counts against nobody's memory but the reader's buffer.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_INPUTFILE_H
#define BLOCKSCALE_CHECKPOINT_INPUTFILE_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <string>
#include <utility>

namespace blockscale::checkpoint {

/// An open regular file. Several threads may read it at once.
class InputFile {
public:
  static Result<InputFile> open(const std::string &path);

  InputFile(InputFile &&other) noexcept { swap(other); }
  InputFile &operator=(InputFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~InputFile();

  const std::string &path() const { return name; }
  /// Bytes when it was opened.
  uint64_t size() const { return bytes; }

  /// Reads `count` bytes from `offset` on. Returns why it could not; empty if
  /// it did.
  std::string read(uint64_t offset, void *to, uint64_t count) const;

private:
  InputFile() = default;
  void swap(InputFile &other) noexcept {
    std::swap(name, other.name);
    std::swap(descriptor, other.descriptor);
    std::swap(bytes, other.bytes);
  }

  std::string name;
  int descriptor = -1;
  uint64_t bytes = 0;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_INPUTFILE_H
