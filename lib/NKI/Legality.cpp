//===- Legality.cpp - questions to the rules ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <algorithm>
#include <array>

using namespace blockscale;
using namespace blockscale::nki;

namespace {

// NKI API reference, nki.language: float8_e4m3fn_x4, float8_e5m2_x4,
// float4_e2m1fn_x4. The other 8-bit type, float8_e4m3 (largest value 240), has
// no packed form.
constexpr std::array kPackedTypes{
    PackedType{ElementFormat::E4M3, "float8_e4m3fn_x4", 32},
    PackedType{ElementFormat::E5M2, "float8_e5m2_x4", 32},
    PackedType{ElementFormat::E2M1, "float4_e2m1fn_x4", 16},
};

constexpr std::array<std::pair<PlainType, std::string_view>, 7> kPlainTypes{{
    {PlainType::F32, "float32"},
    {PlainType::BF16, "bfloat16"},
    {PlainType::F16, "float16"},
    {PlainType::U8, "uint8"},
    {PlainType::U16, "uint16"},
    {PlainType::U32, "uint32"},
    {PlainType::E8M0, "float8_e8m0fnu"},
}};

} // namespace

std::string_view blockscale::nki::bufferName(Buffer buffer) {
  switch (buffer) {
  case Buffer::Hbm:
    return "hbm";
  case Buffer::Sbuf:
    return "sbuf";
  case Buffer::Psum:
    return "psum";
  }
  return "";
}

std::string_view blockscale::nki::plainTypeName(PlainType type) {
  return kPlainTypes[static_cast<size_t>(type)].second;
}

std::optional<PlainType>
blockscale::nki::parsePlainType(std::string_view name) {
  for (const auto &[type, spelling] : kPlainTypes)
    if (spelling == name)
      return type;
  return std::nullopt;
}

const PackedType *blockscale::nki::findPackedType(ElementFormat element) {
  for (const PackedType &type : kPackedTypes)
    if (type.element == element)
      return &type;
  return nullptr;
}

std::string
blockscale::nki::joinDistinct(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i != words.size(); ++i) {
    auto holdsThis = [&](const std::string &other) {
      return &other != &words[i] && other != words[i] &&
             other.find(words[i]) != std::string::npos;
    };
    if (std::none_of(words.begin(), words.end(), holdsThis))
      text += (text.empty() ? "" : ", ") + words[i];
  }
  return text;
}

std::string
blockscale::nki::quotedList(const std::vector<std::string_view> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0)
      text += i + 1 == names.size() ? " or " : ", ";
    text += "'" + std::string(names[i]) + "'";
  }
  return text;
}

unsigned blockscale::nki::nearestPartitionCount(unsigned partitions) {
  if (partitions >= kPartitions)
    return kPartitions;
  return std::max(1u, (partitions + kQuadrant - 1) / kQuadrant) * kQuadrant;
}

int blockscale::nki::nearestScaleOffset(int offset) {
  return (std::clamp(offset, 0, 12) + 2) / 4 * 4;
}

std::optional<Reason> blockscale::nki::whyNot(const MatmulQuery &query) {
  return firstBroken(query);
}

std::optional<Reason> blockscale::nki::whyNot(const QuantizeQuery &query) {
  return firstBroken(query);
}

MatmulQuery blockscale::nki::nearestLegal(const MatmulQuery &query) {
  return mended(query);
}

QuantizeQuery blockscale::nki::nearestLegal(const QuantizeQuery &query) {
  return mended(query);
}
