//===- BlockscaleDialect.td - the dialect ------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TD
#define BLOCKSCALE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Blockscale_Dialect : Dialect {
  let name = "blockscale";
  let cppNamespace = "::blockscale";
  let summary = "Block-scaled matrix products for tensor cores";
  let description = [{
    Narrow floating-point and integer matrices whose elements share scales by
    tile, and the matrix products that hardware computes on them.

    The dialect has two levels that a person can stop at and read:

    * Tensors: value semantics. `!blockscale.tensor` bundles elements, scales
      and what else its scale spec asks for; `blockscale.matmul` contracts two
      of them.
    * Kernels: tiles, rings of shared memory, tensor memory, warp roles and
      barriers, inside `gpu.module`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // BLOCKSCALE_DIALECT_TD
