//===- Arguments.cpp - kernel arguments from text -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/Arguments.h"
#include "blockscale/Formats/Text.h"

#include <cstdlib>
#include <limits>
#include <new>

using namespace blockscale;
using namespace blockscale::verify;

static std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// `16x8` as numbers.
static std::optional<std::vector<uint64_t>> parseExtents(std::string_view text,
                                                         char separator) {
  std::vector<uint64_t> values;
  for (std::string_view word : splitAll(text, separator)) {
    std::optional<uint64_t> value = parseInteger<uint64_t>(word);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

template <typename T>
static Result<TextArgument> parseIntegerArgument(std::string_view text) {
  std::optional<T> value = parseInteger<T>(text);
  if (!value)
    return Reason(inQuotes(text) + " is not an integer of " +
                  std::to_string(sizeof(T) * 8) + " bits");
  TextArgument result;
  result.argument = emulator::scalar(*value);
  return result;
}

static Result<TextArgument> parseFloatArgument(std::string_view text) {
  // Infinities and NaNs are arguments too.
  std::string copy(text);
  char *end = nullptr;
  float value = std::strtof(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size())
    return Reason(inQuotes(text) + " is not a number");
  TextArgument result;
  result.argument = emulator::scalar(value);
  return result;
}

static Result<TextArgument> parseFile(std::string_view path, bool writable) {
  Result<packing::NpyArray> file = packing::readNpy(std::string(path));
  if (!file)
    return file.why();
  TextArgument result;
  result.argument = emulator::BufferArgument{};
  result.array = *std::move(file);
  result.writable = writable;
  return result;
}

static Result<TextArgument> parseZeros(std::string_view text) {
  auto [typeName, shapeText] = splitAt(text, ':');
  packing::NpyArray array;
  bool known = false;
  for (unsigned i = 0; i <= unsigned(packing::NpyType::F64); ++i) {
    auto type = static_cast<packing::NpyType>(i);
    if (packing::npyTypeName(type) != typeName)
      continue;
    array.type = type;
    known = true;
  }
  if (!known)
    return Reason("unknown element type " + inQuotes(typeName));
  auto shape = parseExtents(shapeText, 'x');
  if (!shape)
    return Reason(inQuotes(shapeText) + " is not a shape such as '16x8'");
  // More than this is a slip of the pen, not a test.
  constexpr uint64_t kMaxBytes = uint64_t(1) << 40;
  uint64_t bytes = packing::npyTypeSize(array.type);
  for (uint64_t extent : *shape) {
    if (extent == 0 || bytes > kMaxBytes / extent)
      return Reason("shape " + inQuotes(shapeText) +
                    " is empty or larger than 2^40 bytes");
    bytes *= extent;
  }
  array.shape = *shape;
  try {
    array.data.resize(bytes);
  } catch (const std::bad_alloc &) {
    return Reason("shape " + inQuotes(shapeText) + " takes " +
                  std::to_string(bytes) +
                  " bytes, more than this host has to give");
  }
  TextArgument result;
  result.argument = emulator::BufferArgument{};
  result.array = std::move(array);
  result.writable = true;
  return result;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

namespace {
template <typename T> struct Named {
  std::string_view name;
  T value;
};
} // namespace

static constexpr Named<emulator::TensorMapType> kMapTypes[] = {
    {"u8", emulator::TensorMapType::U8},
    {"u16", emulator::TensorMapType::U16},
    {"u32", emulator::TensorMapType::U32},
    {"i32", emulator::TensorMapType::S32},
    {"u64", emulator::TensorMapType::U64},
    {"i64", emulator::TensorMapType::S64},
    {"f16", emulator::TensorMapType::F16},
    {"f32", emulator::TensorMapType::F32},
    {"f64", emulator::TensorMapType::F64},
    {"bf16", emulator::TensorMapType::BF16},
    {"tf32", emulator::TensorMapType::TF32},
    {"u4_align8", emulator::TensorMapType::U4Align8},
    {"u4_align16", emulator::TensorMapType::U4Align16},
    {"u6_align16", emulator::TensorMapType::U6Align16}};

static constexpr Named<emulator::Swizzle> kSwizzles[] = {
    {"none", emulator::Swizzle::None},
    {"32B", emulator::Swizzle::B32},
    {"64B", emulator::Swizzle::B64},
    {"128B", emulator::Swizzle::B128},
    {"128B_atom_32B", emulator::Swizzle::B128Atom32},
    {"128B_atom_32B_flip_8B", emulator::Swizzle::B128Atom32Flip8},
    {"128B_atom_64B", emulator::Swizzle::B128Atom64}};

/// Sets `value` to what `name` stands for; false if the table lacks it.
template <typename T, size_t Count>
static bool lookUp(const Named<T> (&table)[Count], std::string_view name,
                   T &value) {
  for (const Named<T> &entry : table)
    if (entry.name == name) {
      value = entry.value;
      return true;
    }
  return false;
}

/// Copies numbers into a field of the map; false if there are too many, or
/// one does not fit.
template <typename Array>
static bool assign(std::string_view text, Array &field, size_t &count) {
  using Value = typename Array::value_type;
  auto values = parseExtents(text, 'x');
  if (!values || values->size() > field.size())
    return false;
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] > std::numeric_limits<Value>::max())
      return false;
    field[i] = static_cast<Value>((*values)[i]);
  }
  count = values->size();
  return true;
}

