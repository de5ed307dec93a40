//===- BlockscaleEpilogueOps.td - ops of epilogues of kernels -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEEPILOGUEOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEEPILOGUEOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"

def Blockscale_LoadAccumulatorOp : Blockscale_KernelOp<"load_accumulator"> {
  let summary = "load consecutive columns of the executing lane's row";
  let description = [{
    Executed by four consecutive warps that start at a multiple of four: warp w
    of them reads rows 32w to 32w + 31, lane l row 32w + l. Complete when it
    returns. The elements are those of the accumulator, f32 or i32.
  }];
  let arguments = (ins Blockscale_TensorSource:$accumulator,
                       I32:$copy,
                       I32:$column);
  let results = (outs VectorOfRankAndType<[1], [F32, I32]>:$result);
  let assemblyFormat = [{
    $accumulator `[` $copy `]` `column` $column attr-dict
    `:` type($accumulator) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadRowOp : Blockscale_KernelOp<"load_row"> {
  let summary = "load elements of global memory, as far as they are there";
  let description = [{
    Element i of the result is element `offset + i * stride` behind `source`
    for i < `count`, and 0 from there on. Without `stride` it is 1. `aligned`
    promises that all elements are there and that they, or the first 16 bytes of
    them, are aligned to their size. What memory has as ui8 is loaded as i8.
  }];
  let arguments = (ins Blockscale_GlobalSource:$source,
                       I64:$offset, I32:$count,
                       Optional<I64>:$stride, UnitAttr:$aligned);
  let results =
    (outs VectorOfRankAndType<[1], [F32, BF16, F16, F8E4M3FN, F8E5M2, I8, I16,
                                    I32]>:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` `count` $count (`stride` $stride^)?
    (`aligned` $aligned^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_StoreRowOp : Blockscale_KernelOp<"store_row"> {
  let summary = "store elements to global memory, as far as it goes";
  let description = [{
    The first `count` elements of `value` go to `offset + i * stride`.
    Without `stride` it is 1. `aligned` promises what that of `load_row` does.
  }];
  let arguments =
    (ins VectorOfRankAndType<[1], [F32, BF16, F16, I8, I32]>:$value,
                       Blockscale_GlobalTarget:$target,
                       I64:$offset, I32:$count,
                       Optional<I64>:$stride, UnitAttr:$aligned);
  let assemblyFormat = [{
    $value `to` $target `[` $offset `]` `count` $count (`stride` $stride^)?
    (`aligned` $aligned^)? attr-dict `:` type($value) `to` type($target)
  }];
  let hasVerifier = 1;
}

def Blockscale_CountArrivalOp : Blockscale_KernelOp<"count_arrival",
    [Blockscale_Synchronizes]> {
  let summary = "say that a part of a tile is in memory, and whether it is the last";
  let description = [{
    `threads` threads of the CTA, whole warps and always the same ones, execute it
    together; one of them has `arrives`. Each of `count` CTAs of the grid does so
    once for the 32-bit counter at element `index` of `counters`, which is zero
    before. The result is true in all threads of the CTA that comes last: they see
    everything that the threads of the others wrote before. The counter is zero
    again then.

    ```mlir
    %last = blockscale.count_arrival %work[%tile] count %parts threads 128 arrives %first : !blockscale.global<f32>
    ```
  }];
  let arguments = (ins Blockscale_GlobalTarget:$counters, I64:$index,
                       I32:$count, I64Attr:$threads, I1:$arrives);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    $counters `[` $index `]` `count` $count `threads` $threads
    `arrives` $arrives attr-dict `:` type($counters)
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEEPILOGUEOPS_TD
