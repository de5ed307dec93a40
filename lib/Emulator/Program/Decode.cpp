//===- Decode.cpp - operands into slots, functions into code --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>

namespace blockscale::emulator::machine {

bool isSigned(Type type) {
  switch (type) {
  case Type::S8:
  case Type::S16:
  case Type::S32:
  case Type::S64:
  case Type::S16x2:
  case Type::S4:
    return true;
  default:
    return false;
  }
}

bool isFloat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::Bf16:
  case Type::Bf16x2:
  case Type::Tf32:
  case Type::F32:
  case Type::F32x2:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

/// The bits of a double, rounded to single precision.
static uint32_t singleBits(uint64_t bits) {
  double wide;
  std::memcpy(&wide, &bits, sizeof wide);
  auto narrow = float(wide);
  uint32_t result;
  std::memcpy(&result, &narrow, sizeof result);
  return result;
}

Decoder::Decoder(Program &program) : program(program) {}

bool Decoder::refuse(std::string why, Hazard hazard) {
  if (refusal.empty()) {
    refusal = std::move(why);
    refusalHazard = hazard;
  }
  return false;
}

Slot Decoder::constant(uint64_t value, unsigned bits) {
  auto [it, isNew] = constantSlots.try_emplace({value, bits}, 0);
  if (!isNew)
    return it->second;
  Slot offset = Slot(program.constants.size());
  unsigned bytes = bits == 1 ? 4 : bits / 8;
  unsigned total = bits == 1 ? 4 : 32 * bytes;
  program.constants.resize((offset + total + 63) / 64 * 64);
  uint8_t *at = program.constants.data() + offset;
  if (bits == 1) {
    uint32_t mask = value ? ~0u : 0;
    std::memcpy(at, &mask, 4);
  } else {
    for (unsigned lane = 0; lane != 32; ++lane)
      std::memcpy(at + lane * bytes, &value, std::min(bytes, 8u));
  }
  return it->second = offset | kConstantBank;
}

Slot Decoder::special(const Operand &operand, unsigned bits) {
  unsigned component =
      operand.component == kWholeVector ? 0 : operand.component;
  // Of %envreg<32> only 1 and 2 hold anything; the key has room for 0 to 3.
  if (component > 3)
    return constant(0, bits);
  uint32_t key =
      uint32_t(operand.special) << 3 | (bits == 64 ? 4 : 0) | component;
  auto [it, isNew] = specialSlots.try_emplace(key, 0);
  if (isNew) {
    it->second = allocate(bits == 64 ? 256 : 128);
    program.specials.emplace_back(key, it->second);
  }
  return it->second;
}

uint64_t Decoder::symbolAddress(const SymbolRef &symbol) {
  switch (symbol.scope) {
  case SymbolScope::Module:
    return program.variableAddress[symbol.index];
  case SymbolScope::Function:
    return layout->variables[symbol.index];
  case SymbolScope::Parameter:
    return current->isEntry ? current->parameters[symbol.index].offset
                            : layout->parameters[symbol.index];
  case SymbolScope::Return:
    return layout->returns[symbol.index];
  case SymbolScope::None:
    break;
  }
  return 0;
}

Slot Decoder::source(const Operand &operand, unsigned bits) {
  if (bits != 1 && bits < 8) {
    refuse("no register has " + std::to_string(bits) + " bits");
    return scratch();
  }
  switch (operand.kind) {
  case OperandKind::Register: {
    unsigned width = current->registers[operand.reg].width();
    if (width != bits)
      refuse("register '" + current->registerName(operand.reg) + "' has " +
             std::to_string(width) + " bits, expected " + std::to_string(bits));
    Slot slot = layout->registers[operand.reg];
    flow().sources.push_back(slot);
    return slot;
  }
  case OperandKind::Integer:
    return constant(bits >= 64 ? operand.bits()
                               : operand.bits() & ((uint64_t(1) << bits) - 1),
                    bits);
  case OperandKind::Float32:
    return constant(operand.bits() & 0xFFFFFFFFu, bits);
  case OperandKind::Float64:
    if (bits == 32)
      return constant(singleBits(operand.bits()), 32);
    return constant(operand.bits(), bits);
  case OperandKind::Symbol: {
    uint64_t address = symbolAddress(operand.symbol) + operand.value;
    if (inFrame(operand.symbol))
      return frameAddress(address, bits == 32 ? 32 : 64);
    return constant(
        bits >= 64 ? address : address & ((uint64_t(1) << bits) - 1), bits);
  }
  case OperandKind::Function:
    return constant(kFunctionWindow + operand.index, bits);
  case OperandKind::Special:
    return special(operand, bits);
  case OperandKind::Vector:
    if (operand.elements.size() == 1)
      return source(operand.elements[0], bits);
    [[fallthrough]];
  default:
    refuse("operand is not a value");
    return scratch();
  }
}

Slot Decoder::sourceAny(const Operand &operand, unsigned &bits) {
  if (operand.kind == OperandKind::Register)
    bits = current->registers[operand.reg].width();
  else
    bits = 64;
  return source(operand, bits);
}

Slot Decoder::destination(const Operand &operand, unsigned bits) {
  if (operand.kind == OperandKind::Sink)
    return scratch();
  if (operand.kind == OperandKind::Vector && operand.elements.size() == 1)
    return destination(operand.elements[0], bits);
  if (operand.kind != OperandKind::Register) {
    refuse("destination is not a register");
    return scratch();
  }
  unsigned width = current->registers[operand.reg].width();
  if (width != bits)
    refuse("register '" + current->registerName(operand.reg) + "' has " +
           std::to_string(width) + " bits, expected " + std::to_string(bits));
  Slot slot = layout->registers[operand.reg];
  flow().destinations.push_back(slot);
  return slot;
}

Slot Decoder::destinationAny(const Operand &operand, unsigned &bits) {
  if (operand.kind == OperandKind::Register)
    bits = current->registers[operand.reg].width();
  return destination(operand, bits);
}

Slot Decoder::predicate(const Operand &operand) {
  if (operand.kind == OperandKind::Integer)
    return constant(operand.value != 0, 1);
  return source(operand, 1) | (operand.negated ? 1 : 0);
}

Slot Decoder::predicateOut(const Operand &operand) {
  return destination(operand, 1);
}

AddressOperand Decoder::address(const Operand &operand) {
  AddressOperand result;
  result.imm = operand.value;
  if (operand.symbol) {
    result.add(symbolAddress(operand.symbol));
    if (inFrame(operand.symbol)) {
      result.base = frameAddress(uint64_t(result.imm), 64);
      result.imm = 0;
    }
    return result;
  }
  if (operand.reg == kNone)
    return result;
  unsigned width = current->registers[operand.reg].width();
  if (width != 32 && width != 64)
    refuse("address register must have 32 or 64 bits");
  result.wide = width == 64;
  result.base = layout->registers[operand.reg];
  flow().sources.push_back(result.base);
  return result;
}

Slots Decoder::slots(const Operand &operand, unsigned bits, bool write,
                     Slot sink) {
  std::vector<Slot> result;
  auto add = [&](const Operand &one) {
    result.push_back(!write                          ? source(one, bits)
                     : one.kind == OperandKind::Sink ? sink
                                                     : destination(one, bits));
  };
  if (operand.kind == OperandKind::Vector)
    for (const Operand &one : operand.elements)
      add(one);
  else
    add(operand);
  return list(result);
}

FunctionCode &Decoder::codeOf(uint32_t index) {
  return program.functions[functionSlot.at(index)];
}

std::optional<uint32_t> Decoder::currentFunctionCode() const {
  if (current->isEntry)
    return std::nullopt;
  return functionSlot.at(uint32_t(current - program.module->functions.data()));
}

uint32_t Decoder::addCall(uint32_t index, CallPlan plan) {
  plan.function = functionSlot.at(index);
  program.calls.push_back(std::move(plan));
  return uint32_t(program.calls.size() - 1);
}

bool Decoder::inFrame(const SymbolRef &symbol) const {
  std::optional<uint32_t> index = currentFunctionCode();
  return index && symbol.scope == SymbolScope::Function &&
         program.functions[*index].recursive &&
         current->variables[symbol.index].space == Space::Local;
}

Slot Decoder::frameAddress(uint64_t offset, unsigned bits) {
  FunctionCode &code = program.functions[*currentFunctionCode()];
  for (const FrameAddress &address : code.addresses)
    if (address.offset == offset && address.bits == bits)
      return address.slot;
  Slot slot = allocate(4 * bits);
  code.addresses.push_back({slot, offset, bits});
  return slot;
}

std::optional<Slot> Decoder::localPlace(const Operand &operand,
                                        uint64_t bytes) {
  if (operand.kind != OperandKind::Symbol || operand.value != 0)
    return std::nullopt;
  uint64_t size = 0;
  switch (operand.symbol.scope) {
  case SymbolScope::Function: {
    const Variable &variable = current->variables[operand.symbol.index];
    if (variable.space == Space::Param ||
        (variable.space == Space::Local && !inFrame(operand.symbol)))
      size = variable.size;
    break;
  }
  case SymbolScope::Parameter:
  case SymbolScope::Return:
    if (!current->isEntry) {
      bool isReturn = operand.symbol.scope == SymbolScope::Return;
      const Parameter &parameter =
          (isReturn ? current->returns
                    : current->parameters)[operand.symbol.index];
      size = parameter.reg == kNone ? parameter.size : 0;
    }
    break;
  default:
    break;
  }
  if (size < bytes || size == 0)
    return std::nullopt;
  return Slot(symbolAddress(operand.symbol));
}

Slot Decoder::formalPlace(uint32_t index, size_t i, bool result) {
  const Function &callee = program.module->functions[index];
  const Parameter &formal = result ? callee.returns[i] : callee.parameters[i];
  Layout &one = layouts[index];
  if (formal.reg != kNone)
    return one.registers[formal.reg];
  return Slot(result ? one.returns[i] : one.parameters[i]);
}

bool Decoder::decodeOne(const Instruction &in, Record &record) {
  static constexpr bool (*kFamilies[])(Decoder &, const Instruction &,
                                       Record &) = {
      decodeMove,     decodeFloat,     decodeInteger, decodeConvert,
      decodeCompare,  decodeCalls,     decodeControl, decodeMemory,
      decodeFence,    decodeAtomic,    decodeWarp,    decodeBarrier,
      decodeMbarrier, decodeCopy,      decodeTma,     decodeTensor,
      decodeMatrix,   decodeWarpgroup, decodeVideo};
  for (auto family : kFamilies) {
    if (family(*this, in, record))
      return refusal.empty();
    if (!refusal.empty())
      return false;
  }
  return refuse("instruction is not supported");
}

bool Decoder::decodeFunction(uint32_t index, std::vector<Finding> &errors) {
  current = &program.module->functions[index];
  layout = &layouts[index];
  functionBase = uint32_t(program.code.size());
  codeOf(index).entry = functionBase;
  size_t count = current->instructions.size();
  // One more, so that a label at the end and a missing ret leave the function.
  program.code.resize(functionBase + count + 1);
  program.flows.resize(functionBase + count + 1);
  static const Instruction kReturn = [] {
    Instruction in;
    in.opcode = Opcode::Ret;
    return in;
  }();
  for (size_t i = 0; i <= count; ++i) {
    const Instruction &in = i == count ? kReturn : current->instructions[i];
    Record &record = program.code[functionBase + i];
    currentFlow = &program.flows[functionBase + i];
    record.instruction = i == count ? nullptr : &in;
    record.line = in.position.line;
    refusal.clear();
    if (in.guard != kNone) {
      record.guard = layout->registers[in.guard] | (in.guardNegated ? 1 : 0);
    }
    if (!decodeOne(in, record) && errors.size() < 20) {
      errors.push_back({FindingKind::Unsupported,
                        refusal + ": '" + std::string(current->text(in)) + "'",
                        in.position.line});
      errors.back().hazard = unsigned(refusalHazard);
    }
  }
  return true;
}

bool Decoder::decodeVariables(std::vector<Finding> &errors) {
  layoutModule({});
  errors.insert(errors.end(), layoutErrors.begin(), layoutErrors.end());
  if (errors.empty())
    fillInitialisers();
  return errors.empty();
}

bool Decoder::decode(std::vector<Finding> &errors) {
  const Module &module = *program.module;
  auto kernel = uint32_t(program.kernel - module.functions.data());
  graph = std::make_unique<CallGraph>(module, kernel);
  const std::vector<uint32_t> &order = graph->order();
  allocate(32 * 16); // the sink
  for (uint32_t index : order) {
    functionSlot[index] = uint32_t(program.functions.size());
    FunctionCode &code = program.functions.emplace_back();
    code.source = &module.functions[index];
    if (index == kernel)
      continue;
    code.returnPc = allocate(128);
    code.plan = allocate(128);
    code.recursive = graph->recursive(index);
    if (code.recursive)
      code.depth = allocate(128);
  }
  layoutModule(order);
  for (uint32_t index : order)
    layoutFunction(index);
  layoutStack();
  if (tooManyRegisters)
    layoutErrors.push_back(
        {FindingKind::Unsupported,
         "the registers of the kernel and its functions take more than " +
             std::to_string(kMaxRegisterBytes) + " bytes per warp",
         program.kernel->position.line});
  if (!layoutErrors.empty()) {
    errors.insert(errors.end(), layoutErrors.begin(), layoutErrors.end());
    return false;
  }
  fillInitialisers();
  // Callees come first, so that lanes inside a call run before those after it.
  for (uint32_t index : order) {
    for (const Diagnostic &diagnostic :
         checkTarget(module, module.functions[index]))
      if (errors.size() < 20) {
        errors.push_back({FindingKind::Unsupported, diagnostic.message,
                          diagnostic.position.line});
        errors.back().hazard = unsigned(Hazard::TargetLacks);
      }
    if (!errors.empty())
      return false;
    for (const Diagnostic &diagnostic :
         checkSupported(module, module.functions[index]))
      if (errors.size() < 20)
        errors.push_back({FindingKind::Unsupported, diagnostic.message,
                          diagnostic.position.line});
    if (!errors.empty())
      return false;
    decodeFunction(index, errors);
  }
  listKept();
  findNeverWritten(order);
  program.entry = codeOf(kernel).entry;
  return errors.empty();
}

} // namespace blockscale::emulator::machine
