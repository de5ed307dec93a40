// A function that prunes, compresses and multiplies by kernels, launched by upstream's
// runtime of the GPU and by ours: both give what the host does.

// REQUIRES: emulated-driver
// RUN: blockscale-opt %s --blockscale-to-host="gpu-launch quantize-operands" -o %t.gpu.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.gpu.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime,%gpu_runtime | grep '^ *\[' > %t.gpu.txt
// RUN: blockscale compile --emit=host-llvm --quantize-on-device %s -o %t.ours.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.ours.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep '^ *\[' > %t.ours.txt
// RUN: blockscale compile --emit=host-llvm %s -o %t.host.mlir
// RUN: env LD_LIBRARY_PATH=%cuda_driver_dir %mlir-runner %t.host.mlir -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs,%blockscale_runtime | grep '^ *\[' > %t.host.txt
// RUN: diff %t.gpu.txt %t.host.txt && diff %t.ours.txt %t.host.txt && FileCheck %s --check-prefix=NUMBERS < %t.gpu.txt

// NUMBERS: {{[1-9]}}

!dense = !blockscale.tensor<?x256xf16>
!sparse = !blockscale.tensor<?x256xf16, "n2m4", layout = tiled_128x4>
!weights = !blockscale.tensor<128x256xf16>

func.func @pruned_product(%x: tensor<?x256xf16>, %w: tensor<128x256xf16>) -> tensor<?x128xf32> {
  %p = blockscale.prune %x keep 2 of 4 : tensor<?x256xf16>
  %a = blockscale.assemble %p : tensor<?x256xf16> to !dense
  %s = blockscale.compress %a : !dense to !sparse
  %b = blockscale.assemble %w : tensor<128x256xf16> to !weights
  %y = blockscale.matmul %s, %b : !sparse, !weights -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

func.func private @printMemrefF32(tensor<*xf32>)

func.func @main() {
  %m = arith.constant 3 : index
  %x = tensor.generate %m {
  ^bb0(%i: index, %k: index):
    %c7 = arith.constant 7 : index
    %c5 = arith.constant 5 : index
    %c13 = arith.constant 13 : index
    %0 = arith.muli %i, %c7 : index
    %1 = arith.muli %k, %c5 : index
    %2 = arith.addi %0, %1 : index
    %3 = arith.remui %2, %c13 : index
    %4 = arith.index_cast %3 : index to i32
    %5 = arith.uitofp %4 : i32 to f16
    tensor.yield %5 : f16
  } : tensor<?x256xf16>
  %w = tensor.generate {
  ^bb0(%i: index, %k: index):
    %c3 = arith.constant 3 : index
    %0 = arith.addi %i, %k : index
    %1 = arith.remui %0, %c3 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.uitofp %2 : i32 to f16
    tensor.yield %3 : f16
  } : tensor<128x256xf16>
  %y = func.call @pruned_product(%x, %w) : (tensor<?x256xf16>, tensor<128x256xf16>) -> tensor<?x128xf32>
  %any = tensor.cast %y : tensor<?x128xf32> to tensor<*xf32>
  func.call @printMemrefF32(%any) : (tensor<*xf32>) -> ()
  return
}
