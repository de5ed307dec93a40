// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,convert-scf-to-cf,convert-blockscale-kernels-to-llvm))' | FileCheck %s --check-prefix=LLVM --implicit-check-not='{{ (arith|cf|math|scf|vector|index)\.[a-z_]+ }}' --implicit-check-not=llvm.call --implicit-check-not=unrealized

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>

// Nothing but LLVM and NVVM is left, and nothing that needs a library.
// LLVM-COUNT-3: llvm.return

gpu.module @kernels {
  // Without a stride a row that is all there and aligned is one access.
  // CHECK-LABEL: llvm.func @row(
  // CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr<1>, %[[AT:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i32)
  gpu.func @row(%c: !blockscale.global<bf16>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
    // CHECK-DAG: %[[C15:.*]] = arith.constant 15 : i64
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
    // CHECK: %[[P:.*]] = llvm.getelementptr %[[C]][%[[AT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    // CHECK: %[[INSIDE:.*]] = arith.cmpi sgt, %[[N]], %[[C7]] : i32
    // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr<1> to i64
    // CHECK: %[[REST:.*]] = arith.andi %[[ADDRESS]], %[[C15]] : i64
    // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %[[ZERO]] : i64
    // CHECK: %[[WHOLE:.*]] = arith.andi %[[INSIDE]], %[[ALIGNED]] : i1
    // CHECK: %[[V:.*]] = scf.if %[[WHOLE]] -> (vector<8xbf16>) {
    // CHECK: %[[W:.*]] = llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    // CHECK: scf.yield %[[W]]
    // CHECK: } else {
    // CHECK: %[[I0:.*]] = arith.cmpi sgt, %[[N]], %[[C0]] : i32
    // CHECK: scf.if %[[I0]] -> (bf16) {
    // CHECK: %[[E0:.*]] = llvm.load %[[P]] : !llvm.ptr<1> -> bf16
    // CHECK: scf.yield %[[E0]]
    // CHECK: } else {
    // CHECK: scf.yield %cst
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P]][1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
    // CHECK-COUNT-7: scf.if %{{.*}} -> (bf16)
    // CHECK: vector.from_elements
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<bf16> -> vector<8xbf16>
    // CHECK: scf.if %[[WHOLE]] {
    // CHECK: llvm.store %[[V]], %[[P]] {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
    // CHECK: } else {
    // CHECK: scf.if %[[I0:.*]] {
    // CHECK: %[[X0:.*]] = vector.extract %[[V]][0] : bf16 from vector<8xbf16>
    // CHECK: llvm.store %[[X0]], %[[P]] : bf16, !llvm.ptr<1>
    // CHECK-COUNT-7: llvm.store {{.*}} : bf16
    blockscale.store_row %0 to %c[%at] count %n : vector<8xbf16> to !blockscale.global<bf16>
    gpu.return
  }

  // With a stride each element has its own access; a whole row needs no tests.
  // CHECK-LABEL: llvm.func @strided(
  // CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr<1>, %[[AT:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i32, %[[STRIDE:[a-z0-9]+]]: i64)
  gpu.func @strided(%c: !blockscale.global<f32>, %at: i64, %n: i32, %stride: i64) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[P0:.*]] = llvm.getelementptr %[[C]][%[[AT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: %[[WHOLE:.*]] = arith.cmpi sgt, %[[N]], %{{.*}} : i32
    // CHECK: scf.if %[[WHOLE]] -> (vector<2xf32>) {
    // CHECK: %[[E0:.*]] = llvm.load %[[P0]] : !llvm.ptr<1> -> f32
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P0]][%[[STRIDE]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: %[[E1:.*]] = llvm.load %[[P1]] : !llvm.ptr<1> -> f32
    // CHECK: vector.from_elements %[[E0]], %[[E1]] : vector<2xf32>
    // CHECK: } else {
    // CHECK-COUNT-2: scf.if
    %0 = blockscale.load_row %c[%at] count %n stride %stride : !blockscale.global<f32> -> vector<2xf32>
    // CHECK: scf.if %[[WHOLE]] {
    // CHECK-COUNT-2: llvm.store
    // CHECK: } else {
    // CHECK: scf.if
    // CHECK: llvm.store
    // CHECK: scf.if
    // CHECK: llvm.store
    blockscale.store_row %0 to %c[%at] count %n stride %stride : vector<2xf32> to !blockscale.global<f32>
    gpu.return
  }

  // One element: only the guarded way.
  // CHECK-LABEL: llvm.func @one(
  // CHECK-NOT: alignment
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f16
  gpu.func @one(%c: !blockscale.global<f16>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f16> -> vector<1xf16>
    blockscale.store_row %0 to %c[%at] count %n : vector<1xf16> to !blockscale.global<f16>
    gpu.return
  }

  // exp is a power of two, one instruction; erf a rational function of four
  // elements at a time.
  // CHECK-LABEL: llvm.func @math(
  gpu.func @math(%c: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : vector<8xf32>
    // CHECK: %[[POWER:.*]] = arith.mulf %{{.*}}, %[[LOG2E]] : vector<8xf32>
    // CHECK: %[[EXP:.*]] = math.exp2 %[[POWER]] fastmath<afn> : vector<8xf32>
    // CHECK: vector.shuffle %[[EXP]], %[[EXP]] [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
    // CHECK: math.fma {{.*}} : vector<4xf32>
    // CHECK: vector.shuffle %[[EXP]], %[[EXP]] [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
    // CHECK: math.fma {{.*}} : vector<4xf32>
    // CHECK-NOT: math.erf
    // LLVM: llvm.intr.exp2({{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<8xf32>
    %1 = math.exp %0 : vector<8xf32>
    %2 = math.erf %1 : vector<8xf32>
    blockscale.store_row %2 to %c[%at] count %n : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }

  // What is all there needs no tests, with a stride either.
  // CHECK-LABEL: llvm.func @strided_aligned
  gpu.func @strided_aligned(%c: !blockscale.global<bf16>, %d: !blockscale.global<bf16>, %at: i64, %n: i32, %stride: i64) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK-NOT: scf.if
    // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<1> -> bf16
    %0 = blockscale.load_row %c[%at] count %n stride %stride aligned : !blockscale.global<bf16> -> vector<2xbf16>
    // CHECK-COUNT-2: llvm.store {{.*}} : bf16, !llvm.ptr<1>
    blockscale.store_row %0 to %d[%at] count %n stride %stride aligned : vector<2xbf16> to !blockscale.global<bf16>
    // CHECK-NOT: scf.if
    gpu.return
  }

  // Short rows go in one access of their own width.
  // CHECK-LABEL: llvm.func @pairs
  gpu.func @pairs(%c: !blockscale.global<bf16>, %d: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xbf16>
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<bf16> -> vector<2xbf16>
    %1 = arith.extf %0 : vector<2xbf16> to vector<2xf32>
    // CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    blockscale.store_row %1 to %d[%at] count %n : vector<2xf32> to !blockscale.global<f32>
    gpu.return
  }
}
