//===- Recognize.h - which tensors make a quantised one ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantised parameter is several tensors: elements, scales of blocks, a scale
// of the whole. Their names, types and shapes tell who wrote them, and with
// that what they mean. docs/checkpoints.md describes the conventions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_RECOGNIZE_H
#define BLOCKSCALE_CHECKPOINT_RECOGNIZE_H

#include "blockscale/Checkpoint/Checkpoint.h"
#include "blockscale/Checkpoint/Findings.h"
#include "blockscale/HW/Layout.h"

namespace blockscale::checkpoint {

/// Whose names and meanings.
enum class Family : uint8_t {
  /// Not quantised.
  None,
  ModelOpt,
  CompressedTensors,
  /// ModelOpt and compressed-tensors write it alike and no configuration tells.
  ModelOptOrCompressedTensors,
  GptOss,
  /// As OpenAI published it, before the conversion for transformers.
  GptOssOriginal,
  /// V3, R1 and all with `weight_scale_inv`.
  DeepSeek,
  DeepSeekV4,
  Torchao,
  ComfyUI,
  Unknown
};
/// "ModelOpt", "compressed-tensors", ...
std::string_view familyName(Family family);

/// What the scale of the whole tensor does to a value.
enum class GlobalUse : uint8_t { None, Factor, Divisor };

/// Where the scales of blocks lie.
enum class ScalePlacement : uint8_t {
  None,
  /// One row of them for each row of the tensor.
  Rows,
  /// In 128 x 4 atoms (hw::kTiledScales).
  Tiled,
  /// Padded to whole atoms; only the bytes tell in which order.
  Padded,
  /// None of these.
  Unknown
};

/// One parameter of the model. Pointers are into the checkpoint, and null for
/// what it does not have.
struct QuantizedTensor {
  /// As the model calls it, such as "model.layers.0.mlp.up_proj.weight".
  std::string name;
  Family family = Family::None;
  /// "NVFP4", "MXFP8", "FP8"; the dtype of what is not quantised.
  std::string format;
  /// Nothing for integers, whose codes are numbers plus an offset.
  std::optional<ElementFormat> element;
  /// Of the block scales; nothing if they are plain numbers or absent.
  std::optional<ElementFormat> scaleFormat;
  /// Of the elements: the last dimension is K.
  std::vector<uint64_t> shape;
  /// Rows and columns that share a scale; 0 is all of them.
  uint64_t blockRows = 1, blockColumns = 0;
  const Tensor *elements = nullptr, *scales = nullptr, *globalScale = nullptr,
               *inputScale = nullptr;
  GlobalUse globalUse = GlobalUse::None, inputUse = GlobalUse::None;
  ScalePlacement placement = ScalePlacement::None;
  /// Elements in a byte or word; the first is in the lowest bits but where
  /// `highNibbleFirst` is set.
  unsigned packed = 1;
  bool highNibbleFirst = false;
  /// Rows alternate between gate and up projection.
  bool interleavedRows = false;
  /// All tensors that belong to it, those above among them.
  std::vector<const Tensor *> parts;
  std::vector<Finding> findings;

  bool isQuantized() const { return family != Family::None; }
  /// Of the last two dimensions, and the product of the others.
  uint64_t rows() const;
  uint64_t columns() const;
  uint64_t batch() const;
  /// Scales of blocks along rows and columns.
  uint64_t scaleRows() const;
  uint64_t scaleColumns() const;
};

/// Whether scales of `family` lie in atoms by convention.
bool tilesScales(Family family);

/// All parameters of a checkpoint, by name. Finds what their names, types and
/// shapes contradict; reads no data but those of a few bytes.
std::vector<QuantizedTensor> recognize(const Checkpoint &checkpoint);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_RECOGNIZE_H
