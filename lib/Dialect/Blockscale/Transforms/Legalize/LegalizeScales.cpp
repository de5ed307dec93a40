//===- LegalizeScales.cpp - choose the kind for each matmul ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A matmul whose scale specs the tensor core executes directly gets its
// instruction; any other gets a diagnostic that names the obstacle.

#include "../Kernels/MatmulSource.h"
#include "BytesByHalf.h"
#include "HardwareOperand.h"
#include "OperandReasons.h"
#include "ScaleReasons.h"
#include "SparseOperands.h"
#include "SparseZeros.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace blockscale {
#define GEN_PASS_DEF_LEGALIZESCALES
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct LegalizeScales : blockscale::impl::LegalizeScalesBase<LegalizeScales> {
  using LegalizeScalesBase::LegalizeScalesBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    LegalizeScalesBase::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
    registerKernelSources(registry);
  }
};
} // namespace

/// What there is to lay out of an operand for instructions: scales of tiles,
/// metadata that they read or nothing.
static StringRef laidOut(ScaledTensorType type, ScaledTensorType other) {
  if (hasBlockScales(type, other))
    return "scales";
  return sparsePattern(type) ? "metadata" : "";
}

/// What it is of the other operand that no instruction reads its scales beside;
/// empty if none does beside any.
static std::string besideOf(ScaledTensorType type, ScaledTensorType other) {
  std::string text;
  if (hasPromotedScales(type))
    return text;
  llvm::raw_string_ostream stream(text);
  stream << " beside elements of '" << other.getElementType() << "'";
  if (std::string spec = other.getSpec().getText(); !spec.empty())
    stream << " under scales '" << spec << "'";
  return text;
}

/// Whether it has scales of tiles that instructions of some chips alone read.
static bool hasRareScales(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.isTile() && scaleFormat(*spec.scale) == ElementFormat::UE5M3;
}

/// The same with such scales laid out for instructions.
static ScaledTensorType inTiles(ScaledTensorType type) {
  if (!hasRareScales(type))
    return type;
  return ScaledTensorType::get(type.getShape(), type.getElementType(),
                               type.getSpec(), ScaleLayout::Tiled128x4,
                               type.getOrder());
}

/// Whether sums are multiplied by scales for the layout alone that they have,
/// while instructions of the chip read them in tiles.
static bool isReadInTiles(MatmulOp op, ScaledTensorType type,
                          ScaledTensorType other) {
  if (!hasRareScales(type) || !hasPromotedScales(type, other) ||
      hasPromotedScales(inTiles(type), inTiles(other)))
    return false;
  constexpr unsigned kShortest = 16;
  hw::OperandType element(ElementFormat::E2M1);
  return !hw::findSchemes(element, element,
                          scaleFormat(*type.getSpec().getValue().scale),
                          kShortest, /*sparse=*/false, getTarget(op))
              .empty();
}

/// The kind that the matmul names, or has to have.
static std::optional<hw::MmaKind> wishedKind(MatmulOp op) {
  if (MmaAttr mma = getMma(op))
    return mma.getKind();
  return areExactByHalf(op) ? std::optional(hw::MmaKind::F16) : std::nullopt;
}

