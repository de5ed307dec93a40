//===- OperandLines.h - strided arrays, line by line ---------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_OPERANDLINES_H
#define BLOCKSCALE_LIB_RUNTIME_OPERANDLINES_H

#include "blockscale/Runtime/HostOperands.h"

namespace blockscale::runtime {

inline uint64_t elementsOf(const HostOperand &operand) {
  uint64_t count = 1;
  for (int64_t size : operand.sizes)
    count *= uint64_t(size);
  return count;
}

/// Elements of the innermost dimension and the bytes between two of them.
inline uint64_t lineElements(const HostOperand &operand) {
  return operand.sizes.empty() ? 1 : uint64_t(operand.sizes.back());
}
inline int64_t lineStep(const HostOperand &operand) {
  return operand.sizes.empty() ? operand.elementBytes
                               : operand.strides.back() * operand.elementBytes;
}

/// Calls `visit(number, first element)` for each line along the innermost
/// dimension, in row-major order.
template <typename Visit>
void forEachLine(const HostOperand &operand, Visit visit) {
  if (elementsOf(operand) == 0)
    return;
  size_t outer = operand.sizes.empty() ? 0 : operand.sizes.size() - 1;
  std::vector<int64_t> position(outer);
  uint8_t *line = operand.data;
  for (uint64_t number = 0;; ++number) {
    visit(number, line);
    size_t dimension = outer;
    while (dimension > 0) {
      --dimension;
      int64_t step = operand.strides[dimension] * operand.elementBytes;
      line += step;
      if (++position[dimension] < operand.sizes[dimension])
        break;
      line -= step * operand.sizes[dimension];
      position[dimension] = 0;
      if (dimension == 0)
        return;
    }
    if (outer == 0)
      return;
  }
}

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_OPERANDLINES_H
