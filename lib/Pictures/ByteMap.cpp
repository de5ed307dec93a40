//===- ByteMap.cpp - the bytes of a memory, drawn -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/ByteMap.h"
#include "blockscale/Pictures/Svg.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace blockscale::pictures {

//===----------------------------------------------------------------------===//
// Picture
//===----------------------------------------------------------------------===//

namespace {
constexpr double kLeastWidth = 40, kLineHeight = 16, kLabelWidth = 36;
constexpr double kMargin = 16, kPanelGap = 28, kGroupHead = 17, kByteHead = 14;
constexpr double kTitleHeight = 26, kNoteHeight = 17, kKeyHeight = 20;
/// Panels with more lines than this show the first and the last few.
constexpr std::size_t kFirstLines = 8, kLastLines = 4;
constexpr std::size_t kSkip = ~std::size_t(0);

std::string labelOf(const MappedByte &byte) {
  return std::to_string(byte.content->row) + "\u00b7" +
         std::to_string(byte.content->alongK);
}

/// The longest text decides.
double widthOfBytes(const ByteMap &map) {
  std::size_t longest = 0;
  for (const MapPanel &panel : map.panels)
    for (const auto &line : panel.bytes)
      for (const MappedByte &byte : line)
        if (byte.content)
          longest = std::max(longest, labelOf(byte).size());
  // Digits are wide, the dot takes two bytes.
  constexpr double kDigit = 6.5;
  return std::max(kLeastWidth, std::ceil(longest * kDigit));
}

class Drawing {
public:
  Drawing(const ByteMap &map, bool everyLine)
      : map(map), everyLine(everyLine), byteWidth(widthOfBytes(map)) {}

  std::string draw();

private:
  double labelsWidth() const { return map.lineNames.size() * kLabelWidth; }
  double panelWidth(const MapPanel &panel) const {
    return labelsWidth() + panel.groups.size() * map.bytesPerGroup * byteWidth;
  }
  std::vector<std::size_t> linesOf(const MapPanel &panel) const;
  bool looksAlike(const MapPanel &panel, std::size_t line,
                  std::size_t other) const;
  void drawHeader();
  void drawKey();
  /// Returns the height.
  double drawPanel(const MapPanel &panel, double left, double top);
  void drawHeads(const MapPanel &panel, double left, double top);
  void drawFills(const MapPanel &panel, const std::vector<std::size_t> &lines,
                 double left, double top);
  void drawLine(const MapPanel &panel, std::size_t line, double left,
                double top);
  void drawGrid(const MapPanel &panel, std::size_t lines, double left,
                double top);
  std::string classOf(const MappedByte &byte) const;
  bool readsColumn(const MapPanel &panel, std::size_t byte,
                   std::optional<unsigned> &reader) const;

  const ByteMap &map;
  bool everyLine;
  double byteWidth;
  Svg svg;
  double y = kMargin, widest = 0;
};
} // namespace

/// Whether two lines differ in nothing but their numbers.
bool Drawing::looksAlike(const MapPanel &panel, std::size_t line,
                         std::size_t other) const {
  for (std::size_t i = 0; i < panel.bytes[line].size(); ++i) {
    const MappedByte &x = panel.bytes[line][i], &y = panel.bytes[other][i];
    if (x.isAsked || y.isAsked || x.reader != y.reader ||
        x.content.has_value() != y.content.has_value())
      return false;
  }
  return true;
}

/// The lines to draw, kSkip where some are left out.
std::vector<std::size_t> Drawing::linesOf(const MapPanel &panel) const {
  std::size_t count = panel.lines.size();
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < count; ++i) {
    bool isShown = everyLine || count <= kFirstLines + kLastLines + 1 ||
                   i < kFirstLines || i + kLastLines >= count ||
                   !looksAlike(panel, i, i - 1) || !looksAlike(panel, i, i + 1);
    if (isShown)
      lines.push_back(i);
    else if (lines.back() != kSkip)
      lines.push_back(kSkip);
  }
  return lines;
}

void Drawing::drawHeader() {
  y += kTitleHeight - 8;
  svg.text(kMargin, y, "bs-title", map.title);
  widest = map.title.size() * 17 * kBoldWidth;
  for (const std::string &note : map.notes) {
    y += kNoteHeight + 2;
    svg.text(kMargin, y, "bs-note", note);
    widest = std::max(widest, note.size() * 12 * kCharacterWidth);
  }
  y += 12;
}

