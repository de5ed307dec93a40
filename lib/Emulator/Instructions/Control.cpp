//===- Control.cpp - branches, calls, exits, traps ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Control.h"
#include "../Run/Observer.h"
#include "Heap.h"

#include <algorithm>
#include <cstdio>

namespace blockscale::emulator::machine {

void exitLanes(Exec &x, uint32_t lanes) {
  Group &group = *x.group;
  x.warp->live &= ~lanes;
  x.cta->exited += unsigned(__builtin_popcount(lanes));
  if (x.cta->done())
    tell(*x.cluster, CtaExited{*x.cta});
  group.mask &= ~lanes;
  if (group.mask)
    ++group.pc;
  ++x.cluster->epoch;
}

Step scatterLanes(Exec &x, const uint32_t *target) {
  uint32_t left = x.mask, all = x.group->mask;
  std::vector<Group> made;
  while (left) {
    uint32_t pc = target[__builtin_ctz(left)], lanes = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
      if (target[__builtin_ctz(rest)] == pc)
        lanes |= rest & -rest;
    left &= ~lanes;
    Group group;
    group.pc = pc;
    group.mask = lanes;
    made.push_back(group);
  }
  uint32_t stay = all & ~x.mask;
  if (stay) {
    x.group->mask = stay;
    ++x.group->pc;
  } else {
    *x.group = made.back();
    made.pop_back();
  }
  x.warp->groups.insert(x.warp->groups.end(), made.begin(), made.end());
  return Step::Jump;
}

namespace {

struct BranchRecord {
  uint32_t target;
};
Step branch(Exec &x, const Record &r) {
  uint32_t target = r.as<BranchRecord>().target;
  if (target <= x.group->pc)
    ++x.warp->backward;
  if (x.group->mask == x.mask) {
    x.group->pc = target;
    return Step::Jump;
  }
  Group taken;
  taken.pc = target;
  taken.mask = x.mask;
  x.group->mask &= ~x.mask;
  ++x.group->pc;
  x.warp->groups.push_back(taken);
  return Step::Jump;
}

struct TableRecord {
  Slot index;
  List<uint32_t> targets;
};
Step branchIndexed(Exec &x, const Record &r) {
  const auto &b = r.as<TableRecord>();
  const uint32_t *index = x.reg<uint32_t>(b.index);
  uint32_t target[32] = {};
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    if (index[lane] >= b.targets.size())
      return x.fault(r, FindingKind::OutOfBounds,
                     "brx.idx index " + std::to_string(index[lane]) +
                         " of a table of " + std::to_string(b.targets.size()),
                     int(lane), 0, Hazard::UndefinedArithmetic);
    target[lane] = b.targets[index[lane]];
  }
  return scatterLanes(x, target);
}

Step leave(Exec &x, const Record &) {
  exitLanes(x, x.mask);
  return Step::Jump;
}

std::string readString(Exec &x, uint64_t address) {
  std::string text;
  const Program &program = x.cluster->program();
  for (; text.size() < 1000; ++address) {
    const uint8_t *at = nullptr;
    if (address >= kConstWindow &&
        address - kConstWindow < program.constBytes.size())
      at = x.cluster->grid.memory.constants + (address - kConstWindow);
    else if (const Region *region = x.cluster->grid.memory.find(address, 1))
      at = region->data + (address - region->base);
    if (!at || !*at)
      break;
    text += char(*at);
  }
  return text;
}

Step assertFail(Exec &x, const Record &r) {
  const auto &call = r.as<ExternRecord>();
  auto value = [&](size_t i) {
    uint64_t v = 0;
    if (i < call.arguments.size())
      std::memcpy(&v,
                  x.warp->local.data() +
                      size_t(x.firstLane()) * x.cluster->program().localBytes +
                      call.arguments[i],
                  8);
    return v;
  };
  auto point = [](const uint32_t *at) {
    return "[" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," +
           std::to_string(at[2]) + "]";
  };
  unsigned lane = x.firstLane();
  const Dim3 &block = x.cluster->grid.launch.block;
  uint32_t linear = x.warp->index * 32 + lane;
  uint32_t thread[3] = {linear % block.x, linear / block.x % block.y,
                        linear / block.x / block.y};
  // As the runtime of CUDA prints it.
  return x.fault(r, FindingKind::Trap,
                 readString(x, value(1)) + ":" +
                     std::to_string(uint32_t(value(2))) + ": " +
                     readString(x, value(3)) + ": block: " + point(x.cta->id) +
                     ", thread: " + point(thread) + " Assertion `" +
                     readString(x, value(0)) + "` failed",
                 int(lane));
}

/// The arguments of a call of vprintf in a lane's local memory, one behind the
/// other.
struct PrintedArguments {
  const Exec &x;
  uint64_t at;
  unsigned lane;

