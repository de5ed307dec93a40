//===- BlockscaleStoreOps.td - ops on results in shared memory -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp of the epilogue has a ring of boxes of its own in shared memory: it
// waits until one is free, each lane writes a row of it, and one lane has TMA
// store it, while the warp goes on with the next one. Boxes of C come the other
// way.
//
// Kernels without TMA exchange elements of a CTA's tile between its threads, so
// that neighbours read and write neighbouring addresses of global memory.
//
// CTAs of a cluster that each have the sums of a part of K send them to each
// other's shared memory, where a barrier counts their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESTOREOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESTOREOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"

def Blockscale_AwaitStoresOp : Blockscale_KernelOp<"await_stores",
    [Blockscale_Synchronizes]> {
  let summary = "wait until the warp's stores have read shared memory";
  let description = [{
    A whole warp executes it. Of the boxes that the warp had stored, all but the
    last `pending` have been read behind it, so that they may be written again;
    they need not be in global memory yet.

    ```mlir
    blockscale.await_stores pending 1
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "`pending` $pending attr-dict";
  let hasVerifier = 1;
}

def Blockscale_StageRowOp : Blockscale_KernelOp<"stage_row"> {
  let summary = "write a row of a box to shared memory";
  let description = [{
    A whole warp executes it, and lane l writes row l of box `stage`, where the
    swizzle of the ring has it. The ring has boxes of 32 rows that are as wide as
    its swizzle, or of 16 bytes without one, so that lanes do not wait for each
    other's banks.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32, BF16, F16, I32]>:$value,
                       Blockscale_SharedTarget:$shared, I32:$stage);
  let assemblyFormat = [{
    $value `to` $shared `stage` $stage attr-dict
    `:` type($value) `to` type($shared)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadStagedRowOp : Blockscale_KernelOp<"load_staged_row"> {
  let summary = "load a row of a box from shared memory";
  let description = [{
    The inverse of `blockscale.stage_row`, for boxes that `blockscale.tma_load`
    brings: a whole warp executes it, and lane l loads row l of box `stage`.

    ```mlir
    %0 = blockscale.load_staged_row %s stage %i : !blockscale.shared<4x32x32xbf16, container = 16, swizzle = "64B"> -> vector<32xbf16>
    ```
  }];
  let arguments = (ins Blockscale_SharedSource:$shared, I32:$stage);
  let results = (outs VectorOfRankAndType<[1], [F32, BF16, F16, I32]>:$result);
  let assemblyFormat = [{
    $shared `stage` $stage attr-dict `:` type($shared) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_TmaStoreOp : Blockscale_KernelOp<"tma_store",
    [Blockscale_Synchronizes]> {
  let summary = "store a box from shared into global memory";
  let description = [{
    The warp whose lanes wrote box `stage` executes it. Asynchronous: the box is
    read until an `await_stores` of the warp covers it. Coordinates are in
    elements, innermost first; what lies outside the tensor is not stored.
  }];
  let arguments = (ins Blockscale_SharedSource:$shared, I32:$stage,
                       Blockscale_MappedTarget:$map,
                       Variadic<I32>:$coordinates);
  let assemblyFormat = [{
    $shared `stage` $stage `to` $map `[` $coordinates `]` attr-dict
    `:` type($shared) `to` type($map)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadSharedOp : Blockscale_KernelOp<"load_shared"> {
  let summary = "load elements of shared memory";
  let description = [{
    The elements of the ring from number `offset` on, as they lie in memory: the
    ring has no swizzle, and containers as wide as its elements. The address is
    aligned to the size of the result, which is a power of two of at most 16 bytes.

    ```mlir
    %0 = blockscale.load_shared %s[%i] : !blockscale.shared<1x128x80xi8, container = 8, swizzle = "none"> -> vector<16xi8>
    ```
  }];
  let arguments = (ins Blockscale_SharedSource:$shared, I32:$offset);
  let results = (outs VectorOfRankAndType<[1], [F32, BF16, F16, I8]>:$result);
  let assemblyFormat = [{
    $shared `[` $offset `]` attr-dict `:` type($shared) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_StoreSharedOp : Blockscale_KernelOp<"store_shared"> {
  let summary = "store elements to shared memory";
  let description = [{
    The inverse of `blockscale.load_shared`. Other threads see the elements behind
    a `gpu.barrier`.

    ```mlir
    blockscale.store_shared %0 to %s[%i] : vector<16xi8> to !blockscale.shared<1x128x80xi8, container = 8, swizzle = "none">
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32, BF16, F16, I8]>:$value,
                       Blockscale_SharedTarget:$shared, I32:$offset);
  let assemblyFormat = [{
    $value `to` $shared `[` $offset `]` attr-dict
    `:` type($value) `to` type($shared)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sums of parts of K
//===----------------------------------------------------------------------===//

def Blockscale_SendSumsOp : Blockscale_KernelOp<"send_sums"> {
  let summary = "store a thread's sums in the shared memory of the cluster";
  let description = [{
    The sums go to block `block` of `shared` in the CTA with `rank`, which may be
    the executing one, to row `row` and the columns from `column` on, a multiple of
    four. `shared` holds four columns of all rows after each other: blocks x
    columns / 4 x rows x 4. Asynchronous: the bytes count on the first barrier of
    `signal` in that CTA.

    ```mlir
    blockscale.send_sums %sums to %inbox[%part, %column, %row] of %rank signal %full : vector<16xf32> to !blockscale.shared<4x4x128x4xf32, container = 32>, !blockscale.barrier<1>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32, I32]>:$value,
                       Blockscale_SharedTarget:$shared,
                       I32:$block, I32:$column, I32:$row, I32:$rank,
                       Blockscale_SignalledBarrier:$signal);
  let assemblyFormat = [{
    $value `to` $shared `[` $block `,` $column `,` $row `]` `of` $rank
    `signal` $signal attr-dict
    `:` type($value) `to` type($shared) `,` type($signal)
  }];
  let hasVerifier = 1;
}

def Blockscale_ReceiveSumsOp : Blockscale_KernelOp<"receive_sums"> {
  let summary = "load sums that a CTA of the cluster sent";
  let description = [{
    Those of `shared` of the executing CTA, placed as `send_sums` places them.
  }];
  let arguments = (ins Blockscale_SharedSource:$shared,
                       I32:$block, I32:$column, I32:$row);
  let results = (outs VectorOfRankAndType<[1], [F32, I32]>:$result);
  let assemblyFormat = [{
    $shared `[` $block `,` $column `,` $row `]` attr-dict
    `:` type($shared) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_ReleaseSumsOp : Blockscale_KernelOp<"release_sums",
    [Blockscale_Synchronizes]> {
  let summary = "let CTAs of the cluster send sums again";
  let description = [{
    A whole warp executes it when all of its lanes have loaded what they need. It
    arrives once at the first of the barriers `empty` in each of `count` CTAs of
    the cluster: those with the ranks `first`, `first + step` and so on.

    ```mlir
    blockscale.release_sums %empty of %zero count 4 step 1 : !blockscale.barrier<1>
    ```
  }];
  let arguments = (ins Blockscale_BarrierType:$empty, I32:$first,
                       I64Attr:$count, I64Attr:$step);
  let assemblyFormat = [{
    $empty `of` $first `count` $count `step` $step attr-dict `:` type($empty)
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESTOREOPS_TD
