//===- TimeChart.cpp - what happens when, drawn ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/TimeChart.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Pictures/Svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace blockscale::pictures {

namespace {
constexpr double kMargin = 16, kNameWidth = 170, kWidth = 900;
constexpr double kLineHeight = 20, kBarHeight = 14, kNoteHeight = 19;
/// Gaps below this many pixels are not seen.
constexpr double kLeastGap = 0.5, kLeastWidth = 0.6;

/// Bars drawn as one.
struct Run {
  double start, end;
  unsigned count;
  std::string kind;
};

class Drawing {
public:
  explicit Drawing(const TimeChart &chart)
      : chart(chart), scale(kWidth / std::max(chart.to - chart.from, 1e-9)) {}
  std::string draw();

private:
  double place(double time) const {
    return kMargin + kNameWidth + (time - chart.from) * scale;
  }
  void collect();
  void drawKey();
  void drawRun(const Run &run, double top);
  void drawAxis();

  const TimeChart &chart;
  double scale, y = kMargin, widest = kNameWidth + kWidth;
  std::vector<std::string> lines, kinds;
  std::vector<std::vector<Run>> runs;
  Svg svg;
};
} // namespace

/// The place of `name` in `names`, which gains it if it is new.
static std::size_t indexIn(std::vector<std::string> &names,
                           const std::string &name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    found = names.insert(names.end(), name);
  return static_cast<std::size_t>(found - names.begin());
}

void Drawing::collect() {
  std::vector<const ChartBar *> bars;
  for (const ChartBar &bar : chart.bars) {
    // Lines and kinds are those of the whole, whatever part is drawn.
    indexIn(lines, bar.line);
    if (bar.kind != kWaiting)
      indexIn(kinds, bar.kind);
    if (bar.end > bar.start && bar.end > chart.from && bar.start < chart.to)
      bars.push_back(&bar);
  }
  std::stable_sort(
      bars.begin(), bars.end(),
      [](const ChartBar *x, const ChartBar *y) { return x->start < y->start; });
  runs.resize(lines.size());
  for (const ChartBar *bar : bars) {
    std::vector<Run> &line = runs[indexIn(lines, bar->line)];
    double start = std::max(bar->start, chart.from);
    double end = std::min(bar->end, chart.to);
    bool joins = !line.empty() && line.back().kind == bar->kind &&
                 (start - line.back().end) * scale < kLeastGap;
    if (!joins) {
      line.push_back({start, end, 1, bar->kind});
      continue;
    }
    line.back().end = std::max(line.back().end, end);
    ++line.back().count;
  }
}

void Drawing::drawKey() {
  double x = kMargin;
  auto add = [&](const std::string &label, const std::string &fill) {
    double width = 24 + label.size() * 12 * kCharacterWidth + 18;
    if (x > kMargin && x + width > widest) {
      x = kMargin;
      y += kNoteHeight;
    }
    svg.rectangle(x, y, 18, 13, fill);
    svg.rectangle(x, y, 18, 13, "bs-grid");
    svg.text(x + 24, y + 11, "bs-note", label);
    x += width;
  };
  for (std::size_t i = 0; i < kinds.size(); ++i)
    add(kinds[i], hueClass(i));
  add("waits", "bs-empty");
  y += kNoteHeight + 8;
}

void Drawing::drawRun(const Run &run, double top) {
  bool waits = run.kind == kWaiting;
  double x = place(run.start);
  double width = std::max((run.end - run.start) * scale, kLeastWidth);
  std::string tip = run.kind;
  if (run.count > 1)
    tip = std::to_string(run.count) + " x " + tip;
  tip += ", " + formatNumber("%.0f", run.start) + " to " +
         formatNumber("%.0f", run.end) + " " + chart.unit;
  double height = waits ? kBarHeight / 2 : kBarHeight;
  double at = top + (kLineHeight - height) / 2;
  svg.rectangle(x, at, width, height,
                waits ? "bs-empty" : hueClass(indexIn(kinds, run.kind)), tip);
  if (width > 3)
    svg.rectangle(x, at, width, height, "bs-grid");
}

/// Numbers at round distances.
void Drawing::drawAxis() {
  double span = chart.to - chart.from;
  double step = std::pow(10, std::floor(std::log10(std::max(span, 1e-9) / 5)));
  for (double factor : {2.0, 2.5, 2.0})
    if (span / step > 10)
      step *= factor;
  svg.line(place(chart.from), y, place(chart.to), y, "bs-border");
  auto first = std::int64_t(std::ceil(chart.from / step));
  auto last = std::int64_t(std::floor(chart.to / step));
  for (std::int64_t i = first; i <= last; ++i) {
    double at = double(i) * step;
    svg.line(place(at), y, place(at), y + 5, "bs-border");
    svg.centred(place(at), y + 17, "bs-mark bs-faint",
                formatNumber("%.0f", at));
  }
  // Half of a number of five digits is left of where it stands.
  constexpr double kBeforeNumber = 24;
  svg.endingAt(place(chart.from) - kBeforeNumber, y + 17, "bs-mark bs-faint",
               chart.unit);
  y += 26;
}

std::string Drawing::draw() {
  collect();
  y += 18;
  svg.text(kMargin, y, "bs-title", chart.title);
  for (const std::string &note : chart.notes) {
    y += kNoteHeight;
    svg.text(kMargin, y, "bs-note", note);
    widest = std::max(widest, note.size() * 12 * kCharacterWidth);
  }
  y += 14;
  drawKey();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    svg.endingAt(kMargin + kNameWidth - 8, y + 14, "bs-note", lines[i]);
    svg.line(place(chart.from), y + kLineHeight, place(chart.to),
             y + kLineHeight, "bs-grid");
    for (const Run &run : runs[i])
      drawRun(run, y);
    y += kLineHeight;
  }
  drawAxis();
  std::string description;
  for (const std::string &note : chart.notes)
    description += (description.empty() ? "" : " ") + note;
  return svg.finish(widest + 2 * kMargin, y + kMargin - 6, chart.title,
                    description);
}

std::string drawTimeChart(const TimeChart &chart) {
  return Drawing(chart).draw();
}

} // namespace blockscale::pictures
