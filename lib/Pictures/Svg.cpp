//===- Svg.cpp - shapes and texts of a picture ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/Svg.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Pictures/Markup.h"

#include <array>

namespace blockscale::pictures {

std::string pixels(double length) {
  std::string text = formatNumber("%.2f", length);
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string hueClass(std::size_t index) {
  return "bs-h" + std::to_string(index % kHues);
}

//===----------------------------------------------------------------------===//
// Style
//===----------------------------------------------------------------------===//

namespace {
/// A fill on light and on dark ground, under black and under white text.
struct Hue {
  const char *light, *dark;
};
} // namespace

// Tints and shades of the palette of Okabe and Ito (docs/sources.md,
// [okabe-ito]), in an order that keeps neighbours apart in lightness too.
static constexpr std::array<Hue, kHues> kHueTable{{{"#a9d8f5", "#1f4f6b"},
                                                   {"#f5cb7a", "#73510a"},
                                                   {"#7fcdb5", "#0d5a45"},
                                                   {"#f7f0a6", "#5c5718"},
                                                   {"#8ab4d6", "#12416b"},
                                                   {"#eba57f", "#7a3a10"},
                                                   {"#e3b7cf", "#6b3f57"},
                                                   {"#b0b0b0", "#666666"}}};

static std::string styleSheet() {
  std::string light, dark;
  for (std::size_t i = 0; i < kHues; ++i) {
    light += "." + hueClass(i) + "{fill:" + kHueTable[i].light + "}\n";
    dark += "." + hueClass(i) + "{fill:" + kHueTable[i].dark + "}\n";
  }
  return ".bs-picture text{font-family:'DejaVu Sans','Segoe UI',Helvetica,"
         "Arial,sans-serif;fill:#111}\n"
         ".bs-picture .bs-title{font-size:17px;font-weight:bold}\n"
         ".bs-picture .bs-head{font-size:13px;font-weight:bold}\n"
         ".bs-picture .bs-note{font-size:12px}\n"
         ".bs-picture .bs-mark{font-size:10px}\n"
         ".bs-picture .bs-cells text{font-size:10px;text-anchor:middle}\n"
         ".bs-picture .bs-faint{fill:#5a5a5a}\n"
         ".bs-ground{fill:#fff}\n"
         ".bs-grid{stroke:#8a8a8a;stroke-width:.5;fill:none}\n"
         ".bs-border{stroke:#222;stroke-width:1.2;fill:none}\n"
         ".bs-asked{stroke:#000;stroke-width:2.5;fill:none}\n"
         ".bs-empty{fill:#f0f0f0}\n" +
         light +
         "@media(prefers-color-scheme:dark){\n"
         ".bs-picture text{fill:#f2f2f2}\n"
         ".bs-picture .bs-faint{fill:#b8b8b8}\n"
         ".bs-ground{fill:#161616}\n"
         ".bs-grid{stroke:#6e6e6e}\n"
         ".bs-border{stroke:#ddd}\n"
         ".bs-asked{stroke:#fff}\n"
         ".bs-empty{fill:#262626}\n" +
         dark + "}\n";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string attribute(const char *name, std::string_view value) {
  return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

static std::string attribute(const char *name, double value) {
  return attribute(name, pixels(value));
}

void Svg::addText(double x, double y, const char *anchor,
                  std::string_view classes, std::string_view content) {
  body += "<text" + attribute("x", x) + attribute("y", y) +
          (*anchor ? attribute("text-anchor", anchor) : "") +
          attribute("class", classes) + ">" + escaped(content) + "</text>\n";
}

void Svg::text(double x, double y, std::string_view classes,
               std::string_view content) {
  addText(x, y, "", classes, content);
}

void Svg::centred(double x, double y, std::string_view classes,
                  std::string_view content) {
  addText(x, y, "middle", classes, content);
}

void Svg::endingAt(double x, double y, std::string_view classes,
                   std::string_view content) {
  addText(x, y, "end", classes, content);
}

void Svg::beginCells() { body += "<g class=\"bs-cells\">\n"; }

void Svg::endCells() { body += "</g>\n"; }

void Svg::cell(double x, double y, bool isFaint, std::string_view content) {
  body += "<text" + attribute("x", x) + attribute("y", y) +
          (isFaint ? attribute("class", "bs-faint") : "") + ">" +
          escaped(content) + "</text>\n";
}

void Svg::rectangle(double x, double y, double width, double height,
                    std::string_view classes, std::string_view tip) {
  body += "<rect" + attribute("x", x) + attribute("y", y) +
          attribute("width", width) + attribute("height", height) +
          attribute("class", classes);
  body +=
      tip.empty() ? "/>\n" : "><title>" + escaped(tip) + "</title></rect>\n";
}

void Svg::line(double x1, double y1, double x2, double y2,
               std::string_view classes) {
  path("M" + pixels(x1) + " " + pixels(y1) + "L" + pixels(x2) + " " +
           pixels(y2),
       classes);
}

void Svg::path(std::string_view data, std::string_view classes) {
  body += "<path" + attribute("d", data) + attribute("class", classes) + "/>\n";
}

std::string Svg::finish(double width, double height, std::string_view title,
                        std::string_view description) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         attribute("width", width) + attribute("height", height) +
         attribute("viewBox", "0 0 " + pixels(width) + " " + pixels(height)) +
         " class=\"bs-picture\" role=\"img\">\n<title>" + escaped(title) +
         "</title>\n<desc>" + escaped(description) + "</desc>\n<style>\n" +
         styleSheet() + "</style>\n" + "<rect width=\"100%\" height=\"100%\"" +
         " class=\"bs-ground\"/>\n" + body + "</svg>\n";
}

} // namespace blockscale::pictures
