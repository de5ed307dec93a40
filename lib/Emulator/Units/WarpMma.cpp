//===- WarpMma.cpp - mma.sync on arrays of registers ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpMma.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace blockscale::emulator {

using Reason = std::optional<std::string>;

static constexpr unsigned kM = 16, kN = 8;

/// Bits of one element in a register.
static unsigned containerBits(const WarpMmaForm &form, Element type) {
  if (form.packedFp4)
    return 4;
  return std::max(bitWidth(type), 8u);
}

unsigned WarpMmaForm::registersA() const {
  unsigned stored = sparse ? k / 2 : k;
  return kM * stored * containerBits(*this, a) / 32 / 32;
}

unsigned WarpMmaForm::registersB() const {
  return kN * k * containerBits(*this, b) / 32 / 32;
}

unsigned WarpMmaForm::registersC() const {
  return accumulator == WarpAccumulator::F16 ? 2 : 4;
}

static bool isNarrowFloat(Element type) { return type <= Element::E2M1; }

static bool isByteInteger(Element type) {
  return type == Element::S8 || type == Element::U8;
}

/// Number of elements per register of the dense shapes that exist, by width.
static bool legalK(const WarpMmaForm &form) {
  unsigned dense = form.sparse ? form.k / 2 : form.k;
  switch (containerBits(form, form.a)) {
  case 4:
    return dense == 64;
  case 8:
    return dense == 32 || (dense == 16 && !form.sparse && !form.scaleVec);
  case 16:
    return dense == 16 || (dense == 8 && !form.sparse);
  default:
    return dense == 8 || (dense == 4 && !form.sparse);
  }
}

static Reason whyNotScales(const WarpMmaForm &form) {
  unsigned vec = form.scaleVec;
  if (vec != 1 && vec != 2 && vec != 4)
    return "scale_vec " + std::to_string(vec) + " does not exist";
  if (form.packedFp4 ? vec == 1 : vec != 1)
    return "scale_vec::" + std::to_string(vec) +
           "X does not exist for this kind";
  if (form.accumulator != WarpAccumulator::F32)
    return std::string("block-scaled forms accumulate in f32 only");
  if (form.scale == Element::UE4M3 ? vec != 4 : form.scale != Element::UE8M0)
    return std::string("scale type '") + name(form.scale) +
           "' does not exist with scale_vec::" + std::to_string(vec) + "X";
  return std::nullopt;
}

Reason whyNot(const WarpMmaForm &form) {
  bool narrow = isNarrowFloat(form.a) && isNarrowFloat(form.b);
  bool integer = isByteInteger(form.a) && isByteInteger(form.b);
  bool wide =
      form.a == form.b && (form.a == Element::F16 || form.a == Element::BF16 ||
                           form.a == Element::TF32);
  if (!narrow && !integer && !wide)
    return std::string("operand types '") + name(form.a) + "' and '" +
           name(form.b) + "' do not go together";
  if (form.packedFp4 && (form.a != Element::E2M1 || form.b != Element::E2M1))
    return std::string("packed operands must be 'e2m1'");
  if (form.packedFp4 && !form.scaleVec)
    return std::string("packed 'e2m1' operands need scales");
  if (!legalK(form))
    return "K=" + std::to_string(form.k) + " does not exist for '" +
           name(form.a) + "'";
  bool half = form.accumulator == WarpAccumulator::F16;
  if (integer != (form.accumulator == WarpAccumulator::S32) ||
      (half && (form.a == Element::BF16 || form.a == Element::TF32)))
    return std::string("accumulator type does not go with the operands");
  if (form.sparse && wide)
    return std::string("sparse forms of 16- and 32-bit operands are not "
                       "supported");
  if (form.scaleVec)
    return narrow ? whyNotScales(form)
                  : Reason("scales need 8-, 6- or 4-bit operands");
  return std::nullopt;
}

namespace {

/// Where element `i` of lane `l` of an operand lies.
struct Place {
  unsigned row, k;
};

} // namespace

