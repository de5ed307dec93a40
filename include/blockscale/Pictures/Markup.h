//===- Markup.h - text in XML and HTML -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_MARKUP_H
#define BLOCKSCALE_PICTURES_MARKUP_H

#include <string>
#include <string_view>

namespace blockscale::pictures {

/// Text for the content of an element or the value of an attribute in quotes.
/// What is no UTF-8 becomes U+FFFD; control characters that XML 1.0 lacks
/// become question marks.
std::string escaped(std::string_view text);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_MARKUP_H
