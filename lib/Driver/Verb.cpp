//===- Verb.cpp - the verbs of a command line -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verb.h"
#include "blockscale/Driver/Driver.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>

using namespace blockscale;
using namespace blockscale::driver;

int blockscale::driver::reportError(std::string_view message, int code) {
  std::cout.flush();
  std::cerr << "blockscale: error: " << message << '\n';
  return code;
}

Result<std::string> blockscale::driver::readFile(const std::string &path) {
  auto contents = [](std::istream &in) {
    return std::string(std::istreambuf_iterator<char>(in), {});
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
                             std::string_view summary) {
  std::string text =
      std::string(summary) + "\n\nusage: blockscale VERB [OPTIONS] [FILES]\n\n";
  for (const auto &verb : verbs) {
    constexpr size_t kWidth = 10;
    std::string name = verb->options().name();
    name.resize(std::max(name.size() + 1, kWidth), ' ');
    text += "  " + name + verb->options().summary() + "\n";
  }
  return text + "\n'blockscale VERB --help' lists the options of a verb.\n";
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

int blockscale::driver::runVerbs(
    const std::vector<std::unique_ptr<Verb>> &verbs, std::string_view version,
    std::string_view summary, int argc, const char *const *argv) {
  if (argc < 2)
    return reportError("no verb given; 'blockscale --help' lists them",
                       kNotUnderstood);
  std::string_view first = argv[1];
  if (first == "--help" || first == "-help" || first == "-h") {
    std::cout << printHelp(verbs, summary);
    return kSuccess;
  }
  if (first == "--version" || first == "-version") {
    std::cout << version << '\n';
    return kSuccess;
  }
  std::string known;
  for (const auto &verb : verbs) {
    if (verb->options().name() == first)
      return runVerb(*verb, {argv + 2, argv + argc});
    known += (known.empty() ? "'" : ", '") + verb->options().name() + "'";
  }
  return reportError("unknown verb '" + std::string(first) + "'; there are " +
                         known,
                     kNotUnderstood);
}
