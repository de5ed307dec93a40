//===- BlockscaleAttrs.td - attributes of the tensor level -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_ATTRS_TD
#define BLOCKSCALE_ATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Blockscale_Attr<string name, string attrMnemonic,
                      list<Trait> traits = []>
    : AttrDef<Blockscale_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Blockscale_ScaleSpecAttr : Blockscale_Attr<"ScaleSpec", "spec"> {
  let summary = "which scales a tensor's elements share";
  let description = [{
    A scale spec: the number formats of the tensor scale, the tile scale and
    the zero point, the tile along each of the two innermost dimensions, and
    the sparsity of the last one.

    ```mlir
    #blockscale.spec<"multi_float32_e4m3fn_t16">
    ```
  }];
  let parameters = (ins StringRefParameter<"the spec's text">:$text);
  let assemblyFormat = "`<` $text `>`";
}

def Blockscale_ScaleLayout : I32Enum<"ScaleLayout",
    "where the scale of a tile lies in memory", [
      I32EnumCase<"Plain", 0, "plain">,
      I32EnumCase<"Tiled128x4", 1, "tiled_128x4">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_DataOrder : I32Enum<"DataOrder",
    "which dimension of the elements is contiguous in memory", [
      I32EnumCase<"KMajor", 0, "k_major">,
      I32EnumCase<"MNMajor", 1, "mn_major">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_Activation : I32Enum<"Activation",
    "function applied to each element of a product", [
      I32EnumCase<"ReLU", 0, "relu">,
      I32EnumCase<"GELU", 1, "gelu">,
      I32EnumCase<"SiLU", 2, "silu">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_ActivationAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_Activation, "activation">;

def Blockscale_BiasKind : I32Enum<"BiasKind",
    "which dimension of a product a bias vector runs along", [
      I32EnumCase<"Column", 0, "column">,
      I32EnumCase<"Row", 1, "row">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_BiasKindAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_BiasKind, "bias_kind">;

#endif // BLOCKSCALE_ATTRS_TD
