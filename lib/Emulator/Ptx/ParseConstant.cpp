//===- ParseConstant.cpp - constant expressions ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64-bit integer arithmetic as in C, wrapping (PTX ISA 9.1, section 4.5).
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

namespace blockscale::emulator::ptx {

/// Binding strength of a binary operator, 0 for what is none.
static unsigned precedenceOf(uint16_t punct) {
  switch (punct) {
  case '*':
  case '/':
  case '%':
    return 10;
  case '+':
  case '-':
    return 9;
  case punct2('<', '<'):
  case punct2('>', '>'):
    return 8;
  case '<':
  case '>':
  case punct2('<', '='):
  case punct2('>', '='):
    return 7;
  case punct2('=', '='):
  case punct2('!', '='):
    return 6;
  case '&':
    return 5;
  case '^':
    return 4;
  case '|':
    return 3;
  case punct2('&', '&'):
    return 2;
  case punct2('|', '|'):
    return 1;
  default:
    return 0;
  }
}

bool Parser::parseConstant(Constant &value, unsigned depth) {
  return parseTernary(value, depth);
}

bool Parser::parseTernary(Constant &value, unsigned depth) {
  if (depth > kMaxDepth)
    return error("constant expression is nested deeper than " +
                 std::to_string(kMaxDepth));
  if (!parseBinary(value, 1, depth))
    return false;
  if (!accept('?'))
    return true;
  Constant yes, no;
  if (!parseTernary(yes, depth + 1) || !expect(':', "in the expression") ||
      !parseTernary(no, depth + 1))
    return false;
  value = value.bits ? yes : no;
  return true;
}

bool Parser::parseBinary(Constant &value, unsigned least, unsigned depth) {
  if (!parseUnary(value, depth))
    return false;
  while (token.kind == TokenKind::Punct) {
    unsigned precedence = precedenceOf(token.punct);
    if (precedence < least || precedence == 0)
      return true;
    Token op = token;
    advance();
    Constant right;
    if (!parseBinary(right, precedence + 1, depth) || !apply(op, value, right))
      return false;
  }
  return true;
}

bool Parser::apply(const Token &op, Constant &left, const Constant &right) {
  uint64_t a = left.bits, b = right.bits;
  bool isUnsigned = left.isUnsigned || right.isUnsigned;
  auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  auto set = [&](uint64_t bits) {
    left = {bits, isUnsigned};
    return true;
  };
  auto flag = [&](bool truth) {
    left = {truth, false};
    return true;
  };
  switch (op.punct) {
  case '*':
    return set(a * b);
  case '+':
    return set(a + b);
  case '-':
    return set(a - b);
  case '/':
  case '%': {
    if (b == 0)
      return error(op, "division by zero in a constant expression");
    bool quotient = op.punct == '/';
    if (isUnsigned)
      return set(quotient ? a / b : a % b);
    // INT64_MIN / -1 wraps.
    if (sb == -1)
      return set(quotient ? 0 - a : 0);
    return set(static_cast<uint64_t>(quotient ? sa / sb : sa % sb));
  }
  case punct2('<', '<'):
    isUnsigned = left.isUnsigned;
    return set(b > 63 ? 0 : a << b);
  case punct2('>', '>'):
    isUnsigned = left.isUnsigned;
    if (isUnsigned)
      return set(b > 63 ? 0 : a >> b);
    return set(static_cast<uint64_t>(sa >> (b > 63 ? 63 : b)));
  case '<':
    return flag(isUnsigned ? a < b : sa < sb);
  case '>':
    return flag(isUnsigned ? a > b : sa > sb);
  case punct2('<', '='):
    return flag(isUnsigned ? a <= b : sa <= sb);
  case punct2('>', '='):
    return flag(isUnsigned ? a >= b : sa >= sb);
  case punct2('=', '='):
    return flag(a == b);
  case punct2('!', '='):
    return flag(a != b);
  case '&':
    return set(a & b);
  case '^':
    return set(a ^ b);
  case '|':
    return set(a | b);
  case punct2('&', '&'):
    return flag(a && b);
  default:
    return flag(a || b);
  }
}

bool Parser::parseUnary(Constant &value, unsigned depth) {
  if (depth > kMaxDepth)
    return error("constant expression is nested deeper than " +
                 std::to_string(kMaxDepth));
  if (accept('+'))
    return parseUnary(value, depth + 1);
  if (accept('-')) {
    if (!parseUnary(value, depth + 1))
      return false;
    value.bits = 0 - value.bits;
    return true;
  }
  if (accept('~')) {
    if (!parseUnary(value, depth + 1))
      return false;
    value.bits = ~value.bits;
    return true;
  }
  if (accept('!')) {
    if (!parseUnary(value, depth + 1))
      return false;
    value = {value.bits == 0, false};
    return true;
  }
  return parsePrimary(value, depth);
}

bool Parser::parsePrimary(Constant &value, unsigned depth) {
  if (token.kind == TokenKind::Integer) {
    value = {token.value, token.isUnsigned};
    advance();
    return true;
  }
  if (token.kind == TokenKind::Name && text() == "WARP_SZ") {
    value = {32, true};
    advance();
    return true;
  }
  if (!accept('('))
    return error("expected an integer constant, found " + describe(token));
  if (isWord("s64") || isWord("u64")) {
    bool isUnsigned = isWord("u64");
    advance();
    if (!expect(')', "after the cast") || !parseUnary(value, depth + 1))
      return false;
    value.isUnsigned = isUnsigned;
    return true;
  }
  return parseTernary(value, depth + 1) && expect(')', "in the expression");
}

/// An integer expression, or a floating point literal with an optional sign.
bool Parser::parseImmediate(Operand &operand) {
  bool negative = isPunct('-') && (ahead.kind == TokenKind::Float32 ||
                                   ahead.kind == TokenKind::Float64);
  if (negative)
    advance();
  if (token.kind == TokenKind::Float32 || token.kind == TokenKind::Float64) {
    bool single = token.kind == TokenKind::Float32;
    uint64_t sign = uint64_t(negative) << (single ? 31 : 63);
    operand.kind = single ? OperandKind::Float32 : OperandKind::Float64;
    operand.value = static_cast<int64_t>(token.value ^ sign);
    advance();
    return true;
  }
  Constant constant;
  if (!parseConstant(constant))
    return false;
  operand.kind = OperandKind::Integer;
  operand.value = static_cast<int64_t>(constant.bits);
  return true;
}

} // namespace blockscale::emulator::ptx
