//===- Histogram.h - counts as bars -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_HISTOGRAM_H
#define BLOCKSCALE_PICTURES_HISTOGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace blockscale::pictures {

/// Counts of one thing.
struct HistogramPanel {
  std::string title, note;
  /// As many as Histograms::bins.
  std::vector<std::uint64_t> counts;
  /// The colour; equal ones look alike.
  unsigned hue = 0;
};

/// Panels side by side, in rows with a title each.
struct Histograms {
  struct Row {
    std::string title;
    std::vector<HistogramPanel> panels;
  };
  std::string title, note;
  /// What each bar counts, from left to right.
  std::vector<std::string> bins;
  std::vector<Row> rows;
};

/// An SVG document. Bars are as high as their share of the largest of their
/// panel; a bar says its count while the pointer is on it.
std::string drawHistograms(const Histograms &histograms);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_HISTOGRAM_H
