//===- ElfFile.cpp - the functions of a program's file --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElfFile.h"

#include <algorithm>
#include <ar.h>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

ElfFile::ElfFile(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0)
    return;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    void *memory =
        mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      data = mapped = static_cast<const uint8_t *>(memory);
      size = mappedSize = uint64_t(status.st_size);
    }
  }
  close(file);
  skipToFirstObject();
  good = copy(0, head) && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
         head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_ident[EI_DATA] == ELFDATA2LSB;
}

ElfFile::~ElfFile() {
  if (mapped)
    munmap(const_cast<uint8_t *>(mapped), mappedSize);
}

void ElfFile::skipToFirstObject() {
  if (bytes(0, SARMAG) != std::string_view(ARMAG, SARMAG))
    return;
  uint64_t at = SARMAG;
  ar_hdr member;
  while (copy(at, member)) {
    uint64_t length = std::strtoull(
        std::string(member.ar_size, sizeof member.ar_size).c_str(), nullptr,
        10);
    at += sizeof member;
    if (length > size - at)
      break;
    // Tables of names and symbols have names that begin so.
    if (bytes(at, SELFMAG) == std::string_view(ELFMAG, SELFMAG)) {
      data += at;
      size = length;
      return;
    }
    at += length + length % 2;
  }
  size = 0;
}

std::string_view ElfFile::textAt(uint64_t offset) const {
  if (offset >= size)
    return {};
  std::string_view text(reinterpret_cast<const char *>(data) + offset,
                        size - offset);
  return text.substr(0, text.find('\0'));
}

std::string_view ElfFile::bytes(uint64_t offset, uint64_t count) const {
  if (offset > size || size - offset < count)
    return {};
  return {reinterpret_cast<const char *>(data) + offset, count};
}

std::string_view ElfFile::sectionName(const Elf64_Shdr &entry) const {
  Elf64_Shdr names;
  return section(head.e_shstrndx, names)
             ? textAt(names.sh_offset + entry.sh_name)
             : std::string_view();
}

bool ElfFile::hasSection(std::string_view name) const {
  Elf64_Shdr entry;
  for (uint64_t i = 0; section(i, entry); ++i)
    if (sectionName(entry) == name)
      return true;
  return false;
}

std::vector<std::string_view> ElfFile::libraries() const {
  std::vector<std::string_view> result;
  Elf64_Shdr entry, names;
  for (uint64_t i = 0; section(i, entry); ++i) {
    if (entry.sh_type != SHT_DYNAMIC || !section(entry.sh_link, names))
      continue;
    Elf64_Dyn tag;
    for (uint64_t at = 0;
         at + sizeof tag <= entry.sh_size && copy(entry.sh_offset + at, tag) &&
         tag.d_tag != DT_NULL;
         at += sizeof tag)
      if (tag.d_tag == DT_NEEDED)
        result.push_back(textAt(names.sh_offset + tag.d_un.d_val));
  }
  return result;
}

void ElfFile::forFunctions(
    const std::function<void(std::string_view, const Elf64_Sym &)> &visit)
    const {
  Elf64_Shdr table, names;
  for (uint64_t i = 0; section(i, table); ++i) {
    if (table.sh_type != SHT_SYMTAB || !section(table.sh_link, names))
      continue;
    Elf64_Sym symbol;
    for (uint64_t at = 0; at + sizeof symbol <= table.sh_size &&
                          copy(table.sh_offset + at, symbol);
         at += sizeof symbol)
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
          symbol.st_shndx != SHN_UNDEF)
        visit(textAt(names.sh_offset + symbol.st_name), symbol);
  }
}
