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
#include "mlir/Support/LLVM.h"

namespace mlir::gpu {
class GPUModuleOp;
}

namespace blockscale {

/// The report of the kernels of `kernels`, read from their ops at the kernel
/// level after `blockscale-assign-memory` and `blockscale-assign-steps`.
/// Emits an error and fails on a kernel without an MMA or without assignments.
mlir::FailureOr<Report> buildReport(mlir::gpu::GPUModuleOp kernels);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_KERNELREPORT_H