static FailureOr<HardwareOperand> classify(MatmulOp op, ScaledTensorType type,
                                           ScaledTensorType other,
                                           StringRef name) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (auto why = whyNotDirect(spec, type.getElementType())) {
    op.emitOpError() << "operand '" << name << "' with scales '" << print(spec)
                     << "': " << why->text;
    return failure();
  }
  std::optional<hw::OperandType> element =
      storedElements(type, other, wishedKind(op));
  if (!element) {
    op.emitOpError() << "operand '" << name << "' has elements of "
                     << type.getElementType() << ", which no "
                     << (spec.isTile() ? "block-scaled " : "")
                     << "kind multiplies; expected f8E4M3FN, f8E5M2, f6E2M3FN, "
                        "f6E3M2FN or f4E2M1FN";
    return failure();
  }
  bool isForTiles = isReadInTiles(op, type, other);
  StringRef parts = isForTiles ? "scales" : laidOut(type, other);
  ScaleLayout layout = type.getLayout();
  // 'blockscale-select-schedule' says where it is legal.
  bool isRowPerLane = name == "a" && layout == ScaleLayout::Tiled128x16;
  bool isGrouped = (name == "a" || op.isGroupedAlongK()) &&
                   layout == ScaleLayout::Grouped128x4;
  if (!parts.empty() && layout != ScaleLayout::Tiled128x4 && !isRowPerLane &&
      !isGrouped) {
    InFlightDiagnostic diag =
        op.emitOpError() << "operand '" << name << "' has its " << parts
                         << " in layout '" << stringifyScaleLayout(layout)
                         << "'; the tensor core reads 'tiled_128x4' (the host "
                            "packs them so; name that layout in the type)";
    if (layout == ScaleLayout::Tiled128x16)
      diag << ", and 'tiled_128x16' of the scales of 'a' only (PTX ISA 9.4, "
              "bit 26 of the instruction descriptor [T])";
    return failure();
  }
  bool isPlain = getScaleLayout(type) == ScaleLayout::Plain;
  // Beside a sparse operand no layout makes those of others legal.
  int64_t added = hw::instructionK(hw::MmaKind::F8F6F4, /*sparse=*/true);
  bool canBePlain = !other.getSpec().getValue().isSparse() ||
                    (unscaledKind(*element) == hw::MmaKind::F8F6F4 &&
                     type.getKTile() >= added);
  bool isPromoted = !isForTiles && hasPromotedScales(type, other);
  if (isPromoted && !isPlain && canBePlain)
    return op.emitOpError()
           << "operand '" << name << "' has its scales in layout '"
           << stringifyScaleLayout(layout) << "'; no instruction reads scales '"
           << print(spec) << "' of elements of " << type.getElementType()
           << besideOf(type, other)
           << ", and those by which sums are multiplied in registers lie in "
              "layout 'plain'";
  if (isPromoted)
    return HardwareOperand{*element, std::nullopt, 0, sparsePattern(type),
                           /*isPromoted=*/true};
  std::optional<ElementFormat> scale;
  if (spec.isTile())
    scale = scaleFormat(*spec.scale);
  return HardwareOperand{*element, scale,
                         static_cast<unsigned>(type.getKTile()),
                         sparsePattern(type)};
}

/// Whether 'blockscale-select-schedule' has completed instruction and schedule;
/// a second run would exchange the operands of a swapped product again.
static bool isScheduled(MatmulOp op) {
  return getMma(op) && getMma(op).getM() && getSchedule(op) &&
         getSchedule(op).getSwapOperands();
}

/// The best of `schemes`, or the one of the kind that the matmul names.
static FailureOr<hw::Scheme> chooseScheme(MatmulOp op,
                                          ArrayRef<hw::Scheme> schemes) {
  if (!getMma(op))
    return schemes.front();
  hw::MmaKind wish = getMma(op).getKind();
  std::string legal;
  for (const hw::Scheme &scheme : schemes) {
    if (scheme.kind == wish)
      return scheme;
    legal += (legal.empty() ? "'" : ", '") +
             std::string(hw::kindName(scheme.kind)) + "'";
  }
  return op.emitOpError() << "names kind '" << StringRef(hw::kindName(wish))
                          << "', which does not multiply these operands; legal "
                             "kinds are "
                          << legal;
}

/// To be appended to a refusal: what elements that no instruction takes are
/// multiplied as.
static std::string storedForms(MatmulOp op) {
  std::string text;
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  for (auto [name, type, other] :
       {std::tuple("a", a, b), std::tuple("b", b, a)})
    if (std::optional<packing::Recoding> recoding =
            recodingOf(type, other, wishedKind(op))) {
      llvm::raw_string_ostream stream(text);
      stream << "; the elements of '" << name << "', '" << type.getElementType()
             << "', are multiplied as " << StringRef(formatName(recoding->to));
    }
  return text;
}

