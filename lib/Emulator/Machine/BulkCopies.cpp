//===- BulkCopies.cpp - copies of bytes in a row --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tma.h"

namespace blockscale::emulator::machine {
namespace {

/// detail b: addresses {destination, source, barrier?}; op[0] size, op[1] mask.
struct BulkOp {
  uint64_t to, from;
  uint32_t size;
};

Step bulkStore(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  Access source, target;
  if (!resolve(x, r, Where::SharedCta, op.from, lane, op.size, Use::Read,
               source, 16) ||
      !resolve(x, r, Where::Global, op.to, lane, op.size, Use::Write, target,
               16))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  auto open = x.warp->bulk[lane].open;
  ++*open;
  auto reduction = Reduction(r.imm);
  auto type = TensorMapType(r.aux2);
  if (cluster->order) {
    bool reduces = reduction != Reduction::None;
    StoreTouches t =
        storeTouches(x, r, lane, reduces ? globalBits(type) / 8 : 0);
    touchLane(x, r, lane, source, op.from, op.size, t.source);
    touchLane(x, r, lane, target, op.to, op.size, t.destination);
  }
  cluster->post(0, [=] {
    --*open;
    cluster->counters.tmaStoreBytes += op.size;
    emitCopy(*cluster, origin, EventKind::Store, op.size, origin.cta->rank);
    if (std::memchr(source.valid, 0, op.size))
      report(*cluster, origin, FindingKind::Uninitialised,
             "a bulk store reads shared memory that was never written",
             op.from);
    std::lock_guard<std::mutex> lock(cluster->grid.atomics);
    if (reduction == Reduction::None)
      std::memcpy(target.data, source.data, op.size);
    else if (!reduceElements(reduction, type, target.data, source.data,
                             op.size))
      asyncFault(*cluster, origin, FindingKind::Tma,
                 "no such reduction for the type", op.to);
  });
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkLoad(Exec &x, const Record &r, unsigned lane, const BulkOp &op) {
  Access source;
  bool fromShared = r.aux & kFromShared;
  if (!resolve(x, r, fromShared ? Where::SharedCta : Where::Global, op.from,
               lane, op.size, Use::Read, source, 16))
    return Step::Fault;
  std::vector<Target> targets;
  if (!targetsOf(x, r, lane, uint32_t(op.to),
                 pushedShared(x, *r.detail, 2, lane), r.op[1], targets))
    return Step::Fault;
  Origin origin = x.origin(r, int(lane));
  Cluster *cluster = x.cluster;
  for (const Target &target : targets) {
    uint32_t offset = target.address - kSharedBase;
    if (target.address < kSharedBase || target.address % 16 ||
        offset + op.size > target.cta->shared.size())
      return x.fault(
          r,
          target.address % 16 ? FindingKind::Misaligned
                              : FindingKind::OutOfBounds,
          "bulk copy to an address that is not 16-byte aligned in the shared "
          "memory of the CTA",
          int(lane), op.to);
    Stamp stamp = beginTransaction(x, origin, target.barrier);
    if (cluster->order) {
      touchLane(x, r, lane, source, op.from, op.size, loadTouch(stamp, false));
      std::vector<Range> ranges{{target.address, op.size}};
      touchRanges(x, r, lane, *target.cta, ranges, loadTouch(stamp, true));
    }
    cluster->post(0, [=] {
      if (exitedTarget(*cluster, origin, *target.cta))
        return;
      std::memcpy(target.cta->shared.data() + offset, source.data, op.size);
      if (source.valid)
        std::memcpy(target.cta->valid.data() + offset, source.valid, op.size);
      else
        markRange(*target.cta, target.address, op.size);
      cluster->counters.tmaLoadBytes += op.size;
      emitCopy(*cluster, origin, EventKind::Load, op.size, target.cta->rank);
      completeOn(*cluster, origin, target.barrier, op.size, stamp);
    });
  }
  return x.cluster->faulted ? Step::Fault : Step::Next;
}

Step bulkCopy(Exec &x, const Record &r) {
  adviseRepeats(x, r);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    BulkOp op;
    bool store = r.aux & kStore;
    op.to = store ? pushedAddress(x, *r.detail, 0, lane)
                  : pushedShared(x, *r.detail, 0, lane);
    op.from = store || r.aux & kFromShared
                  ? pushedShared(x, *r.detail, 1, lane)
                  : pushedAddress(x, *r.detail, 1, lane);
    op.size = x.reg<uint32_t>(r.op[0])[lane];
    if (op.size % 16 || op.size == 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy of " + std::to_string(op.size) +
                         " bytes, expected a positive multiple of 16",
                     int(lane), 0, 49);
    if (uint64_t odd = op.to % 16 ? op.to : op.from % 16 ? op.from : 0)
      return x.fault(r, FindingKind::Misaligned,
                     "bulk copy at an address that is not a multiple of 16",
                     int(lane), odd, 49);
    if (tracing(*x.cluster))
      trace(*x.cluster, x.origin(r, int(lane)),
            std::string("event=bulk direction=") + (store ? "store" : "load") +
                " to=" + hex(op.to) + " from=" + hex(op.from) +
                " bytes=" + std::to_string(op.size));
    if ((store ? bulkStore(x, r, lane, op) : bulkLoad(x, r, lane, op)) ==
        Step::Fault)
      return Step::Fault;
  }
  return Step::Next;
}

} // namespace

bool decodeBulk(Decoder &d, const Instruction &in, Record &r) {
  if (in.has(Modifier::CpMask))
    return d.refuse("'.cp_mask' is not supported");
  r.aux = formFlags(in);
  bool store = r.aux & kStore, fromGlobal = !store && in.has(Modifier::Global);
  if (!store && !fromGlobal)
    r.aux |= kFromShared;
  if (in.opcode == Opcode::CpReduceAsyncBulk && !store)
    return d.refuse("cp.reduce.async.bulk to shared memory is not supported");
  Detail &detail = d.detail(r);
  pushAddress(d, detail, in.operands[0]);
  pushAddress(d, detail, in.operands[1]);
  r.op[0] = d.source(in.operands[2], 32);
  if (!store) {
    pushAddress(d, detail, in.operands[3]);
    if (!in.has(Modifier::SharedCluster))
      r.aux |= kCtaForm;
    if (r.aux & kMulticast)
      r.op[1] = d.source(in.operands[4], 16);
  } else if (in.opcode == Opcode::CpReduceAsyncBulk) {
    r.imm = int64_t(reductionOf(in));
    switch (in.type()) {
    case Type::U32:
    case Type::B32:
      r.aux2 = uint32_t(TensorMapType::U32);
      break;
    case Type::S32:
      r.aux2 = uint32_t(TensorMapType::S32);
      break;
    case Type::U64:
    case Type::B64:
      r.aux2 = uint32_t(TensorMapType::U64);
      break;
    case Type::S64:
      r.aux2 = uint32_t(TensorMapType::S64);
      break;
    case Type::F16:
      r.aux2 = uint32_t(TensorMapType::F16);
      break;
    case Type::Bf16:
      r.aux2 = uint32_t(TensorMapType::BF16);
      break;
    case Type::F32:
      r.aux2 = uint32_t(TensorMapType::F32);
      break;
    case Type::F64:
      r.aux2 = uint32_t(TensorMapType::F64);
      break;
    default:
      return d.refuse("unsupported type");
    }
  }
  d.flow().sink = true;
  r.fn = bulkCopy;
  return true;
}

} // namespace blockscale::emulator::machine
