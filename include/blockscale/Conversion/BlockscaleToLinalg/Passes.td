//===- Passes.td - scaled tensors to linalg ----------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_TD
#define BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def BlockscaleToLinalg : Pass<"blockscale-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert the tensor level to linalg on plain tensors";
  let description = [{
    The meaning of the tensor level, written out in `linalg`, `arith`, `tensor`
    and `math`: a reference to compare kernels with, and a way to any target
    that has no block-scaled instructions.

    A value of type `!blockscale.tensor` becomes its parts, in the order of
    `blockscale.disassemble`; so do arguments and results of functions, and
    values that pass through `scf`. Products decode both operands to f32,
    contract them in f32 and give the sum, times the factor `alpha * ta * tb`
    (`ta`, `tb` are the tensor scales), with `beta * c` and the bias to the
    epilogue, whose result is rounded to the result's type.

    Narrow floats are decoded by look-up in a constant table, which every
    target can execute; with `use-extf` by `arith.extf`, for pipelines that
    lower it themselves. They are encoded with integer arithmetic, to nearest,
    ties to even, saturating. A scale that rounds to zero makes its tile zero.

    Not converted, with a diagnostic: zero points of sparse elements, and sparsity
    whose metadata are not defined.

    `compress` keeps what its input's pattern allows; data that break it lose
    elements. With `check-sparsity` the code asserts (`cf.assert`) that each
    group has no more non-zero elements than its pattern keeps.

    Before:
    ```mlir
    func.func @f(%q: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">) -> tensor<?x64xf32> {
      %0 = blockscale.dequantize %q : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32"> to tensor<?x64xf32>
      return %0 : tensor<?x64xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%data: tensor<?x64xf8E4M3FN>, %scales: tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf32> {
      %table = arith.constant dense<...> : tensor<256xf32>
      ...
      %0 = linalg.generic ... ins(%data : tensor<?x64xf8E4M3FN>) ...
    }
    ```
  }];
  let options = [
    Option<"useExtf", "use-extf", "bool", /*default=*/"false",
           "Decode narrow floats with arith.extf instead of tables">,
    Option<"checkSparsity", "check-sparsity", "bool", /*default=*/"false",
           "Assert at run time that what is compressed has its pattern">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ProductsToParts : Pass<"blockscale-products-to-parts", "::mlir::ModuleOp"> {
  let summary = "Write products as ops on plain tensors";
  let description = [{
    For passes of upstream that know plain tensors only, such as
    `sharding-propagation` and `shard-partition`. Each `blockscale.matmul` becomes a
    `blockscale.on_parts`; a value of type `!blockscale.tensor` that a function, a
    call, `scf` or `cf` passes on becomes its parts. Other ops on scaled tensors
    stay, between `blockscale.assemble` and `blockscale.disassemble`.

    Before:
    ```mlir
    func.func @f(%a: !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">, ...) -> tensor<256x64xf32> {
      %0 = blockscale.matmul %a, %b : ...
    ```
    After:
    ```mlir
    func.func @f(%a_data: tensor<256x512xf8E4M3FN>, %a_scales: tensor<256x16xf8E8M0FNU>, ...) -> tensor<256x64xf32> {
      %0 = blockscale.on_parts(%a_data, %a_scales, %b_data, %b_scales) {...
    ```
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PartsToProducts : Pass<"blockscale-parts-to-products"> {
  let summary = "Write products of parts as products again";
  let description = [{
    Each `blockscale.on_parts` becomes the `blockscale.matmul` that it holds, of
    scaled tensors that `blockscale.assemble` makes of the parts.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def GroupsToProducts : Pass<"blockscale-groups-to-products"> {
  let summary = "Write products with groups that no kernel takes as loops";
  let description = [{
    A `blockscale.matmul` with `groups` along K for a target, under scales that kernels
    do not read as they lie, and without a schedule of its own, becomes a loop
    with a product for each group, of a K that is known when it runs. A remark says why:
    scales are longer or have more rows than an instruction has one for, so that they are
    repeated, or each group has one of the whole of `a` and all have one of `b`. So does
    one whose groups the program says to end where kernels do not let them, as between two
    multiples of 128 in MXFP6. Otherwise offsets mean what they mean to kernels.

    Before:
    ```mlir
    %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !blockscale.tensor<64x?xf6E2M3FN, "e8m0_t64", layout = grouped_128x4>, !blockscale.tensor<32x?xf6E2M3FN, "e8m0_t64", layout = grouped_128x4> -> tensor<4x64x32xf32>
    ```
    After:
    ```mlir
    %0:3 = scf.for %group = %c0 to %c4 step %c1 ... {
      %columns = tensor.extract_slice %data[0, %first] [64, %count] [1, 1] : ...
      %1 = blockscale.matmul ... : !blockscale.tensor<64x?xf6E2M3FN, "e8m0_t64", layout = tiled_128x4>, !blockscale.tensor<32x?xf6E2M3FN, "e8m0_t64", layout = tiled_128x4> -> tensor<64x32xf32>
    ```
  }];
  let dependentDialects = [
    "::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ExpandFP4 : Pass<"blockscale-expand-fp4"> {
  let summary = "Round to narrow floats and widen them with integers";
  let description = [{
    `arith.truncf` of numbers and vectors to floats of 8, 6 and 4 bits, and
    `arith.extf` of those of 8 and 6 bits, of which LLVM has no types; but
    f8E8M0FNU, which upstream expands. To nearest, ties to even, once, of f64 too.
    What is too large becomes an infinity, in formats without one the NaN, and in
    those that have neither the largest number, as a NaN does there.
    `blockscale.quantize` saturates.

    Upstream expands f4E2M1FN as well (`arith-expand=include-f4e2m1` of LLVM 22), but
    takes ties away from zero and loses signs of what is next to zero.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_TD
