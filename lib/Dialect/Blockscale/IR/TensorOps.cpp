//===- TensorOps.cpp - ops on tensors: assembly and verifiers -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockScalesSyntax.h"
#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// An error at a word that is none of an enum, with those that are.
template <typename Enum>
static ParseResult refuseWord(OpAsmParser &parser, SMLoc loc, StringRef what,
                              StringRef word, unsigned last) {
  InFlightDiagnostic error = parser.emitError(loc) << "unknown " << what << " '"
                                                   << word << "', expected ";
  llvm::interleaveComma(llvm::seq<unsigned>(0, last + 1), error,
                        [&](unsigned value) {
                          error << stringifyEnum(static_cast<Enum>(value));
                        });
  return error;
}

/// `(` word of an enum `)`.
template <typename Symbolize>
static auto parseWordInParens(OpAsmParser &parser, Symbolize symbolize,
                              StringRef what, unsigned last)
    -> FailureOr<std::decay_t<decltype(*symbolize(StringRef()))>> {
  StringRef word;
  if (parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word) || parser.parseRParen())
    return failure();
  auto value = symbolize(word);
  if (!value)
    return refuseWord<std::decay_t<decltype(*value)>>(parser, loc, what, word,
                                                      last);
  return *value;
}

/// A region that starts with the names of its arguments.
static ParseResult parseEpilogueRegion(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getF32Type();
  return parser.parseRegion(region, arguments, /*enableNameShadowing=*/true);
}

/// [`pairs`] `epilogue` `(` arguments `)` region, `activation` `(` keyword `)`,
/// or nothing.
static ParseResult parseEpilogue(OpAsmParser &parser, Region &region,
                                 UnitAttr &pairs, const OptionalOperand &c,
                                 const OptionalOperand &bias) {
  if (succeeded(parser.parseOptionalKeyword("pairs"))) {
    pairs = parser.getBuilder().getUnitAttr();
    return failure(parser.parseKeyword("epilogue") ||
                   parseEpilogueRegion(parser, region));
  }
  if (succeeded(parser.parseOptionalKeyword("epilogue")))
    return parseEpilogueRegion(parser, region);
  if (failed(parser.parseOptionalKeyword("activation")))
    return success();
  FailureOr<Activation> activation = parseWordInParens(
      parser, [](StringRef word) { return symbolizeActivation(word); },
      "activation", getMaxEnumValForActivation());
  if (failed(activation))
    return failure();
  Epilogue(region, c.has_value(), bias.has_value())
      .build(parser.getContext(), *activation);
  return success();
}

static void printEpilogue(OpAsmPrinter &printer, Operation *, Region &region,
                          UnitAttr pairs, Value c, Value bias) {
  Epilogue epilogue(region, bool(c), bool(bias), bool(pairs));
  if (epilogue.isSum())
    return;
  if (std::optional<Activation> activation = epilogue.getActivation()) {
    printer << "activation(" << stringifyActivation(*activation) << ")";
    return;
  }
  printer << (pairs ? "pairs epilogue(" : "epilogue(");
  llvm::interleaveComma(region.getArguments(), printer);
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

/// `rule` `(` rule `)`, or nothing for the OCP rule.
static ParseResult parseScaleRule(OpAsmParser &parser, ScaleRuleAttr &rule) {
  rule = ScaleRuleAttr::get(parser.getContext(), ScaleRule::Floor);
  if (failed(parser.parseOptionalKeyword("rule")))
    return success();
  FailureOr<ScaleRule> found = parseWordInParens(
      parser, [](StringRef word) { return symbolizeScaleRule(word); },
      "scale rule", getMaxEnumValForScaleRule());
  if (failed(found))
    return failure();
  rule = ScaleRuleAttr::get(parser.getContext(), *found);
  return success();
}

static void printScaleRule(OpAsmPrinter &printer, Operation *,
                           ScaleRuleAttr rule) {
  if (rule.getValue() != ScaleRule::Floor)
    printer << "rule(" << stringifyScaleRule(rule.getValue()) << ")";
}

/// `rounding` `(` mode [`,` `seed` `=` number] `)`, or nothing for ties to
/// even.
static ParseResult parseElementRounding(OpAsmParser &parser,
                                        ElementRoundingAttr &rounding,
                                        IntegerAttr &seed) {
  Builder &builder = parser.getBuilder();
  rounding =
      ElementRoundingAttr::get(builder.getContext(), ElementRounding::Even);
  if (failed(parser.parseOptionalKeyword("rounding")))
    return success();
  StringRef word;
  if (parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ElementRounding> mode = symbolizeElementRounding(word);
  if (!mode)
    return refuseWord<ElementRounding>(parser, loc, "rounding", word,
                                       getMaxEnumValForElementRounding());
  rounding = ElementRoundingAttr::get(builder.getContext(), *mode);
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("seed") || parser.parseEqual() ||
       parser.parseAttribute(seed, builder.getI64Type())))
    return failure();
  return parser.parseRParen();
}

