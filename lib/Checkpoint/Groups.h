//===- Groups.h - tensors of one parameter by their names -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_GROUPS_H
#define BLOCKSCALE_LIB_CHECKPOINT_GROUPS_H

#include "blockscale/Checkpoint/Checkpoint.h"

#include <map>

namespace blockscale::checkpoint {

/// What a tensor is to its parameter, as its name says.
enum class Role : uint8_t {
  /// `P.weight`, and whatever has no other role.
  Weight,
  /// `P.weight_packed`
  Packed,
  /// `P.weight_scale`
  Scale,
  /// `P.weight_scale_inv`
  ScaleInverse,
  /// `P.weight_scale_2`
  ScaleTwo,
  /// `P.weight_global_scale`
  GlobalScale,
  /// `P.input_scale`
  InputScale,
  /// `P.input_global_scale`
  InputGlobalScale,
  /// `P.scale`
  ShortScale,
  /// `P.weight_shape`: the logical shape of packed integers.
  LogicalShape,
  /// `P.weight_zero_point`: what is subtracted from integers.
  ZeroPoint,
  /// `P.weight_g_idx`: which group of scales a column has.
  GroupOrder,
  /// `P.comfy_quant`: JSON in bytes.
  ComfyMark,
  /// `P._weight_qdata`, `P._weight_scale`, `P._weight_per_tensor_scale`
  TorchaoData,
  TorchaoScale,
  TorchaoGlobalScale,
  /// `P_blocks` and `P_scales`
  Blocks,
  BlockScales,
  /// `P.blocks` and `P.scales`
  OriginalBlocks,
  OriginalScales
};
inline constexpr unsigned kNumRoles =
    static_cast<unsigned>(Role::OriginalScales) + 1;

/// The tensors of one parameter.
struct Group {
  std::array<const Tensor *, kNumRoles> parts{};

  const Tensor *operator[](Role role) const {
    return parts[static_cast<unsigned>(role)];
  }
};

/// All tensors by the parameter that they belong to.
std::map<std::string, Group> groupTensors(const Checkpoint &checkpoint);

/// The tensor's last component: "weight_scale" of "a.b.weight_scale".
std::string_view lastComponent(const Tensor &tensor);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_GROUPS_H
