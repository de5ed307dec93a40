//===- Verb.cpp - the verbs of a command line -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/HW/Target.h"
#include "blockscale/Manual/Manual.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>

using namespace blockscale;
using namespace blockscale::driver;

int blockscale::driver::reportError(std::string_view message, int code) {
  std::cout.flush();
  std::cerr << "blockscale: error: " << message << '\n';
  return code;
}

Result<std::string> blockscale::driver::readFile(const std::string &path) {
  auto contents = [](std::istream &in) {
    // What fails to be read throws, but not through a stream.
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  if (path == "-")
    return contents(std::cin);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file)
    text = contents(file);
  // A directory opens and cannot be read.
  if (file && !file.bad() && errno == 0)
    return text;
  return Reason("cannot read '" + path +
                "': " + std::strerror(errno ? errno : int(EIO)));
}

static std::string printHelp(const std::vector<std::unique_ptr<Verb>> &verbs,
                             const std::string &program,
                             std::string_view summary) {
  std::string text = std::string(summary) + "\n\nusage: " + program +
                     " VERB [OPTIONS] [FILES]\n\n";
  for (const auto &verb : verbs) {
    constexpr size_t kWidth = 10;
    std::string name = verb->options().name();
    name.resize(std::max(name.size() + 1, kWidth), ' ');
    text += "  " + name + verb->options().summary() + "\n";
  }
  return text + "\n'" + program +
         " VERB --help' lists the options of a verb; "
         "--version\nsays which this is, and --print=man, bash, zsh or fish "
         "prints the man page\nor the completion of a shell.\n";
}

/// Where a value is a chip or a kind, those that there are.
static void addSuggestions(manual::Program &program) {
  manual::Option chips;
  for (hw::Target target : hw::allTargets())
    chips.words.emplace_back(hw::targetName(target), "");
  for (manual::Verb &verb : program.verbs)
    for (manual::Option &option : verb.options)
      if (option.placeholder == "CHIP" && option.words.empty())
        option.words = chips.words;
}

/// Man page or completion, of the options' own tables.
static int printManual(const std::vector<std::unique_ptr<Verb>> &verbs,
                       std::string_view version, std::string_view summary,
                       std::string_view form) {
  manual::Program program;
  program.version = version;
  // "blockscale 0.1.0 (...)"
  program.name = splitAt(version, ' ').first;
  program.summary = summary;
  program.description = {
      "Each verb does one thing and has options of its own. An option is "
      "written with one dash or two; its value follows '=' or a blank. Where a "
      "file is read, '-' is standard input, and where one is written standard "
      "output.",
      "What is wrong with an input is said with its place, the rule and what "
      "would be legal."};
  for (const auto &verb : verbs)
    program.verbs.push_back(verb->options().description());
  addSuggestions(program);
  program.exits = {{kSuccess, "All went well"},
                   {kFailure, "The work could not be done, or what was "
                              "verified is wrong; a diagnostic says why"},
                   {kNotUnderstood, "The command line was not understood"}};
  program.seeAlso = {"blockscale-opt(1)", "ptxas(1)"};
  Result<std::string> text = manual::print(program, form);
  if (!text)
    return reportError(text.why().text, kNotUnderstood);
  std::cout << *text;
  return kSuccess;
}

static int runVerb(Verb &verb, std::vector<std::string> arguments) {
  if (auto why = verb.options().parse(std::move(arguments)))
    return reportError(why->text, kNotUnderstood);
  if (verb.options().asksForHelp()) {
    std::cout << verb.options().help();
    return kSuccess;
  }
  try {
    return verb.run();
  } catch (const std::bad_alloc &) {
    return reportError("out of memory", kFailure);
  }
}

static std::vector<std::unique_ptr<Verb>>
makeAll(const std::vector<VerbMaker> &makers) {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (const VerbMaker &make : makers)
    verbs.push_back(make());
  return verbs;
}

int blockscale::driver::runVerbs(const std::vector<VerbMaker> &makers,
                                 std::string_view version,
                                 std::string_view summary, int argc,
                                 const char *const *argv) {
  // "blockscale 0.1.0 (...)"
  std::string program(splitAt(version, ' ').first);
  if (argc < 2)
    return reportError("no verb given; '" + program + " --help' lists them",
                       kNotUnderstood);
  std::string_view first = argv[1];
  if (first == "--help" || first == "-help" || first == "-h") {
    std::cout << printHelp(makeAll(makers), program, summary);
    return kSuccess;
  }
  if (first == "--version" || first == "-version") {
    std::cout << version << '\n';
    return kSuccess;
  }
  if (auto [option, form] = splitAt(first, '=');
      option == "--print" || option == "-print")
    return printManual(makeAll(makers), version, summary, form);
  std::string known;
  for (const VerbMaker &make : makers) {
    std::unique_ptr<Verb> verb = make();
    if (verb->options().name() == first)
      return runVerb(*verb, {argv + 2, argv + argc});
    known += (known.empty() ? "'" : ", '") + verb->options().name() + "'";
  }
  return reportError("unknown verb '" + std::string(first) + "'; there are " +
                         known,
                     kNotUnderstood);
}
