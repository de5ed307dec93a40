//===- CallGraph.cpp - which function calls which -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallGraph.h"

#include <algorithm>

namespace blockscale::emulator::machine {

CallGraph::CallGraph(const Module &module, uint32_t kernel)
    : module(module), edges(module.functions.size()) {
  findTaken();
  std::vector<uint8_t> seen(module.functions.size(), 0);
  visit(kernel, seen);
}

void CallGraph::findTaken() {
  std::vector<bool> isTaken(module.functions.size());
  for (const Variable &variable : module.variables)
    for (const Relocation &relocation : variable.relocations)
      if (relocation.function != kNone)
        isTaken[relocation.function] = true;
  for (const Function &function : module.functions)
    for (const Instruction &in : function.instructions)
      for (size_t i = 0; i != in.operands.size(); ++i)
        if (in.operands[i].kind == OperandKind::Function &&
            in.opcode != Opcode::Call)
          isTaken[in.operands[i].index] = true;
  for (uint32_t i = 0; i != isTaken.size(); ++i)
    if (isTaken[i] && module.functions[i].hasBody &&
        !module.functions[i].isEntry)
      taken.push_back(i);
}

std::vector<uint32_t> CallGraph::candidates(const Instruction &call) const {
  std::vector<uint32_t> found;
  if (call.operands.size() != 3)
    return found;
  for (uint32_t index : taken) {
    const Function &function = module.functions[index];
    if (function.returns.size() == call.operands[0].elements.size() &&
        function.parameters.size() == call.operands[2].elements.size())
      found.push_back(index);
  }
  return found;
}

std::vector<uint32_t> CallGraph::callees(uint32_t function) const {
  std::vector<uint32_t> all;
  for (const Instruction &in : module.functions[function].instructions) {
    if (in.opcode != Opcode::Call || in.operands.size() < 2)
      continue;
    if (in.operands[1].kind != OperandKind::Function) {
      std::vector<uint32_t> some = candidates(in);
      all.insert(all.end(), some.begin(), some.end());
    } else if (module.functions[in.operands[1].index].hasBody) {
      all.push_back(in.operands[1].index);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void CallGraph::visit(uint32_t function, std::vector<uint8_t> &seen) {
  seen[function] = 1;
  edges[function] = callees(function);
  for (uint32_t callee : edges[function])
    if (!seen[callee])
      visit(callee, seen);
  reached.push_back(function);
}

bool CallGraph::recursive(uint32_t function) const {
  std::vector<bool> seen(edges.size());
  std::vector<uint32_t> open = edges[function];
  while (!open.empty()) {
    uint32_t next = open.back();
    open.pop_back();
    if (next == function)
      return true;
    if (seen[next])
      continue;
    seen[next] = true;
    open.insert(open.end(), edges[next].begin(), edges[next].end());
  }
  return false;
}

} // namespace blockscale::emulator::machine
