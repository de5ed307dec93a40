//===- CompileReport.h - a page about compiled kernels ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_COMPILEREPORT_H
#define BLOCKSCALE_LIB_DRIVER_COMPILEREPORT_H

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Compiler/ScheduleReport.h"

namespace blockscale::driver {

/// What the page is made from besides the compilation.
struct ReportInput {
  /// The file that was compiled, as the user wrote it.
  std::string path;
  std::vector<ScheduleReport> schedules;
  /// Value of a dynamic M of the timeline's run; 0 is a small one of ours.
  int64_t rows = 0;
};

/// A page of HTML that needs nothing else: for each kernel its sizes,
/// instruction, epilogue, schedule with what it was chosen from, memory maps,
/// places of scale bytes and the estimated timeline, for which one cluster runs
/// on the emulator.
std::string printReportPage(const Compilation &compilation,
                            const ReportInput &input);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_COMPILEREPORT_H
