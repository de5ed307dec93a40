// RUN: blockscale-opt %s --allow-unregistered-dialect --blockscale-fuse-epilogues | FileCheck %s

!a = !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!b = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!rows = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!whole = !blockscale.tensor<48x128xi8>

// A keyword means what is left of it.
// CHECK-LABEL: @keyword(
// CHECK: %[[D:.*]] = blockscale.matmul %{{.*}}, %{{.*}} activation(relu) : {{.*}} -> tensor<48x64xf32>
// CHECK-NEXT: return %[[D]]
func.func @keyword(%a: !a, %b: !b) -> tensor<48x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<48x64xf32>
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %1 = arith.maximumf %0, %zero : tensor<48x64xf32>
  return %1 : tensor<48x64xf32>
}

// SwiGLU of two products: the gate reads the other one as c.
// CHECK-LABEL: @swiglu(
// CHECK: %[[UP:.*]] = blockscale.matmul %{{.*}}, %{{[^ ]*}} : {{.*}} -> tensor<48x64xf32>
// CHECK: %[[D:.*]] = blockscale.matmul %{{.*}}, %{{.*}} c(%[[UP]]) epilogue(%[[X:.*]], %[[C:.*]]) {
// CHECK: %[[N:.*]] = arith.negf %[[X]] : f32
// CHECK: %[[E:.*]] = math.exp %[[N]] : f32
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[Q:.*]] = arith.divf %[[X]], %[[S]] : f32
// CHECK: %[[R:.*]] = arith.mulf %[[Q]], %[[C]] : f32
// CHECK: blockscale.yield %[[R]]
// CHECK: } : {{.*}}, tensor<48x64xf32> -> tensor<48x64xbf16>
// CHECK-NEXT: return %[[D]]
func.func @swiglu(%a: !a, %g: !b, %u: !b) -> tensor<48x64xbf16> {
  %one = arith.constant dense<1.0> : tensor<48x64xf32>
  %gate = blockscale.matmul %a, %g : !a, !b -> tensor<48x64xf32>
  %0 = arith.negf %gate : tensor<48x64xf32>
  %1 = math.exp %0 : tensor<48x64xf32>
  %2 = arith.addf %1, %one : tensor<48x64xf32>
  %3 = arith.divf %gate, %2 : tensor<48x64xf32>
  %up = blockscale.matmul %a, %u : !a, !b -> tensor<48x64xf32>
  %4 = arith.mulf %up, %3 : tensor<48x64xf32>
  %5 = arith.truncf %4 : tensor<48x64xf32> to tensor<48x64xbf16>
  return %5 : tensor<48x64xbf16>
}

// What linalg says element by element, with a bias behind a change of shape. The
// product was rounded to bf16, and still is.
// CHECK-LABEL: @body(
// CHECK-SAME: %[[BIAS:[a-z0-9]*]]: tensor<64xbf16>
// CHECK: %[[D:.*]] = blockscale.matmul %{{.*}}, %{{.*}} bias(%[[BIAS]]) epilogue(%[[X:.*]], %[[V:.*]]) {
// CHECK: %[[T:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: %[[W:.*]] = arith.extf %[[T]] : bf16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[W]], %[[V]] : f32
// CHECK: %[[R:.*]] = math.tanh %[[S]] : f32
// CHECK: blockscale.yield %[[R]]
// CHECK: } : {{.*}}, tensor<64xbf16> -> tensor<48x64xbf16>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[D]] {{\[}}[0, 1], [2]] output_shape [1, 48, 64] : tensor<48x64xbf16> into tensor<1x48x64xbf16>
// CHECK-NEXT: return %[[E]]
func.func @body(%a: !a, %b: !b, %v: tensor<64xbf16>) -> tensor<1x48x64xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xbf16>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [1, 48, 64] : tensor<48x64xbf16> into tensor<1x48x64xbf16>
  %2 = tensor.empty() : tensor<1x48x64xbf16>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %v : tensor<1x48x64xbf16>, tensor<64xbf16>) outs(%2 : tensor<1x48x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %before: bf16):
    %4 = arith.extf %x : bf16 to f32
    %5 = arith.extf %y : bf16 to f32
    %6 = arith.addf %4, %5 : f32
    %7 = math.tanh %6 : f32
    %8 = arith.truncf %7 : f32 to bf16
    linalg.yield %8 : bf16
  } -> tensor<1x48x64xbf16>
  return %3 : tensor<1x48x64xbf16>
}

