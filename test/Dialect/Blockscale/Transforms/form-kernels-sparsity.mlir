// Functions that only prune, compress or densify become kernels: a thread for 32 bytes of
// what is pruned, and for a word of metadata, padding included.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-form-kernels=quantize=false | FileCheck %s --check-prefix=HOST

// HOST: blockscale.prune
// HOST: blockscale.compress
// HOST: blockscale.densify
// HOST-NOT: gpu.func

// CHECK: blockscale.launch @kernels::@prune(%{{.*}}) : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
func.func @prune(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = blockscale.prune %x keep 2 of 4 : tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

!dense = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!sparse = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32n2m4", layout = tiled_128x4>
func.func @compress(%a: !dense) -> !sparse {
  %0 = blockscale.compress %a : !dense to !sparse
  return %0 : !sparse
}

func.func @densify(%a: !sparse) -> !dense {
  %0 = blockscale.densify %a : !sparse to !dense
  return %0 : !dense
}

// Numbers stay bits: nothing is rounded.
// CHECK: gpu.func @prune(%{{.*}}: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<x>}, %{{.*}}: !blockscale.global<bf16> {blockscale.parameter = #blockscale.parameter<d>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: blockscale.conversion = #blockscale.conversion<source = "prune", op = "prune", a = tensor<?x64xbf16>, d = tensor<?x64xbf16>, keep = 2, group = 4>
// CHECK-COUNT-2: blockscale.load_row {{.*}} -> vector<8xbf16>
// CHECK-NOT: arith.{{extf|truncf}}
// CHECK-COUNT-2: blockscale.store_row

// CHECK: gpu.func @compress({{.*}}<a_data>}, {{.*}}<d_data>}, {{.*}}<d_metadata>}, %{{.*}}: i32 {blockscale.parameter = #blockscale.parameter<size_m>}) kernel
// CHECK-SAME: op = "compress"
// CHECK: scf.if
// CHECK-COUNT-2: blockscale.load_row
// CHECK-COUNT-1: blockscale.store_row {{.*}}vector<16xi8>
// CHECK: else
// Two empty chunks, 0x44, in each byte.
// CHECK: arith.constant 1145324612
// CHECK: blockscale.store_row {{.*}}vector<4xi8>

// CHECK: gpu.func @densify({{.*}}<a_data>}, {{.*}}<a_metadata>}, {{.*}}<d_data>}, {{.*}}kernel
// CHECK: scf.if
// CHECK: blockscale.load_row {{.*}}vector<16xi8>
// CHECK: blockscale.load_row {{.*}}vector<4xi8>
// CHECK-COUNT-2: blockscale.store_row {{.*}}vector<16xi8>
