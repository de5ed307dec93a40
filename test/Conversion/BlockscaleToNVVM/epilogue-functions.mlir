// Functions of epilogues: those with an instruction stay, the others become
// arithmetic on four elements at a time. None needs a library.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,convert-scf-to-cf,convert-blockscale-kernels-to-llvm))' | FileCheck %s --check-prefix=LLVM --implicit-check-not=llvm.call

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (sms), block = 192>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @polynomials(
  // CHECK-NOT: math.{{log|tanh|erf|exp |expm1}}
  // CHECK: vector<4xf32>
  // CHECK-NOT: math.{{log|tanh|erf|exp |expm1}}
  // CHECK: llvm.return
  // LLVM-LABEL: llvm.func @polynomials(
  // LLVM-NOT: llvm.intr.{{log|tanh|exp\(}}
  // LLVM: llvm.return
  gpu.func @polynomials(%c: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<8xf32>
    %1 = math.log %0 : vector<8xf32>
    %2 = math.log2 %1 : vector<8xf32>
    %3 = math.log1p %2 : vector<8xf32>
    %4 = math.expm1 %3 : vector<8xf32>
    %5 = math.tanh %4 : vector<8xf32>
    %6 = math.erf %5 : vector<8xf32>
    blockscale.store_row %6 to %c[%at] count %n : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }

  // Three numbers at a time, of two one twice.
  // CHECK-LABEL: llvm.func @largest(
  // CHECK: %[[X:.*]] = llvm.inline_asm {{.*}}"max.NaN.abs.f32 $0, $1, $2, $3;", "=f,f,f,f" %[[A:.*]], %[[B:.*]], %{{.*}} : (f32, f32, f32) -> f32
  // CHECK: %[[Y:.*]] = llvm.inline_asm {{.*}}max.NaN.abs.f32 {{.*}} %[[Z:.*]], %[[X]], %[[Z]] : (f32, f32, f32) -> f32
  // CHECK-NOT: inline_asm
  // CHECK: llvm.return
  gpu.func @largest(%c: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<4xf32>
    %1:4 = vector.to_elements %0 : vector<4xf32>
    %2 = blockscale.largest_magnitude %1#0, %1#1, %1#2, %1#3
    %3 = vector.from_elements %2 : vector<1xf32>
    blockscale.store_row %3 to %c[%at] count %n : vector<1xf32> to !blockscale.global<f32>
    gpu.return
  }

  // A pair of elements is short enough.
  // CHECK-LABEL: llvm.func @pair(
  // CHECK-NOT: vector.shuffle
  // CHECK: math.fma {{.*}} : vector<2xf32>
  // CHECK: llvm.return
  gpu.func @pair(%c: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<2xf32>
    %1 = math.log %0 : vector<2xf32>
    blockscale.store_row %1 to %c[%at] count %n : vector<2xf32> to !blockscale.global<f32>
    gpu.return
  }

  // A power of two is one instruction if it may be off in the last place.
  // CHECK-LABEL: llvm.func @instructions(
  // CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<8xf32>
  // CHECK: math.sqrt %{{.*}} : vector<8xf32>
  // CHECK: math.rsqrt %{{.*}} : vector<8xf32>
  // CHECK: math.floor %{{.*}} : vector<8xf32>
  // LLVM-LABEL: llvm.func @instructions(
  // LLVM: llvm.intr.exp2({{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
  // LLVM: llvm.intr.sqrt
  // LLVM: llvm.intr.floor
  gpu.func @instructions(%c: !blockscale.global<f32>, %at: i64, %n: i32) kernel attributes {blockscale.kernel = #kernel} {
    %0 = blockscale.load_row %c[%at] count %n : !blockscale.global<f32> -> vector<8xf32>
    %1 = math.exp2 %0 : vector<8xf32>
    %2 = math.sqrt %1 : vector<8xf32>
    %3 = math.rsqrt %2 : vector<8xf32>
    %4 = math.floor %3 : vector<8xf32>
    blockscale.store_row %4 to %c[%at] count %n : vector<8xf32> to !blockscale.global<f32>
    gpu.return
  }
}
