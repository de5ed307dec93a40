//===- OutputFiles.cpp - write several files or none ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/OutputFiles.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale::driver;
using llvm::Error;
using llvm::StringRef;

static Error failed(const llvm::Twine &what, StringRef path,
                    std::error_code code) {
  return llvm::createStringError(code,
                                 what + " '" + path + "': " + code.message());
}

/// Makes the missing directories of `path`; returns the outermost that it made
/// in `made`, empty if all were there.
static Error makeDirectory(StringRef path, std::string &made) {
  llvm::SmallString<256> missing(path);
  while (!missing.empty() && !llvm::sys::fs::exists(missing)) {
    made = missing.str().str();
    StringRef parent = llvm::sys::path::parent_path(missing);
    missing = llvm::SmallString<256>(parent);
  }
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return failed("cannot make directory", path, code);
  if (!llvm::sys::fs::is_directory(path))
    return failed("cannot write into", path,
                  std::make_error_code(std::errc::not_a_directory));
  return Error::success();
}

/// Writes `contents` under a temporary name beside `path`.
static llvm::Expected<llvm::sys::fs::TempFile> writeBeside(StringRef path,
                                                           StringRef contents) {
  auto file = llvm::sys::fs::TempFile::create(
      path + ".%%%%%%.tmp", llvm::sys::fs::all_read | llvm::sys::fs::all_write);
  if (!file)
    return failed("cannot write", path,
                  llvm::errorToErrorCode(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << contents;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    llvm::consumeError(file->discard());
    return failed("cannot write", path, code);
  }
  return std::move(*file);
}

static Error
writeAll(StringRef directory,
         const std::vector<std::pair<std::string, std::string>> &files) {
  std::vector<llvm::sys::fs::TempFile> written;
  Error error = Error::success();
  std::vector<std::string> paths;
  for (const auto &[name, contents] : files) {
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, name);
    paths.push_back(path.str().str());
    auto file = writeBeside(path, contents);
    if (!file) {
      error = llvm::joinErrors(std::move(error), file.takeError());
      break;
    }
    written.push_back(std::move(*file));
  }
  size_t kept = 0;
  for (; !error && kept < written.size(); ++kept)
    if (Error problem = written[kept].keep(paths[kept])) {
      error = failed("cannot write", paths[kept],
                     llvm::errorToErrorCode(std::move(problem)));
      break;
    }
  if (!error)
    return Error::success();
  for (size_t i = 0; i < kept; ++i)
    llvm::sys::fs::remove(paths[i]);
  for (size_t i = kept; i < written.size(); ++i)
    llvm::consumeError(written[i].discard());
  return error;
}

Error OutputFiles::write(StringRef directory) const {
  std::string made;
  Error error = makeDirectory(directory, made);
  if (!error)
    error = writeAll(directory, files);
  if (error && !made.empty())
    llvm::sys::fs::remove_directories(made);
  return error;
}

Error blockscale::driver::writeFile(StringRef path, StringRef contents) {
  if (path == "-") {
    llvm::outs() << contents;
    llvm::outs().flush();
    return Error::success();
  }
  return writeAll(llvm::sys::path::parent_path(path),
                  {{llvm::sys::path::filename(path).str(), contents.str()}});
}
