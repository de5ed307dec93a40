//===- Passes.td - from products to kernels of NKI ---------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NKILegalize : Pass<"blockscale-nki-legalize"> {
  let summary = "Choose how nc_matmul_mx computes each product";
  let description = [{
    Asks the rules of `nc_matmul_mx` and `quantize_mx` about each
    `blockscale.matmul` and `blockscale.quantize`, and completes the attribute
    `blockscale_nki.config` of the products. What the instructions cannot do is
    refused with the rule, its source and the nearest legal choice: elements but
    e4m3, e5m2 and e2m1, scales but ue8m0 of tiles of 32, 64, 128 or 256 along
    K, zero points, sparsity, dynamic sizes.

    Before:
    ```mlir
    %d = blockscale.matmul %a, %b : ...
    ```
    After:
    ```mlir
    %d = blockscale.matmul %a, %b {blockscale_nki.config = #blockscale_nki.config<target = "trn3", row_tile = 128, tile_m = 128, tile_n = 512, block_m = 4>} : ...
    ```
  }];
  let options = [Option<"target", "target", "std::string",
                        /*default=*/"\"trn3\"",
                        "Chip, or chip and revision of NKI: trn3@2026-04">];
  let dependentDialects = ["::blockscale::nki::BlockscaleNKIDialect"];
}

def NKIFormKernels : Pass<"blockscale-nki-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Make a kernel of each function";
  let description = [{
    Needs the configuration of `blockscale-nki-legalize`. A function holds one
    product, of operands that are its arguments or quantised from them, or one
    `blockscale.quantize` whose result it returns; what else is in it is
    refused by name. The function becomes a `blockscale_nki.kernel` with loops
    over batch, M, N and K; sizes that the tiles do not divide get code of their
    own after each loop. Alpha, beta, C, bias and activation are separate steps
    on the way from PSUM to HBM. A quantised operand is written to HBM first, in
    the layout in which the host would pass it.
  }];
  let dependentDialects = ["::blockscale::nki::BlockscaleNKIDialect",
                           "::mlir::arith::ArithDialect"];
}

def NKIAssignMemory
    : Pass<"blockscale-nki-assign-memory", "::blockscale::nki::KernelOp"> {
  let summary = "Give every tile a place in SBUF or PSUM";
  let description = [{
    Sets `address` of each `blockscale_nki.alloc` in `sbuf` and `psum`: the
    first place that no tile in use at the same time has; a PSUM tile gets a
    bank of its own. Fails with what is in use where there is no room.
  }];
  let dependentDialects = ["::blockscale::nki::BlockscaleNKIDialect"];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_TD
