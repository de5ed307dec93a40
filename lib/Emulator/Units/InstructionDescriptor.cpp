//===- InstructionDescriptor.cpp - tcgen05.mma instruction word -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionDescriptor.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace blockscale::emulator {

using Reason = std::optional<std::string>;

const char *name(MmaKind kind) {
  switch (kind) {
  case MmaKind::F16:
    return "f16";
  case MmaKind::TF32:
    return "tf32";
  case MmaKind::F8F6F4:
    return "f8f6f4";
  case MmaKind::I8:
    return "i8";
  case MmaKind::TI16:
    return "ti16";
  case MmaKind::MXF8F6F4:
    return "mxf8f6f4";
  case MmaKind::MXF4:
    return "mxf4";
  case MmaKind::MXF4NVF4:
    return "mxf4nvf4";
  }
  return "";
}

bool isInteger(MmaKind kind) {
  return kind == MmaKind::I8 || kind == MmaKind::TI16;
}

bool isBlockScaled(MmaKind kind) {
  return kind == MmaKind::MXF8F6F4 || kind == MmaKind::MXF4 ||
         kind == MmaKind::MXF4NVF4;
}

static uint32_t field(uint32_t bits, unsigned offset, unsigned width) {
  return bits >> offset & ((1u << width) - 1);
}

static bool isFp4Kind(MmaKind kind) {
  return kind == MmaKind::MXF4 || kind == MmaKind::MXF4NVF4;
}

static std::string inQuotes(MmaKind kind) {
  return std::string("kind '") + name(kind) + "'";
}

/// Element type of a 3-bit code, or nothing.
static std::optional<Element> elementOf(MmaKind kind, uint32_t code) {
  switch (kind) {
  case MmaKind::F16:
    if (code < 2)
      return code ? Element::BF16 : Element::F16;
    return std::nullopt;
  case MmaKind::TF32:
    if (code == 2)
      return Element::TF32;
    return std::nullopt;
  case MmaKind::I8:
    if (code < 2)
      return code ? Element::S8 : Element::U8;
    return std::nullopt;
  case MmaKind::TI16:
    if (code == 3)
      return Element::S1Z4M11;
    return std::nullopt;
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    if (code == 1)
      return Element::E2M1;
    return std::nullopt;
  case MmaKind::F8F6F4:
  case MmaKind::MXF8F6F4:
    break;
  }
  switch (code) {
  case 0:
    return Element::E4M3;
  case 1:
    return Element::E5M2;
  case 3:
    return Element::E2M3;
  case 4:
    return Element::E3M2;
  case 5:
    return Element::E2M1;
  default:
    return std::nullopt;
  }
}

/// Why the bits must be 0, if they are not; `since` says where they mean
/// something.
static Reason reserved(uint32_t bits, MmaKind kind, unsigned offset,
                       unsigned width, const char *since = "") {
  if (field(bits, offset, width) == 0)
    return std::nullopt;
  return "instruction descriptor bit" +
         (width == 1 ? " " + std::to_string(offset)
                     : "s " + std::to_string(offset) + "-" +
                           std::to_string(offset + width - 1)) +
         " must be 0 for " + inQuotes(kind) + since;
}

static Reason checkReservedScaled(uint32_t bits, const MmaForm &form) {
  MmaKind kind = form.kind;
  bool fp4 = isFp4Kind(kind);
  const char *k = "; on sm_107 it is the K size";
  // With sparsity the selector is taken as 0 (PTX ISA 9.4).
  if (!form.sparse)
    if (auto reason = reserved(bits, kind, 0, 2))
      return reason;
  if (!form.wide || !fp4)
    if (auto reason = reserved(bits, kind, 3, 1, fp4 ? k : ""))
      return reason;
  if (!form.wide || !fp4)
    if (auto reason = reserved(bits, kind, 24, 1,
                               fp4 ? "; on sm_107 it is the upper bit of the "
                                     "scale format, 'ue5m3'"
                                   : ""))
      return reason;
  if (!form.wide)
    if (auto reason = reserved(bits, kind, 26, 1,
                               "; on sm_107 it lays the scales of A one row "
                               "to a lane"))
      return reason;
  for (unsigned offset : {6u, 25u})
    if (auto reason = reserved(bits, kind, offset, 1))
      return reason;
  if (!fp4)
    return form.wide ? std::nullopt : reserved(bits, kind, 31, 1, k);
  bool elementwise = field(bits, 12, 1);
  if (!form.sparse)
    return reserved(bits, kind, 12, 1);
  if (elementwise != form.elementwise)
    return "instruction descriptor bit 12 must be " +
           std::to_string(form.elementwise) + " for sparse " + inQuotes(kind) +
           (form.elementwise
                ? ": metadata counts elements on sm_107a, not pairs"
                : ": metadata counts pairs of elements before sm_107");
  return std::nullopt;
}

