// Numbers that LLVM knows to be small are divided as numbers of 32 bits: ptxas would call a
// function for 16, and pass on what comes back through the stack where warps have passed on
// registers.
// REQUIRES: mlir, ptxas
// RUN: blockscale compile %s --emit=ptx | FileCheck %s --implicit-check-not=div.u16 --implicit-check-not=rem.u16
// RUN: rm -rf %t && blockscale compile %s -o %t
// RUN: grep -c '"spill_load_bytes": 0,' %t/small-divisions.report.json | FileCheck %s --check-prefix=SPILLS
// RUN: blockscale verify %s --num-sms=4 --m=133 | FileCheck %s --check-prefix=VERIFY

// CHECK-LABEL: .entry grouped(
// CHECK: min.u32
// CHECK: div.u32
// CHECK-LABEL: .entry compared(
// CHECK: min.u32
// CHECK: div.u32
// SPILLS: {{^}}2{{$}}
// VERIFY: grouped {{.*}} pass
// VERIFY: compared {{.*}} pass

!a = !blockscale.tensor<?x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<4096x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @grouped(%a: !a, %b: !b) -> tensor<?x4096xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<cta_group = 2, tile_n = 256>) : !a, !b -> tensor<?x4096xbf16>
  return %0 : tensor<?x4096xbf16>
}

!x = !blockscale.tensor<?x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<512x640xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
func.func @compared(%x: !x, %w: !w) -> !q {
  %0 = blockscale.matmul %x, %w schedule(#blockscale.schedule<cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8>) : !x, !w -> tensor<?x512xf32>
  %1 = blockscale.quantize %0 rule(min_error) : tensor<?x512xf32> to !q
  return %1 : !q
}
