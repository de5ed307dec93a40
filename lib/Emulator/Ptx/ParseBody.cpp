//===- ParseBody.cpp - statements of a function ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator::ptx {

/// What a label stands for; a Scope keeps it as a small number.
enum LabelKind : uint8_t { kPlace, kTable, kPrototype };

void Parser::openScope() {
  symbols.enter();
  scopes.push_back({{}, {}, nextSerial++});
}

/// Labels resolve inside out: what this block does not define, its parent may.
void Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  symbols.leave();
  for (const LabelDefinition &label : scope.labels) {
    SymbolTable::LabelMark &mark = symbols.label(label.name);
    if (mark.serial == scope.serial)
      error(label.at, "redefinition of label " + describe(label.at));
    mark = {scope.serial, label.value, label.kind};
  }
  for (LabelUse &use : scope.uses) {
    const SymbolTable::LabelMark &mark = symbols.label(use.name);
    if (mark.serial != scope.serial) {
      if (scopes.empty())
        error(use.at, "undefined label " + describe(use.at));
      else
        scopes.back().uses.push_back(use);
      continue;
    }
    if (use.instruction == kNone) {
      if (mark.kind == kPlace)
        current->branchTables[use.operand][use.entry] = mark.value;
      else
        error(use.at, describe(use.at) + " does not label an instruction");
      continue;
    }
    // A statement with an error was dropped, and its labels with it.
    if (use.instruction >= current->instructions.size() ||
        use.operand >= current->instructions[use.instruction].operands.size())
      continue;
    Operand &operand =
        current->instructions[use.instruction].operands[use.operand];
    LabelKind wanted =
        operand.kind == OperandKind::BranchTable ? kTable : kPlace;
    if (mark.kind == wanted)
      operand.index = mark.value;
    else
      error(use.at, describe(use.at) +
                        (wanted == kTable ? " is not a list of branch targets"
                                          : " does not label an instruction"));
  }
}

bool Parser::parseBody() {
  if (!expect('{', "to open the body"))
    return false;
  openScope();
  currentLocation = kNone;
  lastLocations.clear();
  size_t base = scopes.size() - 1;
  while (true) {
    if (token.kind == TokenKind::End) {
      while (scopes.size() > base)
        closeScope();
      return error("expected '}' before the end of the text");
    }
    if (accept('}')) {
      closeScope();
      if (scopes.size() == base)
        return true;
      continue;
    }
    if (isPunct('{')) {
      if (scopes.size() >= kMaxDepth) {
        while (scopes.size() > base)
          closeScope();
        return error("blocks are nested deeper than " +
                     std::to_string(kMaxDepth));
      }
      advance();
      openScope();
      continue;
    }
    if (parseStatement())
      continue;
    while (token.kind != TokenKind::End && !isPunct(';') && !isPunct('}'))
      advance();
    accept(';');
    if (errors.size() >= kMaxErrors) {
      while (scopes.size() > base)
        closeScope();
      return false;
    }
  }
}

bool Parser::parseStatement() {
  if (token.kind == TokenKind::DotWord)
    return parseBodyDirective();
  if (token.kind == TokenKind::Name && ahead.kind == TokenKind::Punct &&
      ahead.punct == ':') {
    Token name = token;
    advance();
    advance();
    return parseLabelled(name);
  }
  return parseInstruction();
}

/// Behind `name:`.
bool Parser::parseLabelled(const Token &name) {
  if (isWord("branchtargets"))
    return parseBranchTargets(name);
  uint8_t kind = kPlace;
  auto value = static_cast<uint32_t>(current->instructions.size());
  bool prototype = isWord("callprototype") || isWord("calltargets");
  if (prototype)
    kind = kPrototype;
  scopes.back().labels.push_back(
      {symbols.intern(textOf(name)), value, kind, name});
  return !prototype || skipPast(';');
}

