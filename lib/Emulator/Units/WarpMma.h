//===- WarpMma.h - mma.sync, ldmatrix, stmatrix, movmatrix ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warp-level matrix instructions on arrays of registers: register r of lane l
// is at [r * 32 + l]. Sums are exact products added in double and rounded once
// to the accumulator type.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_WARPMMA_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_WARPMMA_H

#include "Convert.h"

#include "blockscale/Emulator/OpenPoints.h"

#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::emulator {

/// Accumulator types of mma.sync.
enum class WarpAccumulator : uint8_t { F32, F16, S32 };

/// One mma.sync or mma.sp::ordered_metadata form, row.col, M = 16, N = 8.
struct WarpMmaForm {
  unsigned k = 32; ///< logical K
  Element a = Element::E4M3, b = Element::E4M3;
  WarpAccumulator accumulator = WarpAccumulator::F32;
  bool sparse = false;
  /// fp4 packed two to a byte (kinds mxf4 and mxf4nvf4). Otherwise fp4 sits in
  /// bits 5..2 of its byte.
  bool packedFp4 = false;
  unsigned scaleVec = 0; ///< scales per row: 0 (none), 1, 2 or 4
  Element scale = Element::UE8M0;
  bool satfinite = false; ///< s32 only

  unsigned registersA() const;
  unsigned registersB() const;
  unsigned registersC() const;
};

/// Which rule the form breaks; nothing if it is executable here.
std::optional<std::string> whyNot(const WarpMmaForm &form);

/// Scale operand: register and selectors. `byteId` and `threadId` as in PTX.
struct WarpScale {
  const uint32_t *registers = nullptr; ///< 32 lanes
  unsigned byteId = 0, threadId = 0;
};

/// Executes a legal form. `metadata` (32 lanes) for sparse forms only.
/// A reason if ids, metadata or a scale are illegal; d is then unchanged.
std::optional<std::string> warpMma(const WarpMmaForm &form, const uint32_t *a,
                                   const uint32_t *b, const uint32_t *c,
                                   const uint32_t *metadata, WarpScale scaleA,
                                   WarpScale scaleB, uint32_t *d,
                                   OpenPointSet &openPoints);

enum class MatrixShape : uint8_t { M8N8, M8N16, M16N16, M16N8 };
enum class MatrixFormat : uint8_t { B16, B8, B4x16P64, B6x16P32 };

/// One ldmatrix or stmatrix form. M8N16 with B4x16P64 or B6x16P32; M16N16 is
/// ldmatrix .trans of 8-bit data; M16N8 is stmatrix .trans.b8.
struct MatrixForm {
  MatrixShape shape = MatrixShape::M8N8;
  MatrixFormat format = MatrixFormat::B16;
  unsigned num = 1;
  bool trans = false;

  /// Rows of 16 bytes; row i is addressed by lane i.
  unsigned rows() const;
  unsigned registers() const;
  /// Bytes of a row that are data; padding follows in the unpacking forms.
  unsigned dataBytes() const {
    return format == MatrixFormat::B4x16P64   ? 8
           : format == MatrixFormat::B6x16P32 ? 12
                                              : 16;
  }
  /// The form exists (`store`: as stmatrix).
  bool legal(bool store) const;
  /// Depends on OpenPoint::TransposedByteMatrix.
  bool openPoint() const { return shape == MatrixShape::M16N16; }
};

/// `rows` holds the 16 bytes at each addressed row, in lane order.
void loadMatrix(const MatrixForm &form, const uint8_t (*rows)[16],
                uint32_t *out);
void storeMatrix(const MatrixForm &form, const uint32_t *in,
                 uint8_t (*rows)[16]);

/// movmatrix.m8n8.trans.b16.
void moveMatrix(const uint32_t *in, uint32_t *out);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_WARPMMA_H
