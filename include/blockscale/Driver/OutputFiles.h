//===- OutputFiles.h - write several files or none --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_OUTPUTFILES_H
#define BLOCKSCALE_DRIVER_OUTPUTFILES_H

#include "blockscale/Formats/Result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale::driver {

/// Files that belong together. They are kept in memory until all are known,
/// written under temporary names, and renamed when all are written. What is no
/// regular file, such as a device or a pipe, is written in place.
class OutputFiles {
public:
  /// Adds the file `name` of the directory.
  void add(std::string name, std::string contents) {
    files.push_back({std::move(name), std::move(contents), {}});
  }
  /// The same with `contents` after `head`; what can be large is not copied,
  /// so it must stay where it is until the files are written.
  void addLarge(std::string name, std::string head, std::string_view contents) {
    files.push_back({std::move(name), std::move(head), contents});
  }

  /// Writes the files into `directory`, which is made if it is missing; "" is
  /// the working directory. Returns why it could not; nothing if it did. On
  /// failure nothing new is left there, nor a directory made here; files that
  /// had a name already are as they were unless the very last step, the
  /// renaming, failed.
  std::optional<Reason> write(const std::string &directory) const;

  struct File {
    std::string name, head;
    std::string_view rest; ///< owned by someone else
  };

private:
  std::vector<File> files;
};

/// Writes one file in the same way; "-" is standard output.
std::optional<Reason> writeFile(const std::string &path,
                                const std::string &contents);

} // namespace blockscale::driver

#endif // BLOCKSCALE_DRIVER_OUTPUTFILES_H
