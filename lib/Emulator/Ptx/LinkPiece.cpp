//===- LinkPiece.cpp - a piece of PTX as the linker sees it ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkPiece.h"

namespace blockscale::emulator::ptx {

LinkPiece::LinkPiece(std::string pieceName, std::string pieceText)
    : name(std::move(pieceName)), source(std::move(pieceText)) {
  // What the parser takes needs no further questions here.
  ParseResult parsed = parsePtx(source);
  for (const Diagnostic &error : parsed.errors)
    errors.push_back(name + ":" + error.format());
  if (!parsed)
    return;
  module = std::move(*parsed.module);
  Lexer lexer(source);
  do
    tokens.push_back(lexer.next());
  while (tokens.back().kind != TokenKind::End);
  for (size_t i = 0; i != tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::Name)
      names.emplace(text(i));
  split();
}

void LinkPiece::split() {
  for (size_t at = 0; !isEnd(at);)
    readStatement(at);
}

size_t LinkPiece::closing(size_t at) const {
  size_t depth = 0;
  for (; !isEnd(at); ++at) {
    if (isPunct(at, '(') || isPunct(at, '{') || isPunct(at, '['))
      ++depth;
    if (isPunct(at, ')') || isPunct(at, '}') || isPunct(at, ']'))
      if (--depth == 0)
        return at + 1;
  }
  return at;
}

static std::optional<Linkage> linkageOf(std::string_view word) {
  if (word == "extern")
    return Linkage::Extern;
  if (word == "visible")
    return Linkage::Visible;
  if (word == "weak")
    return Linkage::Weak;
  if (word == "common")
    return Linkage::Common;
  return std::nullopt;
}

void LinkPiece::readStatement(size_t &at) {
  Statement statement;
  statement.first = at;
  auto pastSemicolon = [&] {
    while (!isEnd(at) && !isPunct(at, ';'))
      ++at;
    at += !isEnd(at);
  };
  while (tokens[at].kind == TokenKind::DotWord && linkageOf(text(at)))
    statement.linkage = *linkageOf(text(at++));
  statement.afterLinkage = at;
  if (isPunct(at, '@')) {
    // `@@dwarf ...`, one line each.
    statement.kind = StatementKind::Dropped;
    uint32_t line = tokens[at].position.line;
    while (!isEnd(at) && tokens[at].position.line == line)
      ++at;
  } else if (isWord(at, "version") || isWord(at, "address_size")) {
    statement.kind = StatementKind::Header;
    at += 2;
  } else if (isWord(at, "target")) {
    statement.kind = StatementKind::Header;
    for (at += 2; isPunct(at, ',');)
      at += 2;
  } else if (isWord(at, "file")) {
    for (at += 3; isPunct(at, ',');)
      at += 2;
  } else if (isWord(at, "section")) {
    ++at;
    if (!isWord(at, "debug_str"))
      statement.kind = StatementKind::Dropped;
    while (!isEnd(at) && !isPunct(at, '{'))
      ++at;
    at = closing(at);
  } else if (isWord(at, "entry") || isWord(at, "func")) {
    statement.kind =
        isWord(at, "entry") ? StatementKind::Entry : StatementKind::Function;
    readFunction(statement, at);
  } else if (isWord(at, "global") || isWord(at, "const") ||
             isWord(at, "shared")) {
    statement.kind = StatementKind::Variable;
    readVariable(statement, at);
  } else {
    pastSemicolon();
  }
  statement.last = at;
  if (statement.body == 0)
    statement.body = at;
  statements.push_back(statement);
}

void LinkPiece::readFunction(Statement &statement, size_t &at) {
  while (!isEnd(at) && !isPunct(at, ';') && !isPunct(at, '{')) {
    if (isWord(at, "pragma")) {
      while (!isEnd(at) && !isPunct(at, ';'))
        ++at;
    } else if (isPunct(at, '(')) {
      at = closing(at);
      continue;
    } else if (tokens[at].kind == TokenKind::Name && !statement.name) {
      statement.name = at;
    }
    at += !isEnd(at);
  }
  if (isPunct(at, '{')) {
    statement.body = at;
    at = closing(at);
  } else {
    at += !isEnd(at);
  }
}

void LinkPiece::readVariable(Statement &statement, size_t &at) {
  statement.isShared = isWord(at, "shared");
  while (!isEnd(at) && !isPunct(at, ';')) {
    if (isPunct(at, '(') || isPunct(at, '{') || isPunct(at, '[')) {
      at = closing(at);
      continue;
    }
    if (isPunct(at, '=') && !statement.body)
      statement.body = at;
    statement.isList |= isPunct(at, ',');
    if (tokens[at].kind == TokenKind::Name && !statement.name)
      statement.name = at;
    ++at;
  }
  // The semicolon ends the declaration that is left of it.
  if (!statement.body)
    statement.body = at;
  at += !isEnd(at);
}

std::set<std::string> LinkPiece::debugLabels() const {
  std::set<std::string> labels;
  for (const auto &[label, offset] : module.debugStrings.labels)
    labels.insert(label);
  return labels;
}

size_t LinkPiece::start(size_t token) const {
  TokenKind kind = tokens[token].kind;
  return tokens[token].offset -
         (kind == TokenKind::DotWord || kind == TokenKind::String ? 1 : 0);
}

std::string LinkPiece::write(size_t first, size_t last) const {
  std::string result;
  size_t done = start(first);
  auto put = [&](size_t token, const std::string &instead) {
    result.append(source, done, tokens[token].offset - done);
    result += instead;
    done = tokens[token].offset + tokens[token].length;
  };
  for (size_t i = first; i != last; ++i) {
    if (tokens[i].kind == TokenKind::Name) {
      auto it = renamed.find(text(i));
      if (it != renamed.end())
        put(i, it->second);
    }
    bool isFile = i != first && tokens[i].kind == TokenKind::Integer &&
                  (isWord(i - 1, "file") || isWord(i - 1, "loc") ||
                   (tokens[i - 1].kind == TokenKind::Name &&
                    text(i - 1) == "inlined_at"));
    if (isFile && fileBase)
      put(i, std::to_string(tokens[i].value + fileBase));
  }
  if (last == first)
    return result;
  size_t end = tokens[last - 1].offset + tokens[last - 1].length +
               (tokens[last - 1].kind == TokenKind::String ? 1 : 0);
  result.append(source, done, end - done);
  return result;
}

} // namespace blockscale::emulator::ptx
