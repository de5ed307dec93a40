//===- BlockscaleTensorOps.td - ops on tensors -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TENSOR_OPS_TD
#define BLOCKSCALE_TENSOR_OPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleInterfaces.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

/// Bytecode has the attributes of these ops by their names (Bytecode.cpp).
class Blockscale_Op<string mnemonic, list<Trait> traits = []>
    : Op<Blockscale_Dialect, mnemonic, traits> {
  let useCustomPropertiesEncoding = 1;
}

def Blockscale_ReifiesShape
    : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                ["reifyResultShapes"]>;

/// What the tensor level takes in and gives out: plain values.
def Blockscale_PlainTensor : RankedTensorOf<[F32, BF16, F16]>;
def Blockscale_PlainMatrix : TensorRankOf<[F32, BF16, F16], [2, 3]>;
/// What a product gives out: plain values, or exact sums of integers.
def Blockscale_ProductMatrix : TensorRankOf<[F32, BF16, F16, I32], [2, 3]>;
def Blockscale_AnyRankedTensor : RankedTensorOf<[AnyType]>;

//===----------------------------------------------------------------------===//
// Between plain values and scaled ones
//===----------------------------------------------------------------------===//

def Blockscale_QuantizeOp : Blockscale_Op<"quantize",
    [Pure, AttrSizedOperandSegments]> {
  let summary = "round a tensor to narrow elements with scales";
  let description = [{
    Chooses a scale `s` for each tile from the largest magnitude `m` in it and
    rounds each element, saturating: `q = round(x / s)`, so that the result's
    value is `q * s`.

    A float scale is `m / max`, rounded to its format, where `max` is the
    largest finite element. Scales of `e4m3` are those of `e4m3fn`, as
    instructions read them, and end at 448, not at 240. A power-of-two scale is
    `2^(floor(log2 m) - emax)`, or twice that by the rule, where `f` in [1, 2)
    is `m / 2^floor(log2 m)` and `M` the number of fraction bits of the element:

    | rule             | twice that when                                          |
    |------------------|----------------------------------------------------------|
    | `floor`          | never: the rule of OCP MX, and the default               |
    | `round_up`       | `m / max` rounded up to a power of two is that           |
    | `floor_plus_one` | always                                                   |
    | `ceil`           | `m` is no power of two                                   |
    | `mid_max`        | `f` is above the middle of `max` and the next step above |
    | `rounded_max`    | `f` rounded to `M` bits, ties to even, is 2              |
    | `top_binade`     | `f` is above that of `max`                               |
    | `min_error`      | the sum of the squared errors is less then               |

    Floats never saturate under `round_up`, `floor_plus_one`, `ceil` and
    `top_binade`. Integers know the first three and `min_error`. Scales end at
    2^-127 and 2^127.

    `min_error` is a rule of float scales too: it compares `m / max` with the
    scale that brings `m` to the element below the largest, which is 4 in
    `f4E2M1FN`, and takes the first if the errors are equal. With `s1` the first
    scale, `p` the smallest power of two not below `2^(emax + 1) - max` (1 for
    integers under float scales), an element adds `floor(min((|x / s - q| * (s /
    s1) / p)^2, 1) * 2^20)`, computed in f32 with `q` rounded to nearest, so
    that sums do not depend on their order. A first scale of 0 loses to
    another one. Zero points have no such rule.

    Elements are rounded to nearest. Of two codes as near, `rounding(even)`, the
    default, takes the one with an even code, `rounding(away)` the larger
    magnitude and `rounding(zero)` the smaller one. `rounding(stochastic, seed =
    N)` takes the larger magnitude where the rest, as a fraction of the distance
    of the two codes, and a random number `u / 2^16` together are at least 1:
    with `i` the element's number in the row-major order of the input, `u` is
    the 16 bits from bit `16 * (i mod 4)` of SplitMix64's output for the state
    `N + (floor(i / 4) + 1) * 0x9e3779b97f4a7c15`. The same seed gives the same
    result on every machine, and what is a code already stays. All this is for
    elements of at most 8 bits; scales are rounded as they always are.

    `rounding(stochastic_rs, seed = N)` is the same with the random numbers that
    `cvt.rs` of the PTX ISA takes: of `f8E4M3FN`, `f8E5M2`, `f6E2M3FN`, `f6E3M2FN`
    and `f4E2M1FN` only. The elements `4g` to `4g + 3` share the 32 bits `r`. Of
    8 and 6 bits the first two take `u / 2^16` from bits 0 to 15 and the last two
    from bits 16 to 31; of 4 bits they take `u / 2^8` from bits 0, 16, 8 and 24 on.
    With all products modulo the size of their words, `j = g mod 4` and `S`
    SplitMix64's output for the state `N + 0x9e3779b97f4a7c15`, `r` is `high(w) +
    low(w) * j * 0x9e3779b1^j` of the halves of 64 bits `w`, which are the upper
    and the lower half of the 128-bit product of `s` and `s xor
    0xe7037ed1a0b428db` combined by `xor`, where `s = S + (floor(g / 4) + 1) *
    0xa0761d6478bd642f` (wyrand). So two neighbours of 8 or 6 bits go up together
    more often than by chance; each alone does as often as its rest says, to 2^-16
    or 2^-8. Saturation, signs, zeros, subnormals and NaN are those of
    `stochastic`, on every machine. That numbers of 8 and 6 bits align the random
    bits at the top of what is rounded off is in a figure of the PTX ISA only
    (`stochastic-alignment` of the emulator).

    A spec with a tensor scale needs the decode factor `t` of each matrix,
    `x = q * s * t`: `tensor_scale` gives it, one element per matrix, of which
    the magnitude counts; without it `t` is the largest magnitude of the matrix
    divided by `max` and the largest finite tile scale, or 1 where tile scales
    have the exponents of f32 (e8m0, bfloat16, float32) and need no other. In a
    format narrower than f32 it is the nearest number, or the next one up if
    that is smaller, and the rest follows from what is stored.

    Where one scale is for all of a matrix, without zero points, `tensor_scale`
    gives that scale: it is stored as a tensor scale is, the rule `floor` chooses
    nothing, and what it does not reach saturates.

    Finite data give finite scales and elements, subnormals and the largest f32
    included: what is out of a scale's reach saturates or becomes 0.

    To the bit, all this is f32, each operation rounded to nearest even. With `F`
    the largest f32, a float scale is the least of `m / max`, the largest number
    of its format and `F / max` rounded down to it, and an element
    `round(x * min(1 / s, F))`, or `round(x * 0)` where `s` is 0. With a tensor
    scale the former starts from `m * (e * (1 / max))`, the latter is `round(x *
    min(1 / min(s * t, F), F))`, and powers of two are chosen by `m * e`. With `p`
    the product of `max` and the largest tile scale and `g` the largest magnitude
    of the matrix, `e` is `min(p / g, F)`, or 1 where that is 0 or NaN, or `g` is
    0, and `t` is the least of `1 / e` and `F / p` rounded down. Of a `t` that is
    given, or stored in less than f32, `e` is `min(1 / t, F)`.

    In a tile of zeros a power of two is 2^-127 and a float scale 0. What is or
    becomes 0 keeps its sign where the format has a negative zero. An infinity
    makes a scale the largest that there is, and is itself the largest element
    of its sign. A NaN makes the scale of its tile NaN, and the elements there
    the NaN without a sign, the largest element of a format that has none, or
    integer 0. Other tiles are as without it, but that a tensor scale is 1. Under
    a scale that is given, or none, it is such an element, and nothing else.

    Integers count in fractions under powers of two only: under float scales
    `max` of `i8` is 127. The most negative code is not used.

    Unsigned integers have a zero point: with `low` and `high` the least and the
    largest number of a tile, 0 among them, and `max` the largest code, `s` is the
    least of `(high - low) / max`, the largest number of its format and `F / max`
    rounded down to it. Of the `s` that is stored `r` is `min(1 / s, F)`, or 0 where
    `s` is 0. An integer zero point is `z = round((0 - low) * r)`, to nearest even
    and saturating, 0 for NaN, and `q = round(x * r) + z`; one in real units is
    `z = 0 - low`, rounded to its format, and `q = round((x + z) * r)`. Elements are
    rounded as `rounding` says, to at most `2^22 - 1` in magnitude and 0 for NaN,
    before an integer `z` is added; `q` is then brought between 0 and `max`.

    Without scales `s` is 1: elements are rounded to their format, integers to
    all of their range. Codebooks have no rule.

    A sparse spec (`n2m4`) prunes first: of each group the largest magnitudes
    stay, ties to the lower index; of 4-bit elements with `n4m8` the pairs with
    the largest sums of squares. Its zero points, if any, count in steps of the
    scale.

    With `groups` the rows are those of a product with groups, which the same
    offsets separate, and the scales lie in layout `grouped_128x4`, as a product
    with these groups reads them: those of each group start at a multiple of 128
    rows and are followed by zeros up to the next one. Rows behind the last offset
    have no scales, and no defined elements.

    ```mlir
    %0 = blockscale.quantize %x : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    %1 = blockscale.quantize %x rule(round_up) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    %2 = blockscale.quantize %x rounding(stochastic, seed = 7) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    %3 = blockscale.quantize %x tensor_scale(%t : tensor<f32>) rounding(stochastic_rs, seed = 7) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">
    %4 = blockscale.quantize %x groups(%ends : tensor<8xi32>) : tensor<?x4096xbf16> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
    ```
  }];
  let arguments = (ins
    Blockscale_PlainMatrix:$input,
    Optional<RankedTensorOf<[F32]>>:$tensor_scale,
    Optional<TensorRankOf<[I32], [1]>>:$offsets,
    DefaultValuedAttr<Blockscale_ScaleRuleAttr,
                      "::blockscale::ScaleRule::Floor">:$rule,
    DefaultValuedAttr<Blockscale_ElementRoundingAttr,
                      "::blockscale::ElementRounding::Even">:$rounding,
    OptionalAttr<I64Attr>:$seed);
  let results = (outs Blockscale_ScaledTensor:$result);
  let assemblyFormat = [{
    $input (`groups` `(` $offsets^ `:` type($offsets) `)`)?
    (`tensor_scale` `(` $tensor_scale^ `:` type($tensor_scale) `)`)?
    custom<ScaleRule>($rule) custom<ElementRounding>($rounding, $seed)
    attr-dict `:` type($input) `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Blockscale_DequantizeOp : Blockscale_Op<"dequantize",
    [Pure, Blockscale_ReifiesShape]> {
  let summary = "values of a scaled tensor";
  let description = [{
    `result[i] = q[i] * s * t`, computed in f32 and rounded to nearest even:
    `q` is the element, `s` the scale of its tile and `t` the tensor scale, if
    the spec has one; both are 1 for a tensor without scales. With an integer
    zero point `z` it is `(q - z) * s`, with
    one in real units `q * s - z`. Pruned elements are 0, and so is the zero point
    that is subtracted for them, whatever that of their tile. What is finite stays
    finite: a product beyond f32, or beyond the result's type, saturates.

    ```mlir
    %0 = blockscale.dequantize %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to tensor<?x4096xf32>
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input);
  let results = (outs Blockscale_PlainMatrix:$result);
  let assemblyFormat = [{
    $input attr-dict `:` qualified(type($input)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Blockscale_AssembleOp : Blockscale_Op<"assemble",
    [Pure, AttrSizedOperandSegments]> {
  let summary = "scaled tensor from its parts";
  let description = [{
    Bundles plain tensors. The result's type says which parts there are and
    what type each has:

    | part | shape for `[M, K]` (a batch dimension goes in front) | element type |
    |---|---|---|
    | data | `[M, K]`, or `[K, M]` if `order = mn_major`; K counts kept elements only | the element type; i8 for ui8 and i4 for ui4, an integer of the bits of an index for a codebook, and without scales f32 for tf32, the low 13 bits of which are ignored |
    | scales | not without scales; one per tile: `[M / tile rows, K / tile columns]`; in layout `tiled_128x4` `[M / 128, K / tile columns / 4, 32, 16]`, in `tiled_128x16` `[M / 128, K / tile columns / 16, 128, 16]`, quotients rounded up | that of the scale's format, f8E4M3FN for `e4m3` too; i8 for `e5m3fn`, which is ue5m3 in hardware and has no builtin type |
    | zeros | as plain scales | that of the zero point's format |
    | tensor scale | one per matrix: rank 0, or the batch dimension | that of the tensor scale's format |
    | metadata | `[M, K / 8]` bytes for 2 of 4 (and 1 of 2, stored as such), `[M, K / 16]` for 4 of 8 in pairs, `[M, K / 4]` for 1 of 2 tf32; in layout `tiled_128x4` `[K / T, M / 128, 128, 16]`, both quotients rounded up, with `T` elements, 16 times as many, to 16 bytes. Of codebooks `[M / subtile rows, K / subtile columns / n]`, quotients rounded up: as many numbers of tables as fit a byte, `n`, the first in the lowest bits | i8 |

    ```mlir
    %0 = blockscale.assemble %data, %scales : tensor<?x4096xf8E4M3FN>, tensor<?x128xf8E8M0FNU> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    %1 = blockscale.assemble %kept metadata(%m : tensor<?x512xi8>) : tensor<?x2048xf16> to !blockscale.tensor<?x4096xf16, "n2m4">
    ```
  }];
  let arguments = (ins
    Blockscale_AnyRankedTensor:$data,
    Optional<Blockscale_AnyRankedTensor>:$scales,
    Optional<Blockscale_AnyRankedTensor>:$zeros,
    Optional<Blockscale_AnyRankedTensor>:$tensor_scale,
    Optional<Blockscale_AnyRankedTensor>:$metadata);
  let results = (outs Blockscale_ScaledTensor:$result);
  let assemblyFormat = [{
    $data (`,` $scales^)? (`zeros` `(` $zeros^ `:` type($zeros) `)`)?
    (`tensor_scale` `(` $tensor_scale^ `:` type($tensor_scale) `)`)?
    (`metadata` `(` $metadata^ `:` type($metadata) `)`)?
    attr-dict `:` type($data) (`,` type($scales)^)? `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Blockscale_DisassembleOp : Blockscale_Op<"disassemble",
    [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "parts of a scaled tensor";
  let description = [{
    The inverse of `blockscale.assemble`: data and, where the scale spec has
    them, scales, zeros, tensor scale and metadata, in this order and with
    the types that `blockscale.assemble` describes.

    ```mlir
    %data, %scales = blockscale.disassemble %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input);
  let results = (outs Variadic<Blockscale_AnyRankedTensor>:$parts);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input))";
  let hasFolder = 1;
}

def Blockscale_RelayoutOp : Blockscale_Op<"relayout", [Pure]> {
  let summary = "the same values in another memory layout";
  let description = [{
    Changes the layout of the scales and of the metadata, the order of the
    elements, or all of them; nothing else. It is the only way from one to the
    other. Padding of a layout is 0, of metadata two groups without elements.

    ```mlir
    %0 = blockscale.relayout %q : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    %1 = blockscale.relayout %w : !blockscale.tensor<256x512xf8E5M2, "e8m0_t32"> to !blockscale.tensor<256x512xf8E5M2, "e8m0_t32", order = mn_major>
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input);
  let results = (outs Blockscale_ScaledTensor:$result);
  let assemblyFormat = [{
    $input attr-dict `:` qualified(type($input)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Blockscale_SliceRowsOp : Blockscale_Op<"slice_rows",
    [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "some rows of a scaled tensor";
  let description = [{
    The rows `offset` to `offset + size - 1`, with the scales that they had; K
    stays whole. With a batch dimension, offset and size of the matrices come
    first.

    A slice starts and ends between tiles, or ends with the tensor: where `r`
    rows share a scale, offset and size are multiples of `r`, in layout
    `tiled_128x4` of `128 * r`, and the size may be less if nothing follows.
    What is not known before run time is not checked.

    ```mlir
    %0 = blockscale.slice_rows %q[%i] [128] : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<128x4096xf8E4M3FN, "e8m0_t32">
    %1 = blockscale.slice_rows %e[%i, 0] [1, 64] : !blockscale.tensor<8x64x512xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<1x64x512xf8E4M3FN, "e8m0_t32">
    ```
  }];
  let arguments = (ins
    Blockscale_ScaledTensor:$input,
    Variadic<Index>:$offsets, Variadic<Index>:$sizes,
    DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Blockscale_ScaledTensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$sizes)>];
  let assemblyFormat = [{
    $input `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes) attr-dict `:`
    qualified(type($input)) `to` qualified(type($result))
  }];
  let extraClassDeclaration = [{
    /// Offsets and sizes of the batch dimension, if any, and of the rows.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSizes();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Sparsity
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def Blockscale_DimOp : Blockscale_Op<"dim", [Pure]> {
  let summary = "size of one dimension of a scaled tensor";
  let description = [{
    `tensor.dim` for scaled tensors, with the dimension as a constant.

    ```mlir
    %0 = blockscale.dim %q, 0 : !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    ```
  }];
  let arguments = (ins Blockscale_ScaledTensor:$input, I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $input `,` $dimension attr-dict `:` qualified(type($input))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

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
    bias or epilogue; else it is converted to f32 first. `alpha` and `beta` are 1
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
    of the product do: whoever sorts the rows sorts them. `a` is `k_major` and has no
    zero points.

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
    are multiples of the K of one instruction: as many elements of the operand as take
    32 bytes.

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

#endif // BLOCKSCALE_TENSOR_OPS_TD
