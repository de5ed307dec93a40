//===- Tensors.h - what formats and pruning do to weights -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_ADVICE_TENSORS_H
#define BLOCKSCALE_ADVICE_TENSORS_H

#include "blockscale/Advice/Gemm.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/Packing/Quantize.h"

namespace blockscale::advice {

/// How far values are from those that they became.
struct ErrorStats {
  uint64_t count = 0;
  double signal = 0, noise = 0, largestValue = 0, largestError = 0;
  /// Errors by size: bin i counts those from 2^(i - kBins) to twice that, as
  /// fractions of the largest value; the first bin has all smaller ones too.
  static constexpr unsigned kBins = 20;
  std::array<uint64_t, kBins> bins{};

  void add(double value, double became);
  /// 10 log10(signal / noise) in decibels; infinite without noise.
  double sqnr() const;
  void finish();

private:
  /// Before the largest value is known, by the error's own exponent.
  static constexpr int kLowest = -160, kHighest = 160;
  std::array<uint64_t, kHighest - kLowest + 1> byExponent{};
};

/// The groups of a pattern in some rows.
struct GroupStats {
  uint64_t groups = 0;
  /// With no more nonzero units than the pattern keeps.
  uint64_t conforming = 0;
  /// Sums of squares: of all values, and of those that pruning drops.
  double energy = 0, dropped = 0;

  /// Groups that lose something by pruning.
  uint64_t violating() const { return groups - conforming; }
};

/// Adds the groups of `values`, whole groups of them.
void countGroups(hw::SparsePattern pattern, const std::vector<float> &values,
                 GroupStats &stats);

/// What a format makes of a parameter.
struct FormatError {
  const GemmFormat *format = nullptr;
  ErrorStats error;
  /// Of weights, scales and metadata.
  double bytes = 0;
};

/// Formats whose weights are measured: those of gemmFormats() with block
/// scales, each kind of weights once.
std::vector<const GemmFormat *> measuredFormats();

/// Quantises `tensor` to the measured formats, sparse ones pruned first, and
/// compares. Formats that its rows do not fit are left out, and all of them for
/// a tensor with infinite values or NaN, which none of them keeps.
Result<std::vector<FormatError>>
measureFormats(const checkpoint::Checkpoint &checkpoint,
               const checkpoint::QuantizedTensor &tensor);

/// The groups of both patterns in `tensor`; nothing for a pattern that its rows
/// are no multiple of.
struct SparsityReport {
  std::optional<GroupStats> twoOfFour, pairs;
  uint64_t zeros = 0, count = 0;
};
Result<SparsityReport>
measureSparsity(const checkpoint::Checkpoint &checkpoint,
                const checkpoint::QuantizedTensor &tensor);

/// Why published recipes leave a parameter of this name in 16 bits; empty if
/// they do not. ModelOpt and llm-compressor both leave the head, embeddings and
/// routers of experts.
std::string_view whyLeft(std::string_view name);

/// The fastest of the measured formats that keeps `leastSqnr` decibels, or null
/// for bf16. `times` are those of adviseGemm().
const FormatError *chooseFormat(const std::vector<FormatError> &errors,
                                const std::vector<GemmAdvice> &times,
                                double leastSqnr);

} // namespace blockscale::advice

#endif // BLOCKSCALE_ADVICE_TENSORS_H