/// The schemes that multiply the operands and skip the pattern of a sparse A.
static std::vector<hw::Scheme> schemesFor(const HardwareOperand &a,
                                          const HardwareOperand &b,
                                          hw::Target target) {
  std::vector<hw::Scheme> schemes =
      hw::findSchemes(a.element, b.element, a.scale, a.scaleSpan,
                      a.pattern.has_value(), target);
  llvm::erase_if(schemes, [&](const hw::Scheme &scheme) {
    return a.pattern && hw::sparsePattern(scheme.kind) != *a.pattern;
  });
  return schemes;
}

/// Gives operands without scales that instructions read what multiplies them
/// beside such, or where there is no tensor memory: elements of kinds with
/// scales, which are 1 then.
static void useScalesOfOne(HardwareOperand &a, HardwareOperand &b,
                           hw::Target target) {
  bool isAlone = !a.scale != !b.scale;
  if (!areNarrow(a, b) || (a.scale && b.scale) ||
      (hw::hasTensorMemory(target) && !isAlone))
    return;
  constexpr unsigned kBlock = 32;
  const HardwareOperand &scaled = a.scale ? a : b;
  ElementFormat format = scaled.scale.value_or(ElementFormat::UE8M0);
  unsigned span = a.pattern ? kBlock * hw::kSparseCompression : kBlock;
  if (scaled.scale)
    span = scaled.scaleSpan;
  for (HardwareOperand *operand : {&a, &b}) {
    operand->scale = format;
    operand->scaleSpan = span;
  }
}

/// The longest tile whose scales an instruction reads and which divides the
/// tiles of both operands, whose scales the host repeats where they are longer;
/// if there is none the one that comes closest.
static unsigned commonSpan(const HardwareOperand &a, const HardwareOperand &b,
                           hw::Target target) {
  constexpr unsigned kLongest = 32;
  unsigned longest = a.pattern ? kLongest * hw::kSparseCompression : kLongest;
  longest = std::min({longest, a.scaleSpan, b.scaleSpan});
  HardwareOperand read = a;
  for (read.scaleSpan = longest; read.scaleSpan > 1; read.scaleSpan /= 2)
    if (!schemesFor(read, b, target).empty())
      return read.scaleSpan;
  return longest;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a matmul and the instructions that multiply them.
struct Choice {
  HardwareOperand a, b;
  std::vector<hw::Scheme> schemes;
  /// Why there are none.
  std::optional<Reason> why;
};
} // namespace

/// What can only be said of both operands where instructions read the scales of
/// one alone.
static LogicalResult verifyScalesOfOne(MatmulOp op, const HardwareOperand &a,
                                       const HardwareOperand &b) {
  if (!a.scale == !b.scale)
    return success();
  StringRef scaled = a.scale ? "a" : "b", other = a.scale ? "b" : "a";
  hw::OperandType element = a.scale ? b.element : a.element;
  if (!areNarrow(a, b))
    return op.emitOpError()
           << "operand '" << scaled << "' has scales of tiles along K and '"
           << other << "' has none; beside such scales elements without have "
           << "scales of 1 where they are f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN "
              "or f4E2M1FN, found "
           << StringRef(element.name());
  return success();
}

/// Leaves the schemes whose instruction adds up no more than what has the same
/// scales, and says why there is none left of some.
static std::optional<Reason> keepShort(std::vector<hw::Scheme> &schemes,
                                       const HardwareOperand &rows,
                                       int64_t block) {
  int64_t shortest = 0;
  llvm::erase_if(schemes, [&](const hw::Scheme &scheme) {
    int64_t k = hw::instructionK(scheme.kind, rows.pattern.has_value());
    shortest = shortest ? std::min(shortest, k) : k;
    return k > block;
  });
  if (!schemes.empty() || !shortest)
    return std::nullopt;
  return "scales of tiles of " + std::to_string(block) +
         " elements along K multiply sums in registers, and " +
         (rows.pattern ? "an instruction that skips what '" + rows.name.str() +
                             "' prunes"
                       : std::string("the shortest instruction of these "
                                     "elements")) +
         " adds up " + std::to_string(shortest) + "; expected tiles of " +
         std::to_string(shortest) + " or more";
}

