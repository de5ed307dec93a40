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
include "mlir/Interfaces/SideEffectInterfaces.td"

def Blockscale_LaunchIntoOp : Op<Blockscale_Dialect, "launch_into",
    [DestinationStyleOpInterface,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel on plain tensors or memory";
  let description = [{
    `blockscale.launch` after its scaled tensors have become their parts: the
    kernel's `d` goes to where `outs` says. `roles` names the parameter of the
    kernel that each input becomes, as launch plans do: `a_data`, `b_scales`,
    `alpha`, `c`, ...; sizes follow from the shapes. Inputs and result are
    tensors, or all of them memrefs of any strides. What `outs` held before is
    not read.

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
                       Variadic<AnyType>:$inputs,
                       AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $kernel $roles `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), getInputs().size(), 1);
    }
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOSTOPS_TD
