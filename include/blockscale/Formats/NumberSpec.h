//===- NumberSpec.h - the number formats of scale specs ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number spec names the format of data, scales and zero points:
//
//   spec     := alias | float | integer | p3109 | codebook
//   alias    := ("float" | "bfloat") BITS
//   float    := "e" X "m" Y [ "b" BIAS ] [ "ieee" | "fn" | "fnuz" | "inuz" ]
//   integer  := ("int" | "uint") BITS
//   p3109    := "binary8p" P
//   codebook := "cb" I M [ patterns ] "_" float-or-int [ "_" label ]
//
// Specs are ASCII and read without regard to case; a leading "torch." or
// "float8_" is dropped. Beware: `e4m3` without a suffix is IEEE-like and ends
// at 240; the hardware type that ends at 448 is `e4m3fn`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_NUMBERSPEC_H
#define BLOCKSCALE_FORMATS_NUMBERSPEC_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace blockscale {

enum class NumberKind : uint8_t {
  /// Signed, at least two exponent bits.
  Float,
  /// Signed fixed point: `intK` is one integer bit and K-2 fraction bits.
  Int,
  /// Unsigned integer; as data it needs a zero point.
  Uint,
  /// Unsigned power of two: `eXm0`. Only as a scale.
  Exponent
};

/// Which codes a format sets aside.
enum class NumberSpecials : uint8_t {
  /// The top exponent: infinities and NaNs.
  Ieee,
  /// "fn": all ones is NaN, no infinity.
  Fn,
  /// "fnuz": the code of -0 is NaN (unused in fp4 and fp6), no infinity.
  Fnuz,
  /// "inuz", P3109: -0 is NaN, the largest code of each sign is infinity.
  Inuz,
  /// Unsigned integers.
  None
};

/// A parsed number spec; a plain value. A codebook keeps the fields of the
/// number line its tables are drawn from, and the codebook fields besides.
struct NumberSpec {
  NumberKind kind = NumberKind::Float;
  /// 0 for unsigned integers, 1 for signed ones, else 2 to 8.
  unsigned exponentBits = 0;
  /// Fraction bits; all bits of an unsigned integer.
  unsigned mantissaBits = 0;
  /// 0 for unsigned integers, which have none.
  int bias = 0;
  NumberSpecials specials = NumberSpecials::Ieee;

  /// Codebooks: bits of an index into a table (1 to 8); 0 if this is none.
  unsigned indexBits = 0;
  /// Codebooks: bits that choose the table (1 to 8).
  unsigned metaBits = 0;
  /// Codebooks: the patterns as written (`fi`, `f1346`), empty if the tables
  /// come from elsewhere.
  std::string pattern;
  /// Codebooks: the name after the number line, often empty.
  std::string label;

  bool isCodebook() const { return indexBits != 0; }
  bool isSigned() const {
    return kind == NumberKind::Float || kind == NumberKind::Int;
  }
  /// Bits of one number of the number line.
  unsigned bits() const { return isSigned() + exponentBits + mantissaBits; }

  /// Exponent of the largest binade and of the smallest normal number. By the
  /// family's formula also for exponent types, although the ue8m0 of the
  /// hardware reaches one further down. 0 for unsigned integers.
  int emax() const;
  int emin() const;
  /// Largest finite value; half-way from there to the value a step above;
  /// smallest positive value by the formula 2^emin * 2^-mantissaBits. 0 for
  /// unsigned integers.
  double maxFloat() const;
  double midMax() const;
  double minSubnormal() const;
  /// Range of the codes read as integers; the most negative one is not used.
  int64_t maxInt() const;
  int64_t minInt() const;
};

bool operator==(const NumberSpec &left, const NumberSpec &right);
inline bool operator!=(const NumberSpec &left, const NumberSpec &right) {
  return !(left == right);
}
size_t hash_value(const NumberSpec &spec);

/// Reads one number spec, codebooks included. Refused with a reason: names of
/// data types (`fp8`, `mxfp4`), more than 32 bits, exponents above 8 bits, a
/// 1-bit exponent with infinities, `bfloat9` (which would be an exponent type
/// by accident), the codebook patterns `p` and `s` (no agreed tables).
Result<NumberSpec> parseNumberSpec(std::string_view text);

/// The spelling in e/m form: `e8m23`, `e1m6b1fnuz`, `e4m3fn`, `uint4`,
/// `cb41fi_e2m2fnuz`. One per format.
std::string canonicalName(const NumberSpec &spec);

/// The spelling for readers: as canonicalName, but `float32`, `float16`,
/// `bfloat16` and `intK` where those name the format. Parses back to the same
/// value.
std::string print(const NumberSpec &spec);

/// The hardware format of data under this spec, if there is one: `e2m1fnuz`,
/// `e2m3fnuz`, `e3m2fnuz`, `e4m3fn`, `e5m2`, `int8`, `int4`, `bfloat16`,
/// `float16`, `e8m0`.
std::optional<ElementFormat> elementFormat(const NumberSpec &spec);

/// The hardware format of a block scale under this spec: ue8m0 for `e8m0`;
/// ue4m3 for `e4m3fn` and for `e4m3`, of which a scale has no infinities: codes
/// from 120 on are those of `e4m3fn`; ue5m3 for `e5m3fn`, whose sign, a ninth
/// bit, no scale has, and likewise for `e5m3`.
std::optional<ElementFormat> scaleFormat(const NumberSpec &spec);

/// The positive halves of a codebook's tables, each from 0 upwards with
/// 2^(indexBits-1) values; the other half of each table are the negatives.
/// Empty if the codebook has no pattern; an error if it is no codebook or the
/// pattern does not fit. parseNumberSpec has asked already.
Result<std::vector<std::vector<double>>> codebookTables(const NumberSpec &spec);

/// The nearest value of the format, ties to even, saturating at maxFloat (for
/// unsigned integers: 0 and maxInt). NaN stays NaN. Exponent types take the
/// magnitude and round down. Codebooks: a value of the number line.
double roundTo(const NumberSpec &spec, double value);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_NUMBERSPEC_H
