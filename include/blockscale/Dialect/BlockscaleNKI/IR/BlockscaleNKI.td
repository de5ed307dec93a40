//===- BlockscaleNKI.td - kernels of AWS's NKI -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_TD
#define BLOCKSCALE_NKI_TD

include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIOps.td"

#endif // BLOCKSCALE_NKI_TD
