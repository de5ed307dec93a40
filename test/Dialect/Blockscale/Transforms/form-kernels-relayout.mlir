// A function that only changes layouts or the order of elements becomes a kernel, which
// reads and writes what lies elsewhere then: scales, metadata, elements.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST-COUNT-4: blockscale.relayout
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

!all = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32n2m4", order = mn_major>
!all_d = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>

func.func @all(%a: !all) -> !all_d {
  %0 = blockscale.relayout %a : !all to !all_d
  return %0 : !all_d
}

!tall = !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32_t32">
!tall_d = !blockscale.tensor<64x96xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>

func.func @tall(%a: !tall) -> !tall_d {
  %0 = blockscale.relayout %a : !tall to !tall_d
  return %0 : !tall_d
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

// Elements are transposed in registers, 16 bytes of 16 lines by a thread.
// CHECK: gpu.func @all(%{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<a_data>}, %{{.*}}: !blockscale.global<i8> {blockscale.parameter = #blockscale.parameter<d_data>}, %{{.*}} {blockscale.parameter = #blockscale.parameter<a_metadata>}, %{{.*}} {blockscale.parameter = #blockscale.parameter<d_metadata>}, %{{.*}} {blockscale.parameter = #blockscale.parameter<a_scales>}, %{{.*}} {blockscale.parameter = #blockscale.parameter<d_scales>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-COUNT-16: blockscale.load_row {{.*}} -> vector<16xi8>
// CHECK-COUNT-128: vector.shuffle
// CHECK-COUNT-16: blockscale.store_row {{.*}}vector<16xi8>
// Lines of 32 bytes of metadata: two pieces.
// CHECK: blockscale.load_row {{.*}} -> vector<16xi8>
// CHECK: blockscale.store_row {{.*}}vector<16xi8>
// CHECK: blockscale.load_row {{.*}} -> vector<4xi8>
// CHECK: blockscale.store_row {{.*}}vector<4xi8>

// A scale for 32 rows is there once.
// CHECK: gpu.func @tall(
// CHECK: arith.constant 2 : i32