/// Which fill is which instruction.
void Drawing::drawKey() {
  if (map.readers.empty())
    return;
  double x = kMargin;
  double limit = widest;
  for (std::size_t i = 0; i < map.readers.size(); ++i) {
    const MapReader &reader = map.readers[i];
    std::string label =
        "MMA " + std::to_string(reader.number) + ": " + reader.address;
    double width = 26 + label.size() * 12 * kCharacterWidth;
    if (x > kMargin && x + width > limit) {
      x = kMargin;
      y += kKeyHeight;
    }
    MappedByte sample;
    sample.content.emplace();
    sample.reader = static_cast<unsigned>(i);
    svg.rectangle(x, y, 18, 13, classOf(sample));
    svg.rectangle(x, y, 18, 13, "bs-grid");
    svg.text(x + 24, y + 11, reader.isWanted ? "bs-note" : "bs-note bs-faint",
             label);
    x += width + 14;
  }
  y += kKeyHeight + 4;
}

std::string Drawing::classOf(const MappedByte &byte) const {
  if (!byte.content || !byte.reader || !map.readers[*byte.reader].isWanted)
    return "bs-empty";
  return hueClass(map.readers[*byte.reader].number);
}

/// Whether all lines of a byte's column have one reader, which the head names.
bool Drawing::readsColumn(const MapPanel &panel, std::size_t byte,
                          std::optional<unsigned> &reader) const {
  for (const auto &line : panel.bytes) {
    if (!line[byte].reader)
      continue;
    if (reader && reader != line[byte].reader)
      return false;
    reader = line[byte].reader;
  }
  return reader.has_value();
}

void Drawing::drawHeads(const MapPanel &panel, double left, double top) {
  double base = top + kGroupHead + kByteHead;
  double x = left;
  for (const std::string &name : map.lineNames) {
    svg.endingAt(x + kLabelWidth - 6, base - 4, "bs-mark bs-faint", name);
    x += kLabelWidth;
  }
  for (std::size_t group = 0; group < panel.groups.size(); ++group) {
    double width = map.bytesPerGroup * byteWidth;
    svg.centred(x + group * width + width / 2, top + 12, "bs-note",
                map.groupName + " " + std::to_string(panel.groups[group]));
    for (unsigned byte = 0; byte < map.bytesPerGroup; ++byte) {
      double middle = x + group * width + (byte + 0.5) * byteWidth;
      std::string label = std::to_string(byte);
      std::optional<unsigned> reader;
      if (readsColumn(panel, group * map.bytesPerGroup + byte, reader))
        label += ": M" + std::to_string(map.readers[*reader].number);
      svg.centred(middle, base - 4, "bs-mark bs-faint", label);
    }
  }
}

/// One rectangle for bytes below each other that look alike.
void Drawing::drawFills(const MapPanel &panel,
                        const std::vector<std::size_t> &lines, double left,
                        double top) {
  std::size_t bytes = panel.groups.size() * map.bytesPerGroup;
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    for (std::size_t first = 0; first < lines.size();) {
      if (lines[first] == kSkip) {
        ++first;
        continue;
      }
      std::string fill = classOf(panel.bytes[lines[first]][byte]);
      std::size_t end = first + 1;
      while (end < lines.size() && lines[end] != kSkip &&
             classOf(panel.bytes[lines[end]][byte]) == fill)
        ++end;
      svg.rectangle(left + byte * byteWidth, top + first * kLineHeight,
                    byteWidth, (end - first) * kLineHeight, fill);
      first = end;
    }
  }
}

void Drawing::drawLine(const MapPanel &panel, std::size_t line, double left,
                       double top) {
  double base = top + kLineHeight - 4;
  for (std::size_t i = 0; i < map.lineNames.size(); ++i)
    svg.endingAt(left + (i + 1) * kLabelWidth - 6, base, "bs-mark",
                 std::to_string(panel.lines[line][i]));
  double x = left + labelsWidth();
  svg.beginCells();
  for (const MappedByte &byte : panel.bytes[line]) {
    if (byte.content) {
      bool isRead = byte.reader && map.readers[*byte.reader].isWanted;
      svg.cell(x + byteWidth / 2, base, !isRead, labelOf(byte));
    }
    if (byte.isAsked)
      svg.rectangle(x + 1, top + 1, byteWidth - 2, kLineHeight - 2, "bs-asked");
    x += byteWidth;
  }
  svg.endCells();
}

void Drawing::drawGrid(const MapPanel &panel, std::size_t lines, double left,
                       double top) {
  std::size_t bytes = panel.groups.size() * map.bytesPerGroup;
  double width = bytes * byteWidth, height = lines * kLineHeight;
  std::string thin, thick;
  for (std::size_t i = 1; i < lines; ++i)
    thin += "M" + pixels(left) + " " + pixels(top + i * kLineHeight) + "h" +
            pixels(width);
  for (std::size_t i = 0; i <= bytes; ++i) {
    std::string &path = i % map.bytesPerGroup ? thin : thick;
    path += "M" + pixels(left + i * byteWidth) + " " + pixels(top) + "v" +
            pixels(height);
  }
  svg.path(thin, "bs-grid");
  svg.path(thick + "M" + pixels(left) + " " + pixels(top) + "h" +
               pixels(width) + "M" + pixels(left) + " " + pixels(top + height) +
               "h" + pixels(width),
           "bs-border");
}

