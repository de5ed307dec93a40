//===- Calls.cpp - calls, frames and the stack ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers, parameters and local variables of a function have one place each.
// A function that may be called while it runs keeps its local variables on the
// stack of the thread instead, so that their addresses stay what they were, and
// the call puts the rest aside.
//
//===----------------------------------------------------------------------===//

#include "../Run/Control.h"
#include "Access.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// One argument or result of a call: where from, where to, how many bytes per
/// lane. Kept as four numbers.
enum class Pass : uint32_t {
  LocalToLocal,
  RegisterToRegister,
  RegisterToLocal
};

uint8_t *localOf(const Exec &x, unsigned lane) {
  return x.warp->local.data() + size_t(lane) * x.cluster->program().localBytes;
}

void passValues(Exec &x, const std::vector<uint32_t> &list, uint32_t lanes) {
  for (size_t i = 0; i + 3 < list.size(); i += 4) {
    uint32_t from = list[i + 1], to = list[i + 2], bytes = list[i + 3];
    forLanes(lanes, [&](unsigned lane) {
      uint8_t *local = localOf(x, lane);
      switch (Pass(list[i])) {
      case Pass::LocalToLocal:
        std::memmove(local + to, local + from, bytes);
        break;
      case Pass::RegisterToRegister:
        std::memcpy(x.at(to) + lane * bytes, x.at(from) + lane * bytes, bytes);
        break;
      case Pass::RegisterToLocal:
        std::memcpy(local + to, x.at(from) + lane * bytes, bytes);
        break;
      }
    });
  }
}

/// Both halves of passValues for a lane, with something in between that moves
/// the places.
struct Passed {
  std::vector<uint8_t> bytes;

  void take(Exec &x, const std::vector<uint32_t> &list, unsigned lane) {
    for (size_t i = 0; i + 3 < list.size(); i += 4) {
      const uint8_t *from = Pass(list[i]) == Pass::LocalToLocal
                                ? localOf(x, lane) + list[i + 1]
                                : x.at(list[i + 1]) + lane * list[i + 3];
      bytes.insert(bytes.end(), from, from + list[i + 3]);
    }
  }
  void put(Exec &x, const std::vector<uint32_t> &list, unsigned lane) const {
    size_t at = 0;
    for (size_t i = 0; i + 3 < list.size(); at += list[i + 3], i += 4)
      std::memcpy(Pass(list[i]) == Pass::RegisterToRegister
                      ? x.at(list[i + 2]) + lane * list[i + 3]
                      : localOf(x, lane) + list[i + 2],
                  bytes.data() + at, list[i + 3]);
  }
};

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// Moves what a function keeps for a lane out (`save`) or back in.
void moveKept(Exec &x, const FunctionCode &f, unsigned lane,
              std::vector<uint8_t> &bytes, bool save) {
  size_t at = 0;
  auto move = [&](void *place, size_t size) {
    auto *p = static_cast<uint8_t *>(place);
    if (save)
      bytes.insert(bytes.end(), p, p + size);
    else
      std::memcpy(p, bytes.data() + at, size);
    at += size;
  };
  auto moveBit = [&](uint32_t &mask) {
    uint8_t bit = mask >> lane & 1;
    move(&bit, 1);
    mask = (mask & ~(1u << lane)) | uint32_t(bit) << lane;
  };
  for (const auto &[slot, bits] : f.kept) {
    if (bits == 1)
      moveBit(*x.reg<uint32_t>(slot));
    else
      move(x.at(slot) + lane * (bits / 8), bits / 8);
    moveBit(x.warp->undefined[slot >> 6]);
    UndefinedHalves &defined = x.warp->definedHalves[slot >> 6];
    moveBit(defined.low);
    moveBit(defined.high);
  }
  for (const auto &[offset, size] : f.memory)
    move(localOf(x, lane) + offset, size);
}

