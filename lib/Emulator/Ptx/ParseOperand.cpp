//===- ParseOperand.cpp - operands of instructions ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator::ptx {

/// The widest vector of PTX is that of tcgen05.ld.x128; this leaves room.
static constexpr size_t kMaxElements = 256;
static constexpr size_t kMaxOperands = 32;

bool Parser::parseOperands(Instruction &inst) {
  if (inst.opcode == Opcode::Call)
    return parseCallOperands(inst);
  inst.operands.reserve(4);
  if (isPunct(';'))
    return true;
  bool branch = inst.opcode == Opcode::Bra;
  do {
    if (inst.operands.size() == kMaxOperands)
      return error("more than " + std::to_string(kMaxOperands) + " operands");
    Operand operand;
    bool label =
        branch || (inst.opcode == Opcode::BrxIdx && inst.operands.size() == 1);
    if (label) {
      Token name;
      if (!parseName("a label", name))
        return false;
      operand.kind = branch ? OperandKind::Label : OperandKind::BranchTable;
      scopes.back().uses.push_back(
          {symbols.intern(textOf(name)),
           static_cast<uint32_t>(current->instructions.size()),
           static_cast<uint32_t>(inst.operands.size()), 0, name});
    } else if (!parseOperand(operand)) {
      return false;
    }
    inst.operands.push_back(std::move(operand));
  } while (accept(','));
  return true;
}

/// `call (results), callee, (arguments)[, prototype or targets]`.
bool Parser::parseCallOperands(Instruction &inst) {
  inst.operands.resize(3);
  inst.operands[0].kind = inst.operands[2].kind = OperandKind::Arguments;
  if (isPunct('(') && (!parseArguments(inst.operands[0]) ||
                       !expect(',', "after the results of the call")))
    return false;
  Token callee = token;
  if (!parseNamed(inst.operands[1]))
    return false;
  if (inst.operands[1].kind != OperandKind::Function &&
      inst.operands[1].kind != OperandKind::Register)
    return error(callee, describe(callee) + " is not a function");
  if (!accept(','))
    return true;
  if (isPunct('(')) {
    if (!parseArguments(inst.operands[2]))
      return false;
    if (!accept(','))
      return true;
  }
  // The prototype of an indirect call repeats what the callee declares.
  Token prototype;
  return parseName("a call prototype", prototype);
}

bool Parser::parseArguments(Operand &operand) {
  operand.kind = OperandKind::Arguments;
  if (!expect('(', "to open the list"))
    return false;
  if (accept(')'))
    return true;
  do {
    if (operand.elements.size() == kMaxElements)
      return error("more than " + std::to_string(kMaxElements) + " arguments");
    operand.elements.emplace_back();
    if (!parseScalar(operand.elements.back()))
      return false;
  } while (accept(','));
  return expect(')', "to close the list");
}

bool Parser::parseOperand(Operand &operand) {
  if (isPunct('['))
    return parseAddress(operand);
  if (isPunct('{'))
    return parseVector(operand);
  if (isPunct('!') && ahead.kind == TokenKind::Name) {
    Token at = token;
    advance();
    operand.negated = true;
    if (!parseNamed(operand))
      return false;
    if (operand.kind == OperandKind::Register &&
        current->registers[operand.reg].type == Type::Pred)
      return true;
    return error(at, "only a predicate can be negated");
  }
  if (!parseScalar(operand))
    return false;
  if (!isPunct('|'))
    return true;
  if (operand.kind != OperandKind::Register &&
      operand.kind != OperandKind::Sink)
    return error("expected a register before '|'");
  advance();
  Operand pair;
  pair.kind = OperandKind::Pair;
  pair.elements.resize(2);
  pair.elements[0] = std::move(operand);
  Token at = token;
  if (!parseScalar(pair.elements[1]))
    return false;
  if (pair.elements[1].kind != OperandKind::Register &&
      pair.elements[1].kind != OperandKind::Sink)
    return error(at, "expected a register after '|'");
  operand = std::move(pair);
  return true;
}

