//===- MemoryMap.cpp - how a memory is divided, drawn ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/MemoryMap.h"
#include "blockscale/Pictures/Svg.h"

#include <algorithm>

namespace blockscale::pictures {

static constexpr double kMargin = 16, kBarWidth = 900, kBarHeight = 48;
static constexpr double kLineHeight = 22, kNoteHeight = 19;
/// Smaller parts would not be seen.
static constexpr double kLeastWidth = 2;

static std::string text(std::uint64_t number) { return std::to_string(number); }

static std::string extentOf(const MemoryMap &map, const MemoryPart &part) {
  return text(part.offset) + " to " + text(part.offset + part.size - 1);
}

/// "5 stages of 16384 bytes each", "2 accumulators of 256 columns each, 48
/// shared".
static std::string copiesOf(const MemoryMap &map, const MemoryPart &part) {
  if (part.copies < 2)
    return "";
  std::string result = text(part.copies) + " " + map.copyName + "s of " +
                       text(part.copySize()) + " " + map.unit + " each";
  if (part.stride < part.copySize())
    result += ", " + text(part.copySize() - part.stride) + " shared";
  return result;
}

static void drawPart(Svg &svg, const MemoryMap &map, const MemoryPart &part,
                     std::size_t hue, double scale, double top) {
  bool overlap = part.copies > 1 && part.stride < part.copySize();
  double rows = overlap ? part.copies : 1, height = kBarHeight / rows;
  for (unsigned i = 0; i < part.copies; ++i) {
    double x = kMargin + (part.offset + i * part.stride) * scale;
    double width = std::max(part.copySize() * scale, kLeastWidth);
    double y = top + (overlap ? i * height : 0);
    svg.rectangle(x, y, width, height, hueClass(hue),
                  part.name + ": " + extentOf(map, part) + " " + map.unit);
    if (width > 3 * kLeastWidth)
      svg.rectangle(x, y, width, height, "bs-grid");
    std::string label = part.copies > 1 ? text(i) : part.name;
    if (width > label.size() * 10 * kCharacterWidth + 4)
      svg.centred(x + width / 2, y + height / 2 + 4, "bs-mark", label);
  }
}

std::string drawMemoryMap(const MemoryMap &map) {
  Svg svg;
  double y = kMargin + 18;
  svg.text(kMargin, y, "bs-title", map.title);
  double widest = kBarWidth;
  for (const std::string &note : map.notes) {
    y += kNoteHeight;
    svg.text(kMargin, y, "bs-note", note);
    widest = std::max(widest, note.size() * 12 * kCharacterWidth);
  }
  std::uint64_t end = map.size;
  for (const MemoryPart &part : map.parts)
    end = std::max(end, part.offset + part.size);
  double scale = kBarWidth / std::max<std::uint64_t>(end, 1), top = y + 14;
  svg.rectangle(kMargin, top, kBarWidth, kBarHeight, "bs-empty", "not used");
  for (std::size_t i = 0; i < map.parts.size(); ++i)
    drawPart(svg, map, map.parts[i], i, scale, top);
  svg.rectangle(kMargin, top, kBarWidth, kBarHeight, "bs-border");
  y = top + kBarHeight;
  for (std::uint64_t at = 0; at <= end;
       at += std::max<std::uint64_t>(map.tick, 1)) {
    svg.line(kMargin + at * scale, y, kMargin + at * scale, y + 5, "bs-border");
    svg.centred(kMargin + at * scale, y + 17, "bs-mark bs-faint", text(at));
  }
  y += 30;
  for (std::size_t i = 0; i < map.parts.size(); ++i) {
    const MemoryPart &part = map.parts[i];
    svg.rectangle(kMargin, y, 18, 13, hueClass(i));
    svg.rectangle(kMargin, y, 18, 13, "bs-grid");
    svg.text(kMargin + 26, y + 11, "bs-note", part.name);
    svg.endingAt(kMargin + 350, y + 11, "bs-note", extentOf(map, part));
    svg.endingAt(kMargin + 490, y + 11, "bs-note",
                 text(part.size) + " " + map.unit);
    if (std::string copies = copiesOf(map, part); !copies.empty())
      svg.text(kMargin + 510, y + 11, "bs-note bs-faint", copies);
    y += kLineHeight;
  }
  std::string description;
  for (const MemoryPart &part : map.parts)
    description += (description.empty() ? "" : "; ") + part.name + " " +
                   extentOf(map, part);
  return svg.finish(widest + 2 * kMargin, y + kMargin - 6, map.title,
                    description);
}

} // namespace blockscale::pictures