/// Begins a call of a function with a frame; false if the stack is too small.
bool pushFrame(Exec &x, const FunctionCode &f, unsigned lane) {
  const Program &program = x.cluster->program();
  uint64_t &top = x.reg<uint64_t>(program.stackTop)[lane];
  // Even without variables a call takes some of the stack.
  constexpr uint64_t kCallBytes = 16;
  uint64_t base = (top + 15) / 16 * 16;
  if (base + f.frameBytes + kCallBytes > program.stackEnd)
    return false;
  SavedFrame frame;
  frame.stackTop = top;
  if (f.recursive) {
    uint32_t &depth = x.reg<uint32_t>(f.depth)[lane];
    frame.saved = depth++ != 0;
    if (frame.saved)
      moveKept(x, f, lane, frame.bytes, true);
  }
  x.warp->frames[lane].push_back(std::move(frame));
  top = base + f.frameBytes + kCallBytes;
  for (const FrameAddress &address : f.addresses) {
    uint64_t value = base + address.offset;
    if (address.bits == 64)
      x.reg<uint64_t>(address.slot)[lane] = value;
    else
      x.reg<uint32_t>(address.slot)[lane] = uint32_t(value);
  }
  return true;
}

void popFrame(Exec &x, const FunctionCode &f, unsigned lane) {
  std::vector<SavedFrame> &frames = x.warp->frames[lane];
  SavedFrame &frame = frames.back();
  x.reg<uint64_t>(x.cluster->program().stackTop)[lane] = frame.stackTop;
  if (f.recursive)
    --x.reg<uint32_t>(f.depth)[lane];
  if (frame.saved)
    moveKept(x, f, lane, frame.bytes, false);
  frames.pop_back();
}

Step stackOverflow(Exec &x, const Record &r, unsigned lane) {
  const Program &program = x.cluster->program();
  return x.fault(r, FindingKind::OutOfBounds,
                 "the stack of a thread has " +
                     std::to_string(program.stackEnd - program.stackBase) +
                     " bytes, which are used up",
                 int(lane));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Passes the arguments and remembers where to return; false after a report.
bool enter(Exec &x, const Record &r, uint32_t plan, uint32_t lanes) {
  const Program &program = x.cluster->program();
  const CallPlan &call = program.calls[plan];
  const FunctionCode &f = program.functions[call.function];
  if (!f.framed)
    passValues(x, call.arguments, lanes);
  for (uint32_t left = lanes; f.framed && left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Passed arguments;
    arguments.take(x, call.arguments, lane);
    if (!pushFrame(x, f, lane)) {
      stackOverflow(x, r, lane);
      return false;
    }
    arguments.put(x, call.arguments, lane);
  }
  uint32_t *back = x.reg<uint32_t>(f.returnPc);
  uint32_t *plans = x.reg<uint32_t>(f.plan);
  uint32_t next = x.group->pc + 1;
  forLanes(lanes, [&](unsigned lane) {
    back[lane] = next;
    plans[lane] = plan;
  });
  return true;
}

/// aux: CallPlan.
Step call(Exec &x, const Record &r) {
  if (!enter(x, r, r.aux, x.mask))
    return Step::Fault;
  const Program &program = x.cluster->program();
  uint32_t target[32];
  std::fill(std::begin(target), std::end(target),
            program.functions[program.calls[r.aux].function].entry);
  return scatterLanes(x, target);
}

/// op[0]: address; detail a: functions of the module, targets: their CallPlan.
Step callIndirect(Exec &x, const Record &r) {
  const Program &program = x.cluster->program();
  uint32_t target[32] = {};
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = x.reg<uint64_t>(r.op[0])[lane];
    uint64_t index = address - kFunctionWindow;
    if (index >= program.module->functions.size())
      return x.fault(r, FindingKind::BadAddress,
                     "call of " + hex(address) + ", which is no function",
                     int(lane), address);
    const std::vector<Slot> &known = r.detail->a;
    auto it = std::find(known.begin(), known.end(), Slot(index));
    if (it == known.end())
      return x.fault(r, FindingKind::BadAddress,
                     "call of '" + program.module->functions[index].name +
                         "', which has other parameters or no body",
                     int(lane), address);
    uint32_t plan = r.detail->targets[size_t(it - known.begin())];
    if (!enter(x, r, plan, 1u << lane))
      return Step::Fault;
    target[lane] = program.functions[program.calls[plan].function].entry;
  }
  return scatterLanes(x, target);
}

