//===- SmallPlan.h - a plan for tests ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_RUNTIME_SMALLPLAN_H
#define BLOCKSCALE_UNITTESTS_RUNTIME_SMALLPLAN_H

#include "blockscale/Plan/Plan.h"

namespace blockscale::test {

inline plan::Parameter parameter(const char *role, const char *operand,
                                 plan::ParameterKind kind, const char *type) {
  plan::Parameter result;
  result.role = role;
  result.operand = operand;
  result.kind = kind;
  result.type = type;
  result.size = result.alignment = kind == plan::ParameterKind::TensorMap ? 128
                                   : kind == plan::ParameterKind::Pointer ? 8
                                                                          : 4;
  return result;
}

/// A product of bytes with a dynamic M and K and two columns, whose lines are
/// padded to 16 bytes, in pairs of CTAs.
inline plan::Kernel smallKernel() {
  using plan::ParameterKind;
  plan::Kernel kernel;
  kernel.name = kernel.sourceFunction = "small";
  kernel.grid = {"min(ceildiv(M, 2) * 2, max_clusters * 2)", "1", "1"};
  kernel.cluster = {2, 1, 1};
  kernel.block = {192, 1, 1};
  kernel.dependentLaunch = true;
  kernel.sharedMemoryBytes = 1024;
  kernel.sizes = {
      {"M", std::nullopt}, {"N", 2}, {"K", std::nullopt}, {"batch", 1}};
  auto mapped = [](const char *role, const char *operand, const char *rows) {
    plan::Parameter result =
        parameter(role, operand, ParameterKind::TensorMap, "tensor_map");
    plan::TensorMap map;
    map.dataType = {"CU_TENSOR_MAP_DATA_TYPE_UINT8", 0};
    map.globalDim = {"K", rows};
    map.globalStrides = {"ceildiv(K, 16) * 16"};
    map.boxDim = {64, 32};
    map.elementStrides = {1, 1};
    map.swizzle = {"CU_TENSOR_MAP_SWIZZLE_64B", 2};
    map.l2Promotion = {"CU_TENSOR_MAP_L2_PROMOTION_L2_256B", 3};
    result.tensorMap = map;
    return result;
  };
  kernel.parameters = {
      mapped("a_data", "a", "M"),
      mapped("b_data", "b", "2"),
      parameter("d", "d", ParameterKind::Pointer, "f32"),
      parameter("alpha", "alpha", ParameterKind::Scalar, "f32"),
      parameter("size_m", "M", ParameterKind::Scalar, "i32"),
      parameter("size_k", "K", ParameterKind::Scalar, "i32")};
  uint64_t end = 0;
  for (plan::Parameter &each : kernel.parameters) {
    each.offset = (end + each.alignment - 1) / each.alignment * each.alignment;
    end = each.offset + each.size;
  }
  plan::DataPacking a;
  a.operand = "a";
  a.format = "e4m3";
  a.order = "k_major";
  a.bits = 8;
  a.lines = "M";
  a.elements = "K";
  a.linePitch = "ceildiv(K, 16) * 16";
  a.batchPitch = "M * (ceildiv(K, 16) * 16)";
  a.alignment = 16;
  plan::DataPacking b = a;
  b.operand = "b";
  b.lines = "2";
  b.batchPitch = "2 * (ceildiv(K, 16) * 16)";
  kernel.data = {a, b};
  plan::PlainOperand d;
  d.operand = "d";
  d.type = "f32";
  d.rowPitch = "2";
  d.batchPitch = "M * 2";
  d.elements = "M * 2 * batch";
  d.alignment = 4;
  kernel.operands = {d};
  kernel.epilogue.alpha = true;
  return kernel;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_RUNTIME_SMALLPLAN_H
