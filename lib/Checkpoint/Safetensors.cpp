//===- Safetensors.cpp - headers of .safetensors files --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>

using namespace blockscale;
using namespace blockscale::checkpoint;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct DTypeRow {
  DType type;
  std::string_view name;
  unsigned bits;
  std::optional<ElementFormat> format;
};
} // namespace

/// In the order of the enum.
static constexpr std::array<DTypeRow, kNumDTypes> kDTypes{{
    {DType::Bool, "BOOL", 8, {}},
    {DType::U8, "U8", 8, {}},
    {DType::I8, "I8", 8, {}},
    {DType::F4, "F4", 4, ElementFormat::E2M1},
    {DType::F6E2M3, "F6_E2M3", 6, ElementFormat::E2M3},
    {DType::F6E3M2, "F6_E3M2", 6, ElementFormat::E3M2},
    {DType::F8E5M2, "F8_E5M2", 8, ElementFormat::E5M2},
    {DType::F8E4M3, "F8_E4M3", 8, ElementFormat::E4M3},
    {DType::F8E8M0, "F8_E8M0", 8, ElementFormat::UE8M0},
    {DType::F8E5M2Fnuz, "F8_E5M2FNUZ", 8, {}},
    {DType::F8E4M3Fnuz, "F8_E4M3FNUZ", 8, {}},
    {DType::I16, "I16", 16, {}},
    {DType::U16, "U16", 16, {}},
    {DType::F16, "F16", 16, ElementFormat::F16},
    {DType::BF16, "BF16", 16, ElementFormat::BF16},
    {DType::I32, "I32", 32, {}},
    {DType::U32, "U32", 32, {}},
    {DType::F32, "F32", 32, {}},
    {DType::C64, "C64", 64, {}},
    {DType::F64, "F64", 64, {}},
    {DType::I64, "I64", 64, {}},
    {DType::U64, "U64", 64, {}},
}};

static const DTypeRow &rowOf(DType type) {
  return kDTypes[static_cast<unsigned>(type)];
}

std::string_view checkpoint::dtypeName(DType type) { return rowOf(type).name; }
unsigned checkpoint::dtypeBits(DType type) { return rowOf(type).bits; }
std::optional<ElementFormat> checkpoint::elementFormat(DType type) {
  return rowOf(type).format;
}

