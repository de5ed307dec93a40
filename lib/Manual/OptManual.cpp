//===- OptManual.cpp - manual of programs with LLVM's options -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Manual/OptManual.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace blockscale;

/// What a pass or a pipeline of the name is for; nothing if there is none.
static std::optional<std::string> descriptionOfPass(llvm::StringRef name) {
  if (const mlir::PassInfo *pass = mlir::PassInfo::lookup(name))
    return pass->getPassDescription().str();
  if (const mlir::PassPipelineInfo *pipeline =
          mlir::PassPipelineInfo::lookup(name))
    return pipeline->getPassDescription().str();
  return std::nullopt;
}

static manual::Takes takesOf(const llvm::cl::Option &option) {
  switch (option.getValueExpectedFlag()) {
  case llvm::cl::ValueRequired:
    return manual::Takes::Value;
  case llvm::cl::ValueOptional:
    // A flag may be said to be false, which nobody does.
    return option.ValueStr.empty() ? manual::Takes::Nothing
                                   : manual::Takes::OptionalValue;
  case llvm::cl::ValueDisallowed:
    break;
  }
  return manual::Takes::Nothing;
}

static std::vector<manual::Option> optionsOfLLVM() {
  // In the order of the alphabet.
  std::map<std::string, manual::Option> sorted;
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    const llvm::cl::Option &option = *entry.second;
    std::string name = entry.first.str();
    if (std::optional<std::string> help = descriptionOfPass(name)) {
      sorted[name] = {name, *help, manual::Takes::OptionalValue, "{OPTIONS}"};
      continue;
    }
    // Others without a name of their own are values of a list.
    if (option.ArgStr.empty() ||
        option.getOptionHiddenFlag() != llvm::cl::NotHidden)
      continue;
    std::string place =
        option.ValueStr.empty() ? "value" : option.ValueStr.str();
    sorted[name] = {name, option.HelpStr.str(), takesOf(option), place};
  }
  std::vector<manual::Option> options;
  for (auto &[name, option] : sorted)
    options.push_back(std::move(option));
  return options;
}

std::optional<int> manual::printOptManual(int argc, char **argv,
                                          Program program,
                                          mlir::DialectRegistry &registry) {
  llvm::StringRef form = argc == 2 ? argv[1] : "";
  if (!form.consume_front("--print="))
    return std::nullopt;
  // Registers what the tool itself has.
  mlir::registerAndParseCLIOptions(1, argv, program.summary, registry);
  program.verbs = {{"",
                    program.summary,
                    {{"FILE", "The module to read, standard input if left out "
                              "or '-'"}},
                    optionsOfLLVM()}};
  Result<std::string> text = print(program, form.str());
  if (!text) {
    llvm::errs() << program.name << ": error: " << text.why().text << '\n';
    return 2;
  }
  llvm::outs() << *text;
  return 0;
}
