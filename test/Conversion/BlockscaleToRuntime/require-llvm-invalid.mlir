// What no pass has lowered, without the casts that stand around it.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics -blockscale-require-llvm

llvm.func @operation(%a: i64) -> i64 {
  %0 = builtin.unrealized_conversion_cast %a : i64 to index
  // expected-error @below {{'arith.addi' has no lowering to host code}}
  %1 = arith.addi %0, %0 : index
  %2 = builtin.unrealized_conversion_cast %1 : index to i64
  llvm.return %2 : i64
}

// -----

llvm.func @type(%a: i64) -> i64 {
  // expected-error @below {{values of type 'index' have no lowering to host code}}
  %0 = builtin.unrealized_conversion_cast %a : i64 to index
  // expected-error @below {{values of type 'index' have no lowering to host code}}
  %1 = builtin.unrealized_conversion_cast %0 : index to i64
  llvm.return %1 : i64
}
