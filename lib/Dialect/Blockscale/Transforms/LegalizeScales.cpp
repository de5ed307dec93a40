//===- LegalizeScales.cpp - choose the kind for each matmul ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A matmul whose scale specs the tensor core executes directly gets its
// instruction; any other gets a diagnostic that names the obstacle.

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Check.h"

namespace blockscale {
#define GEN_PASS_DEF_LEGALIZESCALES
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
/// What the tensor core needs to know of one operand.
struct HardwareOperand {
  ElementFormat element;
  ElementFormat scale;
  unsigned block;
};

struct LegalizeScales : blockscale::impl::LegalizeScalesBase<LegalizeScales> {
  using LegalizeScalesBase::LegalizeScalesBase;
  void runOnOperation() override;
};
} // namespace

/// The hardware's scale format for the tile scale of a spec.
static std::optional<ElementFormat> hardwareScale(const NumberSpec &scale) {
  if (scale.kind == NumberKind::Exponent && scale.exponentBits == 8)
    return ElementFormat::UE8M0;
  constexpr int kE4M3Bias = 7;
  bool isE4M3 = scale.kind == NumberKind::Float && scale.exponentBits == 4 &&
                scale.mantissaBits == 3 && scale.bias == kE4M3Bias;
  if (isE4M3 && (scale.specials == NumberSpecials::Fn ||
                 scale.specials == NumberSpecials::Ieee))
    return ElementFormat::UE4M3;
  return std::nullopt;
}

/// Why the spec is not what one MMA operand can carry; names the
/// decomposition that would be needed.
static std::optional<std::string> whyNotDirect(const ScaleSpec &spec) {
  if (spec.isSparse())
    return "structured sparsity is not lowered to tensor-core code yet";
  if (spec.zero)
    return "a zero point needs a correction term that is not lowered yet";
  if (!spec.isTile())
    return "a scale that covers whole rows needs scale vectors in the "
           "epilogue, which are not lowered yet";
  if (spec.rows)
    return "a scale that covers several rows must be repeated for each of "
           "them, which is not lowered yet";
  if (spec.columns->hasSubtile())
    return "subtile metadata have no hardware counterpart";
  if (spec.tensorScale &&
      !(spec.tensorScale->exponentBits == 8 &&
        spec.tensorScale->mantissaBits == 23))
    return "a tensor scale must be float32 to become a factor of the epilogue";
  if (!hardwareScale(spec.scale))
    return "tile scales of '" + print(spec.scale) +
           "' are not a hardware scale format; expected e8m0 or e4m3fn";
  return std::nullopt;
}

static FailureOr<HardwareOperand> classify(MatmulOp op, ScaledTensorType type,
                                           StringRef name) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (auto why = whyNotDirect(spec)) {
    op.emitOpError() << "operand '" << name << "' with scales '"
                     << print(spec) << "': " << *why;
    return failure();
  }
  std::string elementName;
  llvm::raw_string_ostream(elementName) << type.getElementType();
  std::optional<ElementFormat> element = parseFormat(elementName);
  if (!element) {
    op.emitOpError() << "operand '" << name << "' has elements of "
                     << type.getElementType()
                     << ", which no block-scaled kind multiplies";
    return failure();
  }
  if (type.getLayout() != ScaleLayout::Tiled128x4) {
    op.emitOpError() << "operand '" << name << "' has its scales in layout '"
                     << stringifyScaleLayout(type.getLayout())
                     << "'; the tensor core reads 'tiled_128x4' (pack them so "
                        "on the host, or use 'blockscale.relayout')";
    return failure();
  }
  return HardwareOperand{*element, *hardwareScale(spec.scale),
                         spec.columns->size};
}

/// The sentence of the legality table for the closest instruction.
static std::string whyNoScheme(hw::Target target, const HardwareOperand &a,
                               const HardwareOperand &b) {
  hw::MmaQuery query;
  query.target = target;
  query.a = a.element;
  query.b = b.element;
  query.scale = a.scale;
  query.block = a.block;
  bool fp4 = a.element == ElementFormat::E2M1 && b.element == a.element;
  query.kind = fp4 ? hw::MmaKind::MXF4NVF4 : hw::MmaKind::MXF8F6F4;
  query.k = hw::instructionK(query.kind, /*sparse=*/false);
  if (auto why = hw::whyNot(query))
    return *why;
  return "no block-scaled kind fits these operands";
}

/// The best of `schemes`, or the one of the kind that the matmul names.
static FailureOr<hw::Scheme> chooseScheme(MatmulOp op,
                                          ArrayRef<hw::Scheme> schemes) {
  if (!op.getMma())
    return schemes.front();
  hw::MmaKind wish = op.getMma()->getKind();
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

static LogicalResult legalize(MatmulOp op, hw::Target target) {
  auto aType = op.getA().getType(), bType = op.getB().getType();
  for (ScaledTensorType type : {aType, bType})
    if (llvm::is_contained(type.getShape(), 0))
      return op.emitOpError() << "operand " << type
                              << " is empty; a tensor map has no extent 0";
  FailureOr<HardwareOperand> a = classify(op, aType, "a");
  FailureOr<HardwareOperand> b = classify(op, bType, "b");
  if (failed(a) || failed(b))
    return failure();
  if (a->scale != b->scale || a->block != b->block)
    return op.emitOpError()
           << "one instruction takes one scale format and block for both "
              "operands; found "
           << StringRef(formatName(a->scale)) << " per " << a->block << " and "
           << StringRef(formatName(b->scale)) << " per " << b->block;
  std::vector<hw::Scheme> schemes = hw::findSchemes(
      a->element, b->element, a->scale, a->block, /*sparse=*/false, target);
  if (schemes.empty())
    return op.emitOpError() << whyNoScheme(target, *a, *b);

  auto mnMajor = [&](ScaledTensorType type) -> BoolAttr {
    return type.getOrder() == DataOrder::MNMajor
               ? BoolAttr::get(op.getContext(), true)
               : BoolAttr();
  };
  FailureOr<hw::Scheme> scheme = chooseScheme(op, schemes);
  if (failed(scheme))
    return failure();
  auto mma = MmaAttr::get(op.getContext(), scheme->kind, a->element, b->element,
                          a->scale, scheme->block, 0, 0, 0, mnMajor(aType),
                          mnMajor(bType), /*cta_group=*/1, /*sparse=*/false);
  op.setMmaAttr(mma);
  return success();
}

void LegalizeScales::runOnOperation() {
  std::string why;
  std::optional<hw::Target> parsed = hw::parseTarget(target, &why);
  if (!parsed || hw::whyNotTarget(*parsed)) {
    emitError(getOperation()->getLoc())
        << (parsed ? *hw::whyNotTarget(*parsed) : why);
    return signalPassFailure();
  }
  WalkResult result = getOperation()->walk([&](MatmulOp op) {
    return failed(legalize(op, *parsed)) ? WalkResult::interrupt()
                                         : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
