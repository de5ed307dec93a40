//===- Types.cpp - types of the dialect ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Formats/Codebook.h"
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
// CodebookType
//===----------------------------------------------------------------------===//

LogicalResult CodebookType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef name) {
  Result<NumberSpec> spec = parseNumberSpec(std::string_view(name));
  if (!spec)
    return emitError() << spec.why().text;
  if (auto why = whyNotCodebookElements(*spec))
    return emitError() << why->text;
  std::string expected = blockscale::print(*spec);
  if (name != expected)
    return emitError() << "codebook '" << name << "' is spelled '" << expected
                       << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// ScaledTensorType
//===----------------------------------------------------------------------===//

ShapedType ScaledTensorType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                       Type elementType) const {
  return ScaledTensorType::get(shape.value_or(getShape()), elementType,
                               getSpec(), getLayout(), getOrder());
}

/// Elements of the last dimension per scale, pruned ones included; 0 if the
/// scale is for all of them, or there is none. Specs count kept elements.
static int64_t scaledElements(const ScaleSpec &spec) {
  if (!spec.isTile())
    return 0;
  int64_t kept = spec.columns->size;
  return spec.isSparse() ? kept / spec.keepN * spec.ofM : kept;
}

/// The scale spec of a predefined data type, whose elements must be those of
/// the tensor.
static FailureOr<ScaleSpecAttr> namedSpec(AsmParser &parser, SMLoc loc,
                                          const NamedDataType &named,
                                          Type elementType) {
  NumberSpec expected = *parseNumberSpec(named.number);
  std::optional<NumberSpec> found = getNumberSpec(elementType);
  if (!found || *found != expected) {
    InFlightDiagnostic diag = parser.emitError(loc)
                              << "'" << StringRef(named.name)
                              << "' has elements of '"
                              << blockscale::print(expected) << "'";
    Type element = getBuiltinType(parser.getContext(), expected);
    if (expected.isCodebook())
      element =
          CodebookType::get(parser.getContext(), blockscale::print(expected));
    if (element)
      return diag << ", which are " << element << "; found " << elementType;
    return diag << ", which no builtin type holds; found " << elementType;
  }
  ScaleSpec spec;
  if (!named.scale.empty())
    spec = *parseScaleSpec(named.scale);
  return ScaleSpecAttr::get(parser.getContext(), spec);
}

/// Parses a spec or the name of a data type, first, then `layout = L` and
/// `order = O`, each at most once and in any order; all with a comma in front.
static ParseResult parseParameters(AsmParser &parser, Type elementType,
                                   ScaleSpecAttr &spec, ScaleLayout &layout,
                                   DataOrder &order) {
  bool hasLayout = false, hasOrder = false, isFirst = true;
  while (succeeded(parser.parseOptionalComma())) {
    std::string text;
    SMLoc start = parser.getCurrentLocation();
    if (std::exchange(isFirst, false) &&
        succeeded(parser.parseOptionalString(&text))) {
      const NamedDataType *named = findDataType(text);
      FailureOr<ScaleSpecAttr> parsed =
          named ? namedSpec(parser, start, *named, elementType)
                : ScaleSpecAttr::parseText(parser, text, start);
      if (failed(parsed))
        return failure();
      spec = *parsed;
      continue;
    }
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
  ScaleLayout layout = ScaleLayout::Plain;
  DataOrder order = DataOrder::KMajor;
  SMLoc loc = parser.getCurrentLocation();
  auto spec = ScaleSpecAttr::get(parser.getContext(), ScaleSpec());
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(elementType) ||
      parseParameters(parser, elementType, spec, layout, order) ||
      parser.parseGreater())
    return {};
  return ScaledTensorType::getChecked([&] { return parser.emitError(loc); },
                                      parser.getContext(), shape, elementType,
                                      spec, layout, order);
}

void ScaledTensorType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (std::string text = getSpec().getText(); !text.empty())
    printer << ", \"" << text << "\"";
  if (getLayout() != ScaleLayout::Plain)
    printer << ", layout = " << stringifyScaleLayout(getLayout());
  if (getOrder() != DataOrder::KMajor)
    printer << ", order = " << stringifyDataOrder(getOrder());
  printer << ">";
}

/// Why the scales of a tensor cannot lie in the tiles of `layout`, or its
/// metadata in the order that goes with those of 128 x 4.
static std::optional<Reason> whyNotTiled(const ScaleSpec &spec,
                                         ScaleLayout layout) {
  std::string name = "layout '" + stringifyScaleLayout(layout).str() + "'";
  bool holdsMetadata = layout == ScaleLayout::Tiled128x4;
  if (spec.isSparse() && !holdsMetadata)
    return name + " is of scales alone, but the tensor has metadata too; "
                  "expected 'tiled_128x4'";
  if (!spec.isTile() && spec.isSparse())
    return std::nullopt;
  if (spec.isUnscaled())
    return holdsMetadata
               ? name + " is of scales and metadata, but the tensor has neither"
               : name + " is of scales, but the tensor has none";
  std::string text = ::blockscale::print(spec);
  if (!spec.isTile())
    return name + " holds scales of tiles along K, but '" + text + "' has none";
  // Beside metadata they are plain.
  if (!scaleFormat(*spec.scale) && !spec.isSparse())
    return name +
           " holds scales of one byte (e8m0, e4m3fn, e5m3fn), but those "
           "of '" +
           text + "' are " + ::blockscale::print(*spec.scale);
  return std::nullopt;
}

