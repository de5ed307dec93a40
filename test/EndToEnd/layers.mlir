// Layers of real models with few and awkward numbers of tokens, some clusters of
// each grid: gpt-oss (K = 2880 ends inside a K tile), DeepSeek-V3 (N = 576 and
// 2112 are no multiples of 128), and the other examples.

// REQUIRES: mlir
// RUN: blockscale verify %source_root/examples/oss-m1-mxfp8-mxfp4.mlir --m=1,17,129 --tiles=3 | FileCheck %s --check-prefix=SIX
// RUN: blockscale verify %source_root/examples/ds-kva-mxfp8.mlir --m=1,17,129 --tiles=3 | FileCheck %s --check-prefix=SIX
// RUN: blockscale verify %s --m=1,17,129 --tiles=4 | FileCheck %s --check-prefix=SIX
// RUN: blockscale verify %source_root/examples/l70-qkv-nvfp4.mlir --m=129 --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/q30-w2-mxfp4.mlir --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/l8-gate-decode-nvfp4.mlir --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/accumulate-mxfp6.mlir --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/oss-m1-mxfp8-mxfp4.mlir --target=sm_120a --m=129 --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/l8-gate-decode-nvfp4.mlir --target=sm_121a --tiles=2 | FileCheck %s --check-prefix=TWO
// RUN: blockscale verify %source_root/examples/accumulate-mxfp6.mlir --target=sm_120a --tiles=2 | FileCheck %s --check-prefix=TWO

// SIX-NOT: FAIL
// SIX-COUNT-6: pass
// SIX-NOT: {{FAIL|pass}}
// TWO-NOT: FAIL
// TWO-COUNT-2: pass
// TWO-NOT: {{FAIL|pass}}

!activations = !blockscale.tensor<?x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!weights = !blockscale.tensor<2112x7168xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>

func.func @ds_qa(%x: !activations, %w: !weights) -> tensor<?x2112xbf16> {
  %y = blockscale.matmul %x, %w : !activations, !weights -> tensor<?x2112xbf16>
  return %y : tensor<?x2112xbf16>
}
