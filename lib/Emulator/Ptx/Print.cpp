//===- Print.cpp - instructions as text -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Ptx.h"
#include <cinttypes>
#include <cstdio>

namespace blockscale::emulator {
namespace {

class Printer {
public:
  Printer(const Module &module, const Function &function)
      : module(module), function(function) {}

  std::string run(const Instruction &inst) {
    if (inst.guard != kNone) {
      out += inst.guardNegated ? "@!" : "@";
      out += function.registerName(inst.guard) + " ";
    }
    out += function.mnemonic(inst);
    if (inst.opcode == Opcode::Call) {
      printCall(inst);
      return std::move(out);
    }
    const char *separator = " ";
    for (const Operand &operand : inst.operands) {
      out += separator;
      print(operand);
      separator = ", ";
    }
    return std::move(out);
  }

private:
  void printCall(const Instruction &inst) {
    out += " ";
    if (!inst.operands[0].elements.empty()) {
      print(inst.operands[0]);
      out += ", ";
    }
    print(inst.operands[1]);
    if (!inst.operands[2].elements.empty()) {
      out += ", ";
      print(inst.operands[2]);
    }
  }

  void printList(const Operand &operand, const char *open, const char *between,
                 const char *close) {
    out += open;
    for (size_t i = 0; i != operand.elements.size(); ++i) {
      if (i)
        out += between;
      print(operand.elements[i]);
    }
    out += close;
  }

  void printOffset(int64_t offset) {
    if (offset)
      out += "+" + std::to_string(offset);
  }

  void printSymbol(const SymbolRef &symbol) {
    switch (symbol.scope) {
    case SymbolScope::None:
      break;
    case SymbolScope::Module:
      out += module.variables[symbol.index].name;
      break;
    case SymbolScope::Function:
      out += function.variables[symbol.index].name;
      break;
    case SymbolScope::Parameter:
      out += function.parameters[symbol.index].name;
      break;
    case SymbolScope::Return:
      out += function.returns[symbol.index].name;
      break;
    }
  }

  void printBits(const char *format, uint64_t bits) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), format, bits);
    out += buffer;
  }

  void printAddress(const Operand &operand) {
    out += "[";
    if (operand.reg != kNone)
      out += function.registerName(operand.reg);
    else if (operand.symbol)
      printSymbol(operand.symbol);
    else
      out += std::to_string(operand.value);
    if (operand.reg != kNone || operand.symbol)
      printOffset(operand.value);
    for (const Operand &value : operand.overrides) {
      out += ", ";
      print(value);
    }
    if (!operand.elements.empty())
      printList(operand, ", {", ", ", "}");
    out += "]";
  }

  void print(const Operand &operand) {
    if (operand.negated)
      out += "!";
    switch (operand.kind) {
    case OperandKind::Register:
      out += function.registerName(operand.reg);
      if (operand.component != kWholeVector)
        out += operand.component < 4
                   ? ".b" + std::to_string(operand.component)
                   : ".h" + std::to_string(operand.component - 4);
      break;
    case OperandKind::Integer:
      out += std::to_string(operand.value);
      break;
    case OperandKind::Float32:
      printBits("0f%08" PRIX64, operand.bits());
      break;
    case OperandKind::Float64:
      printBits("0d%016" PRIX64, operand.bits());
      break;
    case OperandKind::Symbol:
      printSymbol(operand.symbol);
      printOffset(operand.value);
      break;
    case OperandKind::Function:
      out += module.functions[operand.index].name;
      break;
    case OperandKind::Special:
      out += spelling(operand.special);
      if (operand.special == SpecialRegister::Envreg)
        out += std::to_string(operand.component);
      else if (operand.component != kWholeVector)
        out += std::string(".") + "xyzw"[operand.component & 3];
      break;
    case OperandKind::Address:
      printAddress(operand);
      break;
    case OperandKind::Vector:
      printList(operand, "{", ", ", "}");
      break;
    case OperandKind::Pair:
      printList(operand, "", "|", "");
      break;
    case OperandKind::Sink:
      out += "_";
      break;
    case OperandKind::Label:
      out += "#" + std::to_string(operand.index);
      break;
    case OperandKind::BranchTable:
      out += "table " + std::to_string(operand.index);
      break;
    case OperandKind::Arguments:
      printList(operand, "(", ", ", ")");
      break;
    }
  }

  const Module &module;
  const Function &function;
  std::string out;
};

} // namespace

std::string print(const Module &module, const Function &function,
                  const Instruction &instruction) {
  return Printer(module, function).run(instruction);
}

} // namespace blockscale::emulator
