// Byte and thread ids of scales in registers: one scale per instruction walks
// the four bytes, two take halves, four the whole word; A has two threads, B
// four. Ids that are there stay.

// RUN: blockscale-opt %s -blockscale-assign-steps | FileCheck %s

#one = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, m = 16, n = 8, k = 32>
#two = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 16, n = 8, k = 64>
#four = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>

// CHECK-LABEL: func.func @ids
func.func @ids(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // CHECK: tile 0, 0 step 0 ids <byte = 0, thread = 0>, <byte = 0, thread = 0>
  %0 = blockscale.warp_mma #one %a, %b, %c scales %s, %s tile 0, 0 step 0
  // CHECK: tile 1, 3 step 1 ids <byte = 1, thread = 1>, <byte = 1, thread = 3>
  %1 = blockscale.warp_mma #one %a, %b, %0 scales %s, %s tile 1, 3 step 1
  // CHECK: tile 2, 6 step 2 ids <byte = 2, thread = 0>, <byte = 2, thread = 2>
  %2 = blockscale.warp_mma #one %a, %b, %1 scales %s, %s tile 2, 6 step 2
  // CHECK: tile 3, 5 step 3 ids <byte = 3, thread = 1>, <byte = 3, thread = 1>
  %3 = blockscale.warp_mma #one %a, %b, %2 scales %s, %s tile 3, 5 step 3
  // CHECK: tile 0, 1 step 1 ids <byte = 2, thread = 0>, <byte = 2, thread = 1>
  %4 = blockscale.warp_mma #two %a, %b, %3 scales %s, %s tile 0, 1 step 1
  // CHECK: tile 1, 2 step 2 ids <byte = 0, thread = 1>, <byte = 0, thread = 2>
  %5 = blockscale.warp_mma #two %a, %b, %4 scales %s, %s tile 1, 2 step 2
  // CHECK: tile 1, 3 step 3 ids <byte = 0, thread = 1>, <byte = 0, thread = 3>
  %6 = blockscale.warp_mma #four %a, %b, %5 scales %s, %s tile 1, 3 step 3
  // CHECK: tile 0, 0 step 0 ids <byte = 3, thread = 1>, <byte = 2, thread = 3>
  %7 = blockscale.warp_mma #one %a, %b, %6 scales %s, %s tile 0, 0 step 0 ids <byte = 3, thread = 1>, <byte = 2, thread = 3>
  return
}
