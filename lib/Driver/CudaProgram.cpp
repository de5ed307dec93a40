//===- CudaProgram.cpp - run a CUDA program on the emulator ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaProgram.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace blockscale::driver;
using llvm::StringRef;

static constexpr StringRef kRuntime = "libcudart.so.13";

/// The runtime beside this program; empty if it was not built.
static std::string findRuntime() {
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable("blockscale", &anchor);
  StringRef bin = llvm::sys::path::parent_path(self);
  for (StringRef lib : {"lib", BLOCKSCALE_INSTALL_LIBDIR}) {
    llvm::SmallString<256> path(llvm::sys::path::parent_path(bin));
    llvm::sys::path::append(path, lib, "blockscale", kRuntime);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

//===----------------------------------------------------------------------===//
// What the program was linked with
//===----------------------------------------------------------------------===//

namespace {
struct ProgramFacts {
  bool hasDeviceCode = false;
  /// The shared CUDA runtime that it loads; empty if none.
  std::string runtime;
  /// Whether it loads the driver's library too.
  bool needsDriver = false;
};
} // namespace

/// Reads an ELF file; nothing for a script, or for what cannot be read: the
/// system will say what is wrong with that.
static std::optional<ProgramFacts> readFacts(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return std::nullopt;
  auto file = llvm::object::ObjectFile::createObjectFile(**buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  const auto *elf =
      llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(file->get());
  if (!elf)
    return std::nullopt;
  ProgramFacts facts;
  for (const llvm::object::SectionRef &section : elf->sections()) {
    llvm::Expected<StringRef> name = section.getName();
    if (!name)
      llvm::consumeError(name.takeError());
    else if (*name == ".nv_fatbin")
      facts.hasDeviceCode = true;
  }
  auto entries = elf->getELFFile().dynamicEntries();
  if (!entries) {
    llvm::consumeError(entries.takeError());
    return facts;
  }
  StringRef strings;
  for (const auto &entry : *entries)
    if (entry.getTag() == llvm::ELF::DT_STRTAB) {
      auto at = elf->getELFFile().toMappedAddr(entry.getPtr());
      if (at)
        strings = (*buffer)->getBuffer().substr(
            reinterpret_cast<const char *>(*at) - (*buffer)->getBufferStart());
      else
        llvm::consumeError(at.takeError());
    }
  for (const auto &entry : *entries)
    if (entry.getTag() == llvm::ELF::DT_NEEDED) {
      StringRef name = strings.substr(entry.getVal());
      name = name.take_until([](char c) { return c == '\0'; });
      if (name.starts_with("libcudart.so"))
        facts.runtime = name.str();
      facts.needsDriver |= name.starts_with("libcuda.so");
    }
  return facts;
}

/// Why the program would not meet the emulator's runtime; empty if it may.
static std::string whyNotProgram(StringRef path) {
  std::optional<ProgramFacts> facts = readFacts(path);
  if (!facts)
    return "";
  if (facts->runtime.empty() && facts->hasDeviceCode)
    return "'" + path.str() +
           "' holds device code, but does not load the shared CUDA runtime: "
           "link it with 'nvcc -cudart shared'";
  if (!facts->runtime.empty() && facts->runtime != kRuntime)
    return "'" + path.str() + "' loads " + facts->runtime +
           ", the emulator stands for " + kRuntime.str();
  if (facts->needsDriver)
    return "'" + path.str() +
           "' loads the driver, libcuda.so.1, which the emulator does not "
           "stand for: link it without -lcuda, and ask the runtime for "
           "functions of the driver, with cudaGetDriverEntryPointByVersion";
  return "";
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// The exit status of the program; a signal that ended it is named.
static int waitFor(pid_t child, StringRef path) {
  // A signal of the terminal goes to the program as well; its end is ours.
  struct sigaction ignore{}, interrupt, quit;
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &interrupt, nullptr);
  sigaction(SIGQUIT, &quit, nullptr);
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  return reportError("'" + path + "' was ended by signal " +
                         llvm::Twine(signal) + ": " + strsignal(signal),
                     128 + signal);
}

int blockscale::driver::runCudaProgram(const CudaProgram &program) {
  std::string path = program.command.front();
  if (StringRef(path).starts_with("-"))
    return reportError("expected a program behind --cuda, found '" + path +
                           "'; options of 'emulate' come before --cuda",
                       kNotUnderstood);
  if (!StringRef(path).contains('/')) {
    auto found = llvm::sys::findProgramByName(path);
    if (!found)
      return reportError("no program '" + path + "' on PATH", kFailure);
    path = *found;
  }
  std::string runtime = findRuntime();
  if (runtime.empty())
    return reportError("this build has no CUDA runtime: it needs the headers "
                       "of CUDA 13, zstd and LZ4",
                       kFailure);
  if (std::string reason = whyNotProgram(path); !reason.empty())
    return reportError(reason, kFailure);

  int ends[2];
  if (pipe2(ends, O_NONBLOCK) != 0)
    return reportError(std::strerror(errno), kFailure);
  pid_t child = fork();
  if (child < 0)
    return reportError(std::strerror(errno), kFailure);
  if (child == 0) {
    close(ends[0]);
    for (const auto &[name, value] : program.settings)
      setenv(name.c_str(), value.c_str(), 1);
    setenv("BLOCKSCALE_FINDINGS_FD", std::to_string(ends[1]).c_str(), 1);
    std::string preload = runtime;
    if (const char *others = std::getenv("LD_PRELOAD"); others && *others)
      preload += std::string(":") + others;
    setenv("LD_PRELOAD", preload.c_str(), 1);
    std::vector<char *> arguments;
    for (const std::string &argument : program.command)
      arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(path.c_str(), arguments.data());
    reportError("cannot run '" + path + "': " + std::strerror(errno), 0);
    _exit(127);
  }
  close(ends[1]);
  int status = waitFor(child, path);
  char mark;
  bool found = read(ends[0], &mark, 1) == 1;
  close(ends[0]);
  return status == kSuccess && found ? kFailure : status;
}
