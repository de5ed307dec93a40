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

def Blockscale_ScaleSpecParameter
    : AttrParameter<"::blockscale::ScaleSpec", "the parsed spec"> {
  let cppAccessorType = "const ::blockscale::ScaleSpec &";
}

def Blockscale_ScaleSpecAttr : Blockscale_Attr<"ScaleSpec", "spec"> {
  let summary = "which scales the elements of a tensor share";
  let description = [{
    A scale spec: one to three number formats (tensor scale, tile scale, zero
    point), then the tile along each of the two innermost dimensions and the
    sparsity of the last one; or that sparsity alone, without scales. It prints
    in its one canonical spelling.

    ```
    spec   := [ "multi_" ] number { "_" number } { "_" tile } | sparse
    tile   := "t" [T] [ "s" S ] [ sparse ]
    sparse := "n" N "m" M
    ```

    ```mlir
    #blockscale.spec<"multi_float32_e4m3fn_t16">
    #blockscale.spec<"e8m0_t32">
    ```
  }];
  let parameters = (ins Blockscale_ScaleSpecParameter:$value);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The canonical spelling.
    std::string getText() const;
    /// Reads a spec in double quotes; an error points into the text.
    static ::mlir::FailureOr<ScaleSpecAttr>
    parseText(::mlir::AsmParser &parser);
    /// A spec that was read from the string at `loc`.
    static ::mlir::FailureOr<ScaleSpecAttr>
    parseText(::mlir::AsmParser &parser, ::llvm::StringRef text,
              ::llvm::SMLoc loc);
  }];
}

def Blockscale_ScaleLayout : I32Enum<"ScaleLayout",
    "layout of scales in memory", [
      I32EnumCase<"Plain", 0, "plain">,
      I32EnumCase<"Tiled128x4", 1, "tiled_128x4">,
      I32EnumCase<"Tiled128x16", 2, "tiled_128x16">,
      I32EnumCase<"Grouped128x4", 3, "grouped_128x4">,
      I32EnumCase<"Grouped", 4, "grouped">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_DataOrder : I32Enum<"DataOrder",
    "order of elements in memory", [
      I32EnumCase<"KMajor", 0, "k_major">,
      I32EnumCase<"MNMajor", 1, "mn_major">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_Activation : I32Enum<"Activation",
    "epilogue that has a name", [
      I32EnumCase<"ReLU", 0, "relu">,
      I32EnumCase<"GELU", 1, "gelu">,
      I32EnumCase<"SiLU", 2, "silu">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_BiasKind : I32Enum<"BiasKind",
    "direction of a bias vector", [
      I32EnumCase<"Column", 0, "column">,
      I32EnumCase<"Row", 1, "row">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_BiasKindAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_BiasKind, "bias_kind">;

def Blockscale_ScaleRule : I32Enum<"ScaleRule",
    "how the scale of a tile is chosen", [
      I32EnumCase<"Floor", 0, "floor">,
      I32EnumCase<"RoundUp", 1, "round_up">,
      I32EnumCase<"FloorPlusOne", 2, "floor_plus_one">,
      I32EnumCase<"Ceil", 3, "ceil">,
      I32EnumCase<"MidMax", 4, "mid_max">,
      I32EnumCase<"RoundedMax", 5, "rounded_max">,
      I32EnumCase<"TopBinade", 6, "top_binade">,
      I32EnumCase<"MinError", 7, "min_error">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_ScaleRuleAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_ScaleRule, "scale_rule">;

def Blockscale_ElementRounding : I32Enum<"ElementRounding",
    "how an element between two codes is rounded", [
      I32EnumCase<"Even", 0, "even">,
      I32EnumCase<"Away", 1, "away">,
      I32EnumCase<"Zero", 2, "zero">,
      I32EnumCase<"Stochastic", 3, "stochastic">,
      I32EnumCase<"StochasticRS", 4, "stochastic_rs">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_ElementRoundingAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_ElementRounding,
               "element_rounding">;

#endif // BLOCKSCALE_ATTRS_TD