static FailureOr<Choice> choose(MatmulOp op, hw::Target target) {
  ScaledTensorType typeA = op.getA().getType(), typeB = op.getB().getType();
  if (auto why = whyNotOrder(typeA, typeB))
    return op.emitOpError() << why->text;
  FailureOr<HardwareOperand> a = classify(op, typeA, typeB, "a");
  FailureOr<HardwareOperand> b = classify(op, typeB, typeA, "b");
  if (failed(a) || failed(b))
    return failure();
  b->name = "b";
  if (auto why = whyNotPromoted(*a, *b, promotionBlock(typeA, typeB)))
    return Choice{*a, *b, {}, why};
  if (failed(verifyScalesOfOne(op, *a, *b)))
    return failure();
  // Instructions skip what their A prunes.
  bool isExchanged = isSparseB(op);
  HardwareOperand &rows = isExchanged ? *b : *a,
                  &columns = isExchanged ? *a : *b;
  useScalesOfOne(rows, columns, target);
  if (auto why = whyNotUnscaled(rows, target))
    return Choice{*a, *b, {}, why};
  Choice choice{*a, *b, {}, {}};
  for (auto [name, value] :
       {std::pair<StringRef, TypedValue<ScaledTensorType>>("a", op.getA()),
        {"b", op.getB()}})
    if (auto reason = whyNotSkipped(op, value, name)) {
      choice.why = "operand '" + name.str() + "' " + reason->text;
      return choice;
    }
  unsigned span = rows.scale ? commonSpan(rows, columns, target) : 0;
  choice.schemes = schemesFor({rows.element, rows.scale, span, rows.pattern},
                              columns, target);
  if (int64_t block = promotionBlock(typeA, typeB))
    choice.why = keepShort(choice.schemes, rows, block);
  if (choice.why)
    return choice;
  // A sparse operand has no short tiles, whatever those of the other one are.
  bool isTooShort =
      rows.pattern && a->scaleSpan != b->scaleSpan && choice.schemes.empty();
  if (a->scale != b->scale || isTooShort) {
    choice.schemes.clear();
    choice.why = whyNotScales(*a, *b);
    return choice;
  }
  choice.a.scaleSpan = choice.b.scaleSpan = span;
  rows.scaleSpan = columns.scaleSpan = span;
  constexpr unsigned kSparseSpan = 32 * hw::kSparseCompression;
  // The tiles are those of the dense operand alone.
  bool hasOnes = rows.scale &&
                 !(isExchanged ? typeB : typeA).getSpec().getValue().isTile();
  if (choice.schemes.empty() && rows.pattern && hasOnes && span < kSparseSpan)
    choice.why = "operand '" + columns.name.str() +
                 "' has scales of tiles of " + std::to_string(span) +
                 " elements along K, and an instruction that skips what '" +
                 rows.name.str() + "' prunes reads one for each " +
                 std::to_string(kSparseSpan) +
                 ", pruned ones included; expected tiles of " +
                 std::to_string(kSparseSpan) + " or more";
  else if (choice.schemes.empty())
    choice.why = whyNoScheme(target, rows, columns).text + storedForms(op) +
                 halfForm(op);
  return choice;
}

