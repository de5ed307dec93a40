// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,canonicalize,cse))' | FileCheck %s
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(convert-blockscale-to-nvvm,convert-scf-to-cf,convert-blockscale-kernels-to-llvm))' | FileCheck %s --check-prefix=LLVM --implicit-check-not='{{ (arith|cf|math|scf|vector|index)\.[a-z_]+ }}' --implicit-check-not=unrealized

#kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (clusters), block = 512, cooperative = true>

// LLVM: llvm.return

gpu.module @kernels {
  // The counter goes up to twice the CTAs: once while they come, once while they leave.
  // CHECK-LABEL: llvm.func @grid(
  // CHECK-SAME: %[[WORK:[a-z0-9]+]]: !llvm.ptr<1>, %[[AT:[a-z0-9]+]]: i64, %[[BITS:[a-z0-9]+]]: i32, %[[CTAS:[a-z0-9]+]]: i32)
  gpu.func @grid(%work: !blockscale.global<i32>, %at: i64, %bits: i32, %ctas: i32) kernel attributes {blockscale.kernel = #kernel} {
    // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK: %[[WORD:.*]] = llvm.getelementptr %[[WORK]][%[[AT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    // CHECK: llvm.inline_asm {{.*}}"red.relaxed.gpu.global.max.u32 [$0], $1;", "l,r,~{memory}" %[[WORD]], %[[BITS]]
    blockscale.raise_largest %work[%at], %bits : !blockscale.global<i32>
    // CHECK: %[[TWICE:.*]] = arith.addi %[[CTAS]], %[[CTAS]] : i32
    // CHECK: %[[MOST:.*]] = arith.subi %[[TWICE]], %[[ONE]] : i32
    // CHECK: llvm.inline_asm {{.*}}"atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %[[WORD]], %[[MOST]]
    // CHECK: scf.while : () -> () {
    // CHECK: %[[COME:.*]] = llvm.inline_asm {{.*}}"ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}" %[[WORD]]
    // CHECK: %[[FEWER:.*]] = arith.cmpi ult, %[[COME]], %[[CTAS]] : i32
    // CHECK: scf.condition(%[[FEWER]])
    // CHECK: } do {
    // CHECK: scf.yield
    blockscale.meet_grid %work[%at] count %ctas : !blockscale.global<i32>
    // CHECK: %[[BEFORE:.*]] = llvm.inline_asm {{.*}}"atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %[[WORD]], %[[MOST]]
    // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[BEFORE]], %[[MOST]] : i32
    %last = blockscale.leave_grid %work[%at] count %ctas : !blockscale.global<i32>
    // CHECK: scf.if %[[LAST]]
    scf.if %last {
      blockscale.raise_largest %work[%at], %bits : !blockscale.global<i32>
    }
    gpu.return
  }
}
