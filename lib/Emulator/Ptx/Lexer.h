//===- Lexer.h - tokens of PTX ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grammar: facts of the PTX ISA 9.1, section 4. Private to the front end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_LEXER_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_LEXER_H

#include "blockscale/Emulator/Ptx.h"

namespace blockscale::emulator::ptx {

enum class TokenKind : uint8_t {
  End,
  Bad,     ///< A character or literal that is none; `problem` says why.
  Name,    ///< Identifier, `%r1`, `_`.
  DotWord, ///< `.word`, `.a::b::c`, `.32x128b`; the text excludes the dot.
  Integer, ///< `value`, `isUnsigned`.
  Float32, ///< `value`: bits.
  Float64, ///< `value`: bits.
  String,  ///< The text excludes the quotes.
  Punct,   ///< One character, `<<`, `>>`, `<=`, `>=`, `==`, `!=`, `&&`, `||`.
};

struct Token {
  TokenKind kind = TokenKind::End;
  /// For Punct: the character, or both packed as first | second << 8.
  uint16_t punct = 0;
  bool isUnsigned = false;
  uint32_t offset = 0, length = 0;
  SourcePosition position;
  uint64_t value = 0;
  const char *problem = nullptr;
};

/// Two characters as Token::punct.
constexpr uint16_t punct2(char a, char b) {
  return static_cast<uint16_t>(static_cast<unsigned char>(a) |
                               static_cast<unsigned char>(b) << 8);
}

/// One pass over the text, no allocation.
class Lexer {
public:
  /// `text` must be followed by a NUL (as std::string is).
  explicit Lexer(const std::string &text)
      : begin(text.data()), cursor(begin), end(begin + text.size()),
        lineStart(begin) {}

  Token next();

private:
  bool skipBlanks(Token &token);
  void lexNumber(Token &token);
  void lexHexFloat(Token &token, unsigned digits);
  void lexDecimal(Token &token);
  void lexString(Token &token);
  void lexPunct(Token &token);
  void bad(Token &token, const char *problem);
  uint32_t offsetOf(const char *p) const {
    return static_cast<uint32_t>(p - begin);
  }

  const char *begin, *cursor, *end, *lineStart;
  uint32_t line = 1;
};

} // namespace blockscale::emulator::ptx

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_LEXER_H
