//===- Symbols.cpp - names and scopes of PTX ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Symbols.h"

namespace blockscale::emulator::ptx {

static uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash ^ hash >> 29;
}

SymbolTable::SymbolTable() : slots(4096, kNone) {}

void SymbolTable::grow() {
  std::vector<uint32_t> larger(slots.size() * 2, kNone);
  size_t mask = larger.size() - 1;
  for (uint32_t id = 0; id != names.size(); ++id) {
    size_t slot = names[id].hash & mask;
    while (larger[slot] != kNone)
      slot = (slot + 1) & mask;
    larger[slot] = id;
  }
  slots.swap(larger);
}

uint32_t SymbolTable::intern(std::string_view name) {
  uint64_t hash = hashOf(name);
  size_t mask = slots.size() - 1;
  size_t slot = hash & mask;
  for (; slots[slot] != kNone; slot = (slot + 1) & mask) {
    const Name &known = names[slots[slot]];
    if (known.hash == hash && known.text == name)
      return slots[slot];
  }
  uint32_t id = static_cast<uint32_t>(names.size());
  slots[slot] = id;
  Name entry;
  entry.text = name;
  entry.hash = hash;
  names.push_back(entry);
  if (names.size() * 2 > slots.size())
    grow();
  return id;
}

/// `%r12` -> `%r`, 12. A number with a leading zero names no range member.
void SymbolTable::splitNumber(uint32_t name) {
  names[name].split = true;
  std::string_view text = names[name].text;
  size_t digits = 0;
  while (digits < text.size() && text[text.size() - 1 - digits] >= '0' &&
         text[text.size() - 1 - digits] <= '9')
    ++digits;
  size_t stem = text.size() - digits;
  if (digits == 0 || digits > 8 || stem == 0 ||
      (digits > 1 && text[stem] == '0'))
    return;
  uint32_t number = 0;
  for (char c : text.substr(stem))
    number = number * 10 + (c - '0');
  uint32_t base = intern(text.substr(0, stem));
  names[name].base = base;
  names[name].number = number;
}

void SymbolTable::leave() {
  while (!bindings.empty() && bindings.back().depth == depth) {
    const Binding &binding = bindings.back();
    Name &name = names[binding.name];
    (binding.kind == BindingKind::RegisterRange ? name.rangeTop : name.top) =
        binding.previous;
    bindings.pop_back();
  }
  --depth;
}

bool SymbolTable::bind(uint32_t name, BindingKind kind, uint32_t index,
                       uint32_t count) {
  uint32_t &top = kind == BindingKind::RegisterRange ? names[name].rangeTop
                                                     : names[name].top;
  if (top != kNone && bindings[top].depth == depth)
    return false;
  bindings.push_back({kind, name, index, count, depth, top});
  top = static_cast<uint32_t>(bindings.size() - 1);
  return true;
}

std::optional<Binding> SymbolTable::lookup(uint32_t name) {
  if (!names[name].split)
    splitNumber(name);
  const Name &entry = names[name];
  std::optional<Binding> found;
  if (entry.top != kNone)
    found = bindings[entry.top];
  if (entry.base == kNone)
    return found;
  for (uint32_t at = names[entry.base].rangeTop; at != kNone;
       at = bindings[at].previous) {
    const Binding &range = bindings[at];
    if (entry.number >= range.count)
      continue;
    if (!found || range.depth > found->depth) {
      found = range;
      found->kind = BindingKind::Register;
      found->index = range.index + entry.number;
    }
    break;
  }
  return found;
}

} // namespace blockscale::emulator::ptx
