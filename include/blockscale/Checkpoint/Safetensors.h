//===- Safetensors.h - headers of .safetensors files ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is a length of 8 bytes, that many bytes of JSON, and the data:
//
//   {"__metadata__": {"key": "text"},
//    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
//
// Nothing in a file is trusted. What safetensors 0.8 refuses is refused: data
// that overlap, leave holes or end elsewhere than the file does.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_SAFETENSORS_H
#define BLOCKSCALE_CHECKPOINT_SAFETENSORS_H

#include "blockscale/Checkpoint/InputFile.h"
#include "blockscale/Formats/Format.h"

#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::checkpoint {

/// Element types of the format.
enum class DType : uint8_t {
  Bool,
  U8,
  I8,
  F4,
  F6E2M3,
  F6E3M2,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E5M2Fnuz,
  F8E4M3Fnuz,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64
};
inline constexpr unsigned kNumDTypes = static_cast<unsigned>(DType::U64) + 1;

/// Its name in the file: "F8_E4M3".
std::string_view dtypeName(DType type);
/// Bits of one element in the file; shapes count elements.
unsigned dtypeBits(DType type);
std::optional<DType> parseDType(std::string_view name);
/// The number format that the name promises; nothing for what no tensor core
/// multiplies.
std::optional<ElementFormat> elementFormat(DType type);

/// "[128, 64]".
std::string printShape(const std::vector<uint64_t> &shape);

/// One tensor of a file.
struct TensorEntry {
  std::string name;
  DType dtype = DType::U8;
  /// Empty for a scalar.
  std::vector<uint64_t> shape;
  /// First byte, counted from the start of the file, and bytes.
  uint64_t offset = 0, bytes = 0;

  uint64_t elementCount() const;
  /// Bytes that its type and shape need, rounded down to whole ones.
  uint64_t byteCount() const { return elementCount() * dtypeBits(dtype) / 8; }
};

/// What stands before the data.
struct SafetensorsHeader {
  /// In the order of their data.
  std::vector<TensorEntry> tensors;
  /// "__metadata__", in the order of the file.
  std::vector<std::pair<std::string, std::string>> metadata;

  /// The text of that key; null if there is none.
  const std::string *findMetadata(std::string_view key) const;
};

/// Bytes that a header may take, as in safetensors' own reader.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

/// The length of the header, from the 8 bytes at the start of a file of
/// `fileBytes`.
Result<uint64_t> parseHeaderLength(const uint8_t *start, uint64_t fileBytes);

/// The header `text` of a file of `fileBytes`.
Result<SafetensorsHeader> parseHeader(std::string_view text,
                                      uint64_t fileBytes);

/// Reads the header of a file; errors name it.
Result<SafetensorsHeader> readHeader(const InputFile &file);

/// The bytes before the data of a file with such tensors; their `offset` and
/// `bytes` are set, so that each lies at a multiple of its element's size. The
/// length is a multiple of 8, and depends on the metadata by their lengths
/// alone if these need no escape.
std::string formatHeader(SafetensorsHeader &header);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_SAFETENSORS_H
