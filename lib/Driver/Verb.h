//===- Verb.h - one verb of the command line --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_VERB_H
#define BLOCKSCALE_LIB_DRIVER_VERB_H

#include "llvm/Support/CommandLine.h"
#include <memory>

namespace blockscale::driver {

/// A verb holds its options as members: they exist while it does, and no
/// library that links with us grows options of ours.
class Verb {
public:
  Verb(llvm::StringRef name, llvm::StringRef summary)
      : command(name, summary) {}
  virtual ~Verb() = default;

  /// True if the command line named this verb.
  bool isChosen() const { return bool(command); }
  /// Does the work and returns the exit code.
  virtual int run() = 0;

protected:
  llvm::cl::SubCommand command;
};

/// Prints "blockscale: error: ..." and returns `code`.
int reportError(const llvm::Twine &message, int code);

// One file per verb; Driver.cpp lists them.
std::unique_ptr<Verb> makeCompileVerb();
std::unique_ptr<Verb> makeEmulateVerb();
std::unique_ptr<Verb> makeExplainVerb();
std::unique_ptr<Verb> makeVerifyVerb();

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_VERB_H
