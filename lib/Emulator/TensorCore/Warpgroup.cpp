//===- Warpgroup.cpp - wgmma ----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each warp of a warpgroup multiplies its own rows, by itself. When the product
// takes effect it reads shared memory and registers, and writes registers.
//
//===----------------------------------------------------------------------===//

#include "../Async/Async.h"
#include "../Instructions/Access.h"
#include "../Instructions/Warp.h"
#include "../Instructions/WarpMatrix.h"
#include "../Run/Observer.h"
#include "../Units/WarpgroupMma.h"

namespace blockscale::emulator::machine {
namespace {

/// wgmma.mma_async.
struct WarpgroupRecord {
  WarpgroupForm form;
  Slots d, a;                 ///< a: if A is in registers
  Slot descriptorA = kNoSlot; ///< if it is not
  Slot descriptorB = kNoSlot, metadata = kNoSlot, addToD = kNoSlot;
};

/// Most registers of D.
constexpr unsigned kMostAccumulators = 128;

/// Number of the queue of a warp: beyond those of the tensor cores of
/// tcgen05.
uint32_t queueOf(const Exec &x) {
  return 1u << 30 | x.cta->rank << 8 | x.warp->index;
}

/// The value that all lanes give; nothing after a report.
template <typename T>
std::optional<T> uniform(Exec &x, const Record &r, Slot slot,
                         const char *what) {
  const T *values = x.reg<T>(slot);
  for (unsigned lane = 1; lane != 32; ++lane)
    if (values[lane] != values[0]) {
      x.fault(r, FindingKind::Divergence,
              std::string("lanes of a warp give different ") + what, int(lane),
              0, Hazard::DivergentAligned);
      return std::nullopt;
    }
  return values[0];
}

/// The warpgroup of the warp; null after a report.
Warpgroup *warpgroupOf(Exec &x, const Record &r) {
  size_t count = x.cta->warps.size(), group = x.warp->index / 4;
  if (4 * group + 4 > count) {
    x.fault(r, FindingKind::Divergence,
            "a warpgroup has four warps, this one has " +
                std::to_string(count - 4 * group),
            0, 0, Hazard::WarpgroupsDisagree);
    return nullptr;
  }
  if (x.cta->warpgroups.empty())
    x.cta->warpgroups.resize(count / 4);
  return &x.cta->warpgroups[group];
}

/// The same once the whole warp is here; if null, `step` is what the handler
/// returns.
Warpgroup *gatheredGroup(Exec &x, const Record &r, Step &step) {
  if (!wholeWarp(x, r, step))
    return nullptr;
  Warpgroup *group = warpgroupOf(x, r);
  if (!group)
    step = Step::Fault;
  return group;
}

/// Compares with what the other warps of the warpgroup have issued. False
/// after a report.
bool agrees(Exec &x, const Record &r, Warpgroup &mine,
            const Warpgroup::Multiply &now) {
  uint64_t at = mine.issued[x.warp->index % 4]++ - mine.dropped;
  if (at == mine.multiplies.size()) {
    mine.multiplies.push_back(now);
  } else if (!(mine.multiplies[at] == now)) {
    const Warpgroup::Multiply &other = mine.multiplies[at];
    x.fault(r, FindingKind::Divergence,
            "another warp of the warpgroup has issued the wgmma.mma_async at "
            "line " +
                std::to_string(other.line) +
                (other.line == now.line ? " with other descriptors" : ""),
            0, 0, Hazard::WarpgroupsDisagree);
    return false;
  }
  while (*std::min_element(mine.issued.begin(), mine.issued.end()) >
         mine.dropped) {
    mine.multiplies.pop_front();
    ++mine.dropped;
  }
  return true;
}

/// A value that is needed was never written; false after a report.
bool defined(Exec &x, const Record &r, Slots slots) {
  for (Slot slot : slots)
    if (uint32_t lanes = x.undefined(slot)) {
      x.fault(r, FindingKind::Uninitialised,
              "an operand depends on a register or memory that was never "
              "written",
              __builtin_ctz(lanes));
      return false;
    }
  return true;
}

/// Takes effect: D in the registers of the warp changes.
void multiply(Cluster &cluster, const Origin &origin, Warp &warp,
              const WarpgroupRecord &m, const WarpgroupOperands &operands,
              bool addToD) {
  Exec x;
  x.cluster = &cluster;
  x.cta = origin.cta;
  x.warp = &warp;
  x.bank[0] = warp.registers;
  x.bank[1] = const_cast<uint8_t *>(cluster.program().constants.data());
  x.mask = ~0u;
  uint32_t a[4 * 32], metadata[32], d[kMostAccumulators * 32];
  gatherWords(x, m.a, a);
  gatherWords(x, m.d, d);
  if (m.metadata != kNoSlot)
    std::memcpy(metadata, x.at(m.metadata), sizeof metadata);
  WarpgroupMemory memory{x.cta->shared.data(), x.cta->valid.data(), kSharedBase,
                         uint32_t(x.cta->shared.size())};
  auto issue = multiplyWarpgroup(m.form, operands, memory, a, metadata, d,
                                 addToD, cluster.openPoints);
  if (!issue) {
    scatterWords(x, m.d, d);
    return;
  }
  switch (issue->kind) {
  case WarpgroupIssue::Descriptor:
    return asyncFault(cluster, origin, FindingKind::Descriptor, issue->message,
                      0, Hazard::IllegalMatrixDescriptor);
  case WarpgroupIssue::OutOfRange:
    return asyncFault(cluster, origin, FindingKind::OutOfBounds, issue->message,
                      issue->address, Hazard::IllegalMatrixDescriptor);
  case WarpgroupIssue::Uninitialised:
    return asyncFault(cluster, origin, FindingKind::Uninitialised,
                      issue->message, issue->address, Hazard::Uninitialised);
  case WarpgroupIssue::Metadata:
    return asyncFault(cluster, origin, FindingKind::Descriptor, issue->message,
                      0);
  }
}

Step multiplyAsync(Exec &x, const Record &r) {
  Step step;
  Warpgroup *group = gatheredGroup(x, r, step);
  if (!group)
    return step;
  const auto &m = r.as<WarpgroupRecord>();
  WarpgroupOperands operands;
  operands.warp = x.warp->index % 4;
  auto b = uniform<uint64_t>(x, r, m.descriptorB, "descriptors of B");
  if (!b)
    return Step::Fault;
  operands.b = *b;
  if (m.descriptorA != kNoSlot) {
    auto a = uniform<uint64_t>(x, r, m.descriptorA, "descriptors of A");
    if (!a)
      return Step::Fault;
    operands.a = *a;
  }
  uint32_t adds = x.predicate(m.addToD);
  if (adds != 0 && adds != ~0u)
    return x.fault(r, FindingKind::Divergence,
                   "lanes of a warp give different scale-d", -1, 0,
                   Hazard::DivergentAligned);
  if (!agrees(x, r, *group, {r.line, operands.a, operands.b, adds != 0}))
    return Step::Fault;
  if (x.warp->tainted && (!defined(x, r, m.a) || (adds && !defined(x, r, m.d))))
    return Step::Fault;
  if (isWatched(*x.cluster))
    tell(*x.cluster, WarpgroupIssued{x, r, m.d, m.a, [&](const auto &visit) {
                                       forWarpgroupPieces(m.form, operands,
                                                          visit);
                                     }});
  for (Slot slot : m.d)
    if (x.undefined(slot))
      x.setUndefined(slot, 0u);
  // The record belongs to the program, warp and warpgroup to the CTA: all
  // outlive what is in flight.
  x.cluster->post(queueOf(x), [cluster = x.cluster, origin = x.origin(r, 0),
                               warp = x.warp, &m, operands, adds, group] {
    multiply(*cluster, origin, *warp, m, operands, adds != 0);
    ++group->done[warp->index % 4];
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step fenceWarpgroup(Exec &x, const Record &r) {
  Step step;
  if (wholeWarp(x, r, step))
    tell(*x.cluster, WarpgroupFenced{x});
  return step;
}

Step commitWarpgroup(Exec &x, const Record &r) {
  Step step;
  Warpgroup *group = gatheredGroup(x, r, step);
  if (!group)
    return step;
  unsigned own = x.warp->index % 4;
  group->groups[own].push_back(group->issued[own]);
  return Step::Next;
}

/// wgmma.wait_group.
struct WaitRecord {
  size_t keep = 0; ///< groups that may be pending
};

Step waitWarpgroup(Exec &x, const Record &r) {
  Step step;
  Warpgroup *group = gatheredGroup(x, r, step);
  if (!group)
    return step;
  size_t keep = r.as<WaitRecord>().keep;
  std::vector<uint64_t> &groups = group->groups[x.warp->index % 4];
  if (groups.size() <= keep)
    return Step::Next;
  auto last = groups.end() - long(keep) - 1;
  if (group->doneByAll() < *last)
    return Step::Block;
  tell(*x.cluster, WarpgroupAwaited{x, *last});
  groups.erase(groups.begin(), last + 1);
  return Step::Next;
}

/// One of the immediates 1 and -1, or 0 and 1, that end the operands.
std::optional<bool> flagOf(const Operand &operand, int64_t off, int64_t on) {
  if (operand.kind != OperandKind::Integer ||
      (operand.value != off && operand.value != on))
    return std::nullopt;
  return operand.value == on;
}

/// scale-d and what follows: -1 negates A or B, 1 transposes it.
std::optional<std::string> readFlags(const Instruction &in, size_t next,
                                     WarpgroupForm &form) {
  size_t count = in.operands.size() - next;
  bool integer = form.product.accumulator == WarpAccumulator::S32;
  bool half = form.product.a == Element::F16 || form.product.a == Element::BF16;
  size_t expected = integer ? 0 : !half ? 2 : form.aInRegisters ? 3 : 4;
  if (count != expected)
    return "expected " + std::to_string(expected) +
           " immediates after scale-d, found " + std::to_string(count);
  bool *flags[] = {&form.negateA, &form.negateB, &form.transposeA,
                   &form.transposeB};
  for (size_t i = 0; i != count; ++i) {
    bool negates = i < 2;
    size_t flag = !negates && form.aInRegisters ? 3 : i;
    auto value =
        flagOf(in.operands[next + i], negates ? 1 : 0, negates ? -1 : 1);
    if (!value)
      return std::string(negates ? "imm-scale must be 1 or -1"
                                 : "imm-trans must be 0 or 1");
    *flags[flag] = *value;
  }
  return std::nullopt;
}

bool decodeMultiply(Decoder &d, const Instruction &in, Record &r) {
  auto &m = d.record<WarpgroupRecord>(r);
  WarpMmaForm &p = m.form.product;
  unsigned rows = 0;
  for (Modifier modifier : in.modifiers)
    shapeOf(modifier, rows, p.n, p.k);
  auto a = findElement(spelling(in.type(1))),
       b = findElement(spelling(in.type(2)));
  if (!a || !b)
    return d.refuse("unsupported types of wgmma");
  p.a = *a;
  p.b = *b;
  p.accumulator = accumulatorOf(in.type(0));
  p.sparse = in.has(Modifier::Sp);
  p.ordered = false;
  p.satfinite = in.has(Modifier::Satfinite);
  p.bits = BitOperation::And;
  m.form.aInRegisters = in.operands[1].kind == OperandKind::Vector;
  size_t next = 3;
  if (p.sparse) {
    m.metadata = d.source(in.operands[next], 32);
    p.selector = unsigned(std::min<uint64_t>(in.operands[next + 1].bits(), 4));
    next += 2;
  }
  if (next >= in.operands.size())
    return d.refuse("missing scale-d");
  m.addToD = d.predicate(in.operands[next++]);
  if (auto reason = readFlags(in, next, m.form))
    return d.refuse(*reason);
  if (auto reason = whyNot(m.form))
    return d.refuse(*reason);
  m.descriptorB = d.source(in.operands[2], 64);
  if (!m.form.aInRegisters)
    m.descriptorA = d.source(in.operands[1], 64);
  // Registers of A and D are used when the product takes effect.
  std::vector<Slot> sources = d.flow().sources;
  if (m.form.aInRegisters)
    m.a = d.slots(in.operands[1], 32, /*write=*/false);
  m.d = d.slots(in.operands[0], 32, /*write=*/true, d.scratch());
  d.flow().sources = std::move(sources);
  d.flow().path = Flow::Path::ByHandler;
  d.flow().sink = true;
  if (m.d.size() != m.form.registersD() ||
      (m.form.aInRegisters && m.a.size() != m.form.registersA()))
    return d.refuse("wrong number of registers in a fragment");
  r.fn = multiplyAsync;
  return true;
}

} // namespace

bool decodeWarpgroup(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::WgmmaMma:
    return decodeMultiply(d, in, r);
  case Opcode::WgmmaFence:
    r.fn = fenceWarpgroup;
    return true;
  case Opcode::WgmmaCommitGroup:
    r.fn = commitWarpgroup;
    return true;
  case Opcode::WgmmaWaitGroup:
    d.record<WaitRecord>(r).keep =
        size_t(std::max<int64_t>(in.operands[0].value, 0));
    r.fn = waitWarpgroup;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
