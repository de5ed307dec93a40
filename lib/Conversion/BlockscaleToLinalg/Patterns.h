//===- Patterns.h - the patterns of the conversion --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PATTERNS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PATTERNS_H

#include "Parts.h"
#include "mlir/Transforms/DialectConversion.h"

namespace blockscale {

/// A conversion that may have to decode numbers.
template <typename SourceOp>
struct ScaledPattern : mlir::OpConversionPattern<SourceOp> {
  ScaledPattern(const mlir::TypeConverter &converter,
                mlir::MLIRContext *context, bool useExtf)
      : mlir::OpConversionPattern<SourceOp>(converter, context),
        useExtf(useExtf) {}

  bool useExtf;
};

/// `launch`, which becomes `launch_into`.
void populateLaunchPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// `matmul`.
void populateMatmulPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns, bool useExtf);
/// `quantize` and `dequantize`.
void populateQuantizePatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns, bool useExtf);
/// `tile_sums`.
void populateTileSumsPatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns, bool useExtf);
/// `prune`, `compress` and `densify`.
/// Where `checkSparsity`, `compress` asserts that its input has its pattern.
void populateSparsePatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            bool checkSparsity);
/// `assemble`, `disassemble`, `relayout`, `slice_rows` and `dim`.
void populateStoragePatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
/// Of these `assemble` and `disassemble`.
void populatePartsPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);
/// What passes values on: functions, calls, `scf` and `cf`.
void populateValueFlowConversions(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  mlir::ConversionTarget &target);

/// The sizes of the sums of a tensor of these `sizes` over tiles of `tile`
/// elements along K, of all of them if that is 0.
llvm::SmallVector<mlir::OpFoldResult>
tileSumSizes(Emitter &emitter, llvm::ArrayRef<mlir::OpFoldResult> sizes,
             int64_t tile);

/// A product whose K is in groups as a loop of products, one for each.
mlir::Value splitGroupsAlongK(MatmulOp op);

/// Writes the grouped products under `root` as loops of products, and
/// quantisations of groups as such of all rows.
void splitGroups(mlir::Operation *root);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PATTERNS_H