  /// The next one, of so many bytes; zeros beyond the lane's memory.
  uint64_t take(unsigned bytes) {
    uint32_t size = x.cluster->program().localBytes;
    at = (at + bytes - 1) / bytes * bytes;
    uint64_t value = 0, offset = at - kLocalWindow;
    if (at >= kLocalWindow && offset + bytes <= size)
      std::memcpy(&value, x.warp->local.data() + size_t(lane) * size + offset,
                  bytes);
    at += bytes;
    return value;
  }
};

/// What the host's printf makes of one number.
template <typename Number>
std::string printed(const std::string &spec, Number number) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, spec.c_str(), number);
  return buffer;
}

/// One argument as `kind`, the letter of a conversion, has it; `spec` is what
/// stands in front of that, from '%' on.
std::string formatOne(Exec &x, std::string spec, char kind,
                      PrintedArguments &arguments) {
  spec.erase(std::remove(spec.begin(), spec.end(), 'h'), spec.end());
  bool isLong = spec.find('l') != std::string::npos;
  spec.erase(std::remove(spec.begin(), spec.end(), 'l'), spec.end());
  if (kind == '%')
    return "%";
  if (kind == 's')
    return readString(x, arguments.take(8));
  if (std::strchr("feEgG", kind)) {
    uint64_t raw = arguments.take(8);
    double value;
    std::memcpy(&value, &raw, 8);
    return printed(spec + kind, value);
  }
  if (kind == 'd' || kind == 'i') {
    auto value = isLong ? int64_t(arguments.take(8))
                        : int64_t(int32_t(arguments.take(4)));
    return printed(spec + "lld", (long long)value);
  }
  uint64_t value = arguments.take(isLong || kind == 'p' ? 8 : 4);
  if (kind == 'c')
    return std::string(1, char(value));
  if (kind == 'p')
    return printed(spec + "p", reinterpret_cast<void *>(value));
  return printed(spec + "ll" + kind, (unsigned long long)value);
}

/// Formats what %d %u %x %f %s %c %p need; other conversions print as they are.
std::string format(Exec &x, const std::string &text, uint64_t address,
                   unsigned lane) {
  std::string out;
  PrintedArguments arguments{x, address, lane};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    size_t end = text.find_first_of("diouxXcfeEgGsp%", i + 1);
    if (end == std::string::npos)
      break;
    std::string spec = text.substr(i, end - i);
    // Nothing but flags, a short width and precision reach the host's printf.
    bool plain =
        spec.size() <= 8 &&
        spec.find_first_not_of("-+ #.0123456789lh", 1) == std::string::npos;
    out += plain ? formatOne(x, std::move(spec), text[end], arguments)
                 : text.substr(i, end + 1 - i);
    i = end;
  }
  return out;
}

