//===- ElfFile.h - the functions of a program's file ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDARUNTIME_ELFFILE_H
#define BLOCKSCALE_LIB_CUDARUNTIME_ELFFILE_H

#include <cstring>
#include <elf.h>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::cuda {

/// A 64-bit ELF file in memory: a program, a library, or the first object of an
/// archive. Nothing in it is trusted.
class ElfFile {
public:
  /// Empty if it cannot be read or is none.
  explicit ElfFile(const char *path);
  ~ElfFile();
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;

  explicit operator bool() const { return good; }
  const Elf64_Ehdr &header() const { return head; }

  /// False if the file ends before.
  template <typename T> bool copy(uint64_t offset, T &value) const {
    if (offset > size || size - offset < sizeof(T))
      return false;
    std::memcpy(&value, data + offset, sizeof(T));
    return true;
  }
  /// The text at an offset, up to a zero byte.
  std::string_view textAt(uint64_t offset) const;
  /// `count` bytes at an offset; empty if they are not all there.
  std::string_view bytes(uint64_t offset, uint64_t count) const;

  bool section(uint64_t index, Elf64_Shdr &entry) const {
    return good && index < head.e_shnum &&
           copy(head.e_shoff + index * sizeof entry, entry);
  }
  std::string_view sectionName(const Elf64_Shdr &entry) const;
  bool hasSection(std::string_view name) const;
  /// The shared libraries that it asks for.
  std::vector<std::string_view> libraries() const;

  /// Calls `visit` with name and symbol of each function that is defined and
  /// still named.
  void forFunctions(const std::function<void(std::string_view,
                                             const Elf64_Sym &)> &visit) const;

private:
  void skipToFirstObject();

  const uint8_t *mapped = nullptr;
  uint64_t mappedSize = 0;
  const uint8_t *data = nullptr;
  uint64_t size = 0;
  Elf64_Ehdr head{};
  bool good = false;
};

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDARUNTIME_ELFFILE_H
