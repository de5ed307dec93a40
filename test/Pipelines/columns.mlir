// Registers of CTAs that quantise columns leave room for another one on the SM,
// but for blocks of sparse instructions. Tiles of several rows have warps of four
// blocks and eight rows.
// RUN: blockscale compile %s --target=sm_100a --emit=ptx | FileCheck %s

!x = tensor<?x512xbf16>
!turned = tensor<512x?xbf16>
!rows = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!columns = !blockscale.tensor<512x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!sparse = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t64", layout = tiled_128x4>
!squares = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32_t32", layout = tiled_128x4>
!short = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t8_t32", layout = tiled_128x4>

// CHECK-LABEL: .entry rows(
// CHECK: .minnctapersm 1
func.func @rows(%x: !x) -> !rows {
  %0 = blockscale.quantize %x : !x to !rows
  return %0 : !rows
}

// CHECK-LABEL: .entry turned(
// CHECK: .minnctapersm 2
func.func @turned(%x: !turned) -> !rows {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : !turned
  %e = tensor.empty(%n) : !x
  %y = linalg.transpose ins(%x : !turned) outs(%e : !x) permutation = [1, 0]
  %0 = blockscale.quantize %y : !x to !rows
  return %0 : !rows
}

// CHECK-LABEL: .entry for_sparse(
// CHECK: .minnctapersm 1
func.func @for_sparse(%x: !turned) -> !sparse {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : !turned
  %e = tensor.empty(%n) : !x
  %y = linalg.transpose ins(%x : !turned) outs(%e : !x) permutation = [1, 0]
  %0 = blockscale.quantize %y {blockscale.for_sparse} : !x to !sparse
  return %0 : !sparse
}

// CHECK-LABEL: .entry both(
// CHECK: .minnctapersm 2
func.func @both(%x: !x) -> (!rows, !columns) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : !x
  %e = tensor.empty(%m) : !turned
  %y = linalg.transpose ins(%x : !x) outs(%e : !turned) permutation = [1, 0]
  %0 = blockscale.quantize %x : !x to !rows
  %1 = blockscale.quantize %y : !turned to !columns
  return %0, %1 : !rows, !columns
}

// CHECK-LABEL: .entry squares(
// CHECK: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK: bar.sync
// CHECK: ld.shared.v4.b32
// CHECK-NOT: redux
func.func @squares(%x: !x) -> !squares {
  %0 = blockscale.quantize %x : !x to !squares
  return %0 : !squares
}

// CHECK-LABEL: .entry short(
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NOT: bar.sync
// CHECK: ret
func.func @short(%x: !x) -> !short {
  %0 = blockscale.quantize %x : !x to !short
  return %0 : !short
}
