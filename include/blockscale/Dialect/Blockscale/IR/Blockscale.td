//===- Blockscale.td - everything TableGen reads -----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TD
#define BLOCKSCALE_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleInterfaces.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleTensorOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleSparseOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleProductOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleScheduleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleLaunchAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelTypes.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleEpilogueOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleConvertOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleStoreOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleSyncOps.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleWarpOps.td"

#endif // BLOCKSCALE_TD
