// Floats of 8 and 6 bits become f32 by their bits, numbers and vectors; what upstream
// expands stays.

// RUN: blockscale-opt %s --blockscale-expand-fp4 | FileCheck %s

// CHECK-LABEL: func.func @nan_alone
// CHECK-NOT: arith.extf
// CHECK: arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK: arith.cmpi ugt
// CHECK-NOT: arith.cmpi eq
// CHECK: return %{{.*}} : f32
func.func @nan_alone(%x: f8E4M3FN) -> f32 {
  %0 = arith.extf %x : f8E4M3FN to f32
  return %0 : f32
}

// CHECK-LABEL: func.func @infinities
// CHECK: arith.cmpi ugt
// CHECK: arith.cmpi eq
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
func.func @infinities(%x: vector<4xf8E5M2>) -> vector<4xf16> {
  %0 = arith.extf %x : vector<4xf8E5M2> to vector<4xf16>
  return %0 : vector<4xf16>
}

// CHECK-LABEL: func.func @numbers_alone
// CHECK-NOT: arith.cmpi
// CHECK: return
func.func @numbers_alone(%x: f6E2M3FN) -> f32 {
  %0 = arith.extf %x : f6E2M3FN to f32
  return %0 : f32
}

// CHECK-LABEL: func.func @upstream
// CHECK: arith.extf %{{.*}} : f4E2M1FN to f32
// CHECK: arith.extf %{{.*}} : f8E8M0FNU to f32
// CHECK: arith.extf %{{.*}} : bf16 to f32
func.func @upstream(%x: f4E2M1FN, %y: f8E8M0FNU, %z: bf16) -> (f32, f32, f32) {
  %0 = arith.extf %x : f4E2M1FN to f32
  %1 = arith.extf %y : f8E8M0FNU to f32
  %2 = arith.extf %z : bf16 to f32
  return %0, %1, %2 : f32, f32, f32
}
