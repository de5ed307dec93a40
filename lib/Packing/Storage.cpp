//===- Storage.cpp - rows of bytes into a layout and back -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Storage.h"

#include <algorithm>
#include <cstring>

using namespace blockscale;
using namespace blockscale::packing;

static hw::StorageLayout<std::uint64_t>
storageOf(const hw::Layout &layout, const ByteMatrices &matrices) {
  return hw::storageLayout(layout, {{hw::Dim::Row, matrices.rows},
                                    {hw::Dim::Block, matrices.blocks}});
}

/// Blocks of a row that are neighbours in the storage too.
static std::uint64_t runLength(const hw::StorageLayout<std::uint64_t> &storage,
                               std::uint64_t blocks) {
  auto fastest = hw::joined(storage).digits.back();
  if (fastest.term.source != hw::Dim::Block || fastest.term.divisor != 1)
    return 1;
  return fastest.term.modulus ? fastest.term.modulus : blocks;
}

/// Calls `visit(plain, stored)` for every whole run, and `visitPart(plain,
/// stored, count)` for what is left of a row. Places are sums of what row and
/// block add, so each is computed once.
template <typename Visit, typename VisitPart>
static void forEachRun(const hw::Layout &layout, const ByteMatrices &matrices,
                       Visit visit, VisitPart visitPart) {
  hw::StorageLayout<std::uint64_t> storage = storageOf(layout, matrices);
  std::uint64_t run = runLength(storage, matrices.blocks);
  std::uint64_t whole = matrices.blocks / run, rest = matrices.blocks % run;
  std::vector<std::uint64_t> ofRun;
  for (std::uint64_t i = 0; i < whole + (rest != 0); ++i)
    ofRun.push_back(storage.offset({{hw::Dim::Block, i * run}}));
  for (std::uint64_t batch = 0; batch < matrices.batch; ++batch)
    for (std::uint64_t row = 0; row < matrices.rows; ++row) {
      std::uint64_t plain = (batch * matrices.rows + row) * matrices.blocks;
      std::uint64_t stored =
          storage.offset({{hw::Dim::Batch, batch}, {hw::Dim::Row, row}});
      for (std::uint64_t i = 0; i < whole; ++i)
        visit(plain + i * run, stored + ofRun[i]);
      if (rest)
        visitPart(plain + whole * run, stored + ofRun[whole], rest);
    }
}

/// forEachRun with copies of a length that the compiler knows where it is one
/// of the usual ones.
template <typename Copy>
static void copyRuns(const hw::Layout &layout, const ByteMatrices &matrices,
                     Copy copy) {
  if (matrices.blocks == 0)
    return;
  std::uint64_t run = runLength(storageOf(layout, matrices), matrices.blocks);
  auto with = [&](auto length) {
    forEachRun(
        layout, matrices,
        [&](std::uint64_t plain, std::uint64_t stored) {
          copy(plain, stored, length);
        },
        copy);
  };
  if (run == 4)
    with(std::integral_constant<std::size_t, 4>());
  else if (run == 16)
    with(std::integral_constant<std::size_t, 16>());
  else
    with(static_cast<std::size_t>(run));
}

std::uint64_t packing::storageBytes(const hw::Layout &layout,
                                    const ByteMatrices &matrices) {
  return storageOf(layout, matrices).matrixBytes * matrices.batch;
}

void packing::toStorage(const hw::Layout &layout, const ByteMatrices &matrices,
                        const std::uint8_t *plain, std::uint8_t *stored) {
  copyRuns(layout, matrices,
           [&](std::uint64_t from, std::uint64_t to, std::size_t count) {
             std::memcpy(stored + to, plain + from, count);
           });
}

void packing::fromStorage(const hw::Layout &layout,
                          const ByteMatrices &matrices,
                          const std::uint8_t *stored, std::uint8_t *plain) {
  copyRuns(layout, matrices,
           [&](std::uint64_t to, std::uint64_t from, std::size_t count) {
             std::memcpy(plain + to, stored + from, count);
           });
}
