//===- Legality.h - is this instruction of NKI legal? -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the public documents demand of `nki.isa.nc_matmul_mx` and
// `nki.isa.quantize_mx`, as a table of rules with their sources. Verifiers, the
// lowering and the command line ask it and pass its sentences on.
//
//   nc_matmul_mx: dst[m, n] (+)= sum over partitions p < P and q < 4 of
//     stationary[p, m].q * 2^(stationary_scale - 127)
//     * moving[p, n].q * 2^(moving_scale - 127)
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_LEGALITY_H
#define BLOCKSCALE_NKI_LEGALITY_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/Result.h"
#include "blockscale/NKI/Target.h"

#include <vector>

namespace blockscale::nki {

/// Where a tile lies.
enum class Buffer : uint8_t { Hbm, Sbuf, Psum };

/// Plain element types of tiles.
enum class PlainType : uint8_t { F32, BF16, F16, U8, U16, U32, E8M0 };

std::string_view bufferName(Buffer buffer);
/// NKI's name: "float32", "bfloat16", "float8_e8m0fnu", ...
std::string_view plainTypeName(PlainType type);
std::optional<PlainType> parsePlainType(std::string_view name);

/// An element type that NKI packs by fours.
struct PackedType {
  ElementFormat element;
  /// "float8_e4m3fn_x4".
  std::string_view name;
  /// Bits of the four together; element 0 is the least significant.
  unsigned bits;
};

/// The packed type of such elements; null if there is none.
const PackedType *findPackedType(ElementFormat element);

/// Elements of one packed value, and of the group that shares a scale.
inline constexpr unsigned kPack = 4;
inline constexpr unsigned kGroup = 32;
/// Partitions of a scale group: kGroup / kPack.
inline constexpr unsigned kGroupPartitions = 8;

/// Rows and columns of the tensor engine that an instruction uses.
struct RowTile {
  unsigned rows = 128, columns = 128;
  unsigned startRow = 0, startColumn = 0;
};

/// Which k position (p, q) of a tile holds, counted from the tile's first:
/// partitionStride * p + elementStride * q.
struct ContractionMap {
  unsigned partitionStride = kPack, elementStride = 1;

