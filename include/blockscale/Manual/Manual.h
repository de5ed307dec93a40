//===- Manual.h - what a program's options are, in four forms ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program describes its options as data, from the very table that it parses
// them with; man page and completion of three shells are made of that.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_MANUAL_MANUAL_H
#define BLOCKSCALE_MANUAL_MANUAL_H

#include "blockscale/Formats/Result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale::manual {

/// Whether something follows the option's name.
enum class Takes { Nothing, Value, OptionalValue, Rest };

struct Option {
  /// Without dashes.
  std::string name;
  std::string help;
  Takes takes = Takes::Nothing;
  /// What stands for the value: "FILE", "NUMBER". Those that begin with FILE,
  /// PATH or DIR are completed with files.
  std::string placeholder = {};
  /// The words that the value may be, each with what it means, if it is of a
  /// few; their help may be empty.
  std::vector<std::pair<std::string, std::string>> words = {};
};

/// An argument without a dash.
struct Argument {
  std::string name, help;
  bool isRepeated = false;
  std::vector<std::pair<std::string, std::string>> words = {};
};

/// A verb with its options. A program without verbs has one without a name.
struct Verb {
  std::string name, summary;
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};
};

struct Program {
  std::string name, version, summary;
  /// Paragraphs.
  std::vector<std::string> description = {};
  std::vector<Verb> verbs = {};
  /// Exit statuses and what they mean.
  std::vector<std::pair<int, std::string>> exits = {};
  /// Other pages, such as "mlir-opt(1)".
  std::vector<std::string> seeAlso = {};
};

/// What an option that completion and man pages are printed with may say:
/// "man", "bash", "zsh", "fish".
std::vector<std::string> forms();

/// The program's page or completion; refused if there is no such form.
Result<std::string> print(const Program &program, std::string_view form);

/// Whether the value's placeholder stands for a file.
bool isFile(std::string_view placeholder);

} // namespace blockscale::manual

#endif // BLOCKSCALE_MANUAL_MANUAL_H
