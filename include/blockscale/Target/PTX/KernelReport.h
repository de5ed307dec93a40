//===- KernelReport.h - fill a report from kernels --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_KERNELREPORT_H
#define BLOCKSCALE_TARGET_PTX_KERNELREPORT_H

#include "blockscale/Target/PTX/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace blockscale {

/// The report of all kernels of `module`, read from their ops at the kernel
/// level after `blockscale-assign-memory` and `blockscale-assign-steps`.
/// Emits an error and fails on a kernel without an MMA or without assignments.
mlir::FailureOr<Report> buildReport(mlir::ModuleOp module);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_KERNELREPORT_H
