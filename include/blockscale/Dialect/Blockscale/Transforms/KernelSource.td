//===- KernelSource.td - what becomes a kernel -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_TD

include "mlir/IR/Interfaces.td"

def Blockscale_KernelSourceOpInterface
    : OpInterface<"KernelSourceOpInterface"> {
  let cppNamespace = "::blockscale";
  let description = [{
    An op on tensors that becomes a kernel for NVIDIA's chips. The passes from
    `blockscale-legalize-scales` to `blockscale-form-kernels` see nothing else of
    it. It has one result, which the kernel writes.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether it is to become a kernel where it stands. What is not is left to
      other passes; isKernelSource() asks.
    }], "bool", "isWanted", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<[{
      Chooses what the target must be able to execute, or says with a diagnostic
      why it cannot. What is complete is left alone. With `denseFallback` what is
      sparse may be made dense.
    }], "::llvm::LogicalResult", "legalize",
      (ins "::blockscale::hw::Target":$target, "bool":$denseFallback)>,
    InterfaceMethod<[{
      Chooses how the work is cut and pipelined, after `legalize`. A dynamic
      size counts as `expectedRows`. What is complete is left alone.
    }], "::llvm::LogicalResult", "selectSchedule",
      (ins "::blockscale::hw::Target":$target, "int64_t":$expectedRows)>,
    InterfaceMethod<[{
      Whether it can become a kernel: everything is chosen, by passes or by
      hand, suits its operands and its target, and its sizes are not too large.
    }], "::llvm::LogicalResult", "checkReady">,
    InterfaceMethod<[{
      The kernel from outside; `source` is the name of the function around the
      op. Needs `checkReady` to have succeeded, like the next one.
    }], "::blockscale::KernelOutline", "getOutline",
      (ins "::llvm::StringRef":$source)>,
    InterfaceMethod<[{
      Emits the body, or an op that implements `KernelBodyOpInterface` in its
      place, on the parameters that `argument` gives, which are null where there
      is none.
    }], "void", "buildBody",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder,
           "::llvm::function_ref<::mlir::Value(::blockscale::ParameterRole)>":
             $argument)>];
}

def Blockscale_KernelBodyOpInterface : OpInterface<"KernelBodyOpInterface"> {
  let cppNamespace = "::blockscale";
  let description = [{
    An op in a kernel that stands for all of its work.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits warp roles and loops in the place of the op and erases it.
    }], "void", "expand">];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_TD
