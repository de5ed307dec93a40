//===- BlockQuantize.h - scales of blocks and their codes -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a block of binary32 numbers becomes a scale and codes, one block at a
// time and bit for bit. All scales are decode scales: value = element * scale.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_BLOCKQUANTIZE_H
#define BLOCKSCALE_FORMATS_BLOCKQUANTIZE_H

#include "blockscale/Formats/Format.h"

namespace blockscale {

/// Which power of two scales a block whose largest magnitude is m. With E =
/// floor(log2 m), f = m / 2^E in [1, 2) and the element's emax, largest value
/// and fraction bits M, the exponent is E - emax, and one more when:
enum class ScaleRule : uint8_t {
  /// never: the sample algorithm of OCP MX 1.0. Values between the largest one
  /// and 2^(emax+1) saturate.
  Floor,
  /// m / largest, divided in binary32, rounded up to a power of two (`cvt.rp`):
  /// the practice of NVIDIA's libraries for MXFP8. Never saturates.
  RoundUp,
  /// always: `quantize_mx` of AWS NKI. Never saturates.
  FloorPlusOne,
  /// m is not a power of two.
  Ceil,
  /// f is above the middle between the largest value and the next step.
  MidMax,
  /// f rounded to M bits, ties to even, is 2.
  RoundedMax,
  /// f is above the largest value's.
  TopBinade
};

/// What an infinity in a block does. A NaN always makes the block NaN.
enum class InfinityPolicy : uint8_t {
  /// The scale is 2^127, infinities become the largest element, finite values
  /// (near) zero: what `cvt.rp.satfinite` gives.
  Saturate,
  /// As a NaN: the scale byte is 0xff.
  NanBlock
};

/// The largest magnitude; NaN if any value is. 0 for no values.
float blockMax(const float *values, size_t count);

/// The ue8m0 scale byte of a block with that largest magnitude. Clamped to 0
/// and 254, so that tiny blocks lose elements and huge ones saturate; 0 for
/// m = 0; 0xff, the NaN scale, for NaN. Integer elements know Floor (also
/// standing for every rule but RoundUp and FloorPlusOne).
uint8_t blockScaleByte(ScaleRule rule, ElementFormat element,
                       float largestMagnitude,
                       InfinityPolicy infinities = InfinityPolicy::Saturate);

/// The element codes of a block under a ue8m0 scale byte: each value times
/// 2^(127 - byte), to the nearest code, saturating. Under byte 0xff every code
/// is what the element format makes of NaN.
void quantizeBlock(ElementFormat element, uint8_t scaleByte,
                   const float *values, size_t count, uint8_t *codes);

/// The tensor scale of two-level NVFP4 and its reciprocal.
struct TensorScale {
  /// Multiplies the data: 2688 / amax, where 2688 = 448 * 6.
  float encode = 1;
  /// Multiplies the result (the GEMM's alpha is the product of both sides').
  float decode = 1;
};

/// The tensor scale for data with that largest magnitude; 1 for zero, infinity
/// and NaN. Single-level NVFP4 uses TensorScale().
TensorScale nvfp4TensorScale(float largestMagnitude);

/// The ue4m3 scale byte of a block of 16. Finite data never give 0x7f; a NaN
/// gives 0x7f, which makes the block NaN.
uint8_t nvfp4BlockScale(float largestMagnitude, const TensorScale &tensor);

/// What the values of a block under that scale are multiplied by before they
/// are rounded: min(1 / (scale * decode), FLT_MAX); 0 under a scale of 0.
float nvfp4BlockFactor(uint8_t scaleByte, const TensorScale &tensor);

/// The e2m1 codes of a block under its scale. A block whose scale rounded to 0
/// gets zeros with the signs of the data; all others agree with the published
/// order of binary32 operations bit for bit.
void nvfp4QuantizeBlock(uint8_t scaleByte, const TensorScale &tensor,
                        const float *values, size_t count, uint8_t *codes);

/// The ue5m3 scale byte of a block: the smallest number of ue5m3 not below m /
/// largest element, so that no element saturates below its largest scale; the
/// largest for infinity, and a NaN gives 0xff.
uint8_t ue5m3BlockScale(ElementFormat element, float largestMagnitude);

/// What the values of a block under that scale are multiplied by before they
/// are rounded: 1 / scale, 0 under a scale of 0.
float ue5m3BlockFactor(uint8_t scaleByte);

/// The binary32 scale of a block or tensor: max(m, floor) / largest element,
/// bounded so that the largest element times the scale is a binary32 number.
/// `floor` keeps zero blocks from a scale of zero; 1e-4 is customary.
float floatScale(ElementFormat element, float largestMagnitude,
                 float floor = 1e-4f);

/// The codes under a binary32 scale, computed as value * min(1 / scale,
/// FLT_MAX); zeros with the signs of the data under a scale of 0. For element
/// formats of at most 8 bits.
void quantizeByFloatScale(ElementFormat element, float scale,
                          const float *values, size_t count, uint8_t *codes);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_BLOCKQUANTIZE_H
