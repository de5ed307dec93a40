//===- TranslateToPTX.h - LLVM dialect to LLVM IR and PTX -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last two steps of the compiler: a module in the LLVM and NVVM dialects
// becomes LLVM IR, and that becomes PTX text. Only LLVM's NVPTX back end is
// initialised, so that a process that compiles one kernel starts fast.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_TRANSLATETOPTX_H
#define BLOCKSCALE_TARGET_PTX_TRANSLATETOPTX_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace blockscale {

/// What PTX to write.
struct PTXOptions {
  /// The chip, with its suffix: "sm_100a", "sm_103a", "sm_110a", ...
  std::string chip = "sm_100a";

  /// The PTX version times ten. Block-scaled MMAs with a block size in their
  /// name need at least 88, so does sm_103a; sm_110a needs 90, which is also
  /// the newest that LLVM 22.1 writes and the one of CUDA 13.0. The header
  /// names a newer one if the chip or inline assembly in the module needs it.
  unsigned ptxVersion = 90;

  /// LLVM's optimisation level, 0 to 3, of middle end and back end.
  unsigned optLevel = 3;
};

/// Registers the dialects that such a module may hold (builtin, GPU, LLVM,
/// NVVM) together with their translations to LLVM IR. The context of a module
/// must know them before one of the functions below is called.
void registerPTXTranslations(mlir::DialectRegistry &registry);

/// Returns the LLVM IR of `module` as text, before any optimisation. `module`
/// and the errors are those of `translateToPTX`.
mlir::FailureOr<std::string> translateToLLVMIR(mlir::Operation *module,
                                               const PTXOptions &options);

/// Returns the PTX of `module`: a `gpu.module` or `builtin.module` whose
/// functions are `llvm.func`, with at least one that has a body. Functions
/// with `nvvm.kernel` become entries. Equal modules and options give equal
/// text.
///
/// Emits an error at `module` and fails on: an unknown chip, PTX version or
/// optimisation level; an op without a translation; and whatever LLVM refuses,
/// its fatal errors included (an instruction that the chip lacks). After a
/// fatal error the memory of that one compilation is not given back.
///
/// May be called from several threads with modules of different contexts.
mlir::FailureOr<std::string> translateToPTX(mlir::Operation *module,
                                            const PTXOptions &options);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_TRANSLATETOPTX_H
