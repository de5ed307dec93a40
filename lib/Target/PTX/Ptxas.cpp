//===- Ptxas.cpp - assemble PTX with CUDA's ptxas -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/Ptxas.h"
#include "blockscale/HW/PtxVersion.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <sys/wait.h>
#include <thread>

using namespace blockscale;
using llvm::StringRef;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Finding the program
//===----------------------------------------------------------------------===//

/// The folders in which ptxas may be besides those on PATH.
static llvm::SmallVector<std::string> cudaFolders() {
  llvm::SmallVector<std::string> folders;
  for (StringRef variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = llvm::sys::Process::GetEnv(variable))
      if (!home->empty())
        folders.push_back(*home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  return folders;
}

llvm::Expected<std::string> blockscale::findPtxas(StringRef program) {
  if (!program.empty()) {
    // A name with a slash comes back from the look-up as it is.
    auto path = llvm::sys::findProgramByName(program);
    if (path && llvm::sys::fs::can_execute(*path))
      return *path;
    return makeError("cannot run ptxas: '" + program +
                     "' is not a program that can be executed");
  }
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  std::string looked = "PATH";
  for (const std::string &folder : cudaFolders()) {
    if (auto path = llvm::sys::findProgramByName("ptxas", {folder}))
      return *path;
    looked += ", " + folder;
  }
  return makeError("cannot find 'ptxas' (looked in " + looked +
                   "); install CUDA 13.0 or newer or name its path");
}

//===----------------------------------------------------------------------===//
// Reading its output
//===----------------------------------------------------------------------===//

/// Reads the number before `unit` in lists like "8 registers, used 1 barriers".
static std::optional<uint64_t> getCount(StringRef list, StringRef unit) {
  for (StringRef item : llvm::split(list, ',')) {
    item = item.trim();
    item.consume_front_insensitive("used ");
    uint64_t value;
    if (!item.consumeInteger(10, value) && item.trim() == unit)
      return value;
  }
  return std::nullopt;
}

static PtxasFunctionInfo &getFunction(std::vector<PtxasFunctionInfo> &functions,
                                      StringRef name) {
  for (PtxasFunctionInfo &function : functions)
    if (function.name == name)
      return function;
  functions.emplace_back();
  functions.back().name = name.str();
  return functions.back();
}

std::vector<PtxasFunctionInfo> blockscale::parsePtxasLog(StringRef log) {
  std::vector<PtxasFunctionInfo> functions;
  // The entry being compiled: "Used" lines belong to it. The properties of the
  // functions that it calls come in between.
  std::string entry, described;
  for (StringRef line : llvm::split(log, '\n')) {
    line = line.trim();
    if (line.consume_front("ptxas info"))
      line = line.ltrim(" :");
    if (line.consume_front("Compiling entry function '")) {
      entry = described = line.split('\'').first.str();
      getFunction(functions, entry);
    } else if (line.consume_front("Function properties for ")) {
      described = line.trim().str();
    } else if (line.starts_with("Used ") && !entry.empty()) {
      PtxasFunctionInfo &function = getFunction(functions, entry);
      function.registers = getCount(line, "registers").value_or(0);
      function.barriers = getCount(line, "barriers").value_or(0);
      function.sharedBytes = getCount(line, "bytes smem").value_or(0);
    } else if (line.contains("bytes stack frame") && !described.empty()) {
      PtxasFunctionInfo &function = getFunction(functions, described);
      function.stackBytes = getCount(line, "bytes stack frame").value_or(0);
      function.spillStoreBytes =
          getCount(line, "bytes spill stores").value_or(0);
      function.spillLoadBytes = getCount(line, "bytes spill loads").value_or(0);
    }
  }
  return functions;
}

/// Rewrites "ptxas FILE, line 12; error   : TEXT" with the line of PTX, since
/// the file is gone when the user reads it. Keeps other errors as they are.
static std::string describeErrors(StringRef log, StringRef ptx) {
  constexpr size_t kMostErrors = 10;
  llvm::SmallVector<StringRef> source;
  ptx.split(source, '\n');
  std::string text;
  llvm::raw_string_ostream stream(text);
  size_t count = 0;
  for (StringRef line : llvm::split(log, '\n')) {
    size_t error = line.find("error   :"), fatal = line.find("fatal   :");
    size_t start = std::min(error, fatal);
    if (start == StringRef::npos || ++count > kMostErrors)
      continue;
    StringRef message = line.substr(start).split(':').second.trim();
    StringRef where = line.take_front(start);
    unsigned number = 0;
    size_t position = where.rfind(", line ");
    if (position != StringRef::npos)
      where = where.substr(position + StringRef(", line ").size());
    if (position == StringRef::npos || where.consumeInteger(10, number) ||
        number == 0 || number > source.size())
      stream << "\n  " << message;
    else
      stream << "\n  line " << number << ": " << message << "\n    "
             << source[number - 1].trim();
  }
  if (count > kMostErrors)
    stream << "\n  and " << count - kMostErrors << " more";
  return text;
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {

/// A file with a name of its own that goes away with the object, or when a
/// signal ends the process.
class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (path.empty())
      return;
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }

  llvm::Error create(StringRef suffix, StringRef contents = "") {
    int descriptor;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile(
            "blockscale", suffix, descriptor, path)) {
      path.clear();
      return makeError("cannot create a temporary file for ptxas: " +
                       code.message());
    }
    llvm::sys::RemoveFileOnSignal(path);
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << contents;
    stream.close();
    if (std::error_code code = stream.error()) {
      stream.clear_error();
      return makeError("cannot write '" + path.str() + "': " + code.message());
    }
    return llvm::Error::success();
  }

  StringRef getPath() const { return path; }

  llvm::Expected<std::string> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!buffer)
      return makeError("cannot read '" + path.str() +
                       "': " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  llvm::SmallString<128> path;
};

} // namespace

