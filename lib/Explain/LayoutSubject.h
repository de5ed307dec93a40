//===- LayoutSubject.h - a question about a layout, understood --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXPLAIN_LAYOUTSUBJECT_H
#define BLOCKSCALE_LIB_EXPLAIN_LAYOUTSUBJECT_H

#include "blockscale/Explain/Layouts.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/ScaleLayout.h"

#include <vector>

namespace blockscale::explain {

enum class LayoutMemory { Shared, Tensor, Registers };
enum class LayoutOperand { ScalesOfA, ScalesOfB, Metadata };

/// "shared", "tensor", "registers".
std::string_view memoryName(LayoutMemory memory);

/// An instruction that there is, and whose bytes the question is about.
struct LayoutSubject {
  hw::MmaQuery mma;
  LayoutOperand operand = LayoutOperand::ScalesOfA;
  /// Scales per row that one instruction reads; 0 of kinds without scales.
  unsigned scales = 0;
  /// Each row of A's scales in its own lane.
  bool rowPerLane = false;

  bool isMetadata() const { return operand == LayoutOperand::Metadata; }
  /// Rows of A or columns of B that one CTA's instruction has.
  unsigned rows() const;
  /// Elements along K that one byte is for.
  unsigned span() const;
  /// Where the bytes lie in memory.
  const hw::Layout &storage() const;
  /// "scales of A", "scales of B", "metadata of A".
  std::string name() const;
  /// "kind mxf4nvf4, K = 96, blocks of 16, N = 256".
  std::string instruction() const;
};

/// The memory that the question names; refused if there is no such.
Result<std::optional<LayoutMemory>> readMemory(const LayoutQuestion &question);

/// What the question is about in one memory: of registers the instructions are
/// mma.sync, otherwise tcgen05.mma. Refused with what is legal if there is no
/// such instruction.
Result<LayoutSubject> readSubject(const LayoutQuestion &question,
                                  LayoutMemory memory);

/// The id and thread-id that pictures show alone.
std::optional<unsigned> wantedId(const LayoutQuestion &question,
                                 const LayoutSubject &subject);

/// Tensor memory's region for the scales of the operand.
Result<hw::ScaleRegion> regionOf(const LayoutSubject &subject);

/// The instruction of mma.sync, and its operand.
Result<hw::WarpMma> warpMmaOf(const LayoutSubject &subject);
hw::WarpOperand warpOperandOf(const LayoutSubject &subject);

/// "lane += r % 32, lane += replica * 32, ...".
std::string formulaOf(const hw::Layout &layout);

} // namespace blockscale::explain

#endif // BLOCKSCALE_LIB_EXPLAIN_LAYOUTSUBJECT_H
