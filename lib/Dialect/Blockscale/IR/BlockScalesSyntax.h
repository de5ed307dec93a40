//===- BlockScalesSyntax.h - how text has a kernel's scales -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The directives of 'blockscale.kernel_matmul' for scales that instructions
// read, where one operand may have none: `scales(none, %b)`.

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKSCALESSYNTAX_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKSCALESSYNTAX_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/OpImplementation.h"

namespace blockscale {

using OptionalScales = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

/// [`scales` `(` those of a `,` those of b `)`], `none` for one of both.
inline mlir::ParseResult parseBlockScales(mlir::OpAsmParser &parser,
                                          OptionalScales &sfa,
                                          OptionalScales &sfb) {
  if (mlir::failed(parser.parseOptionalKeyword("scales")))
    return mlir::success();
  auto parseOne = [&](OptionalScales &scales) -> mlir::ParseResult {
    if (mlir::succeeded(parser.parseOptionalKeyword("none")))
      return mlir::success();
    return parser.parseOperand(scales.emplace());
  };
  return mlir::failure(parser.parseLParen() || parseOne(sfa) ||
                       parser.parseComma() || parseOne(sfb) ||
                       parser.parseRParen());
}

inline void printBlockScales(mlir::OpAsmPrinter &printer, mlir::Operation *,
                             mlir::Value sfa, mlir::Value sfb) {
  if (!sfa && !sfb)
    return;
  auto printOne = [&](mlir::Value scales) {
    if (scales)
      printer << scales;
    else
      printer << "none";
  };
  printer << "scales(";
  printOne(sfa);
  printer << ", ";
  printOne(sfb);
  printer << ")";
}

/// [`scales` the types of those that are there].
inline mlir::ParseResult parseBlockScaleTypes(mlir::OpAsmParser &parser,
                                              const OptionalScales &sfa,
                                              const OptionalScales &sfb,
                                              mlir::Type &sfaType,
                                              mlir::Type &sfbType) {
  if (!sfa && !sfb)
    return mlir::success();
  auto parseMap = [&](mlir::Type &type) {
    return parser.parseCustomTypeWithFallback(type, [&](mlir::Type &map) {
      map = TensorMapType::parse(parser);
      return mlir::success(static_cast<bool>(map));
    });
  };
  if (parser.parseKeyword("scales") || (sfa && parseMap(sfaType)) ||
      (sfa && sfb && parser.parseComma()))
    return mlir::failure();
  return sfb ? parseMap(sfbType) : mlir::success();
}

inline void printBlockScaleTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                 mlir::Value sfa, mlir::Value sfb,
                                 mlir::Type sfaType, mlir::Type sfbType) {
  if (!sfa && !sfb)
    return;
  printer << "scales ";
  if (sfa)
    mlir::cast<TensorMapType>(sfaType).print(printer);
  if (sfa && sfb)
    printer << ", ";
  if (sfb)
    mlir::cast<TensorMapType>(sfbType).print(printer);
}

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_BLOCKSCALESSYNTAX_H
