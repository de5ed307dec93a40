//===- TextMutator.cpp - changes of text that keep most of it -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include <algorithm>
#include <iterator>

using namespace blockscale;

// Those of <cctype> are undefined for bytes above 127.
static bool isDigit(char c) { return '0' <= c && c <= '9'; }
static bool isLetter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}
static bool isOfWord(char c) { return isDigit(c) || isLetter(c) || c == '_'; }

unsigned fuzz::below(Random &random, size_t count) {
  return unsigned(random() % std::max<size_t>(count, 1));
}

std::vector<std::string> fuzz::split(const std::string &text, char by) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

void fuzz::changeLines(Random &random, std::string &text,
                       const std::string &line) {
  std::vector<std::string> lines = split(text, '\n');
  unsigned at = below(random, lines.size());
  switch (random() % 4) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at,
                 std::string(lines[below(random, lines.size())]));
    break;
  case 2:
    std::swap(lines[at], lines[below(random, lines.size())]);
    break;
  default:
    lines.insert(lines.begin() + at, line);
    break;
  }
  // The only line of a text may just have gone.
  text.clear();
  for (size_t i = 0; i != lines.size(); ++i)
    text += (i ? "\n" : "") + lines[i];
}

static bool begins(const std::string &text, size_t at, char lead) {
  if (lead != '0' && lead != 'a')
    return text[at] == lead;
  char before = at ? text[at - 1] : ' ';
  bool fits = lead == '0' ? isDigit(text[at]) : isLetter(text[at]);
  return fits && !isOfWord(before) && before != '.';
}

static size_t endOfWord(const std::string &text, size_t from) {
  size_t to = from + 1;
  while (to < text.size() && (isOfWord(text[to]) || text[to] == ':'))
    ++to;
  return to;
}

static std::vector<size_t> wordsOf(const std::string &text, char lead) {
  std::vector<size_t> at;
  for (size_t i = 0; i < text.size(); ++i)
    if (begins(text, i, lead))
      at.push_back(i);
  return at;
}

void fuzz::replaceWord(Random &random, std::string &text, char lead,
                       const std::string &by) {
  std::vector<size_t> at = wordsOf(text, lead);
  if (at.empty())
    return;
  size_t from = at[below(random, at.size())];
  text.replace(from, endOfWord(text, from) - from, by);
}

std::string fuzz::wordOf(Random &random, const std::string &text) {
  std::vector<size_t> at = wordsOf(text, 'a');
  if (at.empty())
    return "";
  size_t from = at[below(random, at.size())];
  return text.substr(from, endOfWord(text, from) - from);
}

std::string fuzz::number(Random &random) {
  static const char *kNumbers[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "4",
                                   "7",
                                   "8",
                                   "16",
                                   "31",
                                   "32",
                                   "64",
                                   "96",
                                   "127",
                                   "128",
                                   "255",
                                   "256",
                                   "1024",
                                   "65535",
                                   "65536",
                                   "-1",
                                   "-128",
                                   "2147483647",
                                   "2147483648",
                                   "4294967295",
                                   "4294967296",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "18446744073709551616"};
  return kNumbers[below(random, std::size(kNumbers))];
}

void fuzz::changeText(Random &random, std::string &text) {
  for (unsigned i = 1 + below(random, 3); i; --i)
    switch (random() % 6) {
    case 0:
    case 1: {
      std::vector<std::string> lines = split(text, '\n');
      changeLines(random, text, lines[below(random, lines.size())]);
      break;
    }
    case 2:
    case 3:
      replaceWord(random, text, '0', number(random));
      break;
    case 4:
      replaceWord(random, text, 'a', wordOf(random, text));
      break;
    default:
      if (!text.empty())
        text[below(random, text.size())] = text[below(random, text.size())];
      break;
    }
}

size_t fuzz::store(const std::string &text, uint8_t *data, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.data(), size, data);
  return size;
}
