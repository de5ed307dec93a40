//===- Cache.cpp - results kept by what they were made from ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <cstdio>
#include <fstream>

using namespace blockscale;
using llvm::StringRef;

/// Raised when the files mean something else.
static constexpr llvm::StringLiteral kFormat("blockscale-cache 1");

static std::string hexHash(llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  for (StringRef part : parts) {
    // Parts must not run into each other.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string blockscale::identityOf(StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return path.str();
  return (path + " " + llvm::Twine(status.getSize()) + " " +
          llvm::Twine(
              status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

/// The identity of the file that holds the code at `address`. The kernel knows
/// it by its whole path, the loader by what somebody typed. Where nobody knows,
/// or the file was replaced meanwhile, it is one that no other process has.
static std::string fileOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  auto wanted = reinterpret_cast<uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end;
    int path = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx %*s %*s %*s %*s %n", &begin, &end,
                    &path) == 2 &&
        begin <= wanted && wanted < end && path &&
        llvm::sys::fs::exists(line.substr(path)))
      return identityOf(line.substr(path));
  }
  auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "process " + std::to_string(llvm::sys::Process::getProcessId()) +
         " at " + std::to_string(now);
}

/// This build of the compiler, and those of LLVM and MLIR: numbers of versions
/// do not change with each change of a developer's.
static const std::string &buildIdentity() {
  static const std::string identity =
      fileOf(reinterpret_cast<const void *>(&hexHash)) + "\n" +
      fileOf(reinterpret_cast<const void *>(
          static_cast<StringRef (*)(llvm::Triple::ArchType)>(
              &llvm::Triple::getArchTypeName))) +
      "\n" + fileOf(reinterpret_cast<const void *>(&mlir::verify));
  return identity;
}

std::string Cache::keyOf(llvm::ArrayRef<StringRef> parts) {
  std::vector<StringRef> all{kFormat, buildIdentity()};
  all.insert(all.end(), parts.begin(), parts.end());
  return hexHash(all);
}

std::string Cache::pathOf(const std::string &key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key.substr(0, 2), key.substr(2));
  return path.str().str();
}

// A file is a line with the format and the hash of what follows, and each part
// with its size in a line before it.

std::optional<std::vector<std::string>>
Cache::find(const std::string &key) const {
  if (!isThere() || !llvm::sys::fs::is_regular_file(pathOf(key)))
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(pathOf(key), /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  auto [head, rest] = (*file)->getBuffer().split('\n');
  if (head != (kFormat + " " + hexHash(rest)).str())
    return std::nullopt;
  std::vector<std::string> parts;
  while (!rest.empty()) {
    size_t size;
    if (rest.consumeInteger(10, size) || !rest.consume_front("\n") ||
        size > rest.size())
      return std::nullopt;
    parts.push_back(rest.take_front(size).str());
    rest = rest.drop_front(size);
  }
  return parts;
}

std::string Cache::keep(const std::string &key,
                        llvm::ArrayRef<StringRef> parts) const {
  if (!isThere())
    return "";
  std::string body;
  for (StringRef part : parts)
    body += std::to_string(part.size()) + "\n" + part.str();
  std::string path = pathOf(key);
  auto why = [&](const std::string &error) {
    return "cannot write '" + path + "': " + error;
  };
  if (std::error_code error =
          llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return why(error.message());
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%%%");
  if (!file)
    return why(llvm::toString(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << kFormat << " " << hexHash(StringRef(body)) << "\n" << body;
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    llvm::consumeError(file->discard());
    return why(error.message());
  }
  if (llvm::Error error = file->keep(path)) {
    llvm::consumeError(file->discard());
    return why(llvm::toString(std::move(error)));
  }
  return "";
}