/// Lanes go back to where they were called from; results go along. aux: index
/// into Program::functions.
Step returnFromCall(Exec &x, const Record &r) {
  const Program &program = x.cluster->program();
  const FunctionCode &f = program.functions[r.aux];
  uint32_t target[32] = {};
  forLanes(x.mask, [&](unsigned lane) {
    target[lane] = x.reg<uint32_t>(f.returnPc)[lane];
    const CallPlan &call = program.calls[x.reg<uint32_t>(f.plan)[lane]];
    if (!f.framed)
      return passValues(x, call.results, 1u << lane);
    Passed results;
    results.take(x, call.results, lane);
    popFrame(x, f, lane);
    results.put(x, call.results, lane);
  });
  return scatterLanes(x, target);
}

/// op[0] address, op[1] size; imm: alignment; aux: bits of the registers.
Step allocateStack(Exec &x, const Record &r) {
  const Program &program = x.cluster->program();
  uint64_t align = uint64_t(r.imm);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t &top = x.reg<uint64_t>(program.stackTop)[lane];
    uint64_t size = r.aux == 64 ? x.reg<uint64_t>(r.op[1])[lane]
                                : x.reg<uint32_t>(r.op[1])[lane];
    uint64_t at = (top + align - 1) / align * align;
    if (at > program.stackEnd || size > program.stackEnd - at)
      return stackOverflow(x, r, lane);
    top = at + size;
    if (r.aux == 64)
      x.reg<uint64_t>(r.op[0])[lane] = at;
    else
      x.reg<uint32_t>(r.op[0])[lane] = uint32_t(at);
  }
  return Step::Next;
}

