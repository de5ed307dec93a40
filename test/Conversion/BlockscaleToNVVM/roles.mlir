// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>

// The host's side stays, and what it needs to know of the kernel.
// CHECK-LABEL: func.func @host
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: blockscale.launch @kernels::@kernel
  %0 = blockscale.launch @kernels::@kernel(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// No target attribute: upstream's verifier would refuse tcgen05 on sm_103a.
// CHECK: gpu.module @kernels {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @kernel(
  // CHECK-SAME: %{{.*}}: !llvm.ptr<1> {blockscale.parameter = #blockscale.parameter<d>}, %{{.*}}: f32)
  // CHECK-SAME: attributes {blockscale.kernel = #blockscale.kernel<{{.*}}block = 192>, blockscale.target = #blockscale.target<sm_103a>, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 192>}
  gpu.func @kernel(%d: !blockscale.global<f32> {blockscale.parameter = #blockscale.parameter<d>}, %s: f32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK-NEXT: llvm.return
    gpu.return
  }

  // CHECK-LABEL: gpu.func @foreign
  gpu.func @foreign() {
    // CHECK: gpu.thread_id {{ *}}x
    %0 = gpu.thread_id x
    gpu.printf "%d", %0 : index
    gpu.return
  }

  // CHECK-LABEL: llvm.func @ids(
  gpu.func @ids(%d: !blockscale.global<f32>, %x: f32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK: nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: nvvm.read.ptx.sreg.ctaid.y : i32
    // CHECK: nvvm.read.ptx.sreg.nctaid.z : i32
    %t = gpu.thread_id x
    %b = gpu.block_id y
    %g = gpu.grid_dim z
    %0 = arith.addi %t, %b : index
    %1 = arith.addi %0, %g : index
    %2 = arith.index_castui %1 : index to i64
    %c1 = arith.constant 1 : i32
    %v = vector.broadcast %x : f32 to vector<1xf32>
    blockscale.store_row %v to %d[%2] count %c1 : vector<1xf32> to !blockscale.global<f32>
    gpu.return
  }

  // What one lane has for all.
  // CHECK-LABEL: llvm.func @of_lane(
  // CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %[[X:.*]]: f32, %[[LANE:.*]]: i32, %{{.*}}: i64)
  gpu.func @of_lane(%d: !blockscale.global<f32>, %x: f32, %lane: i32, %i: i64) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK: nvvm.shfl.sync  idx %{{[^,]+}}, %[[X]], %[[LANE]], %{{[^,]+}} : f32 -> f32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %y, %valid = gpu.shuffle idx %x, %lane, %c32 : f32
    %v = vector.broadcast %y : f32 to vector<1xf32>
    blockscale.store_row %v to %d[%i] count %c1 : vector<1xf32> to !blockscale.global<f32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @lanes(
  gpu.func @lanes(%d: !blockscale.global<i32>, %x: i32, %i: i64) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i32
    // CHECK-DAG: %[[FIRST:.*]] = arith.constant -8 : i32
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 255 : i32
    // CHECK: %[[X:.*]] = nvvm.redux.sync umax %{{.*}}, %[[ALL]] : i32 -> i32
    // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid : i32
    // CHECK: %[[SHIFT:.*]] = arith.andi %[[LANE]], %[[FIRST]] : i32
    // CHECK: %[[MASK:.*]] = arith.shli %[[EIGHT]], %[[SHIFT]] : i32
    // CHECK: %[[Y:.*]] = nvvm.redux.sync umax %[[X]], %[[MASK]] : i32 -> i32
    // CHECK: nvvm.redux.sync add %[[Y]], %[[ALL]] : i32 -> i32
    %0 = gpu.subgroup_reduce maxui %x uniform : (i32) -> i32
    %1 = gpu.subgroup_reduce maxui %0 uniform cluster(size = 8) : (i32) -> i32
    %2 = gpu.subgroup_reduce add %1 uniform : (i32) -> i32
    %c1 = arith.constant 1 : i32
    %v = vector.broadcast %2 : i32 to vector<1xi32>
    blockscale.store_row %v to %d[%i] count %c1 : vector<1xi32> to !blockscale.global<i32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @roles(
  gpu.func @roles(%barrier: !blockscale.barrier<1>, %i: i32) kernel attributes {blockscale.target = #blockscale.target<sm_103a>, blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[WARP_SIZE:.*]] = arith.constant 32 : i32
    // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[WARP:.*]] = arith.divui %[[TID]], %[[WARP_SIZE]] : i32
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[WARP]], %[[FOUR]] : i32
    // CHECK: scf.if %[[IS]] {
    blockscale.warps "producer" 4 to 5 {
      // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
      // CHECK: scf.if %[[LEADER]] {
      // CHECK: nvvm.mbarrier.arrive
      // CHECK: nvvm.bar.warp.sync %{{.*}} : i32
      %leader = blockscale.elect
      scf.if %leader {
        blockscale.arrive %barrier[%i] : !blockscale.barrier<1>
      }
    }
    // CHECK: %[[RELATIVE:.*]] = arith.subi %{{.*}}, %[[TWO]] : i32
    // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[RELATIVE]], %[[FOUR]] : i32
    // CHECK: scf.if %[[IN]] {
    // CHECK: nvvm.mbarrier.arrive
    blockscale.warps "others" 2 to 6 {
      blockscale.arrive %barrier[%i] : !blockscale.barrier<1>
    }
    gpu.return
  }
}
