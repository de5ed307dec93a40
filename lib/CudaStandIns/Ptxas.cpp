//===- Ptxas.cpp - the real ptxas, whose cubins keep their PTX ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compiles to machine code by itself, as Triton does, calls this program
// in the place of ptxas. The real one assembles first, so that what it refuses
// is refused here; then the PTX is added to the cubin for the emulator. On a
// device the cubin is what it was.
//
//===----------------------------------------------------------------------===//

#include "Images.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

using namespace blockscale;
namespace fs = std::filesystem;

namespace {

constexpr int kFailure = 1;
constexpr int kNotFound = 127;

int complain(const std::string &message, int status) {
  std::fprintf(stderr, "blockscale: ptxas: %s\n", message.c_str());
  return status;
}

bool isProgram(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool isSelf(const fs::path &path) {
  std::error_code error;
  return fs::equivalent(path, "/proc/self/exe", error);
}

/// The folder of the Triton that has called us, with its own ptxas; empty if
/// that was something else.
fs::path foldersOfTriton() {
  std::ifstream maps("/proc/" + std::to_string(getppid()) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    size_t name = line.find("/libtriton.");
    size_t start = line.find('/');
    // .../triton/_C/libtriton.so
    if (name != std::string::npos && start < name)
      return fs::path(line.substr(start, name - start)).parent_path() /
             "backends" / "nvidia" / "bin";
  }
  return {};
}

/// The real one: as it was asked for, Triton's own, the first on PATH, CUDA's.
fs::path findReal(const fs::path &name) {
  if (const char *chosen = std::getenv("BLOCKSCALE_PTXAS"); chosen && *chosen)
    return chosen;
  std::vector<fs::path> folders{foldersOfTriton()};
  if (const char *list = std::getenv("PATH"))
    for (const char *end = list; *list; list = end + (*end == ':')) {
      end = std::find(list, list + std::strlen(list), ':');
      folders.emplace_back(std::string(list, end));
    }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      folders.push_back(fs::path(root) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path &folder : folders)
    for (const fs::path &one : {name, fs::path("ptxas")})
      if (!folder.empty() && isProgram(folder / one) && !isSelf(folder / one))
        return folder / one;
  return {};
}

/// Runs the real one with our arguments; its exit status.
int runReal(const fs::path &real, char **arguments) {
  pid_t child = fork();
  if (child < 0)
    return complain(std::strerror(errno), kFailure);
  if (child == 0) {
    execv(real.c_str(), arguments);
    _exit(
        complain("cannot run '" + real.string() + "': " + std::strerror(errno),
                 kNotFound));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string readAll(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

/// The files that a command line names.
struct Files {
  std::vector<fs::path> inputs;
  fs::path output;
};

Files filesOf(int count, char **arguments) {
  Files files;
  for (int i = 1; i < count; ++i) {
    std::string_view one = arguments[i];
    constexpr std::string_view kLong = "--output-file";
    if ((one == "-o" || one == kLong) && i + 1 < count)
      files.output = arguments[++i];
    else if (one.substr(0, kLong.size() + 1) == "--output-file=")
      files.output = one.substr(kLong.size() + 1);
    else if (one.substr(0, 3) == "-o=")
      files.output = one.substr(3);
    else if (fs::path(one).extension() == ".ptx")
      files.inputs.emplace_back(one);
  }
  return files;
}

} // namespace

int main(int count, char **arguments) {
  fs::path real = findReal(fs::path(arguments[0]).filename());
  if (real.empty())
    return complain("there is no real ptxas: install CUDA's or set "
                    "BLOCKSCALE_PTXAS to it",
                    kNotFound);
  int status = runReal(real, arguments);
  Files files = filesOf(count, arguments);
  if (status != 0 || files.inputs.size() != 1 || files.output.empty())
    return status;
  std::string cubin = readAll(files.output);
  std::optional<std::string> both =
      cuda::addPtx(cubin, readAll(files.inputs.front()));
  if (!both)
    return complain("'" + files.output.string() +
                        "' is no cubin that PTX can be added to",
                    kFailure);
  std::ofstream file(files.output, std::ios::binary | std::ios::trunc);
  file << *both;
  file.close();
  return file ? status
              : complain("cannot write '" + files.output.string() + "'",
                         kFailure);
}
