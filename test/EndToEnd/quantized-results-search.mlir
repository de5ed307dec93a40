// The schedules that are shown and searched for a product whose kernel quantises the
// result are those that can: whole blocks in a thread, in the lanes of a quad, or
// brought to a thread where operands are exchanged, and stored by it.

// REQUIRES: mlir
// RUN: blockscale explain schedule %s | FileCheck %s
// RUN: rm -rf %t && blockscale compile %s --search=3 --no-cubin -o %t 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: FileCheck %s --check-prefix=PLAN < %t/quantized-results-search.plan.json
// RUN: blockscale explain schedule %s --target=sm_120a 2>&1 | FileCheck %s --check-prefix=WARPS

// CHECK: product 0 of 'narrow'
// CHECK-NOT: D stored by TMA
// CHECK: (taken)
// CHECK: A and B exchanged
// CHECK-NOT: D stored by TMA
// CHECK: several tiles along 32 columns need 'tile_n' to be a multiple of 64

// FOUND: product 0 of 'narrow': {{.*}} by the timeline
// FOUND-NOT: error

// PLAN: "role": "d_scales"
// PLAN: "quantization"

// WARPS-NOT: remark
// WARPS: (taken)
// WARPS: on sm_120a a result is quantised where a warp has 32 rows

!a = !blockscale.tensor<8x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<32x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<8x32xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @narrow(%a: !a, %w: !w) -> !q {
  %0 = blockscale.matmul %a, %w : !a, !w -> tensor<8x32xbf16>
  %1 = blockscale.quantize %0 : tensor<8x32xbf16> to !q
  return %1 : !q
}
