//===- Npy.cpp - arrays in .npy files -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Npy.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace blockscale;
using namespace blockscale::packing;

namespace {

struct TypeRow {
  NpyType type;
  std::string_view name;
};

constexpr std::array<TypeRow, 11> kTypes{{{NpyType::U8, "u1"},
                                          {NpyType::I8, "i1"},
                                          {NpyType::U16, "u2"},
                                          {NpyType::I16, "i2"},
                                          {NpyType::U32, "u4"},
                                          {NpyType::I32, "i4"},
                                          {NpyType::U64, "u8"},
                                          {NpyType::I64, "i8"},
                                          {NpyType::F16, "f2"},
                                          {NpyType::F32, "f4"},
                                          {NpyType::F64, "f8"}}};

constexpr std::string_view kMagic = "\x93NUMPY";

/// What the dictionary of a header says.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<uint64_t> shape;
};

/// Reads the header's dictionary: a Python literal with string keys and
/// strings, booleans and tuples of integers as values.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  /// What is wrong; nothing if nothing is.
  std::optional<Reason> parse(Header &header);

private:
  std::optional<Reason> parseEntry(Header &header);
  bool parseString(std::string &value);
  bool parseBool(bool &value);
  bool parseShape(std::vector<uint64_t> &shape);
  bool parseInteger(uint64_t &value);

  void skipBlanks() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\t'))
      ++position;
  }

  bool consume(std::string_view word) {
    skipBlanks();
    if (text.substr(position, word.size()) != word)
      return false;
    position += word.size();
    return true;
  }

  std::string_view text;
  size_t position = 0;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

std::optional<Reason> HeaderParser::parse(Header &header) {
  if (!consume("{"))
    return "the header is not a dictionary";
  while (!consume("}")) {
    if (auto why = parseEntry(header))
      return why;
    if (consume(","))
      continue;
    if (consume("}"))
      break;
    return "expected ',' or '}' at byte " + std::to_string(position) +
           " of the header";
  }
  skipBlanks();
  if (position != text.size())
    return "text after the header's dictionary";
  if (!hasDescr || !hasOrder || !hasShape)
    return "the header lacks 'descr', 'fortran_order' or 'shape'";
  return std::nullopt;
}

std::optional<Reason> HeaderParser::parseEntry(Header &header) {
  std::string key;
  if (!parseString(key) || !consume(":"))
    return "expected a key at byte " + std::to_string(position) +
           " of the header";
  if (key == "descr") {
    hasDescr = parseString(header.descr);
    if (!hasDescr)
      return "'descr' is not a string: records are not read";
    return std::nullopt;
  }
  if (key == "fortran_order") {
    hasOrder = parseBool(header.fortranOrder);
    if (!hasOrder)
      return "'fortran_order' is neither True nor False";
    return std::nullopt;
  }
  if (key == "shape") {
    hasShape = parseShape(header.shape);
    if (!hasShape)
      return "'shape' is not a tuple of sizes";
    return std::nullopt;
  }
  return "unknown key '" + key + "' in the header";
}

bool HeaderParser::parseString(std::string &value) {
  skipBlanks();
  if (position >= text.size() ||
      (text[position] != '\'' && text[position] != '"'))
    return false;
  size_t end = text.find(text[position], position + 1);
  if (end == std::string_view::npos)
    return false;
  value = std::string(text.substr(position + 1, end - position - 1));
  position = end + 1;
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  if (consume("True"))
    return value = true;
  value = false;
  return consume("False");
}

bool HeaderParser::parseInteger(uint64_t &value) {
  skipBlanks();
  size_t start = position;
  value = 0;
  for (;
       position < text.size() && text[position] >= '0' && text[position] <= '9';
       ++position) {
    uint64_t digit = text[position] - '0';
    if (value > (std::numeric_limits<int64_t>::max() - digit) / 10)
      return false;
    value = value * 10 + digit;
  }
  // Python 2 wrote long integers with an L.
  bool found = position != start;
  if (found && position < text.size() && text[position] == 'L')
    ++position;
  return found;
}

bool HeaderParser::parseShape(std::vector<uint64_t> &shape) {
  shape.clear();
  if (!consume("("))
    return false;
  while (!consume(")")) {
    uint64_t size;
    if (!parseInteger(size))
      return false;
    shape.push_back(size);
    if (consume(","))
      continue;
    return consume(")");
  }
  return true;
}

/// The type that a `descr` names, or why it is not read.
std::optional<Reason> parseType(const std::string &descr, NpyType &type) {
  std::string name = descr;
  char order = '|';
  if (!name.empty() &&
      std::string_view("<>|=").find(name[0]) != std::string_view::npos) {
    order = name[0];
    name.erase(0, 1);
  }
  if (name == "V1" || name == "b1")
    name = "u1";
  if (name == "V2")
    name = "u2";
  for (const TypeRow &row : kTypes) {
    if (row.name != name)
      continue;
    if (order == '>' && npyTypeSize(row.type) > 1)
      return "element type '" + descr + "' is big endian; expected '<" + name +
             "'";
    type = row.type;
    return std::nullopt;
  }
  return "element type '" + descr +
         "' is not read; expected u1, i1, u2, i2, u4, i4, u8, i8, f2, f4, f8, "
         "V1 or V2";
}

/// Bytes that the shape asks for; nothing if they do not fit 63 bits.
std::optional<uint64_t> dataBytes(NpyType type,
                                  const std::vector<uint64_t> &shape) {
  uint64_t bytes = npyTypeSize(type);
  bool empty = false;
  for (uint64_t size : shape) {
    if (size == 0) {
      empty = true;
      continue;
    }
    if (bytes > uint64_t(std::numeric_limits<int64_t>::max()) / size)
      return std::nullopt;
    bytes *= size;
  }
  return empty ? 0 : bytes;
}

} // namespace