/// Gives sparse operands their dense form where tile scales of either are
/// applied in registers. Those of longer tiles than a spec has stay, and so do
/// those whose scales instructions read.
static void densifyPromoted(MatmulOp op) {
  constexpr unsigned kLongestTile = 256;
  if (!promotionBlock(op.getA().getType(), op.getB().getType()))
    return;
  for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
    auto type = cast<ScaledTensorType>(operand->get().getType());
    const ScaleSpec &spec = type.getSpec().getValue();
    bool isDirect = spec.isTile() && !hasPromotedScales(type);
    bool isLong = spec.isTile() && denseForm(spec).columns->size > kLongestTile;
    if (spec.isSparse() && !spec.zero && !isDirect && !isLong)
      densify(op, *operand, /*block=*/0);
  }
}

/// Whether an instruction may skip what one operand prunes, whatever the scales
/// of the other, dense one: it has none of tiles, or some that go with such
/// metadata.
static bool isSparseAlone(MatmulOp op) {
  ScaledTensorType type = (isSparseB(op) ? op.getB() : op.getA()).getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isOther =
      isSparseB(op) || !op.getB().getType().getSpec().getValue().isSparse();
  bool hasTiles =
      hasPromotedScales(type) && type.getLayout() == ScaleLayout::Tiled128x4;
  return spec.isSparse() && isOther && (!spec.isTile() || hasTiles);
}

/// Whether a product that is refused is one of dense operands.
static bool isDenseProduct(const Choice &choice, hw::Target target) {
  bool isPromoted = choice.a.isPromoted || choice.b.isPromoted;
  if (isPromoted && !choice.a.scale && !choice.b.scale)
    return true;
  return denseBlock(choice.a, choice.b, target).has_value();
}

/// Chooses for dense operands where the choice for sparse ones found none.
static FailureOr<Choice> fallBack(MatmulOp op, const Choice &choice,
                                  hw::Target target) {
  std::optional<unsigned> block = denseBlock(choice.a, choice.b, target);
  // Of patterns that instructions skip the table has said why none does.
  bool isSkipped = choice.a.pattern || choice.b.pattern;
  if (!block && !choice.a.scale && !choice.b.scale && !isSkipped) {
    Choice refused = choice;
    refused.why = choice.why->text + "; nor is it multiplied densely: " +
                  whyNoScheme(target, choice.a, choice.b).text;
    return refused;
  }
  if (!block)
    return choice;
  densify(op, op.getAMutable(), *block);
  densify(op, op.getBMutable(), *block);
  return choose(op, target);
}

static StringRef scaleName(MmaAttr mma) {
  return mma.getScale() ? StringRef(formatName(*mma.getScale())) : "none";
}

/// Refuses what the user wrote into 'mma' besides the kind if it is not what
/// the operands make it.
static LogicalResult checkWish(MatmulOp op, MmaAttr found) {
  MmaAttr wish = getMma(op) ? getMma(op) : found;
  auto refuse = [&](StringRef field, auto wished, auto expected) {
    return op.emitOpError() << "names '" << field << "' of " << wished
                            << ", but its operands make it " << expected;
  };
  if (wish.getA() != found.getA())
    return refuse("a", wish.getA().name(), found.getA().name());
  if (wish.getB() != found.getB())
    return refuse("b", wish.getB().name(), found.getB().name());
  if (wish.getScale() != found.getScale())
    return refuse("scale", scaleName(wish), scaleName(found));
  if (wish.getBlock() != found.getBlock())
    return refuse("block", wish.getBlock(), found.getBlock());
  if (wish.getSparse() && !found.getSparse())
    return refuse("sparse", "true", "false");
  auto isTrue = [](BoolAttr value) { return value && value.getValue(); };
  for (auto [name, wished, expected] :
       {std::tuple("a_mn_major", wish.getAMnMajor(), found.getAMnMajor()),
        {"b_mn_major", wish.getBMnMajor(), found.getBMnMajor()}})
    if (wished && isTrue(wished) != isTrue(expected))
      return op.emitOpError() << "names '" << name
                              << "', but the types of its operands give their "
                                 "order";
  if (wish.getM() || wish.getN() || wish.getK() || wish.getCtaGroup() != 1)
    return op.emitOpError()
           << "names 'm', 'n', 'k' or 'cta_group' of an instruction without a "
              "schedule that has all fields; ask for a shape by 'tile_m', "
              "'tile_n', 'mma_k' and 'cta_group' of 'schedule'";
  return success();
}

