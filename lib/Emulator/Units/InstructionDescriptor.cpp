//===- InstructionDescriptor.cpp - tcgen05.mma instruction word -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionDescriptor.h"

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
  case MmaKind::MXF8F6F4:
    return "mxf8f6f4";
  case MmaKind::MXF4:
    return "mxf4";
  case MmaKind::MXF4NVF4:
    return "mxf4nvf4";
  }
  return "";
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

static std::string quoted(MmaKind kind) {
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

static Reason checkReserved(uint32_t bits, const MmaForm &form) {
  MmaKind kind = form.kind;
  auto reserved = [&](unsigned offset, unsigned width) -> Reason {
    if (field(bits, offset, width) == 0)
      return std::nullopt;
    return "instruction descriptor bit" +
           (width == 1 ? " " + std::to_string(offset)
                       : "s " + std::to_string(offset) + "-" +
                             std::to_string(offset + width - 1)) +
           " must be 0 for " + quoted(kind);
  };
  if (isBlockScaled(kind)) {
    for (auto [offset, width] :
         {std::pair(0u, 2u), {3u, 1u}, {6u, 1u}, {24u, 3u}})
      if (auto reason = reserved(offset, width))
        return reason;
    if (isFp4Kind(kind))
      return reserved(12, 1);
    return reserved(31, 1);
  }
  if (kind != MmaKind::I8)
    if (auto reason = reserved(3, 1))
      return reason;
  for (auto [offset, width] : {std::pair(6u, 1u), {23u, 1u}, {29u, 1u}})
    if (auto reason = reserved(offset, width))
      return reason;
  // With .ws the largest shift of B between uses of a collector buffer, which
  // changes no value.
  return form.weightStationary ? std::nullopt : reserved(30, 2);
}

static Reason decodeAccumulator(uint32_t bits, MmaKind kind,
                                InstructionDescriptor &out) {
  if (isBlockScaled(kind))
    return std::nullopt;
  uint32_t code = field(bits, 4, 2);
  bool f16Allowed = kind == MmaKind::F16 || kind == MmaKind::F8F6F4;
  if (kind == MmaKind::I8 ? code != 2 : code != 1 && !(code == 0 && f16Allowed))
    return "accumulator type " + std::to_string(code) + " is not one of " +
           quoted(kind);
  out.accumulator = code == 0 ? Element::F16 : Element::F32;
  return std::nullopt;
}

static unsigned baseK(MmaKind kind) {
  switch (kind) {
  case MmaKind::TF32:
    return 8;
  case MmaKind::F16:
    return 16;
  case MmaKind::F8F6F4:
  case MmaKind::I8:
  case MmaKind::MXF8F6F4:
    return 32;
  default:
    return 64;
  }
}

static Reason checkScales(const MmaForm &form, uint32_t bits,
                          InstructionDescriptor &out, OpenPointSet &points) {
  if (form.block != 16 && form.block != 32)
    return "block size " + std::to_string(form.block) +
           " does not exist; legal are 16 and 32";
  if (form.block == 16 && form.kind != MmaKind::MXF4NVF4)
    return quoted(form.kind) + " has blocks of 32 only";
  out.scale = field(bits, 23, 1) ? Element::UE8M0 : Element::UE4M3;
  if (out.scale == Element::UE4M3 &&
      (form.kind != MmaKind::MXF4NVF4 || form.block != 16))
    return quoted(form.kind) + " with blocks of " + std::to_string(form.block) +
           " takes 'ue8m0' scales only, found 'ue4m3'";
  if (out.scale == Element::UE8M0 && form.block == 16)
    points.add(OpenPoint::UE8M0WithBlock16);
  // With sparsity one scale covers twice the logical K.
  out.scaleCount = out.k / form.block / (form.sparse ? 2 : 1);
  out.scaleIdB = field(bits, 4, 2);
  out.scaleIdA = field(bits, 29, 2);
  unsigned step = out.k == 96 ? (form.block == 32 ? 1 : 2) : out.scaleCount;
  for (auto [id, which] :
       {std::pair(out.scaleIdA, "SFA_ID"), std::pair(out.scaleIdB, "SFB_ID")})
    if (id % step)
      return std::string(which) + " " + std::to_string(id) +
             " is not a multiple of " + std::to_string(step) + " as " +
             quoted(form.kind) + " with " + std::to_string(out.scaleCount) +
             " scales per instruction needs";
  return std::nullopt;
}

static Reason checkBlockScaledShape(const MmaForm &form,
                                    const InstructionDescriptor &out,
                                    OpenPointSet &points) {
  bool pair = form.ctaGroup == 2;
  bool legalM =
      pair ? out.m == 256 || (out.m == 128 && !form.sparse) : out.m == 128;
  if (!legalM)
    return "M " + std::to_string(out.m) + " is not legal for " +
           quoted(form.kind) +
           " with cta_group::" + std::to_string(form.ctaGroup) +
           (form.sparse ? ", sparse" : "");
  unsigned step = pair ? 16 : 8;
  if (out.mnMajorB || out.k == 96)
    step = pair && out.mnMajorB ? 32 : 16;
  if (out.n < step || out.n > 256 || out.n % step)
    return "N " + std::to_string(out.n) + " is not a multiple of " +
           std::to_string(step) + " up to 256";
  if (out.k == 96 && pair && out.m != 256)
    return std::string("K=96 needs M=256 in a pair");
  if (out.k == 96 && !pair)
    points.add(OpenPoint::K96CtaGroup1);
  if (out.k == 96)
    points.add(OpenPoint::K96SecondWordStride);
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
           quoted(form.kind) + " with '.ws'; legal are 32, 64 and 128";
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
           quoted(form.kind) +
           " with cta_group::" + std::to_string(form.ctaGroup);
  unsigned step = pair ? 32 : out.m == 64 ? 8 : 16;
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

static Reason checkMajors(const MmaForm &form,
                          const InstructionDescriptor &out) {
  for (auto [major, type, which] : {std::tuple(out.mnMajorA, out.a, "A"),
                                    std::tuple(out.mnMajorB, out.b, "B")})
    if (major && bitWidth(type) < 8)
      return std::string("operand ") + which + " of type '" + name(type) +
             "' must be K-major";
  if (form.kind == MmaKind::I8 && (out.negateA || out.negateB))
    return quoted(form.kind) + " cannot negate its operands";
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
    return "the sparsity selector must be 0 for " + quoted(form.kind) +
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
    return "'.ws' does not exist for " + quoted(form.kind);
  if (auto reason = checkReserved(bits, form))
    return reason;
  bool scaled = isBlockScaled(form.kind);
  auto a = elementOf(form.kind, field(bits, 7, 3));
  auto b = elementOf(form.kind, field(bits, 10, 3));
  if (!a || !b)
    return std::string(a ? "B" : "A") + " format code " +
           std::to_string(field(bits, a ? 10 : 7, 3)) + " is not one of " +
           quoted(form.kind);
  out.a = *a;
  out.b = *b;
  out.negateA = field(bits, 13, 1);
  out.negateB = field(bits, 14, 1);
  out.mnMajorA = field(bits, 15, 1);
  out.mnMajorB = field(bits, 16, 1);
  out.n = field(bits, 17, 6) << 3;
  out.m = scaled ? field(bits, 27, 2) << 7 : field(bits, 24, 5) << 4;
  out.k = baseK(form.kind) * (form.sparse ? 2 : 1);
  if (!scaled)
    out.sparsitySelector = field(bits, 0, 2);
  out.saturate = form.kind == MmaKind::I8 && field(bits, 3, 1);
  if (isFp4Kind(form.kind) && field(bits, 31, 1)) {
    if (form.sparse)
      return std::string("K=96 does not exist for sparse instructions");
    out.k = 96;
  }
  if (auto reason = checkSelector(form, out))
    return reason;
  if (auto reason = decodeAccumulator(bits, form.kind, out))
    return reason;
  if (auto reason = checkMajors(form, out))
    return reason;
  if (form.weightStationary)
    return checkStationaryShape(form, out);
  if (!scaled)
    return checkPlainShape(form, out, points);
  if (auto reason = checkBlockScaledShape(form, out, points))
    return reason;
  return checkScales(form, bits, out, points);
}

} // namespace blockscale::emulator