static Reason checkReserved(uint32_t bits, const MmaForm &form) {
  MmaKind kind = form.kind;
  if (isBlockScaled(kind))
    return checkReservedScaled(bits, form);
  if (kind != MmaKind::I8)
    if (auto reason = reserved(bits, kind, 3, 1))
      return reason;
  for (unsigned offset : {6u, 23u})
    if (auto reason = reserved(bits, kind, offset, 1))
      return reason;
  if (!form.wide || kind != MmaKind::F8F6F4)
    if (auto reason = reserved(
            bits, kind, 29, 1,
            kind == MmaKind::F8F6F4 ? "; on sm_107 it is the K size" : ""))
      return reason;
  // With .ws the largest shift of B between uses of a collector buffer, which
  // changes no value.
  return form.weightStationary ? std::nullopt : reserved(bits, kind, 30, 2);
}

static Reason decodeAccumulator(uint32_t bits, MmaKind kind,
                                InstructionDescriptor &out) {
  if (isBlockScaled(kind))
    return std::nullopt;
  uint32_t code = field(bits, 4, 2);
  bool f16Allowed = kind == MmaKind::F16 || kind == MmaKind::F8F6F4;
  if (isInteger(kind) ? code != 2 : code != 1 && !(code == 0 && f16Allowed))
    return "accumulator type " + std::to_string(code) + " is not one of " +
           inQuotes(kind);
  out.accumulator = code == 0 ? Element::F16 : Element::F32;
  return std::nullopt;
}

static unsigned baseK(MmaKind kind) {
  switch (kind) {
  case MmaKind::TF32:
    return 8;
  case MmaKind::F16:
  case MmaKind::TI16:
    return 16;
  case MmaKind::F8F6F4:
  case MmaKind::I8:
  case MmaKind::MXF8F6F4:
    return 32;
  default:
    return 64;
  }
}

/// K of the instruction, from its size bits.
static Reason decodeK(const MmaForm &form, uint32_t bits,
                      InstructionDescriptor &out) {
  out.k = baseK(form.kind) * (form.sparse ? 2 : 1);
  if (isFp4Kind(form.kind)) {
    unsigned code = field(bits, 3, 1) << 1 | field(bits, 31, 1);
    if (code == 3)
      return "K size code 3 is not one of " + inQuotes(form.kind) +
             "; 0 is K=64, 1 K=96, 2 K=128";
    if (code == 2 && form.sparse)
      return std::string("K=256 does not exist: sparse K is 128 or 192");
    if (code == 1)
      out.k = form.sparse ? 192 : 96;
    out.doubleK = code == 2;
  } else if (form.kind == MmaKind::MXF8F6F4) {
    out.doubleK = field(bits, 31, 1);
  } else if (form.kind == MmaKind::F8F6F4) {
    out.doubleK = field(bits, 29, 1);
    if (out.doubleK && form.sparse)
      return inQuotes(form.kind) + " has no descriptor code for sparse K=128; "
                                   "legal is sparse K=64";
    if (out.doubleK && (bitWidth(out.a) != 8 || bitWidth(out.b) != 8))
      return "K=64 of " + inQuotes(form.kind) +
             " takes 'e4m3' and 'e5m2' only, found '" + name(out.a) +
             "' and '" + name(out.b) + "'";
  }
  if (out.doubleK)
    out.k *= 2;
  return std::nullopt;
}