/// Fragment of A: groups of one register, rows g and g + 8 alternating.
static Place placeA(unsigned perRegister, unsigned lane, unsigned i) {
  unsigned q = i / perRegister, within = i % perRegister;
  unsigned g = lane / 4, c = lane % 4;
  return {g + 8 * (q % 2),
          perRegister * c + within + 4 * perRegister * (q / 2)};
}

static Place placeB(unsigned perRegister, unsigned lane, unsigned i) {
  unsigned q = i / perRegister, within = i % perRegister;
  return {lane / 4, perRegister * (lane % 4) + within + 4 * perRegister * q};
}

static float elementAt(const WarpMmaForm &form, Element type,
                       const uint32_t *registers, unsigned lane, unsigned i) {
  unsigned bits = containerBits(form, type), per = 32 / bits;
  uint32_t word = registers[i / per * 32 + lane];
  uint32_t code =
      bits == 32 ? word : word >> i % per * bits & ((1u << bits) - 1);
  // Unpacked fp4 lies in bits 5..2 of its byte.
  if (type == Element::E2M1 && bits == 8)
    code = code >> 2 & 0xf;
  return decode(type, code);
}

/// Decodes A to kM x k, sparse rows expanded through the metadata.
static Reason gatherA(const WarpMmaForm &form, const uint32_t *registers,
                      const uint32_t *metadata, std::vector<double> &out,
                      OpenPointSet &openPoints) {
  unsigned bits = containerBits(form, form.a), per = 32 / bits;
  unsigned count = form.registersA() * per;
  unsigned storedK = form.sparse ? form.k / 2 : form.k;
  std::vector<double> stored(kM * storedK);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; ++i) {
      Place p = placeA(per, lane, i);
      stored[p.row * storedK + p.k] =
          elementAt(form, form.a, registers, lane, i);
    }
  if (!form.sparse) {
    out = std::move(stored);
    return std::nullopt;
  }
  unsigned unit = form.packedFp4 ? 2 : 1, chunk = 4 * unit;
  out.assign(kM * form.k, 0);
  for (unsigned m = 0; m < kM; ++m) {
    for (unsigned x = 0; x < form.k / chunk; ++x) {
      // A metadata word serves eight chunks of row g + 8 (c % 2), half c / 2.
      unsigned lane = m % 8 * 4 + m / 8 + x / 8 * 2;
      unsigned nibble = metadata[lane] >> x % 8 * 4 & 0xf;
      unsigned first = nibble & 3, second = nibble >> 2;
      const double *chosen = &stored[m * storedK + x * 2 * unit];
      if (first >= second && std::all_of(chosen, chosen + 2 * unit,
                                         [](double v) { return v == 0; })) {
        openPoints.add(OpenPoint::ZeroMetadata);
        continue;
      }
      if (first >= second)
        return "sparsity metadata " + std::to_string(nibble) + " of row " +
               std::to_string(m) + " is not an ascending pair of positions";
      for (unsigned u = 0; u < unit; ++u) {
        out[m * form.k + x * chunk + first * unit + u] = chosen[u];
        out[m * form.k + x * chunk + second * unit + u] = chosen[unit + u];
      }
    }
  }
  return std::nullopt;
}

static void gatherB(const WarpMmaForm &form, const uint32_t *registers,
                    std::vector<double> &out) {
  unsigned per = 32 / containerBits(form, form.b);
  out.assign(kN * form.k, 0);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < form.registersB() * per; ++i) {
      Place p = placeB(per, lane, i);
      out[p.row * form.k + p.k] = elementAt(form, form.b, registers, lane, i);
    }
}

static Reason checkIds(const WarpMmaForm &form, WarpScale scale, bool isA) {
  unsigned step = form.scaleVec;
  if (!scale.registers || scale.byteId > 3 || scale.byteId % step)
    return "byte-id " + std::to_string(scale.byteId) +
           " is not legal with scale_vec::" + std::to_string(step) + "X";
  unsigned limit = isA ? 1 : 3;
  if (scale.threadId > limit)
    return "thread-id " + std::to_string(scale.threadId) + " of operand " +
           (isA ? "A" : "B") + " is not in 0.." + std::to_string(limit);
  return std::nullopt;
}

