// A function that only changes the layout of scales becomes a kernel, which reads and
// writes scales: a thread for each word of the result, padding included.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST-COUNT-2: blockscale.relayout
// HOST-NOT: gpu.func

!rows = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">
!tiles = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// CHECK-LABEL: func.func @tile
// CHECK: blockscale.launch @kernels::@tile(%{{.*}}) : (!blockscale.tensor<{{.*}}>) -> !blockscale.tensor<{{.*}}tiled_128x4>
func.func @tile(%a: !rows) -> !tiles {
  %0 = blockscale.relayout %a : !rows to !tiles
  return %0 : !tiles
}

!ragged = !blockscale.tensor<8x96xf8E4M3FN, "e8m0_t32">
!flat = !blockscale.tensor<8x96xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @flatten(%a: !flat) -> !ragged {
  %0 = blockscale.relayout %a : !flat to !ragged
  return %0 : !ragged
}

// CHECK: gpu.func @tile(%{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<a_scales>}, %{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_scales>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: blockscale.conversion = #blockscale.conversion<source = "tile", op = "relayout"
// Rows of tiles fill CTAs.
// CHECK-NOT: scf.if
// CHECK: blockscale.load_row {{.*}} -> vector<4xi8>
// CHECK: blockscale.store_row {{.*}}vector<4xi8>

// Rows of three scales are no whole words.
// CHECK: gpu.func @flatten(
// CHECK: scf.if
// CHECK: blockscale.load_row {{.*}} -> vector<4xi8>
// CHECK-COUNT-4: blockscale.store_row {{.*}}vector<1xi8>
