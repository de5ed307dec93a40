// Indices into tables are multiplied as the shortest elements that have all values of
// their tables: of mx4 those of 4 bits, under scales of 16; of mx6 and mx9, whose tiles
// are too short for longer elements, bf16.

// RUN: split-file %s %t
// RUN: blockscale-opt %t/legal.mlir --blockscale-legalize-scales | FileCheck %s
// RUN: blockscale-opt %t/illegal.mlir -split-input-file --blockscale-legalize-scales -verify-diagnostics

//--- legal.mlir
!mx4_a = !blockscale.tensor<128x128x!blockscale.codebook<"cb31ie_int5">, "mx4", layout = tiled_128x4>
!mx4_b = !blockscale.tensor<256x128xf4E2M1FN, "e8m0_t16", layout = tiled_128x4>
// CHECK-LABEL: func.func @mx4
func.func @mx4(%a: !mx4_a, %b: !mx4_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 16>) :
  %0 = blockscale.matmul %a, %b : !mx4_a, !mx4_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!mx6 = !blockscale.tensor<128x128x!blockscale.codebook<"cb51ie_int7">, "mx6">
!mx9 = !blockscale.tensor<256x128x!blockscale.codebook<"cb81ie_int9">, "mx9">
// CHECK-LABEL: func.func @mx9
func.func @mx9(%a: !mx6, %b: !mx9) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = bf16, b = bf16>) :
  %0 = blockscale.matmul %a, %b : !mx6, !mx9 -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// The same values in tiles of 32, which instructions take: 15/16 is 1.875 halved.
!long_a = !blockscale.tensor<128x128x!blockscale.codebook<"cb51ie_int7">, "e8m0_t32s2", layout = tiled_128x4>
!long_b = !blockscale.tensor<256x128x!blockscale.codebook<"cb41f01_e2m2fnuz">, "mxfp4m", layout = tiled_128x4>
// CHECK-LABEL: func.func @long
func.func @long(%a: !long_a, %b: !long_b) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e2m3, b = e2m3, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !long_a, !long_b -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

!mxfp4e = !blockscale.tensor<128x128x!blockscale.codebook<"cb42fe0123_e3m2fnuz">, "mxfp4e", layout = tiled_128x4>
!fp8 = !blockscale.tensor<256x128xf8E4M3FN, "mxfp8", layout = tiled_128x4>
// CHECK-LABEL: func.func @mxfp4e
func.func @mxfp4e(%a: !mxfp4e, %b: !fp8) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = mxf8f6f4, a = e3m2, b = e4m3, scale = ue8m0, block = 32>) :
  %0 = blockscale.matmul %a, %b : !mxfp4e, !fp8 -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

// Beside floats of 16 bits those hold them.
!f16 = !blockscale.tensor<256x128xf16>
// CHECK-LABEL: func.func @beside
func.func @beside(%a: !mx6, %b: !f16) -> tensor<128x256xf32> {
  // CHECK: blockscale.matmul {{.*}} mma(<kind = f16, a = f16, b = f16>) :
  %0 = blockscale.matmul %a, %b : !mx6, !f16 -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}

//--- illegal.mlir
// Values of 10 bits.
!fine = !blockscale.tensor<128x128x!blockscale.codebook<"cb41f01_e2m9fnuz">, "e8m0_t32", layout = tiled_128x4>
func.func @fine(%a: !fine, %b: !fine) -> tensor<128x128xf32> {
  // expected-error@+2 {{operand 'a' with scales 'e8m0_t32': the tables of 'cb41f01_e2m9fnuz' are multiplied as elements of an instruction when together they have at most 512 values, all of which are bf16's divided by one power of two; these are not. 'blockscale.dequantize' gives them as floats, which 'linalg.matmul' multiplies}}
  // expected-error@+1 {{operand 'b' with scales 'e8m0_t32'}}
  %0 = blockscale.matmul %a, %b : !fine, !fine -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// 1024 values.
!many = !blockscale.tensor<128x128x!blockscale.codebook<"cb82ie0123_int9">, "e8m0_t32s2">
!beside = !blockscale.tensor<128x128xbf16>
func.func @many(%a: !many, %b: !beside) -> tensor<128x128xf32> {
  // expected-error@+1 {{the tables of 'cb82ie0123_int9' are multiplied as elements of an instruction when together they have at most 512 values}}
  %0 = blockscale.matmul %a, %b : !many, !beside -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!short = !blockscale.tensor<128x128x!blockscale.codebook<"cb51ie_int7">, "mx6">
!direct = !blockscale.tensor<128x128xf8E4M3FN, "mxfp8", layout = tiled_128x4>
func.func @mixed(%a: !short, %b: !direct) -> tensor<128x128xf32> {
  // expected-error@+1 {{operand 'b' has its scales in layout 'tiled_128x4'; no instruction reads scales 'e8m0_t32' of elements of 'f8E4M3FN' beside elements of '!blockscale.codebook<"cb51ie_int7">' under scales 'e8m0_t16s2', and those by which sums are multiplied in registers lie in layout 'plain'}}
  %0 = blockscale.matmul %a, %b : !short, !direct -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

!plain = !blockscale.tensor<128x128x!blockscale.codebook<"cb41fi_e2m2fnuz">, "mxfi4">
!tiled = !blockscale.tensor<128x128xf8E4M3FN, "mxfp8", layout = tiled_128x4>
func.func @layout(%a: !plain, %b: !tiled) -> tensor<128x128xf32> {
  // expected-error@+1 {{operand 'a' has its scales in layout 'plain'; the tensor core reads 'tiled_128x4'}}
  %0 = blockscale.matmul %a, %b : !plain, !tiled -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
