// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -mlir-print-op-generic | blockscale-opt | FileCheck %s

!bytes = !blockscale.shared<2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
!padded = !blockscale.shared<2x64x128xf4E2M1FN, container = 8, swizzle = "128B">
!scales = !blockscale.shared<2x1x1x512xi8, container = 8>
!metadata = !blockscale.shared<2x2x128x16xi8, container = 8>
#sparse = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 64, sparse = true>
#mma = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>

// CHECK-LABEL: func.func @loads
func.func @loads(%a: !bytes, %b: !padded, %sf: !scales, %stage: i32, %row: i32, %valid: i32)
    -> (vector<4xi32>, vector<2xi32>, vector<2xi32>, i32, i32) {
  // CHECK: blockscale.load_a_fragment %{{.*}}[%{{.*}}] row %{{.*}} tile 7 step 3 : <2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
  %0 = blockscale.load_a_fragment %a[%stage] row %row tile 7 step 3 : !bytes
  // CHECK: %{{.*}}, %{{.*}} = blockscale.load_b_fragments %{{.*}}[%{{.*}}] row %{{.*}} tile 3 step 0 : <2x64x128xf4E2M1FN
  %1, %2 = blockscale.load_b_fragments %b[%stage] row %row tile 3 step 0 : !padded
  // CHECK: blockscale.load_warp_scales %{{.*}}[%{{.*}}] row %{{.*}} group 1 word 0 : <2x1x1x512xi8
  %3 = blockscale.load_warp_scales %sf[%stage] row %row group 1 word 0 : !scales
  // CHECK: blockscale.load_warp_scales %{{.*}} group 0 word 0 valid %{{.*}} :
  %4 = blockscale.load_warp_scales %sf[%stage] row %row group 0 word 0 valid %valid : !scales
  return %0, %1, %2, %3, %4 : vector<4xi32>, vector<2xi32>, vector<2xi32>, i32, i32
}

// CHECK-LABEL: func.func @multiply
func.func @multiply(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %sfa: i32, %sfb: i32)
    -> vector<4xf32> {
  // CHECK: blockscale.warp_mma <kind = mxf8f6f4, {{.*}}> %{{.*}}, %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}} tile 1, 3 step 2{{$}}
  %0 = blockscale.warp_mma #mma %a, %b, %c scales %sfa, %sfb tile 1, 3 step 2
  // CHECK: tile 0, 0 step 0 ids <byte = 3, thread = 1>, <byte = 2, thread = 3>
  %1 = blockscale.warp_mma #mma %a, %b, %0 scales %sfa, %sfb tile 0, 0 step 0
    ids <byte = 3, thread = 1>, <byte = 2, thread = 3>
  return %1 : vector<4xf32>
}

// Kinds without scales, sums of floats and of integers.
// CHECK-LABEL: func.func @unscaled(
func.func @unscaled(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %d: vector<4xi32>) -> (vector<4xf32>, vector<4xi32>) {
  // CHECK: blockscale.warp_mma <kind = f16, {{.*}}> %{{.*}}, %{{.*}}, %{{.*}} tile 1, 3 step 2{{$}}
  %0 = blockscale.warp_mma <kind = f16, a = bf16, b = bf16, m = 16, n = 8, k = 16> %a, %b, %c tile 1, 3 step 2
  // CHECK: blockscale.warp_mma <kind = i8, {{.*}}> %{{.*}}, %{{.*}}, %{{.*}} tile 0, 0 step 0{{$}}
  %1 = blockscale.warp_mma <kind = i8, a = int8, b = uint8, m = 16, n = 8, k = 32> %a, %b, %d tile 0, 0 step 0
  return %0, %1 : vector<4xf32>, vector<4xi32>
}

// CHECK-LABEL: func.func @sparse
func.func @sparse(%ring: !metadata, %stage: i32, %row: i32, %valid: i32, %a: vector<4xi32>, %b: vector<2xi32>,
                  %c: vector<4xf32>, %sfa: i32, %sfb: i32) -> (vector<4xf32>, i32) {
  // CHECK: %[[M:.*]] = blockscale.load_warp_metadata %{{.*}}[%{{.*}}] row %{{.*}} tile 7 step 3 : <2x2x128x16xi8
  %0 = blockscale.load_warp_metadata %ring[%stage] row %row tile 7 step 3 : !metadata
  // CHECK: blockscale.load_warp_metadata %{{.*}} tile 0 step 1 valid %{{.*}} :
  %1 = blockscale.load_warp_metadata %ring[%stage] row %row tile 0 step 1 valid %valid : !metadata
  // CHECK: blockscale.warp_mma <{{.*}}sparse = true> %{{.*}}, %[[B:.*]], %{{.*}} sparse(%[[B]], %[[M]]) scales
  %2 = blockscale.warp_mma #sparse %a, %b, %c sparse(%b, %0) scales %sfa, %sfb tile 0, 0 step 3
  return %2, %1 : vector<4xf32>, i32
}

// CHECK-LABEL: func.func @finish
func.func @finish(%c: vector<4xf32>) -> (vector<4xf32>, i32, i32) {
  // CHECK: blockscale.sync_warp
  blockscale.sync_warp
  // CHECK: blockscale.finish_fragments %{{.*}} : vector<4xf32> -> vector<4xf32>
  %0 = blockscale.finish_fragments %c : vector<4xf32> -> vector<4xf32>
  // CHECK: blockscale.fragment_position
  %row, %column = blockscale.fragment_position
  return %0, %row, %column : vector<4xf32>, i32, i32
}
