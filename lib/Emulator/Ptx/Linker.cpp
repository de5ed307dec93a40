//===- Linker.cpp - several pieces of PTX as one module -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkPiece.h"
#include "blockscale/Emulator/PtxLinker.h"

#include <algorithm>

namespace blockscale::emulator {

using namespace ptx;

namespace {

/// What the machine provides: see decodeExternCall.
bool isProvided(std::string_view name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" ||
         name == "free";
}

bool isSymbol(const Statement &statement) {
  return statement.kind == StatementKind::Entry ||
         statement.kind == StatementKind::Function ||
         statement.kind == StatementKind::Variable;
}

/// Whether the statement's name means the same in every piece.
bool isCommon(const Statement &statement) {
  return statement.linkage != Linkage::None ||
         statement.kind == StatementKind::Entry;
}

/// A symbol's place: a statement of a piece.
struct Place {
  LinkPiece *piece = nullptr;
  Statement *statement = nullptr;
};

class Linker {
public:
  explicit Linker(const std::vector<PtxPiece> &inputs) {
    for (const PtxPiece &input : inputs)
      pieces.emplace_back(input.name, input.text);
  }

  PtxLinkResult run() {
    if (pieces.empty())
      result.errors.emplace_back("there is nothing to link");
    for (const LinkPiece &piece : pieces)
      result.errors.insert(result.errors.end(), piece.errors.begin(),
                           piece.errors.end());
    if (!result.errors.empty())
      return std::move(result);
    for (LinkPiece &piece : pieces)
      collect(piece);
    for (auto &[name, places] : definitions)
      choose(name, places);
    for (const LinkPiece &piece : pieces)
      for (const Statement &statement : piece.statements)
        if (isSymbol(statement) && isCommon(statement) &&
            !isDynamicShared(piece, statement))
          commonNames.emplace(piece.symbol(statement));
    for (LinkPiece &piece : pieces)
      checkReferences(piece);
    for (LinkPiece &piece : pieces)
      keepApart(piece);
    if (result.errors.empty())
      result.text = write();
    return std::move(result);
  }

private:
  void collect(LinkPiece &piece);
  void choose(const std::string &name, std::vector<Place> &places);
  void checkReferences(LinkPiece &piece);
  void checkAgreement(const std::string &name, const LinkPiece &piece,
                      const Place &definition);
  void keepApart(LinkPiece &piece);
  void rename(LinkPiece &piece, const std::string &name);
  /// Dynamic shared memory begins at one place under whatever name, and pieces
  /// declare it with different types: each keeps its own.
  bool isDynamicShared(const LinkPiece &piece,
                       const Statement &statement) const {
    return statement.isShared && statement.linkage == Linkage::Extern &&
           !chosen.count(piece.symbol(statement));
  }
  std::string write();
  std::string header() const;
  std::string declaration(const Place &place) const;
  std::string writeStatement(const LinkPiece &piece,
                             const Statement &statement) const;

  static std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
  }
  void error(std::string message) {
    result.errors.push_back(std::move(message));
  }

