// Experts of DeepSeek's models: groups of rows under scales of tiles along K that are
// applied in registers. Rows of a group begin anywhere, its scales lie as its rows do.
// Both sides as rows of the instruction, pairs and clusters, bias and C, tails of N and
// K, tiles of one row of B and of several, scales of one side, groups without rows.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=8 --m=200,333 --k=520 | FileCheck %s
// RUN: blockscale verify %s --num-sms=5 --m=61 --k=136 --seed=5 --data=random --conditions=harsh --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=8 --m=1,300 --k=640 --data=exact --seed=6 --target=sm_107a | FileCheck %s --check-prefix=TWICE

// CHECK-NOT: FAIL
// CHECK-COUNT-36: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-9: pass
// ONCE-NOT: {{FAIL|pass}}

// TWICE-NOT: FAIL
// TWICE-COUNT-18: pass
// TWICE-NOT: {{FAIL|pass}}

!a = !blockscale.tensor<?x512xf8E4M3FN, "float32_t128">
!b = !blockscale.tensor<4x272x512xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x272xbf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !b -> tensor<?x272xbf16>
  return %0 : tensor<?x272xbf16>
}

func.func @swapped(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 64>): !a, !b -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

func.func @straight(%a: !a, %b: !b, %ends: tensor<4xi32>, %c: tensor<?x272xbf16>, %beta: f32, %bias: tensor<4x272xf32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) beta(%beta) c(%c) bias(%bias) activation(silu) schedule(#blockscale.schedule<swap_operands = false, tile_n = 64, cta_group = 1>) : !a, !b, tensor<?x272xbf16>, tensor<4x272xf32> -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

func.func @pair(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false, cta_group = 2>) : !a, !b -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

func.func @cluster(%a: !a, %b: !b, %ends: tensor<4xi32>) -> tensor<?x272xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = false, cta_group = 1, cluster_m = 2, cluster_n = 2>) : !a, !b -> tensor<?x272xf32>
  return %0 : tensor<?x272xf32>
}

// Of single rows, and half as many along K.
!rows = !blockscale.tensor<4x136x512xf8E5M2, "bfloat16_t256">
func.func @rows(%a: !a, %b: !rows, %ends: tensor<4xi32>, %alpha: f32) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) alpha(%alpha) : !a, !rows -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Those of one side cover all of K.
!whole = !blockscale.tensor<?x512xf8E4M3FN, "float32_t0">
func.func @of_b(%a: !whole, %b: !b, %ends: tensor<4xi32>) -> tensor<?x272xf16> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !whole, !b -> tensor<?x272xf16>
  return %0 : tensor<?x272xf16>
}

!factors = !blockscale.tensor<4x136x512xf4E2M1FN, "float16_t0">
func.func @of_a(%a: !a, %b: !factors, %ends: tensor<4xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) schedule(#blockscale.schedule<swap_operands = true, tile_n = 32>) : !a, !factors -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!any_a = !blockscale.tensor<?x?xf8E4M3FN, "float32_t128">
!any_b = !blockscale.tensor<4x72x?xui4, "float32_int8_t128">
func.func @any(%a: !any_a, %b: !any_b, %ends: tensor<4xi32>) -> tensor<?x72xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !any_a, !any_b -> tensor<?x72xf32>
  return %0 : tensor<?x72xf32>
}
