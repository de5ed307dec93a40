//===- Checkpoint.h - the tensors of a model's files ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One .safetensors file, or the shards that an index names, and what the
// configuration beside them declares. Only headers are read; the data of a
// tensor when they are asked for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_CHECKPOINT_H
#define BLOCKSCALE_CHECKPOINT_CHECKPOINT_H

#include "blockscale/Checkpoint/Safetensors.h"

#include <array>
#include <unordered_map>

namespace blockscale::checkpoint {

/// What `config.json` and `hf_quant_config.json` say about quantisation. Empty
/// where they say nothing.
struct Declaration {
  /// "modelopt", "compressed-tensors", "fp8", "mxfp4", ...
  std::string method;
  /// "nvfp4-pack-quantized" (compressed-tensors) or "NVFP4" (ModelOpt).
  std::string format;
  /// Elements of a row that share a scale.
  std::optional<uint64_t> groupSize;
  /// Rows and columns of a block with one scale.
  std::optional<std::array<uint64_t, 2>> weightBlock;
  /// "ue8m0": scales are powers of two.
  std::string scaleFormat;
  /// "fp4": the experts' elements.
  std::string expertType;
  /// The first of two packed elements is in the higher nibble.
  bool swapsNibbles = false;
};

/// Reads a configuration; it may be nested, as those of models with several
/// parts are, down to a depth of 32.
Result<Declaration> parseDeclaration(std::string_view json);

/// A tensor and the file that it is in.
struct Tensor : TensorEntry {
  size_t file = 0;
};

class Checkpoint {
public:
  /// `path` is a .safetensors file, an index (.safetensors.index.json), or a
  /// directory that holds one index or, without one, any number of files, of
  /// which shards ("NAME-00001-of-00003.safetensors") must all be there. A
  /// .npy file is a checkpoint of one tensor that is called as the file is.
  static Result<Checkpoint> open(const std::string &path);

  /// Sorted by name; no name occurs twice.
  const std::vector<Tensor> &tensors() const { return all; }
  /// Null if there is none.
  const Tensor *find(std::string_view name) const;
  const std::vector<InputFile> &files() const { return opened; }
  /// `__metadata__` of all files.
  const std::vector<std::pair<std::string, std::string>> &metadata() const {
    return merged;
  }
  /// Empty if there is no such key.
  std::string_view findMetadata(std::string_view key) const;
  const Declaration &declaration() const { return declared; }
  /// The number of files that a single one belongs to by its name; 1 if it was
  /// not one of several, or was opened with all of them.
  uint64_t shardCount() const { return shards; }

  /// Reads `count` bytes of a tensor from its byte `offset` on. Returns why it
  /// could not; empty if it did.
  std::string read(const Tensor &tensor, uint64_t offset, void *to,
                   uint64_t count) const;

private:
  std::string addFile(const std::string &path);
  std::string addArray(const std::string &path);
  std::string addIndex(const std::string &path);
  std::string addDirectory(const std::string &path);
  std::string whyTorn(const std::vector<std::string> &files) const;
  std::string sortTensors();
  std::string readDeclarations(const std::string &directory);

  std::vector<InputFile> opened;
  std::vector<Tensor> all;
  std::vector<std::pair<std::string, std::string>> merged;
  std::unordered_map<std::string, size_t> metadataPlace;
  Declaration declared;
  uint64_t shards = 1;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_CHECKPOINT_H
