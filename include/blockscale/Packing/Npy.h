//===- Npy.h - arrays in .npy files -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the array files of numpy: format versions 1 to 3, little
// endian, C order. Nothing in a file is trusted: a header that does not fit
// the bytes after it is refused.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_NPY_H
#define BLOCKSCALE_PACKING_NPY_H

#include "blockscale/Formats/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::packing {

/// Element types that a file may have. Types that numpy does not know (bf16 and
/// the narrow floats of ml_dtypes) are stored by it as raw bytes, `V1` or `V2`,
/// and read as U8 and U16.
enum class NpyType : uint8_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F16,
  F32,
  F64
};

/// Bytes of one element: 1, 2, 4 or 8.
unsigned npyTypeSize(NpyType type);

/// numpy's name without the byte order: `u1`, `f4`, ...
std::string_view npyTypeName(NpyType type);

/// An array in C order: the last index varies fastest.
struct NpyArray {
  NpyType type = NpyType::U8;
  /// Empty for a scalar.
  std::vector<uint64_t> shape;
  /// elementCount() * npyTypeSize(type) bytes, little endian.
  std::vector<uint8_t> data;

  uint64_t elementCount() const;
};

/// What stands before the data of a file.
struct NpyHeader {
  NpyType type = NpyType::U8;
  /// The type as written, such as "<f4": it tells raw bytes from integers.
  std::string descr;
  std::vector<uint64_t> shape;
  /// Where the data start, and their bytes.
  uint64_t offset = 0, bytes = 0;
};

/// Bytes from the start of a file that hold any header of it that is read.
inline constexpr uint64_t kMaxNpyHeaderBytes = uint64_t(1) << 20;

/// Reads the header of a file of `fileBytes`, of which the first `size` are
/// there; the same is refused as by parseNpy().
Result<NpyHeader> parseNpyHeader(const uint8_t *bytes, size_t size,
                                 uint64_t fileBytes);

/// The bytes before the data of a version 1 file; empty if the shape has more
/// dimensions than such a header can hold.
std::string formatNpyHeader(NpyType type, const std::vector<uint64_t> &shape);

/// Reads a whole file held in memory. Refuses big-endian and Fortran-order
/// arrays, other element types, and any disagreement between header and size.
Result<NpyArray> parseNpy(const uint8_t *bytes, size_t size);

/// Reads the file `path`; the reason names it.
Result<NpyArray> readNpy(const std::string &path);

/// The bytes of a version 1 file; the data start at a multiple of 64.
/// Nothing if `data` does not have the size that the shape asks for, or the
/// shape has more dimensions than a version 1 header can hold.
std::optional<std::vector<uint8_t>> formatNpy(const NpyArray &array);

/// Writes the file `path`. Returns why it could not; nothing if it did.
std::optional<Reason> writeNpy(const std::string &path, const NpyArray &array);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_NPY_H
