//===- Kernel.cpp - a kernel decoded once ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "blockscale/Emulator/Machine.h"

namespace blockscale::emulator {

Kernel::Kernel(const Module &module, std::string_view name,
               uint64_t globalAddress) {
  source = module.findFunction(name);
  if (!source || !source->isEntry || !source->hasBody) {
    source = nullptr;
    refused.push_back({FindingKind::Launch,
                       "no kernel '" + std::string(name) + "' in the module"});
    return;
  }
  auto decoded = std::make_shared<machine::Program>();
  decoded->module = &module;
  decoded->kernel = source;
  if (globalAddress)
    decoded->globalBase = globalAddress;
  if (machine::Decoder(*decoded).decode(refused))
    program = std::move(decoded);
}

uint32_t Kernel::staticSharedBytes() const {
  return program ? program->staticShared : 0;
}

uint64_t Kernel::localBytes() const {
  return program ? program->localBytes : 0;
}

ModuleVariables initialVariables(const Module &module, uint64_t globalAddress) {
  machine::Program program;
  program.module = &module;
  if (globalAddress)
    program.globalBase = globalAddress;
  ModuleVariables variables;
  if (!machine::Decoder(program).decodeVariables(variables.refusals))
    return variables;
  for (size_t i = 0; i != module.variables.size(); ++i) {
    uint64_t at = program.variableAddress[i];
    switch (module.variables[i].space) {
    case Space::Global:
      variables.offsets.push_back(at - program.globalBase);
      break;
    case Space::Const:
      variables.offsets.push_back(at);
      break;
    default:
      variables.offsets.push_back(0);
    }
  }
  variables.global = std::move(program.globalBytes);
  variables.constant = std::move(program.constBytes);
  return variables;
}

} // namespace blockscale::emulator
