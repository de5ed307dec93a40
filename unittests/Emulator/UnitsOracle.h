//===- UnitsOracle.h - reference tables for unit tests ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_UNITSORACLE_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_UNITSORACLE_H

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace blockscale::emulator::test {

using CsvRow = std::map<std::string, std::string>;

/// Rows of a table of the oracle folder by column name; quoting is not used
/// there in the tables that tests read.
inline std::vector<CsvRow> readCsv(const std::string &name) {
  std::ifstream file(std::string(BLOCKSCALE_ORACLE_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  auto split = [](const std::string &line) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');)
      cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(file, line);
  std::vector<std::string> header = split(line);
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    std::vector<std::string> cells = split(line);
    cells.resize(header.size());
    CsvRow row;
    for (size_t i = 0; i < header.size(); ++i)
      row[header[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

inline uint64_t hex(const std::string &text) {
  return std::stoull(text, nullptr, 16);
}

inline unsigned num(const std::string &text) { return std::stoul(text); }

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_UNITSORACLE_H
