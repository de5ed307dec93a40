//===- PtxName.cpp - names of kernels -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/PtxName.h"

using namespace blockscale;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool startsWith(std::string_view name, std::string_view start) {
  return name.substr(0, start.size()) == start;
}
static bool endsWith(std::string_view name, std::string_view end) {
  return name.size() >= end.size() &&
         name.substr(name.size() - end.size()) == end;
}

/// Whether something else has the name, or a name made from it.
static bool isReserved(std::string_view name) {
  // PTX ISA 9.0, section 4.5, "Predefined Identifiers": of those without a
  // percent sign this is the only one. Opcodes and directives are no reserved
  // words to ptxas.
  if (name == "WARP_SZ")
    return true;
  // LLVM knows these as functions with a meaning; shared memory has one; a
  // launcher makes `fArguments` of f.
  return startsWith(name, "__") || startsWith(name, "blockscale_") ||
         endsWith(name, "Arguments");
}

std::string hw::ptxName(std::string_view source) {
  std::string name;
  bool hasLetter = false;
  for (char c : source) {
    name += isLetter(c) || isDigit(c) ? c : '_';
    hasLetter |= isLetter(c) || isDigit(c);
  }
  if (!hasLetter || isReserved(name))
    name = "kernel" + name;
  if (isReserved(name))
    name += "_";
  if (isDigit(name.front()))
    name = "_" + name;
  return name;
}
