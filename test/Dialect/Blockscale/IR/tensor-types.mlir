// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func private @nvfp4(
// CHECK-SAME: !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">
func.func private @nvfp4(!blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">)

// CHECK-LABEL: func.func private @batched_tiled(
// CHECK-SAME: !blockscale.tensor<8x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func private @batched_tiled(!blockscale.tensor<8x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>)

// CHECK-LABEL: func.func private @mn_major(
// CHECK-SAME: !blockscale.tensor<256x512xf8E5M2, "e8m0_t32", layout = tiled_128x4, order = mn_major>
func.func private @mn_major(!blockscale.tensor<256x512xf8E5M2, "e8m0_t32", order = mn_major, layout = tiled_128x4>)

// Defaults may be written and are not printed.
// CHECK-LABEL: func.func private @defaults(
// CHECK-SAME: !blockscale.tensor<256x512xf6E3M2FN, "e8m0_t32">)
func.func private @defaults(!blockscale.tensor<256x512xf6E3M2FN, "e8m0_t32", layout = plain, order = k_major>)

// CHECK-LABEL: func.func private @integers(
// CHECK-SAME: !blockscale.tensor<?x?xi8, "e8m0_t32">
// CHECK-SAME: !blockscale.tensor<64x128xi4, "float32_t128_t128">
// CHECK-SAME: !blockscale.tensor<64x128xui4, "float16_int8_t16">
func.func private @integers(!blockscale.tensor<?x?xi8, "e8m0_t32">,
                            !blockscale.tensor<64x128xi4, "float32_t128_t128">,
                            !blockscale.tensor<64x128xui4, "float16_int8_t16">)

// Names of data types stand for their specs.
// CHECK-LABEL: func.func private @named(
// CHECK-SAME: !blockscale.tensor<64x128xf4E2M1FN, "e8m0_t32">
// CHECK-SAME: !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// CHECK-SAME: !blockscale.tensor<64x128xf4E2M1FN, "e4m3_t16">
// CHECK-SAME: !blockscale.tensor<64x128xi8, "float32_t0">
// CHECK-SAME: !blockscale.tensor<64x128xi8, "e8m0_t8">
// CHECK-SAME: !blockscale.tensor<64x128xf8E5M2, "float16">
// CHECK-SAME: !blockscale.tensor<64x128xui4, "float32_int8_t0">
// CHECK-SAME: !blockscale.tensor<64x128xf8E4M3FN>
func.func private @named(!blockscale.tensor<64x128xf4E2M1FN, "mxfp4">,
                         !blockscale.tensor<64x128xf8E4M3FN, "mxfp8e4", layout = tiled_128x4>,
                         !blockscale.tensor<64x128xf4E2M1FN, "nvf4">,
                         !blockscale.tensor<64x128xi8, "int8_Fc">,
                         !blockscale.tensor<64x128xi8, "bfp16">,
                         !blockscale.tensor<64x128xf8E5M2, "bf8_f">,
                         !blockscale.tensor<64x128xui4, "uint4_Fic">,
                         !blockscale.tensor<64x128xf8E4M3FN, "fp8">)

// A tile of a sparse spec counts kept elements: 32 kept of 64.
// CHECK-LABEL: func.func private @sparse(
// CHECK-SAME: !blockscale.tensor<128x192xf6E2M3FN, "e8m0_t32n2m4">
func.func private @sparse(!blockscale.tensor<128x192xf6E2M3FN, "e8m0_t32n2m4">)

// Metadata in tiles, and scales that no instruction reads row by row.
// CHECK-LABEL: func.func private @float_tiles(
// CHECK-SAME: !blockscale.tensor<130x384xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>
func.func private @float_tiles(!blockscale.tensor<130x384xf8E4M3FN, "float32_t64n2m4", layout = tiled_128x4>)

// CHECK-LABEL: func.func private @aliases(
// CHECK-SAME: !blockscale.tensor<128x64xf8E4M3FNUZ, "float32_t0">
// CHECK-SAME: !blockscale.tensor<128x64xf8E5M2FNUZ, "float32">
func.func private @aliases(!blockscale.tensor<128x64xf8E4M3FNUZ, "e8m23_t">,
                           !blockscale.tensor<128x64xf8E5M2FNUZ, "FLOAT32">)
