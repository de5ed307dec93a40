//===- Verb.h - one verb of the command line --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_VERB_H
#define BLOCKSCALE_LIB_DRIVER_VERB_H

#include "CommandLine.h"
#include "blockscale/Formats/Result.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::driver {

/// A verb holds its options as members: they exist while it does, and no
/// library that links with us grows options of ours.
class Verb {
public:
  Verb(std::string name, std::string summary)
      : command(std::move(name), std::move(summary)) {}
  virtual ~Verb() = default;

  CommandLine &options() { return command; }
  /// Does the work and returns the exit code.
  virtual int run() = 0;

protected:
  CommandLine command;
};

using VerbMaker = std::function<std::unique_ptr<Verb>()>;

/// Runs the verb that the command line names and returns the exit code.
/// `version` is the answer to --version, `summary` the first line of --help.
/// Options are many: only verbs up to the one that is run are made.
int runVerbs(const std::vector<VerbMaker> &makers, std::string_view version,
             std::string_view summary, int argc, const char *const *argv);

/// Prints "blockscale: error: ..." and returns `code`.
int reportError(std::string_view message, int code);

/// The contents of a file, or of standard input for "-".
Result<std::string> readFile(const std::string &path);

/// What 'explain' is asked about a file.
struct FileQuestion {
  std::string file, target;
  /// Rows where their number is dynamic.
  std::optional<unsigned> rows;
  /// "json", or "text" or nothing.
  std::string format;
  bool all = false;
  /// How many schedules the timeline is asked about, too.
  unsigned replay = 0;
};

/// A topic of 'explain' about a file that needs more than this library.
struct FileTopic {
  std::string name;
  /// What FILE is.
  std::string file;
  /// Answers, or has printed what is wrong and returns nothing.
  std::function<std::optional<std::string>(const FileQuestion &question)>
      answer;
};

// One file per verb. Those of the compiler need MLIR.
std::unique_ptr<Verb> makeCheckVerb();
std::unique_ptr<Verb> makeCompileVerb();
std::unique_ptr<Verb> makeEmulateVerb();
std::unique_ptr<Verb> makeExplainVerb(std::vector<FileTopic> more = {});
std::unique_ptr<Verb> makePackVerb();
std::unique_ptr<Verb> makeVerifyVerb();

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_VERB_H