// bf16 is added in f32 and rounded.
// CHECK-LABEL: @narrow(
// CHECK: epilogue(%[[X:.*]], %[[C:.*]]) {
// CHECK: %[[T:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: %[[W:.*]] = arith.extf %[[T]] : bf16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[W]], %[[C]] : f32
// CHECK: %[[T2:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK: %[[W2:.*]] = arith.extf %[[T2]] : bf16 to f32
// CHECK: arith.mulf %[[W2]], %[[W2]] : f32
// CHECK: tensor<48x64xbf16> -> tensor<48x64xbf16>
func.func @narrow(%a: !a, %b: !b, %c: tensor<48x64xbf16>) -> tensor<48x64xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xbf16>
  %1 = arith.addf %c, %0 : tensor<48x64xbf16>
  %2 = arith.mulf %1, %1 : tensor<48x64xbf16>
  return %2 : tensor<48x64xbf16>
}

// A number that multiplies the sum, a vector over the rows, a tensor: alpha, bias, c.
// A second tensor is left to the host.
// CHECK-LABEL: @inputs(
// CHECK-SAME: %[[N:[a-z0-9]*]]: tensor<f32>, %[[R:[a-z0-9]*]]: tensor<48xf32>, %[[C:[a-z0-9]*]]: tensor<48x64xf32>, %[[C2:[a-z0-9]*]]: tensor<48x64xf32>
// CHECK: %[[ALPHA:.*]] = tensor.extract %[[N]][] : tensor<f32>
// CHECK: %[[D:.*]] = blockscale.matmul %{{.*}}, %{{.*}} alpha(%[[ALPHA]]) c(%[[C]]) bias(%[[R]]) row epilogue(%[[X:.*]], %[[CX:.*]], %[[BX:.*]]) {
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[BX]] : f32
// CHECK-NEXT: %[[Q:.*]] = arith.subf %[[CX]], %[[P]] : f32
// CHECK-NEXT: blockscale.yield %[[Q]]
// CHECK: %[[S:.*]] = arith.addf %[[D]], %[[C2]] : tensor<48x64xf32>
// CHECK-NEXT: return %[[S]]
func.func @inputs(%a: !a, %b: !b, %n: tensor<f32>, %r: tensor<48xf32>, %c: tensor<48x64xf32>, %c2: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %empty = tensor.empty() : tensor<48x64xf32>
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %number = linalg.broadcast ins(%n : tensor<f32>) outs(%empty : tensor<48x64xf32>) dimensions = [0, 1]
  %1 = arith.mulf %number, %0 : tensor<48x64xf32>
  %rows = linalg.broadcast ins(%r : tensor<48xf32>) outs(%empty : tensor<48x64xf32>) dimensions = [1]
  %2 = arith.mulf %1, %rows : tensor<48x64xf32>
  %3 = arith.subf %c, %2 : tensor<48x64xf32>
  %4 = arith.addf %3, %c2 : tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}

// A number behind the activation is a bias that is the same everywhere.
// CHECK-LABEL: @number(
// CHECK: %[[S:.*]] = tensor.splat %{{.*}} : tensor<64xf32>
// CHECK: bias(%[[S]]) epilogue(%[[X:.*]], %[[V:.*]]) {
// CHECK: math.absf %[[X]]
// CHECK: arith.mulf %{{.*}}, %[[V]] : f32
func.func @number(%a: !a, %b: !b, %n: f32) -> tensor<48x64xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %1 = math.absf %0 : tensor<48x64xf32>
  %2 = tensor.splat %n : tensor<48x64xf32>
  %3 = arith.mulf %1, %2 : tensor<48x64xf32>
  return %3 : tensor<48x64xf32>
}

