//===- InputFile.cpp - a file read piece by piece -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::checkpoint;

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<InputFile> InputFile::open(const std::string &path) {
  auto failed = [&](int code) {
    return "cannot read '" + path + "': " + std::strerror(code);
  };
  InputFile file;
  file.name = path;
  // A pipe without a writer would make a blocking open wait for ever.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0)
    return Reason(failed(errno));
  if (S_ISDIR(status.st_mode))
    return Reason(failed(EISDIR));
  if (!S_ISREG(status.st_mode))
    return Reason("cannot read '" + path + "': not a regular file");
  file.bytes = static_cast<uint64_t>(status.st_size);
  return file;
}

std::string InputFile::read(uint64_t offset, void *to, uint64_t count) const {
  auto *target = static_cast<char *>(to);
  while (count > 0) {
    // Linux moves at most 2 GiB in one call.
    size_t piece = std::min<uint64_t>(count, uint64_t(1) << 30);
    ssize_t got = ::pread(descriptor, target, piece, off_t(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return "cannot read '" + name + "': " + std::strerror(errno);
    if (got == 0)
      return "'" + name + "' ends at byte " + std::to_string(offset) +
             "; it was longer when it was opened";
    target += got;
    offset += uint64_t(got);
    count -= uint64_t(got);
  }
  return "";
}
