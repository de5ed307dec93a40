//===- Acme.h - a dialect beside blockscale's -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACME_H
#define ACME_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "AcmeDialect.h.inc"

#define GET_OP_CLASSES
#include "AcmeOps.h.inc"

namespace acme {

/// `acme-linear-to-blockscale`: layers to products.
void registerPasses();

} // namespace acme

#endif // ACME_H
