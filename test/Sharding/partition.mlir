// What each device gets of a product, its scales and its metadata.

// RUN: blockscale-opt %s --pass-pipeline='builtin.module(blockscale-products-to-parts,func.func(sharding-propagation,shard-partition,canonicalize))' -o %t
// RUN: FileCheck %s < %t
// RUN: blockscale-opt %t --blockscale-parts-to-products | FileCheck %s --check-prefix=BACK

shard.grid @pair(shape = 2)
shard.grid @square(shape = 2x4)

!x = !blockscale.tensor<512x1024xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// The rows of A with their scales; B as a whole.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: tensor<256x1024xf8E4M3FN>, %{{.*}}: tensor<2x8x32x16xf8E8M0FNU>, %{{.*}}: tensor<512x1024xf8E4M3FN>, %{{.*}}: tensor<4x8x32x16xf8E8M0FNU>, %{{.*}}: tensor<512xbf16>, %{{.*}}: f32)
// CHECK-SAME: -> tensor<256x512xbf16>
// CHECK: blockscale.on_parts
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) bias(%{{.*}}) activation(gelu)
// CHECK-SAME: !blockscale.tensor<256x1024xf8E4M3FN, {{.*}}>, !blockscale.tensor<512x1024xf8E4M3FN, {{.*}}>, tensor<512xbf16> -> tensor<256x512xbf16>
// CHECK-NOT: shard.
// CHECK: return
// BACK-LABEL: func.func @rows(
// BACK: %[[A:.*]] = blockscale.assemble {{.*}} : tensor<256x1024xf8E4M3FN>, tensor<2x8x32x16xf8E8M0FNU> to
// BACK: %[[B:.*]] = blockscale.assemble {{.*}} : tensor<512x1024xf8E4M3FN>, tensor<4x8x32x16xf8E8M0FNU> to
// BACK: blockscale.matmul %[[A]], %[[B]] alpha(%{{.*}}) bias(%{{.*}}) activation(gelu)
func.func @rows(%x: !x, %w: !x, %bias: tensor<512xbf16>, %alpha: f32) -> tensor<512x512xbf16> {
  %y = blockscale.matmul %x, %w alpha(%alpha) bias(%bias) activation(gelu) : !x, !x, tensor<512xbf16> -> tensor<512x512xbf16>
  %s = shard.sharding @pair split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// M over one axis, N over the other: no device waits for another.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: tensor<256x1024xf8E4M3FN>, %{{.*}}: tensor<2x8x32x16xf8E8M0FNU>, %{{.*}}: tensor<128x1024xf8E4M3FN>, %{{.*}}: tensor<1x8x32x16xf8E8M0FNU>, %{{.*}}: tensor<256x128xf32>, %{{.*}}: tensor<256xf32>)
// CHECK-SAME: -> tensor<256x128xf32>
// CHECK: blockscale.on_parts
// CHECK-NOT: shard.
// CHECK: return
func.func @both(%x: !x, %w: !x, %c: tensor<512x512xf32>, %bias: tensor<512xf32>) -> tensor<512x512xf32> {
  %y = blockscale.matmul %x, %w c(%c) bias(%bias) row : !x, !x, tensor<512x512xf32>, tensor<512xf32> -> tensor<512x512xf32>
  %s = shard.sharding @square split_axes = [[0], [1]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// Partial sums in f32, added up; then alpha, beta, C, and the rounding.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[AD:.*]]: tensor<512x512xf8E4M3FN>, %[[AS:.*]]: tensor<4x4x32x16xf8E8M0FNU>, %[[BD:.*]]: tensor<512x512xf8E4M3FN>, %[[BS:.*]]: tensor<4x4x32x16xf8E8M0FNU>, %[[C:.*]]: tensor<512x512xbf16>, %[[ALPHA:.*]]: f32, %[[BETA:.*]]: f32)
// CHECK: %[[PART:.*]] = blockscale.on_parts(%[[AD]], %[[AS]], %[[BD]], %[[BS]])
// CHECK: blockscale.matmul %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : {{.*}} -> tensor<512x512xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[PART]] on @pair grid_axes = [0] : tensor<512x512xf32> -> tensor<512x512xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[SUM]], %[[C]] : tensor<512x512xf32>, tensor<512x512xbf16>)
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %[[ALPHA]] : f32
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[Y:.*]] = arith.mulf %[[WIDE]], %[[BETA]] : f32
// CHECK: %[[Z:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK: arith.truncf %[[Z]] : f32 to bf16
func.func @sums(%data: tensor<512x1024xf8E4M3FN>, %scales: tensor<4x8x32x16xf8E8M0FNU>, %w: !x, %c: tensor<512x512xbf16>, %alpha: f32, %beta: f32) -> tensor<512x512xbf16> {
  %s = shard.sharding @pair split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %data to %s annotate_for_users : tensor<512x1024xf8E4M3FN>
  %x = blockscale.assemble %0, %scales : tensor<512x1024xf8E4M3FN>, tensor<4x8x32x16xf8E8M0FNU> to !x
  %y = blockscale.matmul %x, %w alpha(%alpha) beta(%beta) c(%c) : !x, !x, tensor<512x512xbf16> -> tensor<512x512xbf16>
  return %y : tensor<512x512xbf16>
}

// Metadata lie K first in tiles, scales rows first. Integers stay integers.
// CHECK-LABEL: func.func @sparse(
// CHECK-SAME: tensor<256x512xi8>, %{{.*}}: tensor<8x2x128x16xi8>, %{{.*}}: tensor<128x1024xi8>) -> tensor<256x128xi32>
// CHECK-NOT: shard.all_reduce
// CHECK-LABEL: func.func @sparse_sums(
// CHECK-SAME: tensor<512x256xi8>, %{{.*}}: tensor<4x4x128x16xi8>, %{{.*}}: tensor<128x512xi8>) -> tensor<512x128xi32>
// CHECK: %[[PART:.*]] = blockscale.on_parts
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[PART]] on @pair grid_axes = [0] : tensor<512x128xi32> -> tensor<512x128xi32>
// CHECK: return %[[SUM]]
!n = !blockscale.tensor<512x1024xi8, "n2m4", layout = tiled_128x4>
!d = !blockscale.tensor<128x1024xi8>
func.func @sparse(%x: !n, %w: !d) -> tensor<512x128xi32> {
  %y = blockscale.matmul %x, %w : !n, !d -> tensor<512x128xi32>
  %s = shard.sharding @pair split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<512x128xi32>
  return %0 : tensor<512x128xi32>
}
func.func @sparse_sums(%kept: tensor<512x512xi8>, %metadata: tensor<8x4x128x16xi8>, %w: !d) -> tensor<512x128xi32> {
  %s = shard.sharding @pair split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %kept to %s annotate_for_users : tensor<512x512xi8>
  %x = blockscale.assemble %0 metadata(%metadata : tensor<8x4x128x16xi8>) : tensor<512x512xi8> to !n
  %y = blockscale.matmul %x, %w : !n, !d -> tensor<512x128xi32>
  return %y : tensor<512x128xi32>
}

// A batch of products, each with a tensor scale of its own.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: tensor<3x256x256xf4E2M1FN>, %{{.*}}: tensor<3x256x16xf8E4M3FN>, %{{.*}}: tensor<3xf32>)
!e = !blockscale.tensor<6x256x256xf4E2M1FN, "multi_float32_e4m3fn_t16">
func.func @batch(%x: !e) -> tensor<6x256x256xf32> {
  %y = blockscale.matmul %x, %x : !e, !e -> tensor<6x256x256xf32>
  %s = shard.sharding @pair split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<6x256x256xf32>
  return %0 : tensor<6x256x256xf32>
}
