// An epilogue that does not use the product: of C, of the bias or of nothing. Where
// there is no tensor memory nothing is left to multiply, of K tiles in a loop or of
// one alone; the reports say so.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=37 | FileCheck %s
// RUN: blockscale verify %s --num-sms=3 --m=37 --target=sm_120a | FileCheck %s
// RUN: rm -rf %t && blockscale compile %s --target=sm_120a --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=REPORT < %t/unused-product.report.json

// CHECK-NOT: FAIL
// CHECK-COUNT-8: pass
// CHECK-NOT: {{FAIL|pass}}

// REPORT: "name": "one_tile"
// REPORT: "kind": "mxf4"
// REPORT: "mmas_per_k_tile": 0
// REPORT: "name": "used"
// REPORT: "mmas_per_k_tile": {{[1-9]}}

!a = !blockscale.tensor<?x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<72x256xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
func.func @one_tile(%a: !a, %b: !b, %s: f32, %c: tensor<?x72xbf16>) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b beta(%s) c(%c) epilogue(%x, %y) {
    %0 = math.absf %y : f32
    blockscale.yield %0
  } : !a, !b, tensor<?x72xbf16> -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!long_a = !blockscale.tensor<?x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!long_b = !blockscale.tensor<72x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @loop(%a: !long_a, %b: !long_b, %bias: tensor<72xf32>) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b bias(%bias) epilogue(%x, %v) {
    blockscale.yield %v
  } : !long_a, !long_b, tensor<72xf32> -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}

!row_a = !blockscale.tensor<?x96xf8E4M3FN, "float32_t0">
!row_b = !blockscale.tensor<72x96xf8E4M3FN, "float32_t0">
func.func @constant(%a: !row_a, %b: !row_b) -> tensor<?x72xbf16> {
  %0 = blockscale.matmul %a, %b epilogue(%x) {
    %0 = arith.constant 2.5 : f32
    blockscale.yield %0
  } : !row_a, !row_b -> tensor<?x72xbf16>
  return %0 : tensor<?x72xbf16>
}

func.func @used(%a: !a, %b: !b) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}