/// The exit status of a process of which waitpid() said `status`; negative, and
/// why in `problem`, if it has none.
static int exitStatus(int status, std::string &problem) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  problem = std::string("ended by signal ") + ::strsignal(WTERMSIG(status));
  return -1;
}

/// The same of `process`, once it ends. LLVM's own wait with a limit sets an
/// alarm, of which the host process has but one: not with several threads, nor
/// in a process that is not ours.
static int waitFor(pid_t process, unsigned timeoutSeconds,
                   std::string &problem) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(timeoutSeconds);
  auto pause = std::chrono::microseconds(500);
  while (!timeoutSeconds || Clock::now() < end) {
    int status = 0;
    pid_t found = ::waitpid(process, &status, WNOHANG);
    if (found == process)
      return exitStatus(status, problem);
    if (found < 0 && errno != EINTR) {
      problem = std::strerror(errno);
      return -1;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(4000));
  }
  ::kill(process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR)
    continue;
  problem = "no end after " + std::to_string(timeoutSeconds) + " seconds";
  return -1;
}

//===----------------------------------------------------------------------===//
// Which release it is of
//===----------------------------------------------------------------------===//

unsigned blockscale::ptxVersionOf(StringRef ptx) {
  constexpr StringRef kDirective(".version");
  while (!ptx.empty()) {
    StringRef line;
    std::tie(line, ptx) = ptx.split('\n');
    line = line.trim();
    if (!line.consume_front(kDirective))
      continue;
    unsigned major, minor;
    line = line.trim();
    if (line.consumeInteger(10, major) || !line.consume_front(".") ||
        line.consumeInteger(10, minor))
      return 0;
    return major * 10 + minor;
  }
  return 0;
}

/// What `program` says of itself; {0, 0} if it says nothing.
static hw::CudaRelease askRelease(const std::string &program) {
  TemporaryFile log;
  if (llvm::Error error = log.create("log")) {
    llvm::consumeError(std::move(error));
    return {};
  }
  constexpr unsigned kSeconds = 20;
  std::optional<StringRef> redirects[] = {StringRef(""), log.getPath(),
                                          StringRef("")};
  std::string problem;
  bool notRun = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      program, {program, "--version"}, /*Env=*/std::nullopt, redirects,
      /*MemoryLimit=*/0, &problem, &notRun);
  if (notRun || waitFor(process.Pid, kSeconds, problem) != 0)
    return {};
  llvm::Expected<std::string> text = log.read();
  if (!text) {
    llvm::consumeError(text.takeError());
    return {};
  }
  StringRef rest = StringRef(*text).split("release ").second;
  hw::CudaRelease release;
  if (rest.consumeInteger(10, release.first) || !rest.consume_front(".") ||
      rest.consumeInteger(10, release.second))
    return {};
  return release;
}

