//===- BlockscaleTypes.td - types of the tensor level ------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TYPES_TD
#define BLOCKSCALE_TYPES_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Blockscale_Type<string name, string typeMnemonic,
                      list<Trait> traits = []>
    : TypeDef<Blockscale_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Blockscale_Codebook : Blockscale_Type<"Codebook", "codebook"> {
  let summary = "element that is an index into one of several tables";
  let description = [{
    The element of a scaled tensor that is a number spec with tables (`cb` and
    the bits of an index, the bits of the table's number, the patterns of the
    tables and the format of their values). The highest bit of an index is the
    sign, the others count the values of the table from 0 upwards. Which table
    the index is of is said for each subtile, in the metadata of the tensor.

    Codebooks are a format to be stored and read: nothing is quantised to one.

    ```mlir
    !blockscale.codebook<"cb51ie_int7">
    !blockscale.tensor<256x512x!blockscale.codebook<"cb51ie_int7">, "mx6">
    !blockscale.tensor<256x512x!blockscale.codebook<"cb41fi_e2m2fnuz">, "e8m0_t32s4">
    ```
  }];
  let parameters = (ins StringRefParameter<"number spec">:$name);
  let assemblyFormat = "`<` $name `>`";
  let genVerifyDecl = 1;
}

def Blockscale_ScaledTensor
    : Blockscale_Type<"ScaledTensor", "tensor", [ShapedTypeInterface]> {
  let summary = "matrix, or batch of matrices, of elements that share scales";
  let description = [{
    Elements, the scales of their tiles and, where the scale spec asks for
    them, zero points, a tensor scale and sparsity metadata.

    Without a spec the elements have no scales and all are stored; with one of
    sparsity alone (`n2m4`) they have metadata only. Elements without scales
    are floats of up to 16 bits, `tf32`, which takes 32 bits in memory, or
    integers `i8` and `ui8`, which mean their integer value. Elements with
    scales have at most 8 bits; `i8` means its integer value there too, but
    under scales that are powers of two it counts in 1/64. Elements may be
    codebooks, `!blockscale.codebook`, whose metadata say for each subtile which
    table it takes. A scale that is spelt `e4m3` is one of `e4m3fn`, as the
    hardware reads it: it has no infinities, and codes from 120 on are 256 to 448.
    One that is spelt `e5m3` is one of `e5m3fn` likewise.

    The shape is the logical one: `[M, K]` (or `[N, K]`), with a batch
    dimension in front if it has three. `K` is the last dimension, the one a
    matrix product contracts, and counts pruned elements too. A static `K` is
    a multiple of the tile; without scales, of two groups of the sparsity, whose
    metadata share a byte.

    `layout` is the layout of the scales in memory: `plain` (default) is one
    scale per tile in row-major order; `tiled_128x4` orders them in tiles of 128
    rows by 4 blocks of 512 bytes, as the tensor core reads them, and metadata
    likewise in its order; `tiled_128x16` orders scales in tiles of 128 rows by
    16 blocks of 2048 bytes, row by row, as `tcgen05.cp.128x128b` brings those of
    A to sm_107, which no kernel of ours reads yet; `grouped_128x4` is
    `tiled_128x4` with padding, where each group of rows of a product with groups
    starts at a row of scales that is a multiple of 128 while its elements follow
    those of the group before; `grouped` is of scales that cover all of K, of which
    each group along K of a product has its own: one matrix of them for each group,
    `[groups, M, 1]`, in row-major order, and how many groups there are the product
    says. What else has neither scales of
    tiles along K nor metadata is `plain`. Of a sparse tensor whose scales no
    instruction reads (`float32_t64n2m4`, `float32_t0n2m4`, `float32_n2m4`, of `i8`
    `e8m0_t32n2m4`) it is the layout of the metadata, and the scales are in row-major
    order.
    `order` is the order of the elements: `k_major` (default) or, for elements
    of 8 and 16 bits, `mn_major`, where the dimension before `K` is contiguous.

    ```mlir
    !blockscale.tensor<?x4096xf4E2M1FN, "multi_float32_e4m3fn_t16">
    !blockscale.tensor<8x256x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !blockscale.tensor<256x512xf8E5M2, "e8m0_t32", order = mn_major>
    !blockscale.tensor<?x4096xi8, "float32_t0">
    !blockscale.tensor<4096x?xf8E4M3FN, "float32_t0", layout = grouped>
    !blockscale.tensor<?x4096xbf16>
    !blockscale.tensor<?x4096xf16, order = mn_major>
    !blockscale.tensor<256x512xf16, "n2m4", layout = tiled_128x4>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "logical shape, K last">:$shape,
    "::mlir::Type":$elementType,
    "::blockscale::ScaleSpecAttr":$spec,
    "::blockscale::ScaleLayout":$layout,
    "::blockscale::DataOrder":$order);
  let builders = [
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      "::blockscale::ScaleSpecAttr":$spec,
      CArg<"::blockscale::ScaleLayout",
           "::blockscale::ScaleLayout::Plain">:$layout,
      CArg<"::blockscale::DataOrder",
           "::blockscale::DataOrder::KMajor">:$order), [{
      return $_get(elementType.getContext(), shape, elementType, spec, layout,
                   order);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Every type of this kind has a rank: 2, or 3 with a batch dimension.
    bool hasRank() const { return true; }

    /// The same scale spec, layout and order with another shape or element
    /// type.
    ::mlir::ShapedType
    cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape,
              ::mlir::Type elementType) const;

    /// Whether the first of three dimensions counts matrices.
    bool isBatched() const { return getShape().size() == 3; }
    /// Whether a part says which elements are kept, or of which table they are.
    bool hasMetadata() const;
    /// Size of the dimension before the last, `M` or `N`; may be dynamic.
    int64_t getNumRows() const { return getShape()[getShape().size() - 2]; }
    /// Size of the last dimension, the contracted one; may be dynamic.
    int64_t getK() const { return getShape().back(); }
    /// Elements of the last dimension that share a scale, pruned ones
    /// included; 0 if all of them do, or there are no scales.
    int64_t getKTile() const;
    /// Rows that share a scale; 0 if all of them do, 1 without scales.
    int64_t getRowTile() const;
    /// Whether scales lie by groups of a product, which this type knows nothing
    /// of: padded for each, or those of each after those of the one before.
    bool hasScalesByGroups() const {
      return getLayout() == ::blockscale::ScaleLayout::Grouped128x4 ||
             getLayout() == ::blockscale::ScaleLayout::Grouped;
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
}

#endif // BLOCKSCALE_TYPES_TD
