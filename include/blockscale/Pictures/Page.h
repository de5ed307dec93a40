//===- Page.h - a page of HTML that needs nothing else ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_PAGE_H
#define BLOCKSCALE_PICTURES_PAGE_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale::pictures {

/// A page in the making: all texts are escaped, nothing is loaded from
/// elsewhere, and it is light or dark as the reader's screen is.
class Page {
public:
  /// Level 1 to 3; those of level 2 are listed at the top.
  void heading(unsigned level, std::string_view text);
  void paragraph(std::string_view text);
  /// Names and values beside each other.
  void facts(const std::vector<std::pair<std::string, std::string>> &list);
  /// The first row is the header.
  void table(const std::vector<std::vector<std::string>> &rows);
  /// Lines as they are.
  void code(std::string_view text);
  /// A document of Svg::finish.
  void picture(std::string_view svg);
  /// What stands between is folded until the reader opens it.
  void beginFolded(std::string_view summary);
  void endFolded();

  std::string finish(std::string_view title) const;

private:
  std::string body, contents;
  unsigned sections = 0;
};

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_PAGE_H
