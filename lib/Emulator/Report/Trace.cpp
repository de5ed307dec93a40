//===- Trace.cpp - what happens, as lines of text -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

namespace blockscale::emulator::machine {

static void trace(Cluster &cluster, const Origin &origin,
                  const std::string &text) {
  std::string line = "cta=" + std::to_string(origin.cta->id[0]) + "," +
                     std::to_string(origin.cta->id[1]) + "," +
                     std::to_string(origin.cta->id[2]) +
                     " warp=" + std::to_string(origin.warp) +
                     " line=" + std::to_string(origin.line) + " " + text;
  std::lock_guard<std::mutex> lock(cluster.grid.output);
  cluster.grid.options.trace(line);
}

void TraceObserver::on(const MbarrierUpdated &h) {
  trace(*h.x.cluster, h.x.origin(h.r, int(h.lane)),
        std::string("event=mbarrier verb=") +
            std::string(spelling(h.r.instruction->opcode)) +
            " barrier=" + hex(h.address) + " count=" + std::to_string(h.count) +
            " bytes=" + std::to_string(h.bytes) +
            " phase=" + std::to_string(h.barrier.phase()));
}

void TraceObserver::on(const CopyBegun &h) {
  trace(*h.x.cluster, h.x.origin(h.r, int(h.lane)), h.text());
}

void TraceObserver::on(const MmaDone &h) {
  const MmaRequest &q = h.request;
  const InstructionDescriptor &i = h.result.idesc;
  std::string text = "event=mma kind=" + std::string(name(q.form.kind));
  auto add = [&](const char *key, uint64_t value) {
    text += std::string(" ") + key + "=" + std::to_string(value);
  };
  add("cta_group", q.form.ctaGroup);
  add("block", q.form.block);
  add("sparse", q.form.sparse);
  add("m", i.m);
  add("n", i.n);
  add("k", i.k);
  text += " a_type=" + std::string(name(i.a)) + " b_type=" + name(i.b);
  if (isBlockScaled(q.form.kind))
    text += " scale_type=" + std::string(name(i.scale));
  add("scale_id_a", i.scaleIdA);
  add("scale_id_b", i.scaleIdB);
  add("mn_major_a", i.mnMajorA);
  add("mn_major_b", i.mnMajorB);
  add("negate_a", i.negateA);
  add("negate_b", i.negateB);
  add("selector", i.sparsitySelector);
  text += " idesc=" + hex(q.idesc) + " d=" + hex(q.d) +
          (q.aInTensorMemory ? " a_tmem=" : " a_desc=") + hex(q.a) +
          " b_desc=" + hex(q.b);
  if (q.form.sparse)
    text += " metadata=" + hex(q.metadata);
  if (q.form.lookupB)
    text += " lookup=" + hex(q.lookup);
  if (isBlockScaled(q.form.kind))
    text += " scale_a=" + hex(q.scaleA) + " scale_b=" + hex(q.scaleB);
  add("accumulate", q.enableInputD);
  if (q.aShift)
    text += " ashift";
  if (q.form.weightStationary)
    text += " ws zero_columns=" + hex(q.zeroColumns);
  trace(h.cluster, h.origin, text);
}

void TraceObserver::on(const TensorCopyDone &h) {
  std::string form;
  for (Modifier modifier : h.instruction.modifiers)
    form += (form.empty() ? "" : ".") + std::string(spelling(modifier));
  trace(h.cluster, h.origin,
        "event=cp form=" + form + " d=" + hex(h.address) +
            " desc=" + hex(h.descriptor));
}

void TraceObserver::on(const CommitDone &h) {
  trace(h.cluster, h.origin,
        "event=commit barrier=" + hex(h.address) + " mask=" + hex(h.ranks));
}

} // namespace blockscale::emulator::machine
