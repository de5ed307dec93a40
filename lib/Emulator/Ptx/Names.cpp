//===- Names.cpp - spellings of PTX names and small accessors -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Ptx.h"

namespace blockscale::emulator {
namespace {

constexpr std::string_view kOpcodes[] = {
    "unknown",
#define PTX_OPCODE(Id, Spelling) Spelling,
#include "blockscale/Emulator/PtxNames.def"
};

constexpr std::string_view kModifiers[] = {
    "unknown",
#define PTX_MODIFIER(Id, Spelling) Spelling,
#include "blockscale/Emulator/PtxNames.def"
};

constexpr std::string_view kTypes[] = {
    "none",
#define PTX_TYPE(Id, Spelling, Bits) Spelling,
#include "blockscale/Emulator/PtxNames.def"
};

constexpr uint16_t kTypeBits[] = {
    0,
#define PTX_TYPE(Id, Spelling, Bits) Bits,
#include "blockscale/Emulator/PtxNames.def"
};

constexpr std::string_view kSpecials[] = {
    "none",
#define PTX_SPECIAL(Id, Spelling) Spelling,
#include "blockscale/Emulator/PtxNames.def"
};

} // namespace

std::string_view spelling(Opcode opcode) {
  return kOpcodes[static_cast<size_t>(opcode)];
}
std::string_view spelling(Modifier modifier) {
  return kModifiers[static_cast<size_t>(modifier)];
}
std::string_view spelling(Type type) {
  return kTypes[static_cast<size_t>(type)];
}
std::string_view spelling(SpecialRegister special) {
  return kSpecials[static_cast<size_t>(special)];
}
unsigned bitWidth(Type type) { return kTypeBits[static_cast<size_t>(type)]; }

std::string Diagnostic::format() const {
  return std::to_string(position.line) + ":" + std::to_string(position.column) +
         ": " + message;
}

std::string_view Function::text(const Instruction &instruction) const {
  return std::string_view(*source).substr(instruction.textOffset,
                                          instruction.textLength);
}

std::string_view Function::mnemonic(const Instruction &instruction) const {
  return std::string_view(*source).substr(instruction.mnemonicOffset,
                                          instruction.mnemonicLength);
}

std::string Function::registerName(uint32_t index) const {
  if (index >= registers.size())
    return "_";
  const Register &reg = registers[index];
  std::string name(
      std::string_view(*source).substr(reg.nameOffset, reg.nameLength));
  if (reg.number != kNone)
    name += std::to_string(reg.number);
  if (reg.component != kWholeVector)
    name += std::string(".") + "xyzw"[reg.component & 3];
  return name;
}

const Function *Module::findFunction(std::string_view name) const {
  for (const Function &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

std::string DebugStrings::find(const std::string &label,
                               uint64_t offset) const {
  auto place = labels.find(label);
  if (place == labels.end() || offset >= bytes.size() - place->second)
    return "";
  // A string ends at a zero byte, or with the section.
  return std::string(bytes.substr(place->second + offset).c_str());
}

const Variable *Module::findVariable(std::string_view name) const {
  for (const Variable &variable : variables)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

} // namespace blockscale::emulator
