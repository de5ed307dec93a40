//===- Numbers.cpp - numbers in element-wise code -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "blockscale/Dialect/Blockscale/IR/ScaleCodes.h"
#include "blockscale/Formats/Codebook.h"
#include "blockscale/Formats/Format.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The values of all codes of a narrow float, NaN as the quiet one.
static SmallVector<APFloat> valuesOf(FloatType type) {
  const llvm::fltSemantics &single = APFloat::IEEEsingle();
  SmallVector<APFloat> values;
  unsigned width = type.getWidth();
  for (unsigned code = 0; code < (1u << width); ++code) {
    APFloat value(type.getFloatSemantics(), APInt(width, code));
    bool inexact;
    value.convert(single, APFloat::rmNearestTiesToEven, &inexact);
    values.push_back(value.isNaN() ? APFloat::getQNaN(single) : value);
  }
  return values;
}

Decoder::Decoder(Emitter &emitter, Type type, bool useExtf) : type(type) {
  auto narrow = dyn_cast<FloatType>(type);
  if (!narrow || narrow.getWidth() > 8 || useExtf)
    return;
  SmallVector<APFloat> values = valuesOf(narrow);
  auto tableType = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                         emitter.getF32Type());
  table = arith::ConstantOp::create(emitter,
                                    DenseElementsAttr::get(tableType, values));
}

Decoder Decoder::ofElements(Emitter &e, ScaledTensorType type, bool useExtf) {
  Decoder decoder(e, type.getElementType(), useExtf);
  if (isa<CodebookType>(type.getElementType())) {
    std::vector<float> values =
        codebookValues(*getNumberSpec(type.getElementType()));
    auto tableType = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                           e.getF32Type());
    decoder.table = arith::ConstantOp::create(
        e, DenseElementsAttr::get(tableType, ArrayRef<float>(values)));
  }
  decoder.plainIntegers = type.getSpec().getValue().hasPlainIntegers();
  return decoder;
}

Decoder Decoder::ofScales(Emitter &e, ScaledTensorType type, Type scales,
                          bool useExtf) {
  Decoder decoder(e, cast<RankedTensorType>(scales).getElementType(), useExtf);
  constexpr ElementFormat kBytes = ElementFormat::UE5M3;
  if (scaleFormat(*type.getSpec().getValue().scale) != kBytes)
    return decoder;
  std::vector<float> values;
  for (uint32_t code = 0; code < 1u << formatInfo(kBytes).bits; ++code)
    values.push_back(blockscale::decode(kBytes, code));
  auto tableType = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                         e.getF32Type());
  decoder.table = arith::ConstantOp::create(
      e, DenseElementsAttr::get(tableType, ArrayRef<float>(values)));
  return decoder;
}

Decoder Decoder::ofZeros(Emitter &e, Type zeros, bool useExtf) {
  Decoder decoder(e, cast<RankedTensorType>(zeros).getElementType(), useExtf);
  decoder.plainIntegers = true;
  return decoder;
}

Decoder Decoder::ofIntegers(ScaledTensorType type) {
  Decoder decoder(type.getElementType());
  decoder.plainIntegers = decoder.toIntegers = true;
  return decoder;
}

Type Decoder::numberType() const {
  if (toIntegers)
    return IntegerType::get(type.getContext(), 32);
  return Float32Type::get(type.getContext());
}

/// An integer that means its integer value, as `number`.
static Value decodeInteger(Emitter &e, Value code, bool isUnsigned,
                           Type number) {
  Type i32 = e.getI32Type();
  Value wide = code;
  if (code.getType() != i32)
    wide = isUnsigned ? arith::ExtUIOp::create(e, i32, code).getResult()
                      : arith::ExtSIOp::create(e, i32, code).getResult();
  return number == i32 ? wide : arith::SIToFPOp::create(e, number, wide);
}

Value Decoder::decode(Emitter &e, Value code) const {
  if (plainIntegers && isa<IntegerType>(type))
    return decodeInteger(e, code, type.isUnsignedInteger(), numberType());
  if (type.isTF32())
    return e.fromBits(arith::AndIOp::create(e, e.bits(code), e.i32(kTF32Bits)));
  if (isa<IntegerType>(type) && !table) {
    Value count = arith::SIToFPOp::create(e, e.getF32Type(), code);
    return arith::MulFOp::create(e, count, e.f32(fixedPointStep(type)));
  }
  if (!table)
    return e.widen(code);
  Value raw = code;
  if (isa<FloatType>(type)) {
    Type integer = e.getIntegerType(type.getIntOrFloatBitWidth());
    raw = arith::BitcastOp::create(e, integer, code);
  }
  Value position = arith::IndexCastUIOp::create(e, e.getIndexType(), raw);
  return tensor::ExtractOp::create(e, table, position);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

Value blockscale::encodeUpwards(Emitter &e, Value value, Type type) {
  return encodeUpwards(e, value, type, [&](Value code) {
    return Decoder(e, type, /*useExtf=*/false).decode(e, code);
  });
}
