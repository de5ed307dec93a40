//===- NumberSpec.cpp - the number formats of scale specs -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/NumberSpec.h"

#include "blockscale/Formats/ScaleSpec.h"

#include "SpecCursor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

using namespace blockscale;
using namespace blockscale::detail;

namespace {

constexpr unsigned kMaxBits = 32;
constexpr unsigned kMaxExponentBits = 8;
constexpr unsigned kMaxBias = 255;

struct SuffixName {
  std::string_view name;
  NumberSpecials specials;
};

constexpr SuffixName kSuffixes[] = {
    {"ieee", NumberSpecials::Ieee}, {"fnuz", NumberSpecials::Fnuz},
    {"inuz", NumberSpecials::Inuz}, {"fn", NumberSpecials::Fn},
    {"", NumberSpecials::Ieee},
};

/// Well-known names that are no number specs, and what to write.
struct NameHint {
  std::string_view name, spec;
};

constexpr NameHint kHints[] = {
    {"fp4", "e2m1fnuz"}, {"fp8", "e4m3fn"},    {"bf8", "e5m2"},
    {"fp16", "float16"}, {"bf16", "bfloat16"}, {"f16", "float16"},
    {"fp32", "float32"}, {"f32", "float32"},   {"ue8m0", "e8m0"},
    {"ue4m3", "e4m3fn"}, {"ue5m3", "e5m3fn"},
};

int defaultBias(unsigned exponentBits) {
  return exponentBits == 0 ? 0 : (1 << (exponentBits - 1)) - 1;
}

Result<NumberSpec> tooWide(std::string_view text, unsigned bits) {
  return Reason("number spec " + inQuotes(text) + " has " +
                std::to_string(bits) + " bits, at most 32 are supported");
}

/// Checks the fields of an e/m format and completes them.
Result<NumberSpec> makeFloat(std::string_view text, unsigned exponentBits,
                             unsigned mantissaBits,
                             std::optional<unsigned> bias,
                             NumberSpecials specials) {
  std::string name = "number spec " + inQuotes(text);
  if (exponentBits == 0)
    return Reason(
        name + " has no exponent bit; integers are spelled 'intK' and 'uintK'");
  if (exponentBits > kMaxExponentBits)
    return Reason(name + " has " + std::to_string(exponentBits) +
                  " exponent bits, at most 8 are supported");
  if (exponentBits == 1 && specials == NumberSpecials::Ieee)
    return Reason(name +
                  " has a 1-bit exponent with an infinity code; fixed-point "
                  "numbers are spelled 'intK'");
  bool reservesTopCode =
      specials == NumberSpecials::Fn || specials == NumberSpecials::Inuz;
  if (exponentBits == 1 && mantissaBits == 0 && reservesTopCode)
    return Reason(name + " has no finite value besides 0");
  if (bias && *bias > kMaxBias)
    return Reason(name + " has an exponent bias above 255");

  NumberSpec spec;
  spec.exponentBits = exponentBits;
  spec.mantissaBits = mantissaBits;
  spec.bias = bias ? static_cast<int>(*bias) : defaultBias(exponentBits);
  spec.specials = specials;
  if (exponentBits == 1)
    spec.kind = NumberKind::Int;
  else if (mantissaBits == 0 && specials == NumberSpecials::Ieee)
    spec.kind = NumberKind::Exponent;
  if (spec.bits() > kMaxBits)
    return tooWide(text, spec.bits());
  return spec;
}

Result<NumberSpec> notANumber(std::string_view text) {
  std::string message = inQuotes(text) + " is not a number spec";
  for (const NameHint &hint : kHints)
    if (hint.name == text)
      return Reason(message + "; write " + inQuotes(hint.spec));
  const NamedDataType *type = findDataType(text);
  if (type && !type->scale.empty())
    return Reason(message + " but a scaled data type: number spec " +
                  inQuotes(type->number) + " with scale spec " +
                  inQuotes(type->scale));
  return Reason(message);
}

/// eXmY [bZ] [suffix].
Result<NumberSpec> parseFields(std::string_view text) {
  SpecCursor cursor(text);
  std::optional<unsigned> exponentBits, mantissaBits, bias;
  if (!cursor.consume("e") || !(exponentBits = cursor.number()) ||
      !cursor.consume("m") || !(mantissaBits = cursor.number()))
    return notANumber(text);
  if (cursor.consume("b") && !(bias = cursor.number()))
    return notANumber(text);
  for (const SuffixName &suffix : kSuffixes)
    if (cursor.rest() == suffix.name)
      return makeFloat(text, *exponentBits, *mantissaBits, bias,
                       suffix.specials);
  return Reason("number spec " + inQuotes(text) + " ends in unknown suffix " +
                    inQuotes(cursor.rest()) +
                    ", expected ieee, fn, fnuz or inuz",
                text.size() - cursor.rest().size());
}

/// The bit count of `prefix` BITS, if that is all of the text.
std::optional<unsigned> matchBits(std::string_view text,
                                  std::string_view prefix) {
  SpecCursor cursor(text);
  if (!cursor.consume(prefix))
    return std::nullopt;
  std::optional<unsigned> bits = cursor.number();
  return cursor.atEnd() ? bits : std::nullopt;
}

Result<NumberSpec> makeInteger(std::string_view text, unsigned bits,
                               bool isSigned) {
  if (bits > kMaxBits)
    return tooWide(text, bits);
  if (bits < 2)
    return Reason("number spec " + inQuotes(text) + " needs 2 to 32 bits");
  if (isSigned)
    return makeFloat(text, 1, bits - 2, 1, NumberSpecials::Fnuz);
  NumberSpec spec;
  spec.kind = NumberKind::Uint;
  spec.mantissaBits = bits;
  spec.specials = NumberSpecials::None;
  return spec;
}

Result<NumberSpec> makeFloatAlias(std::string_view text, unsigned bits) {
  if (bits > kMaxBits)
    return tooWide(text, bits);
  if (bits <= 8)
    return Reason("number spec " + inQuotes(text) +
                  " is ambiguous at 8 bits or fewer; write it as eXmY");
  return bits > 16
             ? makeFloat(text, 8, bits - 9, std::nullopt, NumberSpecials::Ieee)
             : makeFloat(text, 5, bits - 6, std::nullopt, NumberSpecials::Ieee);
}

Result<NumberSpec> makeBfloatAlias(std::string_view text, unsigned bits) {
  if (bits > kMaxBits)
    return tooWide(text, bits);
  if (bits <= 9)
    return Reason(
        "number spec " + inQuotes(text) +
        " has no fraction bit: a bfloat needs at least 10 bits, and the "
        "exponent type is spelled 'e8m0'");
  return makeFloat(text, 8, bits - 9, std::nullopt, NumberSpecials::Ieee);
}

Result<NumberSpec> parseP3109(std::string_view text) {
  std::optional<unsigned> precision = matchBits(text, "binary8p");
  if (!precision)
    return Reason(inQuotes(text) + " is not a number spec: P3109 formats are "
                                   "spelled 'binary8p1' to 'binary8p6'");
  if (*precision < 1 || *precision > 6)
    return Reason("number spec " + inQuotes(text) + " has precision " +
                  std::to_string(*precision) + ", expected 1 to 6");
  return makeFloat(text, 8 - *precision, *precision - 1, 1u << (7 - *precision),
                   NumberSpecials::Inuz);
}

/// The part after "float8_" or "float8": an 8-bit e/m format, whose fnuz kinds
/// have a bias of their own.
Result<NumberSpec> parseFloat8(std::string_view text) {
  Result<NumberSpec> result = parseFields(text);
  if (!result)
    return result;
  NumberSpec &spec = *result;
  if (spec.bits() != 8 || spec.kind != NumberKind::Float)
    return Reason("'float8' is followed by " + inQuotes(text) +
                  ", which is not an 8-bit float");
  if (spec.specials == NumberSpecials::Fnuz &&
      spec.bias == defaultBias(spec.exponentBits))
    ++spec.bias;
  return result;
}

Result<NumberSpec> parsePlain(std::string_view text) {
  if (text.empty())
    return Reason("empty number spec");
  size_t prefix = 0;
  auto shifted = [&](const Result<NumberSpec> &result) {
    return result ? result : result.why().within(prefix);
  };
  constexpr std::string_view torch = "torch.", float8 = "float8";
  if (text.substr(0, torch.size()) == torch)
    prefix = torch.size();
  std::string_view rest = text.substr(prefix);
  if (rest.size() > float8.size() && rest.substr(0, float8.size()) == float8 &&
      !isDigit(rest[float8.size()])) {
    prefix += float8.size() + (rest[float8.size()] == '_');
    return shifted(parseFloat8(text.substr(prefix)));
  }
  if (std::optional<unsigned> bits = matchBits(rest, "float"))
    return shifted(makeFloatAlias(rest, *bits));
  if (std::optional<unsigned> bits = matchBits(rest, "bfloat"))
    return shifted(makeBfloatAlias(rest, *bits));
  if (std::optional<unsigned> bits = matchBits(rest, "int"))
    return shifted(makeInteger(rest, *bits, true));
  if (std::optional<unsigned> bits = matchBits(rest, "uint"))
    return shifted(makeInteger(rest, *bits, false));
  if (rest.substr(0, 6) == "binary")
    return shifted(parseP3109(rest));
  return shifted(parseFields(rest));
}

/// cbIM [patterns] _ number [_ label], the text after "cb" being at `offset` 2.
Result<NumberSpec> parseCodebook(std::string_view text) {
  size_t underscore = text.find('_');
  if (underscore == std::string_view::npos)
    return Reason("codebook " + inQuotes(text) +
                  " lacks the number spec of its values");
  SpecCursor head(text.substr(2, underscore - 2));
  std::optional<unsigned> indexBits = head.digit();
  std::optional<unsigned> metaBits = head.digit();
  if (!indexBits || !metaBits)
    return Reason("codebook " + inQuotes(text) +
                      " needs two digits after 'cb': index "
                      "bits and metadata bits",
                  2);
  if (*indexBits < 1 || *indexBits > 8)
    return Reason("codebook index bits must be 1 to 8, found " +
                      std::to_string(*indexBits),
                  2);
  if (*metaBits < 1 || *metaBits > 8)
    return Reason("codebook metadata bits must be 1 to 8, found " +
                      std::to_string(*metaBits),
                  3);

  std::string_view tail = text.substr(underscore + 1);
  size_t labelMark = tail.find('_');
  Result<NumberSpec> result = parsePlain(tail.substr(0, labelMark));
  if (!result)
    return result.why().within(underscore + 1);
  NumberSpec &spec = *result;
  if (!spec.isSigned())
    return Reason("codebook values must be float or int, not " +
                      inQuotes(tail.substr(0, labelMark)),
                  underscore + 1);
  spec.indexBits = *indexBits;
  spec.metaBits = *metaBits;
  spec.pattern = std::string(head.rest());
  if (labelMark != std::string_view::npos) {
    spec.label = std::string(tail.substr(labelMark + 1));
    bool isWord =
        !spec.label.empty() &&
        spec.label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") ==
            std::string::npos;
    if (!isWord)
      return Reason("codebook label " + inQuotes(spec.label) +
                        " must be one word of letters and "
                        "digits",
                    underscore + 2 + labelMark);
  }
  auto tables = codebookTables(spec);
  if (!tables)
    return tables.why().within(4);
  return result;
}

std::string_view suffixOf(NumberSpecials specials) {
  switch (specials) {
  case NumberSpecials::Fn:
    return "fn";
  case NumberSpecials::Fnuz:
    return "fnuz";
  case NumberSpecials::Inuz:
    return "inuz";
  case NumberSpecials::Ieee:
  case NumberSpecials::None:
    break;
  }
  return "";
}

std::string fieldsName(const NumberSpec &spec) {
  if (spec.kind == NumberKind::Uint)
    return "uint" + std::to_string(spec.mantissaBits);
  std::string name = "e" + std::to_string(spec.exponentBits) + "m" +
                     std::to_string(spec.mantissaBits);
  if (spec.bias != defaultBias(spec.exponentBits))
    name += "b" + std::to_string(spec.bias);
  return name + std::string(suffixOf(spec.specials));
}

std::string readableName(const NumberSpec &spec) {
  bool plainIeee = spec.kind == NumberKind::Float &&
                   spec.specials == NumberSpecials::Ieee &&
                   spec.bias == defaultBias(spec.exponentBits);
  if (plainIeee && spec.exponentBits == 8 && spec.mantissaBits == 23)
    return "float32";
  if (plainIeee && spec.exponentBits == 8 && spec.mantissaBits == 7)
    return "bfloat16";
  if (plainIeee && spec.exponentBits == 5 && spec.mantissaBits == 10)
    return "float16";
  if (spec.kind == NumberKind::Int && spec.bias == 1 &&
      spec.specials == NumberSpecials::Fnuz)
    return "int" + std::to_string(spec.bits());
  return fieldsName(spec);
}

std::string withCodebook(const NumberSpec &spec, std::string number) {
  if (!spec.isCodebook())
    return number;
  std::string name = "cb" + std::to_string(spec.indexBits) +
                     std::to_string(spec.metaBits) + spec.pattern + "_" +
                     number;
  return spec.label.empty() ? name : name + "_" + spec.label;
}

auto fieldsOf(const NumberSpec &spec) {
  return std::tie(spec.kind, spec.exponentBits, spec.mantissaBits, spec.bias,
                  spec.specials, spec.indexBits, spec.metaBits, spec.pattern,
                  spec.label);
}

double roundToEven(double value) {
  double below = std::floor(value);
  double rest = value - below;
  bool odd = std::fmod(below, 2.0) != 0.0;
  return below + (rest > 0.5 || (rest == 0.5 && odd));
}

/// Fn and inuz formats set the code of all ones aside; without fraction bits
/// that is the whole top binade.
bool losesTopBinade(const NumberSpec &spec) {
  return spec.mantissaBits == 0 && (spec.specials == NumberSpecials::Fn ||
                                    spec.specials == NumberSpecials::Inuz);
}

} // namespace

