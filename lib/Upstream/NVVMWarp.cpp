//===- NVVMWarp.cpp - the NVVM dialect's matrices in registers ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NVVMParts.h"
#include "blockscale/Upstream/NVVM.h"

#include <array>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nvvm;

static NVVM::MMATypes elementsOf(hw::OperandType type) {
  if (type == hw::OperandType::uint8())
    return NVVM::MMATypes::u8;
  if (type == ElementFormat::INT8)
    return NVVM::MMATypes::s8;
  // NVVM names float types as PTX does, and so do we.
  std::optional<NVVM::MMATypes> element = NVVM::symbolizeMMATypes(type.name());
  assert(element && "elements that no mma.sync has");
  return *element;
}

static NVVM::ScaleVecSize scaleVector(unsigned scales) {
  return scales == 4   ? NVVM::ScaleVecSize::X4
         : scales == 2 ? NVVM::ScaleVecSize::X2
                       : NVVM::ScaleVecSize::X1;
}

Value nvvm::loadMatrices(ImplicitLocOpBuilder &b, Value address,
                         unsigned paddedBits, bool isTransposed) {
  using NVVM::LdStMatrixEltType;
  auto type = paddedBits == 4   ? LdStMatrixEltType::B8X16_B4X16_P64
              : paddedBits == 6 ? LdStMatrixEltType::B8X16_B6X16_P32
                                : LdStMatrixEltType::B16;
  constexpr int32_t kMatrices = 4;
  MLIRContext *context = b.getContext();
  auto layout = isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(context, 8, paddedBits ? 16 : 8);
  auto registers = LLVM::LLVMStructType::getLiteral(
      context, SmallVector<Type>(kMatrices, b.getI32Type()));
  return NVVM::LdMatrixOp::create(
      b, registers, address, b.getI32IntegerAttr(kMatrices),
      NVVM::MMALayoutAttr::get(context, layout), shape,
      NVVM::LdStMatrixEltTypeAttr::get(context, type));
}

/// Four scales of ue8m0 per row came with PTX 9.1, of which LLVM 22 knows
/// nothing.
static bool isBeyondLLVM(const WarpMma &mma) {
  return mma.scales == 4 && mma.scale == ElementFormat::UE8M0;
}

/// The sums as NVVM returns them.
static Type sumsOf(ImplicitLocOpBuilder &b) {
  Type f32 = b.getF32Type();
  return LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
}

/// The instruction as text: PTX ISA 9.7.14.5.14 and, sparse, 9.7.14.6.3, with
/// the selector 0 that all block-scaled forms have.
static Value textualMultiply(ImplicitLocOpBuilder &b, const WarpMma &mma) {
  constexpr unsigned kSums = 4;
  auto ids = [](int64_t byte, int64_t thread) {
    return ",{" + std::to_string(byte) + "," + std::to_string(thread) + "}";
  };
  AssemblyText assembly(kSums);
  assembly.constraints = "=f,=f,=f,=f";
  assembly.text = mma.spelling + " {$0,$1,$2,$3},";
  assembly.add(mma.a, "r");
  assembly.text += ",";
  assembly.add(mma.b, "r");
  assembly.text += ",";
  assembly.add(mma.c, "f");
  assembly.text += ",";
  if (mma.metadata) {
    assembly.add(mma.metadata, "r");
    assembly.text += ",0x0,";
  }
  assembly.add(mma.sfa, "r");
  assembly.text += ids(mma.byteA, mma.threadA) + ",";
  assembly.add(mma.sfb, "r");
  assembly.text += ids(mma.byteB, mma.threadB);
  return assemble(b, sumsOf(b), assembly).getRes();
}

/// Without scales: PTX ISA 9.7.14.5.14. NVVM wants pairs of f16 as vectors, and
/// all others as words.
static Value multiplyPlain(ImplicitLocOpBuilder &b, const WarpMma &mma) {
  bool isInteger = mma.kind == hw::MmaKind::I8;
  Type sum = isInteger ? Type(b.getI32Type()) : Type(b.getF32Type());
  auto words = [&](ValueRange fragment) {
    SmallVector<Value> result(fragment);
    if (mma.typeA == ElementFormat::F16)
      for (Value &word : result)
        word = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()),
                                       word);
    return result;
  };
  int64_t shape[] = {mma.m, mma.n, mma.k};
  std::array types{elementsOf(mma.typeA), elementsOf(mma.typeB)};
  std::array layouts{NVVM::MMALayout::row, NVVM::MMALayout::col};
  auto overflow =
      isInteger ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt;
  return NVVM::MmaOp::create(
      b, LLVM::LLVMStructType::getLiteral(b.getContext(), {sum, sum, sum, sum}),
      words(mma.a), words(mma.b), mma.c, shape, /*b1Op=*/std::nullopt, overflow,
      types, layouts);
}

Value nvvm::multiply(ImplicitLocOpBuilder &b, const WarpMma &mma) {
  if (!mma.sfa)
    return multiplyPlain(b, mma);
  if (isBeyondLLVM(mma))
    return textualMultiply(b, mma);
  int64_t shape[] = {mma.m, mma.n, mma.k};
  std::array types{elementsOf(mma.typeA), elementsOf(mma.typeB)};
  auto format = mma.scale == ElementFormat::UE4M3
                    ? NVVM::BlockScaleFormat::UE4M3
                    : NVVM::BlockScaleFormat::UE8M0;
  auto id = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI16Type(), value);
  };
  Value byteA = id(mma.byteA), threadA = id(mma.threadA);
  Value byteB = id(mma.byteB), threadB = id(mma.threadB);
  if (mma.metadata) {
    // The selector is 0 in all block-scaled forms.
    Value selector = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
    return NVVM::MmaSpBlockScaleOp::create(
        b, sumsOf(b), mma.a, mma.b, mma.c, mma.metadata, selector, mma.sfa,
        byteA, threadA, mma.sfb, byteB, threadB, shape, types,
        scaleVector(mma.scales), format, scaledKind(mma.kind));
  }
  return NVVM::MmaBlockScaleOp::create(
      b, sumsOf(b), mma.a, mma.b, mma.c, mma.sfa, byteA, threadA, mma.sfb,
      byteB, threadB, shape, types, scaleVector(mma.scales), format,
      scaledKind(mma.kind));
}
