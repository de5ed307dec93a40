//===- Sparse.cpp - structured sparsity of whole operands -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Sparse.h"
#include "blockscale/Packing/Storage.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::packing;

/// What units are compared by: squares order single elements as magnitudes do.
static double weight(const float *unit, unsigned width) {
  double sum = 0;
  for (unsigned i = 0; i < width; ++i)
    sum += double(unit[i]) * unit[i];
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

std::vector<bool> packing::keptElements(const PruneRule &rule,
                                        const std::vector<float> &values) {
  unsigned width = rule.pairs ? 2 : 1;
  unsigned units = rule.group / width, keep = rule.keep / width;
  std::vector<bool> kept(values.size());
  std::vector<unsigned> order(units);
  for (size_t first = 0; first + rule.group <= values.size();
       first += rule.group) {
    auto weightOf = [&](unsigned unit) {
      return weight(values.data() + first + unit * width, width);
    };
    for (unsigned unit = 0; unit < units; ++unit)
      order[unit] = unit;
    std::sort(order.begin(), order.end(), [&](unsigned x, unsigned y) {
      double a = weightOf(x), b = weightOf(y);
      return a != b ? a > b : x < y;
    });
    for (unsigned i = 0; i < keep; ++i)
      for (unsigned j = 0; j < width; ++j)
        kept[first + order[i] * width + j] = true;
  }
  return kept;
}

/// The number in `bytes` bytes, the low one first.
static uint32_t readCode(const uint8_t *from, unsigned bytes) {
  uint32_t code = 0;
  for (unsigned i = bytes; i-- > 0;)
    code = code << 8 | from[i];
  return code;
}

Result<CompressedOperand>
packing::compressOperand(hw::SparsePattern pattern, unsigned elementBits,
                         uint64_t k, const std::vector<uint8_t> &codes,
                         hw::HighestBit highestBit) {
  unsigned bytes = elementBits <= 8 ? 1 : elementBits <= 16 ? 2 : 4;
  uint64_t count = codes.size() / bytes;
  if (k == 0 || codes.size() % bytes != 0 || count % k != 0)
    return Reason(std::to_string(count) + " elements are no whole rows of " +
                  std::to_string(k));
  CompressedOperand result;
  std::vector<uint32_t> logical(k);
  for (uint64_t row = 0; row < count / k; ++row) {
    for (uint64_t i = 0; i < k; ++i)
      logical[i] = readCode(&codes[(row * k + i) * bytes], bytes);
    auto compressed = hw::compress(pattern, elementBits, logical, highestBit);
    if (!compressed)
      return Reason("row " + std::to_string(row) + ": " +
                    compressed.why().text);
    for (uint32_t code : compressed->stored)
      for (unsigned i = 0; i < bytes; ++i)
        result.stored.push_back(uint8_t(code >> 8 * i));
    result.metadata.insert(result.metadata.end(), compressed->metadata.begin(),
                           compressed->metadata.end());
  }
  return result;
}

std::optional<std::vector<uint8_t>>
packing::tileMetadata(const hw::MetadataTensor &tensor, uint64_t batch,
                      const std::vector<uint8_t> &plain, uint8_t padding) {
  if (hw::whyNot(tensor))
    return std::nullopt;
  ByteMatrices matrices{
      batch, tensor.m,
      hw::ceilDiv(tensor.k, hw::elementsPerMetadataByte(tensor.pattern))};
  if (plain.size() != batch * tensor.m * matrices.blocks)
    return std::nullopt;
  std::vector<uint8_t> tiled(batch * hw::storageBytes(tensor), padding);
  toStorage(hw::kTiledMetadata, matrices, plain.data(), tiled.data());
  return tiled;
}
