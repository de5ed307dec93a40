//===- LinkPiece.h - a piece of PTX as the linker sees it -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens, and the statements of the module's outermost level: enough to find
// what a piece defines and declares, and to write it again with other names.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_LINKPIECE_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_LINKPIECE_H

#include "Lexer.h"

#include <map>
#include <set>

namespace blockscale::emulator::ptx {

/// The stronger one of two definitions counts.
enum class Linkage : uint8_t { None, Extern, Weak, Common, Visible };

enum class StatementKind : uint8_t {
  Header,   ///< `.version`, `.target`, `.address_size`: written once.
  Verbatim, ///< `.file`, `.pragma`, `.section .debug_str`.
  Dropped,  ///< Debuggers' tables.
  Entry,
  Function,
  Variable,
};

/// Tokens `first` to `last`, without the latter.
struct Statement {
  StatementKind kind = StatementKind::Verbatim;
  Linkage linkage = Linkage::None;
  size_t first = 0, last = 0;
  /// The first token behind the linking directives.
  size_t afterLinkage = 0;
  /// Of a function or variable: its name's token.
  size_t name = 0;
  /// The token that begins body or initial value; `last` if there is none.
  size_t body = 0;
  bool isShared = false;
  /// `.global .b32 a, b;`.
  bool isList = false;

  /// Whether it gives the symbol code or memory. A variable does so without an
  /// initial value too.
  bool defines() const {
    if (kind == StatementKind::Variable)
      return linkage != Linkage::Extern;
    return body != last;
  }
};

/// One piece: its text, tokens, statements, and new names.
class LinkPiece {
public:
  LinkPiece(std::string name, std::string text);

  std::string name;
  std::string source;
  Module module;
  std::vector<Statement> statements;
  /// Empty if the piece is good.
  std::vector<std::string> errors;
  /// Names of the text that are written otherwise.
  std::map<std::string, std::string, std::less<>> renamed;
  /// Added to the numbers of `.file`.
  uint64_t fileBase = 0;

  std::string_view text(size_t token) const {
    return std::string_view(source).substr(tokens[token].offset,
                                           tokens[token].length);
  }
  std::string_view symbol(const Statement &statement) const {
    return text(statement.name);
  }
  /// Labels of the debuggers' strings, which are names of the module too.
  std::set<std::string> debugLabels() const;
  /// Whether the name stands anywhere in the text.
  bool mentions(const std::string &name) const { return names.count(name); }

  /// The text of tokens `first` to `last` with the new names and numbers.
  std::string write(size_t first, size_t last) const;

private:
  void split();
  void readStatement(size_t &at);
  void readFunction(Statement &statement, size_t &at);
  void readVariable(Statement &statement, size_t &at);
  /// The token behind the one that closes what `at` opens.
  size_t closing(size_t at) const;
  bool isPunct(size_t token, char c) const {
    return tokens[token].kind == TokenKind::Punct &&
           tokens[token].punct == static_cast<unsigned char>(c);
  }
  bool isWord(size_t token, std::string_view word) const {
    return tokens[token].kind == TokenKind::DotWord && text(token) == word;
  }
  bool isEnd(size_t token) const {
    return tokens[token].kind == TokenKind::End;
  }
  /// Where the token's text begins, the dot or quote of some included.
  size_t start(size_t token) const;

  std::vector<Token> tokens;
  std::set<std::string, std::less<>> names;
};

} // namespace blockscale::emulator::ptx

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_LINKPIECE_H
