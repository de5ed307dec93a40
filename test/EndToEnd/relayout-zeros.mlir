// Kernels that move scales with their zero points from one layout to another: those of 1, 2
// and 4 bytes, in steps of the scale and in real units, lines that are whole words and
// others, tiles of several rows, batches, sizes that are not known, beside a change of the
// elements' order and beside metadata. All bytes of the padding are written.

// REQUIRES: mlir
// RUN: blockscale verify %s --m=133 --k=352 | FileCheck %s
// RUN: blockscale verify %s --m=256 --k=512 --target=sm_120a --seed=5 | FileCheck %s
// RUN: blockscale compile %s --no-cubin -o %t
// RUN: FileCheck %s --check-prefix=PLAN < %t/relayout-zeros.plan.json

// CHECK-NOT: FAIL
// CHECK-COUNT-16: pass
// CHECK-NOT: {{FAIL|pass}}

// Zero points lie as scales do: `offset` of these counts both.
// PLAN-LABEL: "name": "floats"
// PLAN: "role": "d_zeros",
// PLAN-NEXT: "operand": "d",
// PLAN: "operands": [
// PLAN: "operand": "a_zeros",
// PLAN-NEXT: "type": "f32",
// PLAN: "operand": "d_zeros",
// PLAN-NEXT: "type": "f32",

!bytes_a = !blockscale.tensor<133x352xui8, "e4m3fn_int8_t32">
!bytes_d = !blockscale.tensor<133x352xui8, "e4m3fn_int8_t32", layout = tiled_128x4>
func.func @bytes(%a: !bytes_a) -> !bytes_d {
  %0 = blockscale.relayout %a : !bytes_a to !bytes_d
  return %0 : !bytes_d
}

!words_a = !blockscale.tensor<2x133x256xui4, "e4m3fn_int16_t16">
!words_d = !blockscale.tensor<2x133x256xui4, "e4m3fn_int16_t16", layout = tiled_128x16>
func.func @words(%a: !words_a) -> !words_d {
  %0 = blockscale.relayout %a : !words_a to !words_d
  return %0 : !words_d
}

!flatten_a = !blockscale.tensor<3x37x352xui8, "e4m3fn_int32_t32", layout = tiled_128x4>
!flatten_d = !blockscale.tensor<3x37x352xui8, "e4m3fn_int32_t32">
func.func @flatten(%a: !flatten_a) -> !flatten_d {
  %0 = blockscale.relayout %a : !flatten_a to !flatten_d
  return %0 : !flatten_d
}

!squares_a = !blockscale.tensor<140x352xui2, "e5m3fn_float32_t4_t32">
!squares_d = !blockscale.tensor<140x352xui2, "e5m3fn_float32_t4_t32", layout = tiled_128x4>
func.func @floats(%a: !squares_a) -> !squares_d {
  %0 = blockscale.relayout %a : !squares_a to !squares_d
  return %0 : !squares_d
}

!wide_a = !blockscale.tensor<2x140x352xui8, "e4m3fn_bfloat16_t32", layout = tiled_128x16>
!wide_d = !blockscale.tensor<2x140x352xui8, "e4m3fn_bfloat16_t32", layout = tiled_128x4>
func.func @narrow(%a: !wide_a) -> !wide_d {
  %0 = blockscale.relayout %a : !wide_a to !wide_d
  return %0 : !wide_d
}

!dynamic_a = !blockscale.tensor<?x?x?xui8, "e4m3fn_int8_t32">
!dynamic_d = !blockscale.tensor<?x?x?xui8, "e4m3fn_int8_t32", layout = tiled_128x4>
func.func @dynamic(%a: !dynamic_a) -> !dynamic_d {
  %0 = blockscale.relayout %a : !dynamic_a to !dynamic_d
  return %0 : !dynamic_d
}

!dynamic_rows_a = !blockscale.tensor<?x?xui4, "e4m3fn_float16_t16", layout = tiled_128x4>
!dynamic_rows_d = !blockscale.tensor<?x?xui4, "e4m3fn_float16_t16">
func.func @dynamic_rows(%a: !dynamic_rows_a) -> !dynamic_rows_d {
  %0 = blockscale.relayout %a : !dynamic_rows_a to !dynamic_rows_d
  return %0 : !dynamic_rows_d
}

!turned_a = !blockscale.tensor<140x352xui8, "e4m3fn_int16_t32">
!turned_d = !blockscale.tensor<140x352xui8, "e4m3fn_int16_t32", layout = tiled_128x4, order = mn_major>
func.func @turned(%a: !turned_a) -> !turned_d {
  %0 = blockscale.relayout %a : !turned_a to !turned_d
  return %0 : !turned_d
}
