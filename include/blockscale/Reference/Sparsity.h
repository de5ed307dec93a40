//===- Sparsity.h - which elements of a group stay, slowly ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `blockscale.prune` and `blockscale.compress` do to one group. Shares
// nothing with what kernels do.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_SPARSITY_H
#define BLOCKSCALE_REFERENCE_SPARSITY_H

#include <cstdint>
#include <vector>

namespace blockscale::reference {

/// Which elements of `group` stay if `keep` of them do: those of largest
/// magnitude, of equal ones the first. `pairs` stay or go together, by the sum
/// of their squares. NaN weighs as much as infinity.
std::vector<bool> staying(const std::vector<float> &group, unsigned keep,
                          bool pairs);

/// The four bits of metadata for a group of four units of which two are stored,
/// by which of them are not zero, at most two: the places of those, the lower
/// one in the lower bits; of a single one with the last place, or with the
/// first if it is the last; of none the first two (PTX ISA, "Sparse matrix
/// storage").
unsigned nibbleOfFour(const std::vector<bool> &used);

/// The same of two elements of which one is stored, tf32.
unsigned nibbleOfTwo(const std::vector<bool> &used);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_SPARSITY_H
