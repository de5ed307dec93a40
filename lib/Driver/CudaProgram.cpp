//===- CudaProgram.cpp - run a CUDA program on the emulator ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaProgram.h"
#include "ProgramFacts.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Formats/Text.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::driver;
namespace fs = std::filesystem;

static constexpr const char *kRuntime = "libcudart.so.13";

/// The runtime beside this program; empty if it was not built.
static std::string findRuntime() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return "";
  fs::path root = self.parent_path().parent_path();
  for (const char *lib : {"lib", BLOCKSCALE_INSTALL_LIBDIR}) {
    fs::path path = root / lib / "blockscale" / kRuntime;
    if (fs::exists(path, error))
      return path;
  }
  return "";
}

/// The program that a shell would run for `name`; empty if there is none.
static std::string findOnPath(const std::string &name) {
  const char *list = std::getenv("PATH");
  for (std::string_view directory : splitAll(list ? list : "", ':')) {
    fs::path path = fs::path(directory.empty() ? "." : directory) / name;
    std::error_code error;
    if (fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Why the program would not meet the emulator's runtime; empty if it may. A
/// script may, and of what cannot be read the system will say what is wrong.
static std::optional<Reason> whyNotProgram(const std::string &path) {
  std::optional<ProgramFacts> facts = readProgramFacts(path);
  if (!facts)
    return std::nullopt;
  for (const std::string &library : facts->libraries)
    if (startsWith(library, "libcudart.so") && library != kRuntime)
      return "'" + path + "' loads " + library + ", the emulator stands for " +
             kRuntime;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// The exit status of the program; a signal that ended it is named.
static int waitFor(pid_t child, const std::string &path) {
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
                         std::to_string(signal) + ": " + strsignal(signal),
                     128 + signal);
}

/// Puts `first` in front of what a variable of the environment lists.
static void prepend(const char *variable, const std::string &first) {
  const char *others = std::getenv(variable);
  std::string list = first;
  if (others && *others)
    list += std::string(":") + others;
  setenv(variable, list.c_str(), 1);
}

/// Lets the program, and what it starts, meet our libraries in the place of
/// CUDA's, and Triton our stand-in for ptxas.
static void prepareEnvironment(const fs::path &runtime) {
  fs::path folder = runtime.parent_path();
  // The compilers too: a program that looks for them finds them loaded.
  for (const char *compiler : {"libnvJitLink.so.13", "libnvrtc.so.13"})
    if (std::error_code error; fs::exists(folder / compiler, error))
      prepend("LD_PRELOAD", folder / compiler);
  prepend("LD_PRELOAD", runtime);
  // For programs that look for libcuda.so.1 as a file.
  prepend("LD_LIBRARY_PATH", folder);
  for (const char *variable :
       {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) {
    // The program's own choice is the one that the stand-in calls.
    if (const char *chosen = std::getenv(variable); chosen && *chosen)
      setenv("BLOCKSCALE_PTXAS", chosen, 1);
    bool isBlackwell = std::string_view(variable) != "TRITON_PTXAS_PATH";
    fs::path name = isBlackwell ? "ptxas-blackwell" : "ptxas";
    setenv(variable, (folder / "bin" / name).c_str(), 1);
  }
  // Cubins that were made for a device carry no PTX.
  const char *cache = std::getenv("TRITON_CACHE_DIR");
  const char *home = std::getenv("TRITON_HOME");
  if (!home)
    home = std::getenv("HOME");
  fs::path where = cache  ? fs::path(cache)
                   : home ? fs::path(home) / ".triton" / "cache"
                          : fs::path();
  if (!where.empty())
    setenv("TRITON_CACHE_DIR", (where / "blockscale").c_str(), 1);
}

namespace {
/// An empty file for the records of launches, which goes with this value.
class RecordFile {
public:
  RecordFile() {
    std::error_code error;
    fs::path folder = fs::temp_directory_path(error);
    name = (error ? fs::path("/tmp") : folder) / "blockscale-launches-XXXXXX";
    int file = mkstemp(name.data());
    if (file < 0)
      name.clear();
    else
      close(file);
  }
  ~RecordFile() {
    if (!name.empty())
      unlink(name.c_str());
  }
  RecordFile(const RecordFile &) = delete;
  RecordFile &operator=(const RecordFile &) = delete;

  const std::string &path() const { return name; }

private:
  std::string name;
};
} // namespace

/// Becomes the program. Does not return.
[[noreturn]] static void start(const CudaProgram &program,
                               const std::string &path,
                               const std::string &runtime) {
  for (const auto &[name, value] : program.settings)
    setenv(name.c_str(), value.c_str(), 1);
  prepareEnvironment(runtime);
  std::vector<char *> arguments;
  for (const std::string &argument : program.command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  reportError("cannot run '" + path + "': " + std::strerror(errno), 0);
  _exit(kProgramNotStarted);
}

Result<ProgramEnd>
blockscale::driver::runCudaProgram(const CudaProgram &program) {
  std::string path = program.command.front();
  if (path.find('/') == std::string::npos) {
    path = findOnPath(path);
    if (path.empty())
      return Reason("no program '" + program.command.front() + "' on PATH");
  }
  std::string runtime = findRuntime();
  if (runtime.empty())
    return Reason("this build has no CUDA runtime: it needs the headers of "
                  "CUDA 13, zstd and LZ4");
  if (auto why = whyNotProgram(path))
    return *why;
  RecordFile records;
  if (records.path().empty())
    return Reason(std::string("cannot make a temporary file: ") +
                  std::strerror(errno));

  CudaProgram request = program;
  request.settings.emplace_back("BLOCKSCALE_RECORDS", records.path());
  request.settings.emplace_back("BLOCKSCALE_RECORD_ALL",
                                program.recordAll ? "1" : "0");
  pid_t child = fork();
  if (child < 0)
    return Reason(std::strerror(errno));
  if (child == 0)
    start(request, path, runtime);
  ProgramEnd end;
  end.status = waitFor(child, path);
  Result<std::string> text = readFile(records.path());
  if (!text)
    return text.why();
  Result<std::vector<LaunchRecord>> launches = parseRecords(*text);
  if (!launches)
    return launches.why();
  end.launches = *std::move(launches);
  return end;
}
