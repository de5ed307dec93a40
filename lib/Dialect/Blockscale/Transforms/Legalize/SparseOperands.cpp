//===- SparseOperands.cpp - what instructions skip of operands ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseOperands.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/HW/Check.h"

using namespace mlir;
using namespace blockscale;

/// Why no instruction skips what a sparse A prunes although one has its types
/// and scales; empty if it has none at all.
std::optional<Reason> blockscale::whyNotPattern(hw::Target target,
                                                const HardwareOperand &a,
                                                const HardwareOperand &b) {
  if (!a.pattern)
    return std::nullopt;
  // Where the target has no sparse instruction of the kind that skips it, the
  // table says more.
  hw::MmaKind closest = closestKind(a, b);
  bool isThere = llvm::any_of(hw::rowsFor(target), [&](const hw::MmaRow *row) {
    return row->kind == closest && row->sparse;
  });
  if (!isThere && hw::sparsePattern(closest) == *a.pattern)
    return std::nullopt;
  std::vector<hw::Scheme> schemes =
      hw::findSchemes(a.element, b.element, a.scale, a.scaleSpan,
                      /*sparse=*/true, target);
  if (schemes.empty())
    return std::nullopt;
  hw::MmaKind kind = schemes.front().kind;
  return "operand '" + a.name.str() + "' keeps " +
         std::string(hw::patternName(*a.pattern)) + ", but kind '" +
         std::string(hw::kindName(kind)) + "', which has its scales, skips " +
         std::string(hw::patternName(hw::sparsePattern(kind)));
}

/// The op that `value` holds the values of, through changes of storage.
static Operation *sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<RelayoutOp, QuantizeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Why the tensor core cannot skip what the type of a sparse operand, or the
/// ops that made it, say was pruned.
std::optional<Reason> blockscale::whyNotSkipped(MatmulOp op,
                                                TypedValue<ScaledTensorType> x,
                                                StringRef name) {
  const ScaleSpec &spec = x.getType().getSpec().getValue();
  if (!spec.isSparse())
    return std::nullopt;
  if (name == "b" && !isSparseB(op))
    return "is sparse, and so is 'a', but an instruction skips what one of "
           "both prunes; expected a dense 'a' or 'b'";
  std::optional<hw::SparsePattern> pattern = sparsePattern(x.getType());
  if (spec.isUnscaled() &&
      (!pattern || *pattern == hw::SparsePattern::PairsFourOfEight)) {
    bool isTF32 = x.getType().getElementType().isTF32();
    return "keeps " + std::to_string(spec.keepN) + " of " +
           std::to_string(spec.ofM) +
           (isTF32 ? ", but kind tf32 skips 1 of 2"
                   : ", but the kinds f16, f8f6f4 and i8 skip 2 of 4 (and 1 of "
                     "2, and at most 2 of more)");
  }
  if (!pattern)
    return "keeps " + std::to_string(spec.keepN) + " of " +
           std::to_string(spec.ofM) +
           ", which no instruction skips; expected 2 of 4, 1 of 2 or at most 2 "
           "of more (kind mxf8f6f4), or 4 of 8 in pairs of f4E2M1FN (kinds "
           "mxf4 and mxf4nvf4), or dense elements, whose values "
           "'blockscale.prune' may have pruned so";
  auto compress = dyn_cast_or_null<CompressOp>(sourceOf(x));
  if (!compress)
    return std::nullopt;
  if (auto why = whyNotCompressible(compress))
    return "holds constants that break its pattern: " + why->text;
  auto prune = dyn_cast_or_null<PruneOp>(sourceOf(compress.getInput()));
  if (prune && keepsPairs(x.getType()) && prune.getGroup() == spec.ofM &&
      !prune.getPairs())
    return "was pruned to 4 of 8 single elements, but kinds mxf4 and mxf4nvf4 "
           "skip aligned pairs; expected 'keep 4 of 8 pairs'";
  return std::nullopt;
}

/// Why products without scales are not lowered for `target`; empty if they are.
std::optional<Reason> blockscale::whyNotUnscaled(const HardwareOperand &a,
                                                 hw::Target target) {
  if (hw::hasTensorMemory(target) || !a.pattern || a.scale)
    return std::nullopt;
  hw::MmaKind kind = unscaledKind(a.element);
  hw::TargetSet targets;
  for (const hw::MmaRow &row : hw::allRows())
    if (row.family == hw::MmaFamily::Tcgen05 && row.kind == kind)
      targets = targets | row.targets;
  std::string scaled;
  for (hw::MmaKind other : hw::allKinds())
    if (hw::isBlockScaled(other))
      scaled += (scaled.empty() ? "" : ", ") + std::string(hw::kindName(other));
  return "a sparse '" + a.name.str() + "' of kind '" +
         std::string(hw::kindName(kind)) +
         "' is lowered to tcgen05.mma only, which '" + hw::targetName(target) +
         "' does not have; it is legal on " + targets.names() + ", and on '" +
         hw::targetName(target) + "' the kinds with scales are: " + scaled +
         ", which take float elements of at most 8 bits without scales too";
}

/// The widest tile of a dense instruction that divides the tiles of both; 0
/// without scales.
std::optional<unsigned> blockscale::denseBlock(const HardwareOperand &a,
                                               const HardwareOperand &b,
                                               hw::Target target) {
  if (a.scale != b.scale)
    return std::nullopt;
  if (!a.scale)
    return hw::findSchemes(a.element, b.element, a.scale, 0, /*sparse=*/false,
                           target)
                   .empty()
               ? std::nullopt
               : std::optional(0u);
  for (unsigned block : {32u, 16u})
    if (a.scaleSpan % block == 0 && b.scaleSpan % block == 0 &&
        !hw::findSchemes(a.element, b.element, a.scale, block,
                         /*sparse=*/false, target)
             .empty())
      return block;
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotDense(MatmulOp op) {
  for (ScaledTensorType type : {op.getA().getType(), op.getB().getType()}) {
    const ScaleSpec &spec = type.getSpec().getValue();
    if (spec.isSparse() && spec.zero)
      return "what '" + std::string(type.getSpec().getText()) +
             "' prunes is 0, which no code is where a zero point is none; "
             "expected "
             "a dense operand, which may have any zero points";
  }
  return std::nullopt;
}

/// Elements along K of the longest tile that a spec has.
static constexpr unsigned kLongestTile = 256;

void blockscale::densify(MatmulOp op, OpOperand &operand, unsigned block) {
  auto type = cast<ScaledTensorType>(operand.get().getType());
  ScaleSpec spec = denseForm(type.getSpec().getValue());
  bool hasTiles = block && spec.isTile();
  if (hasTiles)
    spec.columns->size = spec.columns->subtile = block;
  else if (spec.isTile() && spec.columns->size > kLongestTile)
    spec.columns->size = spec.columns->subtile = kLongestTile;
  auto dense = ScaledTensorType::get(
      type.getShape(), type.getElementType(),
      ScaleSpecAttr::get(op.getContext(), spec),
      hasTiles ? type.getLayout() : ScaleLayout::Plain, type.getOrder());
  if (dense == type)
    return;
  // What was compressed just now need not be expanded again: it lost the signs
  // of zeros only, which no sum of products shows.
  Value source = operand.get();
  if (auto compress = source.getDefiningOp<CompressOp>())
    source = compress.getInput();
  OpBuilder b(op);
  operand.set(b.createOrFold<DensifyOp>(op.getLoc(), dense, source));
}
