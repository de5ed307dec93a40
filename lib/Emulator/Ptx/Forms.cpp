//===- Forms.cpp - which instructions the emulator knows ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <bitset>
#include <cassert>

namespace blockscale::emulator {
namespace ptx {
namespace {

constexpr size_t kModifierCount = 1
#define PTX_MODIFIER(Id, Spelling) +1
#include "blockscale/Emulator/PtxNames.def"
    ;
constexpr size_t kTypeCount = 1
#define PTX_TYPE(Id, Spelling, Bits) +1
#include "blockscale/Emulator/PtxNames.def"
    ;
constexpr size_t kOpcodeCount = 1
#define PTX_OPCODE(Id, Spelling) +1
#include "blockscale/Emulator/PtxNames.def"
    ;

struct FormRow {
  Opcode opcode;
  std::string_view modifiers, types, operands;
};

constexpr FormRow kRows[] = {
#define PTX_FORM(Id, Modifiers, Types, Operands)                               \
  {Opcode::Id, Modifiers, Types, Operands},
#include "FormRows.def"
};

struct TypeClass {
  std::string_view name, members;
};
constexpr TypeClass kTypeClasses[] = {
    {"$I", "s16 u16 s32 u32 s64 u64"},
    {"$B", "b16 b32 b64"},
    {"$H", "f16 f16x2 bf16 bf16x2"},
    {"$M", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 "
           "bf16x2 f32 f64"},
    {"$C", "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64"},
    {"$A", "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1"},
};

using ModifierSet = std::bitset<kModifierCount>;
using TypeSet = std::bitset<kTypeCount>;

struct ModifierGroup {
  ModifierSet words;
  bool required;
};

struct Form {
  ModifierSet allowed;
  std::vector<ModifierGroup> groups;
  std::vector<TypeSet> types;
  std::string operands; ///< Without the question mark.
  size_t least;         ///< Operands before it.
};

/// Cuts the next word, a bracket counts as one.
std::string_view takeWord(std::string_view &text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  size_t end = 0;
  auto bracket = [](char c) {
    return c == '(' || c == ')' || c == '[' || c == ']';
  };
  if (!text.empty() && bracket(text.front()))
    end = 1;
  else
    while (end < text.size() && text[end] != ' ' && !bracket(text[end]))
      ++end;
  std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

void readModifiers(std::string_view text, Form &form) {
  bool grouped = false;
  for (std::string_view word = takeWord(text); !word.empty();
       word = takeWord(text)) {
    if (word == "(" || word == "[") {
      form.groups.push_back({{}, word == "("});
      grouped = true;
    } else if (word == ")" || word == "]") {
      grouped = false;
    } else {
      Modifier modifier = findModifier(word);
      assert(modifier != Modifier::Unknown && "misspelt row");
      form.allowed.set(static_cast<size_t>(modifier));
      if (grouped)
        form.groups.back().words.set(static_cast<size_t>(modifier));
    }
  }
}

TypeSet readTypes(std::string_view text) {
  TypeSet set;
  for (std::string_view word = takeWord(text); !word.empty();
       word = takeWord(text)) {
    if (word.front() == '$') {
      for (const TypeClass &group : kTypeClasses)
        if (group.name == word)
          set |= readTypes(group.members);
      continue;
    }
    Type type = findType(word);
    assert(type != Type::None && "misspelt row");
    set.set(static_cast<size_t>(type));
  }
  return set;
}

Form readForm(const FormRow &row) {
  Form form;
  readModifiers(row.modifiers, form);
  std::string_view types = row.types;
  while (!types.empty()) {
    size_t end = std::min(types.find(';'), types.size());
    form.types.push_back(readTypes(types.substr(0, end)));
    types.remove_prefix(std::min(end + 1, types.size()));
  }
  form.operands = std::string(row.operands);
  size_t optional = form.operands.find('?');
  form.least = std::min(optional, form.operands.size());
  if (optional != std::string::npos)
    form.operands.erase(optional, 1);
  return form;
}

struct FormTable {
  std::vector<Form> byOpcode[kOpcodeCount];
  Arity arity[kOpcodeCount];

  FormTable() {
    for (Arity &range : arity)
      range = {0, 0xFF};
    for (const FormRow &row : kRows) {
      auto at = static_cast<size_t>(row.opcode);
      Form form = readForm(row);
      auto least = static_cast<uint8_t>(form.least);
      auto most = static_cast<uint8_t>(form.operands.size());
      bool first = byOpcode[at].empty();
      arity[at].least = first ? least : std::min(arity[at].least, least);
      arity[at].most = first ? most : std::max(arity[at].most, most);
      byOpcode[at].push_back(std::move(form));
    }
  }
};

const FormTable &table() {
  static const FormTable forms;
  return forms;
}

/// Matches operands of one function against the letters of FormRows.def.
class OperandMatcher {
public:
  explicit OperandMatcher(const Function &function) : function(function) {}

  bool fits(const Operand &operand, char letter) const {
    bool reg = isValue(operand), sink = operand.kind == OperandKind::Sink;
    switch (letter) {
    case 'd':
      return reg;
    case 'D':
      return reg || sink;
    case 'p':
      return isPredicate(operand) || sink || isPair(operand, true);
    case 's':
      return reg || operand.isImmediate() || isSingle(operand);
    case 'x':
      return reg || isPart(operand);
    case 'y':
      return reg || isPart(operand) || operand.isImmediate();
    case 'o':
      return reg || operand.isImmediate() || isVector(operand) ||
             operand.kind == OperandKind::Symbol ||
             operand.kind == OperandKind::Function ||
             operand.kind == OperandKind::Special;
    case 'b':
      return isPredicate(operand) || operand.kind == OperandKind::Integer;
    case 'B':
      return fits(operand, 'b') ||
             operand.special == SpecialRegister::IsExplicitCluster;
    case 'v':
      return reg || sink || isVector(operand);
    case 'V':
      return reg || operand.isImmediate() || isVector(operand);
    case 'i':
      return operand.kind == OperandKind::Integer;
    case 'a':
      return operand.kind == OperandKind::Address;
    case 'm':
      return operand.kind == OperandKind::Address || reg;
    case 'e':
      return reg || isPair(operand, false);
    case 'l':
      return operand.kind == OperandKind::Label;
    case 't':
      return operand.kind == OperandKind::BranchTable;
    case 'c':
      return operand.kind == OperandKind::Arguments;
    default: // 'f'
      return reg || operand.kind == OperandKind::Function;
    }
  }

private:
  bool isPredicate(const Operand &operand) const {
    return operand.kind == OperandKind::Register &&
           function.registers[operand.reg].type == Type::Pred;
  }
  bool isValue(const Operand &operand) const {
    return operand.kind == OperandKind::Register &&
           operand.component == kWholeVector && !isPredicate(operand);
  }
  /// `%r1.b0`.
  bool isPart(const Operand &operand) const {
    return operand.kind == OperandKind::Register &&
           operand.component != kWholeVector && !isPredicate(operand);
  }
  /// Vectors hold registers, numbers and sinks; never predicates or addresses.
  bool isVector(const Operand &operand) const {
    if (operand.kind != OperandKind::Vector)
      return false;
    for (const Operand &element : operand.elements)
      if (!isValue(element) && !element.isImmediate() &&
          element.kind != OperandKind::Sink)
        return false;
    return true;
  }
  bool isSingle(const Operand &operand) const {
    return operand.elements.size() == 1 && isVector(operand);
  }
  /// `p|q` when `predicates`, else `r|p`; a sink may stand for either.
  bool isPair(const Operand &operand, bool predicates) const {
    if (operand.kind != OperandKind::Pair)
      return false;
    const Operand &first = operand.elements[0], &second = operand.elements[1];
    bool left = first.kind == OperandKind::Sink ||
                (predicates ? isPredicate(first) : isValue(first));
    return left && (second.kind == OperandKind::Sink || isPredicate(second));
  }

  const Function &function;
};

/// Values that replace fields of a tensor map: none, the address, sizes too, or
/// sizes and strides.
bool fitsOverrides(const Instruction &inst) {
  size_t expected = inst.has(Modifier::OverrideGlobalDimStride) ? 4
                    : inst.has(Modifier::OverrideGlobalDim)     ? 2
                    : inst.has(Modifier::OverrideGlobalAddress) ? 1
                                                                : 0;
  size_t found = 0;
  for (const Operand &operand : inst.operands)
    found += operand.overrides.size();
  return found == expected;
}

/// Special registers of 64 bits alone need a type of that size, predicates
/// theirs.
bool fitsSpecials(const Instruction &inst) {
  for (const Operand &operand : inst.operands) {
    if (operand.special == SpecialRegister::CurrentGraphExec &&
        bitWidth(inst.type()) != 64)
      return false;
    if (operand.special == SpecialRegister::IsExplicitCluster &&
        inst.type() != Type::Pred)
      return false;
  }
  return true;
}

/// How far an instruction matches a form; the largest is reported.
enum class Fit { Modifiers, Groups, Types, Operands, Full };

Fit fitOf(const Form &form, const Instruction &inst,
          const OperandMatcher &matcher) {
  ModifierSet present;
  for (Modifier modifier : inst.modifiers)
    present.set(static_cast<size_t>(modifier));
  if ((present & ~form.allowed).any())
    return Fit::Modifiers;
  for (const ModifierGroup &group : form.groups) {
    size_t count = (present & group.words).count();
    if (count > 1 || (group.required && count == 0))
      return Fit::Groups;
  }
  if (inst.types.size() != form.types.size())
    return Fit::Types;
  for (unsigned i = 0; i != inst.types.size(); ++i)
    if (!form.types[i].test(static_cast<size_t>(inst.types[i])))
      return Fit::Types;
  size_t count = inst.operands.size();
  if (count < form.least || count > form.operands.size())
    return Fit::Operands;
  for (size_t i = 0; i != count; ++i)
    if (!matcher.fits(inst.operands[i], form.operands[i]))
      return Fit::Operands;
  return fitsOverrides(inst) && fitsSpecials(inst) ? Fit::Full : Fit::Operands;
}

/// The first word of the mnemonic that no form of the opcode takes.
std::string strangeWord(const std::vector<Form> &forms, const Instruction &inst,
                        std::string_view mnemonic) {
  ModifierSet known;
  for (const Form &form : forms)
    known |= form.allowed;
  while (!mnemonic.empty()) {
    size_t end = std::min(mnemonic.find('.'), mnemonic.size());
    std::string_view word = mnemonic.substr(0, end);
    mnemonic.remove_prefix(std::min(end + 1, mnemonic.size()));
    Modifier modifier = findModifier(word);
    bool listed = inst.modifiers.has(modifier);
    if (listed && !known.test(static_cast<size_t>(modifier)) &&
        findType(word) == Type::None &&
        spelling(inst.opcode).find(word) == std::string_view::npos)
      return std::string(word);
  }
  return {};
}

std::string refusal(const std::vector<Form> &forms, const Instruction &inst,
                    Fit best, std::string_view mnemonic) {
  std::string quoted = "'" + std::string(mnemonic) + "'";
  if (inst.opcode == Opcode::Unknown || forms.empty())
    return "instruction " + quoted + " is not supported";
  switch (best) {
  case Fit::Modifiers: {
    std::string word = strangeWord(forms, inst, mnemonic);
    if (!word.empty())
      return "modifier '." + word + "' of " + quoted + " is not supported";
    [[fallthrough]];
  }
  case Fit::Groups:
    return "combination of modifiers of " + quoted + " is not supported";
  case Fit::Types:
    return "types of " + quoted + " are not supported";
  default:
    return "operands of " + quoted + " are not of a supported form";
  }
}

} // namespace

Arity arityOf(Opcode opcode) {
  return table().arity[static_cast<size_t>(opcode)];
}

} // namespace ptx

std::vector<Diagnostic> checkSupported(const Module &module,
                                       const Function &function) {
  std::vector<Diagnostic> refusals;
  ptx::OperandMatcher matcher(function);
  for (const Instruction &inst : function.instructions) {
    const std::vector<ptx::Form> &forms =
        ptx::table().byOpcode[static_cast<size_t>(inst.opcode)];
    ptx::Fit best = ptx::Fit::Modifiers;
    for (const ptx::Form &form : forms) {
      best = std::max(best, ptx::fitOf(form, inst, matcher));
      if (best == ptx::Fit::Full)
        break;
    }
    if (best != ptx::Fit::Full)
      refusals.push_back(
          {inst.position,
           ptx::refusal(forms, inst, best, function.mnemonic(inst)) + ": " +
               print(module, function, inst)});
  }
  return refusals;
}

} // namespace blockscale::emulator
