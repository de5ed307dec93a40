//===- Legalize.cpp - choose how nc_matmul_mx computes each product -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
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

/// The format of elements or scales; none if no table of formats has it.
static std::optional<ElementFormat> formatOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return parseFormat(name);
}

static bool isF32(const NumberSpec &spec) {
  return spec.kind == NumberKind::Float && spec.exponentBits == 8 &&
         spec.mantissaBits == 23;
}

/// What of a spec no rule of the instruction speaks about, because it has no
/// place for it at all.
static std::optional<std::string> whyNotSpec(const ScaleSpec &spec) {
  if (spec.isSparse())
    return "nc_matmul_mx has no structured sparsity; make it dense with "
           "'blockscale.densify'";
  if (spec.isUnscaled())
    return "nc_matmul_mx multiplies elements with scales only (NKI API "
           "reference, nki.isa.nc_matmul_mx, introduction); nearest legal: "
           "spec 'e8m0_t32' with all scales 1";
  if (spec.zero)
    return "a zero point needs a correction term that is not lowered";
  if (!spec.isTile())
    return "a scale that covers whole rows is no scale of tiles of 32 along K; "
           "nearest legal: spec 'e8m0_t32' with equal scales in each row";
  if (spec.hasSubtile())
    return "subtile metadata have no place in a packed tensor";
  if (spec.tensorScale && !isF32(*spec.tensorScale))
    return "a tensor scale must be float32 to be a step of the epilogue";
  if (!scaleFormat(*spec.scale))
    return "tile scales of '" + print(*spec.scale) +
           "' are not 'ue8m0' (NKI API reference, nki.isa.nc_matmul_mx, "
           "introduction); nearest legal: 'e8m0'";
  return std::nullopt;
}

static std::optional<std::string> whyNotShape(ShapedType type) {
  if (!type.hasStaticShape())
    return "has a dynamic size: shapes of an NKI kernel are constants of its "
           "compilation; compile one kernel for each size";
  if (llvm::is_contained(type.getShape(), 0))
    return std::string("is empty");
  return std::nullopt;
}

