//===- KernelNames.cpp - what the Python of a kernel calls things ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace blockscale::nki;

/// Words that are not free in the file: Python's and the modules' names.
static constexpr llvm::StringLiteral kReserved[] = {
    "False", "None",   "True",   "and",   "as",       "assert", "async",
    "await", "break",  "class",  "def",   "continue", "del",    "elif",
    "else",  "except", "for",    "from",  "finally",  "global", "if",
    "in",    "import", "lambda", "is",    "nki",      "nisa",   "nl",
    "not",   "or",     "pass",   "raise", "nonlocal", "range",  "return",
    "try",   "while",  "with",   "yield"};

std::string blockscale::nki::pythonName(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()) ||
      llvm::is_contained(kReserved, text))
    text = "_" + text;
  return text;
}

std::string KernelNames::unique(StringRef wish) {
  std::string name = pythonName(wish);
  for (unsigned i = 0; !taken.insert(name).second; ++i)
    name = pythonName(wish) + "_" + std::to_string(i);
  return name;
}

KernelNames::KernelNames(KernelOp kernel) {
  taken.insert(pythonName(kernel.getName()));
  for (auto [argument, attribute] : llvm::zip(
           kernel.getBody().front().getArguments(), kernel.getParameters()))
    names[argument] = unique(cast<HostTensorAttr>(attribute).getName());
  // Loops beside each other may share a variable, loops in each other not.
  llvm::StringMap<unsigned> counts;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto tile = dyn_cast<AllocOp>(op))
      ++counts[tile.getName()];
    auto loop = dyn_cast<LoopOp>(op);
    if (!loop)
      return;
    std::string name = pythonName(loop.getName());
    auto used = [&](StringRef wish) {
      for (Operation *outer = loop->getParentOp(); outer;
           outer = outer->getParentOp())
        if (auto other = dyn_cast<LoopOp>(outer))
          if (of(other.getVariable()) == wish)
            return true;
      return llvm::any_of(kernel.getBody().front().getArguments(),
                          [&](Value value) { return of(value) == wish; });
    };
    while (used(name))
      name += "_";
    names[loop.getVariable()] = name;
  });
  kernel.walk([&](LoopOp loop) { taken.insert(of(loop.getVariable())); });
  llvm::StringMap<unsigned> next;
  kernel.walk<WalkOrder::PreOrder>([&](AllocOp tile) {
    std::string wish = tile.getName().str();
    if (counts[wish] > 1)
      wish += "_" + std::to_string(next[tile.getName()]++);
    names[tile.getResult()] = unique(wish);
  });
}