bool Parser::parseBranchTargets(const Token &name) {
  advance();
  auto table = static_cast<uint32_t>(current->branchTables.size());
  current->branchTables.emplace_back();
  Scope &scope = scopes.back();
  do {
    Token target;
    if (!parseName("a label", target))
      return false;
    auto entry = static_cast<uint32_t>(current->branchTables[table].size());
    current->branchTables[table].push_back(kNone);
    scope.uses.push_back(
        {symbols.intern(textOf(target)), kNone, table, entry, target});
  } while (accept(','));
  scope.labels.push_back({symbols.intern(textOf(name)), table, kTable, name});
  return expect(';', "after the branch targets");
}

bool Parser::parseBodyDirective() {
  std::string_view word = text();
  if (word == "reg")
    return parseRegisters();
  if (word == "shared" || word == "local" || word == "param") {
    Space space = word == "shared"  ? Space::Shared
                  : word == "local" ? Space::Local
                                    : Space::Param;
    advance();
    return parseVariables(space, false);
  }
  if (word == "loc")
    return parseLoc();
  if (word == "file")
    return parseFile();
  if (word == "pragma")
    return skipPast(';');
  return error("directive " + describe(token) +
               " is not supported inside a function");
}

/// `file line column`.
bool Parser::parseLocTriple(std::array<uint32_t, 3> &triple) {
  for (uint32_t &part : triple) {
    if (token.kind != TokenKind::Integer)
      return error("expected a number of '.loc', found " + describe(token));
    part = static_cast<uint32_t>(token.value);
    advance();
  }
  return true;
}

/// File, line and column, not inlined.
static DebugLocation locationOf(const std::array<uint32_t, 3> &place) {
  DebugLocation location;
  location.file = place[0];
  location.line = place[1];
  location.column = place[2];
  return location;
}

/// The last location of the body at that place; a new one if there is none.
uint32_t Parser::locationAt(const std::array<uint32_t, 3> &place) {
  auto [entry, isNew] = lastLocations.try_emplace(
      place, static_cast<uint32_t>(current->locations.size()));
  if (isNew)
    current->locations.push_back(locationOf(place));
  return entry->second;
}

/// `.loc file line column[, function_name name[+n], inlined_at f l c]`.
bool Parser::parseLoc() {
  advance();
  std::array<uint32_t, 3> place;
  if (!parseLocTriple(place))
    return false;
  DebugLocation location = locationOf(place);
  while (accept(',')) {
    Token key;
    if (!parseName("an attribute of '.loc'", key))
      return false;
    if (textOf(key) == "inlined_at") {
      std::array<uint32_t, 3> caller;
      if (!parseLocTriple(caller))
        return false;
      // It was given before (PTX ISA 9.1, section 11.5.3), so that chains end.
      location.inlinedAt = locationAt(caller);
      continue;
    }
    Token label;
    if (!parseName("a function", label))
      return false;
    location.functionLabel = textOf(label);
    Constant offset;
    if (isPunct('+') && !parseConstant(offset))
      return false;
    location.functionOffset = offset.bits;
  }
  currentLocation = static_cast<uint32_t>(current->locations.size());
  current->locations.push_back(std::move(location));
  lastLocations[place] = currentLocation;
  return true;
}

/// `.reg [.v2|.v4] .type name[<count>], ...;`
bool Parser::parseRegisters() {
  advance();
  unsigned lanes = 1;
  if (isWord("v2") || isWord("v4")) {
    lanes = isWord("v2") ? 2 : 4;
    advance();
  }
  Type type = token.kind == TokenKind::DotWord ? findType(text()) : Type::None;
  if (type == Type::None || bitWidth(type) > 128)
    return error("expected the type of a register, found " + describe(token));
  advance();
  do
    if (!parseRegister(type, lanes))
      return false;
  while (accept(','));
  return expect(';', "after the registers");
}