Step print(Exec &x, const Record &r) {
  const auto &call = r.as<ExternRecord>();
  Grid &grid = x.cluster->grid;
  uint32_t size = x.cluster->program().localBytes;
  forLanes(x.mask, [&](unsigned lane) {
    uint8_t *local = x.warp->local.data() + size_t(lane) * size;
    uint64_t values[2] = {};
    for (size_t i = 0; i != 2 && i < call.arguments.size(); ++i)
      std::memcpy(&values[i], local + call.arguments[i], 8);
    std::string text = format(x, readString(x, values[0]), values[1], lane);
    if (call.result != kNoSlot) {
      int32_t count = int32_t(text.size());
      std::memcpy(local + call.result, &count, 4);
    }
    if (grid.options.print) {
      std::lock_guard<std::mutex> lock(grid.output);
      grid.options.print(text);
    }
  });
  return Step::Next;
}

Step stop(Exec &x, const Record &r) {
  return x.fault(r, FindingKind::Trap,
                 r.instruction->opcode == Opcode::Brkpt ? "brkpt was reached"
                                                        : "trap was reached",
                 int(x.firstLane()));
}
Step yield(Exec &, const Record &) { return Step::Yield; }

} // namespace

bool decodeExternCall(Decoder &d, const Instruction &in, Record &r,
                      const Function &callee) {
  std::vector<uint32_t> places;
  for (const Operand &argument : in.operands[2].elements) {
    std::optional<Slot> place = d.localPlace(argument, 1);
    if (!place)
      return d.refuse("call of '" + callee.name + "' needs .param arguments");
    places.push_back(*place);
  }
  auto &call = d.record<ExternRecord>(r);
  call.arguments = d.list(places);
  if (callee.name == "__assertfail") {
    r.fn = assertFail;
    return true;
  }
  if (callee.name == "vprintf") {
    if (!in.operands[0].elements.empty()) {
      std::optional<Slot> place = d.localPlace(in.operands[0].elements[0], 4);
      if (!place)
        return d.refuse("the result of 'vprintf' needs a .param of 4 bytes");
      call.result = *place;
    }
    r.fn = print;
    return true;
  }
  bool allocates = callee.name == "malloc";
  if (!heapBytes(d.module()) || (!allocates && callee.name != "free"))
    return d.refuse("call of the external function '" + callee.name + "'");
  if (allocates) {
    std::optional<Slot> place;
    if (in.operands[0].elements.size() == 1)
      place = d.localPlace(in.operands[0].elements[0], 8);
    if (!place)
      return d.refuse("the result of 'malloc' needs a .param of 8 bytes");
    call.result = *place;
  }
  if (in.operands[2].elements.size() != 1 ||
      !d.localPlace(in.operands[2].elements[0], 8))
    return d.refuse("'" + callee.name + "' needs an argument of 8 bytes");
  r.fn = allocates ? heapAllocate : heapRelease;
  return true;
}

bool decodeControl(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Bra:
    d.record<BranchRecord>(r).target = d.target(in.operands[0].index);
    r.fn = branch;
    return true;
  case Opcode::BrxIdx: {
    if (in.operands.size() < 2 ||
        in.operands[1].kind != OperandKind::BranchTable)
      return d.refuse("brx.idx needs a table of labels");
    std::vector<uint32_t> targets;
    for (uint32_t index :
         d.currentFunction().branchTables[in.operands[1].index])
      targets.push_back(d.target(index));
    d.record<TableRecord>(r) = {d.source(in.operands[0], 32), d.list(targets)};
    d.flow().sink = true;
    r.fn = branchIndexed;
    return true;
  }
  case Opcode::Ret:
  case Opcode::Exit:
    r.fn = leave;
    return true;
  case Opcode::Trap:
  case Opcode::Brkpt:
    r.fn = stop;
    return true;
  case Opcode::Nanosleep:
    r.fn = yield;
    return true;
  // Nothing is submitted to a fabric here, so that its groups are empty.
  case Opcode::FabricCommitGroup:
  case Opcode::PmEvent:
    r.fn = [](Exec &, const Record &) { return Step::Next; };
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
