//===- InputMaker.h - fills the inputs of a kernel --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_INPUTMAKER_H
#define BLOCKSCALE_LIB_VERIFY_INPUTMAKER_H

#include "Conditions.h"
#include "blockscale/Reference/Data.h"
#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// Fills one Inputs from a plan. Every step returns what is wrong, or nothing.
class InputMaker {
public:
  InputMaker(const plan::Kernel &kernel, const plan::Environment &sizes,
             DataKind kind, uint64_t seed, Conditions conditions,
             const StepProgress &progress)
      : kernel(kernel), sizes(sizes), exact(kind == DataKind::Exact),
        harsh(conditions == Conditions::Harsh), seed(seed), progress(progress),
        step(kernel.name + ", inputs") {}

  Result<Inputs> make();

private:
  std::optional<Reason> addSizes();
  std::optional<Reason> addOperand(bool isA);
  /// What the plan says of an operand; null where it says nothing.
  struct PlannedOperand {
    PlannedOperand(const plan::Kernel &kernel, const std::string &name);
    /// Rows that have the scales of one, 0 if all have.
    unsigned sharingRows() const {
      return scales ? scales->rows : tiles ? tiles->rows : 1;
    }
    const plan::DataPacking *data;
    const plan::ScalePacking *scales;
    /// Scales of tiles along K that are numbers.
    const plan::VectorScales *tiles;
    const plan::MetadataPacking *metadata;
    /// Elements that others are made of, and their zero points in real units.
    bool isTranslated, hasRealZeros;
  };
  std::optional<Reason> setFormats(const PlannedOperand &planned,
                                   reference::Operand &operand) const;
  std::optional<Reason> drawElements(const PlannedOperand &planned, bool isA,
                                     reference::Operand &operand) const;
  std::optional<Reason> packElements(const PlannedOperand &planned, bool isA,
                                     reference::Operand &operand);
  uint64_t seedOf(bool isA) const { return seed * 2 + (isA ? 0 : 1); }
  void tell(uint64_t rows) const;
  std::optional<Reason> packData(const plan::DataPacking &packing,
                                 uint64_t rows, uint64_t storedK,
                                 const reference::Operand &operand,
                                 std::vector<uint8_t> codes);
  std::optional<Reason> packSparse(const plan::MetadataPacking &packing,
                                   uint64_t rows, uint64_t operandSeed,
                                   reference::Operand &operand,
                                   std::vector<uint8_t> &stored);
  std::optional<Reason> fill(reference::Operand &operand, uint64_t matrices,
                             uint64_t rows, uint64_t operandSeed,
                             const reference::RowProgress &progress) const;
  std::optional<Reason> packScales(const plan::ScalePacking &packing,
                                   uint64_t rows,
                                   const reference::Operand &operand);
  std::optional<Reason> addTileScales(const plan::VectorScales &tiles,
                                      uint64_t rows,
                                      const reference::Operand &own,
                                      reference::Operand &operand);
  std::optional<Reason> addFactors();
  std::optional<Reason> addPlain();
  std::optional<Reason> addWorkspace();
  std::optional<Reason> addPlainOperand(const plan::PlainOperand &plain);
  void addGroups();
  std::optional<Reason> addRowNumbers();
  /// Rows of an operand in memory.
  uint64_t rowsOf(bool isA) const {
    const reference::Problem &problem = inputs.problem;
    return !isA ? problem.n : tokens ? tokens : problem.m;
  }
  /// Matrices of an operand.
  uint64_t matricesOf(std::string_view operand) const {
    return uint64_t(plan::matricesOf(kernel, operand, sizes));
  }
  bool isSum() const;
  std::optional<Reason> checkInput(const std::string &name) const;
  std::optional<Reason> addFormula();
  void plantNaNs(reference::Operand &operand, uint64_t rows, bool isPruned);

  std::optional<Reason> setTensorScales(const plan::TensorScales &scales);
  std::optional<Reason> setVectorScales(const plan::VectorScales &scales);

  std::optional<Reason> setZeros(const plan::ZeroTerms &terms);
  double scaledElement(bool isA, uint64_t row, uint64_t k) const;
  std::optional<Reason> addTerms(bool isA, uint64_t count);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  bool exact, harsh;
  uint64_t seed;
  Inputs inputs;
  bool hasNaN = false;
  const StepProgress &progress;
  std::string step;
  /// Rows of A that those of the product are gathered from, 0 if they are not;
  /// their numbers, and scales that are not gathered with them.
  uint64_t tokens = 0;
  std::vector<int64_t> rowNumbers;
  std::vector<uint8_t> sortedScales;
  /// Scales of whole matrices of B and of A, those of one kind after another,
  /// one for each of its matrices.
  std::vector<std::vector<float>> matrixFactors[2];
  /// Of exact data: what every value of C and the bias is a multiple of.
  double unit = 1;
};

/// The entry of an operand; null if it has none.
template <typename T>
const T *findOperand(const std::vector<T> &list, std::string_view operand) {
  for (const T &entry : list)
    if (entry.operand == operand)
      return &entry;
  return nullptr;
}

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_INPUTMAKER_H
