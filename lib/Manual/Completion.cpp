//===- Completion.cpp - completion of shells ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Completion.h"

#include <algorithm>

namespace blockscale::manual {

static std::string dashed(const Option &option) {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}

/// The option as it is offered: "--target=" goes on with the value.
static std::string offered(const Option &option) {
  bool goesOn = option.takes == Takes::Value && option.name.size() > 1;
  return dashed(option) + (goesOn ? "=" : "");
}

/// `text` in single quotes of a shell.
static std::string inQuotes(std::string_view text) {
  std::string result = "'";
  for (char c : text)
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  return result + "'";
}

static std::string
namesOf(const std::vector<std::pair<std::string, std::string>> &words) {
  std::string result;
  for (const auto &[word, help] : words)
    result += (result.empty() ? "" : " ") + word;
  return result;
}

/// The first line, which has to do.
static std::string shortened(const std::string &help) {
  return help.substr(0, help.find('\n'));
}

/// A name that a function of a shell may have.
static std::string functionName(const std::string &program) {
  std::string name = "_" + program;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// What may follow an option, as a branch of a case; empty if nothing may.
static std::string bashValue(const Verb &verb, const Option &option) {
  if (option.takes == Takes::Nothing)
    return "";
  std::string pattern = "  '" + verb.name + " " + dashed(option) + "') takes=";
  pattern += option.takes == Takes::OptionalValue ? "maybe" : "value";
  if (option.takes == Takes::Rest)
    return pattern + " kind=command ;;\n";
  if (!option.words.empty())
    return pattern + " words=" + inQuotes(namesOf(option.words)) + " ;;\n";
  return pattern + (isFile(option.placeholder) ? " kind=file ;;\n" : " ;;\n");
}

static std::string bashVerb(const Verb &verb) {
  std::string options, words;
  for (const Option &option : verb.options)
    options += (options.empty() ? "" : " ") + offered(option);
  bool takesFiles = false;
  for (const Argument &argument : verb.arguments) {
    words += (words.empty() ? "" : " ") + namesOf(argument.words);
    takesFiles |= argument.words.empty();
  }
  return "  " + inQuotes(verb.name) + ")\n    options=" + inQuotes(options) +
         "\n    arguments=" + inQuotes(words) +
         "\n    files=" + (takesFiles ? "yes" : "") + " ;;\n";
}

/// Puts the word, its option and the verb into the variables: where the shell
/// splits words at '=', the option stands one or two words before.
constexpr const char *kBashWords =
    "if [[ $word == = ]]; then\n"
    "  option=$before word=\n"
    "elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then\n"
    "  option=${COMP_WORDS[COMP_CWORD-2]}\n"
    "elif [[ $word == -*=* ]]; then\n"
    "  option=${word%%=*} prefix=${word%%=*}= word=${word#*=}\n"
    "elif [[ $before == -* ]]; then\n"
    "  option=$before prefix=apart\n"
    "fi\n";

/// Completes the value of an option, if the word is one. A value that may be
/// left out does not stand apart.
constexpr const char *kBashValue =
    "if [[ $prefix == apart ]]; then\n"
    "  [[ $takes == value ]] || takes= words= kind=\n"
    "  prefix=\n"
    "fi\n"
    "if [ -n \"$takes\" ]; then\n"
    "  case $kind in\n"
    "  file) compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "  command) mapfile -t COMPREPLY < <(compgen -c -- \"$word\") ;;\n"
    "  *) COMPREPLY=($(compgen -W \"$words\" -P \"$prefix\" -- "
    "\"$word\")) ;;\n"
    "  esac\n"
    "  return\n"
    "fi\n";

/// Completes options and arguments of the verb.
constexpr const char *kBashArguments =
    "if [[ $word == -* ]]; then\n"
    "  COMPREPLY=($(compgen -W \"$options --help\" -- \"$word\"))\n"
    "  [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "  return\n"
    "fi\n"
    "COMPREPLY=($(compgen -W \"$arguments\" -- \"$word\"))\n"
    "if [ -n \"$files\" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "fi\n";

std::string printBash(const Program &program) {
  std::string function = functionName(program.name);
  std::string values, verbs, names;
  for (const Verb &verb : program.verbs) {
    for (const Option &option : verb.options)
      values += bashValue(verb, option);
    verbs += bashVerb(verb);
    names += (names.empty() ? "" : " ") + verb.name;
  }
  bool hasVerbs = program.verbs.size() > 1;
  // What a program with verbs takes in their place.
  if (hasVerbs)
    values += "  '--print --print') takes=value words='man bash zsh fish' ;;\n";
  std::string text = "# Completion of " + program.name +
                     " for bash; made by '" + program.name +
                     " --print=bash'.\n" + function + "() {\n";
  text += "local word=${COMP_WORDS[COMP_CWORD]} verb= option= prefix=\n"
          "local words= kind= takes= options= arguments= files=\n"
          "local before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "COMPREPLY=()\n";
  if (hasVerbs)
    text += "verb=${COMP_WORDS[1]}\n"
            "if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
            "  COMPREPLY=($(compgen -W " +
            inQuotes(names + " --help --version --print=") +
            " -- \"$word\"))\n"
            "  return\n"
            "fi\n";
  text += kBashWords;
  text += "case \"$verb $option\" in\n" + values + "esac\n" + kBashValue;
  text += "case \"$verb\" in\n" + verbs + "esac\n" + kBashArguments;
  text += "}\ncomplete -F " + function + " " + program.name + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Text inside of a specification of _arguments.
static std::string zshText(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

static std::string
zshAction(const std::vector<std::pair<std::string, std::string>> &words,
          std::string_view placeholder) {
  if (!words.empty())
    return "(" + namesOf(words) + ")";
  return isFile(placeholder) ? "_files" : " ";
}

static std::string zshOption(const Option &option) {
  std::string help = "[" + zshText(shortened(option.help)) + "]";
  std::string value = zshText(option.placeholder) + ":" +
                      zshAction(option.words, option.placeholder);
  switch (option.takes) {
  case Takes::Nothing:
    return inQuotes(dashed(option) + help);
  case Takes::Value:
    return inQuotes("*" + dashed(option) +
                    (option.name.size() == 1 ? "" : "=") + help + ":" + value);
  case Takes::OptionalValue:
    return inQuotes(dashed(option) + "=-" + help + "::" + value);
  case Takes::Rest:
    break;
  }
  return inQuotes("*::" + zshText(option.placeholder) + ":_normal");
}

static std::string zshVerb(const Verb &verb) {
  std::string text = "  _arguments \\\n";
  for (const Option &option : verb.options)
    if (option.takes != Takes::Rest)
      text += "    " + zshOption(option) + " \\\n";
  text += "    '--help[Say what the options are]'";
  unsigned place = 0;
  for (const Argument &argument : verb.arguments)
    text += " \\\n    " +
            inQuotes((argument.isRepeated ? "*" : std::to_string(++place)) +
                     ":" + zshText(argument.name) + ":" +
                     zshAction(argument.words, "FILE"));
  return text + "\n";
}

std::string printZsh(const Program &program) {
  std::string function = functionName(program.name);
  std::string text = "#compdef " + program.name + "\n# Made by '" +
                     program.name + " --print=zsh'.\n" + function + "() {\n";
  if (program.verbs.size() == 1)
    return text + zshVerb(program.verbs.front()) + "}\n" + function +
           " \"$@\"\n";
  text += "local -a verbs=(\n";
  for (const Verb &verb : program.verbs)
    text += "  " + inQuotes(zshText(verb.name) + ":" + verb.summary) + "\n";
  text += ")\nif (( CURRENT == 2 )); then\n"
          "  _describe verb verbs\n"
          "  return\nfi\n"
          "local verb=$words[2]\n"
          "shift words\n(( CURRENT-- ))\n"
          "case $verb in\n";
  for (const Verb &verb : program.verbs)
    text += verb.name + ")\n" + zshVerb(verb) + "  ;;\n";
  return text + "esac\n}\n" + function + " \"$@\"\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

/// In single quotes fish has backslashes for quotes.
static std::string fishQuoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "'";
}

static std::string fishOption(const std::string &start, const Option &option) {
  std::string text =
      start + (option.name.size() == 1 ? " -s " : " -l ") + option.name;
  if (option.takes == Takes::Value || option.takes == Takes::Rest) {
    bool takesFile = isFile(option.placeholder) && option.words.empty();
    text += takesFile ? " -r -F" : " -x";
  }
  if (!option.words.empty())
    text += " -a " + fishQuoted(namesOf(option.words));
  return text + " -d " + fishQuoted(shortened(option.help)) + "\n";
}

std::string printFish(const Program &program) {
  std::string text = "# Completion of " + program.name +
                     " for fish; made by '" + program.name +
                     " --print=fish'.\n";
  bool hasVerbs = program.verbs.size() > 1;
  std::string complete = "complete -c " + program.name;
  if (hasVerbs)
    for (const Verb &verb : program.verbs)
      text += complete + " -f -n __fish_use_subcommand -a " + verb.name +
              " -d " + fishQuoted(verb.summary) + "\n";
  for (const Verb &verb : program.verbs) {
    std::string start = complete;
    if (hasVerbs)
      start += " -n '__fish_seen_subcommand_from " + verb.name + "'";
    for (const Argument &argument : verb.arguments)
      if (!argument.words.empty())
        text += start + " -f -a " + fishQuoted(namesOf(argument.words)) +
                " -d " + fishQuoted(shortened(argument.help)) + "\n";
    for (const Option &option : verb.options)
      text += fishOption(start, option);
  }
  return text;
}

} // namespace blockscale::manual
