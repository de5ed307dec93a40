//===- StrictObserver.h - strict mode looks on ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_STRICTOBSERVER_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_STRICTOBSERVER_H

#include "../Run/Observer.h"

namespace blockscale::emulator::machine {

/// Makes edges of what happens, and checks accesses against them: the state is
/// in Cluster::order and Cluster::tensorOrder.
class StrictObserver final : public Observer {
public:
  explicit StrictObserver(Cluster &cluster)
      : order(*cluster.order), tensor(*cluster.tensorOrder) {}

  using Observer::on;
  void on(const RegistersUsed &) override;
  void on(const CtaExited &) override;
  void on(const BarrierArrived &) override;
  void on(const BarrierPassed &) override;
  void on(const LanesMet &) override;
  void on(const Fenced &) override;
  void on(const SharedTouched &) override;
  void on(const GlobalTouched &) override;
  void on(const Synchronised &) override;
  void on(const MapUsed &) override;
  void on(const MbarrierUpdated &) override;
  void on(const MbarrierTested &) override;
  void on(const AsyncArrived &) override;
  void on(const AsyncCompleted &) override;
  void on(const TransactionBegun &) override;
  void on(const QueueIssued &) override;
  void on(const QueueCovered &) override;
  void on(const GroupCommitted &) override;
  void on(const GroupAwaited &) override;
  void on(const PairCounted &) override;
  void on(const TensorIssued &) override;
  void on(const CommitIssued &) override;
  void on(const FragmentMoved &) override;
  void on(const FragmentsAwaited &) override;
  void on(const TensorAllocated &) override;
  void on(const TensorFreed &) override;
  void on(const PeerNeeded &) override;
  void on(const WarpgroupFenced &) override;
  void on(const WarpgroupAwaited &) override;
  void on(const WarpgroupIssued &) override;

private:
  void acquireExits(const BarrierPassed &h);
  BarrierOrder &barrierAt(const Cluster &cluster, uint32_t address);
  void touchOperands(const TensorIssued &h);
  void checkWarpgroup(const RegistersUsed &h);

  Order &order;
  TensorOrder &tensor;
  /// Of the lanes of the mbarrier instruction that runs: the barrier that has
  /// what the warp knows, and the last one that was completed.
  const BarrierOrder *released = nullptr, *completed = nullptr;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_STRICTOBSERVER_H
