//===- BytesByHalf.cpp - bytes where no instruction takes them ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BytesByHalf.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"

#include <optional>

using namespace mlir;
using namespace blockscale;

/// The largest magnitude of a byte.
static int64_t largestByte(Type element) {
  return element.isUnsignedInteger() ? 255 : 128;
}

/// The longest K of which f32 holds every sum of products of bytes, where the
/// chip has no instruction of kind i8 and the result is none of integers. Bytes
/// along the rows are not read in 16 bits.
static std::optional<int64_t> longestSumOfBytes(MatmulOp op) {
  constexpr unsigned kByte = 8;
  constexpr int64_t kWholeNumbers = 1 << 24;
  Type a = op.getA().getType().getElementType(),
       b = op.getB().getType().getElementType();
  bool areRows = op.getA().getType().getOrder() != DataOrder::MNMajor &&
                 op.getB().getType().getOrder() != DataOrder::MNMajor;
  if (!a.isInteger(kByte) || !b.isInteger(kByte) || !areRows ||
      !isa<FloatType>(op.getResult().getType().getElementType()))
    return std::nullopt;
  bool hasKind =
      !hw::findSchemes(*getOperandType(a), *getOperandType(b), std::nullopt, 0,
                       /*sparse=*/false, getTarget(op))
           .empty();
  if (hasKind)
    return std::nullopt;
  return kWholeNumbers / (largestByte(a) * largestByte(b));
}

bool blockscale::areExactByHalf(MatmulOp op) {
  int64_t k = op.getA().getType().getShape().back();
  std::optional<int64_t> longest = longestSumOfBytes(op);
  return longest && !ShapedType::isDynamic(k) && k <= *longest;
}

std::string blockscale::halfForm(MatmulOp op) {
  std::optional<int64_t> longest = longestSumOfBytes(op);
  if (!longest || getMma(op))
    return "";
  return "; bytes are multiplied as bf16 of themselves where K is known and at "
         "most " +
         std::to_string(*longest) +
         ", so that f32 has every sum, or where the matmul allows for others "
         "to be rounded to f32 by naming that kind, mma(<kind = f16, a = bf16, "
         "b = bf16>)";
}
