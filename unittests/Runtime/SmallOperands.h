//===- SmallOperands.h - operands of the small kernel -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_RUNTIME_SMALLOPERANDS_H
#define BLOCKSCALE_UNITTESTS_RUNTIME_SMALLOPERANDS_H

#include "SmallPlan.h"
#include "blockscale/Runtime/HostOperands.h"

#include <numeric>

namespace blockscale::test {

using runtime::HostOperand;
using runtime::HostOperands;

inline HostOperand operandOf(const std::string &role,
                             std::vector<uint8_t> &memory,
                             std::vector<int64_t> sizes, int64_t bytes = 1) {
  HostOperand operand;
  operand.role = role;
  operand.data = memory.data();
  operand.strides.assign(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    operand.strides[i - 1] = operand.strides[i] * sizes[i];
  operand.sizes = std::move(sizes);
  operand.elementBytes = bytes;
  return operand;
}

/// Operands of the small kernel with M = 3 and a K of 5 elements.
struct Operands {
  std::vector<uint8_t> a = std::vector<uint8_t>(15);
  std::vector<uint8_t> b = std::vector<uint8_t>(10);
  std::vector<uint8_t> alpha{0, 0, 0, 0x40};
  std::vector<uint8_t> d = std::vector<uint8_t>(24);
  HostOperands all;

  explicit Operands(std::vector<int64_t> aShape = {3, 5}) {
    std::iota(a.begin(), a.end(), uint8_t(1));
    std::iota(b.begin(), b.end(), uint8_t(101));
    all["a_data"] = operandOf("a_data", a, std::move(aShape));
    all["b_data"] = operandOf("b_data", b, {2, 5});
    all["alpha"] = operandOf("alpha", alpha, {}, 4);
    all["d"] = operandOf("d", d, {3, 2}, 4);
  }
};

inline plan::Environment bound(const plan::Kernel &kernel,
                               const HostOperands &operands) {
  return *plan::bindSizes(kernel, runtime::sizesOf(kernel, operands), {7, 7});
}

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_RUNTIME_SMALLOPERANDS_H
