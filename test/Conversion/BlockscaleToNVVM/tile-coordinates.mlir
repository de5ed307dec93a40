// RUN: blockscale-opt %s -allow-unregistered-dialect -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize))' | FileCheck %s

// Five rows and three columns of tiles in groups of two rows: a group is walked
// down its rows, then along the columns; the last group has one row.
//
//    0  2  4
//    1  3  5
//    6  8 10
//    7  9 11
//   12 13 14      batch 1 starts with 15

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @walk
  gpu.func @walk() kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    %rows = arith.constant 5 : i32
    %columns = arith.constant 3 : i32
    %t1 = arith.constant 1 : i32
    %t5 = arith.constant 5 : i32
    %t6 = arith.constant 6 : i32
    %t13 = arith.constant 13 : i32
    %t17 = arith.constant 17 : i32
    // CHECK: "test.use"(%[[C1]], %[[C0]], %[[C0]])
    %0:3 = blockscale.tile_coordinates %t1 of (%rows, %columns) group 2
    "test.use"(%0#0, %0#1, %0#2) : (i32, i32, i32) -> ()
    // CHECK: "test.use"(%[[C1]], %[[C2]], %[[C0]])
    %1:3 = blockscale.tile_coordinates %t5 of (%rows, %columns) group 2
    "test.use"(%1#0, %1#1, %1#2) : (i32, i32, i32) -> ()
    // CHECK: "test.use"(%[[C2]], %[[C0]], %[[C0]])
    %2:3 = blockscale.tile_coordinates %t6 of (%rows, %columns) group 2
    "test.use"(%2#0, %2#1, %2#2) : (i32, i32, i32) -> ()
    // CHECK: "test.use"(%[[C4]], %[[C1]], %[[C0]])
    %3:3 = blockscale.tile_coordinates %t13 of (%rows, %columns) group 2
    "test.use"(%3#0, %3#1, %3#2) : (i32, i32, i32) -> ()
    // CHECK: "test.use"(%[[C0]], %[[C1]], %[[C1]])
    %4:3 = blockscale.tile_coordinates %t17 of (%rows, %columns) group 2
    "test.use"(%4#0, %4#1, %4#2) : (i32, i32, i32) -> ()
    gpu.return
  }

  // Groups of more tiles than 32 bits count: 65536 * 2^29 wraps to zero.
  // CHECK-LABEL: llvm.func @wide
  gpu.func @wide(%columns: i32, %rows: i32, %tile: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %many = arith.constant 536870912 : i32
    %t7 = arith.constant 7 : i32
    // CHECK: "test.use"(%[[C1]], %[[C2]], %[[C0]])
    %0:3 = blockscale.tile_coordinates %t7 of (%three, %many) group 65536
    "test.use"(%0#0, %0#1, %0#2) : (i32, i32, i32) -> ()
    // With sizes that only the host knows a group has at most all rows of tiles.
    // CHECK: %[[ROWS:.*]] = arith.minui %{{.*}}, %{{.*}} : i32
    // CHECK: arith.muli %[[ROWS]], %{{.*}} : i32
    %1:3 = blockscale.tile_coordinates %tile of (%rows, %columns) group 65536
    "test.use"(%1#0, %1#1, %1#2) : (i32, i32, i32) -> ()
    gpu.return
  }
}
