//===- BlockscaleNKI.h - kernels of AWS's NKI -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blockscale_nki dialect with its attributes, types and ops.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALENKI_IR_BLOCKSCALENKI_H
#define BLOCKSCALE_DIALECT_BLOCKSCALENKI_IR_BLOCKSCALENKI_H

#include "blockscale/NKI/Legality.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace blockscale::nki {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Buffer memory) {
  return os << llvm::StringRef(bufferName(memory));
}
} // namespace blockscale::nki

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIDialect.h.inc"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKITypes.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIOps.h.inc"

namespace blockscale::nki {

/// Name under which a product carries its ConfigAttr.
inline constexpr llvm::StringLiteral kConfigName = "blockscale_nki.config";

/// NKI's name of an element type of buffers: "float8_e4m3fn_x4", "uint8", ...
/// Empty if there is none.
llvm::StringRef elementTypeName(mlir::Type type);

/// The format of a builtin element type; none if no table of formats has it.
std::optional<ElementFormat> formatOf(mlir::Type type);

/// The plain type of NKI for a builtin type; none if there is none.
std::optional<PlainType> plainType(mlir::Type type);

} // namespace blockscale::nki

#endif // BLOCKSCALE_DIALECT_BLOCKSCALENKI_IR_BLOCKSCALENKI_H
