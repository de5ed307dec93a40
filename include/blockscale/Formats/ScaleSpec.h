//===- ScaleSpec.h - how a tensor is scaled ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scale spec says which scales a tensor has and what each one covers:
//
//   spec   := [ "multi_" ] number { "_" number } { "_" tile }
//           | number { "_" number } "_" sparse | sparse
//   tile   := "t" [T] [ "s" S ] [ sparse ]
//   sparse := "n" N "m" M
//
// One to three number specs, then no tile (one scale for the tensor), one (of
// the last dimension) or two (second-to-last, last). T is 4 to 256 elements, a
// power of two; 0, or nothing, is the whole dimension. Scales are decode
// scales: the value meant is the stored number times the scale.
//
//   float32                     one scale
//   e8m0_t32                    MX: one per 32 elements of a row
//   multi_float32_e4m3_t16      NVFP4: a tensor scale over scales per 16
//   float32_t128_t128           one per 128x128 tile
//   float16_int8_t16n2m4        scale and zero point per 16 kept of 2:4
//   float32_t0n2m4              one per row of 2:4
//   float32_n2m4                one, 2:4
//   n2m4                        no scales, 2:4
//
// Two number specs are scale and zero point; with `multi_` they are tensor
// scale and tile scale. Sparsity alone is that of a tensor without scales; one
// without either has a spec too, which has no text. whyNotDataType then says
// whether the data fit.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_SCALESPEC_H
#define BLOCKSCALE_FORMATS_SCALESPEC_H

#include "blockscale/Formats/NumberSpec.h"

namespace blockscale {

/// The extent of a scale along one dimension.
struct TileSpec {
  /// Elements per scale, after sparsity: 4 to 256, a power of two; 0 is the
  /// whole dimension.
  unsigned size = 0;
  /// Elements that share the metadata of a codebook; equal to `size` if the
  /// tile is not divided (then 0 with the whole dimension).
  unsigned subtile = 0;

  bool isWholeDimension() const { return size == 0; }
  bool hasSubtile() const { return subtile != size; }
};

/// A parsed scale spec; a plain value. The default is dense and unscaled.
struct ScaleSpec {
  /// One scale for the whole tensor, over the tile scales.
  std::optional<NumberSpec> tensorScale;
  /// Absent: no scales at all, and nothing below but the sparsity.
  std::optional<NumberSpec> scale;
  std::optional<NumberSpec> zero;
  /// Of the second-to-last dimension; absent: one element.
  std::optional<TileSpec> rows;
  /// Of the last dimension; absent: the scale covers the tensor.
  std::optional<TileSpec> columns;
  /// Sparsity along the last dimension: `keepN` of each `ofM` consecutive
  /// elements are kept. Both 0 if dense.
  unsigned keepN = 0;
  unsigned ofM = 0;

  /// Values are the numbers stored.
  bool isUnscaled() const { return !scale; }
  /// Two scales, outer and inner.
  bool isMultiscale() const { return tensorScale.has_value(); }
  /// One scale for all elements.
  bool isTensor() const { return scale && !columns; }
  /// Tiles of a finite length along the last dimension.
  bool isTile() const { return columns && columns->size > 0; }
  /// Each scale is for all of the last dimension, so that it is a factor of
  /// whole rows of a product.
  bool coversK() const { return scale && !isTile(); }
  /// Integers mean their integer value. Under scales that are powers of two
  /// they are fixed-point numbers instead: `int8` counts in 1/64, `int4` in
  /// 1/4.
  bool hasPlainIntegers() const {
    return !scale || scale->kind != NumberKind::Exponent;
  }
  /// Whether there is a zero point that counts in steps of the scale; others
  /// are in real units.
  bool hasIntegerZero() const { return zero && zero->kind == NumberKind::Int; }
  /// Some dimension is covered as a whole.
  bool isChannel() const {
    return (rows && rows->size == 0) || (columns && columns->size == 0);
  }
  bool is2D() const { return rows && isTile(); }
  bool isSquare() const { return is2D() && rows->size == columns->size; }
  bool isSparse() const { return ofM != 0; }
  bool hasSubtile() const {
    return (rows && rows->hasSubtile()) || (columns && columns->hasSubtile());
  }
};

bool operator==(const TileSpec &left, const TileSpec &right);
bool operator==(const ScaleSpec &left, const ScaleSpec &right);
inline bool operator!=(const ScaleSpec &left, const ScaleSpec &right) {
  return !(left == right);
}
size_t hash_value(const ScaleSpec &spec);

/// Reads a scale spec; an empty text is none.
Result<ScaleSpec> parseScaleSpec(std::string_view text);

/// The one spelling of a spec; parses back to the same value. Number specs as
/// print(NumberSpec); `t0` for a whole dimension; `multi_` before every spec
/// with a tensor scale; nothing for a spec that is dense and unscaled.
std::string print(const ScaleSpec &spec);

/// Why data of this format cannot go unscaled; empty if they can: floats, and
/// integers of 8 bits, which then mean their integer value.
std::optional<Reason> whyNotDataType(const NumberSpec &data);

/// Why data of this format cannot be scaled so; empty if they can. An unscaled
/// spec asks the question above. This settles
/// what two number specs mean: a zero point is for unsigned integers, and other
/// data are refused with a hint at `multi_`.
std::optional<Reason> whyNotDataType(const NumberSpec &data,
                                     const ScaleSpec &scale);

/// A type by name: what the data are and how they are scaled.
struct NamedDataType {
  std::string_view name;
  /// A number spec.
  std::string_view number;
  /// A scale spec; empty if unscaled.
  std::string_view scale;
};

/// The predefined type of that name (`mxfp4`, `nvf4`, `fp8F32s`, `mx9`); names
/// differ in case. Null if there is none.
const NamedDataType *findDataType(std::string_view name);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_SCALESPEC_H
