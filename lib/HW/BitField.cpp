//===- BitField.cpp - named fields of hardware words ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/BitField.h"

#include <algorithm>
#include <vector>

namespace blockscale::hw {

const Field *findField(FieldList fields, std::string_view name) {
  for (const Field &field : fields)
    if (field.name == name)
      return &field;
  return nullptr;
}

std::uint64_t extract(FieldList fields, std::string_view name,
                      std::uint64_t word) {
  const Field *field = findField(fields, name);
  return field ? extract(*field, word) : 0;
}

std::uint64_t uncoveredBits(FieldList fields) {
  std::uint64_t covered = 0;
  for (const Field &field : fields)
    covered |= fieldMax(field) << field.offset;
  std::uint64_t all = fields.wordBits >= 64
                          ? ~std::uint64_t(0)
                          : (std::uint64_t(1) << fields.wordBits) - 1;
  return all & ~covered;
}

Packer &Packer::set(std::string_view name, std::uint64_t value) {
  if (why)
    return *this;
  const Field *field = findField(fields, name);
  if (!field) {
    why = "the word has no field '" + std::string(name) + "'";
    return *this;
  }
  if (value > fieldMax(*field)) {
    why = "field '" + std::string(name) + "' has " +
          std::to_string(field->width) + " bits and cannot hold " +
          std::to_string(value);
    return *this;
  }
  word = (word & ~(fieldMax(*field) << field->offset)) | value << field->offset;
  return *this;
}

Result<std::uint64_t> Packer::finish() const {
  if (why)
    return *why;
  return word;
}

std::string hex(std::uint64_t value, unsigned digits) {
  std::string text(std::max(digits, 1u), '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4)
    text[i] = "0123456789abcdef"[value & 15];
  return "0x" + text;
}

std::string printFields(FieldList fields, std::uint64_t word) {
  std::string text = hex(word, fields.wordBits / 4) + ":";
  for (const Field &field : fields)
    text += " " + std::string(field.name) + "=" +
            std::to_string(extract(field, word));
  return text;
}

std::string fieldTableMarkdown(FieldList fields) {
  std::vector<Field> sorted(fields.begin(), fields.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Field &a, const Field &b) { return a.offset < b.offset; });
  std::string text = "| bits | field | meaning |\n|---|---|---|\n";
  for (const Field &field : sorted) {
    std::string bits = std::to_string(field.offset);
    if (field.width > 1)
      bits += "-" + std::to_string(field.offset + field.width - 1);
    text += "| " + bits + " | `" + std::string(field.name) + "` | " +
            std::string(field.meaning) + " |\n";
  }
  return text;
}

} // namespace blockscale::hw
