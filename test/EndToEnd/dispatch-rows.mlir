// Kernels for few rows of one product, each on the emulator: with the numbers of
// rows that it takes, whatever is asked for, and with their operations at once and
// as late as they may.

// RUN: blockscale verify %s --dispatch-rows=16,64 --m=9,16,40,64,129 --tiles=3 > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: blockscale verify %s --dispatch-rows=16,64 --m=16,64 --data=exact --completion=latest --tiles=3 > %t.latest.txt
// RUN: FileCheck %s --check-prefix=LATEST < %t.latest.txt
// RUN: blockscale verify %s --dispatch-rows=8 --m=40 --target=sm_120a --data=exact --tiles=2 | FileCheck %s --check-prefix=WARPS
// RUN: blockscale verify %s --dispatch-rows=16 --m=40 --target=sm_107a --data=exact --tiles=2 | FileCheck %s --check-prefix=WIDE

// CHECK-DAG: {{^}}proj exact 129x576x7168 {{.*}} pass
// CHECK-DAG: {{^}}proj random 9x576x7168 {{.*}} pass
// CHECK-DAG: {{^}}proj_m16 exact 9x576x7168 {{.*}} pass
// CHECK-DAG: {{^}}proj_m16 random 16x576x7168 {{.*}} pass
// CHECK-DAG: {{^}}proj_m64 exact 40x576x7168 {{.*}} pass
// CHECK-DAG: {{^}}proj_m64 random 64x576x7168 {{.*}} pass
// CHECK-NOT: proj_m16 {{[a-z]+}} 40x
// CHECK-NOT: FAIL
// LATEST-DAG: {{^}}proj_m16 exact 16x576x7168 {{.*}} pass
// LATEST-DAG: {{^}}proj_m64 exact 64x576x7168 {{.*}} pass
// LATEST-NOT: FAIL
// No number that was asked for is small enough: then the largest that it takes.
// WARPS-DAG: {{^}}proj_m8 exact 8x576x7168 {{.*}} pass
// WIDE-DAG: {{^}}proj_m16 exact 16x576x7168 {{.*}} pass

// A launch by the plan takes the kernel for its rows, here up to where it wants
// operands; one by the name of a kernel for few rows is refused more.
// RUN: blockscale compile %s --dispatch-rows=16,64 --no-cubin -o %t
// RUN: not blockscale emulate %t/dispatch-rows.ptx --plan=%t/dispatch-rows.plan.json --set=M=9 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not blockscale emulate %t/dispatch-rows.ptx --plan=%t/dispatch-rows.plan.json --set=M=17 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not blockscale emulate %t/dispatch-rows.ptx --plan=%t/dispatch-rows.plan.json --set=M=65 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not blockscale emulate %t/dispatch-rows.ptx --plan=%t/dispatch-rows.plan.json --kernel=proj_m16 --set=M=17 2>&1 | FileCheck %s --check-prefix=TOO-MANY
// FEW: kernel 'proj_m16': no data for parameter 'a_data'
// MORE: kernel 'proj_m64': no data for parameter 'a_data'
// MANY: kernel 'proj': no data for parameter 'a_data'
// TOO-MANY: size 'M' is 17; expected 1 to 16

!x = !blockscale.tensor<?x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<576x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @proj(%x: !x, %w: !w) -> tensor<?x576xf32> {
  %d = blockscale.matmul %x, %w : !x, !w -> tensor<?x576xf32>
  return %d : tensor<?x576xf32>
}
