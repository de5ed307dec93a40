//===- BlockscaleKernelAttrs.td - attributes of kernels -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELATTRS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleLaunchAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleScheduleAttrs.td"

//===----------------------------------------------------------------------===//
// Layouts of tensor memory
//===----------------------------------------------------------------------===//

def Blockscale_TmemAccumulatorAttr
    : AttrDef<Blockscale_Dialect, "TmemAccumulator"> {
  let mnemonic = "tmem_accumulator";
  let summary = "row m of the CTA's tile in lane m, column n in column n";
  let description = [{
    Layout D of the PTX ISA (cta_group 1, M = 128), and layout A (cta_group 2,
    M = 256), where each CTA of the pair holds its 128 rows. `copy_stride` is
    the distance in columns from one accumulator to the next; where it is
    smaller than the number of columns, the accumulators overlap.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$copy_stride);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Blockscale_TmemScalesAttr : AttrDef<Blockscale_Dialect, "TmemScales"> {
  let mnemonic = "tmem_scales";
  let summary = "where the scale of row r and K block j lies in tensor memory";
  let description = [{
    Scale j of row r: lane `r % 32` and its three replicas 32, 64 and 96 lanes
    further on, column `(j / 4) * word_stride + r / 32`, byte `j % 4`. With 128
    rows and a word stride of 1, which leaves no room for that, they are scales of
    A on sm_107 with one row to a lane: lane `r`, column `j / 4`, byte `j % 4`.
  }];
  let parameters = (ins "int64_t":$word_stride);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_TmemMetadataAttr
    : AttrDef<Blockscale_Dialect, "TmemMetadata"> {
  let mnemonic = "tmem_metadata";
  let summary = "byte b of the metadata of row r in lane r, column b / 4";
  let description = [{
    The metadata of an instruction take 8 bytes of a row, two columns, or 4 bytes
    with kinds f16 and tf32.
  }];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELATTRS_TD
