//===- BlockscaleLaunchAttrs.td - what the host must know --*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALELAUNCHATTRS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALELAUNCHATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleScheduleAttrs.td"

def Blockscale_ParameterRole : I32EnumAttr<"ParameterRole",
    "what a kernel parameter carries", [
      I32EnumAttrCase<"AData", 0, "a_data">,
      I32EnumAttrCase<"BData", 1, "b_data">,
      I32EnumAttrCase<"AScales", 2, "a_scales">,
      I32EnumAttrCase<"BScales", 3, "b_scales">,
      I32EnumAttrCase<"D", 4, "d">,
      I32EnumAttrCase<"C", 5, "c">,
      I32EnumAttrCase<"Bias", 6, "bias">,
      I32EnumAttrCase<"Alpha", 7, "alpha">,
      I32EnumAttrCase<"Beta", 8, "beta">,
      I32EnumAttrCase<"ATensorScale", 9, "a_tensor_scale">,
      I32EnumAttrCase<"BTensorScale", 10, "b_tensor_scale">,
      I32EnumAttrCase<"SizeM", 11, "size_m">,
      I32EnumAttrCase<"SizeN", 12, "size_n">,
      I32EnumAttrCase<"SizeK", 13, "size_k">,
      I32EnumAttrCase<"Batch", 14, "batch">,
      I32EnumAttrCase<"AMetadata", 15, "a_metadata">,
      I32EnumAttrCase<"Workspace", 16, "workspace">,
      I32EnumAttrCase<"Offsets", 17, "offsets">,
      I32EnumAttrCase<"KOffsets", 18, "k_offsets">,
      I32EnumAttrCase<"X", 19, "x">,
      I32EnumAttrCase<"TensorScale", 20, "tensor_scale">,
      I32EnumAttrCase<"DData", 21, "d_data">,
      I32EnumAttrCase<"DScales", 22, "d_scales">,
      I32EnumAttrCase<"DTensorScale", 23, "d_tensor_scale">,
      I32EnumAttrCase<"TransposedData", 24, "transposed_data">,
      I32EnumAttrCase<"TransposedScales", 25, "transposed_scales">,
      I32EnumAttrCase<"TransposedTensorScale", 26, "transposed_tensor_scale">,
      I32EnumAttrCase<"RowNumbers", 27, "row_numbers">,
      I32EnumAttrCase<"SizeTokens", 28, "size_tokens">,
      I32EnumAttrCase<"DMetadata", 29, "d_metadata">,
      I32EnumAttrCase<"ATerms", 30, "a_terms">,
      I32EnumAttrCase<"BTerms", 31, "b_terms">,
      I32EnumAttrCase<"RowCounts", 32, "row_counts">,
      I32EnumAttrCase<"AZeros", 33, "a_zeros">,
      I32EnumAttrCase<"BMetadata", 34, "b_metadata">,
      I32EnumAttrCase<"DZeros", 35, "d_zeros">]> {
  let cppNamespace = "::blockscale";
  let genSpecializedAttr = 0;
}

def Blockscale_ParameterAttr : AttrDef<Blockscale_Dialect, "Parameter"> {
  let mnemonic = "parameter";
  let summary = "which value of the host a kernel parameter carries";
  let description = [{
    Sits on each argument of a kernel as `blockscale.parameter`. `a` and `b`
    are the operands of the source matmul, whatever the schedule swaps; `x` is
    what a quantisation or a pruning reads, `a` what another conversion reads, and
    `d` the result.
  }];
  let parameters = (ins EnumParameter<Blockscale_ParameterRole>:$role);
  let assemblyFormat = "`<` $role `>`";
}

