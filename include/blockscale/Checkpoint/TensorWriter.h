//===- TensorWriter.h - tensors into files, piece by piece ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files whose tensors are known in advance and written in any order by any
// threads. They have temporary names until all is written, so that what was
// interrupted never looks finished.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_TENSORWRITER_H
#define BLOCKSCALE_CHECKPOINT_TENSORWRITER_H

#include "blockscale/Checkpoint/Safetensors.h"

#include <map>
#include <memory>
#include <mutex>

namespace blockscale::checkpoint {

/// The key under which a file keeps the CRC-32 of a tensor, as 8 hexadecimal
/// digits.
std::string checksumKey(const std::string &tensor);

class TensorWriter {
public:
  /// `path` is a .safetensors file, or NAME.npy: then each tensor becomes
  /// NAME.TENSOR.npy. Only the name, type and shape of `tensors` matter. With
  /// `checksums` a .safetensors file keeps those of its tensors.
  static Result<std::unique_ptr<TensorWriter>>
  create(const std::string &path, std::vector<TensorEntry> tensors,
         std::vector<std::pair<std::string, std::string>> metadata,
         bool checksums);
  /// Removes what was not finished.
  ~TensorWriter();
  TensorWriter(const TensorWriter &) = delete;
  TensorWriter &operator=(const TensorWriter &) = delete;

  const std::vector<TensorEntry> &tensors() const { return header.tensors; }

  /// Writes bytes of a tensor from its byte `offset` on; each byte once.
  /// Returns why it could not; empty if it did.
  std::string write(size_t tensor, uint64_t offset, const void *bytes,
                    uint64_t count);

  /// All is written: gives the files their names.
  std::string finish();

  /// After finish(): CRC-32 of a tensor; only with checksums.
  uint32_t checksum(size_t tensor) const { return checksums[tensor]; }

private:
  struct File {
    std::string path, temporary;
    int descriptor = -1;
  };
  struct Piece {
    uint64_t bytes;
    uint32_t crc;
  };
  TensorWriter() = default;
  std::string open(const std::string &path, const std::string &start,
                   uint64_t bytes);
  std::string addChecksums();

  SafetensorsHeader header;
  /// One, or one for each tensor.
  std::vector<File> files;
  bool isSafetensors = true, hasChecksums = false, isFinished = false;
  std::mutex piecesLock;
  std::vector<std::map<uint64_t, Piece>> pieces;
  std::vector<uint32_t> checksums;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_TENSORWRITER_H
