//===- Decode.cpp - operands into slots, functions into code --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Float.h"

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

namespace {

/// What a program may declare. The shared memory of a chip is checked at the
/// launch, so the limit here only keeps the arithmetic small.
constexpr uint64_t kMaxSharedBytes = 1 << 20;
constexpr uint64_t kMaxConstBytes = 10 << 16; ///< ten banks of 64 KiB
constexpr uint64_t kMaxGlobalBytes = 1 << 28;
constexpr uint64_t kMaxLocalBytes = 512 << 10; ///< per thread
/// 131,072 registers of 64 bits for each of 32 lanes.
constexpr uint64_t kMaxRegisterBytes = 32 << 20;

uint64_t alignTo(uint64_t value, uint64_t align) {
  return align > 1 ? (value + align - 1) / align * align : value;
}

} // namespace

Decoder::Decoder(Program &program) : program(program) {}

bool Decoder::refuse(std::string why, unsigned hazard) {
  if (refusal.empty()) {
    refusal = std::move(why);
    refusalHazard = hazard;
  }
  return false;
}

Slot Decoder::allocate(unsigned bytes) {
  if (program.registerBytes + bytes > kMaxRegisterBytes) {
    tooManyRegisters = true;
    return scratch();
  }
  Slot slot = program.registerBytes;
  program.registerBytes += unsigned(alignTo(bytes, 64));
  return slot;
}

Slot Decoder::constant(uint64_t value, unsigned bits) {
  auto [it, isNew] = constantSlots.try_emplace({value, bits}, 0);
  if (!isNew)
    return it->second;
  Slot offset = Slot(program.constants.size());
  unsigned bytes = bits == 1 ? 4 : bits / 8;
  unsigned total = bits == 1 ? 4 : 32 * bytes;
  program.constants.resize(alignTo(offset + total, 64));
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
      return constant(bitsAs<uint32_t>(float(bitsAs<double>(operand.bits()))),
                      32);
    return constant(operand.bits(), bits);
  case OperandKind::Symbol: {
    uint64_t address = symbolAddress(operand.symbol) + operand.value;
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

Slot Decoder::address(const Operand &operand, int64_t &imm, bool &wide) {
  imm = operand.value;
  wide = true;
  if (operand.symbol) {
    imm += int64_t(symbolAddress(operand.symbol));
    return kNoSlot;
  }
  if (operand.reg == kNone)
    return kNoSlot;
  unsigned width = current->registers[operand.reg].width();
  if (width != 32 && width != 64)
    refuse("address register must have 32 or 64 bits");
  wide = width == 64;
  Slot slot = layout->registers[operand.reg];
  flow().sources.push_back(slot);
  return slot;
}

Detail &Decoder::detail(Record &record) {
  program.details.push_back(std::make_unique<Detail>());
  record.detail = program.details.back().get();
  return *program.details.back();
}

FunctionCode *Decoder::function(uint32_t index) {
  auto it = functionSlot.find(index);
  return it == functionSlot.end() ? nullptr : &program.functions[it->second];
}

std::optional<Slot> Decoder::localPlace(const Operand &operand,
                                        uint64_t bytes) {
  if (operand.kind != OperandKind::Symbol || operand.value != 0)
    return std::nullopt;
  uint64_t size = 0;
  switch (operand.symbol.scope) {
  case SymbolScope::Function: {
    const Variable &variable = current->variables[operand.symbol.index];
    if (variable.space == Space::Param || variable.space == Space::Local)
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

Slot Decoder::returnSlot() {
  FunctionCode *code =
      function(uint32_t(current - program.module->functions.data()));
  return code ? code->returnPc : kNoSlot;
}

bool Decoder::collect(uint32_t index, std::vector<uint32_t> &order,
                      std::vector<uint8_t> &state,
                      std::vector<Finding> &errors) {
  const Function &function = program.module->functions[index];
  if (state[index] == 2 || !function.hasBody)
    return true;
  if (state[index] == 1) {
    errors.push_back({FindingKind::Unsupported,
                      "recursive call of '" + function.name + "'",
                      function.position.line});
    return false;
  }
  state[index] = 1;
  for (const Instruction &in : function.instructions)
    if (in.opcode == Opcode::Call && in.operands.size() > 1 &&
        in.operands[1].kind == OperandKind::Function)
      if (!collect(in.operands[1].index, order, state, errors))
        return false;
  state[index] = 2;
  order.push_back(index);
  return true;
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
  for (uint32_t index : order)
    for (const Variable &variable : module.functions[index].variables)
      layouts[index].variables.push_back(place(variable));
  uint64_t dynamic = 0;
  reserve(shared, 0, align, kMaxSharedBytes, "shared memory", {}, dynamic);
  program.constBytes.resize(constant);
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
    return at;
  };
  if (function.isEntry)
    return;
  for (const Parameter &parameter : function.parameters)
    one.parameters.push_back(place(parameter));
  for (const Parameter &parameter : function.returns)
    one.returns.push_back(place(parameter));
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

bool Decoder::decodeOne(const Instruction &in, Record &record) {
  static constexpr bool (*kFamilies[])(Decoder &, const Instruction &,
                                       Record &) = {
      decodeMove,    decodeFloat,   decodeInteger, decodeConvert,
      decodeCompare, decodeControl, decodeMemory,  decodeFence,
      decodeAtomic,  decodeWarp,    decodeBarrier, decodeMbarrier,
      decodeCopy,    decodeTma,     decodeTensor,  decodeMatrix};
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
  FunctionCode *code = function(index);
  code->entry = functionBase;
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
      errors.back().hazard = refusalHazard;
    }
  }
  return true;
}

void Decoder::findNeverWritten(const std::vector<uint32_t> &order) {
  std::vector<bool> written(program.registerBytes / 64 + 1), read(written);
  for (const Flow &one : program.flows) {
    for (Slot slot : one.destinations)
      written[slot >> 6] = true;
    for (Slot slot : one.sources)
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
  std::vector<uint32_t> order;
  std::vector<uint8_t> state(module.functions.size(), 0);
  if (!collect(kernel, order, state, errors))
    return false;
  allocate(32 * 16); // the sink
  layoutModule(order);
  for (uint32_t index : order) {
    layoutFunction(index);
    functionSlot[index] = uint32_t(program.functions.size());
    program.functions.push_back({&module.functions[index], 0,
                                 index == kernel ? kNoSlot : allocate(128)});
  }
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
        errors.back().hazard = 88;
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
  findNeverWritten(order);
  program.entry = function(kernel)->entry;
  return errors.empty();
}

} // namespace blockscale::emulator::machine
