//===- Passes.td - products of other dialects --------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_TD
#define BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Import : Pass<"blockscale-import", "::mlir::ModuleOp"> {
  let summary = "Find block-scaled products in what other compilers write";
  let description = [{
    Writes as `blockscale.matmul` what other dialects say in their own words:

    | dialect | what |
    |---|---|
    | `tosa` | `matmul_t_block_scaled`, `cast_to_block_scaled`, `cast_from_block_scaled` |
    | `linalg` | any op, named or `generic`, that adds up products of two operands with scales along the summed dimensions: `arith.scaling_extf`, or extension and multiplication, in the op's body, or before it (`linalg.generic`, `tensor.collapse_shape`, elementwise `arith`) |
    | StableHLO | the composite `xla.scaled_dot`, the custom call `__op$block_scaled_dot`; in the generic form, no dialect is needed |

    What is data and what a scale is told from what is computed, never from the
    order of operands. Scales come in any order of dimensions and leave in layout
    `tiled_128x4`, by `blockscale.relayout`, which the host carries out. Elements
    of 8 and 16 bits with K before the rows become `order = mn_major` where the chip
    reads that, all others are transposed on the host. Factors of a whole tensor
    become `alpha`, what is added to the sum `c` or `bias`, and a conversion of
    the result its type.

    The sum is taken in f32, whatever the producer's type for it; the result is
    rounded once.

    Where there are products of StableHLO, what surrounds them becomes ops of
    `arith`, `math`, `linalg` and `tensor`: arithmetic, comparisons, conversions,
    changes of known shapes, sums and largest elements, sorting, products without
    scales, and `scf` for loops and branches. TOSA's elementwise ops behind a product
    become `linalg.generic`.

    What else is no block-scaled product stays as it is. One that contradicts
    itself, or that the dialect cannot say, is an error that names the
    contradiction.

    Before:
    ```mlir
    %0 = tosa.matmul_t_block_scaled %a, %sa, %b, %sb {block_size = BLOCK_SIZE_32} : (tensor<1x128x512xf8E4M3FN>, tensor<1x128x16xf8E8M0FNU>, tensor<1x256x512xf8E4M3FN>, tensor<1x256x16xf8E8M0FNU>) -> tensor<1x128x256xf32>
    ```
    After:
    ```mlir
    %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<1x128x512xf8E4M3FN> into tensor<128x512xf8E4M3FN>
    ...
    %4 = blockscale.assemble %0, %1 : tensor<128x512xf8E4M3FN>, tensor<128x16xf8E8M0FNU> to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
    %5 = blockscale.relayout %4 : !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    ...
    %8 = blockscale.matmul %5, %7 : ... -> tensor<128x256xf32>
    ```
  }];
  let dependentDialects = [
    "::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_TD