/// aux: bits of the register op[0]; aux2: whether the top is set to it.
Step moveStackTop(Exec &x, const Record &r) {
  const Program &program = x.cluster->program();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t &top = x.reg<uint64_t>(program.stackTop)[lane];
    if (!r.aux2) {
      if (r.aux == 64)
        x.reg<uint64_t>(r.op[0])[lane] = top;
      else
        x.reg<uint32_t>(r.op[0])[lane] = uint32_t(top);
      continue;
    }
    uint64_t value = r.aux == 64 ? x.reg<uint64_t>(r.op[0])[lane]
                                 : x.reg<uint32_t>(r.op[0])[lane];
    if (value < program.stackBase || value > top)
      return x.fault(r, FindingKind::BadAddress,
                     "stackrestore of " + hex(value) +
                         ", which stacksave has not given",
                     int(lane), value);
    top = value;
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool passArguments(Decoder &d, const Operand &list, const Function &callee,
                   uint32_t index, bool results, std::vector<uint32_t> &out) {
  const std::vector<Parameter> &formals =
      results ? callee.returns : callee.parameters;
  if (list.elements.size() != formals.size())
    return d.refuse("call of '" + callee.name + "' with " +
                    std::to_string(list.elements.size()) +
                    " values, expected " + std::to_string(formals.size()));
  for (size_t i = 0; i != formals.size(); ++i) {
    const Operand &actual = list.elements[i];
    const Parameter &formal = formals[i];
    Slot place = d.formalPlace(index, i, results);
    auto bytes = uint32_t(formal.size);
    bool inMemory = actual.kind == OperandKind::Symbol;
    if (inMemory != (formal.reg == kNone) && (results || formal.reg != kNone))
      return d.refuse("call of '" + callee.name +
                      "' mixes registers and parameters");
    std::optional<Slot> local;
    if (inMemory && !(local = d.localPlace(actual, formal.size)))
      return d.refuse("a value in the call of '" + callee.name +
                      "' is no .param variable of " +
                      std::to_string(formal.size) + " bytes");
    Slot mine = inMemory  ? *local
                : results ? d.destination(actual, bytes * 8)
                          : d.source(actual, bytes * 8);
    Pass pass = inMemory              ? Pass::LocalToLocal
                : formal.reg != kNone ? Pass::RegisterToRegister
                                      : Pass::RegisterToLocal;
    uint32_t from = results ? place : mine, to = results ? mine : place;
    out.insert(out.end(), {uint32_t(pass), from, to, bytes});
  }
  return true;
}

/// Adds the plan of a call; nothing after a refusal.
std::optional<uint32_t> planCall(Decoder &d, const Instruction &in,
                                 uint32_t index) {
  CallPlan plan;
  const Function &callee = d.module().functions[index];
  if (!passArguments(d, in.operands[2], callee, index, false, plan.arguments) ||
      !passArguments(d, in.operands[0], callee, index, true, plan.results))
    return std::nullopt;
  return d.addCall(index, std::move(plan));
}

/// Whether the values have the sizes of the formal parameters, in memory each.
bool fits(Decoder &d, const Operand &list,
          const std::vector<Parameter> &formals) {
  for (size_t i = 0; i != formals.size(); ++i)
    if (formals[i].reg != kNone ||
        !d.localPlace(list.elements[i], formals[i].size))
      return false;
  return true;
}

bool decodeIndirectCall(Decoder &d, const Instruction &in, Record &r) {
  r.op[0] = d.source(in.operands[1], 64);
  Detail &detail = d.detail(r);
  for (uint32_t index : d.callGraph().candidates(in)) {
    const Function &callee = d.module().functions[index];
    if (!fits(d, in.operands[2], callee.parameters) ||
        !fits(d, in.operands[0], callee.returns))
      continue;
    std::optional<uint32_t> plan = planCall(d, in, index);
    if (!plan)
      return false;
    detail.a.push_back(index);
    detail.targets.push_back(*plan);
  }
  d.flow().sink = true;
  r.fn = callIndirect;
  return true;
}

bool decodeCall(Decoder &d, const Instruction &in, Record &r) {
  if (in.operands.size() != 3)
    return d.refuse("missing operands");
  if (in.operands[1].kind != OperandKind::Function)
    return decodeIndirectCall(d, in, r);
  uint32_t index = in.operands[1].index;
  const Function &callee = d.module().functions[index];
  if (!callee.hasBody)
    return decodeExternCall(d, in, r, callee);
  std::optional<uint32_t> plan = planCall(d, in, index);
  if (!plan)
    return false;
  r.aux = *plan;
  r.fn = call;
  return true;
}

bool decodeAlloca(Decoder &d, const Instruction &in, Record &r) {
  r.aux = bitWidth(in.type());
  r.op[0] = d.destination(in.operands[0], r.aux);
  r.op[1] = d.source(in.operands[1], r.aux);
  r.imm = in.operands.size() > 2 ? in.operands[2].value : 8;
  if (r.imm <= 0 || (r.imm & (r.imm - 1)) || r.imm > (1 << 23))
    return d.refuse("the alignment of alloca is a power of two up to 2^23");
  d.flow().sink = true;
  r.fn = allocateStack;
  return true;
}

} // namespace

bool decodeCalls(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Call:
    return decodeCall(d, in, r);
  case Opcode::Ret:
    if (!d.currentFunctionCode())
      return false;
    r.aux = *d.currentFunctionCode();
    r.fn = returnFromCall;
    return true;
  case Opcode::Alloca:
    return decodeAlloca(d, in, r);
  case Opcode::StackSave:
  case Opcode::StackRestore:
    r.aux = bitWidth(in.type());
    r.aux2 = in.opcode == Opcode::StackRestore;
    r.op[0] = r.aux2 ? d.source(in.operands[0], r.aux)
                     : d.destination(in.operands[0], r.aux);
    r.fn = moveStackTop;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
