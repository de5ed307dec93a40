//===- ProgramFacts.cpp - what a program was linked with ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramFacts.h"
#include "Verb.h"

#include <cstring>
#include <elf.h>
#include <string_view>

using namespace blockscale::driver;

namespace {
/// The bytes of a file; nothing in them is trusted.
class ElfReader {
public:
  explicit ElfReader(const std::string &bytes) : bytes(bytes) {}

  std::optional<ProgramFacts> read() {
    if (!copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
      return std::nullopt;
    readDynamic();
    return facts;
  }

private:
  /// False if the file ends before.
  template <typename T> bool copy(uint64_t offset, T &value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return false;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }

  /// The text up to a zero byte.
  std::string_view textAt(uint64_t offset) const {
    if (offset >= bytes.size())
      return {};
    std::string_view text = std::string_view(bytes).substr(offset);
    return text.substr(0, text.find('\0'));
  }

  bool segment(uint64_t index, Elf64_Phdr &entry) const {
    return index < header.e_phnum &&
           copy(header.e_phoff + index * sizeof(entry), entry);
  }

  /// Where in the file the byte at a virtual address comes from.
  std::optional<uint64_t> fileOffset(uint64_t address) const {
    Elf64_Phdr entry;
    for (uint64_t i = 0; segment(i, entry); ++i)
      if (entry.p_type == PT_LOAD && address >= entry.p_vaddr &&
          address - entry.p_vaddr < entry.p_filesz)
        return entry.p_offset + (address - entry.p_vaddr);
    return std::nullopt;
  }

  void readDynamic() {
    Elf64_Phdr entry;
    for (uint64_t i = 0; segment(i, entry); ++i)
      if (entry.p_type == PT_DYNAMIC)
        readLibraries(entry.p_offset, entry.p_filesz / sizeof(Elf64_Dyn));
  }

  void readLibraries(uint64_t offset, uint64_t count) {
    std::optional<uint64_t> names;
    std::vector<uint64_t> needed;
    Elf64_Dyn entry;
    for (uint64_t i = 0; i < count; ++i) {
      if (!copy(offset + i * sizeof(entry), entry) || entry.d_tag == DT_NULL)
        break;
      if (entry.d_tag == DT_STRTAB)
        names = fileOffset(entry.d_un.d_ptr);
      if (entry.d_tag == DT_NEEDED)
        needed.push_back(entry.d_un.d_val);
    }
    for (uint64_t name : needed)
      if (names)
        facts.libraries.emplace_back(textAt(*names + name));
  }

  const std::string &bytes;
  Elf64_Ehdr header;
  ProgramFacts facts;
};
} // namespace

std::optional<ProgramFacts>
blockscale::driver::readProgramFacts(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return std::nullopt;
  return ElfReader(*bytes).read();
}
