//===- PlanExpressions.cpp - affine expressions as text of plans ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExpressions.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

namespace {
struct Printed {
  std::string text;
  Binding binding;
};
} // namespace

static Printed printBound(AffineExpr expression);

std::string blockscale::printAt(AffineExpr expression, Binding needed) {
  Printed printed = printBound(expression);
  if (printed.binding < needed)
    return "(" + printed.text + ")";
  return printed.text;
}

static Printed printBound(AffineExpr expression) {
  static constexpr StringRef names[] = {
      "M", "N", "K", "batch", "num_sms", "max_clusters", "tokens"};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    assert(symbol.getPosition() < std::size(names) && "unknown symbol");
    return {names[symbol.getPosition()].str(), Binding::Atom};
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    Binding binding = constant.getValue() < 0 ? Binding::Sum : Binding::Atom;
    return {std::to_string(constant.getValue()), binding};
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  auto infix = [&](StringRef op, Binding binding) -> Printed {
    // Operators of one level group to the left, so the right side needs more.
    Binding right = binding == Binding::Sum ? Binding::Product : Binding::Atom;
    return {printAt(lhs, binding) + op.str() + printAt(rhs, right), binding};
  };
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return infix(" + ", Binding::Sum);
  case AffineExprKind::Mul:
    return infix(" * ", Binding::Product);
  case AffineExprKind::Mod:
    return infix(" % ", Binding::Product);
  case AffineExprKind::FloorDiv:
    return infix(" / ", Binding::Product);
  case AffineExprKind::CeilDiv:
    return {"ceildiv(" + printBound(lhs).text + ", " + printBound(rhs).text +
                ")",
            Binding::Atom};
  default:
    llvm_unreachable("dimensions do not occur in launch plans");
  }
}

std::string blockscale::printExpression(AffineExpr expression) {
  return printBound(expression).text;
}

std::vector<plan::Expression> blockscale::printResults(AffineMap map) {
  std::vector<plan::Expression> texts;
  for (AffineExpr result : map.getResults())
    texts.push_back(printExpression(result));
  return texts;
}

plan::Expression blockscale::printMinimum(AffineMap map) {
  std::string text;
  for (const std::string &result : printResults(map))
    text = text.empty() ? result : "min(" + text + ", " + result + ")";
  return text;
}