bool Parser::parseScalar(Operand &operand) {
  if (token.kind == TokenKind::Name && text() != "WARP_SZ")
    return parseNamed(operand);
  return parseImmediate(operand);
}

bool Parser::parseNamed(Operand &operand) {
  Token name;
  if (!parseName("an operand", name))
    return false;
  if (textOf(name) == "_") {
    operand.kind = OperandKind::Sink;
    return true;
  }
  if (!resolve(name, operand))
    return false;
  if (operand.kind == OperandKind::Symbol && (isPunct('+') || isPunct('-')))
    return parseOffset(operand.value);
  return true;
}

unsigned Parser::componentOf(std::string_view word) {
  if (word.size() != 1)
    return kNoComponent;
  size_t at = std::string_view("xyzwrgba").find(word[0]);
  return at == std::string_view::npos ? kNoComponent : at & 3;
}

/// The part of a register that a video instruction takes: `.b0` to `.b3` are 0
/// to 3, `.h0` and `.h1` 4 and 5.
static uint8_t partOf(std::string_view word) {
  if (word.size() == 2 && word[0] == 'b' && word[1] >= '0' && word[1] <= '3')
    return uint8_t(word[1] - '0');
  if (word == "h0" || word == "h1")
    return uint8_t(4 + word[1] - '0');
  return kWholeVector;
}

/// The component `.x` behind a name, or the part of a register, if there is
/// one.
bool Parser::parseComponent(Component &component) {
  component.at = token;
  if (token.kind != TokenKind::DotWord)
    return true;
  component.number = componentOf(text());
  component.part = partOf(text());
  if (component.isNone())
    return error("expected a component '.x' to '.w', found " + describe(token));
  advance();
  return true;
}

bool Parser::noComponent(const Token &name, const Component &component) {
  return error(component.at,
               describe(name) + " has no component " + describe(component.at));
}

/// Of what has parts only: `name` is no vector.
bool Parser::takePart(const Token &name, const Component &component,
                      Operand &operand) {
  if (component.part != kWholeVector && operand.kind == OperandKind::Register) {
    operand.component = component.part;
    return true;
  }
  return component.isNone() || noComponent(name, component);
}

bool Parser::resolveSpecial(const Token &name, const Component &component,
                            Operand &operand) {
  std::string_view spelled = textOf(name);
  operand.special = findSpecial(spelled);
  if (operand.special == SpecialRegister::None)
    return error(name, "undefined name " + describe(name));
  operand.kind = OperandKind::Special;
  if (operand.special == SpecialRegister::Envreg) {
    // The number of %envreg<N> takes the place of the component.
    operand.component = 0;
    for (char c : spelled.substr(std::string_view("%envreg").size()))
      operand.component = uint8_t(operand.component * 10 + (c - '0'));
    return takePart(name, component, operand);
  }
  operand.component = component.number == kNoComponent
                          ? kWholeVector
                          : uint8_t(component.number);
  return component.part == kWholeVector || takePart(name, component, operand);
}

bool Parser::resolveVector(const Token &name, const Component &component,
                           const Binding &binding, Operand &operand) {
  if (component.isNone()) {
    operand.kind = OperandKind::Vector;
    operand.elements.resize(binding.count);
    for (uint32_t i = 0; i != binding.count; ++i) {
      operand.elements[i].kind = OperandKind::Register;
      operand.elements[i].reg = binding.index + i;
    }
    return true;
  }
  if (component.number == kNoComponent || component.number >= binding.count)
    return noComponent(name, component);
  operand.kind = OperandKind::Register;
  operand.reg = binding.index + component.number;
  return true;
}

