//===- BlockscaleInterfaces.td - interfaces of the dialect -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_INTERFACES_TD
#define BLOCKSCALE_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def Blockscale_LoweringAttr : AttrInterface<"LoweringAttr"> {
  let cppNamespace = "::blockscale";
  let description = [{
    How a family of chips computes an op of the tensor level: what was wished
    for, then what was chosen. The tensor level carries it and knows nothing of
    it but this.
  }];
  let methods = [
    InterfaceMethod<"Whether nothing is left to choose.", "bool",
                    "isComplete">,
    InterfaceMethod<[{
      Prints it as clauses of an op, each with a space in front:
      ` mma(...) schedule(...)`.
    }], "void", "printClauses", (ins "::mlir::AsmPrinter &":$printer)>];
}

#endif // BLOCKSCALE_INTERFACES_TD
