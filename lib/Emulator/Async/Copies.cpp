//===- Copies.cpp - cp.async, st.async, cluster launch control ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Report/Events.h"
#include "Async.h"
#include "Tma.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// op[0] size, op[1] source size or kNoSlot, op[2] ignore predicate or kNoSlot.
Step copyAsync(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    auto size = unsigned(r.imm);
    uint32_t wanted =
        r.op[1] == kNoSlot ? size : x.reg<uint32_t>(r.op[1])[lane];
    if (r.op[2] != kNoSlot && x.predicate(r.op[2]) >> lane & 1)
      wanted = 0;
    wanted = std::min(wanted, size);
    Access to, from;
    if (!resolve(x, r, Where::SharedCta, pushedShared(x, *r.detail, 0, lane),
                 lane, size, Use::Write, to))
      return Step::Fault;
    uint64_t source = pushedAddress(x, *r.detail, 1, lane);
    if (wanted && !resolve(x, r, Where::Global, source, lane, wanted, Use::Read,
                           from, size))
      return Step::Fault;
    if (Order *order = x.cluster->order.get()) {
      Touch touch;
      touch.stamp = order->issue(*x.warp, lane, Queue::CopyAsync);
      if (wanted)
        touchLane(x, r, lane, from, source, wanted, touch);
      touch.write = true;
      touchLane(x, r, lane, to, 0, size, touch);
    }
    auto open = x.warp->copies[lane].open;
    ++*open;
    x.cluster->post(0, [=] {
      if (wanted)
        std::memcpy(to.data, from.data, wanted);
      std::memset(to.data + wanted, 0, size - wanted);
      markWritten(to, size, true);
      --*open;
    });
  }
  return Step::Next;
}

/// Arrives when the thread's earlier cp.async are complete. aux: 1 = .noinc.
Step arriveAfterCopies(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    BulkGroups &mine = x.warp->copies[lane];
    bool done = *mine.open == 0;
    for (const auto &group : mine.committed)
      done = done && *group == 0;
    if (!done)
      return Step::Block;
  }
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    auto covered =
        x.cluster->order
            ? x.cluster->order->covered(*x.warp, lane, Queue::CopyAsync)
            : nullptr;
    Origin origin = x.origin(r, int(lane));
    uint32_t address = pushedShared(x, *r.detail, 0, lane);
    if (r.aux)
      arriveOn(*x.cluster, origin, address, covered);
    else
      arriveUncounted(*x.cluster, origin, address, covered);
  }
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

/// st.async and red.async. aux: bytes of an element; imm: Reduction; aux2:
/// TensorMapType of its elements.
Step storeAsync(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    auto bytes = unsigned(r.aux * r.detail->a.size());
    uint32_t address = pushedShared(x, *r.detail, 0, lane);
    uint32_t barrier = pushedShared(x, *r.detail, 1, lane);
    if (address >> kRankShift != barrier >> kRankShift)
      return x.fault(r, FindingKind::MBarrier,
                     "the mbarrier is not in the CTA that is stored to",
                     int(lane), barrier, Hazard::CopyInWrongCta);
    Access access;
    if (!resolve(x, r, Where::SharedCluster, address, lane, bytes, Use::Write,
                 access))
      return Step::Fault;
    std::array<uint8_t, 32> data{};
    for (size_t i = 0; i != r.detail->a.size(); ++i)
      std::memcpy(data.data() + i * r.aux, x.at(r.detail->a[i]) + lane * r.aux,
                  r.aux);
    Origin origin = x.origin(r, int(lane));
    Cluster *cluster = x.cluster;
    auto reduction = Reduction(r.imm);
    auto type = TensorMapType(r.aux2);
    Touch touch;
    touch.write = true;
    if (reduction != Reduction::None) {
      touch.strong = true;
      touch.bytes = uint16_t(bytes);
    }
    touch.stamp = beginTransaction(x, origin, barrier);
    Stamp stamp = *touch.stamp;
    touchLane(x, r, lane, access, address, bytes, touch);
    cluster->post(0, [=] {
      if (reduction == Reduction::None) {
        std::memcpy(access.data, data.data(), bytes);
      } else {
        if (std::memchr(access.valid, 0, bytes))
          report(*cluster, origin, FindingKind::Uninitialised,
                 "red.async on shared memory that was never written", address);
        reduceElements(reduction, type, access.data, data.data(), bytes);
      }
      markWritten(access, bytes, true);
      completeOn(*cluster, origin, barrier, bytes, stamp);
    });
    if (cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

Step storeZeros(Exec &x, const Record &r) {
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t size = x.reg<uint64_t>(r.op[0])[lane];
    Access access;
    if (size % 8 || size > (1 << 20))
      return x.fault(r, FindingKind::Misaligned,
                     "st.bulk size is not a multiple of 8", int(lane));
    if (!resolve(x, r, Where::SharedCta, pushedShared(x, *r.detail, 0, lane),
                 lane, unsigned(size), Use::Write, access, 8))
      return Step::Fault;
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, 0, unsigned(size), touch);
    std::memset(access.data, 0, size);
    markWritten(access, unsigned(size), true);
  }
  return Step::Next;
}

