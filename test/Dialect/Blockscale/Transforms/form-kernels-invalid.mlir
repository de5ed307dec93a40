// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-form-kernels

!nothing_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!nothing_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @nothing(%a: !nothing_a, %b: !nothing_b) -> tensor<?x7168xf32> {
  // expected-error @below {{has no complete schedule; run 'blockscale-select-schedule' first}}
  %0 = blockscale.matmul %a, %b : !nothing_a, !nothing_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!no_swap_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!no_swap_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @no_swap(%a: !no_swap_a, %b: !no_swap_b) -> tensor<?x7168xf32> {
  // expected-error @below {{has no complete schedule; run 'blockscale-select-schedule' first}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, group_m = 8>) : !no_swap_a, !no_swap_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!illegal_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!illegal_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @illegal(%a: !illegal_a, %b: !illegal_b) -> tensor<?x7168xf32> {
  // expected-error @below {{M = 64 is not legal for dense 'mxf4nvf4'}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 64, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !illegal_a, !illegal_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!tile_n_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!tile_n_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_n(%a: !tile_n_a, %b: !tile_n_b) -> tensor<?x7168xf32> {
  // expected-error @below {{its tile of 128x64x256 does not suit its instruction, which needs 128x128x256}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !tile_n_a, !tile_n_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!tile_k_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!tile_k_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @tile_k(%a: !tile_k_a, %b: !tile_k_b) -> tensor<?x7168xf32> {
  // expected-error @below {{its tile of 128x128x128 does not suit its instruction, which needs 128x128x256}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !tile_k_a, !tile_k_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!other_block_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!other_block_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @other_block(%a: !other_block_a, %b: !other_block_b) -> tensor<?x7168xf32> {
  // expected-error @below {{its instruction does not read its operands; 'blockscale-legalize-scales' and 'blockscale-select-schedule' find one that does}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !other_block_a, !other_block_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!other_layout_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16">
!other_layout_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @other_layout(%a: !other_layout_a, %b: !other_layout_b) -> tensor<?x7168xf32> {
  // expected-error @below {{its instruction does not read its operands}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !other_layout_a, !other_layout_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

// With swapped operands the instruction's a is the source's b.
!swapped_types_a = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!swapped_types_b = !blockscale.tensor<128x256xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @swapped_types(%a: !swapped_types_a, %b: !swapped_types_b) -> tensor<128x128xf32> {
  // expected-error @below {{its instruction does not read its operands}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e5m2, scale = ue8m0, block = 32, m = 128, n = 128, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = true, group_m = 8>) : !swapped_types_a, !swapped_types_b -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!major = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @major(%a: !major, %b: !major) -> tensor<128x128xf32> {
  // expected-error @below {{its instruction does not read its operands}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 32, b_mn_major = true>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 128, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !major, !major -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// expected-error @below {{has the name 'kernels', which the module of kernels needs}}
func.func private @kernels()
!name_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!name_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @name(%a: !name_a, %b: !name_b) -> tensor<?x7168xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !name_a, !name_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!pair_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!pair_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @pair(%a: !pair_a, %b: !pair_b) -> tensor<?x7168xf32> {
  // expected-error @below {{its 'cta_group' of 2 is not its instruction's, 1}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 2>) : !pair_a, !pair_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!half_pair_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!half_pair_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @half_pair(%a: !half_pair_a, %b: !half_pair_b) -> tensor<?x7168xf32> {
  // expected-error @below {{an instruction of M = 128 and 'cta_group' 2 is not lowered; expected M = 256}}
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, cta_group = 2>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 2>) : !half_pair_a, !half_pair_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

// expected-error @below {{is for 'sm_103a', but has the name of the module of kernels for 'sm_100a'}}
gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_103a>} {
}

!taken_a = !blockscale.tensor<?x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!taken_b = !blockscale.tensor<7168x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @taken(%a: !taken_a, %b: !taken_b) -> tensor<?x7168xf32> {
  %0 = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !taken_a, !taken_b -> tensor<?x7168xf32>
  return %0 : tensor<?x7168xf32>
}

// -----

!inner = !blockscale.tensor<128x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func private @beside()
// expected-note @below {{the inner module}}
module @layers {
  func.func @inner(%a: !inner) -> tensor<128x128xf32> {
    // expected-error @below {{'blockscale.matmul' op is in a module inside of the one that is compiled; compile the inner module by itself}}
    %0 = blockscale.matmul %a, %a : !inner, !inner -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}

// -----

!a = !blockscale.tensor<96x?xf8E4M3FN, "float32", layout = grouped>
!b = !blockscale.tensor<64x?xf8E4M3FN, "float32">
func.func @shared_scale_last(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<4x96x64xf32> {
  // expected-error @below {{kernels read scales of whole matrices that all groups share before those of each group, and 'a', whose come first, has one for each beside one of 'b' for all; nearest legal: layout 'grouped' of both, or of 'b'}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) mma(<kind = f8f6f4, a = e4m3, b = e4m3, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 8, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 32, dependent_launch = true>) : !a, !b -> tensor<4x96x64xf32>
  return %0 : tensor<4x96x64xf32>
}

// -----

// TMA reaches elements of 6 bits at multiples of 128. The program says where groups end.
!a = !blockscale.tensor<96x?xf6E2M3FN>
!b = !blockscale.tensor<64x?xf8E4M3FN>
func.func @end_between(%a: !a, %b: !b) -> tensor<?x96x64xf32> {
  %known = arith.constant dense<[128, 128, 160]> : tensor<3xi32>
  %ends = tensor.cast %known : tensor<3xi32> to tensor<?xi32>
  // expected-error @below {{group 2 along K ends at element 160, and a kernel with these operands lets groups end at multiples of 128; expected zeros behind its elements, up to the next one}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) mma(<kind = f8f6f4, a = e2m3, b = e4m3, m = 128, n = 64, k = 32>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 64, tile_k = 128, stages = 8, accumulators = 2, swap_operands = false, group_m = 8, cta_group = 1, cluster_m = 1, cluster_n = 1, mma_k = 32, dependent_launch = true>) : !a, !b -> tensor<?x96x64xf32>
  return %0 : tensor<?x96x64xf32>
}
