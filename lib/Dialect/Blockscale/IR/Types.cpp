//===- Types.cpp - types of the dialect ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.cpp.inc"

void BlockscaleDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ScaledTensorType
//===----------------------------------------------------------------------===//

ShapedType ScaledTensorType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                 Type elementType) const {
  return ScaledTensorType::get(shape.value_or(getShape()), elementType, getSpec(),
                         getLayout(), getOrder());
}

/// Parses `, layout = L` or `, order = O`, each at most once and in any order.
static ParseResult parseLayoutAndOrder(AsmParser &parser, ScaleLayout &layout,
                                       DataOrder &order) {
  bool hasLayout = false, hasOrder = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    bool isLayout = key == "layout";
    if (!isLayout && key != "order")
      return parser.emitError(loc)
             << "expected 'layout' or 'order', found '" << key << "'";
    bool &seen = isLayout ? hasLayout : hasOrder;
    if (seen)
      return parser.emitError(loc) << "'" << key << "' is given twice";
    seen = true;
    if (isLayout) {
      FailureOr<ScaleLayout> value = FieldParser<ScaleLayout>::parse(parser);
      if (failed(value))
        return failure();
      layout = *value;
    } else {
      FailureOr<DataOrder> value = FieldParser<DataOrder>::parse(parser);
      if (failed(value))
        return failure();
      order = *value;
    }
  }
  return success();
}

Type ScaledTensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  std::string text;
  ScaleLayout layout = ScaleLayout::Plain;
  DataOrder order = DataOrder::KMajor;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseString(&text) || parseLayoutAndOrder(parser, layout, order) ||
      parser.parseGreater())
    return {};
  auto spec = ScaleSpecAttr::get(parser.getContext(), text);
  return ScaledTensorType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), shape, elementType, spec,
                                layout, order);
}

void ScaledTensorType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", \"" << getSpec().getText() << "\"";
  if (getLayout() != ScaleLayout::Plain)
    printer << ", layout = " << stringifyScaleLayout(getLayout());
  if (getOrder() != DataOrder::KMajor)
    printer << ", order = " << stringifyDataOrder(getOrder());
  printer << ">";
}

LogicalResult ScaledTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 ScaleSpecAttr spec, ScaleLayout layout,
                                 DataOrder order) {
  if (shape.size() != 2 && shape.size() != 3)
    return emitError() << "expected 2 dimensions, or 3 with a batch dimension, "
                          "found "
                       << shape.size();
  return success();
}
