//===- ParseModule.cpp - directives of a module, function headers ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator::ptx {

bool Parser::parseTopLevel() {
  if (isPunct('@')) {
    // `@@dwarf ...`, one line each, of old compilers.
    uint32_t line = token.position.line;
    while (token.kind != TokenKind::End && token.position.line == line)
      advance();
    return true;
  }
  if (token.kind != TokenKind::DotWord)
    return error("expected a directive, found " + describe(token));
  bool isExtern = false;
  while (isWord("visible") || isWord("weak") || isWord("common") ||
         isWord("extern")) {
    isExtern |= isWord("extern");
    advance();
  }
  Token at = token;
  if (acceptWord("version"))
    return parseVersion();
  if (acceptWord("target"))
    return parseTarget();
  if (acceptWord("address_size")) {
    uint64_t bits;
    if (!parseUnsigned("address size", 64, bits))
      return false;
    return bits == 64 || error(at, "address size is " + std::to_string(bits) +
                                       ", only 64 is supported");
  }
  if (isWord("file"))
    return parseFile();
  if (acceptWord("section")) {
    bool isStrings = isWord("debug_str");
    if (token.kind == TokenKind::DotWord || token.kind == TokenKind::Name)
      advance();
    return isStrings ? parseDebugStrings() : skipBraces();
  }
  if (acceptWord("pragma"))
    return skipPast(';');
  if (acceptWord("entry"))
    return parseFunction(true, isExtern);
  if (acceptWord("func"))
    return parseFunction(false, isExtern);
  if (acceptWord("global"))
    return parseVariables(Space::Global, isExtern);
  if (acceptWord("const"))
    return parseVariables(Space::Const, isExtern);
  if (acceptWord("shared"))
    return parseVariables(Space::Shared, isExtern);
  return error("directive " + describe(at) + " is not supported");
}

/// `.version M.m`: two integers that the lexer sees as one decimal.
bool Parser::parseVersion() {
  std::string_view spelled = text();
  size_t dot = spelled.find('.');
  auto number = [](std::string_view digits, unsigned &value) {
    if (digits.empty() || digits.size() > 3)
      return false;
    for (char c : digits) {
      if (c < '0' || c > '9')
        return false;
      value = value * 10 + (c - '0');
    }
    return true;
  };
  module.versionMajor = module.versionMinor = 0;
  if (dot == std::string_view::npos ||
      !number(spelled.substr(0, dot), module.versionMajor) ||
      !number(spelled.substr(dot + 1), module.versionMinor) ||
      module.versionMajor == 0)
    return error("expected a version such as '8.7', found " + describe(token));
  advance();
  return true;
}

bool Parser::parseTarget() {
  Token name;
  if (!parseName("a target", name))
    return false;
  module.target = std::string(textOf(name));
  while (accept(','))
    if (!parseName("a target option", name))
      return false;
  return true;
}

/// `.file index "name"[, time, size]`.
bool Parser::parseFile() {
  advance();
  uint64_t index;
  if (!parseUnsigned("file number", 0xFFFFFFFFu, index))
    return false;
  if (token.kind != TokenKind::String)
    return error("expected the file name, found " + describe(token));
  module.files.emplace_back(static_cast<uint32_t>(index), text());
  advance();
  Constant ignored;
  while (accept(','))
    if (!parseConstant(ignored))
      return false;
  return true;
}

/// The block of `.section .debug_str`: labels and `.b8` with bytes. What else
/// stands there is skipped: names for people are no reason to refuse a kernel.
bool Parser::parseDebugStrings() {
  if (!expect('{', "to open the block"))
    return false;
  DebugStrings &strings = module.debugStrings;
  bool isBytes = false;
  while (token.kind != TokenKind::End) {
    if (accept('}'))
      return true;
    if (token.kind == TokenKind::DotWord)
      isBytes = isWord("b8");
    else if (token.kind == TokenKind::Name)
      strings.labels.emplace(text(), strings.bytes.size());
    else if (isBytes && token.kind == TokenKind::Integer)
      strings.bytes.push_back(static_cast<char>(token.value));
    advance();
  }
  return error("expected '}' before the end of the text");
}