static Reason decodeScaleType(const MmaForm &form, uint32_t bits,
                              InstructionDescriptor &out,
                              OpenPointSet &points) {
  unsigned code = field(bits, 23, 2);
  if (code == 3)
    return std::string("scale format code 3 does not exist; 0 is 'ue4m3', 1 "
                       "'ue8m0', 2 'ue5m3'");
  out.scale = code == 0   ? Element::UE4M3
              : code == 1 ? Element::UE8M0
                          : Element::UE5M3;
  if (code == 1)
    return std::nullopt;
  if (form.kind != MmaKind::MXF4NVF4 || (form.block == 32 && !form.wide))
    return inQuotes(form.kind) + " with blocks of " +
           std::to_string(form.block) + " takes 'ue8m0' scales only, found '" +
           name(out.scale) + "'" +
           (form.kind == MmaKind::MXF4NVF4 ? "; sm_107 takes it" : "");
  if (form.block == 32)
    points.add(OpenPoint::MinifloatScalesOf32);
  return std::nullopt;
}

static Reason checkScales(const MmaForm &form, uint32_t bits,
                          InstructionDescriptor &out, OpenPointSet &points) {
  if (form.block != 16 && form.block != 32)
    return "block size " + std::to_string(form.block) +
           " does not exist; legal are 16 and 32";
  if (form.block == 16 && form.kind != MmaKind::MXF4NVF4)
    return inQuotes(form.kind) + " has blocks of 32 only";
  if (auto reason = decodeScaleType(form, bits, out, points))
    return reason;
  // With sparsity one scale covers twice the logical K.
  out.scaleCount = out.k / form.block / (form.sparse ? 2 : 1);
  out.scaleIdB = field(bits, 4, 2);
  out.scaleIdA = field(bits, 29, 2);
  out.rowScalesA = field(bits, 26, 1);
  bool threeQuarters = out.k == 96 || out.k == 192;
  unsigned step = threeQuarters ? (form.block == 32 ? 1 : 2) : out.scaleCount;
  for (auto [id, which] :
       {std::pair(out.scaleIdA, "SFA_ID"), std::pair(out.scaleIdB, "SFB_ID")})
    if (id % step)
      return std::string(which) + " " + std::to_string(id) +
             " is not a multiple of " + std::to_string(step) + " as " +
             inQuotes(form.kind) + " with " + std::to_string(out.scaleCount) +
             " scales per instruction needs";
  if (threeQuarters && form.block == 32 && (out.scaleIdA | out.scaleIdB) & 1)
    points.add(OpenPoint::K96Block32Ids);
  if (form.sparse && (out.k == 192 || out.doubleK))
    points.add(OpenPoint::SparseWideScales);
  else if (out.doubleK && form.kind == MmaKind::MXF8F6F4)
    points.add(OpenPoint::WideMxf8Scales);
  if (out.rowScalesA && out.m / form.ctaGroup == 64)
    points.add(OpenPoint::RowScalesPairM128);
  return std::nullopt;
}

/// The wide K and K=96 need all rows of the tensor core (PTX ISA 9.4, the table
/// of shapes).
static Reason checkRowsOfK(const MmaForm &form,
                           const InstructionDescriptor &out) {
  bool threeQuarters = out.k == 96 || out.k == 192;
  unsigned rows = 128 * form.ctaGroup;
  if ((!out.doubleK && !threeQuarters) || out.m == rows)
    return std::nullopt;
  return "K=" + std::to_string(out.k) + " needs M=" + std::to_string(rows) +
         " with cta_group::" + std::to_string(form.ctaGroup) +
         ", found M=" + std::to_string(out.m);
}

