//===- Mnemonic.cpp - words of PTX to enumerators -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator::ptx {
namespace {

struct WordTables {
  std::unordered_map<std::string_view, Opcode> opcodes;
  std::unordered_map<std::string_view, Modifier> modifiers;
  std::unordered_map<std::string_view, Type> types;
  std::unordered_map<std::string_view, SpecialRegister> specials;

  WordTables() {
#define PTX_OPCODE(Id, Spelling) opcodes.emplace(Spelling, Opcode::Id);
#define PTX_MODIFIER(Id, Spelling) modifiers.emplace(Spelling, Modifier::Id);
#define PTX_TYPE(Id, Spelling, Bits) types.emplace(Spelling, Type::Id);
#define PTX_SPECIAL(Id, Spelling)                                              \
  specials.emplace(Spelling, SpecialRegister::Id);
#include "blockscale/Emulator/PtxNames.def"
  }
};

const WordTables &words() {
  static const WordTables tables;
  return tables;
}

template <typename Map>
typename Map::mapped_type find(const Map &map, std::string_view word) {
  auto at = map.find(word);
  return at == map.end() ? typename Map::mapped_type{} : at->second;
}

/// Cuts the longest known opcode off the front of `text`. ptxas also takes
/// `.cta` after `bar` and `barrier`; the opcode is the same.
Opcode takeOpcode(std::string_view &text) {
  for (size_t end = text.size();; end = text.rfind('.', end - 1)) {
    if (Opcode opcode = find(words().opcodes, text.substr(0, end));
        opcode != Opcode::Unknown) {
      text.remove_prefix(end);
      return opcode;
    }
    size_t dot = end ? text.rfind('.', end - 1) : std::string_view::npos;
    if (end == 0 || dot == std::string_view::npos)
      return Opcode::Unknown;
  }
}

} // namespace

Modifier findModifier(std::string_view spelling) {
  return find(words().modifiers, spelling);
}

Type findType(std::string_view spelling) {
  return find(words().types, spelling);
}

SpecialRegister findSpecial(std::string_view spelling) {
  constexpr std::string_view envreg = "%envreg";
  if (spelling.substr(0, envreg.size()) == envreg) {
    std::string_view number = spelling.substr(envreg.size());
    bool legal = number.size() == 1
                     ? number[0] >= '0' && number[0] <= '9'
                     : number.size() == 2 && number >= "10" && number <= "31" &&
                           number[1] >= '0' && number[1] <= '9';
    return legal ? SpecialRegister::Envreg : SpecialRegister::None;
  }
  return find(words().specials, spelling);
}

Mnemonic decodeMnemonic(std::string_view text) {
  Mnemonic result;
  std::string canonical;
  for (std::string_view barrier : {"bar.cta.", "barrier.cta."}) {
    if (text.substr(0, barrier.size()) != barrier)
      continue;
    canonical = std::string(text);
    canonical.erase(barrier.size() - 4, 4);
    text = canonical;
    break;
  }
  result.opcode = takeOpcode(text);
  if (result.opcode == Opcode::Unknown) {
    size_t dot = text.find('.');
    text.remove_prefix(dot == std::string_view::npos ? text.size() : dot);
  }
  while (!text.empty()) {
    text.remove_prefix(1);
    size_t end = std::min(text.find('.'), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    Type type = findType(word);
    bool fits = type != Type::None
                    ? result.types.push(type)
                    : result.modifiers.push(find(words().modifiers, word));
    result.tooLong |= !fits;
  }
  return result;
}

} // namespace blockscale::emulator::ptx
