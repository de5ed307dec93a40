// What a plan allows and a careful host would never do: the right kernel stands
// it, and edits that nothing else would show are noticed.

// REQUIRES: mlir
// RUN: rm -rf %t && mkdir %t
// RUN: blockscale compile %s --emit=ptx -o %t/k.ptx
// RUN: blockscale verify %s --conditions=harsh | FileCheck %s --check-prefix=RIGHT
// RUN: blockscale verify %s --conditions=plain | FileCheck %s --check-prefix=RIGHT
// RIGHT-NOT: FAIL
// RIGHT-COUNT-2: pass
// RIGHT-NOT: FAIL

// NaN is the larger of NaN and 0; without NaNs nobody sees the difference.
// RUN: sed 's/max.NaN.f32/max.f32/' %t/k.ptx > %t/max.ptx
// RUN: not cmp %t/k.ptx %t/max.ptx
// RUN: blockscale verify %s --ptx=%t/max.ptx --conditions=plain | FileCheck %s --check-prefix=RIGHT
// RUN: not blockscale verify %s --ptx=%t/max.ptx --conditions=harsh | FileCheck %s --check-prefix=MAX
// MAX: one, exact data, harsh conditions: mismatch at {{.*}} expected nan, found 0

// The bias at an address that is no multiple of 16 is read word by word; else
// only what is left of the last tile is.
// RUN: sed -E 's/(ld.global.b32 .*\[%rd[0-9]+\+)4\]/\18]/' %t/k.ptx > %t/bias.ptx
// RUN: not cmp %t/k.ptx %t/bias.ptx
// RUN: not blockscale verify %s --ptx=%t/bias.ptx --conditions=harsh | FileCheck %s --check-prefix=BIAS
// BIAS: one, exact data, harsh conditions: mismatch at row 0, column 1:

// The grid before may still write what this one reads.
// RUN: sed '/griddepcontrol.wait/d' %t/k.ptx > %t/wait.ptx
// RUN: not cmp %t/k.ptx %t/wait.ptx
// RUN: not blockscale verify %s --ptx=%t/wait.ptx --conditions=plain --data=exact | FileCheck %s --check-prefix=WAIT
// WAIT: race: asynchronous read of what the previous grid wrote

// A wait after the first load comes too late.
// RUN: %python %S/Inputs/move_wait.py %t/k.ptx > %t/late.ptx
// RUN: not blockscale verify %s --ptx=%t/late.ptx --conditions=plain --data=exact | FileCheck %s --check-prefix=WAIT

// Tensor memory need not begin at column 0.
// RUN: %python %S/Inputs/drop_base.py %t/k.ptx > %t/base.ptx
// RUN: blockscale verify %s --ptx=%t/base.ptx --conditions=plain | FileCheck %s --check-prefix=RIGHT
// RUN: not blockscale verify %s --ptx=%t/base.ptx --conditions=harsh | FileCheck %s --check-prefix=BASE
// BASE: one, exact data, harsh conditions: line {{.*}} tensor-memory: columns 0..31 are not all allocated

// Five tiles and more for each CTA: 3 x 5 tiles of 128 x 64, so 3 CTAs.
// RUN: blockscale verify %s --conditions=harsh --data=exact | FileCheck %s --check-prefix=TILES
// TILES: 260x264x416 {{ *}}3 of 3 {{ *}}68640

!a = !blockscale.tensor<260x416xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<264x416xf6E3M2FN, "e8m0_t32", layout = tiled_128x4>
func.func @one(%a: !a, %b: !b, %s: f32, %v: tensor<264xf32>) -> tensor<260x264xbf16> {
  %0 = blockscale.matmul %a, %b alpha(%s) bias(%v) activation(relu) schedule(#blockscale.schedule<stages = 2, tile_n = 64, swap_operands = false, cta_group = 1, cluster_m = 1, cluster_n = 1, split_k = 1, dependent_launch = true>) : !a, !b, tensor<264xf32> -> tensor<260x264xbf16>
  return %0 : tensor<260x264xbf16>
}
