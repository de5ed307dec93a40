// What users chain with our passes is in blockscale-opt, too.
// REQUIRES: mlir
// RUN: blockscale-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: blockscale-opt %s -blockscale-to-linalg -canonicalize \
// RUN:   -one-shot-bufferize='bufferize-function-boundaries' \
// RUN:   -convert-linalg-to-loops | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,lower-quant-ops),transform-interpreter)' -o /dev/null

// DIALECTS: bufferization
// DIALECTS: quant
// DIALECTS: tosa
// DIALECTS: transform

// CHECK-LABEL: func.func @product
// CHECK: scf.for
// CHECK-NOT: linalg.
func.func @product(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = blockscale.quantize %x : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  %b = blockscale.quantize %y : tensor<64x64xf32> to !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
  %d = blockscale.matmul %a, %b : !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32"> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.yield
  }
}
