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
    | data | `[M, K]`, or `[K, M]` if `order = mn_major`; K counts stored elements only | the element type; i8 for ui8 and i4 for ui4, an integer of the bits of an index for a codebook, and without scales f32 for tf32, the low 13 bits of which are ignored |
    | scales | not without scales; one per tile: `[M / tile rows, K / tile columns]`; in layout `tiled_128x4` `[M / 128, K / tile columns / 4, 32, 16]`, in `tiled_128x16` `[M / 128, K / tile columns / 16, 128, 16]`, quotients rounded up | that of the scale's format, f8E4M3FN for `e4m3` too; i8 for `e5m3fn`, which is ue5m3 in hardware and has no builtin type |
    | zeros | as scales | that of the zero point's format |
    | tensor scale | one per matrix: rank 0, or the batch dimension | that of the tensor scale's format |
    | metadata | `[M, K / 8]` bytes for 2 of 4 (and what is stored as such), `[M, K / 16]` for 4 of 8 in pairs, `[M, K / 4]` for 1 of 2 tf32; in layout `tiled_128x4` `[K / T, M / 128, 128, 16]`, both quotients rounded up, with `T` elements, 16 times as many, to 16 bytes. Of codebooks `[M / subtile rows, K / subtile columns / n]`, quotients rounded up: as many numbers of tables as fit a byte, `n`, the first in the lowest bits; of other patterns `[M, K / 8]` in every layout, a bit for each element, the first the lowest, which is set if it is stored | i8 |

    Patterns of which instructions skip another one that has room for what they keep
    are stored as that one: 1 of 2 and at most 2 of 4, 8 and 16 as 2 of 4, which has
    half of the elements; of tf32 1 of 2, 4, 8 and 16 as 1 of 2; of f4E2M1FN under
    scales of e4m3 or e5m3, of which kinds skip pairs, 1 of 4 and at most 2 of 8 and 16
    as 4 of 8 in pairs. All others store N of M elements, one behind the other.

    ```mlir
    %0 = blockscale.assemble %data, %scales : tensor<?x4096xf8E4M3FN>, tensor<?x128xf8E8M0FNU> to !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32">
    %1 = blockscale.assemble %kept metadata(%m : tensor<?x512xi8>) : tensor<?x2048xf16> to !blockscale.tensor<?x4096xf16, "n2m4">
    %2 = blockscale.assemble %most metadata(%mask : tensor<?x512xi8>) : tensor<?x3072xf16> to !blockscale.tensor<?x4096xf16, "n3m4">
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
    Changes the layout of the scales, with that of their zero points, and of the
    metadata, the order of the elements, or all of them; nothing else. It is the only way from one to the
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

#endif // BLOCKSCALE_TENSOR_OPS_TD
