//===- DataReport.h - what copies find in their data ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies with `.mbarrier::report::validity::` look for a number that stands for
// data that are not there yet (PTX ISA 9.4, "Report mechanisms for asynchronous
// copy operations").
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_DATAREPORT_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_DATAREPORT_H

#include <cstdint>

namespace blockscale::emulator {

/// What is looked for: -0 of a type in a sample of each aligned 16 bytes, or
/// elements of ones.
enum class DataReport : uint8_t { None, F32, F16, F8, F4, Elements };

/// Whether it is in `count` bytes from the global address on; elements are
/// bytes, or half of one.
bool isReported(DataReport report, const uint8_t *bytes, uint64_t address,
                uint64_t count, bool halfBytes);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_DATAREPORT_H
