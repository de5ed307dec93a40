//===- Pack.h - from a model's files to what kernels read -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantises, prunes, compresses, tiles and renames the parameters of a
// checkpoint, piece by piece: neither a checkpoint nor one of its tensors has
// to fit into memory. docs/packing.md describes what comes out.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_PACK_H
#define BLOCKSCALE_CHECKPOINT_PACK_H

#include "blockscale/Checkpoint/Recognize.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/Packing/Quantize.h"

#include <atomic>
#include <functional>

namespace blockscale::checkpoint {

/// What values become.
enum class PackTo : uint8_t {
  /// They stay as they are: only names and layouts change.
  Same,
  /// PackOptions::format.
  Blocks,
  /// e4m3 with a scale for each 128 x 128 elements.
  Fp8Blocks,
  F32,
  BF16
};

/// What options and messages call PackTo::Fp8Blocks, with scales that are any
/// binary32 numbers and with powers of two.
inline constexpr std::string_view kFp8BlocksName = "fp8-blocks",
                                  kFp8BlocksUe8m0Name = "fp8-blocks-ue8m0";

struct PackOptions {
  PackTo to = PackTo::Same;
  packing::BlockFormat format;
  /// Of PackTo::Fp8Blocks: scales are powers of two.
  bool powersOfTwo = false;
  /// Whose names: of those in docs/packing.md.
  Family family = Family::ModelOpt;
  /// Whether scales and metadata lie in atoms and tiles.
  bool tiled = false;
  /// Pruned to this pattern first; without it nothing is pruned.
  std::optional<hw::SparsePattern> prune;
  /// Store the kept elements and metadata.
  bool compress = false;
  /// Names with '*' for any text; parameters that match one are changed, others
  /// copied. Empty: all that is a matrix of numbers, or quantised.
  std::vector<std::string> tensors;
  bool checksums = false;
  /// Bytes of tensors after which another file begins, so that NAME.safetensors
  /// becomes NAME-00001-of-00003.safetensors and so on, and an index. 0: one
  /// file.
  uint64_t shardBytes = 0;
  /// Writes this shard alone, counted from 0, and no index: others are written
  /// by others, and finishShards() puts the index there.
  std::optional<uint64_t> shard;
  /// 0: as many as the host has.
  unsigned threads = 0;
  /// Becomes true when the work is to stop.
  const std::atomic<bool> *stop = nullptr;
  /// Called with bytes of elements done and to be done, by one thread at a
  /// time.
  std::function<void(uint64_t, uint64_t)> progress;
};

/// What was written.
struct PackedTensor {
  std::string name;
  DType dtype;
  std::vector<uint64_t> shape;
  std::optional<uint32_t> checksum;
};

/// Writes what the options make of `checkpoint` to `path`, a .safetensors or
/// .npy name (checkpoint/TensorWriter.h). On failure nothing is left there.
Result<std::vector<PackedTensor>> pack(const Checkpoint &checkpoint,
                                       const std::string &path,
                                       const PackOptions &options);

/// A file that packing writes.
struct PackedShard {
  std::string path;
  /// Of its tensors.
  uint64_t bytes = 0;
  std::vector<PackedTensor> tensors;
};

/// The files that pack() would write. One is NAME.safetensors itself; of more,
/// the tensors of a parameter are always in the same.
Result<std::vector<PackedShard>> planShards(const Checkpoint &checkpoint,
                                            const std::string &path,
                                            const PackOptions &options);

/// Writes the index of shards that were written one by one. They must all be
/// there, with the tensors that are expected in them.
std::optional<Reason> finishShards(const Checkpoint &checkpoint,
                                   const std::string &path,
                                   const PackOptions &options);

/// Whether `name` is of the form `pattern`, in which '*' is any text.
bool matches(std::string_view name, std::string_view pattern);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_PACK_H
