//===- CallGraph.h - which function calls which -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PROGRAM_CALLGRAPH_H
#define BLOCKSCALE_LIB_EMULATOR_PROGRAM_CALLGRAPH_H

#include "blockscale/Emulator/Ptx.h"

#include <vector>

namespace blockscale::emulator::machine {

/// The functions that a kernel reaches. An indirect call may reach each
/// function whose address the module takes and that has as many parameters and
/// results as the call passes.
class CallGraph {
public:
  CallGraph(const Module &module, uint32_t kernel);

  /// Functions with a body, callees before their callers where they are not
  /// recursive.
  const std::vector<uint32_t> &order() const { return reached; }
  /// Whether a call of the function may be reached from its body.
  bool recursive(uint32_t function) const;
  /// The functions that an indirect call may reach.
  std::vector<uint32_t> candidates(const Instruction &call) const;

private:
  void findTaken();
  void visit(uint32_t function, std::vector<uint8_t> &seen);
  std::vector<uint32_t> callees(uint32_t function) const;

  const Module &module;
  std::vector<uint32_t> taken, reached;
  std::vector<std::vector<uint32_t>> edges;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_PROGRAM_CALLGRAPH_H
