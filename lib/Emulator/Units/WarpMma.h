//===- WarpMma.h - mma.sync, wmma, ldmatrix, movmatrix ---------*- C++ -*-===//
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
#include <vector>

namespace blockscale::emulator {

/// Accumulator types of mma.sync.
enum class WarpAccumulator : uint8_t { F32, F16, S32, F64 };

/// How 1-bit operands meet; the ones of the result are counted.
enum class BitOperation : uint8_t { Xor, And };

/// Operands of a multiplication; C has the places of D.
enum class WarpOperand : uint8_t { A, B, C };

/// One form of mma.sync, of mma.sp with or without `::ordered_metadata`, or of
/// wmma.mma.
struct WarpMmaForm {
  unsigned m = 16, n = 8, k = 32; ///< logical K
  Element a = Element::E4M3, b = Element::E4M3;
  WarpAccumulator accumulator = WarpAccumulator::F32;
  /// Of C, where it is not that of D.
  std::optional<WarpAccumulator> addend;
  bool sparse = false;
  /// Metadata name ascending pairs only.
  bool ordered = true;
  /// Which threads of four hold the metadata.
  unsigned selector = 0;
  /// fp4 packed two to a byte (kinds mxf4 and mxf4nvf4). Otherwise fp4 sits in
  /// bits 5..2 of its byte.
  bool packedFp4 = false;
  unsigned scaleVec = 0; ///< scales per row: 0 (none), 1, 2 or 4
  Element scale = Element::UE8M0;
  bool satfinite = false;                ///< s32 only
  BitOperation bits = BitOperation::Xor; ///< of b1
  Rounding rounding = Rounding::RN;      ///< of f64
  /// wmma: the fragments are those of wmma.load.
  bool wmma = false;
  /// m8n8k4 of f16: A is column-major, B is row-major.
  bool columnA = false, rowB = false;

  /// Registers of one lane; those of f64 have 64 bits.
  unsigned registersA() const;
  unsigned registersB() const;
  unsigned registersC() const;
  unsigned registersD() const;
  /// m8n8k4 of f16 is four products, each of eight lanes.
  bool isQuadPairs() const;
};

/// Bits of one element of A or B in a register.
unsigned containerBits(const WarpMmaForm &form, Element type);

/// Which rule the form breaks; nothing if it is executable here.
std::optional<std::string> whyNot(const WarpMmaForm &form);

/// The row of A, C and D or the column of B, and what counts the other way.
struct FragmentPlace {
  unsigned row, column;
};

/// Where element `i` of lane `lane` lies. Of sparse A: among the stored ones.
/// Not for isQuadPairs.
FragmentPlace placeOf(const WarpMmaForm &form, WarpOperand operand,
                      unsigned lane, unsigned i);
/// placeOf of all elements, by lane, as row * `length` + column. Looked up:
/// forms that lie alike share it. Of the thread.
const std::vector<uint16_t> &placesOf(const WarpMmaForm &form,
                                      WarpOperand operand, unsigned length);
/// The same for isQuadPairs, inside of the product of the lane; `wide` if C
/// is f32.
FragmentPlace quadPlaceOf(const WarpMmaForm &form, WarpOperand operand,
                          bool wide, unsigned lane, unsigned i);

/// Four bits of metadata: those of chunk `x` of row `m` of A.
unsigned metadataOf(const WarpMmaForm &form, const uint32_t *metadata,
                    unsigned m, unsigned x);
/// Elements of a chunk of a sparse row, of which half are stored.
unsigned chunkOf(const WarpMmaForm &form);

/// Puts the stored elements of sparse rows, of k / 2 each, where the metadata
/// say in rows of k. A reason if they name no positions for values that are not
/// zero.
std::optional<std::string> expandSparse(const WarpMmaForm &form,
                                        const uint32_t *metadata,
                                        const double *stored, double *out,
                                        OpenPointSet &openPoints);

/// Scale operand: register and selectors. `byteId` and `threadId` as in PTX.
struct WarpScale {
  const uint32_t *registers = nullptr; ///< 32 lanes
  unsigned byteId = 0, threadId = 0;
};

/// Most words of a fragment: a register of f64 is two, the low half first.
inline constexpr unsigned kFragmentWords = 16;

/// Executes a legal form. `metadata` (32 lanes) for sparse forms only.
/// A reason if ids, metadata or a scale are illegal; d is then unchanged.
std::optional<std::string> warpMma(const WarpMmaForm &form, const uint32_t *a,
                                   const uint32_t *b, const uint32_t *c,
                                   const uint32_t *metadata, WarpScale scaleA,
                                   WarpScale scaleB, uint32_t *d,
                                   OpenPointSet &openPoints);

enum class MatrixShape : uint8_t { M8N8, M8N16, M16N16, M16N8 };
enum class MatrixFormat : uint8_t { B16, B8, B4x16P64, B6x16P32, S4 };

/// One ldmatrix or stmatrix form. M8N16 with B4x16P64, B6x16P32, or S4, whose
/// numbers keep their sign in 8 bits; M16N16 is ldmatrix .trans of 8-bit data;
/// M16N8 is stmatrix .trans.b8.
struct MatrixForm {
  MatrixShape shape = MatrixShape::M8N8;
  MatrixFormat format = MatrixFormat::B16;
  unsigned num = 1;
  bool trans = false;

  /// Row i is addressed by lane i.
  unsigned rows() const;
  /// What is read or written of a row, padding included.
  unsigned rowBytes() const { return format == MatrixFormat::S4 ? 8 : 16; }
  unsigned registers() const;
  /// Bytes of a row that are data; padding follows in the unpacking forms.
  unsigned dataBytes() const {
    return format == MatrixFormat::B4x16P64   ? 8
           : format == MatrixFormat::B6x16P32 ? 12
                                              : rowBytes();
  }
  /// The form exists (`store`: as stmatrix).
  bool legal(bool store) const;
  /// Depends on OpenPoint::TransposedByteMatrix.
  bool openPoint() const { return shape == MatrixShape::M16N16; }
};

/// `rows` holds the bytes at each addressed row, in lane order.
void loadMatrix(const MatrixForm &form, const uint8_t (*rows)[16],
                uint32_t *out);
void storeMatrix(const MatrixForm &form, const uint32_t *in,
                 uint8_t (*rows)[16]);

/// movmatrix.m8n8.trans.b16.
void moveMatrix(const uint32_t *in, uint32_t *out);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_WARPMMA_H