static void printElementRounding(OpAsmPrinter &printer, Operation *,
                                 ElementRoundingAttr rounding,
                                 IntegerAttr seed) {
  if (rounding.getValue() == ElementRounding::Even && !seed)
    return;
  printer << "rounding(" << stringifyElementRounding(rounding.getValue());
  if (seed)
    printer << ", seed = " << seed.getInt();
  printer << ")";
}

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

/// `lowering` `(` attribute `)`, or the clauses that are short for one.
static ParseResult parseLowering(OpAsmParser &parser, LoweringAttr &lowering) {
  if (succeeded(parser.parseOptionalKeyword("lowering")))
    return failure(parser.parseLParen() || parser.parseAttribute(lowering) ||
                   parser.parseRParen());
  FailureOr<TensorCoreAttr> clauses = parseTensorCoreClauses(parser);
  if (failed(clauses))
    return failure();
  lowering = *clauses;
  return success();
}

static void printLowering(OpAsmPrinter &printer, Operation *,
                          LoweringAttr lowering) {
  if (lowering)
    lowering.printClauses(printer);
}

/// Global memory without its name, or any other type in full.
static ParseResult parseResultType(OpAsmParser &parser, Type &type) {
  return parser.parseCustomTypeWithFallback(type, [&](Type &memory) {
    memory = GlobalType::parse(parser);
    return success(static_cast<bool>(memory));
  });
}

static void printResultType(OpAsmPrinter &printer, Operation *, Type type) {
  if (auto memory = dyn_cast<GlobalType>(type))
    memory.print(printer);
  else
    printer << type;
}

/// The type of the sums follows from the instruction, and is not written.
static ParseResult parseSumsOfKind(OpAsmParser &, Type &sums,
                                   MmaAttr instruction) {
  sums = warpSumsOf(instruction);
  return success();
}

static void printSumsOfKind(OpAsmPrinter &, Operation *, Type, MmaAttr) {}

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.cpp.inc"

//===----------------------------------------------------------------------===//
// DequantizeOp
//===----------------------------------------------------------------------===//