static Result<TextArgument> parseMap(std::string_view text) {
  auto [path, fields] = splitAt(text, ':');
  emulator::TensorMapArgument argument;
  emulator::TensorMap &map = argument.map;
  size_t dims = 0, strides = 0, box = 0;
  bool hasType = false;
  for (std::string_view word : splitAll(fields, ',')) {
    if (word.empty())
      continue;
    auto [key, value] = splitAt(word, '=');
    bool good = false;
    if (key == "type")
      good = hasType = lookUp(kMapTypes, value, map.type);
    else if (key == "dims")
      good = assign(value, map.globalDim, dims);
    else if (key == "strides")
      good = assign(value, map.globalStrides, strides);
    else if (key == "box")
      good = assign(value, map.boxDim, box);
    else if (key == "swizzle")
      good = lookUp(kSwizzles, value, map.swizzle);
    else
      return Reason("unknown field " + inQuotes(key) + " of a tensor map");
    if (!good)
      return Reason(inQuotes(value) + " is no value for " + inQuotes(key));
  }
  if (!hasType || dims == 0 || box != dims || strides + 1 != dims)
    return Reason("a tensor map needs 'type', 'dims', one stride fewer, and a "
                  "'box' of as many dimensions");
  map.rank = static_cast<uint32_t>(dims);
  Result<TextArgument> file = parseFile(path, /*writable=*/true);
  if (!file)
    return file;
  file->argument = argument;
  return file;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Result<TextArgument> verify::parseArgument(const std::string &text) {
  auto [kind, rest] = splitAt(text, ':');
  if (kind == "i32")
    return parseIntegerArgument<int32_t>(rest);
  if (kind == "u32")
    return parseIntegerArgument<uint32_t>(rest);
  if (kind == "i64")
    return parseIntegerArgument<int64_t>(rest);
  if (kind == "u64")
    return parseIntegerArgument<uint64_t>(rest);
  if (kind == "f32")
    return parseFloatArgument(rest);
  if (kind == "in" || kind == "inout")
    return parseFile(rest, kind == "inout");
  if (kind == "out")
    return parseZeros(rest);
  if (kind == "map")
    return parseMap(rest);
  return Reason("argument " + inQuotes(text) +
                " does not start with i32:, u32:, i64:, u64:, f32:, in:, "
                "inout:, out: or map:");
}

Result<emulator::Dim3> verify::parseDim3(const std::string &text) {
  auto values = parseExtents(text, ',');
  bool good = values && values->size() <= 3;
  for (uint64_t value : values.value_or(std::vector<uint64_t>{}))
    good = good && value >= 1 && value <= std::numeric_limits<int32_t>::max();
  if (!good)
    return Reason("'" + text + "' is not one to three extents such as '8,1,1'");
  values->resize(3, 1);
  return emulator::Dim3{uint32_t((*values)[0]), uint32_t((*values)[1]),
                        uint32_t((*values)[2])};
}
