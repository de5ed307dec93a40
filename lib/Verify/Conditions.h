//===- Conditions.h - what a kernel must stand ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pieces of Conditions::Harsh (Verify.h): what a plan allows and a careful
// host would never do.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_CONDITIONS_H
#define BLOCKSCALE_LIB_VERIFY_CONDITIONS_H

#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// Scales, row by row, in a layout of memory; `padding` fills what none owns.
std::vector<uint8_t> layOutScales(const hw::Layout &layout,
                                  const hw::ScaleTensor &tensor,
                                  const std::vector<uint8_t> &plain,
                                  uint8_t padding);

/// Fills the padding of scales in `layout` with bytes from 0 to `largest`.
void drawScalePadding(const hw::Layout &layout, const hw::ScaleTensor &tensor,
                      unsigned largest, uint64_t seed,
                      std::vector<uint8_t> &tiled);

/// Fills the padding of tiled metadata with bytes whose halves are legal.
void drawMetadataPadding(const hw::MetadataTensor &tensor, uint64_t batch,
                         uint64_t seed, std::vector<uint8_t> &tiled);

/// Makes one number of one row NaN: a scale, or an element where there are no
/// scales. False if neither format has a NaN.
bool plantNaN(reference::Operand &operand, uint64_t k, uint64_t row,
              uint64_t seed);

/// Moves what each parameter points to so that its address is a multiple of the
/// alignment that the plan asks for and of no larger power of two.
void loosenPointers(const plan::Kernel &kernel, HostData &data);

/// `sizes` with as few SMs that every CTA walks five tiles or more, where the
/// product has so many.
plan::Environment fewSms(const plan::Kernel &kernel,
                         const plan::Environment &sizes);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_CONDITIONS_H
