//===- BlockscaleConvertOps.td - ops of kernels that convert -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALECONVERTOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALECONVERTOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"

def Blockscale_LargestMagnitudeOp
    : Blockscale_KernelOp<"largest_magnitude", [Pure]> {
  let summary = "the largest magnitude of several f32";
  let description = [{
    The largest of the numbers without their signs, and a NaN if one of them is.
    `max.NaN.abs.f32` of the PTX ISA, which takes three at a time.

    ```mlir
    %m = blockscale.largest_magnitude %a, %b, %c, %d
    ```
  }];
  let arguments = (ins Variadic<F32>:$values);
  let results = (outs F32:$result);
  let assemblyFormat = "$values attr-dict";
  let hasVerifier = 1;
}

def Blockscale_EncodePairOp : Blockscale_KernelOp<"encode_pair", [Pure]> {
  let summary = "two f32 as narrow codes, in one instruction";
  let description = [{
    Each number in `format`, to nearest, ties to even, saturating; NaN becomes the
    NaN without a sign, or the largest value of a format without NaN. The code of
    `low` begins at bit 0 of the result, that of `high` at bit 8, with
    `f4E2M1FN` at bit 4; all other bits are 0. `cvt.rn.satfinite` of the PTX ISA
    with `.e4m3x2`, `.e5m2x2`, `.e2m3x2`, `.e3m2x2` or `.e2m1x2`.

    ```mlir
    %c = blockscale.encode_pair %low, %high as f8E4M3FN
    ```
  }];
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$format);
  let results = (outs I32:$result);
  let assemblyFormat = "$low `,` $high `as` $format attr-dict";
  let hasVerifier = 1;
}

def Blockscale_EncodeWordOp : Blockscale_KernelOp<"encode_word", [Pure]> {
  let summary = "eight f32 as codes of 4 bits that fill a word";
  let description = [{
    Codes as `blockscale.encode_pair` makes them, that of the first number in the
    lowest bits. Four times `cvt.rn.satfinite.e2m1x2` of the PTX ISA, whose bytes
    one `mov.b32` joins.

    ```mlir
    %c = blockscale.encode_word %a, %b, %c, %d, %e, %f, %g, %h as f4E2M1FN
    ```
  }];
  let arguments = (ins Variadic<F32>:$values, TypeAttr:$format);
  let results = (outs I32:$result);
  let assemblyFormat = "$values `as` $format attr-dict";
  let hasVerifier = 1;
}

def Blockscale_EncodeStochasticOp
    : Blockscale_KernelOp<"encode_stochastic",
                          [Pure, AttrSizedOperandSegments]> {
  let summary = "four f32 as narrow codes rounded at random, or eight of 4 bits";
  let description = [{
    Of the two numbers of `format` next to a value the one with the larger
    magnitude where the rest, as a fraction of their distance, and a random number
    together are at least 1, else the smaller one. Four values share the 32 random
    bits of one operand: of 8 and 6 bits the first two take the lower 16 as a
    fraction, the last two the upper ones; of 4 bits each has a byte, the lowest
    one, the third, the second and the highest. Saturates, and a NaN becomes what
    `blockscale.encode_pair` makes of it. The code of the first value begins at bit
    0, those of 8 and 6 bits lie in a byte each. `cvt.rs.satfinite` of the PTX ISA
    with `.e4m3x4`, `.e5m2x4`, `.e2m3x4`, `.e3m2x4`, or twice with `.e2m1x4`.

    ```mlir
    %c = blockscale.encode_stochastic %a, %b, %c, %d by %r as f8E4M3FN
    ```
  }];
  let arguments = (ins Variadic<F32>:$values, Variadic<I32>:$random,
                       TypeAttr:$format);
  let results = (outs I32:$result);
  let assemblyFormat = "$values `by` $random `as` $format attr-dict";
  let hasVerifier = 1;
}

def Blockscale_DitherOp : Blockscale_KernelOp<"dither", [Pure]> {
  let summary = "an f32 whose nearest code is one of two at random";
  let description = [{
    Of the two numbers of `format` next to `value` the result is nearest to that
    with the larger magnitude where the rest, as a fraction of their distance, and
    `random / 2^16` together are at least 1, else to the smaller one; its sign is
    that of `value`. It never is between two of them, so that
    `blockscale.encode_pair` and `blockscale.encode_word` give that code. What is
    beyond the largest number becomes that, a NaN any number. `random` is below
    2^16.

    ```mlir
    %v = blockscale.dither %value, %random as f8E4M3FN
    ```
  }];
  let arguments = (ins F32:$value, I32:$random, TypeAttr:$format);
  let results = (outs F32:$result);
  let assemblyFormat = "$value `,` $random `as` $format attr-dict";
  let hasVerifier = 1;
}

def Blockscale_F16Pair
    : ConfinedType<VectorOfLengthAndType<[2], [F16]>, [], "two f16">,
      BuildableType<"::mlir::VectorType::get({2}, $_builder.getF16Type())">;

def Blockscale_DecodePairOp : Blockscale_KernelOp<"decode_pair", [Pure]> {
  let summary = "two narrow codes as f16, in one instruction";
  let description = [{
    The values of two codes of `format`, which f16 holds exactly; a NaN stays one.
    The code of the first begins at bit 0 of the operand, that of the second at
    bit 8, with `f4E2M1FN` at bit 4; bits above the second code do not count, and
    those between codes of 6 bits are 0. `cvt.rn.f16x2` of the PTX ISA from
    `.e4m3x2`, `.e5m2x2`, `.e2m3x2`, `.e3m2x2` or `.e2m1x2`.

    ```mlir
    %v = blockscale.decode_pair %codes as f8E4M3FN
    ```
  }];
  let arguments = (ins I32:$codes, TypeAttr:$format);
  let results = (outs Blockscale_F16Pair:$result);
  let assemblyFormat = "$codes `as` $format attr-dict";
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALECONVERTOPS_TD
