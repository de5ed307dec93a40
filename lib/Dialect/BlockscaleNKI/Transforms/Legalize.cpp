//===- Legalize.cpp - choose how nc_matmul_mx computes each product -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
#include "blockscale/NKI/Documents.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace blockscale::nki {
#define GEN_PASS_DEF_NKILEGALIZE
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h.inc"
} // namespace blockscale::nki

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
struct NKILegalize : blockscale::nki::impl::NKILegalizeBase<NKILegalize> {
  using NKILegalizeBase::NKILegalizeBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isF32(const NumberSpec &spec) {
  return spec.kind == NumberKind::Float && spec.exponentBits == 8 &&
         spec.mantissaBits == 23;
}

/// What a spec asks of the instruction. Scales of a type without a format are
/// left to whyNotSpec().
static MatmulQuery queryOf(const ScaleSpec &spec, Target target) {
  MatmulQuery query;
  query.target = target;
  query.sparse = spec.isSparse();
  query.scaled = !spec.isUnscaled();
  query.zeroPoints = spec.zero.has_value();
  if (spec.scale)
    query.scale = scaleFormat(*spec.scale).value_or(query.scale);
  // Longer tiles are repeated by the host.
  if (spec.isTile() && spec.columns->size % kGroup)
    query.block = saturated(spec.columns->size);
  return query;
}

/// What of a spec has no field in a query.
static std::optional<Reason> whyNotSpec(const ScaleSpec &spec) {
  if (!spec.isTile())
    return "a scale that covers whole rows is no scale of tiles of 32 along K" +
           cite(kMatmulGroup) +
           "; nearest legal: spec 'e8m0_t32' with equal scales in each row";
  if (spec.hasSubtile())
    return "subtile metadata have no place in a packed tensor" +
           cite(kMatmulTypes) + "; nearest legal: spec 'e8m0_t32'";
  if (spec.tensorScale && !isF32(*spec.tensorScale))
    return "a tensor scale must be float32 to be a step of the epilogue" +
           cite(kTensorScalar) + "; nearest legal: 'float32'";
  if (!scaleFormat(*spec.scale))
    return "tile scales of '" + print(*spec.scale) + "' are not 'ue8m0'" +
           cite(kMatmulGroup) + "; nearest legal: 'e8m0'";
  return std::nullopt;
}

static std::optional<Reason> whyNotShape(ShapedType type) {
  if (!type.hasStaticShape())
    return "has a dynamic size: shapes of an NKI kernel are constants of its "
           "compilation" +
           cite(kLanguageGuide) + "; nearest legal: one kernel for each size";
  if (llvm::is_contained(type.getShape(), 0))
    return "is empty: a tile has at least one element" + cite(kMatmulSize);
  return std::nullopt;
}

/// Checks what does not depend on the other operand.
static LogicalResult checkOperand(Operation *op, ScaledTensorType type,
                                  StringRef name, Target target) {
  std::optional<Reason> why = whyNotShape(type);
  if (why)
    return op->emitOpError() << "operand '" << name << "' " << why->text;
  const ScaleSpec &spec = type.getSpec().getValue();
  why = whyNot(queryOf(spec, target));
  if (!why)
    why = whyNotSpec(spec);
  if (why && spec.isUnscaled())
    return op->emitOpError() << "operand '" << name << "': " << why->text;
  if (why)
    return op->emitOpError() << "operand '" << name << "' with spec '"
                             << type.getSpec().getText() << "': " << why->text;
  if (type.getLayout() != ScaleLayout::Plain)
    return op->emitOpError()
           << "operand '" << name << "' has its scales in layout '"
           << stringifyScaleLayout(type.getLayout())
           << "', which another vendor's tensor cores read: expected "
              "rows by blocks of 32, which the host spreads over quadrants"
           << cite(kScaleTensor) << "; nearest legal: 'plain'";
  if (!formatOf(type.getElementType()))
    return op->emitOpError()
           << "operand '" << name << "' has elements of "
           << type.getElementType() << ", which NKI has no packed type for"
           << cite(kMatmulTypes) << "; nearest legal: f8E4M3FN";
  return success();
}

/// Checks that nothing around `op` or on it names another chip.
static LogicalResult checkTarget(Operation *op, StringAttr target) {
  if (std::optional<hw::Target> named = findTarget(op))
    return op->emitOpError()
           << "is for chip '" << hw::targetName(*named)
           << "', which 'blockscale.target' names, but compiled for '"
           << target.getValue() << "'";
  auto config = op->getAttrOfType<ConfigAttr>(kConfigName);
  if (config && config.getTarget() != target)
    return op->emitOpError()
           << "is configured for '" << config.getTarget().getValue()
           << "', but compiled for '" << target.getValue() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// What is left to the compiler in `config`, chosen for the product.
static ConfigAttr complete(MatmulOp op, ConfigAttr config) {
  int64_t m = stationaryColumns(op.getA().getType().getNumRows());
  int64_t n = op.getB().getType().getNumRows();
  int64_t k = op.getA().getType().getK();
  auto chosen = [](int64_t wish, int64_t choice) {
    return wish ? wish : choice;
  };
  int64_t rowTile =
      chosen(config.getRowTile(), partitionsFor(std::min(k, int64_t(512))));
  // Instructions side by side take different columns.
  int64_t parallel = kPartitions / rowTile;
  int64_t tileM = chosen(config.getTileM(), std::min<int64_t>(m, 128));
  int64_t tileN = chosen(config.getTileN(),
                         std::min<int64_t>(llvm::divideCeil(n, parallel), 512));
  int64_t blockM =
      chosen(config.getBlockM(),
             std::min<int64_t>({4, kPsumBanks / parallel,
                                int64_t(llvm::divideCeil(m, tileM))}));
  return ConfigAttr::get(op.getContext(), config.getTarget(), rowTile, tileM,
                         tileN, blockM);
}

/// Why a complete configuration does not suit the product.
static std::optional<Reason> whyNotConfig(MatmulOp op, ConfigAttr config) {
  int64_t k = op.getA().getType().getK();
  int64_t parallel = kPartitions / config.getRowTile();
  if (parallel > 1 && k > config.getRowTile() * int64_t(kPack))
    return "row_tile = " + std::to_string(config.getRowTile()) +
           " is for products of at most " +
           std::to_string(config.getRowTile() * kPack) +
           " along K, which one instruction covers, found K = " +
           std::to_string(k) + cite(kMatmulTiling) +
           "; nearest legal: row_tile = " +
           std::to_string(partitionsFor(std::min<int64_t>(k, 512)));
  // The documents allow it, but the idle rows are those of a neighbour.
  if (parallel > 1 && config.getRowTile() != partitionsFor(k))
    return "row_tile = " + std::to_string(config.getRowTile()) +
           " leaves rows idle for K = " + std::to_string(k) + ", which " +
           std::to_string(partitionsFor(k)) + " partitions hold" +
           cite(kMatmulTiling) +
           "; nearest legal: row_tile = " + std::to_string(partitionsFor(k));
  if (config.getBlockM() * parallel > int64_t(kPsumBanks))
    return "block_m = " + std::to_string(config.getBlockM()) + " with " +
           std::to_string(parallel) +
           " instructions side by side needs more than the 8 banks of PSUM" +
           cite(kMemories) + "; nearest legal: block_m = " +
           std::to_string(kPsumBanks / parallel);
  return std::nullopt;
}

static std::optional<Reason> whyNotResult(MatmulOp op) {
  Type element = op.getResult().getType().getElementType();
  if (element.isF32() || element.isBF16() || element.isF16())
    return std::nullopt;
  return "a result of integers is not what nc_matmul_mx computes: expected "
         "f32, bf16 or f16" +
         cite(kMatmulTypes);
}

/// Offsets into a tensor, some of them in bytes, are counted in 64 bits.
static LogicalResult checkSize(Operation *op, ArrayRef<int64_t> shape,
                               StringRef name) {
  constexpr int64_t kMaxElements = int64_t(1) << 56;
  int64_t elements = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(elements, size, elements) || elements > kMaxElements)
      return op->emitOpError()
             << "operand '" << name << "' has more than " << kMaxElements
             << " elements, the most that are counted here";
  return success();
}

static LogicalResult legalize(MatmulOp op, StringAttr target) {
  if (op.hasGroups())
    return op.emitOpError() << "has 'groups', which '" << target.getValue()
                            << "' does not multiply; expected a product of two "
                               "matrices";
  if (op.getPairs())
    return op.emitOpError() << "has 'pairs', of which '" << target.getValue()
                            << "' makes no result; expected one column of it "
                               "for each of the product";
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  Target chip = *parseTarget(target.getValue());
  if (failed(checkOperand(op, a, "a", chip)) ||
      failed(checkOperand(op, b, "b", chip)) ||
      failed(checkSize(op, a.getShape(), "a")) ||
      failed(checkSize(op, b.getShape(), "b")))
    return failure();
  if (failed(checkTarget(op, target)))
    return failure();
  if (op.getLoweringAttr())
    return op.emitOpError() << "has an 'mma' or 'schedule' attribute, which is "
                               "of NVIDIA's instructions; expected '"
                            << kConfigName << "' or nothing";
  MatmulQuery query;
  query.target = chip;
  query.stationary = *formatOf(a.getElementType());
  query.moving = *formatOf(b.getElementType());
  if (std::optional<Reason> why = whyNot(query))
    return op.emitOpError() << why->text;
  if (std::optional<Reason> why = whyNotResult(op))
    return op.emitOpError() << why->text;
  auto wish = op->getAttrOfType<ConfigAttr>(kConfigName);
  ConfigAttr config = complete(
      op, wish ? wish : ConfigAttr::get(op.getContext(), target, 0, 0, 0, 0));
  if (std::optional<Reason> why = whyNotConfig(op, config))
    return op.emitOpError() << why->text;
  op->setAttr(kConfigName, config);
  return success();
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

static LogicalResult legalize(QuantizeOp op, StringAttr target) {
  ScaledTensorType type = op.getResult().getType();
  Target chip = *parseTarget(target.getValue());
  if (failed(checkOperand(op, type, "result", chip)) ||
      failed(checkTarget(op, target)))
    return failure();
  const ScaleSpec &spec = type.getSpec().getValue();
  QuantizeQuery query;
  query.target = chip;
  std::optional<PlainType> src =
      plainType(op.getInput().getType().getElementType());
  query.src = src.value_or(PlainType::F32);
  query.dst = *formatOf(type.getElementType());
  if (std::optional<Reason> why = whyNot(query))
    return op.emitOpError() << why->text;
  if (scaleFormat(*spec.scale) != ElementFormat::UE8M0 || spec.rows ||
      spec.tensorScale || spec.columns->size != kGroup)
    return op.emitOpError()
           << "spec '" << type.getSpec().getText()
           << "' is not what quantize_mx makes: one 'ue8m0' for 8 partitions "
              "by 4 values"
           << cite(kQuantizeLayout) << "; nearest legal: 'e8m0_t32'";
  if (op.getRule() != ScaleRule::FloorPlusOne)
    return op.emitOpError()
           << "chooses scales by rule '" << stringifyScaleRule(op.getRule())
           << "', but quantize_mx takes twice the scale of 'floor'"
           << cite(kQuantizeGroup) << "; nearest legal: rule(floor_plus_one)";
  if (op.getRounding() != ElementRounding::Even)
    return op.emitOpError()
           << "rounds elements by '"
           << stringifyElementRounding(op.getRounding())
           << "', which quantize_mx has no choice of; nearest legal: "
              "rounding(even)";
  op->setAttr(kConfigName,
              ConfigAttr::get(op.getContext(), target, 0, 0, 0, 0));
  return success();
}

void NKILegalize::runOnOperation() {
  Result<Target> parsed = parseTarget(target);
  std::optional<Reason> why = parsed ? whyNotTarget(*parsed) : parsed.why();
  if (why) {
    emitError(getOperation()->getLoc()) << why->text;
    return signalPassFailure();
  }
  auto name = StringAttr::get(&getContext(), targetName(*parsed));
  WalkResult result = getOperation()->walk([&](Operation *op) {
    LogicalResult legal = success();
    if (auto matmul = dyn_cast<MatmulOp>(op))
      legal = legalize(matmul, name);
    if (auto quantize = dyn_cast<QuantizeOp>(op))
      legal = legalize(quantize, name);
    return failed(legal) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
