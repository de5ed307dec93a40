//===- KnownNumbers.cpp - what is known of numbers of a kernel ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

/// Places in a tile and sizes are a few operations deep; without an end, values
/// that share operands would be asked for again and again.
static constexpr unsigned kDepth = 8;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) ||
      constant.getSignificantBits() > 64)
    return std::nullopt;
  return constant.getSExtValue();
}

/// The loop that counts by `value`; null if there is none.
static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto loop =
      dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && loop.getInductionVar() == value ? loop : scf::ForOp();
}

/// What wraps round is one all the same, since `divisor` is a power of two.
static bool isMultipleOf(Value value, int64_t divisor, unsigned depth) {
  if (std::optional<int64_t> constant = constantOf(value))
    return *constant % divisor == 0;
  if (divisor == 1)
    return true;
  if (depth == 0)
    return false;
  auto isOne = [&](Value operand) {
    return isMultipleOf(operand, divisor, depth - 1);
  };
  if (scf::ForOp loop = loopOf(value))
    return isOne(loop.getLowerBound()) && isOne(loop.getStep());
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](auto sum) { return isOne(sum.getLhs()) && isOne(sum.getRhs()); })
      .Case([&](arith::MulIOp product) {
        std::optional<int64_t> factor = constantOf(product.getRhs());
        if (!factor)
          return isOne(product.getLhs()) || isOne(product.getRhs());
        int64_t rest =
            divisor /
            std::min(divisor, *factor == 0 ? divisor : *factor & -*factor);
        return isMultipleOf(product.getLhs(), rest, depth - 1);
      })
      .Case([&](arith::SelectOp select) {
        return isOne(select.getTrueValue()) && isOne(select.getFalseValue());
      })
      .Case([&](arith::ShRSIOp halves) {
        std::optional<int64_t> bits = constantOf(halves.getRhs());
        constexpr int64_t kMost = 16;
        return bits && *bits >= 0 && *bits <= kMost &&
               isMultipleOf(halves.getLhs(), divisor << *bits, depth - 1);
      })
      .Default(false);
}

bool blockscale::isMultipleOf(Value value, int64_t divisor) {
  return llvm::isPowerOf2_64(divisor) && ::isMultipleOf(value, divisor, kDepth);
}

/// Whether `value` is a place or a part of one: sums and products of such are
/// places in a tensor, too, whose sizes they do not exceed by more than a tile.
static bool isPlace(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = constantOf(value))
    return *constant >= 0;
  if (depth == 0)
    return false;
  if (scf::ForOp loop = loopOf(value))
    return isPlace(loop.getLowerBound(), depth - 1);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<TileCoordinatesOp, ClusterRankOp, gpu::ThreadIdOp>(
          [](auto) { return true; })
      .Case([&](arith::IndexCastUIOp cast) {
        return isPlace(cast.getIn(), depth - 1);
      })
      .Case<arith::AddIOp, arith::MulIOp, arith::DivUIOp>([&](auto both) {
        return isPlace(both.getLhs(), depth - 1) &&
               isPlace(both.getRhs(), depth - 1);
      })
      .Case([&](arith::RemUIOp rest) {
        return isPlace(rest.getLhs(), depth - 1);
      })
      .Case([&](arith::SelectOp select) {
        return isPlace(select.getTrueValue(), depth - 1) &&
               isPlace(select.getFalseValue(), depth - 1);
      })
      .Default(false);
}

static std::optional<int64_t> largestOf(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = constantOf(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](arith::SubIOp rest) -> std::optional<int64_t> {
        if (!isPlace(rest.getRhs(), depth - 1))
          return std::nullopt;
        return largestOf(rest.getLhs(), depth - 1);
      })
      .Case([&](arith::SelectOp select) -> std::optional<int64_t> {
        auto first = largestOf(select.getTrueValue(), depth - 1);
        auto second = largestOf(select.getFalseValue(), depth - 1);
        if (!first || !second)
          return std::nullopt;
        return std::max(*first, *second);
      })
      .Default(std::optional<int64_t>());
}

std::optional<int64_t> blockscale::largestOf(Value value) {
  return ::largestOf(value, kDepth);
}
