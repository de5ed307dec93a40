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
// symbols name are replaced by a jump to ours. Where the program was stripped,
// the library that it was linked with names them.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "StrippedRuntime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;
namespace fs = std::filesystem;

namespace {

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

bool hasRoom(const NamedFunction &function) {
  return function.address % kAlignment == 0 || function.bytes >= kJumpBytes;
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

bool hasRoom(const NamedFunction &) { return true; }

bool redirect(uint64_t, const void *) { return false; }

#endif

/// Whether the name is one of the runtime's: cudaMalloc, __cudaLaunchKernel.
bool isOfRuntime(std::string_view name) {
  name.remove_prefix(name.substr(0, 2) == "__" ? 2 : 0);
  return name.substr(0, 4) == "cuda";
}

//===----------------------------------------------------------------------===//
// Programs without symbols
//===----------------------------------------------------------------------===//

constexpr const char *kChoice = "BLOCKSCALE_CUDART_STATIC";
constexpr const char *kLibrary = "libcudart_static.a";

/// The libraries that a program of this machine may have been linked with.
std::vector<std::string> librariesToTry() {
  if (const char *chosen = std::getenv(kChoice); chosen && *chosen)
    return {chosen};
  std::error_code error;
  std::vector<fs::path> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      roots.emplace_back(root);
  const char *path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", error);
    if (!error)
      roots.push_back(nvcc.parent_path().parent_path());
  }
  for (const fs::directory_entry &entry :
       fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().compare(0, 4, "cuda") == 0)
      roots.push_back(entry.path());
  std::vector<std::string> files;
  for (const fs::path &root : roots)
    for (const char *folder : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      fs::path file = fs::canonical(root / folder / kLibrary, error);
      if (!error && std::find(files.begin(), files.end(), file) == files.end())
        files.push_back(file);
    }
  return files;
}

/// Whether the program's device code waits for a runtime that it neither loads
/// nor names.
bool isStripped(const ElfFile &program) {
  if (!program.hasSection(".nv_fatbin"))
    return false;
  for (std::string_view library : program.libraries())
    if (library.compare(0, 13, "libcudart.so.") == 0)
      return false;
  return true;
}

bool loadsDriver(const ElfFile &program) {
  for (std::string_view library : program.libraries())
    if (library.compare(0, 10, "libcuda.so") == 0)
      return true;
  return false;
}

/// The runtime's functions in a program without symbols; does not return if
/// there is no way to find them.
std::vector<NamedFunction> findWithoutSymbols(const ElfFile &program) {
  std::string tried;
  for (const std::string &library : librariesToTry()) {
    std::vector<NamedFunction> functions =
        findStrippedRuntime(program, ElfFile(library.c_str()));
    if (!functions.empty())
      return functions;
    tried += (tried.empty() ? "" : ", ") + library;
  }
  // It may have no runtime at all.
  if (loadsDriver(program))
    return {};
  std::error_code error;
  say("error: '" + fs::read_symlink("/proc/self/exe", error).string() +
      "' holds device code, but neither loads the CUDA runtime or driver nor "
      "shows the symbols of a static runtime, and " +
      (tried.empty() ? "there is no " + std::string(kLibrary) + " here"
                     : "it was not linked with " + tried) +
      ": set " + kChoice + " to the " + kLibrary +
      " of its CUDA, link it with 'nvcc -cudart shared', or do not strip it");
  _exit(1);
}

/// Before the constructors of the program, which register its kernels, and
/// after those of libraries.
__attribute__((constructor)) void replaceStaticRuntime() {
  ElfFile program("/proc/self/exe");
  std::vector<NamedFunction> functions;
  bool isThere = false;
  program.forFunctions([&](std::string_view name, const Elf64_Sym &symbol) {
    isThere |= name == "__cudaRegisterFatBinary";
    functions.push_back({std::string(name), symbol.st_value, symbol.st_size});
  });
  if (!isThere) {
    if (!isStripped(program))
      return;
    functions = findWithoutSymbols(program);
  }
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(replaceStaticRuntime), &self))
    return;
  void *runtime = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  uint64_t base = loadAddress();
  for (const NamedFunction &function : functions) {
    if (!isOfRuntime(function.name) || !hasRoom(function))
      continue;
    const void *ours = dlsym(runtime, function.name.c_str());
    if (ours && !redirect(base + function.address, ours))
      sayOnce("the program's statically linked CUDA runtime cannot be replaced "
              "on this machine: link it with 'nvcc -cudart shared'");
  }
  if (runtime)
    dlclose(runtime);
}

} // namespace
