//===- Trace.h - the trace looks on -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_REPORT_TRACE_H
#define BLOCKSCALE_LIB_EMULATOR_REPORT_TRACE_H

#include "../Run/Observer.h"

namespace blockscale::emulator::machine {

/// Writes a line for each asynchronous or barrier event to Options::trace.
class TraceObserver final : public Observer {
public:
  using Observer::on;
  void on(const MbarrierUpdated &) override;
  void on(const CopyBegun &) override;
  void on(const MmaDone &) override;
  void on(const TensorCopyDone &) override;
  void on(const CommitDone &) override;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_REPORT_TRACE_H
