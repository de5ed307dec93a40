//===- JoinPTX.cpp - one module of kernels compiled apart -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinPTX.h"
#include "llvm/ADT/SmallVector.h"

using namespace blockscale;
using llvm::StringRef;

namespace {
/// A module of one entry.
struct Piece {
  /// The lines up to the name of the entry, that name, what is declared behind
  /// it, and the entry itself.
  StringRef head, name, declarations, entry;
};
} // namespace

static constexpr llvm::StringLiteral kName("\t// .globl\t");
static constexpr llvm::StringLiteral kEntry(".visible .entry ");
/// Labels carry the number of their function.
static constexpr llvm::StringLiteral kLabel("$L__BB");

static std::optional<Piece> split(StringRef text) {
  Piece piece;
  size_t name = text.find(kName), entry = text.find(kEntry);
  if (name == StringRef::npos || entry == StringRef::npos || entry < name ||
      text.find(kName, name + 1) != StringRef::npos ||
      text.find(kEntry, entry + 1) != StringRef::npos ||
      text.contains("\n.func") || text.contains("\n.visible .func"))
    return std::nullopt;
  piece.head = text.take_front(name);
  StringRef rest = text.slice(name + kName.size(), entry);
  std::tie(piece.name, piece.declarations) = rest.split('\n');
  piece.entry = text.drop_front(entry);
  return piece;
}

/// `entry` with the labels of function number `number`, of which it has those
/// of number 0. False if there are others.
static bool appendEntry(StringRef entry, size_t number, std::string &text) {
  while (true) {
    size_t label = entry.find(kLabel);
    if (label == StringRef::npos)
      break;
    label += kLabel.size();
    text += entry.take_front(label);
    entry = entry.drop_front(label);
    if (!entry.consume_front("0_"))
      return false;
    text += std::to_string(number) + "_";
  }
  text += entry;
  return true;
}

std::optional<std::string>
blockscale::joinPTX(llvm::ArrayRef<StringRef> pieces) {
  llvm::SmallVector<Piece> parts;
  size_t size = 0;
  for (StringRef text : pieces) {
    std::optional<Piece> piece = split(text);
    if (!piece)
      return std::nullopt;
    parts.push_back(*piece);
    size += text.size();
  }
  std::string text;
  text.reserve(size);
  for (auto [number, part] : llvm::enumerate(parts)) {
    const Piece &first = parts.front();
    // The first name carries the declarations of the module with it.
    if (part.head != first.head || part.declarations != first.declarations)
      return std::nullopt;
    if (number == 0)
      text += part.head;
    text += kName;
    text += part.name;
    text += "\n";
    if (number == 0)
      text += part.declarations;
    if (!appendEntry(part.entry, number, text))
      return std::nullopt;
  }
  return text;
}
