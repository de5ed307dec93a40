//===- OperandReasons.cpp - why no instruction takes two operands ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandReasons.h"
#include "ScaleReasons.h"
#include "SparseOperands.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/HW/Check.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::areNarrow(const HardwareOperand &a, const HardwareOperand &b) {
  return unscaledKind(a.element) == hw::MmaKind::F8F6F4 &&
         unscaledKind(b.element) == hw::MmaKind::F8F6F4;
}

Reason blockscale::whyNoScheme(hw::Target target, const HardwareOperand &a,
                               const HardwareOperand &b) {
  if (auto why = whyNotPattern(target, a, b))
    return *why;
  bool sparse = a.pattern.has_value();
  hw::MmaQuery query;
  query.target = target;
  query.a = a.element;
  query.b = b.element;
  query.scale = a.scale;
  query.block = sparse ? a.scaleSpan / hw::kSparseCompression : a.scaleSpan;
  query.sparse = sparse;
  query.kind = closestKind(a, b);
  if (!a.scale && hw::hasTensorMemory(target))
    query.family = hw::MmaFamily::Tcgen05;
  if (!hw::hasTensorMemory(target)) {
    query.m = 16;
    query.n = 8;
  }
  query.k = hw::instructionK(query.kind, sparse);
  std::optional<hw::MmaQuery> nearest = hw::nearestLegal(query);
  bool skipsPattern =
      !sparse || (nearest && hw::sparsePattern(nearest->kind) == *a.pattern);
  if (a.scale && nearest && nearest->kind != query.kind &&
      hw::isBlockScaled(nearest->kind) && skipsPattern) {
    query.kind = nearest->kind;
    query.k = nearest->k;
  }
  auto why = hw::whyNot(query);
  std::string text = why ? why->text : "no kind fits these operands";
  if (nearest && !skipsPattern)
    text += ", which skips " +
            std::string(hw::patternName(hw::sparsePattern(nearest->kind)));
  if (!sparse)
    text += otherScales(a.element, b.element, a.scale, a.scaleSpan);
  return text;
}

Reason blockscale::whyNotScales(const HardwareOperand &a,
                                const HardwareOperand &b) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "one instruction takes one scale format and block for both "
            "operands; found "
         << StringRef(formatName(*a.scale)) << " per " << a.scaleSpan << " and "
         << StringRef(formatName(*b.scale)) << " per " << b.scaleSpan;
  const HardwareOperand &sparse = b.pattern ? b : a;
  if (sparse.pattern && a.scale == b.scale)
    stream << " elements of K; one scale of a sparse '" << sparse.name
           << "' covers its pruned elements too, so quantize '"
           << (b.pattern ? a : b).name << "' in tiles of " << sparse.scaleSpan;
  else
    stream << "; expected both as one of them is, or floats without scales or "
              "under one scale for all of K of either";
  return text;
}

std::optional<Reason> blockscale::whyNotPromoted(const HardwareOperand &a,
                                                 const HardwareOperand &b,
                                                 int64_t block) {
  if (!a.isPromoted && !b.isPromoted)
    return std::nullopt;
  std::string scales =
      std::string("operand '") + (a.isPromoted ? "a" : "b") +
      "' has scales of tiles along K that no instruction reads, by which sums "
      "are multiplied in registers";
  // Instructions that read scales add up no fewer elements.
  constexpr int64_t kBlock = 32;
  if ((a.scale || b.scale) && (!areNarrow(a, b) || block < kBlock))
    return scales + ", and '" + (a.scale ? "a" : "b") +
           "' has scales that instructions read; expected tiles of at least 32 "
           "floats of at most 8 bits under the first, or such scales, float "
           "ones for instance, or one for all of K, of both";
  for (hw::OperandType element : {a.element, b.element})
    if (unscaledKind(element) != hw::MmaKind::F8F6F4 &&
        unscaledKind(element) != hw::MmaKind::F16)
      return scales +
             ", which is lowered for elements of kinds 'f8f6f4' and 'f16': "
             "f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, f4E2M1FN, bf16 and f16; "
             "found " +
             std::string(element.name());
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotOrder(ScaledTensorType a,
                                              ScaledTensorType b) {
  auto kMajor = [](ScaledTensorType type) {
    return ScaledTensorType::get(type.getShape(), type.getElementType(),
                                 type.getSpec(), type.getLayout(),
                                 DataOrder::KMajor);
  };
  for (auto [name, type, other] :
       {std::tuple("a", a, b), std::tuple("b", b, a)}) {
    if (type.getOrder() == DataOrder::KMajor)
      continue;
    // What 8 bits hold but for one number may lie so.
    std::optional<packing::Recoding> recoding =
        recodingOf(kMajor(type), kMajor(other), hw::MmaKind::F8F6F4);
    if (recoding && formatInfo(recoding->to).bits > 8)
      return Reason(std::string("operand '") + name +
                    "' has order 'mn_major', but its elements are multiplied "
                    "as " +
                    std::string(formatName(recoding->to)) +
                    " beside the other operand, which kernels read as "
                    "'k_major'");
  }
  return std::nullopt;
}
