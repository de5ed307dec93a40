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

/// The files that tensors go to.
struct ShardedFiles {
  std::vector<std::string> paths;
  /// For each tensor.
  std::vector<size_t> shardOf;
  /// The index that names the files; empty where there is but one. One that is
  /// there already is removed before the first file gets its name, so that it
  /// never names a mixture.
  std::string indexPath;
  /// Whether the index is written, as the last file.
  bool writesIndex = false;
};

/// Writes the index of files that are complete.
std::optional<Reason> writeIndex(const std::vector<TensorEntry> &tensors,
                                 const ShardedFiles &files);

class TensorWriter {
public:
  /// `path` is NAME.npy: then each tensor becomes NAME.TENSOR.npy. Otherwise
  /// `files` says which .safetensors file a tensor goes to. Only the name, type
  /// and shape of `tensors` matter. With `checksums` .safetensors files keep
  /// those of their tensors.
  static Result<std::unique_ptr<TensorWriter>>
  create(const std::string &path, std::vector<TensorEntry> tensors,
         std::vector<std::pair<std::string, std::string>> metadata,
         bool checksums, const ShardedFiles &files);
  /// Removes what was not finished.
  ~TensorWriter();
  TensorWriter(const TensorWriter &) = delete;
  TensorWriter &operator=(const TensorWriter &) = delete;

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
    /// Of .safetensors.
    SafetensorsHeader header;
  };
  /// Where a tensor is.
  struct Place {
    size_t file;
    uint64_t offset;
  };
  struct Piece {
    uint64_t bytes;
    uint32_t crc;
  };
  TensorWriter() = default;
  std::string open(const std::string &path, const std::string &start,
                   uint64_t bytes);
  std::string
  openShards(const std::vector<std::pair<std::string, std::string>> &metadata);
  std::string openArrays(const std::string &path);
  std::string addChecksums();
  std::string rename();

  std::vector<TensorEntry> tensors;
  std::vector<Place> places;
  std::vector<File> files;
  ShardedFiles sharding;
  bool isSafetensors = true, hasChecksums = false, isFinished = false;
  std::mutex piecesLock;
  std::vector<std::map<uint64_t, Piece>> pieces;
  std::vector<uint32_t> checksums;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_TENSORWRITER_H