// What is there already stays: a bias is no input twice.
// CHECK-LABEL: @more(
// CHECK: bias(%{{.*}}) epilogue(%[[X:.*]], %[[V:.*]]) {
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[V]] : f32
// CHECK: %[[M:.*]] = arith.maximumf %[[S]], %{{.*}} : f32
// CHECK: %[[Q:.*]] = math.sqrt %[[M]] : f32
// CHECK: blockscale.yield %[[Q]]
// CHECK: %[[H:.*]] = linalg.broadcast
// CHECK: arith.mulf %{{.*}}, %[[H]]
func.func @more(%a: !a, %b: !b, %v: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<48x64xf32> {
  %0 = blockscale.matmul %a, %b bias(%v) activation(relu) : !a, !b, tensor<64xf32> -> tensor<48x64xf32>
  %1 = math.sqrt %0 : tensor<48x64xf32>
  %empty = tensor.empty() : tensor<48x64xf32>
  %columns = linalg.broadcast ins(%w : tensor<64xf32>) outs(%empty : tensor<48x64xf32>) dimensions = [0]
  %2 = arith.mulf %1, %columns : tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}

// Others read the product, too, so that it stays; what is behind a reduction as well.
// CHECK-LABEL: @read_twice(
// CHECK: blockscale.matmul %{{.*}}, %{{[^ ]*}} : {{.*}} -> tensor<48x64xf32>
// CHECK-NEXT: math.exp
func.func @read_twice(%a: !a, %b: !b) -> (tensor<48x64xf32>, tensor<48x64xf32>) {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %1 = math.exp %0 : tensor<48x64xf32>
  return %0, %1 : tensor<48x64xf32>, tensor<48x64xf32>
}

// CHECK-LABEL: @quantised(
// CHECK: %[[D:.*]] = blockscale.matmul %{{.*}} activation(relu)
// CHECK: %[[A:.*]] = math.absf %[[D]] : tensor<48x64xf32>
// CHECK: linalg.reduce ins(%[[A]]
func.func @quantised(%a: !a, %b: !b, %start: tensor<48xf32>) -> (tensor<48x64xf32>, tensor<48xf32>) {
  %zero = arith.constant dense<0.0> : tensor<48x64xf32>
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %1 = arith.maximumf %0, %zero : tensor<48x64xf32>
  %2 = math.absf %1 : tensor<48x64xf32>
  %3 = linalg.reduce ins(%2 : tensor<48x64xf32>) outs(%start : tensor<48xf32>) dimensions = [1]
    (%in: f32, %so_far: f32) {
      %4 = arith.maximumf %in, %so_far : f32
      linalg.yield %4 : f32
    }
  return %1, %3 : tensor<48x64xf32>, tensor<48xf32>
}

// Neither what needs a library, nor a result that no kernel stores, nor exact sums.
// CHECK-LABEL: @host(
// CHECK-COUNT-2: blockscale.matmul %{{.*}}, %{{[^ ]*}} : {{.*}} -> tensor<48x64xf32>
// CHECK: math.sin
// CHECK: arith.cmpf
// CHECK: blockscale.matmul %{{.*}} -> tensor<48x64xi32>
// CHECK: arith.addi
func.func @host(%a: !a, %b: !b, %i: !whole, %j: !blockscale.tensor<64x128xi8>) -> (tensor<48x64xf32>, tensor<48x64xi1>, tensor<48x64xi32>) {
  %zero = arith.constant dense<0.0> : tensor<48x64xf32>
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %1 = blockscale.matmul %a, %b : !a, !b -> tensor<48x64xf32>
  %2 = math.sin %0 : tensor<48x64xf32>
  %3 = arith.cmpf ogt, %1, %zero : tensor<48x64xf32>
  %4 = blockscale.matmul %i, %j : !whole, !blockscale.tensor<64x128xi8> -> tensor<48x64xi32>
  %5 = arith.addi %4, %4 : tensor<48x64xi32>
  return %2, %3, %5 : tensor<48x64xf32>, tensor<48x64xi1>, tensor<48x64xi32>
}

// Sizes that are not known come from the operands, so that they read no product; flags
// that allow less exact results are not made use of.
// CHECK-LABEL: @unknown(
// CHECK-SAME: %[[A:[a-z0-9]*]]: !blockscale.tensor<?x128
// CHECK: blockscale.dim %[[A]], 0
// CHECK: blockscale.matmul %{{.*}}, %{{.*}} epilogue(%[[X:.*]]) {
// CHECK: arith.mulf %[[X]], %{{[a-z0-9_]*}} : f32
// CHECK: math.erf
// CHECK: arith.subf
// CHECK: } : {{.*}} -> tensor<?x64xf32>
// CHECK-NOT: tensor.dim
func.func @unknown(%a: !rows, %b: !b) -> (tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %0 = blockscale.matmul %a, %b : !rows, !b -> tensor<?x64xf32>
  %m = tensor.dim %0, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x64xf32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%x: f32, %before: f32):
    %half = arith.constant 0.5 : f32
    %2 = arith.mulf %x, %half fastmath<fast> : f32
    %3 = math.erfc %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  %n = tensor.dim %1, %c0 : tensor<?x64xf32>
  return %1, %n : tensor<?x64xf32>, index
}

