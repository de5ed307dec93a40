//===- ParseVariable.cpp - variables and their initial values -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <cstring>

namespace blockscale::emulator::ptx {

/// `space [.attribute(.managed)] [.align N] [.v2|.v4] .type name[dims] [=
/// value], ...;`
bool Parser::parseVariables(Space space, bool isExtern) {
  Variable variable;
  variable.space = space;
  variable.isExtern = isExtern;
  unsigned lanes = 1;
  uint32_t align = 0;
  while (token.kind == TokenKind::DotWord) {
    Token at = token;
    if (acceptWord("align")) {
      uint64_t value;
      if (!parseUnsigned("alignment", 1u << 20, value))
        return false;
      if (value == 0 || (value & (value - 1)))
        return error(at, "alignment is not a power of two");
      align = static_cast<uint32_t>(value);
    } else if (acceptWord("attribute")) {
      if (!expect('(', "after '.attribute'"))
        return false;
      Token name = token;
      if (space != Space::Global || !acceptWord("managed"))
        return error(name,
                     "expected '.managed' of a '.global' variable, found " +
                         describe(name));
      variable.isManaged = true;
      if (!expect(')', "after the attribute"))
        return false;
    } else if (isWord("v2") || isWord("v4")) {
      lanes = isWord("v2") ? 2 : 4;
      advance();
    } else if (variable.type == Type::None && findType(text()) != Type::None) {
      variable.type = findType(text());
      advance();
    } else {
      return error("unexpected " + describe(token) + " in a variable");
    }
  }
  if (variable.type == Type::None || variable.type == Type::Pred)
    return error("expected the type of a variable, found " + describe(token));
  variable.align = align ? align : bitWidth(variable.type) / 8 * lanes;
  if (variable.align == 0)
    variable.align = 1;
  do
    if (!parseVariable(variable, lanes))
      return false;
  while (accept(','));
  return expect(';', "after the variable");
}

bool Parser::parseDimensions(Variable &variable, std::vector<uint64_t> &dims) {
  uint64_t bytes = variable.size;
  while (accept('[')) {
    Token at = token;
    if (dims.size() == 8)
      return error("array has more than 8 dimensions");
    uint64_t count = 0;
    if (isPunct(']')) {
      if (!dims.empty())
        return error("only the first dimension may be left out");
      variable.unsized = true;
    } else if (!parseUnsigned("array size", kMaxVariableBytes, count)) {
      return false;
    }
    if (!expect(']', "after the array size"))
      return false;
    dims.push_back(count);
    if (count && bytes > kMaxVariableBytes / count)
      return error(at, "variable is larger than 4 GiB");
    bytes *= variable.unsized && dims.size() == 1 ? 1 : count;
  }
  variable.size = bytes;
  return true;
}

bool Parser::parseVariable(Variable variable, unsigned lanes) {
  Token name;
  if (!parseName("a variable", name))
    return false;
  variable.name = std::string(textOf(name));
  variable.position = name.position;
  uint64_t element = (bitWidth(variable.type) + 7) / 8;
  variable.size = element * lanes;
  std::vector<uint64_t> dims;
  // `.param` arrays of a call may repeat: `%p<2>` is not in use.
  if (!parseDimensions(variable, dims))
    return false;
  if (lanes > 1)
    dims.push_back(lanes);
  if (accept('=')) {
    if (variable.space != Space::Global && variable.space != Space::Const)
      return error(name, "only '.global' and '.const' variables have an "
                         "initial value");
    // An open first dimension takes its size from the values.
    uint64_t stride = variable.size, used = 0;
    if (variable.unsized) {
      uint64_t inner = stride;
      variable.size = kMaxInitBytes / inner * inner;
      dims[0] = variable.size / inner;
      stride = variable.size;
    }
    if (!parseInitializer(variable, dims, 0, 0, stride, used))
      return false;
    if (variable.unsized) {
      uint64_t inner = stride / dims[0];
      variable.size = (used + inner - 1) / inner * inner;
      variable.unsized = false;
    }
  } else if (variable.unsized) {
    variable.size = 0;
  }
  if (variable.unsized && !variable.isExtern && variable.space != Space::Param)
    return error(name, "variable " + describe(name) + " has no size");
  return addVariable(std::move(variable), name);
}

/// A value at `base`, or a braced list of them. `stride` is the size of what
/// is filled, `used` becomes the end of the last byte given.
bool Parser::parseInitializer(Variable &variable,
                              const std::vector<uint64_t> &dims, unsigned level,
                              uint64_t base, uint64_t stride, uint64_t &used) {
  uint64_t element = (bitWidth(variable.type) + 7) / 8;
  if (!isPunct('{')) {
    used = std::max(used, base + element);
    return parseInitElement(variable, base);
  }
  if (level == dims.size())
    return error("initial value is nested deeper than the array");
  advance();
  if (accept('}'))
    return true;
  uint64_t inner = dims[level] ? stride / dims[level] : 0;
  uint64_t at = base, end = base + stride;
  do {
    // Without braces of their own the values fill the array flat.
    bool nested = isPunct('{');
    if (nested)
      at = base + (inner ? (at - base + inner - 1) / inner * inner : 0);
    if (at + (nested ? inner : element) > end)
      return error("more initial values than array elements");
    if (!parseInitializer(variable, dims, level + 1, at, inner, used))
      return false;
    at += nested ? inner : element;
  } while (accept(','));
  return expect('}', "after the initial values");
}

bool Parser::storeInit(Variable &variable, uint64_t offset, uint64_t bits,
                       unsigned size) {
  if (variable.init.size() < offset + size) {
    // The budget is the module's: a few bytes of text can claim much here.
    uint64_t more = offset + size - variable.init.size();
    if (more > kMaxInitBytes - initBytes)
      return error("initial values of the module take more than 256 MiB");
    initBytes += more;
    variable.init.resize(offset + size);
  }
  for (unsigned i = 0; i != size && i != 8; ++i)
    variable.init[offset + i] = static_cast<uint8_t>(bits >> (8 * i));
  return true;
}

bool Parser::parseInitElement(Variable &variable, uint64_t offset) {
  unsigned size = (bitWidth(variable.type) + 7) / 8;
  if (token.kind == TokenKind::Name && text() != "WARP_SZ")
    return parseInitSymbol(variable, offset, size, std::nullopt);
  // LLVM's byte of an address: `0xFF00(sym)`.
  if (token.kind == TokenKind::Integer && ahead.kind == TokenKind::Punct &&
      ahead.punct == '(') {
    uint64_t mask = token.value;
    advance();
    advance();
    return parseInitSymbol(variable, offset, size, mask) &&
           expect(')', "after the symbol");
  }
  Operand value;
  Token at = token;
  if (!parseImmediate(value))
    return false;
  uint64_t bits = value.bits();
  if (value.kind == OperandKind::Float64 && variable.type == Type::F32) {
    double wide;
    std::memcpy(&wide, &bits, sizeof(wide));
    auto narrow = static_cast<float>(wide);
    uint32_t narrowBits;
    std::memcpy(&narrowBits, &narrow, sizeof(narrow));
    bits = narrowBits;
  } else if (value.kind != OperandKind::Integer &&
             bitWidth(variable.type) !=
                 (value.kind == OperandKind::Float32 ? 32u : 64u)) {
    return error(at, "floating point value of another width than '." +
                         std::string(spelling(variable.type)) + "'");
  }
  return storeInit(variable, offset, bits, size);
}

bool Parser::parseInitSymbol(Variable &variable, uint64_t offset, unsigned size,
                             std::optional<uint64_t> mask) {
  Relocation relocation;
  relocation.offset = offset;
  relocation.size = static_cast<uint8_t>(size);
  if (size > 8)
    return error("address in a variable of 16 bytes");
  if (mask) {
    uint64_t byte = *mask;
    while (byte > 0xFF && (byte & 0xFF) == 0) {
      byte >>= 8;
      relocation.shift += 8;
    }
    if (byte != 0xFF)
      return error("mask of an address is not one byte");
  }
  if (token.kind == TokenKind::Name && text() == "generic" &&
      ahead.kind == TokenKind::Punct && ahead.punct == '(') {
    relocation.generic = true;
    advance();
    advance();
  }
  Token name;
  if (!parseName("a symbol", name))
    return false;
  std::optional<Binding> known = symbols.lookup(symbols.intern(textOf(name)));
  if (known && known->kind == BindingKind::ModuleVariable)
    relocation.variable = known->index;
  else if (known && known->kind == BindingKind::Function)
    relocation.function = known->index;
  else
    return error(name, "undefined name " + describe(name));
  if (relocation.generic && !expect(')', "after the symbol"))
    return false;
  if ((isPunct('+') || isPunct('-')) && !parseOffset(relocation.addend))
    return false;
  variable.relocations.push_back(relocation);
  return storeInit(variable, offset, 0, size);
}

bool Parser::addVariable(Variable variable, const Token &name) {
  std::vector<Variable> &list = current ? current->variables : module.variables;
  uint32_t id = symbols.intern(textOf(name));
  auto index = static_cast<uint32_t>(list.size());
  BindingKind kind =
      current ? BindingKind::FunctionVariable : BindingKind::ModuleVariable;
  if (symbols.bind(id, kind, index)) {
    list.push_back(std::move(variable));
    return true;
  }
  // A declaration may come before the definition.
  std::optional<Binding> known = symbols.lookup(id);
  if (!known || known->kind != kind)
    return error(name, "redefinition of " + describe(name));
  Variable &earlier = list[known->index];
  if (!earlier.isExtern && !variable.isExtern)
    return error(name, "redefinition of " + describe(name));
  if (earlier.space != variable.space || earlier.type != variable.type)
    return error(name, describe(name) + " was declared with another type");
  if (earlier.isExtern)
    earlier = std::move(variable);
  return true;
}

} // namespace blockscale::emulator::ptx