/// Looks a name up and takes a component after it, or a part of a register.
bool Parser::resolve(const Token &name, Operand &operand) {
  Component component;
  if (!parseComponent(component))
    return false;
  std::optional<Binding> binding = symbols.lookup(symbols.intern(textOf(name)));
  if (!binding)
    return resolveSpecial(name, component, operand);
  if (binding->kind == BindingKind::VectorRegister)
    return resolveVector(name, component, *binding, operand);
  operand.kind = OperandKind::Symbol;
  switch (binding->kind) {
  case BindingKind::Register:
    operand.kind = OperandKind::Register;
    operand.reg = binding->index;
    break;
  case BindingKind::ModuleVariable:
    operand.symbol = {SymbolScope::Module, binding->index};
    break;
  case BindingKind::FunctionVariable:
    operand.symbol = {SymbolScope::Function, binding->index};
    break;
  case BindingKind::Parameter:
    operand.symbol = {SymbolScope::Parameter, binding->index};
    break;
  case BindingKind::Return:
    operand.symbol = {SymbolScope::Return, binding->index};
    break;
  default:
    operand.kind = OperandKind::Function;
    operand.index = binding->index;
    break;
  }
  return takePart(name, component, operand);
}

bool Parser::parseRegisterName(uint32_t &reg) {
  Token name;
  Operand operand;
  if (!parseName("a register", name) || !resolve(name, operand))
    return false;
  if (operand.kind != OperandKind::Register ||
      operand.component != kWholeVector)
    return error(name, describe(name) + " is not a register");
  reg = operand.reg;
  return true;
}

bool Parser::parseVector(Operand &operand) {
  operand.kind = OperandKind::Vector;
  if (!expect('{', "to open the vector"))
    return false;
  operand.elements.reserve(4);
  do {
    if (operand.elements.size() == kMaxElements)
      return error("more than " + std::to_string(kMaxElements) +
                   " vector elements");
    Token at = token;
    operand.elements.emplace_back();
    Operand &element = operand.elements.back();
    if (!parseScalar(element))
      return false;
    if (element.kind == OperandKind::Vector)
      return error(at, describe(at) + " is a vector inside a vector");
  } while (accept(','));
  return expect('}', "to close the vector");
}

/// `+ N` or `- N` after an address.
bool Parser::parseOffset(int64_t &offset) {
  Constant constant;
  if (!parseConstant(constant))
    return false;
  offset = static_cast<int64_t>(constant.bits);
  return true;
}

bool Parser::parseAddress(Operand &operand) {
  if (!expect('[', "to open the address"))
    return false;
  Token at = token;
  if (token.kind == TokenKind::Name && text() != "WARP_SZ") {
    if (!parseNamed(operand))
      return false;
    if (operand.kind != OperandKind::Register &&
        operand.kind != OperandKind::Symbol)
      return error(at, describe(at) + " is no base of an address");
    if (operand.kind == OperandKind::Register &&
        current->registers[operand.reg].type == Type::Pred)
      return error(at,
                   "predicate " + describe(at) + " is no base of an address");
    if (operand.kind == OperandKind::Register &&
        (isPunct('+') || isPunct('-')) && !parseOffset(operand.value))
      return false;
  } else if (!parseOffset(operand.value)) {
    return false;
  }
  operand.kind = OperandKind::Address;
  // The last list has the coordinates.
  constexpr size_t kMaxOverrides = 4;
  while (accept(',')) {
    Operand next;
    bool isVector = isPunct('{');
    if (!(isVector ? parseVector(next) : parseScalar(next)))
      return false;
    if (isVector && isPunct(']'))
      operand.elements = std::move(next.elements);
    else if (operand.overrides.size() == kMaxOverrides)
      return error("more than " + std::to_string(kMaxOverrides) +
                   " values that replace fields of a tensor map");
    else
      operand.overrides.push_back(std::move(next));
  }
  if (!operand.overrides.empty() && operand.elements.empty())
    return error("expected coordinates in braces at the end of the address");
  return expect(']', "to close the address");
}

} // namespace blockscale::emulator::ptx
