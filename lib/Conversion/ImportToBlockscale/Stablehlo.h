//===- Stablehlo.h - what StableHLO says around products --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of StableHLO, known by their names, in upstream's dialects. Each function
// gives the value in place of the op's result; null where it does not know the
// op, and an error at the op where it knows it, but not in this form.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLO_H
#define BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLO_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>
#include <optional>

namespace blockscale::importer {

/// Arithmetic, comparisons and conversions, element by element.
mlir::FailureOr<mlir::Value> elementwiseOf(mlir::ImplicitLocOpBuilder &b,
                                           mlir::Operation *op);
/// The op `name` on floats of f32 and more, all of one type whose sizes may be
/// unknown; null for what is none.
mlir::Value floatOp(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name,
                    mlir::ValueRange v);
/// Changes of shape, constants, reductions and products without scales.
mlir::FailureOr<mlir::Value> structureOf(mlir::ImplicitLocOpBuilder &b,
                                         mlir::Operation *op);

/// An op with tensors of unknown sizes; null where it is not known.
mlir::Value ofUnknownSizes(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op);

/// A slice of `v[0]` that starts at the numbers behind it, moved inside.
mlir::FailureOr<mlir::Value> dynamicSlice(mlir::ImplicitLocOpBuilder &b,
                                          mlir::Operation *op,
                                          llvm::ArrayRef<mlir::Value> v,
                                          mlir::RankedTensorType type);
/// `v[0]` with `v[1]` in such a slice.
mlir::FailureOr<mlir::Value> dynamicUpdateSlice(mlir::ImplicitLocOpBuilder &b,
                                                mlir::Operation *op,
                                                llvm::ArrayRef<mlir::Value> v);
/// stablehlo.while: the results of an scf.while, whose regions are those of the
/// op, not yet lowered.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
looped(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op);

/// stablehlo.case and stablehlo.if: the results of an scf.index_switch or
/// scf.if, whose regions are those of the op, not yet lowered.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
chosen(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op);

/// stablehlo.sort of `v`; equal elements keep their order.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
sorted(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
       llvm::ArrayRef<mlir::Value> v);
/// chlo.top_k: the largest elements of the last dimension of `v[0]` and where
/// they were.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
largest(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
        llvm::ArrayRef<mlir::Value> v);
/// Integers in the order of `value`, whose elements are `element` in StableHLO:
/// of floats by sign and bits, zeros and what is no number among them.
mlir::Value orderKeys(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      mlir::Type element);

/// stablehlo.gather of `v`, the operand and the indices.
mlir::FailureOr<mlir::Value> gathered(mlir::ImplicitLocOpBuilder &b,
                                      mlir::Operation *op,
                                      llvm::ArrayRef<mlir::Value> v,
                                      mlir::RankedTensorType type);
/// stablehlo.reduce of one tensor, `v[0]`, from `v[1]` on; narrow floats are
/// added up in f32 and rounded once.
mlir::FailureOr<mlir::Value> reduced(mlir::ImplicitLocOpBuilder &b,
                                     mlir::Operation *op,
                                     llvm::ArrayRef<mlir::Value> v,
                                     mlir::RankedTensorType type);
/// stablehlo.dot_general of `v`, summed in f32 and rounded once.
mlir::FailureOr<mlir::Value> dot(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Operation *op,
                                 llvm::ArrayRef<mlir::Value> v,
                                 mlir::RankedTensorType type);
/// A reduction of several tensors at once, such as a search for the place of
/// the largest element: its results.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
reducedTogether(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                llvm::ArrayRef<mlir::Value> v);

/// `[0, 1]` behind `name` in an attribute such as `#stablehlo.dot<...>`;
/// none behind what is not there, nothing where it is no such list.
std::optional<llvm::SmallVector<int64_t>> numbersIn(llvm::StringRef text,
                                                    llvm::StringRef name);

/// The numbers of `array<i64: 1, 2>`, each from 0 up to `end`.
std::optional<llvm::SmallVector<int64_t>>
numbersOf(mlir::Operation *op, llvm::StringRef name,
          int64_t end = std::numeric_limits<int64_t>::max());
/// The error that attribute `name` does not fit.
mlir::LogicalResult isMissing(mlir::Operation *op, llvm::StringRef name);

/// StableHLO's name without the dialect; empty for other ops.
llvm::StringRef stablehloName(mlir::Operation *op);

/// `value` as the elements that arith takes: integers have no sign there.
mlir::Value withoutSign(mlir::ImplicitLocOpBuilder &b, mlir::Value value);
/// A tensor type with such elements.
mlir::RankedTensorType withoutSign(mlir::Type type);

/// The type of a tensor.
mlir::RankedTensorType typeOf(mlir::Value value);
/// A tensor to write, static.
mlir::Value emptyOf(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type);
llvm::SmallVector<mlir::utils::IteratorType> parallel(int64_t rank);

/// `value` with other dimensions of the same number of elements; both static.
mlir::Value reshape(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);

/// In every function all ops that these know. `refused` is set where an error
/// was emitted.
void lowerStablehlo(mlir::Operation *root, bool &refused);

/// What the `comparison_direction` of a compare op asks of floats, and of
/// integers of type `element`, of which booleans have no sign; nothing if it is
/// unknown.
std::optional<mlir::arith::CmpFPredicate>
floatPredicate(mlir::Operation *compare);
std::optional<mlir::arith::CmpIPredicate>
integerPredicate(mlir::Operation *compare, mlir::Type element);

} // namespace blockscale::importer

#endif // BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLO_H
