//===- OutputFiles.cpp - write several files or none ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/OutputFiles.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::driver;
namespace fs = std::filesystem;

namespace {
/// A file that is being written: under a temporary name, or in place where
/// there is something that cannot be replaced, such as a device.
struct Written {
  fs::path path, temporary;
};
} // namespace

static Reason failed(const char *what, const fs::path &path, int code) {
  return std::string(what) + " '" + path.string() + "': " + std::strerror(code);
}

/// Makes the missing directories of `path`; puts the outermost that it made
/// into `made`, which stays empty if all were there.
static std::optional<Reason> makeDirectory(const fs::path &path,
                                           fs::path &made) {
  std::error_code code;
  for (fs::path missing = path; !missing.empty() && !fs::exists(missing, code);
       missing = missing.parent_path())
    made = missing;
  fs::create_directories(path, code);
  if (code)
    return failed("cannot make directory", path, code.value());
  if (!fs::is_directory(path, code))
    return failed("cannot write into", path, ENOTDIR);
  return std::nullopt;
}

static int writeAll(int descriptor, std::string_view contents) {
  size_t done = 0;
  while (done < contents.size()) {
    ssize_t count =
        ::write(descriptor, contents.data() + done, contents.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    done += size_t(count);
  }
  return 0;
}

/// Opens a new file beside `path`.
static int openBeside(const fs::path &path, fs::path &temporary) {
  static std::atomic<unsigned> count{0};
  while (true) {
    temporary = path;
    temporary += "." + std::to_string(::getpid()) + "-" +
                 std::to_string(count++) + ".tmp";
    int descriptor =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
}

static std::optional<Reason> writeOne(Written &file,
                                      const OutputFiles::File &contents) {
  std::error_code code;
  bool isSpecial = fs::exists(file.path, code) &&
                   !fs::is_regular_file(file.path, code) &&
                   !fs::is_directory(file.path, code);
  int descriptor = isSpecial ? ::open(file.path.c_str(), O_WRONLY)
                             : openBeside(file.path, file.temporary);
  if (descriptor < 0) {
    file.temporary.clear();
    return failed("cannot write", file.path, errno);
  }
  int error = writeAll(descriptor, contents.head);
  if (!error)
    error = writeAll(descriptor, contents.rest);
  if (::close(descriptor) != 0 && !error)
    error = errno;
  if (error)
    return failed("cannot write", file.path, error);
  return std::nullopt;
}

static std::optional<Reason>
writeTogether(const fs::path &directory,
              const std::vector<OutputFiles::File> &files) {
  std::vector<Written> written;
  std::optional<Reason> why;
  for (const OutputFiles::File &file : files) {
    written.push_back({directory / file.name, {}});
    why = writeOne(written.back(), file);
    if (why)
      break;
  }
  size_t kept = 0;
  std::error_code code;
  for (; !why && kept < written.size(); ++kept) {
    const Written &file = written[kept];
    if (file.temporary.empty())
      continue;
    fs::rename(file.temporary, file.path, code);
    if (code) {
      why = failed("cannot write", file.path, code.value());
      break;
    }
  }
  if (!why)
    return std::nullopt;
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i].temporary.empty())
      fs::remove(i < kept ? written[i].path : written[i].temporary, code);
  return why;
}

std::optional<Reason> OutputFiles::write(const std::string &directory) const {
  fs::path made;
  std::optional<Reason> why;
  if (!directory.empty())
    why = makeDirectory(directory, made);
  if (!why)
    why = writeTogether(directory, files);
  std::error_code code;
  if (why && !made.empty())
    fs::remove_all(made, code);
  return why;
}

std::optional<Reason>
blockscale::driver::writeFile(const std::string &path,
                              const std::string &contents) {
  if (path == "-") {
    std::cout << contents;
    std::cout.flush();
    if (!std::cout)
      return "cannot write to standard output";
    return std::nullopt;
  }
  return writeTogether("", {{path, "", contents}});
}
