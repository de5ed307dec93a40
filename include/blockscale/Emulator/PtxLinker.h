//===- PtxLinker.h - several pieces of PTX as one module --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvlink does with machine code: functions and variables that a piece
// declares and another defines come together by name (PTX ISA, section "Linking
// Directives"). The result is text again, so that whatever takes PTX takes it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_PTXLINKER_H
#define BLOCKSCALE_EMULATOR_PTXLINKER_H

#include <optional>
#include <string>
#include <vector>

namespace blockscale::emulator {

/// A module that is to be linked.
struct PtxPiece {
  std::string name; ///< What messages call it.
  std::string text;
};

/// The linked text, or at least one error.
struct PtxLinkResult {
  std::optional<std::string> text;
  /// Lower case, without full stop; each names the piece and the symbol.
  std::vector<std::string> errors;
  /// Names that some piece declares and none defines, each with the first piece
  /// that does; those that the machine itself provides are not among them. An
  /// error to most linkers, but left to the caller: a kernel that uses one is
  /// refused when it is launched.
  std::vector<std::string> unresolved;

  explicit operator bool() const { return text.has_value(); }
};

/// Links the pieces in their order. A `.visible` definition may exist once; it
/// goes before `.common` ones, of which the largest counts, and these before
/// `.weak` ones, of which the first counts. What has no linkage stays its
/// piece's own and gets a new name where another piece has that name too. The
/// version is the newest of all pieces, the target that of the newest chip.
/// Tables of debuggers are left out, but for lines and the names of inlined
/// functions.
PtxLinkResult linkPtx(const std::vector<PtxPiece> &pieces);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_PTXLINKER_H
