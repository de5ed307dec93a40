// What folds while compiling has the bits of what runs: all parts of quantized
// constants, and their values, with NaN, infinities, -0, subnormals and ties.

// RUN: %python %S/Inputs/constants.py > %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-fold-constants=largest-result=65536 -o %t.folded.mlir
// RUN: grep -c "blockscale[.]" %t.mlir | FileCheck %s --check-prefix=SOME
// RUN: not grep "blockscale[.]" %t.folded.mlir
// DEFINE: %{run} = mlir-opt --arith-expand=include-bf16=true \
// DEFINE:   --one-shot-bufferize=bufferize-function-boundaries \
// DEFINE:   --convert-linalg-to-loops --convert-scf-to-cf \
// DEFINE:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// DEFINE:   --reconcile-unrealized-casts \
// DEFINE: | %mlir-runner -e main -entry-point-result=void -O0 \
// DEFINE:   -shared-libs=%mlir_runner_libs | sed -e "s/base@ = 0x[0-9a-f]*//"
// RUN: blockscale-opt %t.mlir --blockscale-to-linalg --canonicalize --cse \
// RUN: | %{run} > %t.run
// RUN: blockscale-opt %t.folded.mlir --canonicalize --cse | %{run} > %t.known
// RUN: diff %t.run %t.known
// RUN: grep -c Unranked %t.known | FileCheck %s --check-prefix=TENSORS

// SOME: {{^[1-9][0-9]+}}
// TENSORS: {{^}}416{{$}}