int NumberSpec::emax() const {
  if (kind == NumberKind::Uint)
    return 0;
  return (1 << exponentBits) - 1 - bias - (specials == NumberSpecials::Ieee);
}

int NumberSpec::emin() const { return kind == NumberKind::Uint ? 0 : 1 - bias; }

double NumberSpec::maxFloat() const {
  if (kind == NumberKind::Uint)
    return 0;
  if (losesTopBinade(*this))
    return std::ldexp(1.0, emax() - 1);
  bool reservesTopCode =
      specials == NumberSpecials::Fn || specials == NumberSpecials::Inuz;
  double step = std::ldexp(1.0, -static_cast<int>(mantissaBits));
  return std::ldexp(2.0 - (reservesTopCode ? 2 : 1) * step, emax());
}

double NumberSpec::midMax() const {
  if (kind == NumberKind::Uint)
    return 0;
  int exponent = losesTopBinade(*this) ? emax() - 1 : emax();
  return maxFloat() +
         std::ldexp(0.5, exponent - static_cast<int>(mantissaBits));
}

double NumberSpec::minSubnormal() const {
  if (kind == NumberKind::Uint)
    return 0;
  return std::ldexp(1.0, emin() - static_cast<int>(mantissaBits));
}

int64_t NumberSpec::maxInt() const {
  return (int64_t(1) << (isSigned() ? bits() - 1 : bits())) - 1;
}

