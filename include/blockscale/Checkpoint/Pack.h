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
  F32,
  BF16
};

struct PackOptions {
  PackTo to = PackTo::Same;
  packing::BlockFormat format;
  /// ModelOpt, CompressedTensors or Torchao.
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

/// Whether `name` is of the form `pattern`, in which '*' is any text.
bool matches(std::string_view name, std::string_view pattern);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_PACK_H
