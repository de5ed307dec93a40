// Rows of which it is known how many elements may be inside: all or none have
// no tests of single elements, and what never is has no code.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>

gpu.module @kernels {
  // Columns of D and of its tiles are multiples of the row's length.
  // CHECK-LABEL: llvm.func @all_or_nothing(
  gpu.func @all_or_nothing(%c: !blockscale.global<bf16>, %d: !blockscale.global<bf16>, %at: i64, %tile: i32) kernel attributes {blockscale.kernel = #kernel} {
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %none = arith.constant 0 : i32
    %n = arith.constant 4104 : i32
    scf.for %i = %none to %c4 step %c1 : i32 {
      %first = arith.muli %tile, %c64 : i32
      %inside = arith.muli %i, %c8 : i32
      %column = arith.addi %first, %inside : i32
      %left = arith.subi %n, %column : i32
      %isRow = arith.cmpi slt, %tile, %c8 : i32
      %count = arith.select %isRow, %left, %none : i32
      // CHECK: %[[ALL:.*]] = arith.cmpi sgt, %[[COUNT:.*]], %{{.*}} : i32
      // CHECK: %[[WHOLE:.*]] = arith.andi %[[ALL]], %{{.*}} : i1
      // CHECK: scf.if %[[WHOLE]] -> (vector<8xbf16>) {
      // CHECK:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
      // CHECK: } else {
      // CHECK:   scf.if %[[ALL]] -> (vector<8xbf16>) {
      // CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
      // CHECK-NOT: scf.if
      // CHECK: } else {
      // CHECK-NEXT: scf.yield %{{.*}} : vector<8xbf16>
      %0 = blockscale.load_row %c[%at] count %count : !blockscale.global<bf16> -> vector<8xbf16>
      // CHECK: scf.if %{{.*}} {
      // CHECK:   llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
      // CHECK: } else {
      // CHECK-NEXT: scf.if %[[ALL]] {
      // CHECK-COUNT-8: llvm.store %{{.*}} : bf16, !llvm.ptr<1>
      // CHECK-NOT: scf.if
      // CHECK: llvm.return
      blockscale.store_row %0 to %d[%at] count %count : vector<8xbf16> to !blockscale.global<bf16>
    }
    gpu.return
  }

  // Of pairs half as many are; with a stride there is nothing to align.
  // CHECK-LABEL: llvm.func @halves(
  gpu.func @halves(%d: !blockscale.global<f32>, %value: vector<4xf32>, %at: i64, %tile: i32, %stride: i64) kernel attributes {blockscale.kernel = #kernel} {
    %one = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %n = arith.constant 4104 : i32
    %first = arith.muli %tile, %c8 : i32
    %left = arith.subi %n, %first : i32
    %count = arith.shrsi %left, %one : i32
    // CHECK: scf.if
    // CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr<1>
    // CHECK-NOT: scf.if
    // CHECK: llvm.return
    blockscale.store_row %value to %d[%at] count %count stride %stride : vector<4xf32> to !blockscale.global<f32>
    gpu.return
  }

  // One of 4102 = 8 x 512 + 6 may be inside in part.
  // CHECK-LABEL: llvm.func @part(
  gpu.func @part(%d: !blockscale.global<f32>, %value: vector<4xf32>, %at: i64, %tile: i32) kernel attributes {blockscale.kernel = #kernel} {
    %c8 = arith.constant 8 : i32
    %n = arith.constant 4102 : i32
    %first = arith.muli %tile, %c8 : i32
    %count = arith.subi %n, %first : i32
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    // CHECK-COUNT-4: scf.if
    // CHECK: llvm.return
    blockscale.store_row %value to %d[%at] count %count : vector<4xf32> to !blockscale.global<f32>
    gpu.return
  }

  // D has three rows, a tile eight.
  // CHECK-LABEL: llvm.func @few(
  gpu.func @few(%d: !blockscale.global<f32>, %value: vector<8xf32>, %at: i64, %tile: i32, %stride: i64) kernel attributes {blockscale.kernel = #kernel} {
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %c8 = arith.constant 8 : i32
    %m = arith.constant 3 : i32
    %row, %column, %batch = blockscale.tile_coordinates %tile of (%c5, %c1) group 8
    %first = arith.muli %column, %c8 : i32
    %count = arith.subi %m, %first : i32
    // CHECK-COUNT-3: scf.if
    // CHECK-NOT: scf.if
    // CHECK: llvm.return
    blockscale.store_row %value to %d[%at] count %count stride %stride : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }

  // A place that may be negative says nothing of the most.
  // CHECK-LABEL: llvm.func @unknown(
  gpu.func @unknown(%d: !blockscale.global<f32>, %value: vector<8xf32>, %at: i64, %first: i32, %stride: i64) kernel attributes {blockscale.kernel = #kernel} {
    %m = arith.constant 3 : i32
    %count = arith.subi %m, %first : i32
    // CHECK-COUNT-9: scf.if
    // CHECK: llvm.return
    blockscale.store_row %value to %d[%at] count %count stride %stride : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }
}
