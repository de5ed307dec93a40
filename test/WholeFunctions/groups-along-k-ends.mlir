// Groups along K that end where kernels do not let them: a product for each of them where
// the program says so, and a program that stops where only its caller does. What verify
// draws for such an argument kernels take.

// RUN: rm -rf %t && split-file %s %t
// RUN: blockscale verify %t/known.mlir --conditions=plain --data=exact --k=128 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN-DAG: remark: becomes a loop with a product for each group: group 0 along K ends at element 32, and a kernel with these operands lets groups end at multiples of 128; expected zeros behind its elements, up to the next one
// KNOWN-DAG: {{^}}six_bits exact 128 4 19200 0 0 0 pass
// KNOWN-DAG: remark: becomes a loop with a product for each group: group 1 along K ends at element 50, and a kernel with these operands lets groups end at multiples of 16; expected zeros behind its elements, up to the next one
// KNOWN-DAG: {{^}}sixteen_bits exact 128 4 19200 0 0 0 pass

// RUN: blockscale verify %t/given.mlir --conditions=plain --data=exact --k=512 | FileCheck %s --check-prefix=GIVEN
// RUN: blockscale verify %t/given.mlir --conditions=plain --data=random --seed=5 --k=512 | FileCheck %s --check-prefix=GIVEN
// GIVEN: function
// GIVEN-DAG: {{^}}mixed {{exact|random}} 512 1 {{.*}} pass
// GIVEN-DAG: {{^}}words {{exact|random}} 512 1 {{.*}} pass
// GIVEN-DAG: {{^}}in_loop {{exact|random}} 512 {{[23]}} {{.*}} pass

// RUN: blockscale compile --emit=host-linalg %t/given.mlir | FileCheck %s --check-prefix=CHECKED
// CHECKED-LABEL: func.func @mixed
// CHECKED: scf.for
// CHECKED: arith.remsi %{{.*}}, %c128
// CHECKED: cf.assert %{{.*}}, "'blockscale.matmul': a group along K does not end at a multiple of 128 elements, as the kernel lets groups end; expected zeros behind its elements, up to the next one"
// CHECKED: launch_into
// CHECKED-LABEL: func.func @words
// CHECKED: %[[REST:.*]] = arith.remsi %[[END:.*]], %c16
// CHECKED: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]]
// CHECKED: %[[LAST:.*]] = arith.cmpi eq, %[[END]]
// CHECKED: arith.ori %[[EVEN]], %[[LAST]]
// CHECKED: cf.assert %{{.*}}, "'blockscale.matmul': a group along K does not end at a multiple of 16 elements

//--- known.mlir
!s = !blockscale.tensor<40x?xf6E2M3FN, "e8m0_t32", layout = grouped_128x4>
!c = !blockscale.tensor<120x?xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @six_bits(%a: tensor<40x?xf6E2M3FN>, %b: tensor<120x?xf8E4M3FN>, %s: tensor<1x4x32x16xf8E8M0FNU>, %t: tensor<1x4x32x16xf8E8M0FNU>) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[32, 96, 96, 128]> : tensor<4xi32>
  %some = tensor.cast %s : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %others = tensor.cast %t : tensor<1x4x32x16xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %x = blockscale.assemble %a, %some : tensor<40x?xf6E2M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !s
  %w = blockscale.assemble %b, %others : tensor<120x?xf8E4M3FN>, tensor<?x?x32x16xf8E8M0FNU> to !c
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !s, !c -> tensor<4x40x120xf32>
  return %0 : tensor<4x40x120xf32>
}

!left = !blockscale.tensor<40x?xbf16>
!right = !blockscale.tensor<120x?xbf16>
func.func @sixteen_bits(%a: !left, %b: !right) -> tensor<4x40x120xf32> {
  %ends = arith.constant dense<[16, 50, 50, 128]> : tensor<4xi32>
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<4xi32>) : !left, !right -> tensor<4x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<4x40x120xf32>
  return %1 : tensor<4x40x120xf32>
}

//--- given.mlir
!s = !blockscale.tensor<40x?xf4E2M1FN>
!c = !blockscale.tensor<120x?xf8E4M3FN>
func.func @mixed(%a: !s, %b: !c, %ends: tensor<5xi32>) -> tensor<5x40x120xf32> {
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<5xi32>) : !s, !c -> tensor<5x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<5x40x120xf32>
  return %1 : tensor<5x40x120xf32>
}

!left = !blockscale.tensor<40x?xbf16>
!right = !blockscale.tensor<120x?xbf16>
func.func @words(%a: !left, %b: !right, %ends: tensor<4xi32>) -> tensor<?x40x120xf32> {
  %some = tensor.cast %ends : tensor<4xi32> to tensor<?xi32>
  %0 = blockscale.matmul %a, %b groups(%some : tensor<?xi32>) : !left, !right -> tensor<?x40x120xf32>
  %1 = arith.addf %0, %0 : tensor<?x40x120xf32>
  return %1 : tensor<?x40x120xf32>
}

// Operands that a loop passes on.
func.func @in_loop(%a: !left, %b: !right, %ends: tensor<4xi32>, %init: tensor<4x40x120xf32>, %times: index) -> tensor<4x40x120xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %all:3 = scf.for %i = %zero to %times step %one iter_args(%d = %init, %x = %a, %w = %b) -> (tensor<4x40x120xf32>, !left, !right) {
    %0 = blockscale.matmul %x, %w groups(%ends : tensor<4xi32>) : !left, !right -> tensor<4x40x120xf32>
    %1 = arith.addf %d, %0 : tensor<4x40x120xf32>
    scf.yield %1, %x, %w : tensor<4x40x120xf32>, !left, !right
  }
  return %all#0 : tensor<4x40x120xf32>
}
