//===- HardwareOperand.cpp - what instructions read of an operand ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HardwareOperand.h"

using namespace blockscale;

hw::MmaKind blockscale::unscaledKind(hw::OperandType element) {
  if (element == hw::OperandType::tf32())
    return hw::MmaKind::TF32;
  if (element == hw::OperandType::uint8() || element == ElementFormat::INT8)
    return hw::MmaKind::I8;
  bool isHalf = element == ElementFormat::F16 || element == ElementFormat::BF16;
  return isHalf ? hw::MmaKind::F16 : hw::MmaKind::F8F6F4;
}

hw::MmaKind blockscale::closestKind(const HardwareOperand &a,
                                    const HardwareOperand &b) {
  if (!a.scale)
    return unscaledKind(a.element);
  bool fp4 = a.element == ElementFormat::E2M1 && b.element == a.element &&
             a.pattern != hw::SparsePattern::TwoOfFour;
  return fp4 ? hw::MmaKind::MXF4NVF4 : hw::MmaKind::MXF8F6F4;
}
