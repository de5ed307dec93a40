//===- Sparse.cpp - structured sparsity of operands -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Sparse.h"
#include "Handles.h"
#include "blockscale-c/Packing.h"

using namespace blockscale;
using namespace blockscale::capi;

namespace {
/// What the fields of BlockscaleSparse come to.
struct Sizes {
  hw::SparsePattern pattern;
  uint64_t codes, stored, tiled;
  hw::MetadataTensor tensor;
};
} // namespace

static constexpr uint64_t kMostBytes = uint64_t(1) << 62;

static uint64_t product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (uint64_t factor : factors)
    if (__builtin_mul_overflow(result, factor, &result) || result > kMostBytes)
      fail(BLOCKSCALE_INVALID_ARGUMENT, "the elements do not fit 62 bits");
  return result;
}

static Sizes sizesOf(const BlockscaleSparse *sparse) {
  requirePointer(sparse, "sparse");
  Sizes sizes;
  sizes.pattern =
      enumeratorOf<hw::SparsePattern>(sparse->pattern, 3, "pattern");
  if (sparse->bits != 4 && sparse->bits != 6 && sparse->bits != 8 &&
      sparse->bits != 16 && sparse->bits != 32)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "elements of " +
                                          std::to_string(sparse->bits) +
                                          " bits; there are 4, 6, 8, 16, 32");
  if (!sparse->batch || !sparse->rows || !sparse->k)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         "an operand of " + std::to_string(sparse->batch) + " x " +
             std::to_string(sparse->rows) + " x " + std::to_string(sparse->k) +
             " is empty");
  uint64_t codeBytes = sparse->bits <= 8 ? 1 : sparse->bits / 8;
  sizes.codes = product({sparse->batch, sparse->rows, sparse->k, codeBytes});
  sizes.tensor = {sizes.pattern, sparse->rows, sparse->k};
  if (std::optional<Reason> why = hw::whyNot(sizes.tensor))
    fail(BLOCKSCALE_REFUSED, why->text);
  uint64_t multiple = hw::elementsPerMetadataByte(sizes.pattern);
  if (sparse->k % multiple)
    fail(BLOCKSCALE_REFUSED,
         "k is " + std::to_string(sparse->k) + ", expected a multiple of " +
             std::to_string(multiple) + ", which a byte of metadata describes");
  sizes.stored = sizes.codes / 2;
  sizes.tiled = product({sparse->batch, hw::storageBytes(sizes.tensor)});
  return sizes;
}

BlockscaleStatus blockscaleSparseGetSizes(const BlockscaleSparse *sparse,
                                          uint64_t *storedBytes,
                                          uint64_t *metadataBytes) {
  return guarded([&] {
    requirePointer(storedBytes, "storedBytes");
    requirePointer(metadataBytes, "metadataBytes");
    Sizes sizes = sizesOf(sparse);
    *storedBytes = sizes.stored;
    *metadataBytes = sizes.tiled;
  });
}

BlockscaleStatus blockscaleCompress(const BlockscaleSparse *sparse,
                                    const void *codes, size_t codesSize,
                                    uint8_t padding, void *stored,
                                    size_t storedSize, void *metadata,
                                    size_t metadataSize) {
  return guarded([&] {
    Sizes sizes = sizesOf(sparse);
    requirePointer(codes, "codes");
    requirePointer(stored, "stored");
    requirePointer(metadata, "metadata");
    requireSize(codesSize, sizes.codes, "codes");
    requireSize(storedSize, sizes.stored, "stored");
    requireSize(metadataSize, sizes.tiled, "metadata");
    const auto *first = static_cast<const uint8_t *>(codes);
    Result<packing::CompressedOperand> compressed = packing::compressOperand(
        sizes.pattern, sparse->bits, sparse->k, {first, first + codesSize},
        sparse->isInteger ? hw::HighestBit::Number : hw::HighestBit::Sign);
    if (!compressed)
      fail(BLOCKSCALE_REFUSED, compressed.why().text);
    auto tiled = packing::tileMetadata(sizes.tensor, sparse->batch,
                                       compressed->metadata, padding);
    if (!tiled || tiled->size() != metadataSize ||
        compressed->stored.size() != storedSize)
      fail(BLOCKSCALE_INTERNAL, "the metadata have no layout");
    std::memcpy(stored, compressed->stored.data(), storedSize);
    std::memcpy(metadata, tiled->data(), metadataSize);
  });
}
