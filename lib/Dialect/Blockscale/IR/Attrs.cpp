//===- Attrs.cpp - attributes of the dialect ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

#include "blockscale/Dialect/Blockscale/IR/BlockscaleEnums.cpp.inc"

#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"

void BlockscaleDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ScaleSpecAttr
//===----------------------------------------------------------------------===//

std::string ScaleSpecAttr::getText() const {
  return ::blockscale::print(getValue());
}

FailureOr<ScaleSpecAttr> ScaleSpecAttr::parseText(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text))
    return failure();
  return parseText(parser, text, loc);
}

FailureOr<ScaleSpecAttr> ScaleSpecAttr::parseText(AsmParser &parser,
                                                  StringRef text, SMLoc loc) {
  Result<ScaleSpec> spec = parseScaleSpec(std::string_view(text));
  if (!spec) {
    // Behind the opening quote; the offset never passes the text's end.
    const char *start = loc.getPointer() + 1;
    size_t offset = std::min(spec.why().place, text.size());
    return parser.emitError(SMLoc::getFromPointer(start + offset))
           << "illegal scale spec '" << text << "': " << spec.why().text;
  }
  return ScaleSpecAttr::get(parser.getContext(), *std::move(spec));
}

Attribute ScaleSpecAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ScaleSpecAttr> spec = parseText(parser);
  if (failed(spec) || parser.parseGreater())
    return {};
  return *spec;
}

void ScaleSpecAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}
