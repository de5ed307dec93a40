//===- Lexer.cpp - tokens of PTX ------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include <charconv>
#include <cstring>

namespace blockscale::emulator::ptx {
namespace {

enum CharClass : uint8_t { kBlank = 1, kDigit = 2, kLetter = 4, kSigil = 8 };

struct CharTable {
  uint8_t classes[256] = {};
  constexpr CharTable() {
    for (char c : {' ', '\t', '\r', '\f', '\v'})
      classes[static_cast<unsigned char>(c)] = kBlank;
    for (int c = '0'; c <= '9'; ++c)
      classes[c] = kDigit;
    for (int c = 'a'; c <= 'z'; ++c)
      classes[c] = kLetter;
    for (int c = 'A'; c <= 'Z'; ++c)
      classes[c] = kLetter;
    classes[static_cast<unsigned char>('_')] = kLetter;
    classes[static_cast<unsigned char>('$')] = kLetter;
    classes[static_cast<unsigned char>('%')] = kSigil;
  }
};
constexpr CharTable kChars;

bool isOf(char c, uint8_t classes) {
  return kChars.classes[static_cast<unsigned char>(c)] & classes;
}

/// The digit's value, or 255.
unsigned hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 255;
}

} // namespace

void Lexer::bad(Token &token, const char *problem) {
  token.kind = TokenKind::Bad;
  token.problem = problem;
}

/// Skips blanks and comments; false after setting a Bad token.
bool Lexer::skipBlanks(Token &token) {
  while (true) {
    char c = *cursor;
    if (isOf(c, kBlank)) {
      ++cursor;
    } else if (c == '\n') {
      lineStart = ++cursor;
      ++line;
    } else if (c == '/' && cursor[1] == '/') {
      const void *newline = std::memchr(cursor, '\n', end - cursor);
      cursor = newline ? static_cast<const char *>(newline) : end;
    } else if (c == '/' && cursor[1] == '*') {
      const char *open = cursor;
      token.position = {line, static_cast<uint32_t>(cursor - lineStart) + 1};
      cursor += 2;
      while (cursor != end && !(cursor[0] == '*' && cursor[1] == '/')) {
        if (*cursor++ == '\n') {
          lineStart = cursor;
          ++line;
        }
      }
      if (cursor == end) {
        token.offset = offsetOf(open);
        bad(token, "comment is not closed");
        return false;
      }
      cursor += 2;
    } else {
      return true;
    }
  }
}

Token Lexer::next() {
  Token token;
  if (!skipBlanks(token))
    return token;
  token.offset = offsetOf(cursor);
  token.position = {line, static_cast<uint32_t>(cursor - lineStart) + 1};
  if (cursor == end)
    return token;
  char c = *cursor;
  if (isOf(c, kLetter) || (c == '%' && isOf(cursor[1], kLetter | kDigit))) {
    token.kind = TokenKind::Name;
    do
      ++cursor;
    while (isOf(*cursor, kLetter | kDigit));
  } else if (c == '.' && isOf(cursor[1], kLetter | kDigit)) {
    token.kind = TokenKind::DotWord;
    ++token.offset;
    do {
      ++cursor;
      if (cursor[0] == ':' && cursor[1] == ':' &&
          isOf(cursor[2], kLetter | kDigit))
        cursor += 2;
      // The ratio of `.sp::2:4`.
      if (isOf(cursor[-1], kDigit) && cursor[0] == ':' &&
          isOf(cursor[1], kDigit))
        ++cursor;
    } while (isOf(*cursor, kLetter | kDigit));
  } else if (isOf(c, kDigit)) {
    lexNumber(token);
  } else if (c == '"') {
    lexString(token);
    return token;
  } else {
    lexPunct(token);
  }
  token.length = offsetOf(cursor) - token.offset;
  return token;
}

void Lexer::lexPunct(Token &token) {
  token.kind = TokenKind::Punct;
  char c = *cursor++;
  token.punct = static_cast<unsigned char>(c);
  char n = *cursor;
  if (((c == '<' || c == '>') && (n == c || n == '=')) ||
      ((c == '=' || c == '!') && n == '=') ||
      ((c == '&' || c == '|') && n == c)) {
    token.punct = punct2(c, n);
    ++cursor;
    return;
  }
  if (c == 0 || !std::strchr(";,:[](){}<>+-*/%&|^~!?=@.", c))
    bad(token, "character that PTX does not use");
}

void Lexer::lexString(Token &token) {
  const char *start = ++cursor;
  while (cursor != end && *cursor != '"' && *cursor != '\n') {
    if (*cursor == '\\' && cursor + 1 != end && cursor[1] != '\n')
      ++cursor;
    ++cursor;
  }
  token.offset = offsetOf(start);
  token.length = offsetOf(cursor) - token.offset;
  if (cursor == end || *cursor != '"')
    return bad(token, "string is not closed");
  token.kind = TokenKind::String;
  ++cursor;
}

void Lexer::lexHexFloat(Token &token, unsigned digits) {
  token.kind = digits == 8 ? TokenKind::Float32 : TokenKind::Float64;
  cursor += 2;
  unsigned count = 0;
  for (; hexDigit(*cursor) < 16; ++cursor, ++count)
    token.value = token.value << 4 | hexDigit(*cursor);
  if (count != digits || isOf(*cursor, kLetter))
    bad(token, digits == 8 ? "'0f' needs exactly 8 hexadecimal digits"
                           : "'0d' needs exactly 16 hexadecimal digits");
}

void Lexer::lexDecimal(Token &token) {
  token.kind = TokenKind::Float64;
  double number = 0;
  auto result = std::from_chars(cursor, end, number);
  // Beyond the range of f64 from_chars leaves the number as it was.
  if (result.ec != std::errc())
    bad(token, "decimal literal is out of the range of f64");
  cursor = result.ptr;
  std::memcpy(&token.value, &number, sizeof(number));
}

void Lexer::lexNumber(Token &token) {
  char second = cursor[1];
  unsigned base = 10;
  if (*cursor == '0') {
    if (second == 'f' || second == 'F')
      return lexHexFloat(token, 8);
    if (second == 'd' || second == 'D')
      return lexHexFloat(token, 16);
    if (second == 'x' || second == 'X')
      base = 16;
    else if (second == 'b' || second == 'B')
      base = 2;
    else
      base = 8;
  }
  const char *p = cursor + (base == 16 || base == 2 ? 2 : 0);
  if (base == 10 || base == 8) {
    const char *digits = p;
    while (isOf(*digits, kDigit))
      ++digits;
    if (*digits == '.' || *digits == 'e' || *digits == 'E')
      return lexDecimal(token);
  }
  token.kind = TokenKind::Integer;
  bool overflow = false;
  const char *first = p;
  for (unsigned digit; (digit = hexDigit(*p)) < base; ++p) {
    overflow |= token.value > (~uint64_t(0) - digit) / base;
    token.value = token.value * base + digit;
  }
  bool empty = p == first;
  if (*p == 'U') {
    token.isUnsigned = true;
    ++p;
  }
  cursor = p;
  if (empty || isOf(*p, kLetter | kDigit)) {
    while (isOf(*cursor, kLetter | kDigit))
      ++cursor;
    return bad(token, "malformed integer literal");
  }
  if (overflow)
    return bad(token, "integer literal does not fit 64 bits");
  if (token.value >> 63)
    token.isUnsigned = true;
}

} // namespace blockscale::emulator::ptx