/// Why the scales of a tensor cannot lie by groups along K, a matrix of them
/// for each.
static std::optional<Reason> whyNotByGroups(const ScaleSpec &spec,
                                            size_t rank) {
  if (rank != 2)
    return "layout 'grouped' is of groups along K of one matrix; expected 2 "
           "dimensions, found " +
           std::to_string(rank);
  if (!spec.coversK() || spec.isSparse() || spec.zero)
    return "layout 'grouped' is of scales that cover all of K and have neither "
           "metadata nor zero points beside them, as those of 'float32_t0'; "
           "found " +
           (spec.isUnscaled() && !spec.isSparse()
                ? "none"
                : "'" + ::blockscale::print(spec) + "'");
  return std::nullopt;
}

static LogicalResult
verifySparsity(function_ref<InFlightDiagnostic()> emitError, StringRef text,
               const ScaleSpec &spec, int64_t k) {
  if (!spec.isSparse())
    return success();
  // Two groups, whose metadata share a byte.
  int64_t unit = 2 * spec.ofM;
  if (!spec.isTile() && !ShapedType::isDynamic(k) && k % unit != 0)
    return emitError() << "expected the last dimension, K, to be a multiple of "
                       << unit << ", two groups of '" << text << "', found "
                       << k;
  if (!spec.isTile() || spec.columns->size % spec.keepN == 0)
    return success();
  return emitError() << "a tile of " << spec.columns->size
                     << " kept elements is no whole number of groups of "
                     << spec.keepN << " of " << spec.ofM << " in '" << text
                     << "'";
}

/// Why a tensor cannot have codebook elements.
static std::optional<Reason> whyNotOfTables(const ScaleSpec &spec,
                                            DataOrder order) {
  if (spec.isSparse())
    return Reason("the metadata of codebook elements are the numbers of their "
                  "tables, so that none are left for sparsity; expected a "
                  "dense tensor");
  if (order == DataOrder::MNMajor)
    return Reason("order 'mn_major' is for elements of 8 and 16 bits, found "
                  "indices of codebooks");
  return std::nullopt;
}

LogicalResult
ScaledTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<int64_t> shape, Type elementType,
                         ScaleSpecAttr specAttr, ScaleLayout layout,
                         DataOrder order) {
  if (shape.size() != 2 && shape.size() != 3)
    return emitError() << "expected 2 dimensions, or 3 with a batch dimension, "
                          "found "
                       << shape.size();
  // Builders of other tools write dynamic sizes as -1.
  for (int64_t size : shape)
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "expected sizes of at least 0, or "
                            "'ShapedType::kDynamic' for a dynamic one, found "
                         << size;
  const ScaleSpec &spec = specAttr.getValue();
  std::optional<NumberSpec> number = getNumberSpec(elementType);
  if (elementType.isSignedInteger())
    return emitError() << "integers with a sign are signless ones here, as in "
                       << IntegerType::get(elementType.getContext(),
                                           elementType.getIntOrFloatBitWidth())
                       << "; found " << elementType;
  if (!number || (elementType.isF32() && spec.isUnscaled()))
    return emitError() << "expected elements that are floats or integers of 2 "
                          "to 8 bits, '!blockscale.codebook' or, without "
                          "scales, f16, bf16 or tf32, found "
                       << elementType;
  constexpr unsigned kScaledBits = 8;
  if (!spec.isUnscaled() && !number->isCodebook() &&
      number->bits() > kScaledBits)
    return emitError() << "elements with scales have at most 8 bits, found "
                       << elementType
                       << "; only elements without scales may have more";
  if (std::optional<Reason> reason = whyNotDataType(*number, spec))
    return emitError() << reason->text;
  if (number->isCodebook())
    if (std::optional<Reason> reason = whyNotOfTables(spec, order))
      return emitError() << reason->text;
  int64_t k = shape.back(), tile = scaledElements(spec);
  if (failed(verifySparsity(emitError, specAttr.getText(), spec, k)))
    return failure();
  if (tile != 0 && !ShapedType::isDynamic(k) && k % tile != 0)
    return emitError() << "expected the last dimension, K, to be a multiple of "
                       << tile << ", the tile of '" << specAttr.getText()
                       << "', found " << k;
  if (layout == ScaleLayout::Grouped128x4 && shape.size() != 2)
    return emitError() << "layout 'grouped_128x4' is of groups of rows of one "
                          "matrix; expected 2 dimensions, found "
                       << shape.size();
  if (layout != ScaleLayout::Plain)
    if (std::optional<Reason> reason = layout == ScaleLayout::Grouped
                                           ? whyNotByGroups(spec, shape.size())
                                           : whyNotTiled(spec, layout))
      return emitError() << reason->text;
  auto isWhole = [&] {
    return elementType.getIntOrFloatBitWidth() == 8 || elementType.isF16() ||
           elementType.isBF16();
  };
  if (order == DataOrder::MNMajor && !isWhole())
    return emitError()
           << "order 'mn_major' is for elements of 8 and 16 bits, found "
           << elementType;
  return success();
}

bool ScaledTensorType::hasMetadata() const {
  return getSpec().getValue().isSparse() || isa<CodebookType>(getElementType());
}

int64_t ScaledTensorType::getKTile() const {
  return scaledElements(getSpec().getValue());
}

int64_t ScaledTensorType::getRowTile() const {
  const ScaleSpec &spec = getSpec().getValue();
  if (spec.isTensor())
    return 0;
  return spec.rows ? spec.rows->size : 1;
}
