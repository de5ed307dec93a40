//===- Read.h - what an elementwise op reads of a tensor --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which element of which tensor is read behind broadcasts and changes of shape.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_READ_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_READ_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace blockscale::fuse {

/// A dimension of a source of which the only element is read.
inline constexpr int64_t kOne = -1;

/// One operand of an elementwise op.
struct Read {
  /// A tensor, or a number.
  mlir::Value source;
  /// For each dimension of the source that of the reader along which it runs,
  /// or `kOne`.
  llvm::SmallVector<int64_t> places;

  /// The dimensions of the reader along which the source changes.
  llvm::SmallVector<int64_t> alongWhich() const;
  /// The number that all elements are, if that is known.
  mlir::Attribute getConstant() const;
};

/// What `value` is a broadcast of, where its dimensions run along `places` of
/// the reader. Conversions of bf16 and f16 to f32 change no value and are left
/// out.
Read readOf(mlir::Value value, llvm::ArrayRef<int64_t> places);

/// The dimensions of an operand of a linalg op that `map` reads, or nothing if
/// it reads anything but single dimensions and zeros.
std::optional<llvm::SmallVector<int64_t>> placesOf(mlir::AffineMap map);

} // namespace blockscale::fuse

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_READ_H
