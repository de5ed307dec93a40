//===- Epilogue.h - what becomes of the sums of a product -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region of `blockscale.matmul` and `blockscale.kernel_matmul` that makes
// an element of the result: what it may hold, the keywords that stand for some
// of them, and how to put its ops elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EPILOGUE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EPILOGUE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// What an epilogue computes with.
enum class EpilogueInput : uint8_t {
  Product, ///< the sum, times alpha and the tensor scales
  Up,      ///< with pairs the sum of the second column, likewise
  C,       ///< an element of c, times beta
  Bias,    ///< an element of the bias
  UpBias   ///< with pairs that of the second column
};

/// "x", "up", "c", "bias" and "up_bias", the names of the inputs in IR and in
/// launch plans.
llvm::StringRef epilogueInputName(EpilogueInput input);

/// Whether an epilogue may hold ops of this name.
bool isEpilogueOp(llvm::StringRef name);

/// What there is, in order. Those of pairs are there twice, but c.
llvm::SmallVector<EpilogueInput, 5> epilogueInputs(bool hasC, bool hasBias,
                                                   bool hasPairs);

/// An epilogue and the meaning of its arguments: the product, and what else
/// there is, in the order of `EpilogueInput`.
class Epilogue {
public:
  explicit Epilogue(MatmulOp op);
  explicit Epilogue(KernelMatmulOp op);
  Epilogue(mlir::Region &region, bool hasC, bool hasBias,
           bool hasPairs = false);

  llvm::ArrayRef<EpilogueInput> getInputs() const { return inputs; }
  /// Whether an element is made of two sums. There is always a region then.
  bool hasPairs() const;
  /// Whether it is the sum of its inputs, which needs no region.
  bool isSum() const;
  /// The keyword that means this region; none if no keyword does.
  std::optional<Activation> getActivation() const;
  /// Whether a target that knows nothing but keywords can compute it.
  bool isNamed() const { return isSum() || getActivation(); }

  /// Whether an element is made of this one.
  bool reads(EpilogueInput input) const;
  /// The most values, inputs among them and constants not, that are needed at
  /// once for one element.
  unsigned mostValues() const;
  /// What functions that are computed as polynomials need besides.
  unsigned valuesOfFunctions() const;

  /// Fills the region, which must be empty, with what the keyword means, or
  /// with the sum.
  void build(mlir::MLIRContext *context, std::optional<Activation> activation);

  /// Emits its ops at `b` and returns their result. `valueOf` gives the value
  /// of an input where it is first needed, an f32 or, with `shape`, a vector
  /// like it; the ops are done for each element.
  mlir::Value inlineAt(mlir::ImplicitLocOpBuilder &b,
                       llvm::function_ref<mlir::Value(EpilogueInput)> valueOf,
                       mlir::VectorType shape = {}) const;

  /// The region as data; null if it is the sum.
  EpilogueAttr getAttr() const;

  /// Whether the region keeps its rules; diagnostics are at the op that breaks
  /// one.
  mlir::LogicalResult verify(mlir::Operation *op) const;

private:
  /// Whether the region, which has a block, is what `build` makes.
  bool means(std::optional<Activation> activation) const;

  mlir::Region &region;
  llvm::SmallVector<EpilogueInput, 5> inputs;
};

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_EPILOGUE_H
