// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-nki-legalize

!a = !blockscale.tensor<?x512xf8E4M3FN, "e8m0_t32">
!b = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @dynamic(%a: !a, %b: !b) -> tensor<?x4xf32> {
  // expected-error @below {{operand 'a' has a dynamic size: shapes of an NKI kernel are constants of its compilation (NKI Language Guide); nearest legal: one kernel for each size}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf6E2M3FN, "e8m0_t32">
func.func @type(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{type 'e2m3' of the stationary is not legal for 'nc_matmul_mx' on 'trn3': expected 'e4m3' (float8_e4m3fn_x4), 'e5m2' (float8_e5m2_x4) or 'e2m1' (float4_e2m1fn_x4) (NKI API reference, nki.isa.nc_matmul_mx, Data types); nearest legal: type 'e4m3' of the stationary, type 'e4m3' of the moving}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf4E2M1FN, "e4m3fn_t16">
func.func @nvfp4(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' with spec 'e4m3fn_t16': scale 'ue4m3' is not legal for 'nc_matmul_mx' on 'trn3': expected 'ue8m0' (NKI API reference, nki.isa.nc_matmul_mx, introduction); nearest legal: scale 'ue8m0', block 32}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf4E2M1FN, "e8m0_t16">
func.func @block(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' with spec 'e8m0_t16': block 16 is not legal for 'nc_matmul_mx' on 'trn3': expected 32: 8 partitions by 4 packed elements (NKI API reference, nki.isa.nc_matmul_mx, introduction); nearest legal: block 32}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN>
func.func @unscaled(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a': an operand without scales is not legal for 'nc_matmul_mx' on 'trn3': expected stationary_scale and moving_scale (NKI API reference, nki.isa.nc_matmul_mx, Parameters); nearest legal: one scale per 32, such as 1}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!a = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32n2m4">
!b = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t64">
func.func @sparse(%a: !a, %b: !b) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' with spec 'e8m0_t32n2m4': structured sparsity is not legal for 'nc_matmul_mx' on 'trn3': expected dense operands, such as those of 'blockscale.densify': there is no operand for metadata (NKI API reference, nki.isa.nc_matmul_mx, Parameters); nearest legal: dense operands}}
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "float32_t0">
func.func @channel(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' with spec 'float32_t0': a scale that covers whole rows is no scale of tiles of 32 along K (NKI API reference, nki.isa.nc_matmul_mx, introduction); nearest legal: spec 'e8m0_t32' with equal scales in each row}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "float32_t128">
func.func @float_scales(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{are not 'ue8m0' (NKI API reference, nki.isa.nc_matmul_mx, introduction); nearest legal: 'e8m0'}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @layout(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' has its scales in layout 'tiled_128x4', which another vendor's tensor cores read: expected rows by blocks of 32, which the host spreads over quadrants (MXFP Matrix Multiplication with NKI, Scale Tensor); nearest legal: 'plain'}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @row_tile(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{row_tile = 32 is for products of at most 128 along K, which one instruction covers, found K = 512 (NKI API reference, nki.isa.nc_matmul_mx, Tiling mode); nearest legal: row_tile = 128}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3", row_tile = 32>} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x128xf8E4M3FN, "e8m0_t32">
func.func @idle_rows(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{row_tile = 64 leaves rows idle for K = 128, which 32 partitions hold (NKI API reference, nki.isa.nc_matmul_mx, Tiling mode); nearest legal: row_tile = 32}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3", row_tile = 64>} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x128xf8E4M3FN, "e8m0_t32">
func.func @banks(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{block_m = 8 with 4 instructions side by side needs more than the 8 banks of PSUM (Trainium3 Architecture Guide for NKI); nearest legal: block_m = 2}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3", block_m = 8>} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @odd_tile(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{M = 63 is not legal for 'nc_matmul_mx' on 'trn3': expected an even number from 2 to 128}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3", tile_m = 63>} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @wide_tile(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{tile_n = 1024 does not fit into a bank of PSUM: at most 512 columns of float32}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3", tile_n = 1024>} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @older_chip(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{target 'trn2' is a NeuronCore-v3 without block-scaled instructions}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn2">} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @floor(%x: tensor<4x512xbf16>) -> !t {
  // expected-error @below {{chooses scales by rule 'floor', but quantize_mx takes twice the scale of 'floor' (NKI API reference, nki.isa.quantize_mx, introduction); nearest legal: rule(floor_plus_one)}}
  %0 = blockscale.quantize %x : tensor<4x512xbf16> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @rounding(%x: tensor<4x512xbf16>) -> !t {
  // expected-error @below {{rounds elements by 'away', which quantize_mx has no choice of; nearest legal: rounding(even)}}
  %0 = blockscale.quantize %x rule(floor_plus_one) rounding(away) : tensor<4x512xbf16> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @source(%x: tensor<4x512xf32>) -> !t {
  // expected-error @below {{src of type 'float32' is not legal for 'quantize_mx' on 'trn3': expected 'float16' or 'bfloat16'}}
  %0 = blockscale.quantize %x rule(floor_plus_one) : tensor<4x512xf32> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xf4E2M1FN, "e8m0_t32">
func.func @fp4(%x: tensor<4x512xbf16>) -> !t {
  // expected-error @below {{dst of 'e2m1' is not legal for 'quantize_mx' on 'trn3'}}
  %0 = blockscale.quantize %x rule(floor_plus_one) : tensor<4x512xbf16> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t64">
func.func @spec(%x: tensor<4x512xbf16>) -> !t {
  // expected-error @below {{spec 'e8m0_t64' is not what quantize_mx makes: one 'ue8m0' for 8 partitions by 4 values (NKI API reference, nki.isa.quantize_mx, Layout); nearest legal: 'e8m0_t32'}}
  %0 = blockscale.quantize %x rule(floor_plus_one) : tensor<4x512xbf16> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @other_revision(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{is configured for 'trn3@2026-04', but compiled for 'trn3'}}
  %0 = blockscale.matmul %a, %a {blockscale_nki.config = #blockscale_nki.config<target = "trn3@2026-04">} : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @other_chip(%a: !t) -> tensor<4x4xf32> attributes {blockscale.target = #blockscale.target<sm_103a>} {
  // expected-error @below {{is for chip 'sm_103a', which 'blockscale.target' names, but compiled for 'trn3'}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @tiles_of_quantize(%x: tensor<4x512xbf16>) -> !t {
  // expected-error @below {{'blockscale_nki.config' of a quantisation names a target only: its tiles are not chosen}}
  %0 = blockscale.quantize %x rule(floor_plus_one) {blockscale_nki.config = #blockscale_nki.config<target = "trn3", tile_m = 64>} : tensor<4x512xbf16> to !t
  return %0 : !t
}

// -----

!t = !blockscale.tensor<4x512xui8, "float16_int8_t32">
func.func @zero_point(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' with spec 'float16_int8_t32': a zero point is not legal for 'nc_matmul_mx' on 'trn3': expected scales alone: there is no operand for zero points (NKI API reference, nki.isa.nc_matmul_mx, Parameters); nearest legal: no zero points}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FN, "e8m0_t32">
func.func @other_vendor(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{has an 'mma' or 'schedule' attribute, which is of NVIDIA's instructions; expected 'blockscale_nki.config' or nothing}}
  %0 = blockscale.matmul %a, %a schedule(#blockscale.schedule<stages = 2>) : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// expected-error @below {{unknown attribute 'blockscale_nki.speed', the dialect has 'blockscale_nki.config'}}
func.func @attribute() attributes {blockscale_nki.speed = 1 : i32} {
  return
}

// -----

!t = !blockscale.tensor<4x9223372036854775776xf8E4M3FN, "e8m0_t32">
func.func @counted(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' has more than 72057594037927936 elements, the most that are counted here}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!t = !blockscale.tensor<4x512xf8E4M3FNUZ, "e8m0_t32">
func.func @element_without_format(%a: !t) -> tensor<4x4xf32> {
  // expected-error @below {{operand 'a' has elements of 'f8E4M3FNUZ', which NKI has no packed type for (NKI API reference, nki.isa.nc_matmul_mx, Data types); nearest legal: f8E4M3FN}}
  %0 = blockscale.matmul %a, %a : !t, !t -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

!a = !blockscale.tensor<8x512xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!b = !blockscale.tensor<2x4x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%a: !a, %b: !b, %ends: tensor<2xi32>) -> tensor<8x4xf32> {
  // expected-error @below {{has 'groups', which 'trn3' does not multiply; expected a product of two matrices}}
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<2xi32>) : !a, !b -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

!a = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
func.func @pairs(%a: !a) -> tensor<128x64xf32> {
  // expected-error @below {{has 'pairs', of which 'trn3' makes no result; expected one column of it for each of the product}}
  %0 = blockscale.matmul %a, %a pairs epilogue(%x, %up) {
    blockscale.yield %up
  } : !a, !a -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}
