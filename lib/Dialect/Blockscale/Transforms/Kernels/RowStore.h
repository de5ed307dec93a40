//===- RowStore.h - the epilogue that stores row by row ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H

#include "EpilogueMath.h"
#include "TensorMemory.h"
#include "TileSource.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"

namespace blockscale {

/// Four warps read the accumulator some columns at a time and store what
/// becomes of it; each thread owns one lane, that is one row of the
/// instruction's tile. Without operand swap that is a row of D and consecutive
/// columns are consecutive in memory; with swap it is a column of D, and
/// neighbouring lanes are.
class RowStore {
public:
  RowStore(KernelFrame &frame, TensorMemory &memory,
           AccumulatorRing &accumulators, TileSource &source)
      : frame(frame), b(frame.b), memory(memory), accumulators(accumulators),
        source(source),
        math(frame,
             frame.geometry.epilogueColumns(EpilogueMath::mostValues(frame))) {}

  void emitRole();

private:
  RingPosition storeTile(TilePosition position, RingPosition copy);
  void storeChunk(TilePosition position, RingPosition copy, mlir::Value index);
  void releaseAfter(int64_t lastChunk, mlir::Value index, RingPosition copy);
  int64_t chunks() const { return frame.geometry.tileN / math.getWidth(); }

  KernelFrame &frame;
  KernelBuilder &b;
  TensorMemory &memory;
  AccumulatorRing &accumulators;
  TileSource &source;
  EpilogueMath math;
  mlir::Value thread;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H