/// The index of the function of that name, declared before or now.
uint32_t Parser::declareFunction(const Token &name) {
  uint32_t id = symbols.intern(textOf(name));
  if (std::optional<Binding> known = symbols.lookup(id)) {
    if (known->kind == BindingKind::Function)
      return known->index;
    error(name, "redefinition of " + describe(name));
    return kNone;
  }
  auto index = static_cast<uint32_t>(module.functions.size());
  symbols.bind(id, BindingKind::Function, index);
  module.functions.emplace_back();
  Function &function = module.functions.back();
  function.name = std::string(textOf(name));
  function.source = source;
  function.position = name.position;
  return index;
}

bool Parser::parseFunction(bool isEntry, bool isExtern) {
  Function header;
  header.isEntry = isEntry;
  header.source = source;
  // `.func` may carry attributes before its results.
  while (!isEntry && token.kind == TokenKind::DotWord)
    if (!parseFunctionDirectives(header))
      return false;
  symbols.enter();
  Token name;
  bool ok = (!isPunct('(') ||
             parseParameters(header.returns, BindingKind::Return, header)) &&
            parseName("a function", name);
  if (ok && isPunct('('))
    ok = parseParameters(header.parameters, BindingKind::Parameter, header);
  ok = ok && parseFunctionDirectives(header);
  if (!ok) {
    symbols.leave();
    return false;
  }
  uint64_t offset = 0;
  for (Parameter &parameter : header.parameters) {
    offset = (offset + parameter.align - 1) / parameter.align * parameter.align;
    parameter.offset = offset;
    offset += parameter.size;
  }
  header.parameterBytes = offset;
  if (isEntry && offset > 32764) {
    symbols.leave();
    return error(name, "parameters of " + describe(name) + " take " +
                           std::to_string(offset) +
                           " bytes, the limit is 32764");
  }
  bool forward = accept(';');
  header.isExtern = isExtern;
  header.name = std::string(textOf(name));
  header.position = name.position;
  header.hasBody = !forward;
  if (!forward && header.isExtern) {
    symbols.leave();
    return error(name, "extern function " + describe(name) + " has a body");
  }
  bool parsed = true;
  if (!forward) {
    // The body sees the function itself, but names outside hide nothing.
    uint32_t id = symbols.intern(textOf(name));
    if (!symbols.lookup(id))
      symbols.bind(id, BindingKind::Function,
                   static_cast<uint32_t>(module.functions.size()));
    current = &header;
    std::vector<Scope>().swap(scopes);
    parsed = parseBody();
    current = nullptr;
  }
  symbols.leave();
  uint32_t index = declareFunction(name);
  if (index == kNone)
    return false;
  Function &known = module.functions[index];
  if (known.hasBody && !forward)
    return error(name, "redefinition of " + describe(name));
  if (!known.hasBody)
    known = std::move(header);
  return parsed;
}

bool Parser::parseTriple(std::array<uint32_t, 3> &triple) {
  triple = {1, 1, 1};
  for (unsigned i = 0; i != 3; ++i) {
    uint64_t value;
    if (!parseUnsigned("launch dimension", 0x7FFFFFFFu, value))
      return false;
    triple[i] = static_cast<uint32_t>(value);
    if (i == 2 || !accept(','))
      break;
  }
  return true;
}