static Reason checkBlockScaledShape(const MmaForm &form,
                                    const InstructionDescriptor &out,
                                    OpenPointSet &points) {
  bool pair = form.ctaGroup == 2;
  bool legalM =
      pair ? out.m == 256 || (out.m == 128 && !form.sparse) : out.m == 128;
  if (!legalM)
    return "M " + std::to_string(out.m) + " is not legal for " +
           inQuotes(form.kind) +
           " with cta_group::" + std::to_string(form.ctaGroup) +
           (form.sparse ? ", sparse" : "");
  unsigned step = pair ? 16 : 8;
  if (out.mnMajorB)
    step = pair ? 32 : 16;
  if (out.n < step || out.n > 256 || out.n % step)
    return "N " + std::to_string(out.n) + " is not a multiple of " +
           std::to_string(step) + " up to 256";
  if (auto reason = checkRowsOfK(form, out))
    return reason;
  if (out.doubleK && !pair && isFp4Kind(form.kind))
    points.add(OpenPoint::WideOneCta);
  if (pair && out.m == 128)
    points.add(OpenPoint::CtaPairM128Scales);
  return std::nullopt;
}

/// PTX ISA, tcgen05, the rows of the table of shapes with .ws.
static Reason checkStationaryShape(const MmaForm &form,
                                   const InstructionDescriptor &out) {
  if (form.ctaGroup != 1)
    return std::string("'.ws' exists with cta_group::1 only");
  if (out.m != 32 && out.m != 64 && out.m != 128)
    return "M " + std::to_string(out.m) + " is not legal for " +
           inQuotes(form.kind) + " with '.ws'; legal are 32, 64 and 128";
  if (out.n != 64 && out.n != 128 && (out.n != 256 || form.sparse))
    return "N " + std::to_string(out.n) + " is not legal with '.ws'; legal " +
           (form.sparse ? "are 64 and 128" : "are 64, 128 and 256");
  return std::nullopt;
}

static Reason checkPlainShape(const MmaForm &form,
                              const InstructionDescriptor &out,
                              OpenPointSet &points) {
  bool pair = form.ctaGroup == 2;
  if (pair ? out.m != 128 && out.m != 256 : out.m != 64 && out.m != 128)
    return "M " + std::to_string(out.m) + " is not legal for " +
           inQuotes(form.kind) +
           " with cta_group::" + std::to_string(form.ctaGroup);
  if (auto reason = checkRowsOfK(form, out))
    return reason;
  unsigned step = pair ? 32 : out.m == 64 ? 8 : 16;
  // The table of PTX 9.4 has steps of 16 for pairs of 8-bit operands.
  if (pair && form.kind == MmaKind::F8F6F4)
    step = out.mnMajorB ? 32 : 16;
  bool legalN = out.n >= step && out.n <= 256 && out.n % step == 0;
  // 8-bit integers skip the odd multiples of 8 above 24.
  if (form.kind == MmaKind::I8 && !pair)
    legalN = out.n == 8 || out.n == 24 ||
             (out.n >= 16 && out.n <= 256 && out.n % 16 == 0);
  if (!legalN)
    return "N " + std::to_string(out.n) + " is not a multiple of " +
           std::to_string(step) + " up to 256";
  if (pair && out.m == 128 && form.sparse)
    points.add(OpenPoint::SparsePairM128Accumulator);
  return std::nullopt;
}

static Reason checkMajors(const MmaForm &form, const InstructionDescriptor &out,
                          OpenPointSet &points) {
  for (auto [major, type, which] : {std::tuple(out.mnMajorA, out.a, "A"),
                                    std::tuple(out.mnMajorB, out.b, "B")})
    if (major && bitWidth(type) < 8)
      return std::string("operand ") + which + " of type '" + name(type) +
             "' must be K-major";
  if (form.kind == MmaKind::I8 && (out.negateA || out.negateB))
    return inQuotes(form.kind) + " cannot negate its operands";
  if (form.kind != MmaKind::TI16)
    return std::nullopt;
  // The tables of descriptors and of transposed operands contradict each other.
  points.add(OpenPoint::Ti16Majors);
  if (out.mnMajorA || out.mnMajorB)
    return "operands of " + inQuotes(form.kind) + " must be K-major";
  return std::nullopt;
}

