//===- CommandLine.h - the options of one verb ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A verb binds its options to its members; CommandLine.cpp parses them with
// CLI11, which nothing else sees. Values are written `--name=value` or `--name
// value`, and one dash does as well as two.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_COMMANDLINE_H
#define BLOCKSCALE_LIB_DRIVER_COMMANDLINE_H

#include "blockscale/Formats/Result.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Manual/Manual.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::driver {

class CommandLine {
public:
  CommandLine(std::string name, std::string summary);
  ~CommandLine();

  /// The argument without a dash, which may be left out.
  void positional(const std::string &name, std::string &value,
                  const std::string &help);
  /// One or more arguments without a dash.
  void positionals(const std::string &name, std::vector<std::string> &values,
                   const std::string &help);
  /// `placeholder` stands for the value in the help.
  void text(const std::string &name, std::string &value,
            const std::string &placeholder, const std::string &help);
  /// An option that may be given several times.
  void texts(const std::string &name, std::vector<std::string> &values,
             const std::string &placeholder, const std::string &help);
  /// `--name`, `--name=true` or `--name=false`.
  void flag(const std::string &name, bool &value, const std::string &help);
  /// The same, and `--name=NAME`; `value` becomes "true", "false" or the name.
  void flagOrName(const std::string &name, std::string &value,
                  const std::string &help);
  /// `--name PROGRAM ARGUMENTS...`: takes all that follows, as it is. Options
  /// between the two are the verb's.
  void rest(const std::string &name, std::vector<std::string> &values,
            const std::string &placeholder, const std::string &help);

  template <typename T>
  void number(const std::string &name, T &value, const std::string &help) {
    add(name, "NUMBER", help, /*isList=*/false,
        [&value](const std::string &text) { return read(text, value); });
  }
  template <typename T>
  void number(const std::string &name, std::optional<T> &value,
              const std::string &help) {
    add(name, "NUMBER", help, /*isList=*/false,
        [&value](const std::string &text) {
          return read(text, value.emplace());
        });
  }
  /// `--name NUMBER` or `--name=NUMBER`; `--name` alone means `alone`.
  template <typename T>
  void numberOrNone(const std::string &name, T &value, T alone,
                    const std::string &help) {
    number(name, value, help);
    acceptAlone(name, std::to_string(alone));
  }
  /// `--name=1,2` or given several times.
  template <typename T>
  void numbers(const std::string &name, std::vector<T> &values,
               const std::string &help) {
    add(name, "NUMBERS", help, /*isList=*/true,
        [&values](const std::string &text) -> std::optional<Reason> {
          for (std::string_view word : splitAll(text, ','))
            if (auto why = read(word, values.emplace_back()))
              return why;
          return std::nullopt;
        });
  }

  /// One of a few words.
  template <typename T> struct Choice {
    std::string name;
    T value;
    std::string help;
  };
  template <typename T>
  void choice(const std::string &name, T &value, std::vector<Choice<T>> choices,
              const std::string &help) {
    std::string text = help, names;
    Words words;
    for (const Choice<T> &each : choices) {
      text += "\n  " + each.name + ": " + each.help;
      names += (names.empty() ? "'" : ", '") + each.name + "'";
      words.emplace_back(each.name, each.help);
    }
    add(name, "NAME", text, /*isList=*/false,
        [&value, choices = std::move(choices),
         names](const std::string &word) -> std::optional<Reason> {
          for (const Choice<T> &each : choices)
            if (each.name == word) {
              value = each.value;
              return std::nullopt;
            }
          return "is none of " + names;
        });
    table.options.back().help = help;
    table.options.back().words = std::move(words);
  }

  /// Words with what they mean, or with nothing.
  using Words = std::vector<std::pair<std::string, std::string>>;
  /// What an option or argument may be, for completion and the manual: it is
  /// parsed as before.
  void suggest(const std::string &name, Words words);
  void suggest(const std::string &name, const std::vector<std::string> &words);

  /// True if the option was on the command line.
  bool isGiven(const std::string &name) const;

  /// Reads the arguments after the verb. Returns what is wrong with them;
  /// nothing if nothing is.
  std::optional<Reason> parse(std::vector<std::string> arguments);
  /// True if they asked for the help.
  bool asksForHelp() const { return wantsHelp; }
  std::string help() const;

  const std::string &name() const { return table.name; }
  const std::string &summary() const { return table.summary; }
  /// All of the above as data.
  const manual::Verb &description() const { return table; }

private:
  using Setter = std::function<std::optional<Reason>(const std::string &)>;
  /// `set` is called with each value and returns why it is none, or nothing.
  void add(const std::string &name, const std::string &placeholder,
           const std::string &help, bool isList, Setter set);

  /// Without a value the option has this one.
  void acceptAlone(const std::string &name, std::string value);
  bool takesValue(const std::string &argument) const;

  template <typename T>
  static std::optional<Reason> read(std::string_view text, T &value) {
    std::optional<T> number = parseInteger<T>(text);
    if (!number)
      return "is no integer from " +
             std::to_string(std::numeric_limits<T>::min()) + " to " +
             std::to_string(std::numeric_limits<T>::max());
    value = *number;
    return std::nullopt;
  }

  manual::Verb table;
  bool wantsHelp = false;
  struct Parser;
  std::unique_ptr<Parser> parser;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_COMMANDLINE_H
