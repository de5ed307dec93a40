//===- BlockscaleSparseOps.td - ops on sparse tensors ------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESPARSEOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESPARSEOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTensorOps.td"

def Blockscale_PruneOp : Blockscale_Op<"prune",
    [Pure, SameOperandsAndResultType]> {
  let summary = "keep the largest elements of each group";
  let description = [{
    In each group of `group` consecutive elements along the last dimension the
    `keep` elements of largest magnitude stay, ties to the lower index; the
    others become +0. With `pairs` aligned pairs of elements stay or go
    together, by the sum of their squares, rounded to f64. A NaN weighs as much as
    an infinite element. What stays keeps its bits: a -0 its sign, a NaN its
    payload.

    ```mlir
    %0 = blockscale.prune %x keep 2 of 4 : tensor<?x4096xbf16>
    %1 = blockscale.prune %x keep 4 of 8 pairs : tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins Blockscale_PlainMatrix:$input, I64Attr:$keep,
                       I64Attr:$group, UnitAttr:$pairs);
  let results = (outs Blockscale_PlainMatrix:$result);
  let assemblyFormat = [{
    $input `keep` $keep `of` $group (`pairs` $pairs^)? attr-dict `:`
    type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Blockscale_CompressOp : Blockscale_Op<"compress", [Pure]> {
  let summary = "drop the pruned elements of a scaled tensor";
  let description = [{
    The same values, stored without the zeros of a sparse pattern and with
    metadata that says which elements were kept. The input has at most N
    non-zero elements in each group of M; anything else is undefined. Where a
    group has fewer, +0 is stored for the rest, whatever the signs of its zeros.
    With zero points that count in steps of the scale, an element is zero whose
    code is its zero point, which is stored for the rest then; under those in real
    units no code is zero, and nothing is compressed.
    A tile of the result counts kept elements, so its scales are those of an
    input tile that is M/N times as long. Without scales the input has no spec;
    its layout is `plain` whatever that of the metadata.

    ```mlir
    %0 = blockscale.compress %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t64"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4">
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input);
  let results = (outs Blockscale_ScaledTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` qualified(type($input)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Blockscale_DensifyOp : Blockscale_Op<"densify", [Pure]> {
  let summary = "store pruned elements and finer scales";
  let description = [{
    The same values, with a zero where an element was pruned and each tile cut
    into tiles that repeat its scale. The tile of the result divides the
    elements of K that share a scale in the input, pruned ones included.
    Without scales there are zeros only. Dense elements may have zero points, which
    are repeated as scales are; sparse ones have none, as not every zero point is
    the code of a zero.

    ```mlir
    %0 = blockscale.densify %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32n2m4"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input);
  let results = (outs Blockscale_ScaledTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` qualified(type($input)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESPARSEOPS_TD