bool Parser::parseFunctionDirectives(Function &function) {
  LaunchBounds &launch = function.launch;
  auto single = [&](uint32_t &to) {
    uint64_t value;
    if (!parseUnsigned("launch bound", 0x7FFFFFFFu, value))
      return false;
    to = static_cast<uint32_t>(value);
    return true;
  };
  while (token.kind == TokenKind::DotWord) {
    bool ok = true;
    uint32_t ignored;
    if (acceptWord("reqntid"))
      ok = parseTriple(launch.reqntid);
    else if (acceptWord("maxntid"))
      ok = parseTriple(launch.maxntid);
    else if (acceptWord("reqnctapercluster"))
      ok = parseTriple(launch.reqnctapercluster);
    else if (acceptWord("minnctapersm"))
      ok = single(launch.minnctapersm);
    else if (acceptWord("maxnctapersm"))
      ok = single(launch.maxnctapersm);
    else if (acceptWord("maxnreg"))
      ok = single(launch.maxnreg);
    else if (acceptWord("maxclusterrank"))
      ok = single(launch.maxclusterrank);
    else if (acceptWord("explicitcluster"))
      launch.explicitcluster = true;
    else if (acceptWord("blocksareclusters"))
      launch.blocksareclusters = true;
    else if (acceptWord("noreturn"))
      launch.noreturn = true;
    else if (acceptWord("unified"))
      ok = true;
    else if (acceptWord("abi_preserve") || acceptWord("abi_preserve_control"))
      ok = single(ignored);
    else if (acceptWord("pragma"))
      ok = skipPast(';');
    else
      return error("directive " + describe(token) +
                   " is not supported on a function");
    if (!ok)
      return false;
  }
  return true;
}

bool Parser::parseParameters(std::vector<Parameter> &list, BindingKind kind,
                             Function &function) {
  if (!expect('(', "to open the parameters"))
    return false;
  if (accept(')'))
    return true;
  do {
    Parameter parameter;
    auto index = static_cast<uint32_t>(list.size());
    if (!parseParameter(parameter, kind, function, index))
      return false;
    list.push_back(std::move(parameter));
  } while (accept(','));
  return expect(')', "to close the parameters");
}

static std::optional<Space> spaceOf(std::string_view word) {
  if (word == "global")
    return Space::Global;
  if (word == "const")
    return Space::Const;
  if (word == "shared")
    return Space::Shared;
  if (word == "local")
    return Space::Local;
  return std::nullopt;
}

bool Parser::parseParameter(Parameter &parameter, BindingKind kind,
                            Function &function, uint32_t index) {
  bool isRegister = acceptWord("reg");
  if (!isRegister && !acceptWord("param"))
    return error("expected '.param', found " + describe(token));
  uint32_t align = 0;
  while (token.kind == TokenKind::DotWord) {
    if (acceptWord("align")) {
      uint64_t value;
      Token at = token;
      if (!parseUnsigned("alignment", 1u << 20, value))
        return false;
      if (value == 0 || (value & (value - 1)))
        return error(at, "alignment is not a power of two");
      // The alignment after `.ptr` is that of the memory pointed to.
      if (!parameter.isPointer)
        align = static_cast<uint32_t>(value);
    } else if (acceptWord("ptr")) {
      parameter.isPointer = true;
    } else if (parameter.isPointer && spaceOf(text())) {
      parameter.pointee = *spaceOf(text());
      advance();
    } else if (parameter.type == Type::None && findType(text()) != Type::None) {
      parameter.type = findType(text());
      advance();
    } else {
      return error("unexpected " + describe(token) + " in a parameter");
    }
  }
  Token name;
  if (parameter.type == Type::None)
    return error("expected the type of a parameter, found " + describe(token));
  if (!parseName("a parameter", name))
    return false;
  parameter.name = std::string(textOf(name));
  uint64_t bytes = (bitWidth(parameter.type) + 7) / 8, count = 1;
  parameter.align = align ? align : static_cast<uint32_t>(bytes);
  if (accept('[')) {
    parameter.isArray = true;
    count = 0;
    if (!isPunct(']') && !parseUnsigned("array size", 1u << 30, count))
      return false;
    if (!expect(']', "after the array size"))
      return false;
  }
  parameter.size = bytes * count;
  uint32_t id = symbols.intern(textOf(name));
  bool bound;
  if (isRegister) {
    parameter.reg = static_cast<uint32_t>(function.registers.size());
    Register reg;
    reg.type = parameter.type;
    reg.nameOffset = name.offset;
    reg.nameLength = static_cast<uint16_t>(std::min(name.length, 0xFFFFu));
    function.registers.push_back(reg);
    bound = symbols.bind(id, BindingKind::Register, parameter.reg);
  } else {
    bound = symbols.bind(id, kind, index);
  }
  // `_` stands for every parameter that nobody names.
  return bound || parameter.name == "_" ||
         error(name, "redefinition of " + describe(name));
}

} // namespace blockscale::emulator::ptx
