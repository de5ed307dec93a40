//===- Driver.cpp - the command line of blockscale ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Driver.h"
#include "Verb.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale::driver;
namespace cl = llvm::cl;

int blockscale::driver::reportError(const llvm::Twine &message, int code) {
  llvm::errs() << "blockscale: error: " << message << '\n';
  return code;
}

static void printVersion(llvm::raw_ostream &os) {
  os << "blockscale " << BLOCKSCALE_VERSION << " (LLVM " << LLVM_VERSION_STRING
     << ")\n";
}

int blockscale::driver::run(int argc, const char *const *argv) {
  std::unique_ptr<Verb> verbs[] = {makeCompileVerb(), makeEmulateVerb(),
                                   makeExplainVerb(), makeVerifyVerb()};

  // LLVM's libraries bring hundreds of options; ours are the verbs'.
  static cl::OptionCategory none("Options");
  cl::HideUnrelatedOptions(none);
  cl::SetVersionPrinter(printVersion);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiler for block-scaled matrix products on tensor cores\n");
  for (const std::unique_ptr<Verb> &verb : verbs)
    if (verb->isChosen())
      return verb->run();
  return reportError("no verb given; 'blockscale --help' lists them",
                     kNotUnderstood);
}
