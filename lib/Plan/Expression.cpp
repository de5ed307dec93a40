//===- Expression.cpp - integer formulas of a launch plan -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Expression.h"
#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::plan;

namespace {
/// Evaluates while it parses. The first error wins and is kept; values behind
/// it are of no consequence. Without an environment every known name is 1 and
/// arithmetic is not judged: only the grammar is.
class Evaluator {
public:
  Evaluator(std::string_view text, const Environment *environment,
            std::initializer_list<std::string_view> places = {})
      : text(text), environment(environment), places(places) {}

  Result<int64_t> run() {
    int64_t value = parseSum();
    if (!why && peek() != '\0')
      fail("unexpected '" + std::string(1, peek()) + "'");
    if (why)
      return *why;
    return value;
  }

private:
  static constexpr unsigned kMaxDepth = 200;

  void fail(const std::string &what) {
    if (!why)
      why = Reason(what + " in expression '" +
                       std::string(text.substr(0, 200)) + "'",
                   position);
  }

  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\t'))
      ++position;
  }

  char peek() {
    skipSpace();
    return position < text.size() ? text[position] : '\0';
  }

  bool consume(char c) {
    if (peek() != c || position == text.size())
      return false;
    ++position;
    return true;
  }

  void expect(char c) {
    if (!consume(c))
      fail(std::string("expected '") + c + "'");
  }

  int64_t overflow() {
    if (environment)
      fail("a value exceeds 64 bits");
    return 1;
  }

  int64_t divide(char op, int64_t x, int64_t y) {
    if (y <= 0) {
      if (environment)
        fail("divisor " + std::to_string(y) + " is not positive");
      return 1;
    }
    int64_t quotient = x / y, remainder = x % y;
    if (op == 'c')
      return quotient + (remainder > 0);
    if (remainder < 0) {
      remainder += y;
      --quotient;
    }
    return op == '/' ? quotient : remainder;
  }

  int64_t combine(char op, int64_t x, int64_t y) {
    int64_t result = 0;
    bool bad = false;
    if (op == '+')
      bad = __builtin_add_overflow(x, y, &result);
    else if (op == '-')
      bad = __builtin_sub_overflow(x, y, &result);
    else if (op == '*')
      bad = __builtin_mul_overflow(x, y, &result);
    else
      return divide(op, x, y);
    return bad ? overflow() : result;
  }

  int64_t parseSum() {
    int64_t value = parseProduct();
    while (!why && (peek() == '+' || peek() == '-')) {
      char op = text[position++];
      value = combine(op, value, parseProduct());
    }
    return value;
  }

  int64_t parseProduct() {
    int64_t value = parseFactor();
    while (!why && (peek() == '*' || peek() == '/' || peek() == '%')) {
      char op = text[position++];
      value = combine(op, value, parseFactor());
    }
    return value;
  }

  int64_t parseFactor() {
    if (++depth > kMaxDepth)
      fail("nesting deeper than " + std::to_string(kMaxDepth));
    int64_t value = why ? 1 : parseAtom();
    --depth;
    return value;
  }

  int64_t parseAtom() {
    char c = peek();
    if (c >= '0' && c <= '9')
      return parseNumber();
    if (isNameStart(c))
      return parseName();
    if (consume('-'))
      return combine('-', 0, parseFactor());
    if (consume('(')) {
      int64_t value = parseSum();
      expect(')');
      return value;
    }
    fail(c == '\0' ? "unexpected end"
                   : "unexpected '" + std::string(1, c) + "'");
    return 1;
  }

  int64_t parseNumber() {
    int64_t value = 0;
    while (position < text.size() && text[position] >= '0' &&
           text[position] <= '9') {
      int64_t digit = text[position++] - '0';
      if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) {
        fail("a number exceeds 64 bits");
        return 1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  static bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  int64_t parseName() {
    size_t start = position;
    while (position < text.size() &&
           (isNameStart(text[position]) ||
            (text[position] >= '0' && text[position] <= '9')))
      ++position;
    std::string_view name = text.substr(start, position - start);
    if (peek() == '(')
      return parseCall(name);
    return lookUp(name);
  }

  int64_t parseCall(std::string_view name) {
    if (name != "ceildiv" && name != "min" && name != "max") {
      fail("unknown function '" + std::string(name) + "'");
      return 1;
    }
    expect('(');
    int64_t x = parseSum();
    expect(',');
    int64_t y = parseSum();
    expect(')');
    if (why)
      return 1;
    if (name == "ceildiv")
      return divide('c', x, y);
    return name == "min" ? std::min(x, y) : std::max(x, y);
  }

  int64_t lookUp(std::string_view name) {
    if (!environment) {
      for (std::string_view known :
           {"M", "N", "K", "batch", "num_sms", "max_clusters", "tokens"})
        if (name == known)
          return 1;
      for (std::string_view known : places)
        if (name == known)
          return 1;
      fail("unknown name '" + std::string(name) + "'");
      return 1;
    }
    auto found = environment->find(name);
    if (found != environment->end())
      return found->second;
    fail("no value for '" + std::string(name) + "'");
    return 1;
  }

  std::string_view text;
  const Environment *environment;
  /// Names that are known besides those of a plan, without an environment.
  std::initializer_list<std::string_view> places;
  size_t position = 0;
  unsigned depth = 0;
  std::optional<Reason> why;
};
} // namespace

Result<int64_t> blockscale::plan::evaluate(std::string_view text,
                                           const Environment &environment) {
  return Evaluator(text, &environment).run();
}

std::optional<Reason> blockscale::plan::whyNotExpression(
    std::string_view text, std::initializer_list<std::string_view> places) {
  Result<int64_t> result = Evaluator(text, nullptr, places).run();
  if (!result)
    return result.why();
  return std::nullopt;
}

/// The sides of a condition; the right one is empty without "==".
static std::pair<std::string_view, std::string_view>
sidesOf(std::string_view text) {
  constexpr std::string_view kEquals = "==";
  size_t at = text.find(kEquals);
  if (at == text.npos)
    return {text, {}};
  return {text.substr(0, at), text.substr(at + kEquals.size())};
}

Result<bool> blockscale::plan::holds(std::string_view text,
                                     const Environment &environment) {
  auto [left, right] = sidesOf(text);
  Result<int64_t> leftValue = evaluate(left, environment);
  if (!leftValue)
    return leftValue.why();
  Result<int64_t> rightValue = evaluate(right, environment);
  if (!rightValue)
    return rightValue.why().within(right.data() - text.data());
  return *leftValue == *rightValue;
}

std::optional<Reason> blockscale::plan::whyNotCondition(std::string_view text) {
  auto [left, right] = sidesOf(text);
  if (auto why = whyNotExpression(left))
    return why;
  auto why = whyNotExpression(right);
  return why && right.data() ? why->within(right.data() - text.data()) : why;
}
