//===- StaticRuntime.cpp - programs with a CUDA runtime of their own ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc links the runtime statically unless it is told otherwise. That runtime
// finds the driver by dlopen, but wants tables of it that NVIDIA does not
// document. So we take its place instead: before the program's own code runs,
// the first instructions of each function of the runtime that the program's
// symbols name are replaced by a jump to ours.
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// The program's file in memory; nothing in it is trusted.
class Program {
public:
  Program() {
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0)
      return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      void *memory = mmap(nullptr, size_t(status.st_size), PROT_READ,
                          MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        data = static_cast<const uint8_t *>(memory);
        size = uint64_t(status.st_size);
      }
    }
    close(file);
  }
  ~Program() {
    if (data)
      munmap(const_cast<uint8_t *>(data), size);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  template <typename T> bool copy(uint64_t offset, T &value) const {
    if (offset > size || size - offset < sizeof(T))
      return false;
    std::memcpy(&value, data + offset, sizeof(T));
    return true;
  }

  std::string_view textAt(uint64_t offset) const {
    if (offset >= size)
      return {};
    std::string_view text(reinterpret_cast<const char *>(data) + offset,
                          size - offset);
    return text.substr(0, text.find('\0'));
  }

  /// Calls `visit` with name and symbol of each function that the program
  /// defines and still names.
  template <typename F> void forFunctions(F visit) const {
    Elf64_Ehdr header;
    Elf64_Shdr table, names;
    if (!copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
      return;
    for (uint64_t i = 0; i != header.e_shnum; ++i) {
      if (!copy(header.e_shoff + i * sizeof table, table) ||
          table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum ||
          !copy(header.e_shoff + table.sh_link * sizeof names, names))
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

private:
  const uint8_t *data = nullptr;
  uint64_t size = 0;
};

/// What is added to addresses in the program's file.
uint64_t loadAddress() {
  uint64_t address = 0;
  // The program comes first.
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        *static_cast<uint64_t *>(result) = info->dlpi_addr;
        return 1;
      },
      &address);
  return address;
}

#ifdef __x86_64__

/// jmp *[rip]; the address follows.
constexpr uint8_t kJump[6] = {0xFF, 0x25, 0, 0, 0, 0};
constexpr uint64_t kJumpBytes = sizeof kJump + sizeof(uint64_t);
/// Functions begin at multiples of this, so that a short one has room behind
/// it.
constexpr uint64_t kAlignment = 16;

bool hasRoom(const Elf64_Sym &symbol) {
  return symbol.st_value % kAlignment == 0 || symbol.st_size >= kJumpBytes;
}

bool redirect(uint64_t from, const void *to) {
  auto page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t start = from / page * page;
  uint64_t bytes = from + kJumpBytes - start;
  auto *memory = reinterpret_cast<void *>(start);
  if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  auto *code = reinterpret_cast<uint8_t *>(from);
  std::memcpy(code, kJump, sizeof kJump);
  std::memcpy(code + sizeof kJump, &to, sizeof to);
  return mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0;
}

#else

bool hasRoom(const Elf64_Sym &) { return true; }

bool redirect(uint64_t, const void *) { return false; }

#endif

/// Whether the name is one of the runtime's: cudaMalloc, __cudaLaunchKernel.
bool isOfRuntime(std::string_view name) {
  name.remove_prefix(name.substr(0, 2) == "__" ? 2 : 0);
  return name.substr(0, 4) == "cuda";
}

/// Before the constructors of the program, which register its kernels, and
/// after those of libraries.
__attribute__((constructor)) void replaceStaticRuntime() {
  Program program;
  bool isThere = false;
  program.forFunctions([&](std::string_view name, const Elf64_Sym &) {
    isThere |= name == "__cudaRegisterFatBinary";
  });
  Dl_info self;
  if (!isThere ||
      !dladdr(reinterpret_cast<void *>(replaceStaticRuntime), &self))
    return;
  void *runtime = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  uint64_t base = loadAddress();
  program.forFunctions([&](std::string_view name, const Elf64_Sym &symbol) {
    if (!isOfRuntime(name) || !hasRoom(symbol))
      return;
    const void *ours = dlsym(runtime, std::string(name).c_str());
    if (ours && !redirect(base + symbol.st_value, ours))
      sayOnce("the program's statically linked CUDA runtime cannot be replaced "
              "on this machine: link it with 'nvcc -cudart shared'");
  });
  if (runtime)
    dlclose(runtime);
}

} // namespace
