//===- Svg.h - shapes and texts of a picture --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All pictures have one style sheet: texts and fills by class, light and dark
// as the reader's screen is, in hues that colour-blind people tell apart. A
// picture stands alone and loads nothing; its style names all begin with `bs`,
// so that it can stand in a page too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_SVG_H
#define BLOCKSCALE_PICTURES_SVG_H

#include <cstddef>
#include <string>
#include <string_view>

namespace blockscale::pictures {

/// Fills that differ: after these the first comes again.
inline constexpr std::size_t kHues = 8;

/// The class of fill number `index`.
std::string hueClass(std::size_t index);

/// Widths of the characters of texts are close to this share of their size.
inline constexpr double kCharacterWidth = 0.56, kBoldWidth = 0.66;

/// A picture in the making. Lengths are pixels, y goes down.
class Svg {
public:
  /// The classes of a text decide its size: "bs-title" 17, "bs-head" 13,
  /// "bs-note" 12, "bs-mark" 10. Texts stand on `y`.
  void text(double x, double y, std::string_view classes,
            std::string_view content);
  /// Centred on x.
  void centred(double x, double y, std::string_view classes,
               std::string_view content);
  /// Ending at x.
  void endingAt(double x, double y, std::string_view classes,
                std::string_view content);
  /// Many short texts, "bs-mark" and centred: between these two calls `cell`
  /// adds one, faint or not.
  void beginCells();
  void cell(double x, double y, bool isFaint, std::string_view content);
  void endCells();
  /// `tip` is shown while the pointer is on the rectangle.
  void rectangle(double x, double y, double width, double height,
                 std::string_view classes, std::string_view tip = "");
  void line(double x1, double y1, double x2, double y2,
            std::string_view classes);
  /// Lines of a grid: path data.
  void path(std::string_view data, std::string_view classes);

  /// The whole document. `title` and `description` are for those who hear it.
  std::string finish(double width, double height, std::string_view title,
                     std::string_view description) const;

private:
  void addText(double x, double y, const char *anchor, std::string_view classes,
               std::string_view content);
  std::string body;
};

/// A length as text: two decimals at most.
std::string pixels(double length);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_SVG_H
