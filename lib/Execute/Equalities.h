//===- Equalities.h - dimensions that are equal -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_EQUALITIES_H
#define BLOCKSCALE_LIB_EXECUTE_EQUALITIES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <optional>
#include <vector>

namespace blockscale::execute {

/// What a dimension is in a product. Of several the first counts.
enum class Role : uint8_t { K, N, M, Batch, Other };

/// A dimension of a tensor, or a number of type index (dimension -1).
using Node = std::pair<void *, int64_t>;
constexpr int64_t kNumber = -1;

/// Which equalities count: those that the ops want, or also those that are only
/// likely, as between a tensor and a part of it.
enum class Joins { Certain, Likely };

/// Dimensions in classes of equal ones.
class Equalities {
public:
  Equalities(mlir::FunctionOpInterface function, Joins joins) : joins(joins) {
    addFunction(function);
  }

  /// What is known of a class.
  struct Facts {
    Role role = Role::Other;
    std::optional<int64_t> known;
    bool isDimension = false;
    /// The class that is twice this one, and the one that is half of it.
    std::optional<unsigned> twice, half;
  };
  /// The class of a dimension; no other calls after the first of these.
  unsigned classOf(mlir::Value value, int64_t dimension);
  const Facts &factsOf(unsigned number) { return facts[number]; }
  llvm::ArrayRef<AssembleOp> getAssembles() const { return assembles; }

private:
  unsigned nodeOf(mlir::Value value, int64_t dimension);
  void finish();
  static int64_t rankOf(mlir::Value value) {
    auto type = llvm::dyn_cast<mlir::ShapedType>(value.getType());
    return type && type.hasRank() ? type.getRank() : 0;
  }
  void join(mlir::Value x, int64_t ofX, mlir::Value y, int64_t ofY) {
    joined.emplace_back(nodeOf(x, ofX), nodeOf(y, ofY));
  }
  void joinAlike(mlir::Value x, mlir::Value y);
  void joinLists(mlir::ValueRange xs, mlir::ValueRange ys);
  void joinAlikeIn(mlir::Operation *op);
  void joinAllIn(mlir::Operation *op);
  void setRole(mlir::Value value, int64_t dimension, Role role);

  void addFunction(mlir::FunctionOpInterface function);
  void addOp(mlir::Operation *op);
  bool addOurs(mlir::Operation *op);
  bool addTensorOp(mlir::Operation *op);
  bool addControlFlow(mlir::Operation *op);
  void addMatmul(MatmulOp op);
  void addBias(MatmulOp op);
  void addGroupsAlongK(MatmulOp op);
  void addAssemble(AssembleOp op);
  void addLinalg(mlir::linalg::LinalgOp op);
  void addCall(mlir::CallOpInterface op);
  void addSlice(mlir::OffsetSizeAndStrideOpInterface op);
  void addReshape(mlir::Value joined, mlir::Value cut,
                  llvm::ArrayRef<mlir::ReassociationIndices> groups);
  void addConcat(mlir::tensor::ConcatOp op);

  Joins joins;
  std::map<Node, unsigned> nodes;
  std::vector<Node> order;
  std::vector<std::pair<unsigned, unsigned>> joined;
  std::vector<std::pair<unsigned, Role>> roles;
  std::vector<std::pair<unsigned, unsigned>> halves;
  std::vector<std::optional<int64_t>> sizes;
  llvm::SmallPtrSet<mlir::Operation *, 8> seen;
  llvm::SmallVector<AssembleOp> assembles;
  llvm::IntEqClasses classes;
  std::vector<Facts> facts;
  bool isFinished = false;
};

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_EQUALITIES_H
