//===- Packing.cpp - numbers and scales into memory -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Packing.h"
#include "Support.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

using namespace blockscale::python;

namespace {

/// `size` bytes that `fill(data)` writes.
template <typename Fill> nb::bytes filled(uint64_t size, Fill fill) {
  std::string result(size, '\0');
  unlocked([&] { return fill(result.data()); });
  return bytesOf(result);
}

BlockscaleElements elementsOf(uint32_t bits, bool mnMajor, uint64_t batch,
                              uint64_t rows, uint64_t k, uint64_t rowPitch) {
  return {bits, mnMajor, batch, rows, k, rowPitch, 0};
}

nb::bytes packElements(nb::handle codes, uint32_t bits, bool mnMajor,
                       uint64_t batch, uint64_t rows, uint64_t k,
                       uint64_t rowPitch) {
  BlockscaleElements elements =
      elementsOf(bits, mnMajor, batch, rows, k, rowPitch);
  uint64_t size;
  check(blockscaleElementsGetSize(&elements, &size));
  Buffer from(codes, false);
  return filled(size, [&](void *to) {
    return blockscalePackElements(&elements, from.data(), from.size(), to,
                                  size);
  });
}

nb::bytes unpackElements(nb::handle memory, uint32_t bits, bool mnMajor,
                         uint64_t batch, uint64_t rows, uint64_t k,
                         uint64_t rowPitch, uint64_t codesSize) {
  BlockscaleElements elements =
      elementsOf(bits, mnMajor, batch, rows, k, rowPitch);
  Buffer from(memory, false);
  return filled(codesSize, [&](void *to) {
    return blockscaleUnpackElements(&elements, from.data(), from.size(), to,
                                    codesSize);
  });
}

nb::bytes packScales(nb::handle plain, int layout, uint64_t batch,
                     uint64_t rows, uint64_t blocks, uint8_t padding) {
  BlockscaleScales scales{BlockscaleScaleLayout(layout), batch, rows, blocks};
  uint64_t size;
  check(blockscaleScalesGetSize(&scales, &size));
  Buffer from(plain, false);
  return filled(size, [&](void *to) {
    return blockscalePackScales(&scales, from.data(), from.size(), padding, to,
                                size);
  });
}

nb::bytes unpackScales(nb::handle memory, int layout, uint64_t batch,
                       uint64_t rows, uint64_t blocks, uint64_t plainSize) {
  BlockscaleScales scales{BlockscaleScaleLayout(layout), batch, rows, blocks};
  Buffer from(memory, false);
  return filled(plainSize, [&](void *to) {
    return blockscaleUnpackScales(&scales, from.data(), from.size(), to,
                                  plainSize);
  });
}

nb::bytes encode(const std::string &format, nb::handle values,
                 uint64_t codesSize) {
  Buffer from(values, false);
  return filled(codesSize, [&](void *to) {
    return blockscaleEncode(slice(format),
                            static_cast<const float *>(from.data()),
                            from.size() / sizeof(float), to, codesSize);
  });
}

nb::bytes decode(const std::string &format, nb::handle codes, uint64_t count) {
  Buffer from(codes, false);
  return filled(count * sizeof(float), [&](void *to) {
    return blockscaleDecode(slice(format), from.data(), from.size(),
                            static_cast<float *>(to), count);
  });
}

/// The codes that are stored, and the metadata in their tiles.
std::pair<nb::bytes, nb::bytes> compress(int pattern, nb::handle codes,
                                         uint32_t bits, bool isInteger,
                                         uint64_t batch, uint64_t rows,
                                         uint64_t k, uint8_t padding) {
  BlockscaleSparse sparse{
      BlockscaleSparsePattern(pattern), bits, isInteger, batch, rows, k};
  uint64_t storedSize, metadataSize;
  check(blockscaleSparseGetSizes(&sparse, &storedSize, &metadataSize));
  Buffer from(codes, false);
  std::string stored(storedSize, '\0');
  nb::bytes metadata = filled(metadataSize, [&](void *to) {
    return blockscaleCompress(&sparse, from.data(), from.size(), padding,
                              stored.data(), stored.size(), to, metadataSize);
  });
  return {bytesOf(stored), metadata};
}

/// Element, scale, elements along K and rows that share one, zero, and elements
/// along K that share a table, 0 if all of a block do.
nb::tuple findDataType(const std::string &name) {
  BlockscaleDataType type;
  check(blockscaleFindDataType(slice(name), &type));
  return nb::make_tuple(text(type.element), text(type.scale), type.block,
                        type.rows, text(type.zero),
                        type.subtile > 1 ? type.subtile : 0);
}

} // namespace

void blockscale::python::definePacking(nb::module_ &m) {
  m.def("pack_elements", &packElements);
  m.def("unpack_elements", &unpackElements);
  m.def("pack_scales", &packScales);
  m.def("unpack_scales", &unpackScales);
  m.def("encode", &encode);
  m.def("decode", &decode);
  m.def("compress", &compress);
  m.def("find_data_type", &findDataType);
}
