//===- Page.cpp - a page of HTML that needs nothing else ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/Page.h"
#include "blockscale/Pictures/Markup.h"
#include "blockscale/Pictures/Svg.h"

namespace blockscale::pictures {

static constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 'DejaVu Sans','Segoe UI',Helvetica,Arial,sans-serif;"
    "max-width:1100px;margin:2em auto;padding:0 1em;color:#111;"
    "background:#fff}\n"
    "h1{font-size:1.6em}\nh2{font-size:1.3em;margin-top:2em;"
    "border-bottom:1px solid #999}\nh3{font-size:1.1em;margin-top:1.6em}\n"
    "table{border-collapse:collapse;margin:.6em 0}\n"
    "th,td{border:1px solid #999;padding:.25em .6em;text-align:left;"
    "vertical-align:top}\nth{background:#ececec}\n"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2em "
    "1.2em}\n"
    "dt{font-weight:bold}\ndd{margin:0}\n"
    "h1,h2,h3,p,dd,td,th,li{overflow-wrap:anywhere}\n"
    "pre,code{font-family:'DejaVu Sans Mono',Consolas,monospace;"
    "font-size:.9em}\npre{background:#f2f2f2;padding:.6em;overflow-x:auto}\n"
    "figure{margin:1em 0;overflow-x:auto}\n"
    "summary{cursor:pointer;font-weight:bold}\na{color:#0b57a4}\n"
    "@media(prefers-color-scheme:dark){body{color:#f2f2f2;"
    "background:#161616}\nth{background:#333}\npre{background:#262626}\n"
    "a{color:#8cc4f5}\n}\n";

void Page::heading(unsigned level, std::string_view text) {
  std::string tag = "h" + std::to_string(level), id;
  if (level == 2) {
    id = "s" + std::to_string(++sections);
    contents += "<li><a href=\"#" + id + "\">" + escaped(text) + "</a></li>\n";
    id = " id=\"" + id + "\"";
  }
  body += "<" + tag + id + ">" + escaped(text) + "</" + tag + ">\n";
}

void Page::paragraph(std::string_view text) {
  body += "<p>" + escaped(text) + "</p>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>> &list) {
  body += "<dl>\n";
  for (const auto &[name, value] : list)
    body += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  body += "</dl>\n";
}

void Page::table(const std::vector<std::vector<std::string>> &rows) {
  body += "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body += "<tr>";
    for (const std::string &cell : rows[i])
      body += i == 0 ? "<th>" + escaped(cell) + "</th>"
                     : "<td>" + escaped(cell) + "</td>";
    body += "</tr>\n";
  }
  body += "</table>\n";
}

void Page::code(std::string_view text) {
  body += "<pre>" + escaped(text) + "</pre>\n";
}

void Page::picture(std::string_view svg) {
  body += "<figure>\n" + std::string(svg) + "</figure>\n";
}

void Page::beginFolded(std::string_view summary) {
  body += "<details><summary>" + escaped(summary) + "</summary>\n";
}

void Page::endFolded() { body += "</details>\n"; }

std::string Page::finish(std::string_view title) const {
  std::string list =
      sections > 1 ? "<nav><ul>\n" + contents + "</ul></nav>\n" : "";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         escaped(title) + "</title>\n<style>\n" + std::string(kStyle) +
         "</style>\n</head>\n<body>\n<h1>" + escaped(title) + "</h1>\n" + list +
         body + "</body>\n</html>\n";
}

} // namespace blockscale::pictures
