//===- RealLibrary.cpp - the library that we stand in for -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RealLibrary.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <vector>

using namespace blockscale;
namespace fs = std::filesystem;

namespace {

/// Where pip has installed the Python bindings that the program has loaded.
fs::path sitePackages() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        std::string name = info->dlpi_name ? info->dlpi_name : "";
        size_t at = name.find("/cuda/bindings/");
        if (at != std::string::npos)
          *static_cast<std::string *>(result) = name.substr(0, at);
        return at != std::string::npos ? 1 : 0;
      },
      &found);
  return found;
}

std::vector<fs::path> candidates(const char *library, const char *variable) {
  std::vector<fs::path> files;
  if (const char *chosen = std::getenv(variable); chosen && *chosen)
    files.emplace_back(chosen);
  if (fs::path site = sitePackages(); !site.empty())
    for (const char *folder : {"cu13", "cuda_nvrtc", "nvjitlink"})
      files.push_back(site / "nvidia" / folder / "lib" / library);
  std::vector<fs::path> roots;
  for (const char *root : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *where = std::getenv(root))
      roots.emplace_back(where);
  roots.emplace_back("/usr/local/cuda");
  for (const fs::path &root : roots)
    for (const char *folder : {"lib64", "lib"})
      files.push_back(root / folder / library);
  files.push_back(fs::path("/usr/lib/x86_64-linux-gnu") / library);
  return files;
}

void *loadReal(const char *library, const char *variable) {
  // By its whole path: the bare name is ours. What it calls of itself is its
  // own, and not ours, which comes first otherwise.
  std::error_code error;
  for (const fs::path &file : candidates(library, variable))
    if (fs::exists(file, error))
      if (void *handle =
              dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND))
        return handle;
  std::fprintf(
      stderr,
      "blockscale: there is no %s of CUDA 13: install it, or set %s to "
      "the file\n",
      library, variable);
  return nullptr;
}

} // namespace

void *cuda::realFunction(const char *library, const char *variable,
                         const char *function) {
  static void *handle = loadReal(library, variable);
  return handle ? dlsym(handle, function) : nullptr;
}
