//===- Operands.h - what a plan says of an operand -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_OPERANDS_H
#define BLOCKSCALE_LIB_VERIFY_OPERANDS_H

#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/Sparse.h"
#include "blockscale/Plan/Plan.h"
#include "blockscale/Reference/Data.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::verify {

/// Rows of `length` bytes, continued to `padded` with `filler`.
std::vector<uint8_t> extendRows(const std::vector<uint8_t> &codes,
                                uint64_t length, uint64_t padded,
                                uint8_t filler);

/// What the plan's name of a format means: of kinds with scales, or without; of
/// elements less their zero points what the differences are.
bool parseElements(const std::string &name, bool scaled, bool hasZeros,
                   reference::Operand &operand);

/// Makes of drawn codes of rows of `k` elements, of which a matrix has `rows`,
/// ones that the plan can store: zeros where it stores none, and where elements
/// have zero points differences that a zero point for each tile allows.
void makeStorable(const plan::SourceElements &source, uint64_t rows, uint64_t k,
                  std::vector<uint8_t> &codes);

/// Codes of the source, or differences, as those that the plan stores for them,
/// the lowest byte of each first.
std::optional<Reason> translate(const plan::DataPacking &packing,
                                std::vector<uint8_t> &codes);

/// Bytes of a code that is stored, in memory of its own.
size_t storedBytes(const plan::DataPacking &packing);

/// Bits of an operand's codes that are not always zero.
unsigned elementBits(const reference::Operand &operand);

/// What the highest bit of an element means.
hw::HighestBit highestBit(const reference::Operand &operand);

/// The layout of scales that a plan names so; null if there is none.
const hw::Layout *scaleLayout(const std::string &name);

/// The scales that `packing` says the operand has.
std::optional<Reason> setScales(const plan::ScalePacking &packing,
                                reference::Operand &operand);

/// Rows of scales where one is for `group` rows, or for all if that is 0.
uint64_t scaleRows(unsigned group, uint64_t rows);

/// Gives each row of `operand` the scales of its group of rows.
void spreadScales(const reference::Operand &own, uint64_t groups,
                  uint64_t group, uint64_t rows, uint64_t blocks,
                  reference::Operand &operand);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_OPERANDS_H