LogicalResult DequantizeOp::verify() {
  if (failed(verifyNotGrouped(*this)))
    return failure();
  return verifySameShape(*this, getInput().getType(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// AssembleOp, DisassembleOp
//===----------------------------------------------------------------------===//

/// Checks one operand against the part of that name; either may be absent.
static LogicalResult verifyPart(AssembleOp op, StringRef name, Value operand,
                                RankedTensorType expected) {
  ScaledTensorType type = op.getResult().getType();
  if (!operand && !expected)
    return success();
  if (!operand)
    return op.emitOpError() << specName(type) << " needs operand '" << name
                            << "' of type " << expected;
  if (!expected)
    return op.emitOpError() << "operand '" << name << "' is given, but "
                            << specName(type) << " has none";
  auto found = cast<RankedTensorType>(operand.getType());
  if (found.getElementType() != expected.getElementType() ||
      !agree(found.getShape(), expected.getShape()))
    return op.emitOpError() << "expected operand '" << name << "' of type "
                            << expected << ", found " << found;
  return success();
}

LogicalResult AssembleOp::verify() {
  Result<TensorParts> parts = getTensorParts(getResult().getType());
  if (!parts)
    return emitOpError() << parts.why().text;
  return failure(
      failed(verifyPart(*this, "data", getData(), parts->data)) ||
      failed(verifyPart(*this, "scales", getScales(), parts->scales)) ||
      failed(verifyPart(*this, "zeros", getZeros(), parts->zeros)) ||
      failed(verifyPart(*this, "tensor_scale", getTensorScale(),
                        parts->tensorScale)) ||
      failed(verifyPart(*this, "metadata", getMetadata(), parts->metadata)));
}

LogicalResult DisassembleOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferredReturnTypes) {
  auto type = dyn_cast<ScaledTensorType>(operands.front().getType());
  if (!type)
    return emitOptionalError(location, "expected a scaled tensor");
  Result<TensorParts> parts = getTensorParts(type);
  if (!parts)
    return emitOptionalError(location, parts.why().text);
  llvm::append_range(inferredReturnTypes, parts->present());
  return success();
}

//===----------------------------------------------------------------------===//
// RelayoutOp
//===----------------------------------------------------------------------===//

LogicalResult RelayoutOp::verify() {
  if (failed(verifyNotGrouped(*this)))
    return failure();
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "changes no element type, but "
                         << from.getElementType() << " became "
                         << to.getElementType();
  if (from.getSpec() != to.getSpec())
    return emitOpError() << "changes no scale spec, but '"
                         << from.getSpec().getText() << "' became '"
                         << to.getSpec().getText() << "'";
  return verifySameShape(*this, from, to);
}

//===----------------------------------------------------------------------===//
// PruneOp, CompressOp
//===----------------------------------------------------------------------===//

LogicalResult PruneOp::verify() {
  int64_t keep = getKeep(), group = getGroup();
  if (group != 2 && group != 4 && group != 8 && group != 16)
    return emitOpError() << "expected groups of 2, 4, 8 or 16 elements, found "
                         << group;
  if (keep < 1 || keep >= group)
    return emitOpError() << "expected to keep 1 to " << group - 1 << " of "
                         << group << " elements, found " << keep;
  if (getPairs() && keep % 2 != 0)
    return emitOpError() << "keeps whole pairs, but " << keep << " is odd";
  int64_t k = getInput().getType().getShape().back();
  if (!ShapedType::isDynamic(k) && k % group != 0)
    return emitOpError() << "expected the last dimension to be a multiple of "
                            "the group of "
                         << group << ", found " << k;
  return success();
}

/// Whether an op that only adds or drops metadata can go from one to the other.
/// A tensor that has neither scales nor metadata has no layout of them.
static bool keepsStorage(ScaledTensorType from, ScaledTensorType to) {
  auto hasNoLayout = [](ScaledTensorType type) {
    const ScaleSpec &spec = type.getSpec().getValue();
    return spec.isUnscaled() && !spec.isSparse();
  };
  return from.getOrder() == to.getOrder() &&
         (getScaleLayout(from) == getScaleLayout(to) || hasNoLayout(from) ||
          hasNoLayout(to));
}

/// Checks that nothing but the sparsity of a tensor may change.
static LogicalResult verifySparsityAlone(Operation *op, ScaledTensorType from,
                                         ScaledTensorType to) {
  if (from.getElementType() != to.getElementType())
    return op->emitOpError()
           << "changes no element type, but " << from.getElementType()
           << " became " << to.getElementType();
  if (keepsStorage(from, to))
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "changes neither 'layout' nor 'order'; "
                                "'blockscale.relayout' does";
  // The layout that the sparse type names may be that of its metadata alone.
  for (auto [sparse, other] : {std::pair(from, to), {to, from}})
    if (sparse.getLayout() != getScaleLayout(sparse) &&
        sparse.getOrder() == other.getOrder())
      error << ": the scales of " << specName(sparse) << ", which no "
            << "instruction reads, lie in layout '"
            << stringifyScaleLayout(getScaleLayout(sparse))
            << "' beside its metadata; expected it for " << specName(other)
            << ", too";
  return error;
}

LogicalResult CompressOp::verify() {
  if (failed(verifyNotGrouped(*this)))
    return failure();
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  if (failed(verifySparsityAlone(*this, from, to)))
    return failure();
  const ScaleSpec &sparse = to.getSpec().getValue();
  if (!sparse.isSparse())
    return emitOpError() << "expected a result with a sparse spec, found "
                         << specName(to);
  if (hasRealZeros(to))
    return emitOpError()
           << "drops elements that are 0, which no code of a tile is under a "
              "zero point in real units, as those of '"
           << to.getSpec().getText()
           << "' are; expected zero points that count in steps of the scale, "
              "such as 'int8'";
  ScaleSpec dense = denseForm(sparse);
  if (from.getSpec().getValue() != dense && dense.isUnscaled())
    return emitOpError() << "expected an input without a spec, the dense form "
                            "of '"
                         << to.getSpec().getText() << "', found "
                         << specName(from);
  if (from.getSpec().getValue() != dense)
    return emitOpError() << "expected an input of spec '"
                         << blockscale::print(dense) << "', the dense form of '"
                         << to.getSpec().getText() << "', found "
                         << specName(from);
  return verifySameShape(*this, from, to);
}

LogicalResult DensifyOp::verify() {
  if (failed(verifyNotGrouped(*this)))
    return failure();
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  if (failed(verifySparsityAlone(*this, from, to)))
    return failure();
  ScaleSpec expected = denseForm(from.getSpec().getValue());
  const ScaleSpec &found = to.getSpec().getValue();
  if (expected.zero && from.getSpec().getValue().isSparse())
    return emitOpError()
           << "stores a 0 for what was pruned, which no code is where the zero "
              "point of its tile is no code, as one of '"
           << from.getSpec().getText()
           << "' may be; 'blockscale.dequantize' gives the values of both";
  // Whatever divides the tile will do.
  bool divides = expected.isTile() && found.isTile() &&
                 expected.columns->size % found.columns->size == 0;
  if (found != expected && expected.isUnscaled())
    return emitOpError() << "expected a result without a spec, like its input "
                            "without the sparsity, found "
                         << specName(to);
  std::string widest = blockscale::print(expected);
  if (divides)
    expected.columns = found.columns;
  if (found != expected)
    return emitOpError() << "expected a result of spec '" << widest
                         << "', or of a tile along K that divides its tile, "
                            "found "
                         << specName(to);
  return verifySameShape(*this, from, to);
}

//===----------------------------------------------------------------------===//
// DimOp
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  int64_t rank = getInput().getType().getRank();
  int64_t dimension = getDimension();
  if (dimension < 0 || dimension >= rank)
    return emitOpError() << "expected a dimension from 0 to " << rank - 1
                         << ", found " << dimension;
  return success();
}
