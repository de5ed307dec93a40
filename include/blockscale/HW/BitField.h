//===- BitField.h - named fields of hardware words --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A hardware word (instruction or matrix descriptor) is described by one
// constexpr list of fields. Packing, unpacking, printing and the table in the
// documentation are all derived from that list.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_BITFIELD_H
#define BLOCKSCALE_HW_BITFIELD_H

#include "blockscale/Formats/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace blockscale::hw {

/// One field of a hardware word: bits offset .. offset + width - 1.
struct Field {
  std::string_view name;
  unsigned offset, width;
  /// What the values mean, one phrase for the documentation.
  std::string_view meaning = {};
};

/// A view of a field list; the lists themselves are constexpr arrays.
struct FieldList {
  const Field *data;
  std::size_t size;
  /// Width of the whole word in bits, 32 or 64.
  unsigned wordBits;

  const Field *begin() const { return data; }
  const Field *end() const { return data + size; }
};

template <std::size_t N>
constexpr FieldList fieldList(const std::array<Field, N> &fields,
                              unsigned wordBits) {
  return {fields.data(), N, wordBits};
}

/// All-ones value of a field (not shifted).
constexpr std::uint64_t fieldMax(const Field &field) {
  return field.width >= 64 ? ~std::uint64_t(0)
                           : (std::uint64_t(1) << field.width) - 1;
}

/// The value of `field` in `word`.
constexpr std::uint64_t extract(const Field &field, std::uint64_t word) {
  return (word >> field.offset) & fieldMax(field);
}

/// The field called `name`, or null.
const Field *findField(FieldList fields, std::string_view name);

/// The value of the named field; 0 if the list has no such field.
std::uint64_t extract(FieldList fields, std::string_view name,
                      std::uint64_t word);

/// Bits of the word that no field of the list covers (reserved, must be 0).
std::uint64_t uncoveredBits(FieldList fields);

/// Sets fields by name and keeps the first reason why one does not fit.
class Packer {
public:
  explicit Packer(FieldList fields) : fields(fields) {}

  /// Sets `name`; a value too wide for the field, or an unknown name, turns
  /// the result into a refusal.
  Packer &set(std::string_view name, std::uint64_t value);

  Result<std::uint64_t> finish() const;

private:
  FieldList fields;
  std::uint64_t word = 0;
  std::optional<Reason> why;
};

/// `value` as "0x" and `digits` lower-case hexadecimal digits.
std::string hex(std::uint64_t value, unsigned digits);

/// The word in hexadecimal and every field by name:
/// "0x28900490: sparse=0 sfb_id=1 ...".
std::string printFields(FieldList fields, std::uint64_t word);

/// A markdown table (bits, field, meaning) of the list, in bit order.
std::string fieldTableMarkdown(FieldList fields);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_BITFIELD_H
