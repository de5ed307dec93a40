// Every rule of scales where it turns, every rounding at and beside its ties,
// bit for bit: rows of TensorCast, those of integers and zero points among them,
// then cases held against exact fractions. The same while compiling.

// RUN: %python %S/Inputs/roundings.py make %S/../../oracle/numerics > %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void -O0 \
// RUN:   -shared-libs=%mlir_runner_libs \
// RUN: | %python %S/Inputs/roundings.py check %S/../../oracle/numerics \
// RUN: | FileCheck %s

// RUN: blockscale-opt %t.mlir --blockscale-fold-constants \
// RUN:   --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void -O0 \
// RUN:   -shared-libs=%mlir_runner_libs \
// RUN: | %python %S/Inputs/roundings.py check %S/../../oracle/numerics \
// RUN: | FileCheck %s

// CHECK: {{^}}191 cases, {{[0-9]+}} elements, 0 wrong
