//===- Histogram.cpp - counts as bars -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/Histogram.h"
#include "blockscale/Pictures/Svg.h"

#include <algorithm>

namespace blockscale::pictures {

namespace {
constexpr double kMargin = 16, kTitleHeight = 26, kNoteHeight = 17;
constexpr double kBarWidth = 10, kBarHeight = 90, kPanelGap = 24;
constexpr double kRowTitle = 24, kPanelHead = 32, kLabelHeight = 18,
                 kRowGap = 14;
/// Panels beside each other.
constexpr std::size_t kAcross = 3;

class Drawing {
public:
  explicit Drawing(const Histograms &histograms) : of(histograms) {}

  std::string draw();

private:
  double panelWidth() const { return double(of.bins.size()) * kBarWidth; }
  double panelHeight() const { return kPanelHead + kBarHeight + kLabelHeight; }
  void drawPanel(const HistogramPanel &panel, double left, double top);

  const Histograms &of;
  Svg svg;
};

void Drawing::drawPanel(const HistogramPanel &panel, double left, double top) {
  svg.text(left, top + 12, "bs-head", panel.title);
  svg.text(left, top + 26, "bs-mark bs-faint", panel.note);
  double bottom = top + kPanelHead + kBarHeight;
  std::uint64_t most = 1, all = 0;
  for (std::uint64_t count : panel.counts) {
    most = std::max(most, count);
    all += count;
  }
  for (std::size_t i = 0; i < panel.counts.size(); ++i) {
    std::uint64_t count = panel.counts[i];
    if (count == 0)
      continue;
    // What there is can be seen.
    double height = std::max(1.0, kBarHeight * double(count) / double(most));
    svg.rectangle(left + double(i) * kBarWidth + 1, bottom - height,
                  kBarWidth - 2, height, hueClass(panel.hue),
                  of.bins[i] + ": " + std::to_string(count) + " of " +
                      std::to_string(all));
  }
  svg.line(left, bottom, left + panelWidth(), bottom, "bs-border");
  if (of.bins.empty())
    return;
  svg.text(left, bottom + 12, "bs-mark bs-faint", of.bins.front());
  svg.endingAt(left + panelWidth(), bottom + 12, "bs-mark bs-faint",
               of.bins.back());
}

std::string Drawing::draw() {
  double width = 2 * kMargin + double(kAcross) * panelWidth() +
                 double(kAcross - 1) * kPanelGap;
  for (const std::string *text : {&of.title, &of.note})
    width = std::max(width, 2 * kMargin + double(text->size()) * 10);
  double top = kMargin + kTitleHeight;
  svg.text(kMargin, kMargin + 14, "bs-title", of.title);
  svg.text(kMargin, top + 12, "bs-note", of.note);
  top += kNoteHeight + kRowGap;
  for (const Histograms::Row &row : of.rows) {
    svg.text(kMargin, top + 14, "bs-head", row.title);
    top += kRowTitle;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      if (i > 0 && i % kAcross == 0)
        top += panelHeight();
      drawPanel(row.panels[i],
                kMargin + double(i % kAcross) * (panelWidth() + kPanelGap),
                top);
    }
    top += panelHeight() + kRowGap;
  }
  return svg.finish(width, top + kMargin, of.title, of.note);
}
} // namespace

std::string drawHistograms(const Histograms &histograms) {
  return Drawing(histograms).draw();
}

} // namespace blockscale::pictures
