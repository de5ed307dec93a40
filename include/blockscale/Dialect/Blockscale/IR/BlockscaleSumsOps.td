//===- BlockscaleSumsOps.td - sums of scaled tensors -------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMSOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMSOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Blockscale_TileSumsOp : Op<Blockscale_Dialect, "tile_sums",
    [Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                     ["reifyResultShapes"]>]> {
  let summary = "sums of the values of a scaled tensor over tiles along K";
  let description = [{
    `result[l, j, r]` is the sum of row `r` of matrix `l` over the `tile` elements
    along K from `j * tile` on, fewer where K ends; without `tile` over all of K. It
    is what a product multiplies by the zero points of its other operand, where they
    are in real units, in the order in which its kernel reads it.

    All is f32, each step rounded to nearest even. A piece is 16 elements of a row that
    follow each other, or what is left of them at the end of a tile:

    1. The elements of a piece are added up in their order.
    2. The sum is multiplied by the scale of the piece, then by the tensor scale.
    3. The pieces of a tile are dealt in turn to `n` partial sums, which begin at 0:
       piece `i` is added to number `i % n`. `n` is the largest power of two that is
       at most 32 and no more than the `tile` elements have whole pieces, 1 at least;
       without `tile` it is 32.
    4. Number `i` and number `i + n / 2` are added for each `i` below `n / 2`, then the
       same is done with what is left, down to one.

    So each tile has the same bits wherever it is computed. Elements are dense and have
    no zero points; a piece has one scale, hence tiles of scales are of a multiple of 16
    elements.

    ```mlir
    %0 = blockscale.tile_sums %a tile = 128 : !blockscale.tensor<?x4096xf8E4M3FN, "float32_t128"> to tensor<32x?xf32>
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input,
                       OptionalAttr<I64Attr>:$tile);
  let results = (outs TensorRankOf<[F32], [2, 3]>:$result);
  let assemblyFormat = [{
    $input (`tile` `=` $tile^)? attr-dict `:` qualified(type($input)) `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  /// Bytecode has the attribute by its name (BytecodeOps.cpp).
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// Elements of a piece, which are added up before the scale is applied.
    static constexpr int64_t kPiece = 16;

    /// Sums that the pieces of a tile are dealt to.
    int64_t partialSums();
  }];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMSOPS_TD
