//===- Tcgen05Mma.cpp - tcgen05.mma ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Async/Async.h"
#include "../Instructions/Access.h"
#include "../Ptx/Targets.h"
#include "../Run/Observer.h"
#include "Tensor.h"

namespace blockscale::emulator::machine {
namespace {

enum class CollectorUse : uint8_t { Discard, Fill, Use, LastUse };

/// tcgen05.mma.
struct MmaRecord {
  MmaForm form;
  bool aInTensor = false, aShift = false;
  AddressOperand d;
  AddressOperand a;           ///< with aInTensor
  Slot descriptorA = kNoSlot; ///< without
  Slot descriptorB = kNoSlot, idesc = kNoSlot, enableInputD = kNoSlot;
  AddressOperand metadata;       ///< of sparse A
  AddressOperand lookup;         ///< tables of a B of indices
  AddressOperand scaleA, scaleB; ///< of block-scaled kinds
  unsigned scaleInputD = 0;
  Slots disabledLanes;
  Slot zeroColumns = kNoSlot; ///< mask descriptor of `.ws`
  /// The buffer of B with `.ws`, of A without.
  unsigned collector = 0;
  CollectorUse collectorUse = CollectorUse::Discard;
  /// The buffer of B without `.ws`.
  CollectorUse collectorUseB = CollectorUse::Discard;
};

MmaRequest requestOf(const Exec &x, const MmaRecord &m, unsigned lane) {
  MmaRequest q;
  auto address = [&](const AddressOperand &operand) {
    return uint32_t(laneAddress(x, operand, lane));
  };
  q.form = m.form;
  q.tellsB = m.collectorUseB != CollectorUse::Discard;
  q.d = address(m.d);
  q.aInTensorMemory = m.aInTensor;
  q.aShift = m.aShift;
  q.a = m.aInTensor ? address(m.a) : x.reg<uint64_t>(m.descriptorA)[lane];
  q.b = x.reg<uint64_t>(m.descriptorB)[lane];
  q.idesc = x.reg<uint32_t>(m.idesc)[lane];
  if (m.form.sparse)
    q.metadata = address(m.metadata);
  if (m.form.lookupB)
    q.lookup = address(m.lookup);
  if (isBlockScaled(m.form.kind)) {
    q.scaleA = address(m.scaleA);
    q.scaleB = address(m.scaleB);
  }
  q.enableInputD = x.predicate(m.enableInputD) >> lane & 1;
  q.scaleInputD = m.scaleInputD;
  if (m.zeroColumns != kNoSlot)
    q.zeroColumns = x.reg<uint64_t>(m.zeroColumns)[lane];
  for (unsigned i = 0; i != m.disabledLanes.size(); ++i)
    q.disableOutputLane[i] = x.reg<uint32_t>(m.disabledLanes[i])[lane];
  return q;
}

/// What the target lacks that no other field tells; empty if the instruction
/// does without.
std::string whyNotTarget(const Exec &x, const MmaRequest &q,
                         const InstructionDescriptor &idesc, Hazard &hazard) {
  const std::string &target = x.cluster->program().module->target;
  hazard = Hazard::IllegalInstructionDescriptor;
  if ((idesc.k == 96 || idesc.k == 192) &&
      !hasFeature(target, TargetFeature::MmaK96))
    return "K=" + std::to_string(idesc.k) +
           " needs sm_103a or sm_107a, the module is for " + target;
  hazard = Hazard::IllegalMatrixDescriptor;
  bool a = !q.aInTensorMemory && decodeSharedDescriptor(q.a).leadingAbsolute;
  if (!a && !decodeSharedDescriptor(q.b).leadingAbsolute)
    return "";
  if (x.cluster->grid.wideMma)
    x.cluster->openPoints.add(OpenPoint::AbsoluteLeading107);
  if (!hasFeature(target, TargetFeature::AbsoluteLeading))
    return "the absolute leading address (bit 52) needs sm_103a or "
           "sm_107a, the module is for " +
           target;
  return "";
}

/// Advice if a tensor copy wrote the first row of an operand with another
/// swizzle than the descriptor names.
void adviseSwizzle(Exec &x, const Record &r, unsigned lane, uint64_t bits) {
  SharedDescriptor descriptor = decodeSharedDescriptor(bits);
  size_t row = (descriptor.start - kSharedBase) / 128;
  if (row >= x.cta->swizzles.size() || !x.cta->swizzles[row])
    return;
  static constexpr unsigned kCodes[] = {0, 6, 4, 2, 1, 1, 1, 6};
  unsigned code = kCodes[(x.cta->swizzles[row] - 1) & 7];
  if (code != descriptor.swizzleCode)
    reportHazard(*x.cluster, x.origin(r, int(lane)), Hazard::SwizzlesDiffer,
                 FindingKind::Descriptor,
                 "the descriptor has swizzle code " +
                     std::to_string(descriptor.swizzleCode) +
                     ", the tensor map that filled the bytes stands for " +
                     std::to_string(code),
                 descriptor.start);
}

/// What is known of an mma when it is issued; false after a report. An illegal
/// descriptor is left as it is: it is reported when the instruction executes.
bool checkMma(Exec &x, const Record &r, unsigned lane, const MmaRequest &q,
              InstructionDescriptor &idesc) {
  OpenPointSet points;
  if (decodeInstructionDescriptor(q.idesc, q.form, idesc, points)) {
    idesc = InstructionDescriptor();
    return true;
  }
  Hazard hazard = Hazard::None;
  std::string reason = whyNotTarget(x, q, idesc, hazard);
  if (reason.empty() && q.tellsB && idesc.m / q.form.ctaGroup != 128) {
    x.cluster->openPoints.add(OpenPoint::CollectorBHalfM);
    hazard = Hazard::IllegalInstructionDescriptor;
    reason = "'.collector::b' needs 128 rows per CTA, found M " +
             std::to_string(idesc.m) +
             " with cta_group::" + std::to_string(q.form.ctaGroup) +
             "; a public project reports an illegal instruction";
  }
  if (!reason.empty()) {
    x.fault(r, FindingKind::Descriptor, reason, int(lane), 0, hazard);
    return false;
  }
  if (x.cluster->grid.options.advice) {
    if (!q.aInTensorMemory)
      adviseSwizzle(x, r, lane, q.a);
    adviseSwizzle(x, r, lane, q.b);
  }
  return true;
}

bool usesCollector(CollectorUse use) {
  return use == CollectorUse::Use || use == CollectorUse::LastUse;
}
bool keepsCollector(CollectorUse use) {
  return use == CollectorUse::Fill || use == CollectorUse::Use;
}

/// What an instruction with `.ws` does to its collector buffer. B is read from
/// memory in any case: what a buffer keeps is the same in a correct program.
void useCollectorB(Cluster &cluster, const Origin &origin, const MmaRecord &s) {
  uint32_t bit = 1u << s.collector, &filled = origin.cta->filledCollectors;
  if (usesCollector(s.collectorUse) && !(filled & bit))
    report(cluster, origin, FindingKind::Descriptor,
           "collector buffer b" + std::to_string(s.collector) +
               " is used, but no fill of it is valid",
           0, Hazard::CollectorUnfilled);
  filled = keepsCollector(s.collectorUse) ? filled | bit : filled & ~bit;
}

/// The same for the buffer of A that instructions without `.ws` have.
void useCollectorA(Cluster &cluster, const Origin &origin, const MmaRecord &s,
                   uint64_t matrix) {
  std::optional<uint64_t> &held = origin.cta->collectorA;
  if (usesCollector(s.collectorUse) && held != matrix)
    report(cluster, origin, FindingKind::Descriptor,
           held ? "collector buffer a is used for the matrix " + hex(matrix) +
                      ", but holds " + hex(*held)
                : "collector buffer a is used, but no fill of it is valid",
           0, Hazard::CollectorUnfilled);
  if (keepsCollector(s.collectorUse))
    held = matrix;
  else
    held.reset();
}

/// The same for the buffer of B, after the instruction: its contents are known
/// then. Elements and scales of B must be those of the fill.
void useCollectorB(Cluster &cluster, const Origin &origin, const MmaRecord &s,
                   const MmaRequest &q, const TensorReport &result) {
  std::optional<HeldMatrix> &held = origin.cta->collectorB;
  // K, N, types and scales of B, but nothing of A: neither its type, sign and
  // major nor rows, layout and id of scales.
  uint32_t ofA = isBlockScaled(q.form.kind) ? 0x7C00A380u : 0x1F00A380u;
  HeldMatrix now{q.b, q.scaleB, q.idesc & ~ofA, result.contentsB};
  const char *wrong = nullptr;
  if (usesCollector(s.collectorUseB) && !result.refused)
    wrong = !held                    ? "but no fill of it is valid"
            : !held->sameMatrix(now) ? "but holds another matrix, or the same "
                                       "with other scales, N or K"
            : held->contents != now.contents
                ? "but the matrix or its scales have changed since the fill"
                : nullptr;
  if (wrong)
    report(cluster, origin, FindingKind::Descriptor,
           std::string("collector buffer b is used, ") + wrong, 0,
           Hazard::CollectorUnfilled);
  if (keepsCollector(s.collectorUseB))
    held = now;
  else
    held.reset();
}

/// Advice if two lanes issue the same mma.
void adviseRepeats(Exec &x, const Record &r, const MmaRecord &s) {
  uint32_t rest = x.mask & (x.mask - 1);
  if (!rest || !x.cluster->order || !x.cluster->grid.options.advice)
    return;
  auto second = unsigned(__builtin_ctz(rest));
  MmaRequest one = requestOf(x, s, x.firstLane()),
             other = requestOf(x, s, second);
  if (one.d == other.d && one.a == other.a && one.b == other.b)
    reportHazard(*x.cluster, x.origin(r, int(second)), Hazard::RepeatedIssue,
                 FindingKind::Descriptor,
                 std::to_string(__builtin_popcount(x.mask)) +
                     " lanes issue the same mma");
}

Step mma(Exec &x, const Record &r) {
  const auto &m = r.as<MmaRecord>();
  adviseRepeats(x, r, m);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    MmaRequest q = requestOf(x, m, lane);
    InstructionDescriptor idesc;
    if (!checkMma(x, r, lane, q, idesc))
      return Step::Fault;
    Origin origin = x.origin(r, int(lane));
    Cluster *cluster = x.cluster;
    unsigned group = m.form.ctaGroup;
    if (isWatched(*cluster))
      tell(*cluster, TensorIssued{x, r, lane, group, TensorUse::Multiply,
                                  [&](const OperandVisit &visit) {
                                    forOperandRanges(q, visit);
                                  },
                                  areasOf(q, idesc)});
    // The record belongs to the program, which outlives its clusters.
    cluster->post(queueOf(x, group), [cluster, origin, q, &m] {
      TensorContext context;
      if (!contextOf(*cluster, origin, q.form.ctaGroup, context))
        return;
      if (m.form.weightStationary)
        useCollectorB(*cluster, origin, m);
      else
        useCollectorA(*cluster, origin, m, q.a);
      TensorReport result = cluster->core.execute(q, context);
      if (q.tellsB)
        useCollectorB(*cluster, origin, m, q, result);
      else
        origin.cta->collectorB.reset();
      reportIssues(*cluster, origin, q.form.ctaGroup, result);
      ++cluster->counters.mmas[size_t(q.form.kind)];
      cluster->counters.macs += result.macs;
      tell(*cluster, MmaDone{*cluster, origin, q, result});
    });
    if (x.cluster->faulted)
      return Step::Fault;
  }
  return Step::Next;
}

std::optional<MmaKind> kindOf(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::KindF16:
      return MmaKind::F16;
    case Modifier::KindTf32:
      return MmaKind::TF32;
    case Modifier::KindF8f6f4:
      return MmaKind::F8F6F4;
    case Modifier::KindI8:
      return MmaKind::I8;
    case Modifier::KindTi16:
      return MmaKind::TI16;
    case Modifier::KindMxf8f6f4:
      return MmaKind::MXF8F6F4;
    case Modifier::KindMxf4:
      return MmaKind::MXF4;
    case Modifier::KindMxf4nvf4:
      return MmaKind::MXF4NVF4;
    default:
      break;
    }
  return std::nullopt;
}