/// The same, asked once.
static hw::CudaRelease releaseOf(const std::string &program) {
  static std::mutex mutex;
  static std::map<std::string, hw::CudaRelease> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(program);
  if (isNew)
    entry->second = askRelease(program);
  return entry->second;
}

/// Every ptxas of this machine, in order of preference.
static llvm::SmallVector<std::string> allPtxas() {
  llvm::SmallVector<std::string> folders, programs;
  if (auto path = llvm::sys::Process::GetEnv("PATH"))
    for (StringRef folder : llvm::split(*path, llvm::sys::EnvPathSeparator))
      folders.push_back(folder.str());
  llvm::append_range(folders, cudaFolders());
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it("/usr/local", error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with("cuda-"))
      folders.push_back(it->path() + "/bin");
  for (const std::string &folder : folders)
    if (auto path = llvm::sys::findProgramByName("ptxas", {folder}))
      if (!folder.empty() && !llvm::is_contained(programs, *path))
        programs.push_back(*path);
  return programs;
}

llvm::Expected<std::string>
blockscale::choosePtxas(StringRef program, bool orAnother, StringRef ptx) {
  // ptxas of CUDA 13.0 and newer take PTX 9.0; older ones refuse in words of
  // their own.
  constexpr unsigned kTakenByAll = 90;
  unsigned version = ptxVersionOf(ptx);
  if (version <= kTakenByAll)
    return program.str();
  hw::CudaRelease needed = hw::cudaReleaseOf(version);
  llvm::SmallVector<std::string> candidates{program.str()};
  if (orAnother)
    llvm::append_range(candidates, allPtxas());
  std::string found;
  llvm::SmallVector<StringRef> asked;
  for (const std::string &candidate : candidates) {
    if (llvm::is_contained(asked, candidate))
      continue;
    asked.push_back(candidate);
    hw::CudaRelease release = releaseOf(candidate);
    if (release >= needed)
      return candidate;
    found += (found.empty() ? "'" : ", '") + candidate + "' is of " +
             (release.first ? "CUDA " + hw::cudaReleaseName(release)
                            : std::string("no release that it tells"));
  }
  return makeError("PTX " + hw::ptxVersionName(version) +
                   " needs ptxas of CUDA " + hw::cudaReleaseName(needed) +
                   " or newer, which the wheel 'nvidia-cuda-nvcc' has, too; " +
                   found);
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

llvm::Expected<PtxasResult> blockscale::runPtxas(StringRef ptx,
                                                 const PtxasOptions &options) {
  TemporaryFile input, output, log;
  if (llvm::Error error = input.create("ptx", ptx))
    return std::move(error);
  if (llvm::Error error = output.create("cubin"))
    return std::move(error);
  if (llvm::Error error = log.create("log"))
    return std::move(error);

  std::string arch = "-arch=" + options.chip;
  std::string level = "-O" + std::to_string(options.optLevel);
  std::string threads = "-split-compile=" + std::to_string(options.threads);
  llvm::SmallVector<StringRef> arguments{
      options.program, "-v", arch, level, input.getPath(), "-o",
      output.getPath()};
  if (options.threads > 1)
    arguments.push_back(threads);
  std::optional<StringRef> redirects[] = {StringRef(""), log.getPath(),
                                          log.getPath()};
  std::string problem;
  bool notRun = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      options.program, arguments, /*Env=*/std::nullopt, redirects,
      /*MemoryLimit=*/0, &problem, &notRun);
  if (notRun)
    return makeError("cannot run '" + options.program + "': " + problem);
  int status = waitFor(process.Pid, options.timeoutSeconds, problem);
  if (status < 0)
    return makeError("cannot run '" + options.program + "': " + problem);

  llvm::Expected<std::string> text = log.read();
  if (!text)
    return text.takeError();
  if (status != 0) {
    std::string errors = describeErrors(*text, ptx);
    if (errors.empty())
      errors = "\n  exit status " + std::to_string(status);
    return makeError("ptxas rejects the PTX for '" + options.chip +
                     "':" + errors);
  }
  llvm::Expected<std::string> cubin = output.read();
  if (!cubin)
    return cubin.takeError();
  return PtxasResult{std::move(*cubin), parsePtxasLog(*text)};
}
