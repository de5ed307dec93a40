//===- AcmeOps.td - a dialect that uses blockscale's types -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACME_OPS_TD
#define ACME_OPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Acme_Dialect : Dialect {
  let name = "acme";
  let cppNamespace = "::acme";
}

def Acme_LinearOp : Op<Acme_Dialect, "linear", [Pure]> {
  let summary = "a layer of a model";
  let arguments = (ins Blockscale_ScaledTensor:$input,
                       Blockscale_ScaledTensor:$weights);
  let results = (outs RankedTensorOf<[F32, BF16, F16]>:$result);
  let assemblyFormat = [{
    $input `,` $weights attr-dict `:` qualified(type($input)) `,`
    qualified(type($weights)) `->` type($result)
  }];
}

#endif // ACME_OPS_TD
