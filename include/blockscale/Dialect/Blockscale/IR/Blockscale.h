//===- Blockscale.h - the dialect -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blockscale dialect with its attributes, types and ops.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H

#include "blockscale/Dialect/Blockscale/IR/HWFields.h"
#include "blockscale/Dialect/Blockscale/IR/KernelResources.h"
#include "blockscale/Formats/ScaleSpec.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Metadata.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.h.inc"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleEnums.h.inc"

namespace blockscale {
/// The sizes of a product, `ShapedType::kDynamic` where neither operand knows.
struct ProductSizes {
  int64_t m, n, k, batch;
};

class ScaledTensorType;
} // namespace blockscale

#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.h.inc"

namespace blockscale {
/// The chip that `op` is compiled for, if it or an op around it names one.
std::optional<hw::Target> findTarget(mlir::Operation *op);

/// The same, or `hw::kDefaultTarget`.
hw::Target getTarget(mlir::Operation *op);

/// The sizes of a product of two operands: what either of them knows.
ProductSizes productSizes(ScaledTensorType a, ScaledTensorType b);

/// The most that M, N, K or the batch of a kernel may be: its 32-bit arithmetic
/// goes up to a cluster of tiles past the end.
inline constexpr int64_t kMaxProductSize =
    (int64_t(1) << 31) - (int64_t(1) << 16);

/// Symbols of expressions over the sizes of a product whose rows are gathered:
/// M, N, K and the batch, the two of a grid, and the rows of A.
inline constexpr unsigned kTokensSymbol = 6, kSymbolsOfGathered = 7;

/// What an expression over the sizes of a product may be at most: symbols 0 to
/// 3 are M, N, K and the batch.
struct SizeLimit {
  mlir::AffineExpr value;
  int64_t maximum;
  /// What it limits: "number of CTAs".
  std::string what;
};

/// The limits of a kernel's grid and tensor maps that sizes up to
/// `kMaxProductSize` can exceed; those of static sizes are checked here. An
/// error if one of those is exceeded; `diagnose` starts it.
mlir::FailureOr<llvm::SmallVector<SizeLimit>>
sizeLimits(mlir::FunctionOpInterface kernel,
           llvm::function_ref<mlir::InFlightDiagnostic()> diagnose);

/// The question to the legality table that `mma` asks on `target`.
hw::MmaQuery legalityQuery(MmaAttr mma, hw::Target target);

/// What an accumulator of the instruction holds: i32 for kind i8, else f32.
mlir::Type accumulatorType(MmaAttr mma);

/// Whether kernels in tensor memory have tiles of `tileM` rows made of the
/// instruction: of one, or of two above each other that share B.
bool isTileM(MmaAttr mma, int64_t tileM);

/// Why a ring of `stages` cannot feed the instruction; empty if it can.
std::optional<Reason> whyNotStages(MmaAttr mma, int64_t stages);

/// Why the scales of the instruction cannot have the ring of their own that
/// `schedule` gives them, if it does.
std::optional<Reason> whyNotScaleRing(MmaAttr mma, ScheduleAttr schedule,
                                      hw::Target target);

/// The canonical tile that one stage of an operand's ring holds. K-major rings
/// are stages x rows x K, MN-major ones stages x row groups x K x rows.
hw::OperandTile operandTile(SharedType type, bool mnMajor);

/// Why kernels of chips without tensor memory do not have these tiles; empty
/// if they do.
std::optional<Reason> whyNotWarpTile(MmaAttr mma, int64_t tileM, int64_t tileN,
                                     int64_t tileK);

/// A lane's part of the sums of an mma.sync: four i32 or f32.
mlir::Type warpSumsOf(MmaAttr instruction);
} // namespace blockscale

namespace blockscale {

/// The plain tensors that a scaled tensor consists of; null where its spec has
/// no such part. `blockscale.assemble` says what shapes they have.
struct TensorParts {
  mlir::RankedTensorType data;
  mlir::RankedTensorType scales;
  mlir::RankedTensorType zeros;
  mlir::RankedTensorType tensorScale;
  mlir::RankedTensorType metadata;

  /// Those that are there, in the order of the fields.
  llvm::SmallVector<mlir::Type> present() const;
};

/// The parts of `type`. Refused if a part has no builtin type, as a scale
/// format that MLIR lacks.
Result<TensorParts> getTensorParts(ScaledTensorType type);

/// The number spec of elements of a builtin type: `f4E2M1FN` is `e2m1fnuz`,
/// `i8` is `int8`, `ui4` is `uint4`. None for integers wider than 8 bits and
/// types that hold no numbers.
std::optional<NumberSpec> getNumberSpec(mlir::Type elementType);

/// The builtin type of scales and zero points of a format; null if there is
/// none.
mlir::Type getBuiltinType(mlir::MLIRContext *context, const NumberSpec &spec);

/// The spec of the same scales over elements that are all stored.
ScaleSpec denseForm(ScaleSpec spec);

/// The pattern of instructions that a tensor is stored in; none if it is dense,
/// or if none of theirs has room for what it keeps. Whatever keeps 1 of 2, or
/// at most 2 of more, is stored as 2 of 4; of tf32 what keeps 1 as 1 of 2; and
/// e2m1 under e4m3 or e5m3, if it keeps 1 of 4 or at most 2 of more, as 4 of 8
/// in pairs.
std::optional<hw::SparsePattern> sparsePattern(ScaledTensorType type);

/// Whether aligned pairs of elements stay or go together.
bool keepsPairs(ScaledTensorType type);

/// How the elements of a sparse tensor are stored: of each `chunk` elements
/// along K so many as `stored`, and bytes of metadata for `perByte` elements
/// each. Where `isMask` a byte has a bit for each of them, the first the
/// lowest, which is set if it is stored.
struct SparseForm {
  int64_t stored = 1, chunk = 1, perByte = 1;
  bool isMask = false;
};
SparseForm sparseForm(ScaledTensorType type);

/// Why constant data cannot be compressed to the op's pattern; empty if they
/// can, or are not constant.
std::optional<Reason> whyNotCompressible(CompressOp op);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
