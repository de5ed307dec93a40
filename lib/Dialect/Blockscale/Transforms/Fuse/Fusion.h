//===- Fusion.h - what follows a product as its epilogue --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_FUSION_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_FUSION_H

#include "OperandFactors.h"
#include "Read.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/PatternMatch.h"

namespace blockscale::fuse {

/// A product with an epilogue that grows by the ops behind it. Nothing outside
/// changes before `finish`.
///
/// Each value of the epilogue is an f32 or a condition. Where the program has
/// bf16 or f16, it is an f32 of such a value: ops are done in f32 and rounded,
/// which for these formats gives what one rounding gives.
class Fusion {
public:
  explicit Fusion(MatmulOp product);
  ~Fusion();

  /// Makes `op`, which comes behind all that was absorbed, a part; false where
  /// it cannot be one.
  bool absorb(mlir::Operation *op);

  /// Whether `value` is the product or made of it by what was absorbed.
  bool contains(mlir::Value value) const { return scalars.contains(value); }
  /// The only value that others read; null if there are several, or if a kernel
  /// cannot store it.
  mlir::Value getExit() const;
  /// Whether two or more values are read by ops that are no part; more ops do
  /// not change that.
  bool isTorn(mlir::Operation *behind) const;
  /// Whether anything was absorbed but changes of shape and of type.
  bool computes() const { return isComputing; }

  /// Replaces the product and all that was absorbed, of which `getExit` is read
  /// by others.
  void finish(mlir::RewriterBase &rewriter);

private:
  /// Where the arguments of its block are.
  static constexpr unsigned kProductAt = 0, kCAt = 1, kBiasAt = 2, kInputs = 3;

  enum class BiasForm { None, Column, Row, Number };

  bool absorbShape(mlir::Operation *op);
  bool absorbOp(mlir::Operation *op);
  bool absorbLinalg(mlir::Operation *op);
  bool absorbAlpha(mlir::Operation *op);
  bool absorbFactor(mlir::Operation *op);
  bool placeFactors(mlir::Value value, OperandFactors &places);
  bool absorbConversion(mlir::Operation *op);
  /// Whether `value` is the sum itself, whose factors the new product takes,
  /// and one op reads it.
  bool isSum(mlir::Value value) const;

  /// The scalar of an operand that is read at `places`; null if no input of an
  /// epilogue can be that.
  mlir::Value operand(mlir::Value value, llvm::ArrayRef<int64_t> places);
  mlir::Value matrix(mlir::Value value);
  mlir::Value vector(const Read &read);
  mlir::Value rowOfEachGroup(const Read &read);
  mlir::Value number(const Read &read);
  mlir::Value bias(mlir::Value source, BiasForm form);

  /// One op on scalars; null if an epilogue cannot hold it.
  mlir::Value compute(mlir::Operation *op,
                      llvm::ArrayRef<mlir::Value> operands);
  mlir::Value constant(mlir::Attribute value);
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  mlir::Value materializeC(mlir::ImplicitLocOpBuilder &b);
  mlir::Value materializeBias(mlir::ImplicitLocOpBuilder &b);
  void fillEpilogue(MatmulOp fused, mlir::Value result);

  MatmulOp product;
  /// Arguments of its block: the product, c, the bias.
  mlir::Region region;
  mlir::ImplicitLocOpBuilder b;
  /// The first of them.
  mlir::Value productScalar;
  llvm::SmallVector<mlir::Operation *> absorbed;
  llvm::SmallPtrSet<mlir::Operation *, 16> members;
  /// In the order in which they came.
  llvm::MapVector<mlir::Value, mlir::Value> scalars;
  /// Changes of shape between the product and a value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 2>> shapes;
  /// The value whose shapes are those of the op that is being absorbed.
  mlir::Value like;
  bool isComputing = false;

  /// Sources of what the product did not have; null where there is none.
  mlir::Value alphaSource, cSource, biasSource;
  OperandFactors factors;
  llvm::SmallVector<mlir::Operation *, 2> cShapes;
  BiasForm biasForm = BiasForm::None;
};

} // namespace blockscale::fuse

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_FUSION_H
