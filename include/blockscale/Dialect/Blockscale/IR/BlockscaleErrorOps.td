//===- BlockscaleErrorOps.td - errors of rounding ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERROROPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERROROPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Blockscale_RoundingErrorsOp
    : Op<Blockscale_Dialect, "rounding_errors", [Pure, InferTypeOpAdaptor]> {
  let summary = "two f32 as narrow codes, or eight of 4 bits, and how far they are off";
  let description = [{
    The codes of two numbers as `blockscale.encode_pair` has them, or of eight as
    `blockscale.encode_word` does, and the value of each code less the number, in
    f32. Where the chip adds numbers of 16 and of 32 bits (`sub.f32.f16` of the PTX
    ISA, sm_100 and later) the values of the codes are not widened.

    ```mlir
    %c, %d = blockscale.rounding_errors %a, %b as f8E4M3FN
    ```
  }];
  let arguments = (ins Variadic<F32>:$values, TypeAttr:$format);
  let results = (outs I32:$codes, FixedVectorOfRankAndType<[1], [F32]>:$errors);
  let assemblyFormat = "$values `as` $format attr-dict";
  let hasVerifier = 1;
}

def Blockscale_F32Pair
    : ConfinedType<VectorOfLengthAndType<[2], [F32]>, [], "two f32">;

def Blockscale_AddTowardsZeroOp
    : Op<Blockscale_Dialect, "add_towards_zero",
         [Pure, SameOperandsAndResultType]> {
  let summary = "a sum of f32, or two, rounded towards zero";
  let description = [{
    `add.rz` of the PTX ISA, of pairs with `.f32x2` where the chip adds two at once.

    ```mlir
    %s = blockscale.add_towards_zero %a, %b : vector<2xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, Blockscale_F32Pair]>:$lhs,
                       AnyTypeOf<[F32, Blockscale_F32Pair]>:$rhs);
  let results = (outs AnyTypeOf<[F32, Blockscale_F32Pair]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Blockscale_MultiplyTowardsZeroOp
    : Op<Blockscale_Dialect, "multiply_towards_zero",
         [Pure, SameOperandsAndResultType]> {
  let summary = "a product of f32, or two, rounded towards zero";
  let description = [{
    `mul.rz` of the PTX ISA, of pairs with `.f32x2` where the chip multiplies two at
    once. Subnormal numbers are numbers.

    ```mlir
    %p = blockscale.multiply_towards_zero %a, %b : vector<2xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, Blockscale_F32Pair]>:$lhs,
                       AnyTypeOf<[F32, Blockscale_F32Pair]>:$rhs);
  let results = (outs AnyTypeOf<[F32, Blockscale_F32Pair]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Blockscale_AddHalfOp : Op<Blockscale_Dialect, "add_half", [Pure]> {
  let summary = "a sum with half of a word, in one instruction";
  let description = [{
    `addend + factor * half`, wrapping around, where `half` is the lower half of
    `word`, or the upper one, as an unsigned number. `dp2a` of the PTX ISA, whose
    other product is 0; it multiplies by bytes.

    ```mlir
    %s = blockscale.add_half %a, 64 * upper %w
    ```
  }];
  let arguments = (ins I32:$addend,
                       ConfinedAttr<I32Attr, [IntMinValue<1>, IntMaxValue<255>]>:$factor,
                       I32:$word, UnitAttr:$upper);
  let results = (outs I32:$result);
  let assemblyFormat =
      "$addend `,` $factor `*` (`upper` $upper^):(`lower`)? $word attr-dict";
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERROROPS_TD