// Ops of dialects that are not here end an epilogue, as all others that it cannot hold.
// CHECK-LABEL: @foreign(
// CHECK: blockscale.matmul %{{.*}} activation(relu)
// CHECK: "acme.twist"
// CHECK: math.tanh
func.func @foreign(%a: !rows, %b: !b) -> (tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %m = blockscale.dim %a, 0 : !rows
  %number = arith.constant 0.0 : f32
  %zero = tensor.splat %number[%m] : tensor<?x64xf32>
  %0 = blockscale.matmul %a, %b : !rows, !b -> tensor<?x64xf32>
  %1 = arith.maximumf %0, %zero : tensor<?x64xf32>
  %2 = "acme.twist"(%1) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %3 = math.tanh %2 : tensor<?x64xf32>
  %4 = tensor.dim %2, %c0 : tensor<?x64xf32>
  return %3, %4 : tensor<?x64xf32>, index
}

// A factor for each row and each column, one behind the other or multiplied before, is a
// scale of the operand; what comes behind is the epilogue.
// CHECK-LABEL: @factors(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<48xf32>, %[[T:[a-z0-9]+]]: tensor<64xf16>
// CHECK: blockscale.assemble %{{.*}}, %{{.*}} to !blockscale.tensor<48x128xi8, "float32_t0">
// CHECK: blockscale.assemble %{{.*}}, %{{.*}} to !blockscale.tensor<64x128xi8, "float16_t0">
// CHECK: %[[R:.*]] = blockscale.matmul %{{.*}} alpha(%{{.*}}) bias(%{{.*}}) {{.*}} -> tensor<48x64xf32>
// CHECK-NEXT: return %[[R]]
func.func @factors(%a: tensor<48x128xi8>, %b: tensor<64x128xi8>, %s: tensor<48xf32>, %t: tensor<64xf16>, %g: tensor<f32>, %bias: tensor<64xf32>) -> tensor<48x64xf32> {
  %x = blockscale.assemble %a : tensor<48x128xi8> to !blockscale.tensor<48x128xi8>
  %w = blockscale.assemble %b : tensor<64x128xi8> to !blockscale.tensor<64x128xi8>
  %0 = blockscale.matmul %x, %w : !blockscale.tensor<48x128xi8>, !blockscale.tensor<64x128xi8> -> tensor<48x64xi32>
  %1 = arith.sitofp %0 : tensor<48x64xi32> to tensor<48x64xf32>
  %e = tensor.empty() : tensor<48x64xf32>
  %rows = linalg.broadcast ins(%s : tensor<48xf32>) outs(%e : tensor<48x64xf32>) dimensions = [1]
  %wide = arith.extf %t : tensor<64xf16> to tensor<64xf32>
  %columns = linalg.broadcast ins(%wide : tensor<64xf32>) outs(%e : tensor<48x64xf32>) dimensions = [0]
  %both = arith.mulf %rows, %columns : tensor<48x64xf32>
  %2 = arith.mulf %both, %1 : tensor<48x64xf32>
  %number = linalg.broadcast ins(%g : tensor<f32>) outs(%e : tensor<48x64xf32>) dimensions = [0, 1]
  %3 = arith.mulf %2, %number : tensor<48x64xf32>
  %added = linalg.broadcast ins(%bias : tensor<64xf32>) outs(%e : tensor<48x64xf32>) dimensions = [0]
  %4 = arith.addf %3, %added : tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}