/// What a B of indices excludes (PTX ISA 9.4, tcgen05.mma and "Shared memory
/// descriptor": an instruction uses 24 bytes of a row, 64 indices of 3 bits).
static Reason checkLookup(const MmaForm &form,
                          const InstructionDescriptor &out) {
  if (!form.lookupB)
    return std::nullopt;
  const std::string lookup = "'.decompress::lut::b'";
  if (form.sparse || form.weightStationary)
    return lookup + " excludes '.sp' and '.ws'";
  if (out.b != Element::E4M3)
    return lookup + " needs B of type 'e4m3', found '" + name(out.b) + "'";
  if (out.mnMajorB)
    return lookup + " needs a K-major B";
  if (out.k != 64)
    return lookup + " needs K=64, found K=" + std::to_string(out.k);
  return std::nullopt;
}

/// Only the metadata of 16- and 32-bit elements leave a choice of columns (PTX
/// ISA, tcgen05, "Sparsity selector").
static Reason checkSelector(const MmaForm &form,
                            const InstructionDescriptor &out) {
  if (!out.sparsitySelector)
    return std::nullopt;
  if (!form.sparse)
    return std::string(
        "the sparsity selector must be 0 for dense instructions");
  if (form.kind == MmaKind::F8F6F4 || form.kind == MmaKind::I8)
    return "the sparsity selector must be 0 for " + inQuotes(form.kind) +
           ", found " + std::to_string(out.sparsitySelector);
  return std::nullopt;
}

Reason decodeInstructionDescriptor(uint32_t bits, const MmaForm &form,
                                   InstructionDescriptor &out,
                                   OpenPointSet &points) {
  out = InstructionDescriptor();
  out.bits = bits;
  out.sparse = field(bits, 2, 1);
  if (form.ctaGroup != 1 && form.ctaGroup != 2)
    return "cta_group::" + std::to_string(form.ctaGroup) + " does not exist";
  if (out.sparse != form.sparse)
    return std::string("instruction descriptor bit 2 says ") +
           (out.sparse ? "sparse" : "dense") + ", the instruction is " +
           (form.sparse ? "sparse" : "dense");
  if (isBlockScaled(form.kind) && form.weightStationary)
    return "'.ws' does not exist for " + inQuotes(form.kind);
  if (auto reason = checkReserved(bits, form))
    return reason;
  bool scaled = isBlockScaled(form.kind);
  auto a = elementOf(form.kind, field(bits, 7, 3));
  // Of FP4 the third bit is the version of sparsity.
  auto b = elementOf(form.kind, field(bits, 10, isFp4Kind(form.kind) ? 2 : 3));
  if (!a || !b)
    return std::string(a ? "B" : "A") + " format code " +
           std::to_string(field(bits, a ? 10 : 7, 3)) + " is not one of " +
           inQuotes(form.kind);
  out.a = *a;
  out.b = *b;
  out.negateA = field(bits, 13, 1);
  out.negateB = field(bits, 14, 1);
  out.mnMajorA = field(bits, 15, 1);
  out.mnMajorB = field(bits, 16, 1);
  out.n = field(bits, 17, 6) << 3;
  out.m = scaled ? field(bits, 27, 2) << 7 : field(bits, 24, 5) << 4;
  if (auto reason = decodeK(form, bits, out))
    return reason;
  if (!scaled)
    out.sparsitySelector = field(bits, 0, 2);
  out.saturate = form.kind == MmaKind::I8 && field(bits, 3, 1);
  if (auto reason = checkSelector(form, out))
    return reason;
  if (auto reason = decodeAccumulator(bits, form.kind, out))
    return reason;
  if (auto reason = checkMajors(form, out, points))
    return reason;
  if (auto reason = checkLookup(form, out))
    return reason;
  if (form.weightStationary)
    return checkStationaryShape(form, out);
  if (!scaled)
    return checkPlainShape(form, out, points);
  if (auto reason = checkBlockScaledShape(form, out, points))
    return reason;
  return checkScales(form, bits, out, points);
}

unsigned rowBytes(const MmaForm &form, const InstructionDescriptor &idesc,
                  Element type, unsigned count) {
  unsigned bits = bitWidth(type);
  bool padded = form.kind == MmaKind::MXF8F6F4 && !idesc.doubleK;
  if (isFp4Kind(form.kind) || (!padded && form.kind == MmaKind::MXF8F6F4))
    return count * bits / 8;
  return count * std::max(bits, 8u) / 8;
}

} // namespace blockscale::emulator
