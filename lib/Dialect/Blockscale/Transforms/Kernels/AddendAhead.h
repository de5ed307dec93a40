//===- AddendAhead.h - C that is loaded before it is needed -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDAHEAD_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDAHEAD_H

#include "EpilogueMath.h"

namespace blockscale {

/// C of what a thread finishes next, on its way meanwhile: that of the first
/// chunk of an accumulator while the thread waits for the sums, and then that
/// of the chunk behind while it stores what became of one, in the registers
/// that C of this one had. Only this thread stores where it reads, and later,
/// so that D may lie where C does.
class AddendAhead {
public:
  /// Where threads finish chunks of `columns` sums.
  AddendAhead(KernelFrame &frame, int64_t columns)
      : b(frame.b), math(frame, columns) {}

  /// Whether threads load C themselves, of sums that they have.
  static bool isPossible(KernelFrame &frame);

  /// Where a chunk begins in a tile, and whether there is one, an i1; null if
  /// there never is.
  struct Chunk {
    TilePosition tile;
    mlir::Value row, column, isThere;
  };
  /// Loads C of the first chunk.
  void begin(const Chunk &first);
  /// Says which chunk follows the one that is finished next.
  void expect(const Chunk &following) { next = following; }
  /// Loads C of that one, once the others are `finished`, of which nothing is
  /// computed later: C of these is not needed any more. Returns them.
  mlir::Value passOn(mlir::Value finished);
  void passOn();

  /// C of what is finished next, as it lies in memory; null if nothing is.
  mlir::Value loaded() const { return codes; }
  /// The same where a loop carries it.
  void carry(mlir::Value loaded) { codes = loaded; }

private:
  mlir::Value load(const Chunk &chunk);
  /// The same if there is such a chunk.
  mlir::Value loadIf(const Chunk &chunk, mlir::Value otherwise);

  KernelBuilder &b;
  EpilogueMath math;
  mlir::Value codes;
  Chunk next;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDAHEAD_H
