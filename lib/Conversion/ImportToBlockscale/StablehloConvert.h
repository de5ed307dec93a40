//===- StablehloConvert.h - numbers from one type to another ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLOCONVERT_H
#define BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLOCONVERT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale::importer {

/// Bits of the type in which narrower floats are computed.
constexpr unsigned kSingleBits = 32;

mlir::Type elementOf(mlir::Value value);

/// A tensor of the shape of `like` with this bit pattern, or this number.
mlir::Value splatInt(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                     mlir::Type element, int64_t value);
mlir::Value splatFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                       double value);

/// Floats of any width as f32.
mlir::Value toSingle(mlir::ImplicitLocOpBuilder &b, mlir::Value value);
/// Floats as other floats; an error at `op` where that is not taken.
mlir::FailureOr<mlir::Value> floatToFloat(mlir::ImplicitLocOpBuilder &b,
                                          mlir::Operation *op,
                                          mlir::Value value,
                                          mlir::FloatType element);
/// stablehlo.convert.
mlir::FailureOr<mlir::Value> convert(mlir::ImplicitLocOpBuilder &b,
                                     mlir::Operation *op);

} // namespace blockscale::importer

#endif // BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_STABLEHLOCONVERT_H
