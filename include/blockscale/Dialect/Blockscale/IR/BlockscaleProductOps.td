//===- BlockscaleProductOps.td - products and their epilogues -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEPRODUCTOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEPRODUCTOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTensorOps.td"

/// Ops with an epilogue name its arguments.
def Blockscale_HasEpilogue
    : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>;

def Blockscale_YieldOp : Blockscale_Op<"yield",
    [Pure, Terminator, ParentOneOf<["MatmulOp", "KernelMatmulOp"]>]> {
  let summary = "the element that an epilogue makes";
  let description = [{
    Ends the epilogue of a product. The element is rounded to the result's type
    afterwards.
  }];
  let arguments = (ins F32:$value);
  let assemblyFormat = "$value attr-dict";
}

def Blockscale_MatmulOp : Blockscale_Op<"matmul",
    [Pure, AttrSizedOperandSegments, Blockscale_ReifiesShape,
     Blockscale_HasEpilogue, IsolatedFromAbove,
     DeclareOpInterfaceMethods<TilingInterface, [
       "getLoopIteratorTypes", "getIterationDomain",
       "getTiledImplementation", "getResultTilePosition",
       "generateResultTileValue"]>]> {
  let summary = "product of two matrices, block-scaled or without scales";
  let description = [{
    With the values of `a` and `b` as their scale specs define them,

    ```
    d[m, n] = epilogue(x, beta * c[m, n], bias[n])
          x = alpha * sum_k a[m, k] * b[n, k]
    ```

    Both operands have `K` last: `b` is the transpose of a row-major right
    side. With three dimensions the first one counts independent products.
    The sum is taken in f32; its order is not defined. Scales that cover all of
    K (`float32`, `float32_t0`) and tensor scales are no part of it but factors,
    as alpha is: with the product `f` of alpha and of the scales of whole
    matrices, those of `a` first, and the scales `r` and `s` of the rows of `a`
    and `b`, `x = (sum * (f * r)) * s`, each operation rounded to f32. The sum of
    products of integers (`i8`, `ui8` without such scales as make them
    fixed-point numbers) is exact: it is taken in i32 modulo
    2^32, and is the result if that holds i32, without scales, alpha, beta, c,
    bias or epilogue; else it is converted to f32 first. Chips without an
    instruction of kind i8 multiply `i8` and `ui8` as bf16, if f32 has every sum: where
    `K` is static and at most 1024 (514 of one `ui8`, 258 of two). A matmul that
    names that kind, `mma(<kind = f16, a = bf16, b = bf16>)`, is one of f32 for any `K`,
    on every chip. `alpha` and `beta` are 1
    where they are not given, and there is an element of `bias` for each column
    of the result, or for each row with `row`.

    Float scales of tiles along K, as those of DeepSeek's models (`float32_t128` of
    `a` and `float32_t128_t128` of `b`), are read by no instruction. With them there is
    an f32 sum `p_j` of the products of elements alone over each block `j` of K, as
    long as the shorter of both tiles, whose order is not defined; the sum above is
    `sum_j = fma(p_j, r_j * s_j, sum_(j-1))` from `sum_(-1) = 0`, in the order of K,
    with the product of the block's scales `r_j` of `a` and `s_j` of `b` rounded to
    f32. Scales of f16 and bf16 are converted to f32, and a side that has none, or
    one for all of K, has no part in the product. Kernels hold `i4` under `e8m0` as e2m3.

    Zero points in real units are no part of these sums either: for each tile of them
    along K kernels subtract a product from `x`, `x = fma(-(alpha * z), t, x)`, with `t`
    the sum of the other operand over the tile. Those of `a` come first.

    The epilogue makes an element of the result of one of the product, one of
    `c`, times `beta`, and one of `bias`; it has an argument for each of these
    that is given. Without a region it is their sum, from left to right. A
    region may hold whatever `arith` and `math` compute of f32 without a
    library: sums, products, quotients, `fma`, `absf`, `copysign`, the minima
    and maxima, comparisons and `select` with what joins conditions, `sqrt`,
    `rsqrt`, `exp`, `exp2`, `expm1`, `log`, `log2`, `log1p`, `tanh`, `erf`,
    `floor`, `ceil`, `trunc`, `roundeven`, and `truncf` to bf16 or f16 with
    `extf` back. Each op rounds to f32; flags that would let it do otherwise
    (`fastmath`) are refused.

    `activation(relu)`, `gelu` or `silu` is a region too, written short: the
    function of the sum of all arguments. GELU is `x * Phi(x)` with the error
    function.

    With `pairs` the columns of the product are pairs, as the gate and the up
    projection of one layer are where their rows of `b` take turns: an element of
    the result, which has N / 2 columns, is made of two sums,

    ```
    d[m, j] = epilogue(x, up, beta * c[m, j], bias[2 * j], bias[2 * j + 1])
    ```

    `x` is that of column 2 * j and `up` that of column 2 * j + 1, each with its
    factors. There is a region that says what becomes of them, for which `c` has
    the shape of the result and the bias an element for each column of the product.

    With `groups` each run of rows of `a` is multiplied by a matrix of its own:
    `b` has three dimensions, `a`, `c` and the result have two, and group `g` is
    the rows from the offset before (0 for the first) to before `offsets[g]`, which
    only memory knows. Offsets do not decrease and do not exceed the rows of `a`;
    equal ones make an empty group. Rows behind the last offset have no defined
    value in the result. There is a bias for each group, `[groups, N]`, along the
    columns; that of `row` counts through the rows of all. Scales of tiles of `a` that instructions read lie in layout
    `grouped_128x4`. Float scales of tiles along K, those that cover all of K and
    tensor scales are one for each tile, row and matrix of each operand, as
    everywhere; no two rows of `a` share one, unless all do.

    With `rows`, too, the rows of the product are rows of `a` by number: row `r` is
    row `rows[r]` of `a`, of which tokens that go to several experts need one copy.
    There are as many rows of `c` and of the result as numbers, and `offsets` counts
    them. A number below 0 or not below the rows of `a` means a row of zeros, whose
    scales are zeros as well. Scales of rows and of tiles along K go with the rows of
    `a`; but those in layout `grouped_128x4`, which no kernel gathers, lie as the rows
    of the product do: whoever sorts the rows sorts them. `a` is `k_major`; zero points
    that it may have beside the former go with its rows too, and are integers.

    With `groups` and an `a` of three dimensions, too, each group has a matrix of its
    own of `a`, `c` and the result, `[groups, M, K]` and so on, of which the first
    `offsets[g]` rows are there: how many only memory knows, from none to all. Rows
    behind them have no defined value in the result, and what `a` has there, a NaN
    included, reaches no other row. There is a bias for each group, `[groups, N]`. All
    else, the layout of scales included, is as without `groups`.

    With `groups` and a `b` of two dimensions the groups are along K, as the gradients
    of weights want: `offsets[g]` is the element of K behind group g, and matrix g of
    the result, `[groups, M, N]`, is the product of the group's columns of `a` and `b`;
    that of an empty group is 0. What lies behind the last offset is not read. Offsets
    are multiples of the K of one instruction, as many elements of the operand as take
    32 bytes; of 128 where elements of 6 and 4 bits are multiplied as those of 8 are,
    which TMA reaches so; and of the tiles of scales, of which each group has whole ones.
    Those by which sums are multiplied in registers (`float32_t128`) lie `plain`, as of
    one matrix with all of K. All others are each group's own: those of tiles along K
    that instructions read lie in layout `grouped_128x4`, and those that cover all of K
    are for all of the group's, one for each of its rows (`float32_t0`) or for its matrix
    (`float32`), in layout `grouped`, `[groups, M, 1]` and `[groups, 1, 1]`. A `float32`
    that is `plain`, and a tensor scale, are one number for all groups.

    The product, unless it has groups or pairs, can be tiled along the batch, M and N, with
    `blockscale.slice_rows` of the operands; K stays whole.

    `lowering` says how a family of chips computes it; what is left open there
    the compiler chooses. That of NVIDIA's chips, `#blockscale.tensor_core`, is
    written as two clauses: `mma` is the instruction that
    `blockscale-legalize-scales` found, `schedule` decides how the product is cut
    into tiles.

    ```mlir
    %0 = blockscale.matmul %a, %b : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32"> -> tensor<?x7168xf32>
    %1 = blockscale.matmul %a, %b alpha(%s) beta(%s) c(%c) bias(%v) activation(silu) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<?x7168xf32>, tensor<7168xf32> -> tensor<?x7168xbf16>
    %g = blockscale.matmul %a, %b c(%c) epilogue(%x, %gate) {
      %0 = math.tanh %gate : f32
      %1 = arith.mulf %x, %0 : f32
      blockscale.yield %1
    } : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<?x7168xf32> -> tensor<?x7168xbf16>
    %r = blockscale.matmul %u, %v : !blockscale.tensor<?x4096xi8, "float32_t0">, !blockscale.tensor<7168x4096xi8, "float32_t0"> -> tensor<?x7168xbf16>
    %i = blockscale.matmul %p, %q : !blockscale.tensor<?x4096xi8, "n2m4">, !blockscale.tensor<7168x4096xui8> -> tensor<?x7168xi32>
    %e = blockscale.matmul %tokens, %experts groups(%ends : tensor<8xi32>) : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>, !blockscale.tensor<8x7168x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x7168xbf16>
    %f = blockscale.matmul %x, %experts groups(%ends : tensor<8xi32>) rows(%ids : tensor<?xi32>) : !blockscale.tensor<?x4096xf8E4M3FN, "float32_t0">, !blockscale.tensor<8x7168x4096xf8E4M3FN, "float32_t0"> -> tensor<?x7168xbf16>
    %v = blockscale.matmul %gradients, %inputs groups(%ends : tensor<8xi32>) : !blockscale.tensor<7168x?xf8E4M3FN, "float32_t0", layout = grouped>, !blockscale.tensor<4096x?xf8E4M3FN, "float32_t0", layout = grouped> -> tensor<8x7168x4096xbf16>
    %t = blockscale.matmul %gradients, %inputs groups(%ends : tensor<8xi32>) : !blockscale.tensor<7168x?xf8E4M3FN, "float32_t128">, !blockscale.tensor<4096x?xf8E4M3FN, "float32_t128"> -> tensor<8x7168x4096xf32>
    %w = blockscale.matmul %gradients, %inputs groups(%ends : tensor<8xi32>) : !blockscale.tensor<7168x?xbf16>, !blockscale.tensor<4096x?xbf16> -> tensor<8x7168x4096xf32>
    %s = blockscale.matmul %a, %b bias(%both) pairs epilogue(%x, %up, %xb, %ub) {
      %0 = arith.addf %x, %xb : f32
      %1 = arith.addf %up, %ub : f32
      %2 = arith.mulf %0, %1 : f32
      blockscale.yield %2
    } : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32">, tensor<7168xf32> -> tensor<?x3584xbf16>
    %2 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 192, stages = 5>) {blockscale.target = #blockscale.target<sm_103a>} : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<7168x4096xf8E5M2, "e8m0_t32"> -> tensor<?x7168xf32>
    ```
  }];
  let arguments = (ins
    Blockscale_ScaledTensor:$a, Blockscale_ScaledTensor:$b,
    Optional<F32>:$alpha, Optional<F32>:$beta,
    Optional<Blockscale_PlainMatrix>:$c,
    Optional<Blockscale_PlainTensor>:$bias,
    Optional<TensorRankOf<[I32], [1]>>:$offsets,
    Optional<TensorRankOf<[I32], [1]>>:$row_numbers,
    DefaultValuedAttr<Blockscale_BiasKindAttr,
                      "::blockscale::BiasKind::Column">:$bias_kind,
    UnitAttr:$pairs,
    OptionalAttr<Blockscale_LoweringAttr>:$lowering);
  let results = (outs Blockscale_ProductMatrix:$result);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $a `,` $b (`groups` `(` $offsets^ `:` type($offsets) `)`)?
    (`rows` `(` $row_numbers^ `:` type($row_numbers) `)`)?
    (`alpha` `(` $alpha^ `)`)? (`beta` `(` $beta^ `)`)?
    (`c` `(` $c^ `)`)? custom<Bias>($bias, $bias_kind)
    custom<Epilogue>($epilogue, $pairs, ref($c), ref($bias))
    custom<Lowering>($lowering)
    attr-dict `:`
    custom<MatmulTypes>(ref($c), ref($bias), type($a), type($b), type($c),
                        type($bias))
    `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// M, N, K and the batch; 1 where there is no batch dimension. Of a grouped
    /// product the batch is its groups, and M the rows, or K, of all of them,
    /// not the rows of `a` that they are gathered from.
    ::blockscale::ProductSizes getSizes();
    /// Columns of the result: N, or half of it with pairs.
    int64_t getResultColumns();
    /// Whether it has groups, along rows or along K, or counts of rows.
    bool hasGroups() { return static_cast<bool>(getOffsets()); }
    /// Whether runs of rows of `a` have matrices of `b` of their own.
    bool isGrouped() {
      return hasGroups() && !getA().getType().isBatched() &&
             getB().getType().isBatched();
    }
    /// Whether memory says how many rows of each matrix of `a` are there.
    bool isMasked() { return hasGroups() && getA().getType().isBatched(); }
    /// Whether runs of columns of both have a matrix of the result each.
    bool isGroupedAlongK() {
      return hasGroups() && !getA().getType().isBatched() &&
             !getB().getType().isBatched();
    }
    /// Whether its rows are rows of `a` by number.
    bool isGathered() { return static_cast<bool>(getRowNumbers()); }
    /// Whether nothing is left to choose of how it is computed.
    bool isScheduled() {
      return getLoweringAttr() && getLoweringAttr().isComplete();
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEPRODUCTOPS_TD
