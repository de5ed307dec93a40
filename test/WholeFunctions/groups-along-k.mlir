// Products with groups along K in whole functions: a matrix for each offset, in one
// launch, against the loop of products that linalg makes of it; and quantised by the kernel
// that multiplies.

// RUN: blockscale verify %s --conditions=plain --data=exact --k=128 | FileCheck %s
// RUN: blockscale verify %s --conditions=plain --data=exact --k=128 --quantize-on-device | FileCheck %s
// RUN: blockscale compile --emit=host-linalg --quantize-on-device %s | FileCheck %s --check-prefix=LAUNCHES
// CHECK: function
// CHECK-DAG: {{^}}whole exact - 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}sized exact 128 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}scaled exact 128 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}rows exact 128 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}four_bits exact 128 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}stored_in_six_bits exact 128 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}tiles exact - 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}zero_points exact - 1 19200 0 0 0 pass
// CHECK-DAG: {{^}}quantized exact - {{[12]}} 20480 0 0 0 pass

!a = !blockscale.tensor<40x128xbf16>
!b = !blockscale.tensor<120x128xbf16>
func.func @whole(%a: !a, %b: !b, %bias: tensor<4x120xf32>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[48, 48, 64, 112]> : tensor<4xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) bias(%bias) : !a, !b, tensor<4x120xf32> -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

// As many matrices as a value has numbers.
!left = !blockscale.tensor<40x?xbf16>
!right = !blockscale.tensor<120x?xbf16>
func.func @sized(%a: !left, %b: !right) -> tensor<?x40x120xf32> {
  %ends = arith.constant dense<[16, 80, 80, 128]> : tensor<4xi32>
  %some = tensor.cast %ends : tensor<4xi32> to tensor<?xi32>
  %0 = blockscale.matmul %a, %b groups(%some : tensor<?xi32>) : !left, !right -> tensor<?x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<?x40x120xf32>
  return %1 : tensor<?x40x120xf32>
}

// Scales have room for (128 + 4 * 127) / 128 = 4 tiles along K.
!x = !blockscale.tensor<40x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w = !blockscale.tensor<120x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @scaled(%a: tensor<40x?xf8E4M3FN>, %b: tensor<120x?xf8E4M3FN>, %s: tensor<1x4x32x16xf8E8M0FNU>, %t: tensor<1x4x32x16xf8E8M0FNU>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[32, 96, 96, 128]> : tensor<4xi32>
  %some = tensor.cast %s : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %others = tensor.cast %t : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %x = blockscale.assemble %a, %some : tensor<40x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !x
  %w = blockscale.assemble %b, %others : tensor<120x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !w
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !x, !w -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

// Scales of the rows of each group, and one of each group.
!r = !blockscale.tensor<40x?xf8E4M3FN, "float32_t0", layout = grouped>
!g = !blockscale.tensor<120x?xf8E4M3FN, "float32", layout = grouped>
func.func @rows(%a: tensor<40x?xf8E4M3FN>, %b: tensor<120x?xf8E4M3FN>, %s: tensor<4x40x1xf32>, %t: tensor<4x1x1xf32>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[32, 96, 96, 128]> : tensor<4xi32>
  %some = tensor.cast %s : tensor<4x40x1xf32> to tensor<?x40x1xf32>
  %others = tensor.cast %t : tensor<4x1x1xf32> to tensor<?x1x1xf32>
  %x = blockscale.assemble %a, %some : tensor<40x?xf8E4M3FN>, tensor<?x40x1xf32> to !r
  %w = blockscale.assemble %b, %others : tensor<120x?xf8E4M3FN>, tensor<?x1x1xf32> to !g
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !r, !g -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

// Kernels reach its groups at multiples of 128.
!f = !blockscale.tensor<40x?xf4E2M1FN, "float32_t0", layout = grouped>
!e = !blockscale.tensor<120x?xf8E4M3FN, "float32_t0", layout = grouped>
func.func @four_bits(%a: tensor<40x?xf4E2M1FN>, %b: tensor<120x?xf8E4M3FN>, %s: tensor<4x40x1xf32>, %t: tensor<4x120x1xf32>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[0, 128, 128, 128]> : tensor<4xi32>
  %some = tensor.cast %s : tensor<4x40x1xf32> to tensor<?x40x1xf32>
  %others = tensor.cast %t : tensor<4x120x1xf32> to tensor<?x120x1xf32>
  %x = blockscale.assemble %a, %some : tensor<40x?xf4E2M1FN>, tensor<?x40x1xf32> to !f
  %w = blockscale.assemble %b, %others : tensor<120x?xf8E4M3FN>, tensor<?x120x1xf32> to !e
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !f, !e -> tensor<4x40x120xf32>
  return %0 : tensor<4x40x120xf32>
}

// So with integers that kernels find as elements of 6 bits.
!s = !blockscale.tensor<40x?xi4, "e8m0_t32", layout = grouped_128x4>
!c = !blockscale.tensor<120x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @stored_in_six_bits(%a: tensor<40x?xi4>, %b: tensor<120x?xf8E4M3FN>, %s: tensor<1x4x32x16xf8E8M0FNU>, %t: tensor<1x4x32x16xf8E8M0FNU>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[0, 128, 128, 128]> : tensor<4xi32>
  %some = tensor.cast %s : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %others = tensor.cast %t : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %x = blockscale.assemble %a, %some : tensor<40x?xi4>, tensor<?x?x32x16xf8E8M0FNU> to !s
  %w = blockscale.assemble %b, %others : tensor<120x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !c
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !s, !c -> tensor<4x40x120xf32>
  return %0 : tensor<4x40x120xf32>
}

// Groups of whole tiles of scales, which lie as the elements do.
!t = !blockscale.tensor<40x384xf8E4M3FN, "float32_t128">
!u = !blockscale.tensor<120x384xf8E4M3FN, "float32_t128_t128">
func.func @tiles(%a: !t, %b: !u, %c: tensor<4x40x120xf32>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[128, 128, 256, 384]> : tensor<4xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) c(%c) : !t, !u, tensor<4x40x120xf32> -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

!z = !blockscale.tensor<120x384xui4, "float32_int8_t128">
func.func @zero_points(%a: !t, %b: !z) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[0, 256, 256, 384]> : tensor<4xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !t, !z -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

// LAUNCHES-LABEL: func.func @quantized
// LAUNCHES: launch_into {{.*}}"k_offsets", "tensor_scale"]
// LAUNCHES-SAME: -> tensor<4x40x128xf4E2M1FN>
!n = !blockscale.tensor<128x128xbf16>
!q = !blockscale.tensor<4x40x128xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
func.func @quantized(%a: !a, %b: !n, %t: tensor<4xf32>) -> tensor<4x40x128xf32> {
  %ends = arith.constant dense<[48, 48, 64, 112]> : tensor<4xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !a, !n -> tensor<4x40x128xbf16>
  %1 = blockscale.quantize %0 tensor_scale(%t : tensor<4xf32>) : tensor<4x40x128xbf16> to !q
  %2 = blockscale.dequantize %1 : !q to tensor<4x40x128xf32>
  return %2 : tensor<4x40x128xf32>
}