  friend constexpr bool operator==(ContractionMap a, ContractionMap b) {
    return a.partitionStride == b.partitionStride &&
           a.elementStride == b.elementStride;
  }
};

/// Any integer as a number of a query: one that has no place there becomes the
/// largest, which no rule allows.
inline unsigned saturated(int64_t value) {
  return value < 0 || value > int64_t(UINT32_MAX) ? UINT32_MAX : value;
}

/// One `nc_matmul_mx`, in full. Free sizes count packed values. What is left
/// empty follows from the rest.
struct MatmulQuery {
  Target target;
  ElementFormat stationary = ElementFormat::E4M3;
  ElementFormat moving = ElementFormat::E4M3;
  /// Whether there are scales, and what the instruction has no operand for:
  /// metadata of a structured-sparse operand, zero points.
  bool scaled = true, sparse = false, zeroPoints = false;
  ElementFormat scale = ElementFormat::UE8M0;
  /// Type of both scale tiles.
  PlainType scaleType = PlainType::U8;
  /// Logical elements along K that share a scale.
  unsigned block = kGroup;
  PlainType dst = PlainType::F32;
  Buffer dstBuffer = Buffer::Psum;
  Buffer operandBuffer = Buffer::Sbuf;
  /// Partitions of both operands and of the scale tiles.
  unsigned partitions = 128;
  unsigned movingPartitions = 128;
  unsigned scalePartitions = 128;
  /// First used partition of each quadrant of the scale tiles, counted from
  /// that of the data.
  int scaleOffset = 0;
  unsigned m = 128, n = 512;
  /// Shape of dst where it is not M by N, free sizes of the scale tiles where
  /// they are not those of their data.
  std::optional<unsigned> dstPartitions, dstFree;
  std::optional<unsigned> stationaryScaleFree, movingScaleFree;
  ContractionMap stationaryMap, movingMap;
  /// Given together or not at all.
  std::optional<std::pair<unsigned, unsigned>> tileSize, tilePosition;
  /// First SBUF partition of the stationary tile, and of the moving one where
  /// that is another.
  unsigned operandPartition = 0;
  std::optional<unsigned> movingPartition;
  /// First partition of the index through which data, and its scales, are
  /// read.
  std::optional<unsigned> dataIndex, scaleIndex;
  /// `psum_accumulate_flag` or `accumulate`, where given: of this instruction,
  /// or, if there are several, of all that write one PSUM tile, in order. No
  /// truth value stands for None.
  std::vector<unsigned> accumulateFlags;
  std::vector<std::optional<bool>> accumulate;
};

/// One `quantize_mx`. Sizes as of its source, [partitions, free].
struct QuantizeQuery {
  Target target;
  PlainType src = PlainType::BF16;
  ElementFormat dst = ElementFormat::E4M3;
  PlainType scaleType = PlainType::U8;
  Buffer srcBuffer = Buffer::Sbuf;
  Buffer dstBuffer = Buffer::Sbuf;
  unsigned partitions = 128;
  unsigned free = 512;
  unsigned scalePartitions = 128;
  int scaleOffset = 0;
  /// Partitions and free size of dst and free size of dst_scale where they are
  /// not P, F / 4 and F / 4.
  std::optional<unsigned> dstPartitions, dstFree, scaleFree;
};

/// Empty if the instruction is legal; otherwise the first rule that it breaks,
/// its source, and the nearest legal choice.
std::optional<Reason> whyNot(const MatmulQuery &query);
std::optional<Reason> whyNot(const QuantizeQuery &query);

/// The legal instruction that is reached by mending each broken rule with the
/// least change.
MatmulQuery nearestLegal(const MatmulQuery &query);
QuantizeQuery nearestLegal(const QuantizeQuery &query);

//===----------------------------------------------------------------------===//
// Accumulation groups
//===----------------------------------------------------------------------===//

// Bits of psum_accumulate_flag.
inline constexpr unsigned kFlagFirst = 1;
inline constexpr unsigned kFlagLast = 2;
inline constexpr unsigned kFlagOntoExisting = 4;

/// The flag of instruction `step` of a group of `steps` that overwrites.
unsigned accumulateFlag(unsigned step, unsigned steps);

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Partition of the scale tile, counted from the tile's first, that holds the
/// scales of partitions 8 * group to 8 * group + 7.
unsigned scalePartition(unsigned group, unsigned offset = 0);

/// Partitions of which the scale tile of an operand of `partitions` must have
/// at least.
unsigned minScalePartitions(unsigned partitions);

/// Position of logical k, counted from the tile's first: partition and element
/// of the packed value, where groups are 32 consecutive k.
struct ContractionPosition {
  unsigned partition, element;
};
ContractionPosition contractionPosition(unsigned k);

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

/// A question as typed; what is empty is chosen by us.
struct LegalityQuestion {
  std::string target;
  /// "nc_matmul_mx" (default) or "quantize_mx".
  std::string kind;
  /// Stationary and moving, or source and result of quantize_mx; `scale` is
  /// "none" for operands without.
  std::string a, b, scale, scaleType, dst, dstBuffer, srcBuffer;
  bool sparse = false, zeroPoints = false;
  std::optional<unsigned> block, partitions, m, n, k;
  std::optional<unsigned> movingPartitions, dstPartitions, dstFree;
  /// `scaleFree` is of stationary_scale or of dst_scale.
  std::optional<unsigned> scalePartitions, scaleFree, movingScaleFree;
  std::optional<int> scaleOffset;
  std::optional<unsigned> rowSize, columnSize, startRow, startColumn;
  std::optional<unsigned> operandPartition, movingPartition;
  std::optional<unsigned> dataIndex, scaleIndex;
  std::vector<unsigned> accumulateFlags;
  /// "true", "false" and "none", separated by commas.
  std::string accumulate;
  /// 4 and 1 for k = 4 * p + q; the second is of the moving tile if that has
  /// another.
  std::vector<unsigned> kMap, movingKMap;
};

struct Legality {
  bool legal = false;
  /// One line: "legal: ..." or "illegal: ...".
  std::string text;
};

/// Answers `blockscale explain legality --target=trn3`; refused if a name
/// cannot be read.
Result<Legality> explainLegality(const LegalityQuestion &question);

/// All rules for one target: instruction, what, legal values, source.
std::string rulesMarkdown(Target target);
std::string rulesCsv(Target target);

} // namespace blockscale::nki

#endif // BLOCKSCALE_NKI_LEGALITY_H