/// Makes products of their own of zero points in real units of sparse operands.
static LogicalResult splitSparseZeros(MatmulOp op, hw::Target target) {
  while (hasSparseRealZeros(op)) {
    if (auto why = whyNotSplit(op))
      return op.emitOpError() << why->text;
    if (failed(legalizeMatmul(splitZeros(op), target, /*denseFallback=*/true)))
      return failure();
  }
  return success();
}

LogicalResult blockscale::legalizeMatmul(MatmulOp op, hw::Target target,
                                         bool denseFallback) {
  // What is complete stays, as edited or as an earlier run left it.
  if (op.isScheduled() || isScheduled(op))
    return success();
  for (ScaledTensorType type : {op.getA().getType(), op.getB().getType()})
    if (llvm::is_contained(type.getShape(), 0))
      return op.emitOpError()
             << "operand " << type << " is empty; a tensor map has no extent 0";
  if (failed(checkSizes(op)))
    return failure();
  auto isSparse = [](ScaledTensorType type) {
    return type.getSpec().getValue().isSparse();
  };
  bool anySparse =
      isSparse(op.getA().getType()) || isSparse(op.getB().getType());
  if (denseFallback && failed(splitSparseZeros(op, target)))
    return failure();
  if (auto why = whyNotZeroTerms(op))
    return op.emitOpError() << why->text;
  std::optional<Reason> whyDense = whyNotDense(op);
  bool canDensify = anySparse && !whyDense;
  bool isMadeDense = canDensify && denseFallback;
  if (isMadeDense && !isSparseAlone(op))
    densifyPromoted(op);
  FailureOr<Choice> choice = choose(op, target);
  if (isMadeDense && succeeded(choice) && choice->why && isSparseAlone(op)) {
    densifyPromoted(op);
    choice = choose(op, target);
  }
  if (isMadeDense && succeeded(choice) && choice->why)
    choice = fallBack(op, *choice, target);
  if (failed(choice))
    return failure();
  if (choice->why) {
    InFlightDiagnostic diag = op.emitOpError() << choice->why->text;
    if (anySparse && denseFallback && !canDensify)
      diag << "; nor can it be made dense, because " << whyDense->text;
    if (canDensify && !denseFallback && isDenseProduct(*choice, target))
      diag << "; or multiply it densely with 'dense-fallback'";
    return diag;
  }
  auto mnMajor = [&](ScaledTensorType type) -> BoolAttr {
    return type.getOrder() == DataOrder::MNMajor
               ? BoolAttr::get(op.getContext(), true)
               : BoolAttr();
  };
  FailureOr<hw::Scheme> scheme = chooseScheme(op, choice->schemes);
  if (failed(scheme))
    return failure();
  MmaAttr::Fields fields{scheme->kind, choice->a.element, choice->b.element};
  fields.scale = choice->a.scale;
  fields.block = scheme->block;
  fields.aMnMajor = mnMajor(op.getA().getType());
  fields.bMnMajor = mnMajor(op.getB().getType());
  fields.sparse = choice->a.pattern || choice->b.pattern;
  auto mma = MmaAttr::get(op.getContext(), fields);
  if (failed(checkWish(op, mma)))
    return failure();
  setTensorCore(op, mma, getSchedule(op));
  return success();
}

void LegalizeScales::runOnOperation() {
  auto result = getOperation()->walk([&](KernelSourceOpInterface op) {
    hw::Target target = getTarget(op);
    if (auto why = hw::whyNotTarget(target))
      return WalkResult(op->emitOpError() << why->text);
    return WalkResult(op.legalize(target, denseFallback));
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
