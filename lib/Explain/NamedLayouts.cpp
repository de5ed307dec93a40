//===- NamedLayouts.cpp - layouts by name, told and drawn -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/NamedLayouts.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace blockscale::explain {

using hw::Dim;
using hw::LayoutAxis;
using hw::NamedLayout;
using Json = nlohmann::ordered_json;

std::string namedLayoutsJson() {
  Json all = Json::array();
  for (const hw::NamedLayoutKind &kind : hw::namedLayouts()) {
    Json parameters = Json::array();
    for (const hw::LayoutParameter &one : kind.parameters) {
      Json parameter{{"name", one.name}, {"meaning", one.meaning}};
      if (one.byDefault)
        parameter["default"] = *one.byDefault;
      parameters.push_back(std::move(parameter));
    }
    all.push_back({{"name", kind.name},
                   {"summary", kind.summary},
                   {"parameters", std::move(parameters)}});
  }
  return all.dump(2) + "\n";
}

std::string namedLayoutJson(const NamedLayout &layout) {
  auto axes = [](const std::vector<LayoutAxis> &list) {
    Json result = Json::array();
    for (const LayoutAxis &axis : list)
      result.push_back({{"name", axis.name}, {"extent", axis.extent}});
    return result;
  };
  Json text{{"name", layout.name},
            {"size", layout.size()},
            {"formula", layout.formula()},
            {"contents", axes(layout.contents)},
            {"places", axes(layout.places)}};
  return text.dump(2) + "\n";
}

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

namespace {
/// Draws places as lines of groups of bytes.
class Painter {
public:
  explicit Painter(const NamedLayout &layout) : layout(layout) {}
  pictures::ByteMap paint();

private:
  /// Which of the contents the two numbers in a box are.
  void chooseContents();
  void paintMemory();
  /// `byLine` and `byGroup` are axes of places; a byte may follow.
  void paintGrid(unsigned byLine, unsigned byGroup, std::uint64_t maxGroups);
  pictures::MappedByte boxAt(const std::vector<std::uint64_t> &place) const;

  const NamedLayout &layout;
  pictures::ByteMap map;
  std::size_t rowAxis = 0;
};
} // namespace

static constexpr std::uint64_t kBytesShown = 2048, kBytesOfLine = 16;
static constexpr std::uint64_t kColumnsShown = 16, kRegistersShown = 32;

void Painter::chooseContents() {
  const auto &axes = layout.contents;
  rowAxis = axes.front().dim == Dim::Batch ? 1 : 0;
  map.rowName = axes[rowAxis].name;
  map.alongKName = axes[rowAxis + 1].name;
}

pictures::MappedByte
Painter::boxAt(const std::vector<std::uint64_t> &place) const {
  pictures::MappedByte box;
  auto content = layout.contentAt(place);
  if (content && *content)
    box.content = {(**content)[rowAxis], (**content)[rowAxis + 1]};
  return box;
}

void Painter::paintMemory() {
  map.lineNames = {"offset"};
  map.groupName = "word";
  std::uint64_t bytes = std::min(layout.size(), kBytesShown);
  pictures::MapPanel panel;
  panel.title = bytes == layout.size()
                    ? std::to_string(bytes) + " bytes"
                    : "the first " + std::to_string(bytes) + " of " +
                          std::to_string(layout.size()) + " bytes";
  panel.groups = {0, 1, 2, 3};
  for (std::uint64_t line = 0; line < bytes; line += kBytesOfLine) {
    panel.lines.push_back({line});
    panel.bytes.emplace_back();
    for (std::uint64_t i = 0; i < kBytesOfLine; ++i)
      panel.bytes.back().push_back(line + i < layout.size()
                                       ? boxAt({line + i})
                                       : pictures::MappedByte());
  }
  map.panels.push_back(std::move(panel));
}

void Painter::paintGrid(unsigned byLine, unsigned byGroup,
                        std::uint64_t maxGroups) {
  const auto &places = layout.places;
  bool hasBytes = byGroup + 1 < places.size();
  map.lineNames = {places[byLine].name};
  map.groupName = places[byGroup].name;
  map.bytesPerGroup =
      hasBytes ? static_cast<unsigned>(places[byGroup + 1].extent) : 1;
  std::uint64_t groups = places[byGroup].extent;
  std::uint64_t shown = std::min(groups, maxGroups);
  // CTAs of a pair beside each other.
  std::uint64_t panels = byLine == 1 ? places.front().extent : 1;
  map.panelsPerLine = static_cast<unsigned>(panels);
  for (std::uint64_t cta = 0; cta < panels; ++cta) {
    pictures::MapPanel panel;
    panel.title = byLine == 1 ? "CTA " + std::to_string(cta) : layout.name;
    if (shown != groups)
      panel.title += ", the first " + std::to_string(shown) + " of " +
                     std::to_string(groups) + " " + map.groupName + "s";
    for (std::uint64_t group = 0; group < shown; ++group)
      panel.groups.push_back(group);
    for (std::uint64_t line = 0; line < places[byLine].extent; ++line) {
      panel.lines.push_back({line});
      panel.bytes.emplace_back();
      for (std::uint64_t i = 0; i < shown * map.bytesPerGroup; ++i) {
        std::vector<std::uint64_t> place;
        if (byLine == 1)
          place.push_back(cta);
        place.push_back(line);
        place.push_back(i / map.bytesPerGroup);
        if (hasBytes)
          place.push_back(i % map.bytesPerGroup);
        panel.bytes.back().push_back(boxAt(place));
      }
    }
    map.panels.push_back(std::move(panel));
  }
}

pictures::ByteMap Painter::paint() {
  chooseContents();
  map.title = "Layout '" + layout.name + "'";
  std::string formula = layout.formula();
  for (std::size_t at = 0, end; (end = formula.find('\n', at)) != formula.npos;
       at = end + 1)
    map.notes.push_back(formula.substr(at, end - at));
  map.notes.push_back("A box is " + map.rowName + "\u00b7" + map.alongKName +
                      ".");
  switch (layout.places.front().dim) {
  case Dim::Offset:
    paintMemory();
    break;
  case Dim::Cta:
    paintGrid(1, 2, kColumnsShown);
    break;
  case Dim::Lane:
    paintGrid(0, 1, kColumnsShown);
    break;
  default:
    paintGrid(0, 1, kRegistersShown);
    break;
  }
  return std::move(map);
}

pictures::ByteMap namedLayoutMap(const NamedLayout &layout) {
  return Painter(layout).paint();
}

} // namespace blockscale::explain
