//===- Dequantize.h - values of narrow numbers, slowly ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `blockscale.dequantize` computes, one element at a time, from the tables
// of Formats. Shares nothing with what kernels do.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_DEQUANTIZE_H
#define BLOCKSCALE_REFERENCE_DEQUANTIZE_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/Result.h"

#include <optional>

namespace blockscale::reference {

/// The value of `code` under a scale and the tensor scale of its matrix, if
/// there is one: each product rounded to f32, a finite one bounded by the
/// largest f32.
float dequantize(ElementFormat element, uint32_t code, ElementFormat scale,
                 uint32_t scaleCode, std::optional<float> tensorScale);

/// The same under a scale of f32, f16 or bf16, where integers count in 1, or
/// under one of all of K.
float dequantize(ElementFormat element, uint32_t code, float scale);

/// The same of an integer without a sign and a zero point: one that counts in
/// steps of the scale, or one in real units.
float dequantizeWithZero(uint32_t code, float scale, float zero, bool isReal);

/// The code of `value` in `format`, BF16 or F16: the nearest, ties to even.
/// What is finite stays finite.
uint32_t narrowed(ElementFormat format, float value);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_DEQUANTIZE_H
