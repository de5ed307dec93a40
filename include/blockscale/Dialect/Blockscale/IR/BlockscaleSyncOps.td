//===- BlockscaleSyncOps.td - who waits for whom -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops by which CTAs of a cluster, launches and the roles of a kernel wait for each
// other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESYNCOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESYNCOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

def Blockscale_ClusterRankOp : Blockscale_KernelOp<"cluster_rank", [Pure]> {
  let summary = "number of the executing CTA in its cluster";
  let description = [{
    CTAs 2i and 2i + 1 are a pair; CTA 2i leads it.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Blockscale_ClusterBarrierOp : Blockscale_KernelOp<"cluster_barrier",
    [Blockscale_Synchronizes]> {
  let summary = "wait until every thread of the cluster is here";
  let description = [{
    What the threads wrote before, barriers that they initialised included, is
    seen by all of them behind it.
  }];
  let assemblyFormat = "attr-dict";
}

def Blockscale_RemoteBarrierOp : Blockscale_KernelOp<"remote_barrier",
    [Pure, InferTypeOpAdaptor]> {
  let summary = "the same barriers in the CTA of the cluster with a rank";
  let description = [{
    ```mlir
    %led = blockscale.remote_barrier %full of %leader : !blockscale.barrier<4>
    ```
  }];
  let arguments = (ins Blockscale_BarrierType:$barrier, I32:$rank);
  let results = (outs Blockscale_BarrierType:$result);
  let assemblyFormat = "$barrier `of` $rank attr-dict `:` type($barrier)";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Blockscale_TryCancelOp : Blockscale_KernelOp<"try_cancel",
    [MemoryEffects<[MemRead<Blockscale_Grid>, MemWrite<Blockscale_Grid>]>]> {
  let summary = "take over a cluster of the grid that has not started";
  let description = [{
    Asynchronous: 16 bytes, for `query_cancel` to read, go to entry `index` of
    `responses` and count on barrier `signal` of the same index. With
    `multicast` they do so in every CTA of the cluster. Not to be executed
    again once a response has said that no cluster is left.
  }];
  let arguments = (ins Blockscale_SharedTarget:$responses,
                       I32:$index,
                       Blockscale_SignalledBarrier:$signal,
                       UnitAttr:$multicast);
  let assemblyFormat = [{
    $responses `[` $index `]` `signal` $signal (`multicast` $multicast^)?
    attr-dict `:` type($responses) `,` type($signal)
  }];
  let hasVerifier = 1;
}

def Blockscale_QueryCancelOp : Blockscale_KernelOp<"query_cancel"> {
  let summary = "the cluster that try_cancel took over, if there was one";
  let description = [{
    `cta` is the number in the grid of the cluster's first CTA; it has no
    meaning unless `found`. Later responses may overwrite the entry once the
    executing thread has arrived at a barrier.
  }];
  let arguments = (ins Blockscale_SharedSource:$responses,
                       I32:$index);
  let results = (outs I32:$cta, I1:$found);
  let assemblyFormat =
    "$responses `[` $index `]` attr-dict `:` type($responses)";
  let hasVerifier = 1;
}

def Blockscale_AwaitDependenciesOp
    : Blockscale_KernelOp<"await_dependencies",
    [MemoryEffects<[MemRead<Blockscale_Grid>, MemWrite<Blockscale_Grid>,
                    MemRead<Blockscale_Global>, MemWrite<Blockscale_Global>]>]> {
  let summary = "wait for the grids that this one depends on";
  let description = [{
    Returns when they are complete and what they wrote is visible. Nothing that
    they write or read may be touched in memory before, but for `tma_prefetch`.
  }];
  let assemblyFormat = "attr-dict";
}

def Blockscale_LaunchDependentsOp : Blockscale_KernelOp<"launch_dependents",
    [MemoryEffects<[MemRead<Blockscale_Grid>, MemWrite<Blockscale_Grid>]>]> {
  let summary = "let dependent grids start";
  let description = [{
    They may start once every CTA has executed this or has ended; they wait for
    this grid's results with `await_dependencies`.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def Blockscale_WaitOp : Blockscale_KernelOp<"wait",
    [Blockscale_Synchronizes]> {
  let summary = "wait until the phase with a parity is over";
  let description = [{
    A barrier that was never used has finished "phase -1", so a wait for
    parity 1 returns at once.
  }];
  let arguments = (ins Blockscale_BarrierType:$barrier, I32:$index,
                       I32:$parity);
  let assemblyFormat =
    "$barrier `[` $index `]` `parity` $parity attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def Blockscale_ArriveOp : Blockscale_KernelOp<"arrive",
    [Blockscale_Synchronizes]> {
  let summary = "arrive once at a barrier";
  let arguments = (ins Blockscale_BarrierType:$barrier, I32:$index);
  let assemblyFormat = "$barrier `[` $index `]` attr-dict `:` type($barrier)";
}

def Blockscale_ArriveExpectOp : Blockscale_KernelOp<"arrive_expect",
    [Blockscale_Synchronizes]> {
  let summary = "arrive once and announce the bytes that TMA will bring";
  let description = [{
    Of the padded 4- and 6-bit types TMA counts the packed bytes.
  }];
  let arguments = (ins Blockscale_BarrierType:$barrier, I32:$index,
                       I64Attr:$bytes);
  let assemblyFormat =
    "$barrier `[` $index `]` `bytes` `(` $bytes `)` attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def Blockscale_CommitOp : Blockscale_KernelOp<"commit",
    [Blockscale_Synchronizes]> {
  let summary = "arrive when all tensor-core work of this thread is done";
  let description = [{
    Covers the copies of scales and the MMAs that this thread issued before;
    those of a pair with `pair`. With `multicast` it arrives at the barrier of
    every CTA of the cluster whose bit is set, in place of its own.
  }];
  let arguments = (ins Blockscale_BarrierType:$barrier, I32:$index,
                       Optional<I32>:$multicast, UnitAttr:$pair);
  let assemblyFormat = [{
    $barrier `[` $index `]` (`multicast` $multicast^)? (`pair` $pair^)?
    attr-dict `:` type($barrier)
  }];
  let hasVerifier = 1;
}

def Blockscale_FenceSide : I32Enum<"FenceSide",
    "which side of a synchronisation a fence stands on", [
      I32EnumCase<"Before", 0, "before">,
      I32EnumCase<"After", 1, "after">]> {
  let cppNamespace = "::blockscale";
}
def Blockscale_FenceSideAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_FenceSide, "fence_side">;

def Blockscale_TensorFenceOp : Blockscale_KernelOp<"tensor_fence",
    [Blockscale_Synchronizes]> {
  let summary = "order tensor-memory accesses around a synchronisation";
  let description = [{
    `before` stands in front of the arrival of a thread whose accesses must be
    seen, `after` behind the wait of the thread that sees them.
  }];
  let arguments = (ins Blockscale_FenceSideAttr:$side);
  let assemblyFormat = "$side attr-dict";
}

//===----------------------------------------------------------------------===//
// The whole grid
//===----------------------------------------------------------------------===//

def Blockscale_RaiseLargestOp : Blockscale_KernelOp<"raise_largest"> {
  let summary = "make a word of memory at least as large as a number";
  let description = [{
    The 32-bit word at element `index` becomes the larger one of itself and
    `value`, both without signs. Any number of threads of the grid may do so at
    once; whoever comes behind a `meet_grid` sees the largest.

    ```mlir
    blockscale.raise_largest %work[%matrix], %bits : !blockscale.global<i32>
    ```
  }];
  let arguments = (ins Blockscale_GlobalUpdated:$target, I64:$index,
                       I32:$value);
  let assemblyFormat = [{
    $target `[` $index `]` `,` $value attr-dict `:` type($target)
  }];
  let hasVerifier = 1;
}

def Blockscale_MeetGridOp : Blockscale_KernelOp<"meet_grid",
    [Blockscale_Synchronizes]> {
  let summary = "wait until all CTAs of the grid have come";
  let description = [{
    One thread of each of the `count` CTAs of the grid executes it once, for the
    32-bit counter at element `index`, which is zero before; all CTAs run at once,
    as those of a `cooperative` kernel do. Behind it, and behind a barrier of the
    CTA, is seen what all threads wrote before a barrier of the CTA in front of
    it. With `leave_grid` each of these threads leaves the counter again.

    ```mlir
    blockscale.meet_grid %work[%zero] count %ctas : !blockscale.global<i32>
    ```
  }];
  let arguments = (ins Blockscale_GlobalUpdated:$counters, I64:$index,
                       I32:$count);
  let assemblyFormat = [{
    $counters `[` $index `]` `count` $count attr-dict `:` type($counters)
  }];
  let hasVerifier = 1;
}

def Blockscale_LeaveGridOp : Blockscale_KernelOp<"leave_grid",
    [Blockscale_Synchronizes]> {
  let summary = "leave the counter of a grid, and say whether as the last";
  let description = [{
    Each thread that has executed `meet_grid` for a counter executes it once
    behind that. The result is true in the one that comes last; the counter is
    zero again then.

    ```mlir
    %last = blockscale.leave_grid %work[%zero] count %ctas : !blockscale.global<i32>
    ```
  }];
  let arguments = (ins Blockscale_GlobalUpdated:$counters, I64:$index,
                       I32:$count);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    $counters `[` $index `]` `count` $count attr-dict `:` type($counters)
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESYNCOPS_TD
