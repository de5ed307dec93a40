//===- Manual.cpp - the man page of a program -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Manual/Manual.h"
#include "Completion.h"

#include <algorithm>
#include <cctype>

namespace blockscale::manual {

/// Text of roff: nothing in it is a request or an escape, and a '-' is one that
/// can be copied.
static std::string roff(std::string_view text) {
  std::string result;
  for (char c : text) {
    // A request begins a line.
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
      result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

static std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return result;
}

static std::string optionText(const Option &option) {
  std::string text =
      "\\fB" + roff((option.name.size() == 1 ? "-" : "--") + option.name) +
      "\\fR";
  std::string place = "\\fI" + roff(option.placeholder) + "\\fR";
  // -o FILE, but --name=FILE.
  const char *between = option.name.size() == 1 ? " " : "=";
  switch (option.takes) {
  case Takes::Nothing:
    return text;
  case Takes::Value:
    return text + between + place;
  case Takes::OptionalValue:
    return text + "[=" + place + "]";
  case Takes::Rest:
    break;
  }
  return text + " " + place;
}

static std::string
wordsText(const std::vector<std::pair<std::string, std::string>> &words) {
  std::string text;
  bool areExplained = std::any_of(words.begin(), words.end(), [](auto &word) {
    return !word.second.empty();
  });
  if (words.empty() || !areExplained)
    return text;
  text += ".RS\n";
  for (const auto &[word, help] : words)
    text += ".TP\n\\fB" + roff(word) + "\\fR\n" + roff(help) + "\n";
  return text + ".RE\n";
}

static std::string usage(const Program &program, const Verb &verb) {
  std::string text = ".B " + roff(program.name);
  if (!verb.name.empty())
    text += " " + roff(verb.name);
  text += "\n[\\fIoptions\\fR]";
  for (const Argument &argument : verb.arguments)
    text += " \\fI" + roff(argument.name) + "\\fR" +
            (argument.isRepeated ? " ..." : "");
  return text + "\n";
}

static std::string verbText(const Program &program, const Verb &verb) {
  std::string text;
  if (!verb.name.empty())
    text += ".SH " + upper(roff(verb.name)) + "\n" + roff(verb.summary) +
            ".\n.PP\n" + usage(program, verb);
  else
    text += ".SH OPTIONS\n";
  for (const Argument &argument : verb.arguments)
    text += ".TP\n\\fI" + roff(argument.name) + "\\fR\n" + roff(argument.help) +
            ".\n" + wordsText(argument.words);
  for (const Option &option : verb.options)
    text += ".TP\n" + optionText(option) + "\n" +
            (option.help.empty() ? roff("No more is said of it")
                                 : roff(option.help)) +
            ".\n" + wordsText(option.words);
  return text;
}

static std::string printMan(const Program &program) {
  std::string text = ".\\\" Made by '" + program.name + " --print=man'.\n.TH " +
                     upper(roff(program.name)) + " 1 " BLOCKSCALE_DATE " \"" +
                     roff(program.version) + "\"\n.SH NAME\n" +
                     roff(program.name) + " \\- " + roff(program.summary) +
                     "\n.SH SYNOPSIS\n";
  for (std::size_t i = 0; i < program.verbs.size(); ++i)
    text += (i ? ".br\n" : "") + usage(program, program.verbs[i]);
  text += ".SH DESCRIPTION\n";
  for (std::size_t i = 0; i < program.description.size(); ++i)
    text += (i ? ".PP\n" : "") + roff(program.description[i]) + "\n";
  for (const Verb &verb : program.verbs)
    text += verbText(program, verb);
  if (!program.exits.empty()) {
    text += ".SH EXIT STATUS\n";
    for (const auto &[status, meaning] : program.exits)
      text +=
          ".TP\n.B " + std::to_string(status) + "\n" + roff(meaning) + ".\n";
  }
  if (!program.seeAlso.empty()) {
    text += ".SH SEE ALSO\n";
    for (std::size_t i = 0; i < program.seeAlso.size(); ++i)
      text += (i ? ",\n" : "") + roff(program.seeAlso[i]);
    text += "\n";
  }
  return text;
}

std::vector<std::string> forms() { return {"man", "bash", "zsh", "fish"}; }

bool isFile(std::string_view placeholder) {
  for (std::string_view start : {"FILE", "PATH", "DIR"})
    if (placeholder.substr(0, start.size()) == start)
      return true;
  return false;
}

Result<std::string> print(const Program &program, std::string_view form) {
  if (form == "man")
    return printMan(program);
  if (form == "bash")
    return printBash(program);
  if (form == "zsh")
    return printZsh(program);
  if (form == "fish")
    return printFish(program);
  return Reason("unknown form '" + std::string(form) +
                "', legal are 'man', 'bash', 'zsh' and 'fish'");
}

} // namespace blockscale::manual
