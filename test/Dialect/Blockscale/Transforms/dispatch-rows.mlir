// Kernels for few rows beside the one for any number of them.

// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-dispatch-rows="rows=16,64" | FileCheck %s
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-dispatch-rows | FileCheck %s --check-prefix=AUTO
// RUN: blockscale-opt %s -blockscale-legalize-scales -blockscale-dispatch-rows="rows=16,64" -blockscale-select-schedule -blockscale-form-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: not blockscale-opt %s -blockscale-legalize-scales -blockscale-dispatch-rows="rows=16,8" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not blockscale-opt %s -blockscale-dispatch-rows="rows=16" 2>&1 | FileCheck %s --check-prefix=KIND

// ORDER: rows to dispatch by are 'auto', or numbers from 1 on, ascending and separated by commas, such as '16,512'; found '16,8'
// KIND: has no 'mma' attribute; run 'blockscale-legalize-scales' first

!x = !blockscale.tensor<?x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!known = !blockscale.tensor<40x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// One tile of 16 columns holds all rows there may be, which without a limit would
// be several; where K is split one cluster has the parts.
// CHECK-LABEL: func.func @unknown
// CHECK: blockscale.variants = [#blockscale.variant<most_rows = 16, {{.*}}schedule = <tile_m = 128, tile_n = 16,{{.*}}swap_operands = true{{.*}}split_k = 8, cluster_k = 8, dependent_launch = true>>, #blockscale.variant<most_rows = 64, {{.*}}tile_n = 64{{.*}}>]
// AUTO-LABEL: func.func @unknown
// AUTO: blockscale.variants = [#blockscale.variant<most_rows = {{[0-9]+}}, {{.*}}split_k{{.*}}>, #blockscale.variant<most_rows = {{[0-9]+}},

// KERNELS-LABEL: gpu.module @kernels
// KERNELS: gpu.func @unknown(
// KERNELS-SAME: blockscale.product = #blockscale.product<{{[^$]*}}mma = <kind = mxf8f6f4,
// KERNELS-NOT: variant_of = "unknown"
// KERNELS: gpu.func @unknown_m16(
// KERNELS-SAME: cluster = 8
// KERNELS-SAME: most_rows = 16, variant_of = "unknown"
// KERNELS: gpu.func @unknown_m64(
// KERNELS-SAME: most_rows = 64, variant_of = "unknown"
// KERNELS: gpu.func @fixed_tile(
// KERNELS: gpu.func @fixed_tile_m16(
// KERNELS: gpu.func @known(
// KERNELS-NOT: gpu.func @known_m
func.func @unknown(%x: !x, %w: !w) -> tensor<?x576xf32> {
  %d = blockscale.matmul %x, %w : !x, !w -> tensor<?x576xf32>
  return %d : tensor<?x576xf32>
}

// What the user fixes is fixed in all of them.
// CHECK-LABEL: func.func @fixed_tile
// CHECK: most_rows = 16, {{.*}}tile_n = 128, {{.*}}cta_group = 1, {{.*}}most_rows = 64, {{.*}}tile_n = 128, {{.*}}cta_group = 1,
func.func @fixed_tile(%x: !x, %w: !w) -> tensor<?x576xf32> {
  %d = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 128, cta_group = 1>) : !x, !w -> tensor<?x576xf32>
  return %d : tensor<?x576xf32>
}

// CHECK-LABEL: func.func @known
// CHECK-NOT: blockscale.variants
// AUTO-LABEL: func.func @known
// AUTO-NOT: blockscale.variants
func.func @known(%x: !known, %w: !w) -> tensor<40x576xf32> {
  %d = blockscale.matmul %x, %w : !known, !w -> tensor<40x576xf32>
  return %d : tensor<40x576xf32>
}
