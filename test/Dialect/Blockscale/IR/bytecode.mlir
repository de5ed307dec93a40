// What bytecode brings back is what the text says, ops, types and attributes.
// RUN: blockscale-opt %S/tensor-ops.mlir -o %t.mlir
// RUN: blockscale-opt %S/tensor-ops.mlir -emit-bytecode -o %t.bc
// RUN: blockscale-opt %t.bc -o %t.back.mlir
// RUN: diff %t.mlir %t.back.mlir
// RUN: blockscale-opt %S/tensor-types.mlir -o %t.mlir
// RUN: blockscale-opt %S/tensor-types.mlir -emit-bytecode | blockscale-opt -o %t.back.mlir
// RUN: diff %t.mlir %t.back.mlir
