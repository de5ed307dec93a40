// What cannot be split over devices, in words.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(blockscale-products-to-parts,func.func(sharding-propagation,shard-partition))'

!x = !blockscale.tensor<200x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
shard.grid @pair(shape = 2)
func.func @tiles(%x: !x) -> tensor<200x200xf32> {
  // expected-error@+2 {{'blockscale.on_parts' op cannot split M = 200 over 2 devices: expected a multiple of 256, whole tiles of 128 on each device}}
  // expected-error@+1 {{fail to set sharding annotations}}
  %y = blockscale.matmul %x, %x : !x, !x -> tensor<200x200xf32>
  %s = shard.sharding @pair split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<200x200xf32>
  return %0 : tensor<200x200xf32>
}

// -----

!x = !blockscale.tensor<256x384xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
shard.grid @pair(shape = 2)
func.func @blocks(%data: tensor<256x384xf8E4M3FN>, %scales: tensor<2x3x32x16xf8E8M0FNU>, %w: !x) -> tensor<256x256xf32> {
  %s = shard.sharding @pair split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %data to %s annotate_for_users : tensor<256x384xf8E4M3FN>
  %x = blockscale.assemble %0, %scales : tensor<256x384xf8E4M3FN>, tensor<2x3x32x16xf8E8M0FNU> to !x
  // expected-error@+2 {{cannot split K = 384 over 2 devices: expected a multiple of 256, whole tiles of 128 on each device}}
  // expected-error@+1 {{fail to set sharding annotations}}
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

// -----

// Without tiles any even number will do.
!x = !blockscale.tensor<255x64xf8E4M3FN, "e8m0_t32">
shard.grid @pair(shape = 2)
func.func @odd(%x: !x) -> tensor<255x255xf32> {
  // expected-error@+2 {{cannot split N = 255 over 2 devices: expected a multiple of 2}}
  // expected-error@+1 {{fail to set sharding annotations}}
  %y = blockscale.matmul %x, %x : !x, !x -> tensor<255x255xf32>
  %s = shard.sharding @pair split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<255x255xf32>
  return %0 : tensor<255x255xf32>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @order(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32> {
  // expected-error@+1 {{expected the arguments of the body to be the product's operands, in their order}}
  %0 = blockscale.on_parts(%d, %s, %d, %s) {
  ^bb0(%a: !x, %b: !x):
    %1 = blockscale.matmul %b, %a : !x, !x -> tensor<64x64xf32>
    blockscale.return %1 : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @missing(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32> {
  // expected-error@+1 {{expected 4 inputs, the parts of the body's arguments, found 3}}
  %0 = blockscale.on_parts(%d, %s, %d) {
  ^bb0(%a: !x, %b: !x):
    %1 = blockscale.matmul %a, %b : !x, !x -> tensor<64x64xf32>
    blockscale.return %1 : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @types(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>, %t: tensor<64x4xf8E8M0FNU>) -> tensor<64x64xf32> {
  // expected-error@+1 {{expected input 3 to be of type 'tensor<64x2xf8E8M0FNU>', found 'tensor<64x4xf8E8M0FNU>'}}
  %0 = blockscale.on_parts(%d, %s, %d, %t) {
  ^bb0(%a: !x, %b: !x):
    %1 = blockscale.matmul %a, %b : !x, !x -> tensor<64x64xf32>
    blockscale.return %1 : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>, tensor<64x4xf8E8M0FNU>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @body(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32> {
  // expected-error@+1 {{expected a body of one 'blockscale.matmul' and 'blockscale.return'}}
  %0 = blockscale.on_parts(%d, %s) {
  ^bb0(%a: !x):
    %1 = blockscale.dequantize %a : !x to tensor<64x64xf32>
    blockscale.return %1 : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @result(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>) -> tensor<64x64xbf16> {
  // expected-error@+2 {{inferred type(s) 'tensor<64x64xf32>' are incompatible with return type(s) of operation 'tensor<64x64xbf16>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = blockscale.on_parts(%d, %s, %d, %s) {
  ^bb0(%a: !x, %b: !x):
    %1 = blockscale.matmul %a, %b : !x, !x -> tensor<64x64xf32>
    blockscale.return %1 : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

!x = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32">
func.func @other(%d: tensor<64x64xf8E4M3FN>, %s: tensor<64x2xf8E8M0FNU>, %m: tensor<64x64xf32>, %f: f32) -> tensor<64x64xf32> {
  // expected-error@+1 {{expected the product's result to be returned}}
  %0 = blockscale.on_parts(%d, %s, %d, %s, %f, %m) {
  ^bb0(%a: !x, %b: !x, %beta: f32, %c: tensor<64x64xf32>):
    %1 = blockscale.matmul %a, %b beta(%beta) c(%c) : !x, !x, tensor<64x64xf32> -> tensor<64x64xf32>
    blockscale.return %c : tensor<64x64xf32>
  } : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, f32, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @no_value(%m: tensor<64x64xf32>) {
  %0 = "blockscale.on_parts"(%m) ({
  ^bb0(%c: tensor<64x64xf32>):
    // expected-error@+1 {{requires a single operand}}
    "blockscale.return"() : () -> ()
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return
}

// -----

!x = !blockscale.tensor<256x512xbf16>
shard.grid @pair(shape = 2)
func.func @pairs(%x: !x) -> tensor<256x128xf32> {
  // expected-error@+2 {{with 'pairs' cannot split N or K; expected devices along M}}
  // expected-error@+1 {{fail to set sharding annotations}}
  %y = blockscale.matmul %x, %x pairs epilogue(%g, %up) {
    blockscale.yield %up
  } : !x, !x -> tensor<256x128xf32>
  %s = shard.sharding @pair split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %y to %s : tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}
