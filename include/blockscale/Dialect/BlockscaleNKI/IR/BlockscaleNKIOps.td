//===- BlockscaleNKIOps.td - kernels and instructions ------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_OPS_TD
#define BLOCKSCALE_NKI_OPS_TD

include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKITypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class BlockscaleNKI_Op<string mnemonic, list<Trait> traits = []>
    : Op<BlockscaleNKI_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def BlockscaleNKI_KernelOp : BlockscaleNKI_Op<"kernel",
    [IsolatedFromAbove, Symbol, SingleBlock,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a kernel of NKI";
  let description = [{
    The block's arguments are tensors in HBM that the host passes, as
    `parameters` describes them; the tensor that `blockscale_nki.return` names
    is the result. `sizes` are those of the source product.

    The instructions that write one PSUM tile are one accumulation group: their
    steps count from 0 to the last without a gap.

    ```mlir
    blockscale_nki.kernel @f target("trn3") sizes {K = 512 : i64, M = 2 : i64, N = 4 : i64, batch = 1 : i64} parameters [...] {
    ^bb0(%a_data: !blockscale_nki.buffer<128x2xui32, hbm>, ...):
      ...
      blockscale_nki.return %d : !blockscale_nki.buffer<2x4xf32, hbm>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target,
                       DictionaryAttr:$sizes,
                       TypedArrayAttrBase<BlockscaleNKI_HostTensorAttr,
                                          "parameters">:$parameters);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `target` `(` $target `)` `sizes` $sizes `parameters` $parameters
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The target, which the verifier has checked.
    ::blockscale::nki::Target getParsedTarget();
    int64_t getSize(::llvm::StringRef name);
  }];
}

def BlockscaleNKI_ReturnOp : BlockscaleNKI_Op<"return",
    [Terminator, HasParent<"KernelOp">]> {
  let summary = "the results of a kernel";
  let arguments = (ins Variadic<BlockscaleNKI_Buffer>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def BlockscaleNKI_LoopOp : BlockscaleNKI_Op<"loop",
    [NoTerminator, SingleBlock, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop with constant bounds";
  let description = [{
    Runs its body for `lower`, `lower + step`, ... below `upper`. `name` is the
    variable's in the printed kernel. (`scf.for` could run the same, but neither
    names its variable nor has bounds that a verifier can add up.)

    ```mlir
    blockscale_nki.loop "k" from 0 to 8 step 1 {
    ^bb0(%k: index):
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$lower, I64Attr:$upper,
                       I64Attr:$step);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `from` $lower `to` $upper `step` $step attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getVariable() { return getBody().front().getArgument(0); }
    int64_t getTripCount() {
      return (getUpper() - getLower() + getStep() - 1) / getStep();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def BlockscaleNKI_AllocOp : BlockscaleNKI_Op<"alloc", [
    MemoryEffects<[MemAlloc]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a new tile or HBM tensor";
  let description = [{
    `address` is the first byte in each partition, which
    `blockscale-nki-assign-memory` chooses; a PSUM tile lies within one bank of
    2048 bytes. Inside a loop it is a new tile in each turn, at the same
    address.

    ```mlir
    %acc = blockscale_nki.alloc "acc" at 2048 : !blockscale_nki.buffer<128x512xf32, psum>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$address);
  let results = (outs BlockscaleNKI_Buffer:$result);
  let assemblyFormat = [{
    $name (`at` $address^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_SliceOp : BlockscaleNKI_Op<"slice", [Pure]> {
  let summary = "a part of a buffer";
  let description = [{
    The elements from `offsets` on, as many as the result's type says.

    ```mlir
    %0 = blockscale_nki.slice %a[32, %c] : !blockscale_nki.buffer<128x1024xf32, sbuf> to !blockscale_nki.buffer<32x512xf32, sbuf>
    ```
  }];
  let arguments = (ins BlockscaleNKI_Buffer:$source, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$static_offsets);
  let results = (outs BlockscaleNKI_Buffer:$result);
  let assemblyFormat = [{
    $source custom<DynamicIndexList>($offsets, $static_offsets) attr-dict `:`
    qualified(type($source)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
  }];
}

def BlockscaleNKI_AccessOp : BlockscaleNKI_Op<"access", [Pure]> {
  let summary = "an access pattern over an HBM tensor";
  let description = [{
    Element `[i, j, ...]` of the result is element `offset + i * strides[0] + j
    * strides[1] + ...` of the source in row-major order; a stride of 0 repeats.
    The result may read the same bits as another type of the same width.

    ```mlir
    %0 = blockscale_nki.access %a[%k] strides [256, 1] : !blockscale_nki.buffer<1024x256xui32, hbm> to !blockscale_nki.buffer<128x256x!blockscale_nki.x4<f8E4M3FN>, hbm>
    ```
  }];
  let arguments = (ins BlockscaleNKI_Buffer:$source, Index:$offset,
                       DenseI64ArrayAttr:$strides);
  let results = (outs BlockscaleNKI_Buffer:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` `strides` $strides attr-dict `:`
    qualified(type($source)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_ReshapeOp : BlockscaleNKI_Op<"reshape", [Pure]> {
  let summary = "the same tile with its free dimensions flattened";
  let description = [{
    ```mlir
    %0 = blockscale_nki.reshape %x : !blockscale_nki.buffer<128x64x4xbf16, sbuf> to !blockscale_nki.buffer<128x256xbf16, sbuf>
    ```
  }];
  let arguments = (ins BlockscaleNKI_Buffer:$source);
  let results = (outs BlockscaleNKI_Buffer:$result);
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_DmaCopyOp : BlockscaleNKI_Op<"dma_copy"> {
  let summary = "nisa.dma_copy: between HBM and SBUF";
  let description = [{
    ```mlir
    blockscale_nki.dma_copy %src to %dst : !blockscale_nki.buffer<4x64xui8, hbm> to !blockscale_nki.buffer<4x64xui8, sbuf>
    ```
  }];
  let arguments = (ins Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$src,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst);
  let assemblyFormat = [{
    $src `to` $dst attr-dict `:` qualified(type($src)) `to`
    qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_MemsetOp : BlockscaleNKI_Op<"memset"> {
  let summary = "nisa.memset: one value in all of a tile";
  let arguments = (ins Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst,
                       I64Attr:$value);
  let assemblyFormat = "$dst `,` $value attr-dict `:` qualified(type($dst))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor engine
//===----------------------------------------------------------------------===//

def BlockscaleNKI_MatmulMXOp : BlockscaleNKI_Op<"nc_matmul_mx"> {
  let summary = "nisa.nc_matmul_mx: one block-scaled product of tiles";
  let description = [{
    ```
    dst[m, n] (+)= sum_{p, q} stationary[p, m].q * 2^(stationary_scale - 127)
                              * moving[p, n].q * 2^(moving_scale - 127)
    ```

    where the scale of partition p is that of its group of eight. `group(i of
    n)` is the position among the instructions that write `dst`: the first
    overwrites, the others add. How that is said to the instruction depends on
    the revision of NKI. `row_tile(r at s)` takes the rows s to s + r - 1 of the
    tensor engine, beside other instructions; operands then start at partition
    s.

    ```mlir
    blockscale_nki.nc_matmul_mx %s scaled %ss, %m scaled %ms into %acc group(%k of 8) : ...
    ```
  }];
  let arguments = (ins
    Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$stationary,
    Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$stationary_scale,
    Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$moving,
    Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$moving_scale,
    Arg<BlockscaleNKI_Buffer, "", [MemRead, MemWrite]>:$dst,
    Optional<Index>:$step, OptionalAttr<I64Attr>:$static_step,
    I64Attr:$steps, OptionalAttr<I64Attr>:$row_tile,
    OptionalAttr<I64Attr>:$start_row);
  let assemblyFormat = [{
    $stationary `scaled` $stationary_scale `,` $moving `scaled` $moving_scale
    `into` $dst `group` `(` ($step^):(`` $static_step)? `of` $steps `)`
    (`row_tile` `(` $row_tile^ `at` $start_row `)`)? attr-dict `:`
    qualified(type($stationary)) `,` qualified(type($stationary_scale)) `,`
    qualified(type($moving)) `,` qualified(type($moving_scale)) `,`
    qualified(type($dst))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Vector and scalar engine
//===----------------------------------------------------------------------===//

def BlockscaleNKI_QuantizeMXOp : BlockscaleNKI_Op<"quantize_mx"> {
  let summary = "nisa.quantize_mx: values to packed elements and scales";
  let description = [{
    Groups are 8 partitions by 4 consecutive values. The scale is `2^(floor(log2
    m) - emax + 1)` for the largest magnitude m: twice that of OCP's sample
    algorithm, rule `floor_plus_one` of `blockscale.quantize`.

    ```mlir
    blockscale_nki.quantize_mx %x to %data, %scales : ...
    ```
  }];
  let arguments = (ins Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$src,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst_scale);
  let assemblyFormat = [{
    $src `to` $dst `,` $dst_scale attr-dict `:` qualified(type($src)) `to`
    qualified(type($dst)) `,` qualified(type($dst_scale))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_TensorCopyOp : BlockscaleNKI_Op<"tensor_copy"> {
  let summary = "nisa.tensor_copy: with a cast, from PSUM or SBUF";
  let arguments = (ins Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$src,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst);
  let assemblyFormat = [{
    $src `to` $dst attr-dict `:` qualified(type($src)) `to`
    qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_Arithmetic : I32Enum<"Arithmetic",
    "an operator of the vector engine", [
      I32EnumCase<"Add", 0, "add">,
      I32EnumCase<"Multiply", 1, "multiply">,
      I32EnumCase<"Maximum", 2, "maximum">]> {
  let cppNamespace = "::blockscale::nki";
}
def BlockscaleNKI_ArithmeticAttr
    : EnumAttr<BlockscaleNKI_Dialect, BlockscaleNKI_Arithmetic, "arithmetic">;

def BlockscaleNKI_TensorTensorOp : BlockscaleNKI_Op<"tensor_tensor"> {
  let summary = "nisa.tensor_tensor: two tiles, element by element, in f32";
  let arguments = (ins BlockscaleNKI_ArithmeticAttr:$op,
                       Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$data1,
                       Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$data2,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst);
  let assemblyFormat = [{
    $op $data1 `,` $data2 `to` $dst attr-dict `:` qualified(type($data1)) `,`
    qualified(type($data2)) `to` qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_TensorScalarOp : BlockscaleNKI_Op<"tensor_scalar"> {
  let summary = "nisa.tensor_scalar: a tile and one number per partition, in f32";
  let description = [{
    The number is a column of the same partitions, or a constant.
  }];
  let arguments = (ins BlockscaleNKI_ArithmeticAttr:$op,
                       Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$data,
                       Arg<Optional<BlockscaleNKI_Buffer>, "",
                           [MemRead]>:$operand,
                       OptionalAttr<F32Attr>:$constant,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst);
  let assemblyFormat = [{
    $op $data `,` (`constant` $constant^)? ($operand^)? `to` $dst attr-dict `:`
    qualified(type($data)) (`,` qualified(type($operand))^)? `to`
    qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def BlockscaleNKI_Function : I32Enum<"Function",
    "a function of the scalar engine", [
      I32EnumCase<"GELU", 0, "gelu">,
      I32EnumCase<"SiLU", 1, "silu">]> {
  let cppNamespace = "::blockscale::nki";
}
def BlockscaleNKI_FunctionAttr
    : EnumAttr<BlockscaleNKI_Dialect, BlockscaleNKI_Function, "function">;

def BlockscaleNKI_ActivationOp : BlockscaleNKI_Op<"activation"> {
  let summary = "nisa.activation: a function of each element, in f32";
  let arguments = (ins BlockscaleNKI_FunctionAttr:$op,
                       Arg<BlockscaleNKI_Buffer, "", [MemRead]>:$data,
                       Arg<BlockscaleNKI_Buffer, "", [MemWrite]>:$dst);
  let assemblyFormat = [{
    $op $data `to` $dst attr-dict `:` qualified(type($data)) `to`
    qualified(type($dst))
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_NKI_OPS_TD
