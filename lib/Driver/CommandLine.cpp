//===- CommandLine.cpp - the options of one verb --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>

using namespace blockscale;
using namespace blockscale::driver;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

struct CommandLine::Parser {
  Parser(const std::string &about, const std::string &name)
      : app(about, "blockscale " + name) {}

  CLI::App app;
  /// The option that takes all that follows it, and where to.
  std::string restName;
  std::vector<std::string> *rest = nullptr;
  bool restGiven = false;
  /// Options that need no value, and the ones that they have then.
  std::map<std::string, std::string> alone;
};

CommandLine::CommandLine(std::string name, std::string summary)
    : table{std::move(name), std::move(summary), {}, {}},
      parser(std::make_unique<Parser>(table.summary, table.name)) {
  // What is left over is named by us.
  parser->app.allow_extras();
}

CommandLine::~CommandLine() = default;

/// Both spellings of an option of one letter.
static std::string spellings(const std::string &name) {
  return name.size() == 1 ? "-" + name + ",--" + name : "--" + name;
}

void CommandLine::add(const std::string &name, const std::string &placeholder,
                      const std::string &help, bool isList, Setter set) {
  table.options.push_back({name, help, manual::Takes::Value, placeholder, {}});
  CLI::callback_t receive = [name, set](const CLI::results_t &values) {
    for (const std::string &value : values)
      if (auto why = set(value))
        throw CLI::ValidationError("--" + name, "'" + value + "' " + why->text);
    return true;
  };
  CLI::Option *option = parser->app.add_option(spellings(name), receive, help);
  option->type_name(placeholder);
  if (isList)
    option->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(false);
  else // The last of several counts, so that scripts can add to their defaults.
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void CommandLine::positional(const std::string &name, std::string &value,
                             const std::string &help) {
  table.arguments.push_back({name, help, false, {}});
  parser->app.add_option(name, value, help)->type_name("");
}

void CommandLine::positionals(const std::string &name,
                              std::vector<std::string> &values,
                              const std::string &help) {
  table.arguments.push_back({name, help, true, {}});
  parser->app.add_option(name, values, help)->required()->type_name("");
}

void CommandLine::text(const std::string &name, std::string &value,
                       const std::string &placeholder,
                       const std::string &help) {
  add(name, placeholder, help, /*isList=*/false,
      [&value](const std::string &word) {
        value = word;
        return std::nullopt;
      });
}

void CommandLine::texts(const std::string &name,
                        std::vector<std::string> &values,
                        const std::string &placeholder,
                        const std::string &help) {
  add(name, placeholder, help, /*isList=*/true,
      [&values](const std::string &word) {
        values.push_back(word);
        return std::nullopt;
      });
}

void CommandLine::flag(const std::string &name, bool &value,
                       const std::string &help) {
  table.options.push_back({name, help, manual::Takes::Nothing, {}, {}});
  parser->app.add_flag(spellings(name), value, help);
}

void CommandLine::flagOrName(const std::string &name, std::string &value,
                             const std::string &help) {
  table.options.push_back(
      {name, help, manual::Takes::OptionalValue, "NAME", {}});
  parser->app.add_flag(spellings(name), value, help)->type_name("[NAME]");
}

void CommandLine::rest(const std::string &name,
                       std::vector<std::string> &values,
                       const std::string &placeholder,
                       const std::string &help) {
  table.options.push_back({name, help, manual::Takes::Rest, placeholder, {}});
  parser->restName = name;
  parser->rest = &values;
  // For the help alone: parse() takes it before CLI11 sees it.
  parser->app.add_flag("--" + name, help)->type_name(placeholder);
}

void CommandLine::acceptAlone(const std::string &name, std::string value) {
  table.options.back().takes = manual::Takes::OptionalValue;
  parser->alone["--" + name] = std::move(value);
}

void CommandLine::suggest(const std::string &name, Words words) {
  for (manual::Option &option : table.options)
    if (option.name == name)
      option.words = words;
  for (manual::Argument &argument : table.arguments)
    if (argument.name == name)
      argument.words = words;
}

void CommandLine::suggest(const std::string &name,
                          const std::vector<std::string> &words) {
  Words pairs;
  for (const std::string &word : words)
    pairs.emplace_back(word, "");
  suggest(name, std::move(pairs));
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// `-name` as `--name`; "-", "--name", "-o" and numbers stay.
static std::string withTwoDashes(const std::string &argument) {
  bool isLong = argument.size() > 2 && argument[0] == '-' &&
                std::isalpha(static_cast<unsigned char>(argument[1]));
  return isLong ? "-" + argument : argument;
}

bool CommandLine::takesValue(const std::string &argument) const {
  for (const manual::Option &option : table.options)
    if (argument == "--" + option.name)
      return option.takes == manual::Takes::Value;
  return false;
}

/// Gives options without a value the one that they have then; CLI11 would take
/// the next argument for it.
static void giveAlone(std::vector<std::string> &arguments,
                      const std::map<std::string, std::string> &alone) {
  auto isNumber = [](const std::string &word) {
    return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
  };
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    auto found = alone.find(arguments[i]);
    bool hasValue = i + 1 < arguments.size() && isNumber(arguments[i + 1]);
    if (found != alone.end() && !hasValue)
      arguments[i] += "=" + found->second;
  }
}

std::optional<Reason> CommandLine::parse(std::vector<std::string> arguments) {
  for (std::string &argument : arguments)
    if (argument == "--")
      break;
    else if (parser->rest && withTwoDashes(argument) == "--" + parser->restName)
      break;
    else
      argument = withTwoDashes(argument);
  if (parser->rest) {
    auto at = std::find_if(
        arguments.begin(), arguments.end(), [&](const std::string &argument) {
          return withTwoDashes(argument) == "--" + parser->restName;
        });
    if (at != arguments.end()) {
      parser->restGiven = true;
      auto first = arguments.erase(at);
      while (first != arguments.end() && (*first)[0] == '-') {
        *first = withTwoDashes(*first);
        bool isAlone = !takesValue(*first) || first + 1 == arguments.end();
        first += isAlone ? 1 : 2;
      }
      parser->rest->assign(first, arguments.end());
      arguments.erase(first, arguments.end());
    }
  }
  giveAlone(arguments, parser->alone);
  // CLI11 takes the next argument for the value of '--name='.
  for (const std::string &argument : arguments) {
    if (argument == "--")
      break;
    if (argument.size() > 2 && argument[0] == '-' &&
        argument.find('=') == argument.size() - 1)
      return "'" + argument + "' gives no value";
  }
  // CLI11 takes them from the back.
  std::reverse(arguments.begin(), arguments.end());
  try {
    parser->app.parse(arguments);
  } catch (const CLI::CallForHelp &) {
    wantsHelp = true;
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    return error.what();
  }
  std::vector<std::string> unknown = parser->app.remaining();
  if (unknown.empty())
    return std::nullopt;
  bool isOption = unknown.front().size() > 1 && unknown.front()[0] == '-';
  return std::string(isOption ? "unknown option '" : "unexpected argument '") +
         unknown.front() + "'; 'blockscale " + name() +
         " --help' lists what there is";
}

bool CommandLine::isGiven(const std::string &name) const {
  if (parser->rest && name == parser->restName)
    return parser->restGiven;
  return parser->app.count("--" + name) > 0;
}

std::string CommandLine::help() const { return parser->app.help(); }