int64_t NumberSpec::minInt() const { return isSigned() ? -maxInt() : 0; }

bool blockscale::operator==(const NumberSpec &left, const NumberSpec &right) {
  return fieldsOf(left) == fieldsOf(right);
}

size_t blockscale::hash_value(const NumberSpec &spec) {
  // One name per format: its hash is as good as that of the fields.
  return std::hash<std::string>()(canonicalName(spec));
}

Result<NumberSpec> blockscale::parseNumberSpec(std::string_view text) {
  std::string lower = toLower(text);
  return lower.compare(0, 2, "cb") == 0 ? parseCodebook(lower)
                                        : parsePlain(lower);
}

std::string blockscale::canonicalName(const NumberSpec &spec) {
  return withCodebook(spec, fieldsName(spec));
}

std::string blockscale::print(const NumberSpec &spec) {
  return withCodebook(spec, readableName(spec));
}

/// The spec of data of a hardware format; none for ue4m3 and ue5m3, which are
/// only scales.
static std::optional<NumberSpec> specOf(const FormatInfo &info) {
  if (info.format == ElementFormat::UE4M3 ||
      info.format == ElementFormat::UE5M3)
    return std::nullopt;
  NumberSpec spec;
  spec.mantissaBits = info.mantissaBits;
  if (info.isInteger()) {
    spec.kind = NumberKind::Int;
    spec.exponentBits = spec.bias = 1;
    spec.specials = NumberSpecials::Fnuz;
    return spec;
  }
  spec.kind = info.isSigned ? NumberKind::Float : NumberKind::Exponent;
  spec.exponentBits = info.exponentBits;
  spec.bias = info.bias;
  if (info.isSigned)
    spec.specials = info.specials == SpecialCodes::None ? NumberSpecials::Fnuz
                    : info.specials == SpecialCodes::AllOnesNaN
                        ? NumberSpecials::Fn
                        : NumberSpecials::Ieee;
  return spec;
}

