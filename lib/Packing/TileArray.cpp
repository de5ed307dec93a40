//===- TileArray.cpp - arrays of bytes into a layout and back -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/TileArray.h"
#include "blockscale/Packing/Storage.h"

using namespace blockscale;
using namespace blockscale::packing;

/// Extents whose padded products surely fit 63 bits.
static constexpr uint64_t kMaxExtent = uint64_t(1) << 28;

static std::optional<Reason> whyNot(const NpyArray &array, uint64_t rows,
                                    uint64_t blocks) {
  if (npyTypeSize(array.type) != 1)
    return "elements are of type '" + std::string(npyTypeName(array.type)) +
           "', expected bytes";
  for (auto [name, extent] :
       {std::pair("rows", rows), std::pair("bytes of a row", blocks)})
    if (extent == 0 || extent > kMaxExtent)
      return std::to_string(extent) + " " + name + "; legal is 1 to " +
             std::to_string(kMaxExtent);
  return std::nullopt;
}

Result<NpyArray> packing::tileArray(const NpyArray &array,
                                    const hw::Layout &layout, uint8_t padding) {
  size_t rank = array.shape.size();
  if (rank < 2)
    return Reason("the array has " + std::to_string(rank) +
                  " dimensions; expected [..., rows, bytes]");
  uint64_t rows = array.shape[rank - 2], blocks = array.shape[rank - 1];
  if (auto why = whyNot(array, rows, blocks))
    return *why;
  hw::StorageLayout<uint64_t> storage = hw::storageLayout(
      layout, {{hw::Dim::Row, rows}, {hw::Dim::Block, blocks}});
  ByteMatrices matrices{array.data.size() / (rows * blocks), rows, blocks};
  NpyArray result{NpyType::U8, array.shape, {}};
  result.shape.resize(rank - 2);
  for (const auto &digit : storage.digits)
    result.shape.push_back(digit.extent);
  result.data.assign(storageBytes(layout, matrices), padding);
  toStorage(layout, matrices, array.data.data(), result.data.data());
  return result;
}

Result<NpyArray> packing::untileArray(const NpyArray &array,
                                      const hw::Layout &layout, uint64_t rows,
                                      uint64_t blocks) {
  if (auto why = whyNot(array, rows, blocks))
    return *why;
  uint64_t bytes = storageBytes(layout, {1, rows, blocks});
  if (array.data.empty() || array.data.size() % bytes != 0)
    return Reason("the array has " + std::to_string(array.data.size()) +
                  " bytes, which are no whole matrices of " +
                  std::to_string(bytes) + ": those of " + std::to_string(rows) +
                  " x " + std::to_string(blocks) + " with padding");
  ByteMatrices matrices{array.data.size() / bytes, rows, blocks};
  NpyArray result{NpyType::U8, {rows, blocks}, {}};
  if (matrices.batch > 1)
    result.shape.insert(result.shape.begin(), matrices.batch);
  result.data.resize(matrices.batch * rows * blocks);
  fromStorage(layout, matrices, array.data.data(), result.data.data());
  return result;
}