// A sum that others read as well, a factor behind other arithmetic and one of an operand
// that has scales already are no scales.
// CHECK-LABEL: @other_factors(
// CHECK-NOT: _t0
// CHECK: return
func.func @other_factors(%a: tensor<48x128xf8E4M3FN>, %w: !blockscale.tensor<64x128xf8E4M3FN, "float32_t128">, %s: tensor<48xf32>, %t: tensor<64xf32>) -> (tensor<48x64xf32>, tensor<48x64xf32>, tensor<48x64xf32>) {
  %x = blockscale.assemble %a : tensor<48x128xf8E4M3FN> to !blockscale.tensor<48x128xf8E4M3FN>
  %e = tensor.empty() : tensor<48x64xf32>
  %rows = linalg.broadcast ins(%s : tensor<48xf32>) outs(%e : tensor<48x64xf32>) dimensions = [1]
  %columns = linalg.broadcast ins(%t : tensor<64xf32>) outs(%e : tensor<48x64xf32>) dimensions = [0]
  %0 = blockscale.matmul %x, %w : !blockscale.tensor<48x128xf8E4M3FN>, !blockscale.tensor<64x128xf8E4M3FN, "float32_t128"> -> tensor<48x64xf32>
  %1 = arith.mulf %0, %rows : tensor<48x64xf32>
  %2 = blockscale.matmul %x, %w : !blockscale.tensor<48x128xf8E4M3FN>, !blockscale.tensor<64x128xf8E4M3FN, "float32_t128"> -> tensor<48x64xf32>
  %3 = math.absf %2 : tensor<48x64xf32>
  %4 = arith.mulf %3, %rows : tensor<48x64xf32>
  %5 = blockscale.matmul %x, %w : !blockscale.tensor<48x128xf8E4M3FN>, !blockscale.tensor<64x128xf8E4M3FN, "float32_t128"> -> tensor<48x64xf32>
  %6 = arith.mulf %5, %columns : tensor<48x64xf32>
  return %0, %4, %6 : tensor<48x64xf32>, tensor<48x64xf32>, tensor<48x64xf32>
}

// A condition as a number is no sum of integers: it stays behind the product.
// CHECK-LABEL: @condition(
// CHECK: blockscale.matmul
// CHECK: arith.sitofp %{{.*}} : tensor<48x64xi1> to tensor<48x64xf32>
func.func @condition(%x: !blockscale.tensor<48x128xf8E4M3FN>, %w: !blockscale.tensor<64x128xf8E4M3FN>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %0 = blockscale.matmul %x, %w : !blockscale.tensor<48x128xf8E4M3FN>, !blockscale.tensor<64x128xf8E4M3FN> -> tensor<48x64xf32>
  %1 = arith.cmpf ogt, %0, %c : tensor<48x64xf32>
  %2 = arith.sitofp %1 : tensor<48x64xi1> to tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
