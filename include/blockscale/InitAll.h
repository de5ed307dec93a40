//===- InitAll.h - all dialects, passes and pipelines -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program registers that reads, prints or transforms our IR. Nothing is
// loaded before IR needs it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_INITALL_H
#define BLOCKSCALE_INITALL_H

namespace mlir {
class DialectRegistry;
}

namespace blockscale {

/// Our dialect and all that inputs and the stages of the compiler use.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The same without what bufferization has to know of them
/// (`registerHostExtensions`), for which upstream loads linalg and memref as
/// soon as a context meets a tensor: a third of what compiling a kernel adds to
/// the memory of a process that has loaded MLIR.
void registerDialects(mlir::DialectRegistry &registry);

/// Our passes, by their names on a command line. Once in a process.
void registerAllPasses();

/// `blockscale-pipeline`. Once in a process.
void registerAllPipelines();

} // namespace blockscale

#endif // BLOCKSCALE_INITALL_H
