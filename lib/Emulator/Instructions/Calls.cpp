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
#include "Lanes.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

uint8_t *localOf(const Exec &x, unsigned lane) {
  return x.warp->local.data() + size_t(lane) * x.cluster->program().localBytes;
}

uint8_t *sourceOf(const Exec &x, const PassedValue &value, unsigned lane) {
  return value.fromRegister ? x.at(value.from) + lane * value.bytes
                            : localOf(x, lane) + value.from;
}
uint8_t *destinationOf(const Exec &x, const PassedValue &value, unsigned lane) {
  return value.toRegister ? x.at(value.to) + lane * value.bytes
                          : localOf(x, lane) + value.to;
}

void passValues(Exec &x, const std::vector<PassedValue> &list, uint32_t lanes) {
  for (const PassedValue &value : list)
    forLanes(lanes, [&](unsigned lane) {
      std::memmove(destinationOf(x, value, lane), sourceOf(x, value, lane),
                   value.bytes);
    });
}

/// Both halves of passValues for a lane, with something in between that moves
/// the places.
struct Passed {
  std::vector<uint8_t> bytes;

  void take(Exec &x, const std::vector<PassedValue> &list, unsigned lane) {
    for (const PassedValue &value : list) {
      const uint8_t *from = sourceOf(x, value, lane);
      bytes.insert(bytes.end(), from, from + value.bytes);
    }
  }
  void put(Exec &x, const std::vector<PassedValue> &list, unsigned lane) const {
    size_t at = 0;
    for (const PassedValue &value : list) {
      std::memcpy(destinationOf(x, value, lane), bytes.data() + at,
                  value.bytes);
      at += value.bytes;
    }
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

struct CallRecord {
  uint32_t plan; ///< index into Program::calls
};
Step call(Exec &x, const Record &r) {
  uint32_t plan = r.as<CallRecord>().plan;
  if (!enter(x, r, plan, x.mask))
    return Step::Fault;
  const Program &program = x.cluster->program();
  uint32_t target[32];
  std::fill(std::begin(target), std::end(target),
            program.functions[program.calls[plan].function].entry);
  return scatterLanes(x, target);
}

struct IndirectRecord {
  Slot address;
  List<uint32_t> functions; ///< of the module, that may be called
  List<uint32_t> plans;     ///< of each
};
Step callIndirect(Exec &x, const Record &r) {
  const auto &c = r.as<IndirectRecord>();
  const Program &program = x.cluster->program();
  uint32_t target[32] = {};
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = x.reg<uint64_t>(c.address)[lane];
    uint64_t index = address - kFunctionWindow;
    if (index >= program.module->functions.size())
      return x.fault(r, FindingKind::BadAddress,
                     "call of " + hex(address) + ", which is no function",
                     int(lane), address);
    auto it = std::find(c.functions.begin(), c.functions.end(), index);
    if (it == c.functions.end())
      return x.fault(r, FindingKind::BadAddress,
                     "call of '" + program.module->functions[index].name +
                         "', which has other parameters or no body",
                     int(lane), address);
    uint32_t plan = c.plans[size_t(it - c.functions.begin())];
    if (!enter(x, r, plan, 1u << lane))
      return Step::Fault;
    target[lane] = program.functions[program.calls[plan].function].entry;
  }
  return scatterLanes(x, target);
}

struct ReturnRecord {
  uint32_t function; ///< index into Program::functions
};

/// Lanes go back to where they were called from; results go along.
Step returnFromCall(Exec &x, const Record &r) {
  const Program &program = x.cluster->program();
  const FunctionCode &f = program.functions[r.as<ReturnRecord>().function];
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

/// alloca.
struct AllocaRecord {
  Slot address, size;
  unsigned bits; ///< of both registers
  uint64_t align;
};
Step allocateStack(Exec &x, const Record &r) {
  const auto &a = r.as<AllocaRecord>();
  const Program &program = x.cluster->program();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t &top = x.reg<uint64_t>(program.stackTop)[lane];
    uint64_t size = wordOf(x, a.size, a.bits, lane);
    uint64_t at = (top + a.align - 1) / a.align * a.align;
    if (at > program.stackEnd || size > program.stackEnd - at)
      return stackOverflow(x, r, lane);
    top = at + size;
    setWord(x, a.address, a.bits, lane, at);
  }
  return Step::Next;
}

/// stacksave and stackrestore.
struct StackTopRecord {
  Slot value;
  unsigned bits;
  bool restores;
};
Step moveStackTop(Exec &x, const Record &r) {
  const auto &s = r.as<StackTopRecord>();
  const Program &program = x.cluster->program();
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t &top = x.reg<uint64_t>(program.stackTop)[lane];
    if (!s.restores) {
      setWord(x, s.value, s.bits, lane, top);
      continue;
    }
    uint64_t value = wordOf(x, s.value, s.bits, lane);
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
                   uint32_t index, bool results,
                   std::vector<PassedValue> &out) {
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
    uint32_t from = results ? place : mine, to = results ? mine : place;
    out.push_back({!inMemory, formal.reg != kNone, from, to, bytes});
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
  std::vector<uint32_t> functions, plans;
  for (uint32_t index : d.callGraph().candidates(in)) {
    const Function &callee = d.module().functions[index];
    if (!fits(d, in.operands[2], callee.parameters) ||
        !fits(d, in.operands[0], callee.returns))
      continue;
    std::optional<uint32_t> plan = planCall(d, in, index);
    if (!plan)
      return false;
    functions.push_back(index);
    plans.push_back(*plan);
  }
  d.record<IndirectRecord>(r) = {d.source(in.operands[1], 64),
                                 d.list(functions), d.list(plans)};
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
  d.record<CallRecord>(r).plan = *plan;
  r.fn = call;
  return true;
}

bool decodeAlloca(Decoder &d, const Instruction &in, Record &r) {
  int64_t align = in.operands.size() > 2 ? in.operands[2].value : 8;
  if (align <= 0 || (align & (align - 1)) || align > (1 << 23))
    return d.refuse("the alignment of alloca is a power of two up to 2^23");
  auto &a = d.record<AllocaRecord>(r);
  a.bits = bitWidth(in.type());
  a.address = d.destination(in.operands[0], a.bits);
  a.size = d.source(in.operands[1], a.bits);
  a.align = uint64_t(align);
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
    d.record<ReturnRecord>(r).function = *d.currentFunctionCode();
    r.fn = returnFromCall;
    return true;
  case Opcode::Alloca:
    return decodeAlloca(d, in, r);
  case Opcode::StackSave:
  case Opcode::StackRestore: {
    auto &s = d.record<StackTopRecord>(r);
    s.bits = bitWidth(in.type());
    s.restores = in.opcode == Opcode::StackRestore;
    s.value = s.restores ? d.source(in.operands[0], s.bits)
                         : d.destination(in.operands[0], s.bits);
    r.fn = moveStackTop;
    return true;
  }
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
