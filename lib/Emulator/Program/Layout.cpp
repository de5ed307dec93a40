//===- Layout.cpp - places of registers and variables ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Heap.h"
#include "Decoder.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// What a program may declare. The shared memory of a chip is checked at the
/// launch, so the limit here only keeps the arithmetic small.
constexpr uint64_t kMaxSharedBytes = 1 << 20;
constexpr uint64_t kMaxConstBytes = 10 << 16; ///< ten banks of 64 KiB
constexpr uint64_t kMaxGlobalBytes = 1 << 28;
constexpr uint64_t kMaxLocalBytes = 512 << 10; ///< per thread
constexpr uint64_t kStackBytes = 16 << 10;     ///< same, where there is one

uint64_t alignTo(uint64_t value, uint64_t align) {
  return align > 1 ? (value + align - 1) / align * align : value;
}

} // namespace

Slot Decoder::allocate(unsigned bytes) {
  if (program.registerBytes + bytes > kMaxRegisterBytes) {
    tooManyRegisters = true;
    return scratch();
  }
  Slot slot = program.registerBytes;
  program.registerBytes += unsigned(alignTo(bytes, 64));
  return slot;
}

bool Decoder::reserve(uint64_t &used, uint64_t size, uint64_t align,
                      uint64_t limit, const char *what,
                      const SourcePosition &position, uint64_t &at) {
  at = alignTo(used, std::max<uint64_t>(align, 1));
  if (at > limit || size > limit - at) {
    if (layoutErrors.empty())
      layoutErrors.push_back(
          {FindingKind::Unsupported,
           "more than " + std::to_string(limit) + " bytes of " + what,
           position.line});
    at = 0;
    return false;
  }
  used = at + size;
  return true;
}

void Decoder::layoutModule(const std::vector<uint32_t> &order) {
  const Module &module = *program.module;
  uint64_t shared = kSharedBase, align = 16, global = 0, constant = 0;
  program.variableAddress.assign(module.variables.size(), 0);
  auto place = [&](const Variable &v) -> uint64_t {
    uint64_t at = 0;
    switch (v.space) {
    case Space::Shared:
      if (v.size == 0) {
        align = std::max<uint64_t>(align, v.align);
        return ~uint64_t(0);
      }
      reserve(shared, v.size, v.align, kMaxSharedBytes, "shared memory",
              v.position, at);
      return at;
    case Space::Const:
      reserve(constant, v.size, v.align, kMaxConstBytes, "constant memory",
              v.position, at);
      return at;
    case Space::Global:
      reserve(global, v.size, v.align, kMaxGlobalBytes, "global variables",
              v.position, at);
      return program.globalBase + at;
    case Space::Local:
    case Space::Param:
      reserve(program.localBytes, v.size, v.align, kMaxLocalBytes,
              "local memory per thread", v.position, at);
      return at;
    }
    return at;
  };
  for (size_t i = 0; i != module.variables.size(); ++i)
    program.variableAddress[i] = place(module.variables[i]);
  for (uint32_t index : order) {
    FunctionCode &code = codeOf(index);
    for (const Variable &variable : module.functions[index].variables) {
      uint64_t at = 0;
      if (code.recursive && variable.space == Space::Local)
        reserve(code.frameBytes, variable.size, variable.align, kStackBytes,
                "stack per thread", variable.position, at);
      else
        at = place(variable);
      if (code.recursive && variable.space == Space::Param)
        code.memory.push_back({at, variable.size});
      layouts[index].variables.push_back(at);
    }
  }
  uint64_t dynamic = 0;
  reserve(shared, 0, align, kMaxSharedBytes, "shared memory", {}, dynamic);
  program.constBytes.resize(constant);
  if (uint64_t heap = heapBytes(module)) {
    uint64_t at = 0;
    reserve(global, heap, 16, kMaxGlobalBytes, "global variables", {}, at);
  }
  program.globalBytes.resize(global);
  program.staticShared = uint32_t(shared - kSharedBase);
  program.dynamicShared = uint32_t(std::max(dynamic, shared) - kSharedBase);
  for (uint64_t &at : program.variableAddress)
    if (at == ~uint64_t(0))
      at = dynamic;
  for (auto &[index, one] : layouts)
    for (uint64_t &at : one.variables)
      if (at == ~uint64_t(0))
        at = dynamic;
}

