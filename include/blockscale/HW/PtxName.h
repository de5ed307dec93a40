//===- PtxName.h - names of kernels -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_PTXNAME_H
#define BLOCKSCALE_HW_PTXNAME_H

#include <string>
#include <string_view>

namespace blockscale::hw {

/// The name of the kernel that is made of something called `source`: a letter
/// or underscore, then letters, digits and underscores, so that it is an
/// identifier of PTX and of C++ alike. A `source` that is one already stays as
/// it is, but for the few names that PTX or our own PTX and launchers use
/// themselves. Every other character becomes an underscore; names that differ
/// may become the same.
std::string ptxName(std::string_view source);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_PTXNAME_H
