//===- Parser.cpp - tokens, errors, and the entry point -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator {
namespace ptx {

Parser::Parser(std::string_view text)
    : source(std::make_shared<const std::string>(text)), lexer(*source) {
  module.source = source;
  ahead = lexer.next();
  advance();
}

void Parser::advance() {
  lastEnd = token.offset + token.length;
  token = ahead;
  if (token.kind == TokenKind::Bad) {
    error(token, token.problem);
    // A bad token ends the text: what follows cannot be trusted.
    token.kind = TokenKind::End;
  }
  if (token.kind != TokenKind::End)
    ahead = lexer.next();
}

bool Parser::accept(char c) {
  if (!isPunct(c))
    return false;
  advance();
  return true;
}

bool Parser::acceptWord(std::string_view word) {
  if (!isWord(word))
    return false;
  advance();
  return true;
}

bool Parser::expect(char c, const char *where) {
  if (accept(c))
    return true;
  return error(std::string("expected '") + c + "' " + where + ", found " +
               describe(token));
}

std::string Parser::describe(const Token &t) const {
  if (t.kind == TokenKind::End)
    return "the end of the text";
  std::string_view spelled = textOf(t).substr(0, 60);
  std::string quoted = t.kind == TokenKind::DotWord ? "'." : "'";
  quoted += spelled;
  return quoted + "'";
}

bool Parser::error(const Token &at, std::string message) {
  if (errors.size() < kMaxErrors)
    errors.push_back({at.position, std::move(message)});
  return false;
}

bool Parser::parseName(const char *what, Token &name) {
  if (token.kind != TokenKind::Name)
    return error(std::string("expected the name of ") + what + ", found " +
                 describe(token));
  name = token;
  advance();
  return true;
}

bool Parser::parseUnsigned(const char *what, uint64_t limit, uint64_t &value) {
  Token at = token;
  Constant constant;
  if (!parseConstant(constant))
    return false;
  if (constant.bits > limit)
    return error(at, std::string(what) + " is above " + std::to_string(limit));
  value = constant.bits;
  return true;
}

/// Skips to after `close`, or to the end of the text.
bool Parser::skipPast(char close) {
  while (token.kind != TokenKind::End) {
    if (accept(close))
      return true;
    advance();
  }
  return error(std::string("expected '") + close +
               "' before the end of the text");
}

/// Skips a braced block, blocks inside it included.
bool Parser::skipBraces() {
  if (!expect('{', "to open the block"))
    return false;
  uint64_t depth = 1;
  while (token.kind != TokenKind::End) {
    if (isPunct('{'))
      ++depth;
    if (isPunct('}') && --depth == 0) {
      advance();
      return true;
    }
    advance();
  }
  return error("expected '}' before the end of the text");
}

ParseResult Parser::run() {
  while (token.kind != TokenKind::End && errors.empty())
    if (!parseTopLevel())
      break;
  if (errors.empty() && module.versionMajor == 0)
    error("expected a '.version' directive");
  ParseResult result;
  result.errors = std::move(errors);
  if (result.errors.empty())
    result.module = std::move(module);
  return result;
}

} // namespace ptx

ParseResult parsePtx(std::string_view text) {
  if (text.size() > ptx::kMaxTextBytes) {
    ParseResult result;
    result.errors.push_back({{1, 1}, "PTX text is larger than 2 GiB"});
    return result;
  }
  return ptx::Parser(text).run();
}

} // namespace blockscale::emulator
