//===- BlockscaleHostOps.td - launches on parts ------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOSTOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOSTOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Blockscale_LaunchIntoOp : Op<Blockscale_Dialect, "launch_into",
    [AttrSizedOperandSegments, DestinationStyleOpInterface, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel on plain tensors or memory";
  let description = [{
    `blockscale.launch` after its scaled tensors have become their parts: the
    kernel's `d` goes to where `outs` says. `roles` names the parameter of the
    kernel that each input becomes, as launch plans do: `a_data`, `b_scales`,
    `alpha`, `c`, ...; sizes follow from the shapes. Inputs and results are
    tensors, or all of them memrefs of any strides. What `outs` held before is
    not read. A kernel that quantises has the parts of its result in `outs`:
    `d_data`, `d_scales` and, where there is one, `d_tensor_scale`. `result_roles`
    names others.

    Elements of less than a byte lie one in each byte, the upper bits zero, as
    LLVM stores them; whoever runs the launch packs them as the kernel reads
    them.

    The kernel is a function of a `gpu.module` or, once that is compiled, an
    entry of the `gpu.binary` in its place.

    ```mlir
    %d = blockscale.launch_into @kernels::@proj ["a_data", "a_scales", "b_data", "b_scales"] ins(%0, %1, %2, %3 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x16xf8E8M0FNU>, tensor<64x256xf8E4M3FN>, tensor<1x2x32x16xf8E8M0FNU>) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, StrArrayAttr:$roles,
                       OptionalAttr<StrArrayAttr>:$result_roles,
                       Variadic<AnyType>:$inputs,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel $roles `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $inits `:` type($inits) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitsMutable();
    }
    /// The parameters of the kernel that `outs` become.
    ::llvm::SmallVector<::llvm::StringRef> getRolesOfInits();
  }];
  let hasVerifier = 1;
}

def Blockscale_OnPartsOp : Op<Blockscale_Dialect, "on_parts",
    [IsolatedFromAbove, Pure, InferTypeOpAdaptor]> {
  let summary = "a product of the parts of scaled tensors";
  let description = [{
    `blockscale.matmul` between plain tensors, for passes of upstream that know no
    others, such as those of the `shard` dialect: an input that is a scaled tensor
    is here its parts, in the order of `blockscale.disassemble`. The body's
    arguments are the operands of the one product that it holds, in their order;
    parts have the types that `blockscale.assemble` gives them.

    `blockscale-products-to-parts` makes it and `blockscale-parts-to-products`
    takes it back; nothing else lowers it.

    The op implements `ShardingInterface` with the loops batch, M, N and K. Scales
    and metadata follow their data: a shard has whole tiles of both. Where K is
    split each device has a partial sum, all of which `shard.all_reduce` adds
    before the epilogue is applied.

    ```mlir
    %d = blockscale.on_parts(%0, %1, %2, %3) {
    ^bb0(%a: !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">, %b: !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32">):
      %0 = blockscale.matmul %a, %b : !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x512xf8E4M3FN, "e8m0_t32"> -> tensor<256x64xf32>
      blockscale.return %0 : tensor<256x64xf32>
    } : (tensor<256x512xf8E4M3FN>, tensor<256x16xf8E8M0FNU>, tensor<64x512xf8E4M3FN>, tensor<64x16xf8E8M0FNU>) -> tensor<256x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyRankedTensor, F32]>>:$inputs);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  // Without a body there is no type to infer.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
                                 "::mlir::ValueRange":$inputs), [{
    $_state.addOperands(inputs);
    $_state.addRegion();
    $_state.addTypes(result);
  }]>];
  let assemblyFormat = [{
    `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $result)
  }];
  let extraClassDeclaration = [{
    ::blockscale::MatmulOp getProduct();
    /// For each input the argument of the body that it is a part of.
    ::llvm::SmallVector<::mlir::BlockArgument> getArgumentsOfInputs();
    /// The product of `inputs` that are the parts of values of `arguments`, else
    /// like `product`.
    static OnPartsOp create(::mlir::OpBuilder &builder,
                            ::blockscale::MatmulOp product,
                            ::mlir::Type result,
                            ::mlir::TypeRange arguments,
                            ::mlir::ValueRange inputs);
  }];
  let hasRegionVerifier = 1;
}

def Blockscale_ReturnOp : Op<Blockscale_Dialect, "return",
    [Pure, Terminator, HasParent<"OnPartsOp">]> {
  let summary = "the result of a product of parts";
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOSTOPS_TD
