// Dynamic sizes of whole functions: those that the function wants to be equal are,
// all others differ, and each can be given.

// RUN: blockscale verify %s --m=40 --conditions=plain --data=exact | FileCheck %s
// CHECK-DAG: {{^}}general exact 40,512,640,256 2 10240 0 0 0 pass
// CHECK-DAG: {{^}}parts exact 40,1 1 2560 0 0 0 pass
// CHECK-DAG: {{^}}sized exact 40,168 1 3584 0 0 0 pass
// CHECK-DAG: {{^}}loops exact 40,2 1 5120 0 0 0 pass
// CHECK-DAG: {{^}}wide exact 256,64 1 65536 0 0 0 pass

// RUN: blockscale verify %s --n=24 --k=128 --sizes=general.0.0=8,general.2.0=72 --sizes=loops.2.0=3 \
// RUN:   --sizes=0.1=96 --conditions=plain --data=exact | FileCheck %s --check-prefix=GIVEN
// GIVEN-DAG: {{^}}general exact 8,96,128,72 2 576 0 0 0 pass
// GIVEN-DAG: {{^}}loops exact 256,3 1 49152 0 0 0 pass

// RUN: not blockscale verify %s --sizes=general.0=8 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: blockscale: error: --sizes: expected [FUNCTION.]ARGUMENT.DIMENSION=SIZE, such as 'mlp.0.0=40', found 'general.0=8'
// RUN: not blockscale verify %s --sizes=wide.0.2=8 --data=exact --conditions=plain 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not blockscale verify %s --sizes=general.0.1=33 --data=exact --conditions=plain 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not blockscale verify %s --sizes=nobody.0.0=8 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: error: size 0.0 of 'nobody' is given, but no such function is called, only 'general'
// RUN: not blockscale verify %s --sizes=7.0=8 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: size 7.0 is given, but none of 'general', {{.*}} has such a dynamic dimension
// RUN: not blockscale verify %s --sizes=general.0.0=8,general.0.0=16 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: size 0.0 of 'general' is given twice
// RUN: not blockscale verify %s --host-duties --sizes=0.0=8 2>&1 | FileCheck %s --check-prefix=UNCALLED
// UNCALLED: error: --sizes gives those of whole functions, none of which is called here; --m, --n, --k and --batch give those of products
// ILLEGAL: general, exact data: sizes for '!blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>': expected the last dimension, K, to be a multiple of 32, the tile of 'e8m0_t32', found 33
// STATIC: wide, exact data: size 0.2 of 'wide' is given, but it has no such dynamic dimension

!x = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x?xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

// Four sizes: M, K, the N of the first product, which is K of the second, and its
// N.
func.func @general(%x: !x, %w: !x, %v: !x, %scale: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<?x?xf32>
  %z = arith.mulf %y, %scale : tensor<?x?xf32>
  %h = blockscale.quantize %z : tensor<?x?xf32> to !h
  %r = blockscale.matmul %h, %v : !h, !x -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Parts that come in alone have the sizes of what is made of them.
!p = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @parts(%data: tensor<?x256xf8E4M3FN>, %scales: tensor<?x2x32x16xf8E8M0FNU>, %w: !w) -> tensor<?x64xf32> {
  %x = blockscale.assemble %data, %scales : tensor<?x256xf8E4M3FN>, tensor<?x2x32x16xf8E8M0FNU> to !p
  %y = blockscale.matmul %x, %w : !p, !w -> tensor<?x64xf32>
  %z = arith.addf %y, %y : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// A number that is a size; it is no size of the product.
func.func @sized(%x: !p, %w: !w, %n: index, %other: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %y = blockscale.matmul %x, %w : !p, !w -> tensor<?x64xf32>
  %zero = arith.constant 1.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %ones = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = arith.addf %ones, %other : tensor<?x64xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %z, %c0 : tensor<?x64xf32>
  %few = tensor.extract_slice %z[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
  %more = tensor.cast %few : tensor<16x64xf32> to tensor<?x64xf32>
  %t = arith.addf %y, %y : tensor<?x64xf32>
  return %t, %more : tensor<?x64xf32>, tensor<?x64xf32>
}

// A batch of additions in a loop: the number of them is the first dimension.
func.func @loops(%x: !p, %w: !w, %all: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %y = blockscale.matmul %x, %w : !p, !w -> tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%y : tensor<?x64xf32>) outs(%all : tensor<?x?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<?x?x64xf32>
  return %r : tensor<?x?x64xf32>
}

// What is static in one place is so in all.
func.func @wide(%b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = tensor.cast %b : tensor<?x?xf32> to tensor<?x64xf32>
  %q = blockscale.quantize %c : tensor<?x64xf32> to !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
  %y = blockscale.matmul %q, %q : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