/// The byte with the scale of block `s` of row m of A or column n of B.
static uint32_t scaleOf(const WarpMmaForm &form, WarpScale scale, bool isA,
                        unsigned row, unsigned s) {
  unsigned lane = isA ? row % 8 * 4 + scale.threadId * 2 + row / 8
                      : row * 4 + scale.threadId;
  return scale.registers[lane] >> (scale.byteId + s) * 8 & 0xff;
}

/// Folds the scales into the elements; exact in double. As in the tensor core,
/// a ue4m3 scale with bit 7 may scale zeros alone, and counts as NaN.
static Reason applyScales(const WarpMmaForm &form, WarpScale scale, bool isA,
                          std::vector<double> &values) {
  unsigned rows = isA ? kM : kN, block = form.k / form.scaleVec;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned s = 0; s < form.scaleVec; ++s) {
      uint32_t code = scaleOf(form, scale, isA, r, s);
      double factor = decode(form.scale, code);
      double *from = &values[r * form.k + s * block];
      if (form.scale == Element::UE4M3 && code & 0x80) {
        if (std::any_of(from, from + block, [](double v) { return v != 0; }))
          return "bit 7 is set in the 'ue4m3' scale of block " +
                 std::to_string(s) + " of row " + std::to_string(r) + " of " +
                 (isA ? "A" : "B");
        factor = std::numeric_limits<double>::quiet_NaN();
      }
      for (unsigned i = 0; i < block; ++i)
        from[i] *= factor;
    }
  return std::nullopt;
}

static uint32_t integerResult(const WarpMmaForm &form, uint32_t c, double sum) {
  int64_t value = int64_t(int32_t(c)) + int64_t(sum);
  if (form.satfinite)
    value = std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX);
  return uint32_t(value);
}

Reason warpMma(const WarpMmaForm &form, const uint32_t *a, const uint32_t *b,
               const uint32_t *c, const uint32_t *metadata, WarpScale scaleA,
               WarpScale scaleB, uint32_t *d, OpenPointSet &openPoints) {
  if (auto reason = whyNot(form))
    return reason;
  if (form.sparse && !metadata)
    return std::string("sparse form without metadata");
  if (form.scaleVec) {
    if (auto reason = checkIds(form, scaleA, true))
      return reason;
    if (auto reason = checkIds(form, scaleB, false))
      return reason;
  }
  std::vector<double> left, right;
  if (auto reason = gatherA(form, a, metadata, left, openPoints))
    return reason;
  gatherB(form, b, right);
  if (form.scaleVec) {
    if (auto reason = applyScales(form, scaleA, true, left))
      return reason;
    if (auto reason = applyScales(form, scaleB, false, right))
      return reason;
  }
  bool half = form.accumulator == WarpAccumulator::F16;
  uint32_t result[4 * 32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t packed[2] = {0, 0};
    for (unsigned i = 0; i < 4; ++i) {
      unsigned m = lane / 4 + 8 * (i / 2), n = 2 * (lane % 4) + i % 2;
      double sum = 0;
      for (unsigned k = 0; k < form.k; ++k)
        sum += left[m * form.k + k] * right[n * form.k + k];
      if (form.accumulator == WarpAccumulator::S32) {
        result[i * 32 + lane] = integerResult(form, c[i * 32 + lane], sum);
        continue;
      }
      Element type = half ? Element::F16 : Element::F32;
      uint32_t old =
          half ? c[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff : c[i * 32 + lane];
      uint32_t bits =
          encode(type, float(double(decode(type, old)) + sum), ConvertMode{});
      if (half)
        packed[i / 2] |= bits << i % 2 * 16;
      else
        result[i * 32 + lane] = bits;
    }
    for (unsigned r = 0; half && r < 2; ++r)
      result[r * 32 + lane] = packed[r];
  }
  std::copy(result, result + form.registersC() * 32, d);
  return std::nullopt;
}

} // namespace blockscale::emulator