/// Contents become undefined, so they are made wrong.
Step discard(Exec &x, const Record &r) {
  constexpr unsigned kBytes = 128;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = pushedAddress(x, *r.detail, 0, lane);
    Access access;
    if (!resolve(x, r, Where(r.aux), address, lane, kBytes, Use::Write, access))
      return Step::Fault;
    if (!access.global)
      return x.fault(r, FindingKind::BadAddress,
                     "discard of memory that is not global", int(lane),
                     address);
    Touch touch;
    touch.write = true;
    touchLane(x, r, lane, access, address, kBytes, touch);
    std::memset(access.data, 0xCD, kBytes);
  }
  return Step::Next;
}

/// A cluster that has not started is taken from the list and never runs.
/// Response: three words of ctaid, then 1 for success.
Step tryCancel(Exec &x, const Record &r) {
  Cluster *cluster = x.cluster;
  Grid &grid = cluster->grid;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint32_t to = pushedShared(x, *r.detail, 0, lane),
             barrier = pushedShared(x, *r.detail, 1, lane);
    if (cluster->cancelFailed)
      return x.fault(r, FindingKind::Barrier,
                     "try_cancel after a failed answer", int(lane), to,
                     Hazard::LaunchControlMisused);
    std::array<uint32_t, 4> answer{};
    if (grid.options.residentClusters) {
      std::lock_guard<std::mutex> lock(grid.schedule);
      if (grid.next < grid.order.size()) {
        uint64_t id = grid.order[grid.next++];
        const Launch &l = grid.launch;
        uint32_t nx = l.grid.x / l.cluster.x, ny = l.grid.y / l.cluster.y;
        answer = {uint32_t(id % nx) * l.cluster.x,
                  uint32_t(id / nx % ny) * l.cluster.y,
                  uint32_t(id / nx / ny) * l.cluster.z, 1};
      }
    }
    cluster->cancelFailed = !answer[3];
    uint32_t ranks =
        r.aux ? (1u << cluster->ctas.size()) - 1 : 1u << x.cta->rank;
    Origin origin = x.origin(r, int(lane));
    if (observed(*cluster)) {
      Event event;
      event.kind = EventKind::Cancel;
      emit(*cluster, origin, event);
    }
    for (; ranks; ranks &= ranks - 1) {
      uint32_t rank = uint32_t(__builtin_ctz(ranks)) << kRankShift;
      uint32_t target = (to & 0xFFFFFF) | rank,
               home = (barrier & 0xFFFFFF) | rank;
      Access access;
      if (!resolve(x, r, Where::SharedCluster, target, lane, 16, Use::Write,
                   access))
        return Step::Fault;
      Touch touch;
      touch.write = touch.async = true;
      touch.flags = PastAccess::Answer;
      touch.stamp = beginTransaction(x, origin, home, BarrierVisit::Answer);
      Stamp stamp = *touch.stamp;
      touchLane(x, r, lane, access, target, 16, touch);
      cluster->post(0, [=] {
        std::memcpy(access.data, answer.data(), 16);
        markWritten(access, 16, true);
        completeOn(*cluster, origin, home, 16, stamp, BarrierVisit::Answer);
      });
    }
    if (cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

struct Response {
  uint32_t words[4];
};
/// op[1] response; aux 0: predicate op[0]; 1: detail a = {x, y, z, w}.
Step queryCancel(Exec &x, const Record &r) {
  const Response *responses = x.reg<Response>(r.op[1]);
  Step step = Step::Next;
  uint32_t success = 0;
  forLanes(x.mask, [&](unsigned lane) {
    const Response &one = responses[lane];
    success |= (one.words[3] & 1) << lane;
    if (!r.aux || step == Step::Fault)
      return;
    if (!(one.words[3] & 1)) {
      step =
          x.fault(r, FindingKind::Barrier, "get_first_ctaid of a failed answer",
                  int(lane), 0, Hazard::LaunchControlMisused);
      return;
    }
    for (size_t i = 0; i != r.detail->a.size(); ++i)
      x.reg<uint32_t>(r.detail->a[i])[lane] = one.words[r.detail->numbers[i]];
  });
  if (!r.aux)
    x.setPredicate(r.op[0], success);
  return step;
}

bool decodeQuery(Decoder &d, const Instruction &in, Record &r) {
  const Operand &to = in.operands[0];
  r.op[1] = d.source(in.operands[1], 128);
  r.fn = queryCancel;
  if (in.has(Modifier::IsCanceled)) {
    r.op[0] = d.predicateOut(to);
    return true;
  }
  r.aux = 1;
  Detail &detail = d.detail(r);
  int64_t component = in.has(Modifier::GetFirstCtaidY)   ? 1
                      : in.has(Modifier::GetFirstCtaidZ) ? 2
                                                         : 0;
  if (to.kind != OperandKind::Vector) {
    detail.a = {d.destination(to, 32)};
    detail.numbers = {component};
    return true;
  }
  for (size_t i = 0; i != to.elements.size() && i != 4; ++i) {
    detail.a.push_back(d.destination(to.elements[i], 32));
    detail.numbers.push_back(int64_t(i));
  }
  return true;
}

bool decodeCopyAsync(Decoder &d, const Instruction &in, Record &r) {
  Detail &detail = d.detail(r);
  pushAddress(d, detail, in.operands[0]);
  pushAddress(d, detail, in.operands[1]);
  r.imm = in.operands[2].value;
  if (r.imm != 4 && r.imm != 8 && r.imm != 16)
    return d.refuse("cp.async copies 4, 8 or 16 bytes");
  if (in.operands.size() > 3) {
    const Operand &fourth = in.operands[3];
    bool isPolicy = in.has(Modifier::L2CacheHint) && in.operands.size() == 4;
    bool isPredicate = fourth.kind == OperandKind::Register &&
                       d.currentFunction().registers[fourth.reg].width() == 1;
    if (isPredicate)
      r.op[2] = d.predicate(fourth);
    else if (!isPolicy)
      r.op[1] = d.source(fourth, 32);
  }
  d.flow().sink = true;
  r.fn = copyAsync;
  return true;
}

} // namespace

bool decodeCopy(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::CpAsync:
    return decodeCopyAsync(d, in, r);
  case Opcode::CpAsyncMbarrierArrive:
    pushAddress(d, d.detail(r), in.operands[0]);
    r.aux = in.has(Modifier::Noinc);
    r.fn = arriveAfterCopies;
    return true;
  case Opcode::RedAsync:
  case Opcode::StAsync: {
    Detail &detail = d.detail(r);
    pushAddress(d, detail, in.operands[0]);
    pushAddress(d, detail, in.operands[2]);
    unsigned bits = bitWidth(in.type());
    r.aux = bits / 8;
    const Operand &data = in.operands[1];
    if (data.kind == OperandKind::Vector)
      for (const Operand &one : data.elements)
        detail.a.push_back(d.source(one, bits));
    else
      detail.a.push_back(d.source(data, bits));
    if (in.opcode == Opcode::RedAsync) {
      std::optional<TensorMapType> type = elementType(in.type());
      if (!type)
        return d.refuse("unsupported type");
      r.imm = int64_t(reductionOf(in));
      r.aux2 = uint32_t(*type);
    }
    d.flow().sink = true;
    r.fn = storeAsync;
    return true;
  }
  case Opcode::StBulk:
    pushAddress(d, d.detail(r), in.operands[0]);
    r.op[0] = d.source(in.operands[1], 64);
    r.fn = storeZeros;
    return true;
  case Opcode::Discard:
    pushAddress(d, d.detail(r), in.operands[0]);
    if (in.operands[1].value != 128)
      return d.refuse("discard takes 128 bytes");
    r.aux = uint32_t(whereOf(in));
    r.fn = discard;
    return true;
  case Opcode::ClcTryCancel: {
    Detail &detail = d.detail(r);
    pushAddress(d, detail, in.operands[0]);
    pushAddress(d, detail, in.operands[1]);
    r.aux = in.has(Modifier::MulticastClusterAll);
    r.fn = tryCancel;
    return true;
  }
  case Opcode::ClcQueryCancel:
    return decodeQuery(d, in, r);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
