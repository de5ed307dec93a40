//===- OpenPoints.h - choices where the ISA text is silent ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every place where the emulator had to choose because the public ISA text
// leaves the behaviour open. A unit that takes such a choice names it, so that
// a run can list the choices its result depends on.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_OPENPOINTS_H
#define BLOCKSCALE_EMULATOR_OPENPOINTS_H

#include <array>
#include <cstdint>
#include <string_view>

namespace blockscale::emulator {

/// One choice. The values index `openPoints()`.
enum class OpenPoint : uint8_t {
  ScaleColumnAlignment,
  CtaPairM128Scales,
  SparsePairM128Accumulator,
  Fp4TensorMemoryContainer,
  AccumulationOrder,
  NaNScale,
  BaseOffsetPattern,
  SparseSelector,
  Copy4x256Lanes,
  ShiftSlice,
  TransposedByteMatrix,
  OutOfBoundsNaN,
  ExpectTxCompletes,
  StochasticAlignment,
  FragmentLaneZero,
  ShiftedA,
  StationaryReplicas,
  ZeroColumnSpans,
  ZeroMetadata,
  WideOneCta,
  WideMxf8Scales,
  K96Block32Ids,
  SparseWideScales,
  MinifloatScalesOf32,
  RowScalesPairM128,
  WideTensorMemoryContainer,
  AbsoluteLeading107,
  SharedAddress19,
  CollectorBHalfM,
  ReadCommit,
  ExclusiveElsewhere,
  Ue5m3Sign,
  PlusZeroOfRounding,
  Ti16Majors,
  CompressedEquals,
  LookupTables,
  LookupIndices,
  ReportSample,
  ReportElements,
  Count,
};

/// What was chosen and why.
struct OpenPointInfo {
  std::string_view name;
  std::string_view choice;
  std::string_view evidence;
};

/// The table, indexed by `OpenPoint`.
const std::array<OpenPointInfo, size_t(OpenPoint::Count)> &openPoints();

/// The choices that something depended on.
class OpenPointSet {
public:
  void add(OpenPoint point) { bits |= uint64_t(1) << unsigned(point); }
  void add(OpenPointSet other) { bits |= other.bits; }
  bool contains(OpenPoint point) const { return bits >> unsigned(point) & 1; }
  bool empty() const { return bits == 0; }

private:
  uint64_t bits = 0;
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_OPENPOINTS_H