/// Checks what does not depend on the other operand.
static LogicalResult checkOperand(Operation *op, ScaledTensorType type,
                                  StringRef name) {
  std::optional<std::string> why = whyNotShape(type);
  if (why)
    return op->emitOpError() << "operand '" << name << "' " << *why;
  why = whyNotSpec(type.getSpec().getValue());
  if (why)
    return op->emitOpError() << "operand '" << name << "' with spec '"
                             << type.getSpec().getText() << "': " << *why;
  if (type.getLayout() != ScaleLayout::Plain)
    return op->emitOpError()
           << "operand '" << name << "' has its scales in layout '"
           << stringifyScaleLayout(type.getLayout())
           << "', which another vendor's tensor cores read; nearest legal: "
              "'plain', from which the host packs";
  if (!formatOf(type.getElementType()))
    return op->emitOpError()
           << "operand '" << name << "' has elements of "
           << type.getElementType() << ", which NKI has no packed type for";
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
static std::optional<std::string> whyNotConfig(MatmulOp op, ConfigAttr config) {
  int64_t k = op.getA().getType().getK();
  int64_t parallel = kPartitions / config.getRowTile();
  if (parallel > 1 && k > config.getRowTile() * int64_t(kPack))
    return "row_tile = " + std::to_string(config.getRowTile()) +
           " is for products of at most " +
           std::to_string(config.getRowTile() * kPack) +
           " along K, which one instruction covers, found K = " +
           std::to_string(k) +
           " (NKI API reference, nki.isa.nc_matmul_mx, "
           "Tiling mode); nearest legal: row_tile = " +
           std::to_string(partitionsFor(std::min<int64_t>(k, 512)));
  if (config.getBlockM() * parallel > int64_t(kPsumBanks))
    return "block_m = " + std::to_string(config.getBlockM()) + " with " +
           std::to_string(parallel) +
           " instructions side by side needs more than the 8 banks of PSUM "
           "(Trainium3 Architecture Guide for NKI); nearest legal: block_m = " +
           std::to_string(kPsumBanks / parallel);
  return std::nullopt;
}

static std::optional<std::string> whyNotResult(MatmulOp op) {
  Type element = op.getResult().getType().getElementType();
  if (element.isF32() || element.isBF16() || element.isF16())
    return std::nullopt;
  return "a result of integers is not what nc_matmul_mx computes: expected "
         "f32, bf16 or f16";
}

static LogicalResult legalize(MatmulOp op, StringAttr target) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (failed(checkOperand(op, a, "a")) || failed(checkOperand(op, b, "b")))
    return failure();
  if (failed(checkTarget(op, target)))
    return failure();
  if (op.getMma() || op.getSchedule())
    return op.emitOpError() << "has an 'mma' or 'schedule' attribute, which is "
                               "of NVIDIA's instructions; expected '"
                            << kConfigName << "' or nothing";
  for (auto [type, other] : {std::pair(a, b), std::pair(b, a)}) {
    const ScaleSpec &spec = type.getSpec().getValue();
    MatmulQuery query;
    query.target = *parseTarget(target.getValue());
    query.stationary = *formatOf(type.getElementType());
    query.moving = *formatOf(other.getElementType());
    query.scale = *scaleFormat(*spec.scale);
    // Longer tiles are repeated by the host.
    query.block = spec.columns->size % kGroup ? spec.columns->size : kGroup;
    if (type == b)
      std::swap(query.stationary, query.moving);
    if (std::optional<std::string> why = whyNot(query))
      return op.emitOpError()
             << "operand '" << (type == a ? "a" : "b") << "': " << *why;
  }
  if (std::optional<std::string> why = whyNotResult(op))
    return op.emitOpError() << *why;
  auto wish = op->getAttrOfType<ConfigAttr>(kConfigName);
  ConfigAttr config = complete(
      op, wish ? wish : ConfigAttr::get(op.getContext(), target, 0, 0, 0, 0));
  if (std::optional<std::string> why = whyNotConfig(op, config))
    return op.emitOpError() << *why;
  op->setAttr(kConfigName, config);
  return success();
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

static LogicalResult legalize(QuantizeOp op, StringAttr target) {
  ScaledTensorType type = op.getResult().getType();
  if (failed(checkOperand(op, type, "result")) ||
      failed(checkTarget(op, target)))
    return failure();
  const ScaleSpec &spec = type.getSpec().getValue();
  QuantizeQuery query;
  query.target = *parseTarget(target.getValue());
  std::optional<PlainType> src =
      plainType(op.getInput().getType().getElementType());
  query.src = src.value_or(PlainType::F32);
  query.dst = *formatOf(type.getElementType());
  if (std::optional<std::string> why = whyNot(query))
    return op.emitOpError() << *why;
  if (scaleFormat(*spec.scale) != ElementFormat::UE8M0 || spec.rows ||
      spec.tensorScale || spec.columns->size != kGroup)
    return op.emitOpError()
           << "spec '" << type.getSpec().getText()
           << "' is not what quantize_mx makes: one 'ue8m0' for 8 partitions "
              "by 4 values (NKI API reference, nki.isa.quantize_mx, Layout); "
              "nearest legal: 'e8m0_t32'";
  if (op.getRule() != ScaleRule::FloorPlusOne)
    return op.emitOpError()
           << "chooses scales by rule '" << stringifyScaleRule(op.getRule())
           << "', but quantize_mx takes twice the scale of 'floor' (NKI API "
              "reference, nki.isa.quantize_mx, introduction); nearest legal: "
              "rule(floor_plus_one)";
  op->setAttr(kConfigName,
              ConfigAttr::get(op.getContext(), target, 0, 0, 0, 0));
  return success();
}

void NKILegalize::runOnOperation() {
  std::string why;
  std::optional<Target> parsed = parseTarget(target, &why);
  if (!parsed || whyNotTarget(*parsed)) {
    emitError(getOperation()->getLoc())
        << (parsed ? *whyNotTarget(*parsed) : why);
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