std::optional<ElementFormat> blockscale::elementFormat(const NumberSpec &spec) {
  if (spec.isCodebook())
    return std::nullopt;
  for (const FormatInfo &info : kFormats)
    if (std::optional<NumberSpec> same = specOf(info); same && *same == spec)
      return info.format;
  return std::nullopt;
}

std::optional<ElementFormat> blockscale::scaleFormat(const NumberSpec &spec) {
  constexpr int kE8M0Bias = 127, kE4M3Bias = 7, kE5M3Bias = 15;
  if (spec.isCodebook())
    return std::nullopt;
  if (spec.kind == NumberKind::Exponent)
    return spec.exponentBits == 8 && spec.bias == kE8M0Bias
               ? std::optional(ElementFormat::UE8M0)
               : std::nullopt;
  bool isE4M3 = spec.kind == NumberKind::Float && spec.exponentBits == 4 &&
                spec.mantissaBits == 3 && spec.bias == kE4M3Bias;
  if (isE4M3 && (spec.specials == NumberSpecials::Fn ||
                 spec.specials == NumberSpecials::Ieee))
    return ElementFormat::UE4M3;
  // All 256 codes of ue5m3 are those of the 9 bits of e5m3fn without its sign;
  // no scale has the infinities of e5m3, as none has those of e4m3.
  bool isE5M3 = spec.kind == NumberKind::Float && spec.exponentBits == 5 &&
                spec.mantissaBits == 3 && spec.bias == kE5M3Bias;
  if (isE5M3 && (spec.specials == NumberSpecials::Fn ||
                 spec.specials == NumberSpecials::Ieee))
    return ElementFormat::UE5M3;
  return std::nullopt;
}

double blockscale::roundTo(const NumberSpec &spec, double value) {
  if (std::isnan(value))
    return value;
  if (spec.kind == NumberKind::Uint)
    return roundToEven(
        std::clamp(value, 0.0, static_cast<double>(spec.maxInt())));
  double magnitude = std::fabs(value);
  if (spec.kind == NumberKind::Exponent) {
    double smallest = std::ldexp(1.0, -spec.bias);
    if (magnitude <= smallest)
      return smallest;
    if (magnitude >= spec.maxFloat())
      return spec.maxFloat();
    return std::ldexp(1.0, std::ilogb(magnitude));
  }
  if (magnitude != 0 && magnitude < spec.maxFloat()) {
    int exponent = std::max(std::ilogb(magnitude), spec.emin());
    int step = exponent - static_cast<int>(spec.mantissaBits);
    magnitude = std::ldexp(roundToEven(std::ldexp(magnitude, -step)), step);
  }
  return std::copysign(std::min(magnitude, spec.maxFloat()), value);
}
