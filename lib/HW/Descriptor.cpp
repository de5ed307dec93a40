//===- Descriptor.cpp - instruction and matrix descriptors===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Descriptor.h"

#include "Capabilities.h"

#include <tuple>

namespace blockscale::hw {

namespace {

struct FormatCode {
  ElementFormat format;
  unsigned code;
};

/// kind::mxf8f6f4 codes.
constexpr std::array kMxf8f6f4Codes{
    FormatCode{ElementFormat::E4M3, 0}, FormatCode{ElementFormat::E5M2, 1},
    FormatCode{ElementFormat::E2M3, 3}, FormatCode{ElementFormat::E3M2, 4},
    FormatCode{ElementFormat::E2M1, 5},
};

/// kind::mxf4 and kind::mxf4nvf4: the one format has another code than above.
constexpr std::array kMxf4Codes{FormatCode{ElementFormat::E2M1, 1}};

struct CodeList {
  const FormatCode *data;
  std::size_t size;
};

CodeList formatCodes(InstrVariant variant) {
  if (variant == InstrVariant::MXF4)
    return {kMxf4Codes.data(), kMxf4Codes.size()};
  return {kMxf8f6f4Codes.data(), kMxf8f6f4Codes.size()};
}

std::optional<unsigned> codeOf(InstrVariant variant, ElementFormat format) {
  CodeList list = formatCodes(variant);
  for (std::size_t i = 0; i < list.size; ++i)
    if (list.data[i].format == format)
      return list.data[i].code;
  return std::nullopt;
}

std::optional<ElementFormat> formatOf(InstrVariant variant, unsigned code) {
  CodeList list = formatCodes(variant);
  for (std::size_t i = 0; i < list.size; ++i)
    if (list.data[i].code == code)
      return list.data[i].format;
  return std::nullopt;
}

struct PlainCode {
  MmaKind kind;
  PlainType type;
  unsigned code;
};

constexpr std::array kPlainOperandCodes{
    PlainCode{MmaKind::F16, PlainType::F16, 0},
    PlainCode{MmaKind::F16, PlainType::BF16, 1},
    PlainCode{MmaKind::TF32, PlainType::TF32, 2},
    PlainCode{MmaKind::F8F6F4, PlainType::E4M3, 0},
    PlainCode{MmaKind::F8F6F4, PlainType::E5M2, 1},
    PlainCode{MmaKind::F8F6F4, PlainType::E2M3, 3},
    PlainCode{MmaKind::F8F6F4, PlainType::E3M2, 4},
    PlainCode{MmaKind::F8F6F4, PlainType::E2M1, 5},
    PlainCode{MmaKind::I8, PlainType::U8, 0},
    PlainCode{MmaKind::I8, PlainType::S8, 1},
};

constexpr std::array kPlainAccumulatorCodes{
    PlainCode{MmaKind::F16, PlainType::F16, 0},
    PlainCode{MmaKind::F16, PlainType::F32, 1},
    PlainCode{MmaKind::TF32, PlainType::F32, 1},
    PlainCode{MmaKind::F8F6F4, PlainType::F16, 0},
    PlainCode{MmaKind::F8F6F4, PlainType::F32, 1},
    PlainCode{MmaKind::I8, PlainType::S32, 2},
};

template <std::size_t N>
std::optional<unsigned> plainCode(const std::array<PlainCode, N> &codes,
                                  MmaKind kind, PlainType type) {
  for (const PlainCode &entry : codes)
    if (entry.kind == kind && entry.type == type)
      return entry.code;
  return std::nullopt;
}

template <std::size_t N>
std::optional<PlainType> plainType(const std::array<PlainCode, N> &codes,
                                   MmaKind kind, unsigned code) {
  for (const PlainCode &entry : codes)
    if (entry.kind == kind && entry.code == code)
      return entry.type;
  return std::nullopt;
}

/// The code of max_shift is its index here.
constexpr std::array kMaxShifts{0u, 8u, 16u, 32u};

std::string variantName(InstrVariant variant) {
  return variant == InstrVariant::MXF4 ? "'mxf4' and 'mxf4nvf4'" : "'mxf8f6f4'";
}

Result<std::uint32_t> narrow(const Result<std::uint64_t> &word) {
  if (!word)
    return word.why();
  return static_cast<std::uint32_t>(*word);
}

bool is8Bit(ElementFormat format) {
  return format == ElementFormat::E4M3 || format == ElementFormat::E5M2;
}

/// Codes of scale formats are their places.
constexpr std::array kScaleFormats{ElementFormat::UE4M3, ElementFormat::UE8M0,
                                   ElementFormat::UE5M3};

std::optional<unsigned> scaleCode(const BlockScaledInstr &instr) {
  if (instr.variant != InstrVariant::MXF4 &&
      instr.scale != ElementFormat::UE8M0)
    return std::nullopt;
  for (unsigned code = 0; code < kScaleFormats.size(); ++code)
    if (kScaleFormats[code] == instr.scale)
      return code;
  return std::nullopt;
}

/// Why the struct has no encoding although every number fits its field.
std::optional<Reason> whyNotEncodable(const BlockScaledInstr &instr) {
  if (instr.n % 8 != 0 || instr.n < 8 || instr.n > 256)
    return "n is " + std::to_string(instr.n) +
           ", the field holds multiples of 8 from 8 to 256";
  if (instr.m != 128 && instr.m != 256)
    return "m is " + std::to_string(instr.m) +
           ", block-scaled instructions have m 128 or 256";
  bool mxf4 = instr.variant == InstrVariant::MXF4;
  if (!scaleCode(instr))
    return "the scale format has no code in the descriptor of " +
           variantName(instr.variant) +
           (mxf4 ? "; 'ue8m0', 'ue4m3' and 'ue5m3' have"
                 : "; only 'ue8m0' has");
  if (mxf4 && (instr.aMnMajor || instr.bMnMajor))
    return "4-bit operands of 'mxf4' and 'mxf4nvf4' are K-major only";
  if ((instr.aMnMajor && !is8Bit(instr.a)) ||
      (instr.bMnMajor && !is8Bit(instr.b)))
    return "only 8-bit operands may be M-major or N-major";
  if (instr.kSize == KSize::Long && !mxf4)
    return "'mxf8f6f4' has no K=96 form; 'mxf4' and 'mxf4nvf4' have";
  if (instr.kSize == KSize::Long && instr.sparse)
    return "K=96 is dense only";
  // PTX ISA 9.4: no code beyond 192 sparse elements of 4 bits.
  if (instr.kSize == KSize::Wide && instr.sparse && mxf4)
    return "K=128 of 'mxf4' and 'mxf4nvf4' is dense only";
  if (instr.elementMetadata && !(mxf4 && instr.sparse))
    return "only a sparse A of 'mxf4' and 'mxf4nvf4' has metadata of single "
           "elements";
  return std::nullopt;
}

} // namespace

InstrVariant instrVariant(MmaKind kind) {
  switch (kind) {
  case MmaKind::MXF8F6F4:
    return InstrVariant::MXF8F6F4;
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return InstrVariant::MXF4;
  default:
    return InstrVariant::Plain;
  }
}

FieldList instrFields(InstrVariant variant) {
  switch (variant) {
  case InstrVariant::MXF8F6F4:
    return fieldList(kMxf8f6f4InstrFields, 32);
  case InstrVariant::MXF4:
    return fieldList(kMxf4InstrFields, 32);
  case InstrVariant::Plain:
    break;
  }
  return fieldList(kPlainInstrFields, 32);
}

//===----------------------------------------------------------------------===//
// Block-scaled instruction descriptor
//===----------------------------------------------------------------------===//

bool operator==(const BlockScaledInstr &x, const BlockScaledInstr &y) {
  auto key = [](const BlockScaledInstr &i) {
    return std::tie(i.variant, i.a, i.b, i.scale, i.sparse, i.negateA,
                    i.negateB, i.aMnMajor, i.bMnMajor, i.m, i.n, i.sfaId,
                    i.sfbId, i.kSize, i.rowPerLaneA, i.elementMetadata);
  };
  return key(x) == key(y);
}

Result<std::uint32_t> encode(const BlockScaledInstr &instr) {
  if (instr.variant == InstrVariant::Plain)
    return Reason("a plain descriptor has no scale fields");
  if (auto reason = whyNotEncodable(instr))
    return *reason;
  auto a = codeOf(instr.variant, instr.a), b = codeOf(instr.variant, instr.b);
  if (!a || !b)
    return Reason("the format of operand '" + std::string(a ? "b" : "a") +
                  "' has no code in the descriptor of " +
                  variantName(instr.variant));
  Packer packer(instrFields(instr.variant));
  packer.set("sparse", instr.sparse)
      .set("sfb_id", instr.sfbId)
      .set("a_format", *a)
      .set("b_format", *b)
      .set("negate_a", instr.negateA)
      .set("negate_b", instr.negateB)
      .set("n_div_8", instr.n / 8)
      .set("scale_format", *scaleCode(instr))
      .set("sfa_layout", instr.rowPerLaneA)
      .set("m_div_128", instr.m / 128)
      .set("sfa_id", instr.sfaId);
  unsigned size = static_cast<unsigned>(instr.kSize);
  if (instr.variant == InstrVariant::MXF4)
    packer.set("k_size", size & 1)
        .set("k_size_high", size >> 1)
        .set("sparsity_version", instr.elementMetadata);
  else
    packer.set("a_major", instr.aMnMajor)
        .set("b_major", instr.bMnMajor)
        .set("k_size", instr.kSize == KSize::Wide);
  return narrow(packer.finish());
}

Result<BlockScaledInstr> decodeBlockScaled(InstrVariant variant,
                                           std::uint32_t bits) {
  if (variant == InstrVariant::Plain)
    return Reason("a plain descriptor has no scale fields");
  FieldList fields = instrFields(variant);
  if (std::uint64_t stray = bits & uncoveredBits(fields))
    return Reason("reserved bits " + hex(stray, 8) + " are set");
  auto get = [&](std::string_view name) {
    return static_cast<unsigned>(extract(fields, name, bits));
  };
  auto a = formatOf(variant, get("a_format"));
  auto b = formatOf(variant, get("b_format"));
  if (!a || !b)
    return Reason("format code " +
                  std::to_string(get(a ? "b_format" : "a_format")) +
                  " of operand '" + (a ? "b" : "a") + "' has no meaning in " +
                  variantName(variant));
  BlockScaledInstr instr;
  instr.variant = variant;
  instr.a = *a;
  instr.b = *b;
  unsigned scale = get("scale_format");
  if (scale >= kScaleFormats.size())
    return Reason("scale format code " + std::to_string(scale) +
                  " has no meaning");
  instr.scale = kScaleFormats[scale];
  instr.sparse = get("sparse");
  instr.negateA = get("negate_a");
  instr.negateB = get("negate_b");
  instr.aMnMajor = get("a_major");
  instr.bMnMajor = get("b_major");
  instr.m = get("m_div_128") * 128;
  instr.n = get("n_div_8") * 8;
  instr.sfaId = get("sfa_id");
  instr.sfbId = get("sfb_id");
  unsigned size = get("k_size") + 2 * get("k_size_high");
  if (size > static_cast<unsigned>(KSize::Wide))
    return Reason("K size code 3 has no meaning");
  instr.kSize = static_cast<KSize>(size);
  if (variant == InstrVariant::MXF8F6F4 && size)
    instr.kSize = KSize::Wide;
  instr.rowPerLaneA = get("sfa_layout");
  instr.elementMetadata = get("sparsity_version");
  if (auto reason = whyNotEncodable(instr))
    return *reason;
  return instr;
}

//===----------------------------------------------------------------------===//
// Plain instruction descriptor
//===----------------------------------------------------------------------===//

std::optional<PlainType> plainType(OperandType type) {
  using Row = std::pair<OperandType, PlainType>;
  constexpr std::array kTypes{Row{ElementFormat::F16, PlainType::F16},
                              Row{ElementFormat::BF16, PlainType::BF16},
                              Row{OperandType::tf32(), PlainType::TF32},
                              Row{ElementFormat::E4M3, PlainType::E4M3},
                              Row{ElementFormat::E5M2, PlainType::E5M2},
                              Row{ElementFormat::E2M3, PlainType::E2M3},
                              Row{ElementFormat::E3M2, PlainType::E3M2},
                              Row{ElementFormat::E2M1, PlainType::E2M1},
                              Row{ElementFormat::INT8, PlainType::S8},
                              Row{OperandType::uint8(), PlainType::U8}};
  for (const Row &row : kTypes)
    if (row.first == type)
      return row.second;
  return std::nullopt;
}

bool operator==(const PlainInstr &x, const PlainInstr &y) {
  auto key = [](const PlainInstr &i) {
    return std::tie(i.kind, i.a, i.b, i.d, i.sparse, i.sparsitySelector,
                    i.saturate, i.negateA, i.negateB, i.aMnMajor, i.bMnMajor,
                    i.m, i.n, i.maxShift, i.isWide);
  };
  return key(x) == key(y);
}

static std::optional<Reason> whyNotEncodable(const PlainInstr &instr) {
  if (instr.n % 8 != 0 || instr.n < 8 || instr.n > 256)
    return "n is " + std::to_string(instr.n) +
           ", the field holds multiples of 8 from 8 to 256";
  if (instr.m % 16 != 0 || instr.m < 16 || instr.m > 256)
    return "m is " + std::to_string(instr.m) +
           ", the field holds multiples of 16 from 16 to 256";
  bool integer = instr.kind == MmaKind::I8;
  if (instr.saturate && !integer)
    return "only kind 'i8' can saturate";
  if (integer && (instr.negateA || instr.negateB))
    return "kind 'i8' cannot negate an operand";
  // PTX ISA 9.4 gives no code for the sparse K=128.
  if (instr.isWide && (instr.kind != MmaKind::F8F6F4 || instr.sparse))
    return "only dense 'f8f6f4' has a wide K";
  if (instr.sparsitySelector && !instr.sparse)
    return "a dense instruction has no sparsity selector";
  // PTX ISA 9.7.16.10.8, sparsity selector: all metadata columns are read.
  if (instr.sparsitySelector && (integer || instr.kind == MmaKind::F8F6F4))
    return "the sparsity selector of kind '" +
           std::string(kindName(instr.kind)) + "' is 0, found " +
           std::to_string(instr.sparsitySelector);
  return std::nullopt;
}

Result<std::uint32_t> encode(const PlainInstr &instr) {
  if (auto reason = whyNotEncodable(instr))
    return *reason;
  auto a = plainCode(kPlainOperandCodes, instr.kind, instr.a);
  auto b = plainCode(kPlainOperandCodes, instr.kind, instr.b);
  auto d = plainCode(kPlainAccumulatorCodes, instr.kind, instr.d);
  if (!a || !b || !d)
    return Reason("the type of '" + std::string(!a ? "a" : (!b ? "b" : "d")) +
                  "' has no code in this kind");
  unsigned shift = 0;
  while (shift < kMaxShifts.size() && kMaxShifts[shift] != instr.maxShift)
    ++shift;
  if (shift == kMaxShifts.size())
    return Reason("the largest shift is " + std::to_string(instr.maxShift) +
                  ", the field holds 0, 8, 16 or 32");
  return narrow(Packer(instrFields(InstrVariant::Plain))
                    .set("sparsity_selector", instr.sparsitySelector)
                    .set("sparse", instr.sparse)
                    .set("saturate", instr.saturate)
                    .set("d_format", *d)
                    .set("a_format", *a)
                    .set("b_format", *b)
                    .set("negate_a", instr.negateA)
                    .set("negate_b", instr.negateB)
                    .set("a_major", instr.aMnMajor)
                    .set("b_major", instr.bMnMajor)
                    .set("n_div_8", instr.n / 8)
                    .set("m_div_16", instr.m / 16)
                    .set("max_shift", shift)
                    .set("k_size", instr.isWide)
                    .finish());
}

Result<PlainInstr> decodePlain(MmaKind kind, std::uint32_t bits) {
  FieldList fields = instrFields(InstrVariant::Plain);
  if (std::uint64_t stray = bits & uncoveredBits(fields))
    return Reason("reserved bits " + hex(stray, 8) + " are set");
  auto get = [&](std::string_view name) {
    return static_cast<unsigned>(extract(fields, name, bits));
  };
  auto a = plainType(kPlainOperandCodes, kind, get("a_format"));
  auto b = plainType(kPlainOperandCodes, kind, get("b_format"));
  auto d = plainType(kPlainAccumulatorCodes, kind, get("d_format"));
  if (!a || !b || !d)
    return Reason("the type code of '" +
                  std::string(!a ? "a" : (!b ? "b" : "d")) +
                  "' has no meaning in this kind");
  PlainInstr instr;
  instr.kind = kind;
  instr.a = *a;
  instr.b = *b;
  instr.d = *d;
  instr.sparse = get("sparse");
  instr.sparsitySelector = get("sparsity_selector");
  instr.saturate = get("saturate");
  instr.negateA = get("negate_a");
  instr.negateB = get("negate_b");
  instr.aMnMajor = get("a_major");
  instr.bMnMajor = get("b_major");
  instr.m = get("m_div_16") * 16;
  instr.n = get("n_div_8") * 8;
  instr.maxShift = kMaxShifts[get("max_shift")];
  instr.isWide = get("k_size");
  if (auto reason = whyNotEncodable(instr))
    return *reason;
  return instr;
}

//===----------------------------------------------------------------------===//
// Shared-memory descriptor
//===----------------------------------------------------------------------===//

bool operator==(const SmemDescriptor &x, const SmemDescriptor &y) {
  auto key = [](const SmemDescriptor &d) {
    return std::tie(d.start, d.lbo, d.sbo, d.baseOffset, d.lboAbsolute,
                    d.swizzle);
  };
  return key(x) == key(y);
}

unsigned smemAddressBits(Chip chip) {
  return has(chip, &Capabilities::wideK) ? kWideSmemAddressBits
                                         : kSmemAddressBits;
}

static std::optional<Reason> whyNotField(const char *name, std::uint32_t bytes,
                                         unsigned bits) {
  if (bytes % 16 != 0)
    return std::string(name) + " is " + std::to_string(bytes) +
           ", it must be a multiple of 16 bytes";
  if (bytes >= 1u << bits)
    return std::string(name) + " is " + std::to_string(bytes) +
           ", the descriptor holds values below " + std::to_string(1u << bits);
  return std::nullopt;
}

Result<std::uint64_t> encode(const SmemDescriptor &descriptor,
                             unsigned addressBits) {
  for (auto [name, bytes, bits] :
       {std::tuple{"start address", descriptor.start, addressBits},
        std::tuple{"lbo", descriptor.lbo, addressBits},
        std::tuple{"sbo", descriptor.sbo, kSmemAddressBits}})
    if (auto reason = whyNotField(name, bytes, bits))
      return *reason;
  if (descriptor.lboAbsolute &&
      (descriptor.swizzle != Swizzle::B128 || descriptor.baseOffset != 0))
    return Reason("an absolute lbo needs the 128B swizzle and base offset 0");
  return Packer(fieldList(kSmemFields, 64))
      .set("start", descriptor.start >> 4)
      .set("lbo", descriptor.lbo >> 4)
      .set("sbo", descriptor.sbo >> 4)
      .set("version", 1)
      .set("base_offset", descriptor.baseOffset)
      .set("lbo_absolute", descriptor.lboAbsolute)
      .set("swizzle", static_cast<unsigned>(descriptor.swizzle))
      .finish();
}

Result<SmemDescriptor> decodeSmem(std::uint64_t bits, unsigned addressBits) {
  FieldList fields = fieldList(kSmemFields, 64);
  if (std::uint64_t stray = bits & uncoveredBits(fields))
    return Reason("reserved bits " + hex(stray, 16) + " are set");
  auto get = [&](std::string_view name) {
    return static_cast<std::uint32_t>(extract(fields, name, bits));
  };
  for (const char *name : {"start", "lbo"})
    if (get(name) << 4 >> addressBits)
      return Reason("the upper bit of '" + std::string(name) +
                    "' is set, which sm_107 alone has");
  if (get("version") != 1)
    return Reason("bits 46 to 48 hold " + std::to_string(get("version")) +
                  ", the constant there is 1");
  unsigned swizzle = get("swizzle");
  if (swizzle == 3 || swizzle == 5 || swizzle == 7)
    return Reason("swizzle code " + std::to_string(swizzle) +
                  " has no meaning");
  SmemDescriptor descriptor;
  descriptor.start = get("start") << 4;
  descriptor.lbo = get("lbo") << 4;
  descriptor.sbo = get("sbo") << 4;
  descriptor.baseOffset = get("base_offset");
  descriptor.lboAbsolute = get("lbo_absolute");
  descriptor.swizzle = static_cast<Swizzle>(swizzle);
  return descriptor;
}

Result<K96Step> k96Step(unsigned index) {
  if (index >= kK96GroupSteps)
    return Reason(
        "K=96 steps come in groups of eight, numbered 0 to 7, found " +
        std::to_string(index));
  unsigned first = index * 48, last = first + 47;
  K96Step step;
  step.startBuffer = first / 128;
  step.startByte = first % 128;
  step.lboBuffer = last / 128;
  step.crosses = step.lboBuffer != step.startBuffer;
  return step;
}

Result<SmemDescriptor>
k96Descriptor(const std::array<std::uint32_t, 3> &bufferBases, unsigned index) {
  Result<K96Step> step = k96Step(index);
  if (!step)
    return step.why();
  for (std::uint32_t base : bufferBases)
    if (base % 1024 != 0 || base >= 1u << 18)
      return Reason("buffer address " + std::to_string(base) +
                    " is not a multiple of 1024 below 262144, which "
                    "the absolute lbo mode needs");
  SmemDescriptor descriptor;
  descriptor.start = bufferBases[step->startBuffer] + step->startByte;
  descriptor.lbo = bufferBases[step->lboBuffer];
  descriptor.sbo = 1024;
  descriptor.lboAbsolute = true;
  descriptor.swizzle = Swizzle::B128;
  return descriptor;
}

Result<SmemDescriptor> copyDescriptor(std::uint32_t base,
                                      unsigned addressBits) {
  if (auto why = whyNotField("start address", base, addressBits))
    return *why;
  SmemDescriptor descriptor;
  descriptor.start = base;
  descriptor.lbo = 16;
  descriptor.sbo = 128;
  return descriptor;
}

} // namespace blockscale::hw
