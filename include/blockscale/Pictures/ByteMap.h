//===- ByteMap.h - the bytes of a memory, drawn -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_BYTEMAP_H
#define BLOCKSCALE_PICTURES_BYTEMAP_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::pictures {

/// What lies in a byte of memory.
struct MappedByte {
  /// Row of the operand and number along K, as ByteMap::contents says; nothing
  /// where nothing lies.
  struct Content {
    std::uint64_t row = 0, alongK = 0;
  };
  std::optional<Content> content;
  /// Which of ByteMap::readers reads it, if one does.
  std::optional<unsigned> reader;
  /// The byte that the question was about.
  bool isAsked = false;
};

/// A rectangle of memory: lines of groups of bytes.
struct MapPanel {
  std::string title;
  /// The numbers of each line: one for each of ByteMap::lineNames.
  std::vector<std::vector<std::uint64_t>> lines;
  /// The number of each group, all of ByteMap::bytesPerGroup bytes.
  std::vector<std::uint64_t> groups;
  /// By line, then byte: as many as all groups have.
  std::vector<std::vector<MappedByte>> bytes;
};

/// An instruction that reads some of the bytes.
struct MapReader {
  /// Its number along K.
  unsigned number = 0;
  /// "column 4, id 2".
  std::string address;
  /// False for those that the question leaves aside: they are drawn faintly.
  bool isWanted = true;
};

struct ByteMap {
  std::string title;
  /// Lines of text below the title.
  std::vector<std::string> notes;
  /// "lane", or one of each replica: what the numbers of a line count.
  std::vector<std::string> lineNames;
  /// "column", "thread", "word".
  std::string groupName;
  unsigned bytesPerGroup = 4;
  /// What Content::row and Content::alongK are: "row", "block".
  std::string rowName = "row", alongKName = "block";
  /// How the panels are to be arranged: this many beside each other.
  unsigned panelsPerLine = 1;
  std::vector<MapPanel> panels;
  std::vector<MapReader> readers;
};

/// The map as a picture. Of long panels the lines in the middle are left out
/// unless `everyLine`; lines with a byte that was asked for are always there.
std::string drawByteMap(const ByteMap &map, bool everyLine);

/// The map as JSON: an object with "title", "readers" and "bytes", each byte
/// with the numbers of its line and group, its place in the group, what it
/// holds and who reads it (null where nobody does).
std::string printByteMap(const ByteMap &map);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_BYTEMAP_H
