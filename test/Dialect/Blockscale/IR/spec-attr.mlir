// RUN: blockscale-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @specs(
// CHECK-SAME: a = #blockscale.spec<"multi_float32_e4m3fn_t16">
// CHECK-SAME: b = #blockscale.spec<"float16_int8_t16n2m4">
// CHECK-SAME: c = #blockscale.spec<"float32_t128_t128">
// CHECK-SAME: d = #blockscale.spec<"e8m0">
func.func private @specs() attributes {
  a = #blockscale.spec<"multi_float32_e4m3fn_t16">,
  b = #blockscale.spec<"float16_int8_t16n2m4">,
  c = #blockscale.spec<"float32_t128_t128">,
  d = #blockscale.spec<"e8m0">}

// -----

// Two spellings of one spec are one attribute.
// CHECK-LABEL: func.func private @canonical(
// CHECK-SAME: a = #blockscale.spec<"float32_t0">
// CHECK-SAME: b = #blockscale.spec<"float32_t0">
func.func private @canonical() attributes {
  a = #blockscale.spec<"E8M23_T0">, b = #blockscale.spec<"float32_t">}

// -----

// expected-error @below {{illegal scale spec 'e8m0_t3': tile 't3' has size 3, expected a power of two from 4 to 256, or 0 for the whole dimension}}
func.func private @tile() attributes {a = #blockscale.spec<"e8m0_t3">}

// -----

// expected-error @below {{illegal scale spec '': scale spec has an empty segment}}
func.func private @empty() attributes {a = #blockscale.spec<"">}

// -----

// expected-error @below {{illegal scale spec 'n2m4_t32': sparsity 'n2m4' stands beside a tile, expected it in the tile of the scale, such as 't32n2m4', behind one scale for the tensor, such as 'float32_n2m4', or alone for a tensor without scales}}
func.func private @sparse_beside_scale() attributes {a = #blockscale.spec<"n2m4_t32">}

// -----

// expected-error @below {{illegal scale spec 'n2m3': sparsity 'n2m3' keeps elements of groups of 3, expected 2, 4, 8 or 16}}
func.func private @sparse_groups() attributes {a = #blockscale.spec<"n2m3">}

// -----

// expected-error @below {{illegal scale spec 'fp8_t32': 'fp8' is not a number spec; write 'e4m3fn'}}
func.func private @data_type_name() attributes {a = #blockscale.spec<"fp8_t32">}

// -----

// expected-error @below {{expected string}}
func.func private @bare() attributes {a = #blockscale.spec<e8m0_t32>}
