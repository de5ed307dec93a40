//===- Convert.h - the narrow float conversions of cvt ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact conversions between f32 and the formats of the PTX `cvt` family:
// fp8, fp6, fp4, ue8m0, f16, bf16 and tf32, with `.relu`, `.satfinite` and
// stochastic rounding. Packed forms put operand a in the most significant
// field, as the PTX ISA (cvt) says.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_CONVERT_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_CONVERT_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::emulator {

/// Element types of the tensor instructions and of cvt.
enum class Element : uint8_t {
  E4M3,
  E5M2,
  E2M3,
  E3M2,
  E2M1,
  UE8M0,
  UE4M3,
  F16,
  BF16,
  TF32,
  F32,
  S8,
  U8,
  S4,
  U4,
  B1,
  F64,
  UE5M3,
  S2F6,    ///< s2f6: sixty-fourths in two's complement
  S1Z4M11, ///< s1z4m11 of kind ti16: sign, four zero bits, magnitude
};
inline constexpr unsigned kElements = 20;

/// Bits of one element as an instruction sees it (fp6 6, fp4 4, tf32 32).
unsigned bitWidth(Element type);

/// Name as PTX writes it, for instance 'e4m3'.
const char *name(Element type);

/// The element of that name; none if no element has it.
std::optional<Element> findElement(std::string_view name);

/// Exact value of a code; upper bits that are not part of the code are ignored.
/// The integer types give their integer value, TF32 ignores the low 13 bits,
/// S1Z4M11 its four zero bits.
/// Codes 0xFF of UE8M0 and UE5M3 and 0x7F of UE4M3 are NaN. Not for F64.
float decode(Element type, uint32_t code);

/// Values of all codes of a format of at most 16 bits, bf16 excepted; otherwise
/// null.
const float *tableOf(Element type);

/// Rounding mode of a conversion. RNA ties away from zero. RS needs random
/// bits.
enum class Rounding : uint8_t { RN, RZ, RP, RM, RNA, RS };

/// Modifiers of one cvt.
struct ConvertMode {
  Rounding rounding = Rounding::RN;
  /// Overflow and infinity give the largest finite value. fp6 and fp4 always
  /// behave so.
  bool satfinite = false;
  /// Negative results become +0; NaN stays what the type's NaN rule gives.
  bool relu = false;
  bool plusZero = false; ///< -0 becomes +0
};

/// Converts one f32. For RS, `random` holds the random bits in its low
/// `randomBits` bits (at most 16), aligned to the top of the discarded field.
/// Legal for E4M3, E5M2, E2M3, E3M2, E2M1, F16, BF16, TF32; UE8M0 takes RZ or
/// RP and ignores the sign, UE5M3 takes RN, RZ and RP and ignores it. TF32
/// keeps its f32 position with low bits 0. S2F6 takes RN and saturates; NaN
/// becomes its largest number.
uint32_t encode(Element type, float value, ConvertMode mode,
                uint32_t random = 0, unsigned randomBits = 0);

/// cvt with an x2 destination: a in the upper field. `random` is rbits of the
/// f16x2 and bf16x2 `.rs` forms.
uint32_t packX2(Element type, float a, float b, ConvertMode mode,
                uint32_t random = 0);

/// The source of `.scaled::n1::ue8m0`: divided by the scale, subnormal numbers
/// as zeros. What would leave the range of f32 stays at its end.
float dividedByScale(float value, uint32_t scale);

/// The source of `.scaled::n2::ue8m0` on the way to S2F6: the same, but for
/// subnormal numbers, which count.
float dividedByOwnScale(float value, uint32_t scale);

/// cvt.rs with an x4 destination, sources {a, b, e, f}: a in the top field.
/// The result has 32 bits, 16 for E2M1.
uint32_t packX4(Element type, float a, float b, float e, float f,
                ConvertMode mode, uint32_t random);

/// cvt.rn{.relu}.f16x2.<fp8/fp6/fp4>x2 (exact).
uint32_t unpackToF16x2(Element type, uint32_t packed, bool relu);

/// cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.<fp8/fp6/fp4/s2f6>x2:
/// each element times the scale of its half of `scales`, 0x7F7F for none.
uint32_t unpackToBF16x2(Element type, uint32_t packed, uint32_t scales,
                        ConvertMode mode);

/// cvt.rn.bf16x2.ue8m0x2 (exact; 0x00 gives the bf16 subnormal 2^-127).
uint32_t unpackUE8M0ToBF16x2(uint32_t packed);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_CONVERT_H