std::string_view packing::npyTypeName(NpyType type) {
  return kTypes[static_cast<unsigned>(type)].name;
}

unsigned packing::npyTypeSize(NpyType type) {
  return npyTypeName(type)[1] - '0';
}

uint64_t NpyArray::elementCount() const {
  uint64_t count = 1;
  for (uint64_t size : shape)
    count *= size;
  return count;
}

Result<NpyHeader> packing::parseNpyHeader(const uint8_t *bytes, size_t size,
                                          uint64_t fileBytes) {
  std::string_view file(reinterpret_cast<const char *>(bytes), size);
  if (file.substr(0, kMagic.size()) != kMagic)
    return Reason("not a .npy file: the magic string is missing");
  if (size < 10)
    return Reason("the file ends inside the header");
  unsigned version = bytes[6];
  if (version < 1 || version > 3)
    return Reason("format version " + std::to_string(version) +
                  "; expected 1, 2 or 3");
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes, length = 0;
  if (size < start)
    return Reason("the file ends inside the header");
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(bytes[8 + i]) << (8 * i);
  if (length > fileBytes - start)
    return Reason("a header of " + std::to_string(length) +
                  " bytes; the file has " + std::to_string(fileBytes - start) +
                  " left");
  if (length > size - start)
    return Reason("a header of " + std::to_string(length) + " bytes; at most " +
                  std::to_string(size - start) + " are read");
  Header header;
  if (auto why = HeaderParser(file.substr(start, length)).parse(header))
    return why->within(start);
  NpyHeader result;
  if (auto why = parseType(header.descr, result.type))
    return *why;
  if (header.fortranOrder && header.shape.size() > 1)
    return Reason("the array is in Fortran order; expected C order");
  result.descr = std::move(header.descr);
  result.shape = std::move(header.shape);
  std::optional<uint64_t> expected = dataBytes(result.type, result.shape);
  if (!expected)
    return Reason("the shape asks for more than 2^63 bytes");
  result.offset = start + length;
  result.bytes = fileBytes - result.offset;
  if (*expected != result.bytes)
    return Reason("the shape asks for " + std::to_string(*expected) +
                  " bytes; the file has " + std::to_string(result.bytes));
  return result;
}

Result<NpyArray> packing::parseNpy(const uint8_t *bytes, size_t size) {
  Result<NpyHeader> header = parseNpyHeader(bytes, size, size);
  if (!header)
    return header.why();
  NpyArray array;
  array.type = header->type;
  array.shape = header->shape;
  array.data.assign(bytes + header->offset, bytes + size);
  return array;
}

/// All that is left in `file`, of which `expected` bytes may be a guess.
static std::vector<uint8_t> readRest(std::ifstream &file, size_t expected) {
  constexpr size_t kPiece = 1 << 16;
  std::vector<uint8_t> bytes;
  // With one byte more the first piece finds the end of the file.
  size_t end = 0, piece = expected ? expected + 1 : kPiece;
  for (; file; piece = kPiece) {
    bytes.resize(end + piece);
    file.read(reinterpret_cast<char *>(bytes.data() + end),
              static_cast<std::streamsize>(piece));
    end += static_cast<size_t>(file.gcount());
  }
  bytes.resize(end);
  return bytes;
}

Result<NpyArray> packing::readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Reason("'" + path + "': cannot be opened");
  // A pipe has no size.
  std::error_code hasNone;
  std::uintmax_t size = std::filesystem::file_size(path, hasNone);
  std::vector<uint8_t> bytes =
      readRest(file, hasNone ? 0 : static_cast<size_t>(size));
  if (file.bad())
    return Reason("'" + path + "': cannot be read");
  Result<NpyHeader> header =
      parseNpyHeader(bytes.data(), bytes.size(), bytes.size());
  if (!header)
    return Reason("'" + path + "': " + header.why().text, header.why().place);
  NpyArray array;
  array.type = header->type;
  array.shape = header->shape;
  bytes.erase(bytes.begin(), bytes.begin() + int64_t(header->offset));
  array.data = std::move(bytes);
  return array;
}

std::string packing::formatNpyHeader(NpyType type,
                                     const std::vector<uint64_t> &shape) {
  std::string header = "{'descr': '";
  header += npyTypeSize(type) == 1 ? '|' : '<';
  header += npyTypeName(type);
  header += "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(shape[i]);
  header += shape.size() == 1 ? ",), }" : "), }";
  // Magic, version and length take 10 bytes; a newline ends the header.
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    return "";
  std::string bytes(kMagic);
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

std::optional<std::vector<uint8_t>> packing::formatNpy(const NpyArray &array) {
  std::optional<uint64_t> expected = dataBytes(array.type, array.shape);
  std::string header = formatNpyHeader(array.type, array.shape);
  if (!expected || *expected != array.data.size() || header.empty())
    return std::nullopt;
  std::vector<uint8_t> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), array.data.begin(), array.data.end());
  return bytes;
}

std::optional<Reason> packing::writeNpy(const std::string &path,
                                        const NpyArray &array) {
  std::optional<std::vector<uint8_t>> bytes = formatNpy(array);
  if (!bytes)
    return "'" + path + "': the data do not have the size of the shape";
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file)
    return "'" + path + "': cannot be opened for writing";
  file.write(reinterpret_cast<const char *>(bytes->data()),
             static_cast<std::streamsize>(bytes->size()));
  file.close();
  if (!file)
    return "'" + path + "': cannot be written";
  return std::nullopt;
}