std::optional<DType> checkpoint::parseDType(std::string_view name) {
  for (const DTypeRow &row : kDTypes)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

std::string checkpoint::printShape(const std::vector<uint64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

uint64_t TensorEntry::elementCount() const {
  uint64_t count = 1;
  for (uint64_t size : shape)
    count *= size;
  return count;
}

const std::string *SafetensorsHeader::findMetadata(std::string_view key) const {
  for (const auto &[name, text] : metadata)
    if (name == key)
      return &text;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The JSON of a header
//===----------------------------------------------------------------------===//

namespace {
using json = nlohmann::json;

constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();

/// Takes the JSON as it comes. Whatever has no place in a header ends the
/// parse, deep nesting for one: nothing is built of it.
class HeaderReader : public nlohmann::json_sax<json> {
public:
  explicit HeaderReader(SafetensorsHeader &header) : header(header) {}

  std::string problem;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a truth value"); }
  bool number_integer(number_integer_t) override {
    return refuse("a negative number");
  }
  bool number_float(number_float_t, const string_t &) override {
    return refuse("a fraction");
  }
  bool binary(binary_t &) override { return refuse("binary data"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t &text) override;
  bool start_object(size_t) override;
  bool key(string_t &name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    problem =
        "the header is no JSON: error at its byte " + std::to_string(position);
    return false;
  }

private:
  enum class Place { Start, Tensors, Metadata, Tensor, Shape, Offsets, End };

  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }
  std::string where() const {
    if (place == Place::Metadata)
      return "'__metadata__'";
    if (place == Place::Start || place == Place::Tensors || place == Place::End)
      return "the header";
    return "tensor '" + entry.name + "'";
  }
  bool refuse(const char *what) {
    std::string key = field.empty() ? "" : " for '" + field + "'";
    return fail(where() + ": " + what + key + " has no place there");
  }
  bool finishTensor();

  SafetensorsHeader &header;
  Place place = Place::Start;
  TensorEntry entry;
  std::string field;
  std::vector<uint64_t> offsets;
  bool hasType = false, hasShape = false, hasOffsets = false;
  std::unordered_set<std::string> names, metadataNames;
};
} // namespace

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (place != Place::Shape && place != Place::Offsets)
    return refuse("a number");
  if (value > kMaxBytes)
    return fail(where() + ": " + std::to_string(value) +
                " does not fit 63 bits");
  (place == Place::Shape ? entry.shape : offsets).push_back(value);
  return true;
}

bool HeaderReader::string(string_t &text) {
  if (place == Place::Metadata) {
    header.metadata.back().second = std::move(text);
    return true;
  }
  if (place != Place::Tensor || field != "dtype")
    return refuse("text");
  std::optional<DType> type = parseDType(text);
  if (!type) {
    std::string known;
    for (const DTypeRow &row : kDTypes)
      known += (known.empty() ? "" : ", ") + std::string(row.name);
    return fail(where() + ": unknown dtype '" + text + "', known are " + known);
  }
  entry.dtype = *type;
  return hasType = true;
}

bool HeaderReader::start_object(size_t) {
  if (place == Place::Start) {
    place = Place::Tensors;
    return true;
  }
  if (place != Place::Tensors)
    return refuse("an object");
  if (entry.name == "__metadata__")
    place = Place::Metadata;
  else
    place = Place::Tensor;
  field.clear();
  return true;
}

bool HeaderReader::key(string_t &name) {
  if (place == Place::Metadata) {
    if (!metadataNames.insert(name).second)
      return fail("'__metadata__' has '" + name + "' twice");
    header.metadata.push_back({std::move(name), ""});
    return true;
  }
  if (place == Place::Tensors) {
    if (!names.insert(name).second)
      return fail("the header has '" + name + "' twice");
    entry = TensorEntry();
    entry.name = std::move(name);
    offsets.clear();
    hasType = hasShape = hasOffsets = false;
    return true;
  }
  bool isTwice = (name == "dtype" && hasType) ||
                 (name == "shape" && hasShape) ||
                 (name == "data_offsets" && hasOffsets);
  if (isTwice)
    return fail(where() + " has '" + name + "' twice");
  if (name != "dtype" && name != "shape" && name != "data_offsets")
    return fail(where() + ": unknown key '" + name +
                "', expected 'dtype', 'shape' and 'data_offsets'");
  field = std::move(name);
  return true;
}

bool HeaderReader::start_array(size_t) {
  if (place != Place::Tensor || field == "dtype")
    return refuse("a list");
  place = field == "shape" ? Place::Shape : Place::Offsets;
  return true;
}

bool HeaderReader::end_array() {
  (place == Place::Shape ? hasShape : hasOffsets) = true;
  place = Place::Tensor;
  return true;
}

bool HeaderReader::end_object() {
  if (place == Place::Tensors) {
    place = Place::End;
    return true;
  }
  bool isTensor = place == Place::Tensor;
  if (isTensor && !finishTensor())
    return false;
  place = Place::Tensors;
  field.clear();
  return true;
}

/// Bytes of the elements; nothing if they are no whole bytes or more than 63
/// bits count.
static std::optional<uint64_t> bytesOf(const TensorEntry &entry) {
  uint64_t bits = dtypeBits(entry.dtype);
  bool isEmpty = false;
  // Sizes of zero must not hide an overflow of the others from a reader that
  // multiplies in another order.
  for (uint64_t size : entry.shape) {
    isEmpty |= size == 0;
    if (size != 0 && bits > kMaxBytes / size)
      return std::nullopt;
    if (size != 0)
      bits *= size;
  }
  if (isEmpty)
    return 0;
  return bits % 8 ? std::nullopt : std::optional<uint64_t>(bits / 8);
}

bool HeaderReader::finishTensor() {
  if (!hasType || !hasShape || !hasOffsets)
    return fail(where() + " lacks '" +
                (!hasType    ? "dtype"
                 : !hasShape ? "shape"
                             : "data_offsets") +
                "'");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return fail(where() + ": 'data_offsets' are not a begin and an end");
  std::string what = where() + ": " + std::string(dtypeName(entry.dtype)) +
                     " " + printShape(entry.shape);
  std::optional<uint64_t> expected = bytesOf(entry);
  if (!expected)
    return fail(what + " is no whole number of bytes that fits 63 bits");
  entry.offset = offsets[0];
  entry.bytes = offsets[1] - offsets[0];
  if (entry.bytes != *expected)
    return fail(what + " takes " + std::to_string(*expected) +
                " bytes, 'data_offsets' hold " + std::to_string(entry.bytes));
  header.tensors.push_back(std::move(entry));
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<uint64_t> checkpoint::parseHeaderLength(const uint8_t *start,
                                               uint64_t fileBytes) {
  if (fileBytes < 8)
    return Reason("not a .safetensors file: " + std::to_string(fileBytes) +
                  " bytes, the length of the header takes 8");
  // What people take for one: GGUF, and archives of pickles.
  constexpr std::string_view kGguf = "GGUF", kZip = "PK\x03\x04";
  std::string_view begin(reinterpret_cast<const char *>(start), 4);
  if (begin == kGguf || begin == kZip)
    return Reason(std::string("not a .safetensors file but ") +
                  (begin == kGguf ? "one of GGUF" : "a ZIP archive") +
                  "; convert it to .safetensors first");
  uint64_t length = 0;
  for (unsigned i = 8; i-- > 0;)
    length = length << 8 | start[i];
  if (length > kMaxHeaderBytes)
    return Reason("a header of " + std::to_string(length) + " bytes; at most " +
                  std::to_string(kMaxHeaderBytes) + " are legal");
  if (length > fileBytes - 8)
    return Reason("a header of " + std::to_string(length) +
                  " bytes; the file has " + std::to_string(fileBytes - 8) +
                  " left");
  return length;
}

/// Makes offsets those of the file and sees to it that the data are neither
/// torn nor shared. Returns what is wrong.
static std::string placeData(SafetensorsHeader &header, uint64_t start,
                             uint64_t dataBytes) {
  std::vector<TensorEntry> &tensors = header.tensors;
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorEntry &x, const TensorEntry &y) {
              return std::tie(x.offset, x.bytes, x.name) <
                     std::tie(y.offset, y.bytes, y.name);
            });
  uint64_t end = 0;
  const TensorEntry *previous = nullptr;
  for (TensorEntry &entry : tensors) {
    if (entry.offset + entry.bytes > dataBytes)
      return "tensor '" + entry.name + "' ends at byte " +
             std::to_string(entry.offset + entry.bytes) +
             " of the data; the file has " + std::to_string(dataBytes);
    if (entry.offset < end)
      return "tensors '" + previous->name + "' and '" + entry.name +
             "' overlap at byte " + std::to_string(entry.offset) +
             " of the data";
    if (entry.offset > end)
      return std::to_string(entry.offset - end) + " bytes before tensor '" +
             entry.name + "' belong to none";
    end = entry.offset + entry.bytes;
    entry.offset += start;
    previous = &entry;
  }
  if (end != dataBytes)
    return std::to_string(dataBytes - end) +
           " bytes at the end of the file belong to no tensor";
  return "";
}

Result<SafetensorsHeader> checkpoint::parseHeader(std::string_view text,
                                                  uint64_t fileBytes) {
  SafetensorsHeader header;
  if (text.empty() || text.front() != '{')
    return Reason("the header does not begin with '{'");
  HeaderReader reader(header);
  if (!json::sax_parse(text.begin(), text.end(), &reader))
    return Reason(reader.problem);
  uint64_t start = 8 + text.size();
  if (start > fileBytes)
    return Reason("the file ends inside the header");
  std::string error = placeData(header, start, fileBytes - start);
  if (!error.empty())
    return Reason(error);
  return header;
}

Result<SafetensorsHeader> checkpoint::readHeader(const InputFile &file) {
  uint8_t start[8] = {};
  if (file.size() >= sizeof(start))
    if (std::string error = file.read(0, start, sizeof(start)); !error.empty())
      return Reason(error);
  Result<uint64_t> length = parseHeaderLength(start, file.size());
  if (!length)
    return Reason("'" + file.path() + "': " + length.why().text);
  std::string text(*length, '\0');
  if (std::string error = file.read(8, text.data(), *length); !error.empty())
    return Reason(error);
  Result<SafetensorsHeader> header = parseHeader(text, file.size());
  if (!header)
    return Reason("'" + file.path() + "': " + header.why().text);
  return header;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Text in quotes. Bytes that are no UTF-8 are replaced.
static std::string jsonText(const std::string &text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Gives data their places, those of wide elements first: each then lies at a
/// multiple of its size, without which readers that do not copy refuse it.
static void placeAligned(std::vector<TensorEntry> &tensors) {
  uint64_t end = 0;
  for (unsigned bits : {64u, 32u, 16u, 8u, 6u, 4u})
    for (TensorEntry &entry : tensors) {
      if (dtypeBits(entry.dtype) != bits)
        continue;
      entry.bytes = bytesOf(entry).value_or(0);
      entry.offset = end;
      end += entry.bytes;
    }
}

std::string checkpoint::formatHeader(SafetensorsHeader &header) {
  std::string text = "{";
  if (!header.metadata.empty()) {
    text += "\"__metadata__\":{";
    for (const auto &[key, value] : header.metadata)
      text += (text.back() == '{' ? "" : ",") + jsonText(key) + ":" +
              jsonText(value);
    text += "}";
  }
  placeAligned(header.tensors);
  for (const TensorEntry &entry : header.tensors) {
    std::string sizes;
    for (uint64_t size : entry.shape)
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    text += (text.size() == 1 ? "" : ",") + jsonText(entry.name) +
            ":{\"dtype\":\"" + std::string(dtypeName(entry.dtype)) +
            "\",\"shape\":[" + sizes + "],\"data_offsets\":[" +
            std::to_string(entry.offset) + "," +
            std::to_string(entry.offset + entry.bytes) + "]}";
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i)
    bytes += static_cast<char>(text.size() >> (8 * i));
  for (TensorEntry &entry : header.tensors)
    entry.offset += bytes.size() + text.size();
  return bytes + text;
}