void Decoder::layoutFunction(uint32_t index) {
  const Function &function = program.module->functions[index];
  Layout &one = layouts[index];
  for (const Register &reg : function.registers) {
    unsigned width = reg.width();
    one.registers.push_back(allocate(width == 1 ? 4 : 4 * std::max(width, 8u)));
  }
  auto place = [&](const Parameter &parameter) {
    uint64_t at = 0;
    reserve(program.localBytes, parameter.size, std::max(parameter.align, 16u),
            kMaxLocalBytes, "local memory per thread", function.position, at);
    codeOf(index).memory.push_back({at, parameter.size});
    return at;
  };
  if (function.isEntry)
    return;
  for (const Parameter &parameter : function.parameters)
    one.parameters.push_back(place(parameter));
  for (const Parameter &parameter : function.returns)
    one.returns.push_back(place(parameter));
}

void Decoder::layoutStack() {
  bool used = false;
  for (FunctionCode &code : program.functions) {
    bool grows = code.recursive;
    for (const Instruction &in : code.source->instructions)
      grows |= in.opcode == Opcode::Alloca || in.opcode == Opcode::StackSave ||
               in.opcode == Opcode::StackRestore;
    code.framed = grows && !code.source->isEntry;
    used |= grows;
  }
  if (!used)
    return;
  reserve(program.localBytes, kStackBytes, 16, kMaxLocalBytes,
          "local memory per thread", program.kernel->position,
          program.stackBase);
  program.stackEnd = program.stackBase + kStackBytes;
  program.stackTop = allocate(256);
}

/// What a call of a recursive function puts aside, now that all is laid out.
void Decoder::listKept() {
  for (auto &[index, one] : layouts) {
    FunctionCode &code = codeOf(index);
    if (!code.recursive) {
      code.memory.clear();
      continue;
    }
    const Function &function = program.module->functions[index];
    for (size_t i = 0; i != one.registers.size(); ++i) {
      unsigned width = function.registers[i].width();
      code.kept.push_back(
          {one.registers[i], width == 1 ? 1 : std::max(width, 8u)});
    }
    for (const FrameAddress &address : code.addresses)
      code.kept.push_back({address.slot, address.bits});
    code.kept.push_back({code.returnPc, 32});
    code.kept.push_back({code.plan, 32});
  }
}

void Decoder::fillInitialisers() {
  const Module &module = *program.module;
  for (size_t i = 0; i != module.variables.size(); ++i) {
    const Variable &variable = module.variables[i];
    uint8_t *at = nullptr;
    if (variable.space == Space::Const)
      at = program.constBytes.data() + program.variableAddress[i];
    else if (variable.space == Space::Global)
      at = program.globalBytes.data() +
           (program.variableAddress[i] - program.globalBase);
    if (!at)
      continue;
    if (!variable.init.empty())
      std::memcpy(at, variable.init.data(),
                  std::min<uint64_t>(variable.init.size(), variable.size));
    for (const Relocation &relocation : variable.relocations) {
      uint64_t value = kFunctionWindow + relocation.function;
      if (relocation.variable != kNone) {
        value = program.variableAddress[relocation.variable];
        Space space = module.variables[relocation.variable].space;
        if (relocation.generic)
          value += space == Space::Const    ? kConstWindow
                   : space == Space::Shared ? kSharedWindow
                                            : 0;
      }
      value = (value + relocation.addend) >> relocation.shift;
      if (relocation.offset + relocation.size <= variable.size)
        std::memcpy(at + relocation.offset, &value,
                    std::min<int>(relocation.size, 8));
    }
  }
}

void Decoder::findNeverWritten(const std::vector<uint32_t> &order) {
  std::vector<bool> written(program.registerBytes / 64 + 1), read(written);
  for (const Flow &one : program.flows) {
    for (Slot slot : one.destinations)
      written[slot >> 6] = true;
    for (const std::vector<Slot> *slots : {&one.sources, &one.data})
      for (Slot slot : *slots)
        if (!(slot & kConstantBank))
          read[slot >> 6] = true;
  }
  for (const Record &record : program.code)
    if (record.guard != kNoSlot)
      read[record.guard >> 6] = true;
  for (uint32_t index : order) {
    const Function &one = program.module->functions[index];
    // Calls write the formal parameters.
    for (const Parameter &parameter : one.parameters)
      if (parameter.reg != kNone)
        written[layouts[index].registers[parameter.reg] >> 6] = true;
    for (Slot slot : layouts[index].registers)
      if (read[slot >> 6] && !written[slot >> 6])
        program.neverWritten.push_back(slot);
  }
}

} // namespace blockscale::emulator::machine
