//===- Arguments.cpp - kernel arguments from text -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/Arguments.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace blockscale;
using namespace blockscale::verify;
using llvm::StringRef;

using ArgumentResult = Parsed<TextArgument>;

static ArgumentResult failure(const llvm::Twine &message) {
  return ArgumentResult::failure(message.str());
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// `16x8` as numbers.
static std::optional<std::vector<uint64_t>> parseExtents(StringRef text,
                                                         char separator) {
  llvm::SmallVector<StringRef> words;
  text.split(words, separator);
  std::vector<uint64_t> values;
  for (StringRef word : words) {
    uint64_t value;
    if (word.getAsInteger(10, value))
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

template <typename T> static ArgumentResult parseInteger(StringRef text) {
  T value;
  if (text.getAsInteger(0, value))
    return failure("'" + text + "' is not an integer of " +
                   llvm::Twine(sizeof(T) * 8) + " bits");
  TextArgument result;
  result.argument = emulator::scalar(value);
  return ArgumentResult::success(std::move(result));
}

static ArgumentResult parseFloat(StringRef text) {
  double value;
  if (text.getAsDouble(value))
    return failure("'" + text + "' is not a number");
  TextArgument result;
  result.argument = emulator::scalar(static_cast<float>(value));
  return ArgumentResult::success(std::move(result));
}

static ArgumentResult parseFile(StringRef path, bool writable) {
  packing::NpyResult file = packing::readNpy(path.str());
  if (!file.array)
    return failure(file.error);
  TextArgument result;
  result.argument = emulator::BufferArgument{};
  result.array = std::move(file.array);
  result.writable = writable;
  return ArgumentResult::success(std::move(result));
}

static ArgumentResult parseZeros(StringRef text) {
  auto [typeName, shapeText] = text.split(':');
  packing::NpyArray array;
  bool known = false;
  for (unsigned i = 0; i <= unsigned(packing::NpyType::F64); ++i) {
    auto type = static_cast<packing::NpyType>(i);
    if (StringRef(packing::npyTypeName(type)) != typeName)
      continue;
    array.type = type;
    known = true;
  }
  if (!known)
    return failure("unknown element type '" + typeName + "'");
  auto shape = parseExtents(shapeText, 'x');
  if (!shape)
    return failure("'" + shapeText + "' is not a shape such as '16x8'");
  // More than this is a slip of the pen, not a test.
  constexpr uint64_t kMaxBytes = uint64_t(1) << 40;
  uint64_t bytes = packing::npyTypeSize(array.type);
  for (uint64_t extent : *shape) {
    if (extent == 0 || bytes > kMaxBytes / extent)
      return failure("shape '" + shapeText +
                     "' is empty or larger than 2^40 bytes");
    bytes *= extent;
  }
  array.shape = *shape;
  array.data.resize(bytes);
  TextArgument result;
  result.argument = emulator::BufferArgument{};
  result.array = std::move(array);
  result.writable = true;
  return ArgumentResult::success(std::move(result));
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static std::optional<emulator::TensorMapType> mapType(StringRef name) {
  using Type = emulator::TensorMapType;
  return llvm::StringSwitch<std::optional<Type>>(name)
      .Case("u8", Type::U8)
      .Case("u16", Type::U16)
      .Case("u32", Type::U32)
      .Case("i32", Type::S32)
      .Case("u64", Type::U64)
      .Case("i64", Type::S64)
      .Case("f16", Type::F16)
      .Case("f32", Type::F32)
      .Case("f64", Type::F64)
      .Case("bf16", Type::BF16)
      .Case("tf32", Type::TF32)
      .Case("u4_align8", Type::U4Align8)
      .Case("u4_align16", Type::U4Align16)
      .Case("u6_align16", Type::U6Align16)
      .Default(std::nullopt);
}

static std::optional<emulator::Swizzle> mapSwizzle(StringRef name) {
  using Mode = emulator::Swizzle;
  return llvm::StringSwitch<std::optional<Mode>>(name)
      .Case("none", Mode::None)
      .Case("32B", Mode::B32)
      .Case("64B", Mode::B64)
      .Case("128B", Mode::B128)
      .Case("128B_atom_32B", Mode::B128Atom32)
      .Case("128B_atom_32B_flip_8B", Mode::B128Atom32Flip8)
      .Case("128B_atom_64B", Mode::B128Atom64)
      .Default(std::nullopt);
}

/// Copies numbers into a field of the map; false if there are too many, or
/// one does not fit.
template <typename Array>
static bool assign(StringRef text, Array &field, size_t &count) {
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

static ArgumentResult parseMap(StringRef text) {
  auto [path, fields] = text.split(':');
  emulator::TensorMapArgument argument;
  emulator::TensorMap &map = argument.map;
  size_t dims = 0, strides = 0, box = 0;
  bool hasType = false;
  llvm::SmallVector<StringRef> words;
  fields.split(words, ',', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    bool good = false;
    if (key == "type") {
      auto type = mapType(value);
      good = hasType = type.has_value();
      map.type = type.value_or(map.type);
    } else if (key == "dims") {
      good = assign(value, map.globalDim, dims);
    } else if (key == "strides") {
      good = assign(value, map.globalStrides, strides);
    } else if (key == "box") {
      good = assign(value, map.boxDim, box);
    } else if (key == "swizzle") {
      auto swizzle = mapSwizzle(value);
      good = swizzle.has_value();
      map.swizzle = swizzle.value_or(map.swizzle);
    } else {
      return failure("unknown field '" + key + "' of a tensor map");
    }
    if (!good)
      return failure("'" + value + "' is no value for '" + key + "'");
  }
  if (!hasType || dims == 0 || box != dims || strides + 1 != dims)
    return failure("a tensor map needs 'type', 'dims', one stride fewer, and a "
                   "'box' of as many dimensions");
  map.rank = static_cast<uint32_t>(dims);
  ArgumentResult file = parseFile(path, /*writable=*/true);
  if (!file)
    return file;
  file.value->argument = argument;
  return file;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Parsed<TextArgument> verify::parseArgument(const std::string &text) {
  auto [kind, rest] = StringRef(text).split(':');
  if (kind == "i32")
    return parseInteger<int32_t>(rest);
  if (kind == "u32")
    return parseInteger<uint32_t>(rest);
  if (kind == "i64")
    return parseInteger<int64_t>(rest);
  if (kind == "u64")
    return parseInteger<uint64_t>(rest);
  if (kind == "f32")
    return parseFloat(rest);
  if (kind == "in" || kind == "inout")
    return parseFile(rest, kind == "inout");
  if (kind == "out")
    return parseZeros(rest);
  if (kind == "map")
    return parseMap(rest);
  return failure("argument '" + llvm::Twine(text) +
                 "' does not start with i32:, u32:, i64:, u64:, f32:, in:, "
                 "inout:, out: or map:");
}

Parsed<emulator::Dim3> verify::parseDim3(const std::string &text) {
  using Result = Parsed<emulator::Dim3>;
  auto values = parseExtents(text, ',');
  bool good = values && values->size() <= 3;
  for (uint64_t value : values.value_or(std::vector<uint64_t>{}))
    good = good && value >= 1 && value <= std::numeric_limits<int32_t>::max();
  if (!good)
    return Result::failure("'" + text +
                           "' is not one to three extents such as '8,1,1'");
  values->resize(3, 1);
  return Result::success(
      {uint32_t((*values)[0]), uint32_t((*values)[1]), uint32_t((*values)[2])});
}
