// Elements that are indices into tables: names of data types, parts, slices.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --emit-bytecode | blockscale-opt | FileCheck %s

// A name is the spec it stands for.
// CHECK-LABEL: @names
// CHECK-SAME: !blockscale.tensor<4x32x!blockscale.codebook<"cb81ie_int9">, "e8m0_t16s2">
// CHECK-SAME: !blockscale.tensor<4x32x!blockscale.codebook<"cb51ie_int7">, "e8m0_t16s2">
// CHECK-SAME: !blockscale.tensor<4x32x!blockscale.codebook<"cb31ie_int5">, "e8m0_t16s2">
// CHECK-SAME: !blockscale.tensor<4x32x!blockscale.codebook<"cb41f01_e2m2fnuz">, "e8m0_t32s4">
// CHECK-SAME: !blockscale.tensor<4x32x!blockscale.codebook<"cb42fe0123_e3m2fnuz">, "e8m0_t32s8">
func.func private @names(
  !blockscale.tensor<4x32x!blockscale.codebook<"cb81ie_int9">, "mx9">,
  !blockscale.tensor<4x32x!blockscale.codebook<"cb51ie_int7">, "mx6">,
  !blockscale.tensor<4x32x!blockscale.codebook<"cb31ie_int5">, "mx4">,
  !blockscale.tensor<4x32x!blockscale.codebook<"cb41f01_e2m2fnuz">, "mxfp4m">,
  !blockscale.tensor<4x32x!blockscale.codebook<"cb42fe0123_e3m2fnuz">, "mxfp4e">)

// 48 elements are 24 subtiles of 2, whose numbers take 3 bytes.
!mx6 = !blockscale.tensor<6x48x!blockscale.codebook<"cb51ie_int7">, "mx6">
// CHECK-LABEL: @parts
func.func @parts(%data: tensor<6x48xi5>, %scales: tensor<6x3xf8E8M0FNU>, %tables: tensor<6x3xi8>) -> tensor<6x3xi8> {
  // CHECK: blockscale.assemble %{{.*}}, %{{.*}} metadata(%{{.*}} : tensor<6x3xi8>) : tensor<6x48xi5>, tensor<6x3xf8E8M0FNU> to
  %0 = blockscale.assemble %data, %scales metadata(%tables : tensor<6x3xi8>) : tensor<6x48xi5>, tensor<6x3xf8E8M0FNU> to !mx6
  %1:3 = blockscale.disassemble %0 : !mx6
  return %1#2 : tensor<6x3xi8>
}

// Subtiles of 4 rows by 8 columns, 2 bits each: four to a byte.
!squares = !blockscale.tensor<2x?x64x!blockscale.codebook<"cb42f1346_e2m3fnuz">, "e8m0_t32s4_t32s8">
// CHECK-LABEL: @squares
// CHECK-SAME: tensor<2x?x2xi8>
func.func @squares(%data: tensor<2x?x64xi4>, %scales: tensor<2x?x2xf8E8M0FNU>, %tables: tensor<2x?x2xi8>) -> !squares {
  %0 = blockscale.assemble %data, %scales metadata(%tables : tensor<2x?x2xi8>) : tensor<2x?x64xi4>, tensor<2x?x2xf8E8M0FNU> to !squares
  return %0 : !squares
}

// Scales in tiles, numbers of tables row by row.
!tiled = !blockscale.tensor<130x64x!blockscale.codebook<"cb41fi_e2m2fnuz">, "mxfi4", layout = tiled_128x4>
// CHECK-LABEL: @tiled
func.func @tiled(%data: tensor<130x64xi4>, %scales: tensor<2x1x32x16xf8E8M0FNU>, %tables: tensor<130x2xi8>) -> !tiled {
  %0 = blockscale.assemble %data, %scales metadata(%tables : tensor<130x2xi8>) : tensor<130x64xi4>, tensor<2x1x32x16xf8E8M0FNU> to !tiled
  return %0 : !tiled
}
