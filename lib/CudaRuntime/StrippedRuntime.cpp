//===- StrippedRuntime.cpp - a static runtime without its names -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linker copies the code of an object as it is, but for the addresses that it
// fills in. So the code of the library is looked for in the program, without
// those; where it lies, the library's symbols give each function its name back.
//
//===----------------------------------------------------------------------===//

#include "StrippedRuntime.h"

#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// A section of code, and which of its bytes stay as they are.
struct Code {
  uint64_t section = 0;
  std::string_view bytes;
  std::vector<bool> isFixed;
};

/// The largest section of code, which holds the runtime's functions.
Code codeOf(const ElfFile &object) {
  Code code;
  Elf64_Shdr entry;
  for (uint64_t i = 0; object.section(i, entry); ++i)
    if (entry.sh_type == SHT_PROGBITS && entry.sh_flags & SHF_EXECINSTR &&
        entry.sh_size > code.bytes.size()) {
      code.section = i;
      code.bytes = object.bytes(entry.sh_offset, entry.sh_size);
    }
  code.isFixed.assign(code.bytes.size(), true);
  return code;
}

/// Marks what a linker may write: the address itself, and of some kinds the
/// instruction around it, which it may replace by a shorter way.
void markRelocations(const ElfFile &object, Code &code) {
  Elf64_Shdr entry;
  for (uint64_t i = 0; object.section(i, entry); ++i) {
    if (entry.sh_type != SHT_RELA || entry.sh_info != code.section)
      continue;
    Elf64_Rela relocation;
    for (uint64_t at = 0; at + sizeof relocation <= entry.sh_size &&
                          object.copy(entry.sh_offset + at, relocation);
         at += sizeof relocation) {
      uint64_t before = 0, after = 4;
      switch (ELF64_R_TYPE(relocation.r_info)) {
      case R_X86_64_64:
        after = 8;
        break;
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        before = 3;
        break;
      case R_X86_64_TLSGD:
      case R_X86_64_TLSLD:
        before = 4;
        after = 12;
        break;
      default:
        break;
      }
      uint64_t place = relocation.r_offset;
      for (uint64_t k = place < before ? 0 : place - before;
           k < place + after && k < code.isFixed.size(); ++k)
        code.isFixed[k] = false;
    }
  }
}

/// The longest run of fixed bytes, as begin and end.
std::pair<size_t, size_t> longestRun(const std::vector<bool> &isFixed) {
  size_t best = 0, bestEnd = 0;
  for (size_t i = 0, begin = 0; i <= isFixed.size(); ++i)
    if (i == isFixed.size() || !isFixed[i]) {
      if (i - begin > bestEnd - best) {
        best = begin;
        bestEnd = i;
      }
      begin = i + 1;
    }
  return {best, bestEnd};
}

/// Where in `memory` the code begins.
std::optional<size_t> find(const Code &code, std::string_view memory) {
  auto [begin, end] = longestRun(code.isFixed);
  if (begin == end)
    return std::nullopt;
  std::string_view run = code.bytes.substr(begin, end - begin);
  for (size_t at = memory.find(run); at != std::string_view::npos;
       at = memory.find(run, at + 1)) {
    if (at < begin || memory.size() - (at - begin) < code.bytes.size())
      continue;
    std::string_view here = memory.substr(at - begin, code.bytes.size());
    bool isSame = true;
    for (size_t i = 0; i != here.size() && isSame; ++i)
      isSame = !code.isFixed[i] || here[i] == code.bytes[i];
    if (isSame)
      return at - begin;
  }
  return std::nullopt;
}

} // namespace

std::vector<NamedFunction> cuda::findStrippedRuntime(const ElfFile &program,
                                                     const ElfFile &library) {
  std::vector<NamedFunction> functions;
  if (!program || !library ||
      program.header().e_machine != library.header().e_machine ||
      program.header().e_machine != EM_X86_64)
    return functions;
  Code code = codeOf(library);
  markRelocations(library, code);
  Elf64_Phdr segment;
  for (uint64_t i = 0; i != program.header().e_phnum; ++i) {
    if (!program.copy(program.header().e_phoff + i * sizeof segment, segment) ||
        segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
      continue;
    std::string_view memory = program.bytes(segment.p_offset, segment.p_filesz);
    std::optional<size_t> begin = find(code, memory);
    if (!begin)
      continue;
    library.forFunctions([&](std::string_view name, const Elf64_Sym &symbol) {
      if (symbol.st_shndx == code.section &&
          symbol.st_value < code.bytes.size())
        functions.push_back({std::string(name),
                             segment.p_vaddr + *begin + symbol.st_value,
                             symbol.st_size});
    });
    break;
  }
  return functions;
}