  std::vector<LinkPiece> pieces;
  /// Definitions that other pieces see.
  std::map<std::string, std::vector<Place>, std::less<>> definitions;
  std::map<std::string, Place, std::less<>> chosen;
  /// Names that mean the same in all pieces.
  std::set<std::string, std::less<>> commonNames;
  /// Names that one piece has for itself.
  std::set<std::string, std::less<>> taken;
  std::set<std::string> missing;
  PtxLinkResult result;
};

void Linker::collect(LinkPiece &piece) {
  // A definition without linkage of what was declared `.visible` before, and
  // the other way round, is one symbol: the strongest linkage counts.
  std::map<std::string, Linkage, std::less<>> strongest;
  for (const Statement &statement : piece.statements)
    if (isSymbol(statement)) {
      Linkage &linkage = strongest[std::string(piece.symbol(statement))];
      linkage = std::max(linkage, statement.linkage);
    }
  for (Statement &statement : piece.statements) {
    if (!isSymbol(statement))
      continue;
    if (statement.defines() && statement.linkage != Linkage::Extern)
      statement.linkage = strongest.find(piece.symbol(statement))->second;
    if (!statement.defines() || !isCommon(statement))
      continue;
    if (statement.isList) {
      error(piece.name + ": " + quoted(piece.symbol(statement)) +
            " and others are defined in one statement, which the linker does "
            "not take apart: declare each variable by itself");
      continue;
    }
    definitions[std::string(piece.symbol(statement))].push_back(
        {&piece, &statement});
  }
}

void Linker::choose(const std::string &name, std::vector<Place> &places) {
  auto strength = [](const Place &place) {
    // Kernels are seen whatever they say.
    return place.statement->kind == StatementKind::Entry &&
                   place.statement->linkage == Linkage::None
               ? Linkage::Visible
               : place.statement->linkage;
  };
  auto size = [&](const Place &place) {
    const Variable *variable = place.piece->module.findVariable(name);
    return variable ? variable->size : 0;
  };
  Place &best = chosen[name] = places.front();
  for (size_t i = 1; i != places.size(); ++i) {
    const Place &place = places[i];
    if (place.statement->kind != best.statement->kind) {
      error(quoted(name) + " is one thing in " + quoted(best.piece->name) +
            " and another in " + quoted(place.piece->name));
      return;
    }
    if (strength(place) == Linkage::Visible &&
        strength(best) == Linkage::Visible) {
      error(quoted(name) + " is defined in " + quoted(best.piece->name) +
            " and again in " + quoted(place.piece->name));
      return;
    }
    if (strength(place) > strength(best) ||
        (strength(place) == Linkage::Common &&
         strength(best) == Linkage::Common && size(place) > size(best)))
      best = place;
  }
}

/// Bytes and alignment of parameters, as far as a caller must know them.
std::vector<std::pair<uint64_t, bool>>
shapeOf(const std::vector<Parameter> &parameters) {
  std::vector<std::pair<uint64_t, bool>> shape;
  for (const Parameter &parameter : parameters)
    shape.emplace_back(parameter.size, parameter.reg != kNone);
  return shape;
}

void Linker::checkAgreement(const std::string &name, const LinkPiece &piece,
                            const Place &definition) {
  if (&piece == definition.piece)
    return;
  const Module &theirs = definition.piece->module;
  std::string where =
      " in " + quoted(piece.name) + " and in " + quoted(definition.piece->name);
  const Function *function = piece.module.findFunction(name);
  const Function *body = theirs.findFunction(name);
  const Variable *variable = piece.module.findVariable(name);
  const Variable *memory = theirs.findVariable(name);
  if (!function != !body || !variable != !memory)
    return error(quoted(name) +
                 " is a function in one and a variable in the "
                 "other:" +
                 where);
  if (function && (shapeOf(function->parameters) != shapeOf(body->parameters) ||
                   shapeOf(function->returns) != shapeOf(body->returns)))
    return error(quoted(name) + " has other parameters or results" + where);
  if (variable && variable->space != memory->space)
    return error(quoted(name) + " lies in different state spaces" + where);
  // Of `.common` definitions the largest counts.
  if (variable && !variable->unsized && !memory->unsized &&
      variable->size != memory->size &&
      definition.statement->linkage != Linkage::Common)
    error(quoted(name) + " has " + std::to_string(variable->size) + " and " +
          std::to_string(memory->size) + " bytes" + where);
}

void Linker::checkReferences(LinkPiece &piece) {
  std::set<std::string, std::less<>> own;
  for (const Statement &statement : piece.statements)
    if (isSymbol(statement) && statement.defines())
      own.emplace(piece.symbol(statement));
  std::set<std::string> seen;
  for (const Statement &statement : piece.statements) {
    if (!isSymbol(statement) || !seen.emplace(piece.symbol(statement)).second)
      continue;
    std::string name(piece.symbol(statement));
    if (auto it = chosen.find(name); it != chosen.end()) {
      if (!own.count(name) || statement.linkage != Linkage::None)
        checkAgreement(name, piece, it->second);
      continue;
    }
    // `.extern .shared` is the dynamic shared memory of a launch.
    if (own.count(name) || statement.isShared || isProvided(name) ||
        statement.kind == StatementKind::Entry)
      continue;
    if (missing.insert(name).second)
      result.unresolved.push_back(quoted(name) + ", which " +
                                  quoted(piece.name) + " declares");
  }
}

/// Another name for what only this piece knows under the name.
void Linker::rename(LinkPiece &piece, const std::string &name) {
  std::string fresh;
  unsigned number = 2;
  auto isFree = [&] {
    return !taken.count(fresh) && std::none_of(pieces.begin(), pieces.end(),
                                               [&](const LinkPiece &other) {
                                                 return other.mentions(fresh);
                                               });
  };
  do
    fresh = name + "$" + std::to_string(number++);
  while (!isFree());
  piece.renamed[name] = fresh;
  taken.insert(fresh);
}

void Linker::keepApart(LinkPiece &piece) {
  std::set<std::string> own = piece.debugLabels(), common;
  for (const Statement &statement : piece.statements) {
    if (!isSymbol(statement))
      continue;
    std::string name(piece.symbol(statement));
    bool isSeen = isCommon(statement) && !isDynamicShared(piece, statement);
    (isSeen ? common : own).insert(name);
  }
  for (const std::string &name : own) {
    if (common.count(name))
      continue;
    if (taken.count(name) || commonNames.count(name))
      rename(piece, name);
    else
      taken.insert(name);
  }
}

/// A chip's number, and whether code is for it alone.
std::pair<unsigned, bool> rankOf(const std::string &target) {
  unsigned number = 0;
  for (char c : target)
    if (c >= '0' && c <= '9')
      number = number * 10 + unsigned(c - '0');
  bool isOwn = !target.empty() && (target.back() < '0' || target.back() > '9');
  return {number, isOwn};
}

std::string Linker::header() const {
  const LinkPiece *newest = &pieces.front(), *target = newest;
  for (const LinkPiece &piece : pieces) {
    auto version = [](const LinkPiece *p) {
      return std::pair(p->module.versionMajor, p->module.versionMinor);
    };
    if (version(&piece) > version(newest))
      newest = &piece;
    if (rankOf(piece.module.target) > rankOf(target->module.target))
      target = &piece;
  }
  return ".version " + std::to_string(newest->module.versionMajor) + "." +
         std::to_string(newest->module.versionMinor) + "\n.target " +
         target->module.target + "\n.address_size 64\n";
}

/// The variable's definition, without its value, as a declaration.
std::string Linker::declaration(const Place &place) const {
  const Statement &statement = *place.statement;
  return ".extern " +
         place.piece->write(statement.afterLinkage, statement.body) + ";";
}

std::string Linker::writeStatement(const LinkPiece &piece,
                                   const Statement &statement) const {
  if (!isSymbol(statement))
    return piece.write(statement.first, statement.last);
  auto it = chosen.find(piece.symbol(statement));
  bool isOther = it != chosen.end() && isCommon(statement) &&
                 it->second.statement != &statement;
  if (!isOther)
    return piece.write(statement.first, statement.last);
  // Declared here, defined elsewhere.
  if (statement.kind == StatementKind::Variable)
    return declaration(it->second);
  if (statement.kind == StatementKind::Entry)
    return "";
  return statement.defines()
             ? piece.write(statement.first, statement.body) + ";"
             : piece.write(statement.first, statement.last);
}

std::string Linker::write() {
  std::string text = header();
  uint64_t files = 0;
  for (LinkPiece &piece : pieces) {
    piece.fileBase = files;
    for (const auto &[number, file] : piece.module.files)
      files = std::max(files, piece.fileBase + number);
    text += "\n// " + piece.name + "\n";
    for (const Statement &statement : piece.statements)
      if (statement.kind != StatementKind::Header &&
          statement.kind != StatementKind::Dropped)
        text += writeStatement(piece, statement) + "\n";
  }
  return text;
}

} // namespace

PtxLinkResult linkPtx(const std::vector<PtxPiece> &pieces) {
  return Linker(pieces).run();
}

} // namespace blockscale::emulator
