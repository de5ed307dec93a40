//===- Check.h - is this matrix instruction legal? --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions to the legality table of Mma.h. Every client, from the verifier to
// the command line, passes on the sentences made here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_CHECK_H
#define BLOCKSCALE_HW_CHECK_H

#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Mma.h"

#include <optional>
#include <string>

namespace blockscale::hw {

/// One instruction on one target, in full. M, N, K as in Mma.h.
struct MmaQuery {
  Target target;
  MmaKind kind = MmaKind::MXF8F6F4;
  OperandType a = ElementFormat::E4M3;
  OperandType b = ElementFormat::E4M3;
  /// Type of both scales; empty for the kinds without scales.
  std::optional<ElementFormat> scale = ElementFormat::UE8M0;
  /// Number of PTX's `.blockN`: 16, 32, or 0 for the kinds without scales.
  unsigned block = 32;
  unsigned m = 128, n = 128, k = 32;
  unsigned ctaGroup = 1;
  bool sparse = false;
  OperandMajor aMajor = OperandMajor::K;
  OperandMajor bMajor = OperandMajor::K;
  unsigned sfaId = 0, sfbId = 0;
  /// Set to insist on tcgen05.mma or mma.sync; otherwise what the target has.
  std::optional<MmaFamily> family = std::nullopt;
};

/// The row that allows `query`; null if none does.
const MmaRow *findRow(const MmaQuery &query);

/// Empty if the target has the instruction; otherwise the first rule that
/// `query` breaks, what that rule allows, on which targets the wish would be
/// legal, and the nearest legal choice.
std::optional<Reason> whyNot(const MmaQuery &query);

/// The legal instruction that needs the least change of `query`: it keeps the
/// data types before the scales, those before sparsity, the kind, and the
/// shape. It stays on the target's chip (an "f" target may become the "a"
/// target). Empty only if the chip has no instruction at all.
std::optional<MmaQuery> nearestLegal(const MmaQuery &query);

/// What of `to` differs from `from`, e.g. "K = 64, N = 256"; empty if nothing.
std::string describeChange(const MmaQuery &from, const MmaQuery &to);

/// Why no instruction of `target` multiplies A by B with one scale of type
/// `scale` for every `scaleSpan` logical elements along K, with the spans that
/// it has for these types; empty if findSchemes() finds one. A sparse
/// instruction spans twice what its `.blockN` says.
std::optional<Reason> whyNotScaleSpan(OperandType a, OperandType b,
                                      ElementFormat scale, unsigned scaleSpan,
                                      bool sparse, Target target);

/// A question as typed on the command line; what is empty is chosen by us.
struct LegalityQuestion {
  std::string target;
  std::string kind, a, b, scale, family;
  std::optional<unsigned> block, m, n, k, ctaGroup;
  bool sparse = false;
  /// "k" or "mn".
  std::string aMajor, bMajor;
  std::optional<unsigned> sfaId, sfbId;
};

struct Legality {
  bool legal = false;
  /// One line: "legal: ..." or "illegal: ...".
  std::string text;
};

/// Answers `blockscale explain legality`; refused if a name cannot be read.
Result<Legality> explainLegality(const LegalityQuestion &question);

/// The whole table, one line per row, for `explain legality --all`: GitHub
/// Markdown for the documents, or CSV with a header line.
std::string legalityTableMarkdown();
std::string legalityTableCsv();

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_CHECK_H
