//===- KernelBuilder.h - ops of a kernel, with less typing ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_KERNELBUILDER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_KERNELBUILDER_H

#include "Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "mlir/IR/Builders.h"

namespace blockscale::nki {

/// A constant or a value of type index.
using Index = mlir::OpFoldResult;

/// A scaled matrix in HBM as nc_matmul_mx takes it: by fours of K, transposed.
struct PackedMatrix {
  /// `[batch * packedRows, columns]`; integers of the width of four elements,
  /// since hosts have no packed types.
  mlir::Value data;
  /// `[batch * packedRows / 8, columns]`, bytes.
  mlir::Value scales;
  X4Type element;
  int64_t columns;
};

/// Where a tile is loaded to.
struct TilePlace {
  mlir::Value data, scales;
  int64_t partition = 0;
  Index column;
};

class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  // Index arithmetic that folds constants.
  Index constant(int64_t value) { return builder.getIndexAttr(value); }
  Index add(Index lhs, Index rhs);
  Index multiply(Index lhs, int64_t factor);
  Index remainder(Index lhs, int64_t divisor);
  mlir::Value materialize(Index index);

  /// Calls `body` with the offsets 0, step, ... below `count * step`: in a loop
  /// if there is more than one.
  void loop(llvm::StringRef name, int64_t count, int64_t step,
            llvm::function_ref<void(Index)> body);

  mlir::Value alloc(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                    mlir::Type element, Buffer memory);
  /// The part of `buffer` at `offsets`; the buffer itself if that is all of it.
  mlir::Value slice(mlir::Value buffer, llvm::ArrayRef<Index> offsets,
                    llvm::ArrayRef<int64_t> shape);
  mlir::Value access(mlir::Value buffer, Index offset,
                     llvm::ArrayRef<int64_t> strides,
                     llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void copy(mlir::Value from, mlir::Value to);

  /// Loads `partitions` x `columns` packed values and their scales: those of
  /// packed row `128 * tile` of matrix `matrix` and of column `column` on.
  void loadTile(const PackedMatrix &from, const ContractionGeometry &k,
                Index matrix, Index tile, int64_t partitions, Index column,
                int64_t columns, const TilePlace &place);
  /// Stores such a tile.
  void storeTile(const TilePlace &place, const ContractionGeometry &k,
                 Index matrix, Index tile, int64_t partitions, Index column,
                 int64_t columns, const PackedMatrix &to);

  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type u8() { return builder.getIntegerType(8, /*isSigned=*/false); }

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  /// Calls `piece` with row of the scale tensor and partition of the scale tile
  /// for each quadrant of `partitions`.
  void forEachQuadrant(const ContractionGeometry &k, Index matrix, Index tile,
                       int64_t partitions, int64_t firstPartition,
                       llvm::function_ref<void(Index, int64_t)> piece);
};

/// The steps from the sum in PSUM to the result.
struct EpilogueSteps {
  /// One factor for all elements: a column in SBUF, or a constant.
  struct Factor {
    mlir::Value column;
    mlir::FloatAttr constant;
  };
  llvm::SmallVector<Factor> factors;
  /// C as `[batch * M, N]` and its factor.
  mlir::Value c;
  std::optional<Factor> beta;
  /// Bias as `[1, N]` or `[M, 1]`.
  mlir::Value bias;
  bool biasPerRow = false;
  std::optional<Activation> activation;

  bool empty() const { return factors.empty() && !c && !bias && !activation; }
};

/// A tile of the result: rows from `row` of matrix `matrix`.
struct ResultTile {
  Index matrix, row, column;
  int64_t rows, columns;
};

/// Computes `activation(factors * sum + beta * c + bias)` of a tile, each step
/// rounded to f32, and stores it.
void emitEpilogue(KernelBuilder &b, const EpilogueSteps &steps, mlir::Value sum,
                  const ResultTile &tile, int64_t m, mlir::Value result);

/// Everything that the loops of a product need.
struct Product {
  PackedMatrix a, b;
  ContractionGeometry k;
  int64_t batch, m, n;
  ConfigAttr config;
  EpilogueSteps epilogue;
  /// `[batch * M, N]` in HBM.
  mlir::Value result;
};

/// The loops over batch, M, N and K.
void emitProduct(KernelBuilder &b, const Product &product);

/// The loops that quantise `source`, `[batch * rows, K]` in HBM, into `to`,
/// whose columns behind the rows become 0.
void emitQuantize(KernelBuilder &b, mlir::Value source, int64_t batch,
                  int64_t rows, const ContractionGeometry &k,
                  const PackedMatrix &to);

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_KERNELBUILDER_H
