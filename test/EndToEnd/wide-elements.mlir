// Operands of 8 bits and fewer beside ones of 16 bits, which are stored in 16 bits as
// well, when they are packed: weights of int4, int8 and FP8 for activations that nobody
// has quantised, as AWQ, GPTQ and Kimi's checkpoints have them, with zero points for
// groups; and operands that no kind of 8 bits multiplies together: integers beside
// floats, integers of tiles along K.

// REQUIRES: mlir
// RUN: blockscale verify %s --num-sms=3 --m=70 | FileCheck %s
// RUN: blockscale verify %s --num-sms=3 --m=33 --data=exact --seed=3 --completion=latest --target=sm_103a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=1 --data=exact --seed=4 --target=sm_107a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale verify %s --num-sms=3 --m=70 --data=random --seed=5 --completion=random --target=sm_120a | FileCheck %s --check-prefix=ONCE
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: %python -c "import json, sys; data = json.load(open(sys.argv[1]))['kernels']; codes = {k['name']: k['data'][1].get('source') for k in data}; print(codes['awq']['format'], codes['awq']['codes'][14:18], codes['awq']['zeros']); print(codes['gptq8']['format'], len(codes['gptq8']['codes']), codes['gptq8']['codes'][0], codes['gptq8']['codes'][511])" %t/wide-elements.plan.json | FileCheck %s --check-prefix=PLAN

// CHECK-NOT: FAIL
// CHECK-COUNT-20: pass
// CHECK-NOT: {{FAIL|pass}}

// ONCE-NOT: FAIL
// ONCE-COUNT-10: pass
// ONCE-NOT: {{FAIL|pass}}

// -2 to 1 as f16; -256 and 255 as bf16.
// PLAN: uint4 [49152, 48128, 0, 15360] {'bits': 8, 'rows': 1, 'block': 128}
// PLAN-NEXT: uint8 512 50048 17279

!bf16 = !blockscale.tensor<?x352xbf16>
!f16 = !blockscale.tensor<?x384xf16>

!kimi = !blockscale.tensor<136x352xi4, "bfloat16_t32">
func.func @kimi(%a: !bf16, %b: !kimi) -> tensor<?x136xbf16> {
  %0 = blockscale.matmul %a, %b : !bf16, !kimi -> tensor<?x136xbf16>
  return %0 : tensor<?x136xbf16>
}

!awq = !blockscale.tensor<136x384xui4, "float16_int8_t128">
func.func @awq(%a: !f16, %b: !awq, %bias: tensor<136xf32>) -> tensor<?x136xf16> {
  %0 = blockscale.matmul %a, %b bias(%bias) activation(silu) : !f16, !awq, tensor<136xf32> -> tensor<?x136xf16>
  return %0 : tensor<?x136xf16>
}

!gptq8 = !blockscale.tensor<136x352xui8, "float32_int16_t32">
func.func @gptq8(%a: !bf16, %b: !gptq8) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !bf16, !gptq8 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!channels = !blockscale.tensor<136x352xi8, "float32_t0">
func.func @channels(%a: !bf16, %b: !channels) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<swap_operands = true>) : !bf16, !channels -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!deepseek = !blockscale.tensor<136x384xf8E4M3FN, "float32_t128_t128">
func.func @deepseek(%a: !f16, %b: !deepseek) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !f16, !deepseek -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!fp6 = !blockscale.tensor<136x384xf6E3M2FN, "float32">
func.func @fp6(%a: !f16, %b: !fp6) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !f16, !fp6 -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// A is the short one.
!short = !blockscale.tensor<?x384xf8E5M2, "float32_t0">
!long = !blockscale.tensor<136x384xbf16>
func.func @of_a(%a: !short, %b: !long) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !short, !long -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

// Of 8 bits on both sides.
!bytes = !blockscale.tensor<?x384xf8E4M3FN, "float32_t128">
!rows = !blockscale.tensor<136x384xui8, "float32_int8_t0">
func.func @beside_floats(%a: !bytes, %b: !rows) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !bytes, !rows -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!tiles_a = !blockscale.tensor<?x384xi8, "float32_t128">
!tiles_b = !blockscale.tensor<136x384xi8, "float32_t128_t128">
func.func @integer_tiles(%a: !tiles_a, %b: !tiles_b) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b : !tiles_a, !tiles_b -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}

!tokens = !blockscale.tensor<?x384xf16>
!experts = !blockscale.tensor<3x136x384xui4, "float16_int8_t64">
func.func @experts(%a: !tokens, %b: !experts, %ends: tensor<3xi32>) -> tensor<?x136xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<3xi32>) : !tokens, !experts -> tensor<?x136xf32>
  return %0 : tensor<?x136xf32>
}
