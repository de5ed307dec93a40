//===- BlockscaleKernelTypes.td - types of kernels -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELTYPES_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELTYPES_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Blockscale_KernelType<string name, string typeMnemonic>
    : TypeDef<Blockscale_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Blockscale_TensorMapType
    : Blockscale_KernelType<"TensorMap", "tensor_map"> {
  let summary = "a TMA tensor map and the recipe to build it";
  let description = [{
    The fields of `cuTensorMapEncodeTiled`. `dims` gives the extents in
    elements, innermost first; `strides` the byte strides of all dimensions
    but the first. Both are affine maps of the symbols M, N, K, batch. The box
    is in elements. No interleave, element strides 1, out-of-bounds elements
    read as zero.

    Example:

    ```mlir
    !blockscale.tensor_map<u4x16_align8b,
      dims = ()[m, n, k, l] -> (k, m, l),
      strides = ()[m, n, k, l] -> (k floordiv 2, m * (k floordiv 2)),
      box = [256, 128, 1], swizzle = "128B">
    ```
  }];
  let parameters = (ins
    "::blockscale::hw::TensorMapDataType":$dataType,
    "::mlir::AffineMap":$dims,
    "::mlir::AffineMap":$strides,
    ArrayRefParameter<"int64_t">:$box,
    "::blockscale::hw::Swizzle":$swizzle);
  let assemblyFormat = [{
    `<` $dataType `,` `dims` `=` $dims `,` `strides` `=` $strides `,`
    `box` `=` `[` $box `]` `,` `swizzle` `=` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

def Blockscale_GlobalType : Blockscale_KernelType<"Global", "global"> {
  let summary = "address of elements in global memory";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Blockscale_SharedType : Blockscale_KernelType<"Shared", "shared"> {
  let summary = "a ring of stages in shared memory";
  let description = [{
    The first dimension counts the stages; the others are the stage as it lies
    in memory, innermost last. Each element takes `container` bits: 4-bit and
    6-bit elements of `mxf8f6f4` and `f8f6f4` take 8. `swizzle` is the TMA and descriptor
    swizzle, a function of the absolute shared-memory address, so a swizzled
    ring starts on a multiple of 1024 bytes.

    Example: `!blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "int64_t":$container,
    "::blockscale::hw::Swizzle":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getStages() const { return getShape().front(); }
    /// Bytes of one stage.
    int64_t getStageBytes() const;
    /// Bytes of the whole ring.
    int64_t getBytes() const { return getStages() * getStageBytes(); }
    /// Alignment in bytes that its users need.
    int64_t getAlignment() const;
  }];
}

def Blockscale_BarrierType : Blockscale_KernelType<"Barrier", "barrier"> {
  let summary = "an array of mbarriers in shared memory";
  let description = [{
    `remote` barriers lie in a CTA of the cluster that may be another one:
    threads can arrive at them and loads can signal them, but only threads of
    that CTA can wait.

    Example: `!blockscale.barrier<4>`, `!blockscale.barrier<4, remote = true>`
  }];
  let parameters = (ins "int64_t":$count,
                        DefaultValuedParameter<"bool", "false">:$remote);
  let builders = [TypeBuilder<(ins "int64_t":$count), [{
    return $_get($_ctxt, count, /*remote=*/false);
  }]>];
  let assemblyFormat = "`<` $count (`,` struct($remote)^)? `>`";
  let genVerifyDecl = 1;
}

def Blockscale_TensorMemoryType
    : Blockscale_KernelType<"TensorMemory", "tmem"> {
  let summary = "a region of tensor memory";
  let description = [{
    Accumulators have the shape copies x rows x columns and the layout
    `#blockscale.tmem_accumulator`; scales have the shape rows x scales per
    row and the layout `#blockscale.tmem_scales`; sparsity metadata have the
    shape rows x bytes per row and the layout `#blockscale.tmem_metadata`.

    Example: `!blockscale.tmem<2x128x256xf32, #blockscale.tmem_accumulator>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "::mlir::Attribute":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isAccumulator() const;
    /// Columns that the region spans (with overlap counted once).
    int64_t getColumns() const;
  }];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELTYPES_TD