def Blockscale_KernelAttr : AttrDef<Blockscale_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "how to launch a kernel";
  let description = [{
    Sits on a `gpu.func` as `blockscale.kernel`.

    * `grid`: number of CTAs in x, the minimum of the map's results. Symbols:
      M, N, K, batch (sizes of the source matmul), the number of SMs, and the
      number of clusters of this kernel that the device runs at once.
    * `block`: threads per CTA.
    * `shared_bytes`: dynamic shared memory in bytes, 0 until
      `blockscale-assign-memory` has run.
    * `tensor_columns`: tensor-memory columns that the kernel allocates,
      likewise.
    * `cluster`: CTAs of a cluster, along x; the grid is a multiple of it.
    * `dependent_launch`: launch with programmatic stream serialization.
    * `workspace`: of a kernel that splits K, or whose CTAs meet, with the symbols
      of the grid: bytes at the start of its workspace that are zero before its
      first launch, bytes of all of it, and how many clusters compute an output
      tile together, 0 where as many do as have a share of its K.
    * `cooperative`: all CTAs run at once, so that they may wait for each other.
  }];
  let parameters = (ins
    "::mlir::AffineMap":$grid,
    "int64_t":$block,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
    DefaultValuedParameter<"int64_t", "0">:$tensor_columns,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"bool", "false">:$dependent_launch,
    OptionalParameter<"::mlir::AffineMap">:$workspace,
    DefaultValuedParameter<"bool", "false">:$cooperative);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_EpilogueStepAttr : AttrDef<Blockscale_Dialect, "EpilogueStep"> {
  let mnemonic = "epilogue_step";
  let summary = "one op of an epilogue";
  let description = [{
    `op` is an op of `arith` or `math`, and its result one element of `type`.
    `operands` are numbers of values: the arguments of the epilogue come first,
    then the results of its steps. A constant has a `value`, a comparison a
    `predicate`.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$op,
    "::mlir::Type":$type,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$operands,
    OptionalParameter<"::mlir::TypedAttr">:$value,
    OptionalParameter<"::mlir::StringAttr">:$predicate);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_EpilogueAttr : AttrDef<Blockscale_Dialect, "Epilogue"> {
  let mnemonic = "epilogue";
  let summary = "the epilogue of a kernel, for whoever checks it";
  let description = [{
    The region of `blockscale.matmul` as data, which stays when the body of a
    kernel no longer tells: `inputs` is the number of its arguments, `result` the
    number of the value that it yields, counted as in the steps.

    Example, the square of a product:

    ```mlir
    #blockscale.epilogue<inputs = 1, steps = [#blockscale.epilogue_step<op = "arith.mulf", type = f32, operands = [0, 0]>], result = 1>
    ```
  }];
  let parameters = (ins
    "int64_t":$inputs, "::mlir::ArrayAttr":$steps, "int64_t":$result);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_ProductAttr : AttrDef<Blockscale_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "the product that a kernel computes";
  let description = [{
    Sits on a kernel as `blockscale.product`: what the host must know of the
    matmul that the kernel was made from, and its body no longer tells. `source`
    is the function that held the matmul; `a` and `b` are the types of its
    operands, which give its sizes; `mma` is the instruction, with operands
    exchanged if `swap_operands`; `bias` is the direction of the bias and
    `epilogue` what is computed of a sum, or nothing where it is only added to.
    Its other operands are parameters of the kernel. A kernel that is launched
    instead of kernel `variant_of` where A has at most `most_rows` rows has these
    two. `k_groups` counts the groups of a product whose K is in groups, which the
    types do not tell: -1 where the host does. `gathered` says the same of the rows
    of a product that are rows of A by number. With `pairs` D has half as many
    columns as the product.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$source,
    "::blockscale::ScaledTensorType":$a,
    "::blockscale::ScaledTensorType":$b,
    "::blockscale::MmaAttr":$mma,
    DefaultValuedParameter<"bool", "false">:$swap_operands,
    DefaultValuedParameter<"::blockscale::BiasKind",
                           "::blockscale::BiasKind::Column">:$bias,
    OptionalParameter<"::blockscale::EpilogueAttr">:$epilogue,
    DefaultValuedParameter<"int64_t", "0">:$most_rows,
    OptionalParameter<"::mlir::StringAttr">:$variant_of,
    DefaultValuedParameter<"int64_t", "0">:$k_groups,
    DefaultValuedParameter<"int64_t", "0">:$gathered,
    DefaultValuedParameter<"bool", "false">:$pairs);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The sizes of the product.
    ::blockscale::ProductSizes getSizes() const;
    /// The same of a kernel for at most `mostRows`, instead of `kernel`.
    ProductAttr asVariant(::mlir::StringAttr kernel, int64_t mostRows) const;
  }];
}

def Blockscale_QuantizationAttr : AttrDef<Blockscale_Dialect, "Quantization"> {
  let mnemonic = "quantization";
  let summary = "the quantisation that a kernel computes";
  let description = [{
    Sits on a kernel as `blockscale.quantization`: the `blockscale.quantize` that
    the kernel was made from. `source` is the function that held it, `x` the type
    of the elements that are read, `d` the type of the result, which gives the
    sizes. With `transposed` memory has rows of K along M: the kernel was made
    from the `blockscale.quantize` of a `linalg.transpose`, and reads what that
    reads. A tensor scale is a parameter of the kernel. Beside a
    `blockscale.product` it says how the kernel quantises the product.

    On a `blockscale.matmul` the unit attribute `blockscale.quantized` says that
    its kernel does what the one `blockscale.quantize` says that reads its result.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$source,
    "::mlir::Type":$x,
    "::blockscale::ScaledTensorType":$d,
    DefaultValuedParameter<"::blockscale::ScaleRule",
                           "::blockscale::ScaleRule::Floor">:$rule,
    DefaultValuedParameter<"::blockscale::ElementRounding",
                           "::blockscale::ElementRounding::Even">:$rounding,
    OptionalParameter<"::mlir::IntegerAttr">:$seed,
    DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_ConversionAttr : AttrDef<Blockscale_Dialect, "Conversion"> {
  let mnemonic = "conversion";
  let summary = "the conversion that a kernel computes";
  let description = [{
    Sits on a kernel as `blockscale.conversion`: the op that the kernel was made
    from multiplies nothing and rounds nothing to narrow elements. `source` is
    the function that held it, `op` its name without that of the dialect, `a` the
    type of what is read, `d` that of the result. `keep`, `group` and `pairs` are
    those of a `blockscale.prune`; of a `blockscale.tile_sums` `group` is the tile, 0
    without one.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$source,
    "::mlir::StringAttr":$op,
    "::mlir::Type":$a,
    "::mlir::Type":$d,
    DefaultValuedParameter<"int64_t", "0">:$keep,
    DefaultValuedParameter<"int64_t", "0">:$group,
    DefaultValuedParameter<"bool", "false">:$pairs);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALELAUNCHATTRS_TD