bool Parser::parseRegister(Type type, unsigned lanes) {
  Token name;
  if (!parseName("a register", name))
    return false;
  uint64_t count = 1;
  bool range = accept('<');
  if (range) {
    // A plain number: `>` would be an operator of an expression.
    if (token.kind != TokenKind::Integer)
      return error("expected the number of registers, found " +
                   describe(token));
    count = token.value;
    advance();
    if (!expect('>', "after the number of registers"))
      return false;
  }
  auto first = static_cast<uint32_t>(current->registers.size());
  if (count > kMaxRegisters || first + count * lanes > kMaxRegisters)
    return error(name, "more than " + std::to_string(kMaxRegisters) +
                           " registers in a function");
  registerCount += count * lanes;
  if (registerCount > kMaxModuleRegisters)
    return error(name, "more than " + std::to_string(kMaxModuleRegisters) +
                           " registers in the module");
  if (range && lanes > 1)
    return error(name, "a range of vector registers is not supported");
  uint32_t id = symbols.intern(textOf(name));
  BindingKind kind = range        ? BindingKind::RegisterRange
                     : lanes != 1 ? BindingKind::VectorRegister
                                  : BindingKind::Register;
  uint32_t bound = range ? static_cast<uint32_t>(count) : lanes;
  if (!symbols.bind(id, kind, first, bound))
    return error(name, "redefinition of " + describe(name));
  Register reg;
  reg.type = type;
  reg.nameOffset = name.offset;
  reg.nameLength = static_cast<uint16_t>(std::min(name.length, 0xFFFFu));
  for (uint32_t i = 0; i != bound; ++i) {
    reg.number = range ? i : kNone;
    reg.component = lanes > 1 ? static_cast<uint8_t>(i) : kWholeVector;
    current->registers.push_back(reg);
  }
  return true;
}

/// The opcode and its dotted words.
bool Parser::parseMnemonic(Instruction &inst) {
  Token first = token;
  if (!parseName("an instruction", first))
    return false;
  uint32_t end = lastEnd;
  uint32_t letters = first.length;
  while (token.kind == TokenKind::DotWord) {
    letters += token.length + 1;
    advance();
    end = lastEnd;
  }
  inst.mnemonicOffset = first.offset;
  uint32_t length = end - first.offset;
  if (length > 1000)
    return error(first, "mnemonic is longer than 1000 characters");
  inst.mnemonicLength = static_cast<uint16_t>(length);
  std::string_view spelled =
      std::string_view(*source).substr(first.offset, length);
  const Mnemonic *known = nullptr;
  if (length == letters) {
    auto [at, isNew] = mnemonics.try_emplace(spelled);
    if (isNew)
      at->second = decodeMnemonic(spelled);
    known = &at->second;
  } else {
    // Blanks or comments between the words: drop them.
    std::string packed;
    std::string copy(spelled);
    Lexer again(copy);
    for (Token t = again.next(); t.kind != TokenKind::End; t = again.next()) {
      if (t.kind == TokenKind::DotWord)
        packed += '.';
      packed.append(copy, t.offset, t.length);
    }
    auto [at, isNew] = spacedMnemonics.try_emplace(packed);
    if (isNew)
      at->second = decodeMnemonic(packed);
    known = &at->second;
  }
  if (known->tooLong)
    return error(first, "instruction has more than 14 modifiers or 6 types");
  inst.opcode = known->opcode;
  inst.modifiers = known->modifiers;
  inst.types = known->types;
  return true;
}

bool Parser::parseInstruction() {
  Instruction inst;
  inst.textOffset = token.offset;
  inst.location = currentLocation;
  if (accept('@')) {
    inst.guardNegated = accept('!');
    Token at = token;
    if (!parseRegisterName(inst.guard))
      return false;
    if (current->registers[inst.guard].type != Type::Pred)
      return error(at, "guard " + describe(at) + " is not a predicate");
  }
  Token at = token;
  inst.position = at.position;
  if (!parseMnemonic(inst) || !parseOperands(inst))
    return false;
  inst.textLength = lastEnd - inst.textOffset;
  if (!isPunct(';'))
    return error("expected ';' after the instruction, found " +
                 describe(token));
  if (inst.opcode != Opcode::Unknown) {
    Arity arity = arityOf(inst.opcode);
    size_t count = inst.operands.size();
    if (count < arity.least || count > arity.most) {
      std::string range = std::to_string(arity.least);
      if (arity.most != arity.least)
        range += " to " + std::to_string(arity.most);
      return error(at, "'" + std::string(spelling(inst.opcode)) + "' takes " +
                           range + " operands, found " + std::to_string(count));
    }
  }
  current->instructions.push_back(std::move(inst));
  advance();
  return true;
}

} // namespace blockscale::emulator::ptx