/// The collector buffer and its use; discard if the instruction names none.
void decodeCollector(const Instruction &in, MmaRecord &m) {
  constexpr CollectorUse kUses[] = {CollectorUse::Fill, CollectorUse::Use,
                                    CollectorUse::LastUse,
                                    CollectorUse::Discard};
  for (Modifier modifier : in.modifiers)
    if (modifier >= Modifier::CollectorAFill &&
        modifier <= Modifier::CollectorADiscard) {
      m.collectorUse =
          kUses[unsigned(modifier) - unsigned(Modifier::CollectorAFill)];
    } else if (modifier >= Modifier::CollectorBFill &&
               modifier <= Modifier::CollectorBDiscard) {
      m.collectorUseB =
          kUses[unsigned(modifier) - unsigned(Modifier::CollectorBFill)];
    } else if (modifier >= Modifier::CollectorB0Fill &&
               modifier <= Modifier::CollectorB3Discard) {
      unsigned index = unsigned(modifier) - unsigned(Modifier::CollectorB0Fill);
      m.collector = index / 4;
      m.collectorUse = kUses[index % 4];
    }
}

/// What the text of an instruction with `.ashift` must not have, if it does.
std::optional<std::string> whyNotShiftedText(const Instruction &in,
                                             bool aInTensor) {
  if (!aInTensor)
    return std::string("'.ashift' needs A in tensor memory, found a "
                       "shared-memory descriptor");
  for (Modifier usage : {Modifier::CollectorAFill, Modifier::CollectorAUse})
    if (in.has(usage))
      return "'.ashift' excludes '." + std::string(spelling(usage)) +
             "'; legal are '.collector::a::lastuse' and "
             "'.collector::a::discard'";
  return std::nullopt;
}

} // namespace