double Drawing::drawPanel(const MapPanel &panel, double left, double top) {
  double height = 0;
  if (!panel.title.empty()) {
    svg.text(left + labelsWidth(), top + 12, "bs-head", panel.title);
    height = 20;
  }
  drawHeads(panel, left, top + height);
  height += kGroupHead + kByteHead;
  double table = left + labelsWidth(), first = top + height;
  std::vector<std::size_t> lines = linesOf(panel);
  drawFills(panel, lines, table, first);
  drawGrid(panel, lines.size(), table, first);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    double at = first + i * kLineHeight;
    if (lines[i] != kSkip) {
      drawLine(panel, lines[i], left, at);
      continue;
    }
    svg.rectangle(table, at + 0.5, panelWidth(panel) - labelsWidth(),
                  kLineHeight - 1, "bs-ground");
    svg.centred(table + (panelWidth(panel) - labelsWidth()) / 2,
                at + kLineHeight - 5, "bs-mark bs-faint",
                "\u22ee  the lines between go on in the same way  \u22ee");
  }
  return height + lines.size() * kLineHeight;
}

std::string Drawing::draw() {
  drawHeader();
  for (std::size_t i = 0; i < map.panels.size(); i += map.panelsPerLine) {
    double width = 0;
    for (std::size_t j = i;
         j < std::min<std::size_t>(i + map.panelsPerLine, map.panels.size());
         ++j) {
      const MapPanel &panel = map.panels[j];
      double title = panel.title.size() * 13 * kBoldWidth;
      width += std::max(panelWidth(panel), labelsWidth() + title) +
               (j == i ? 0 : kPanelGap);
    }
    widest = std::max(widest, width);
  }
  drawKey();
  for (std::size_t i = 0; i < map.panels.size(); i += map.panelsPerLine) {
    double x = kMargin, tallest = 0;
    for (std::size_t j = i;
         j < std::min<std::size_t>(i + map.panelsPerLine, map.panels.size());
         ++j) {
      tallest = std::max(tallest, drawPanel(map.panels[j], x, y));
      x += panelWidth(map.panels[j]) + kPanelGap;
    }
    y += tallest + kPanelGap;
  }
  std::string description;
  for (const std::string &note : map.notes)
    description += (description.empty() ? "" : " ") + note;
  return svg.finish(widest + 2 * kMargin, y - kPanelGap + kMargin, map.title,
                    description);
}

std::string drawByteMap(const ByteMap &map, bool everyLine) {
  return Drawing(map, everyLine).draw();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

using nlohmann::ordered_json;

/// The numbers of a line under their names: a list where a name comes again.
static void addLine(ordered_json &object, const ByteMap &map,
                    const std::vector<std::uint64_t> &numbers) {
  for (std::size_t i = 0; i < map.lineNames.size(); ++i) {
    ordered_json &value = object[map.lineNames[i]];
    if (value.is_null())
      value = numbers[i];
    else if (value.is_array())
      value.push_back(numbers[i]);
    else
      value = {value, numbers[i]};
  }
}

std::string printByteMap(const ByteMap &map) {
  ordered_json readers = ordered_json::array();
  for (const MapReader &reader : map.readers)
    readers.push_back({{"mma", reader.number},
                       {"address", reader.address},
                       {"wanted", reader.isWanted}});
  // A byte to a line: indented, a map would have thousands of lines.
  std::string bytes;
  for (const MapPanel &panel : map.panels)
    for (std::size_t line = 0; line < panel.lines.size(); ++line)
      for (std::size_t i = 0; i < panel.bytes[line].size(); ++i) {
        const MappedByte &byte = panel.bytes[line][i];
        ordered_json object = ordered_json::object();
        addLine(object, map, panel.lines[line]);
        object[map.groupName] = panel.groups[i / map.bytesPerGroup];
        object["byte"] = i % map.bytesPerGroup;
        object[map.rowName] = byte.content ? ordered_json(byte.content->row)
                                           : ordered_json(nullptr);
        object[map.alongKName] = byte.content
                                     ? ordered_json(byte.content->alongK)
                                     : ordered_json(nullptr);
        object["mma"] = byte.reader
                            ? ordered_json(map.readers[*byte.reader].number)
                            : ordered_json(nullptr);
        bytes += (bytes.empty() ? "\n" : ",\n") + object.dump();
      }
  return "{\"title\":" + ordered_json(map.title).dump() +
         ",\n\"notes\":" + ordered_json(map.notes).dump() +
         ",\n\"readers\":" + readers.dump() + ",\n\"bytes\":[" + bytes +
         "\n]}\n";
}

} // namespace blockscale::pictures
