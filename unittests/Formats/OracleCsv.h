//===- OracleCsv.h - read the reference tables ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_FORMATS_ORACLECSV_H
#define BLOCKSCALE_UNITTESTS_FORMATS_ORACLECSV_H

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace blockscale::test {

/// Column name -> field.
using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::string> splitCsvLine(const std::string &line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

/// A field that is a number, not negative.
inline unsigned number(const CsvRow &row, const char *column) {
  return static_cast<unsigned>(std::stoul(row.at(column)));
}

/// All rows of a file below the oracle folder; empty if it is not there, so
/// every test states how many rows it expects.
inline std::vector<CsvRow> readOracle(const std::string &path) {
  std::ifstream in(std::string(BLOCKSCALE_ORACLE_DIR) + "/" + path);
  std::string line;
  std::vector<CsvRow> rows;
  if (!std::getline(in, line))
    return rows;
  std::vector<std::string> names = splitCsvLine(line);
  while (std::getline(in, line)) {
    std::vector<std::string> fields = splitCsvLine(line);
    CsvRow row;
    for (size_t i = 0; i < names.size() && i < fields.size(); ++i)
      row[names[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

inline uint32_t hexOf(const std::string &text) {
  return static_cast<uint32_t>(std::stoul(text, nullptr, 16));
}

inline float floatOf(const std::string &hex) {
  uint32_t bits = hexOf(hex);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// The blank-separated words of a field.
inline std::vector<std::string> wordsOf(const std::string &field) {
  std::istringstream in(field);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

inline std::vector<float> floatsOf(const std::string &field) {
  std::vector<float> values;
  for (const std::string &word : wordsOf(field))
    values.push_back(floatOf(word));
  return values;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_FORMATS_ORACLECSV_H