bool decodeMma(Decoder &d, const Instruction &in, Record &r) {
  std::optional<MmaKind> kind = kindOf(in);
  if (!kind)
    return d.refuse("tcgen05.mma without a kind");
  auto &m = d.record<MmaRecord>(r);
  m.form.kind = *kind;
  m.form.sparse = in.has(Modifier::Sp);
  m.form.weightStationary = in.has(Modifier::Ws);
  m.form.lookupB = in.has(Modifier::DecompressLutB);
  m.form.ctaGroup = in.has(Modifier::CtaGroup2) ? 2 : 1;
  const std::string &target = d.module().target;
  m.form.wide = hasFeature(target, TargetFeature::WideMma);
  m.form.elementwise =
      m.form.sparse && hasFeature(target, TargetFeature::ElementwiseSparsity);
  bool scaled = isBlockScaled(*kind);
  m.form.block = !scaled ? 0
                 : in.has(Modifier::Block16) || in.has(Modifier::ScaleVec4X)
                     ? 16
                     : 32;
  m.aInTensor =
      in.operands.size() > 1 && in.operands[1].kind == OperandKind::Address;
  m.aShift = in.has(Modifier::Ashift);
  if (m.aShift)
    if (auto reason = whyNotShiftedText(in, m.aInTensor))
      return d.refuse(*reason);
  size_t next = 0, count = in.operands.size();
  size_t least = 5 + m.form.sparse + m.form.lookupB + 2 * scaled;
  if (count < least)
    return d.refuse("missing operands");
  m.d = d.address(in.operands[next++]);
  if (m.aInTensor)
    m.a = d.address(in.operands[next++]);
  else
    m.descriptorA = d.source(in.operands[next++], 64);
  m.descriptorB = d.source(in.operands[next++], 64);
  if (m.form.sparse)
    m.metadata = d.address(in.operands[next++]);
  if (m.form.lookupB)
    m.lookup = d.address(in.operands[next++]);
  m.idesc = d.source(in.operands[next++], 32);
  if (scaled) {
    m.scaleA = d.address(in.operands[next++]);
    m.scaleB = d.address(in.operands[next++]);
  }
  if (next < count && in.operands[next].kind == OperandKind::Vector)
    m.disabledLanes = d.slots(in.operands[next++], 32, /*write=*/false);
  if (next >= count || m.disabledLanes.size() > 8)
    return d.refuse("missing operands");
  m.enableInputD = d.predicate(in.operands[next++]);
  decodeCollector(in, m);
  if (next < count && m.form.weightStationary) {
    m.zeroColumns = d.source(in.operands[next], 64);
  } else if (next < count) {
    if (!in.operands[next].isImmediate())
      return d.refuse("scale-input-d must be an immediate");
    m.scaleInputD = uint32_t(in.operands[next].value) & 255;
  }
  d.flow().sink = true;
  r.fn = mma;
  return true;
}

} // namespace blockscale::emulator::machine
