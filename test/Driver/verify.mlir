// Each product is compiled, run on the emulator and compared with a product
// that shares no code with the compiler. Two SMs make each CTA walk several
// tiles; 1 and 130 rows leave ragged tiles.

// RUN: blockscale verify %s --m=1,130 --num-sms=2 | FileCheck %s
// RUN: blockscale verify %s --m=70 --completion=random --seed=3 | FileCheck %s --check-prefix=LATE
// RUN: blockscale verify %s --m=512 --tiles=1 --data=exact | FileCheck %s --check-prefix=SAMPLE
// RUN: not blockscale verify %s --m=1 --step-limit=1000 | FileCheck %s --check-prefix=STEPS
// RUN: not blockscale verify %s --m=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not blockscale verify %s --m=300000000 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not blockscale verify %s --m=2000000000 2>&1 | FileCheck %s --check-prefix=MUCH
// RUN: not blockscale verify %s --target=sm_90 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not blockscale verify %s.none 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: kernel
// CHECK: nvfp4 {{ *}}exact {{ *}}1x256x512 {{ *}}2 of 2 {{ *}}256 {{ *}}0 {{ *}}0 {{ *}}0 {{ *}}pass
// CHECK: nvfp4 {{ *}}random {{ *}}1x256x512
// CHECK-SAME: pass
// CHECK: nvfp4 {{ *}}exact {{ *}}130x256x512 {{ *}}2 of 2 {{ *}}33280 {{ *}}0 {{ *}}0 {{ *}}0 {{ *}}pass
// CHECK: mixed {{ *}}exact {{ *}}3x130x136x288
// CHECK-NOT: FAIL
// CHECK: mixed {{ *}}random
// CHECK-NOT: FAIL

// LATE-NOT: FAIL
// LATE-COUNT-4: pass
// LATE-NOT: FAIL

// SAMPLE: nvfp4 {{ *}}exact {{ *}}512x256x512 {{ *}}1 of {{[0-9]+}}
// SAMPLE-SAME: pass
// SAMPLE: mixed {{ *}}exact {{ *}}3x130x136x288 {{ *}}1 of {{[0-9]+}}
// SAMPLE-SAME: pass

// STEPS: nvfp4, random data, harsh conditions: line {{.*}}: step-limit: the warp has executed {{[0-9]+}} instructions, the limit of this run

// ZERO: size 'M' is 0; expected 1 to 2147418112
// MEMORY: error: verifying kernel 'nvfp4' would take about {{[0-9]+}} MiB of memory, of which this process can have {{[0-9]+}} MiB; give smaller sizes
// MUCH: error: verifying kernel 'nvfp4': more than 2^40 bytes of memory
// TARGET: error: {{.*}}sm_90
// MISSING: error: {{.*}}verify.mlir.none

!a = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

func.func @nvfp4(%a: !a, %b: !b) -> tensor<?x256xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

!c = !blockscale.tensor<3x130x288xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!d = !blockscale.tensor<3x136x288xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @mixed(%c: !c, %d: !d, %bias: tensor<136xf32>) -> tensor<3x130x136xbf16> {
  %0 = blockscale.matmul %c, %d bias(%bias) activation(relu) : !c, !d, tensor<136xf32> -> tensor<3x130x136xbf16>
  return %0 : tensor<3x130x136xbf16>
}
