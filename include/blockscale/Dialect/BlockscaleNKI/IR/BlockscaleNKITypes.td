//===- BlockscaleNKITypes.td - dialect, types, attributes --*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_TYPES_TD
#define BLOCKSCALE_NKI_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def BlockscaleNKI_Dialect : Dialect {
  let name = "blockscale_nki";
  let cppNamespace = "::blockscale::nki";
  let summary = "Block-scaled matrix products as kernels of AWS's NKI";
  let description = [{
    The second half beside NVIDIA's: what a `blockscale.matmul` becomes on a
    NeuronCore. A kernel's ops are instructions of `nki.isa` on tiles of SBUF
    and PSUM, in loops with constant bounds; the printed kernel has one call for
    each. Their verifiers ask the table of rules in `NKI/Legality.h`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::blockscale::BlockscaleDialect"];
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class BlockscaleNKI_Type<string name, string typeMnemonic>
    : TypeDef<BlockscaleNKI_Dialect, name> {
  let mnemonic = typeMnemonic;
}

class BlockscaleNKI_Attr<string name, string attrMnemonic>
    : AttrDef<BlockscaleNKI_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def BlockscaleNKI_X4 : BlockscaleNKI_Type<"X4", "x4"> {
  let summary = "four narrow elements in one value";
  let description = [{
    `float8_e4m3fn_x4`, `float8_e5m2_x4` (32 bits) or `float4_e2m1fn_x4` (16
    bits). Element 0 is the least significant.

    ```mlir
    !blockscale_nki.x4<f8E4M3FN>
    ```
  }];
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Format of the four elements.
    ::blockscale::ElementFormat getFormat() const;
  }];
}

def BlockscaleNKI_Buffer : BlockscaleNKI_Type<"Buffer", "buffer"> {
  let summary = "a tensor in HBM, or a tile of SBUF or PSUM";
  let description = [{
    In `sbuf` and `psum` the first dimension counts partitions, at most 128; the
    others lie one behind the other in each partition.

    ```mlir
    !blockscale_nki.buffer<128x512x!blockscale_nki.x4<f8E4M3FN>, sbuf>
    !blockscale_nki.buffer<128x512xf32, psum>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "sizes, at least 1">:$shape,
    "::mlir::Type":$elementType,
    "::blockscale::nki::Buffer":$memory);
  let builders = [
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      "::blockscale::nki::Buffer":$memory), [{
      return $_get(elementType.getContext(), shape, elementType, memory);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getDim(unsigned i) const { return getShape()[i]; }
    /// Bits of an element; of all four of a packed one.
    unsigned getElementBits() const;
    /// Bytes of one partition, or of everything in HBM.
    int64_t getPartitionBytes() const;
    BufferType withShape(::llvm::ArrayRef<int64_t> shape) const {
      return get(shape, getElementType(), getMemory());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def BlockscaleNKI_ConfigAttr : BlockscaleNKI_Attr<"Config", "config"> {
  let summary = "how a product is cut into instructions";
  let description = [{
    Written on a `blockscale.matmul` by `blockscale-nki-legalize` under the name
    `blockscale_nki.config`; what the user wrote there stays.

    The rows of `a` are the stationary operand, those of `b` the moving one.
    `row_tile` is the number of rows of the tensor engine that an instruction
    uses, 32 or 64 where K is short and several run side by side, else 128.
    `tile_m` and `tile_n` are the free sizes of an instruction, and `block_m`
    counts the tiles along M that share one load of `b`. 0 leaves the choice to
    the compiler.

    ```mlir
    #blockscale_nki.config<target = "trn3", row_tile = 128, tile_m = 128, tile_n = 512, block_m = 4>
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$target,
    DefaultValuedParameter<"int64_t", "0">:$row_tile,
    DefaultValuedParameter<"int64_t", "0">:$tile_m,
    DefaultValuedParameter<"int64_t", "0">:$tile_n,
    DefaultValuedParameter<"int64_t", "0">:$block_m);
  let assemblyFormat = "`<` struct(params) `>`";
}

def BlockscaleNKI_HostForm : I32Enum<"HostForm",
    "what a parameter of a kernel holds", [
      I32EnumCase<"Packed", 0, "packed">,
      I32EnumCase<"Scales", 1, "scales">,
      I32EnumCase<"Plain", 2, "plain">]> {
  let cppNamespace = "::blockscale::nki";
}

def BlockscaleNKI_HostTensorAttr : BlockscaleNKI_Attr<"HostTensor", "parameter"> {
  let summary = "what a kernel expects in one of its parameters";
  let description = [{
    `source` is the type of the tensor that the parameter is made from:
    `packed` is its elements by fours of K, `scales` one byte for each 32 of K,
    both transposed; `plain` is the tensor as it is, a batch in front of the
    rows.

    ```mlir
    #blockscale_nki.parameter<"a_data", packed, "a" : !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name in the kernel">:$name,
    "::blockscale::nki::HostForm":$form,
    StringRefParameter<"operand of the product">:$operand,
    "::mlir::Type":$source);
  let assemblyFormat = "`<` $name `,` $form `,` $operand `:` $source `>`";
}

#endif // BLOCKSCALE_NKI_TYPES_TD
