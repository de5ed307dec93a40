//===- TensorOps.cpp - ops on tensors -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// bias `(` operand `)` [`row` | `column`], or nothing.
static ParseResult parseBias(OpAsmParser &parser, OptionalOperand &bias,
                             BiasKindAttr &kind) {
  kind = BiasKindAttr::get(parser.getContext(), BiasKind::Column);
  if (failed(parser.parseOptionalKeyword("bias")))
    return success();
  bias.emplace();
  if (parser.parseLParen() || parser.parseOperand(*bias) ||
      parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("row")))
    kind = BiasKindAttr::get(parser.getContext(), BiasKind::Row);
  else
    (void)parser.parseOptionalKeyword("column");
  return success();
}

static void printBias(OpAsmPrinter &printer, Operation *, Value bias,
                      BiasKindAttr kind) {
  if (!bias)
    return;
  printer << "bias(" << bias << ")";
  if (kind.getValue() == BiasKind::Row)
    printer << " row";
}

/// The types of `a` and `b`, then of `c` and `bias` where they are given.
static ParseResult parseMatmulTypes(OpAsmParser &parser,
                                    const OptionalOperand &c,
                                    const OptionalOperand &bias, Type &aType,
                                    Type &bType, Type &cType, Type &biasType) {
  if (parser.parseType(aType) || parser.parseComma() || parser.parseType(bType))
    return failure();
  if (c && (parser.parseComma() || parser.parseType(cType)))
    return failure();
  if (bias && (parser.parseComma() || parser.parseType(biasType)))
    return failure();
  return success();
}

static void printMatmulTypes(OpAsmPrinter &printer, Operation *, Value c,
                             Value bias, Type aType, Type bType, Type cType,
                             Type biasType) {
  printer << aType << ", " << bType;
  if (c)
    printer << ", " << cType;
  if (bias)
    printer << ", " << biasType;
}

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.cpp.inc"

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() { return success(); }
