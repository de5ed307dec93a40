//===- Mma.h - every matrix instruction we know -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The legality table: which matrix instruction exists on which target, with
// which types, scales, shapes and scale ids. Check.h answers questions with it.
//
// M, N and K are those of one instruction; with cta_group 2 they count the pair
// of CTAs. K is logical: for a sparse instruction it counts the elements before
// compression.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_MMA_H
#define BLOCKSCALE_HW_MMA_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::hw {

/// The instruction's `.kind`. The first three are block-scaled.
enum class MmaKind : uint8_t {
  MXF4,
  MXF4NVF4,
  MXF8F6F4,
  F8F6F4,
  F16,
  TF32,
  I8
};

/// tcgen05.mma (one thread issues, tensor memory accumulates) or mma.sync (a
/// warp, registers).
enum class MmaFamily : uint8_t { Tcgen05, MmaSync };

/// Which dimension of an operand is contiguous. MN: M for A, N for B.
enum class OperandMajor : uint8_t { K, MN };

/// How a row of the table is known.
enum class Source : uint8_t {
  IsaTable,      ///< Listed in the PTX ISA document.
  PublicKernels, ///< Public kernels use it, the document does not list it.
  Inferred       ///< Follows from a neighbouring row; nobody has shown it.
};

std::string_view kindName(MmaKind kind);
std::optional<MmaKind> parseKind(std::string_view name);
std::string_view familyName(MmaFamily family);
std::string_view sourceName(Source source);
const std::vector<MmaKind> &allKinds();

/// True for the kinds that take scale factors.
constexpr bool isBlockScaled(MmaKind kind) {
  return kind == MmaKind::MXF4 || kind == MmaKind::MXF4NVF4 ||
         kind == MmaKind::MXF8F6F4;
}

/// Bits that an element takes in shared memory: mxf4 and mxf4nvf4 read packed
/// nibbles; mxf8f6f4 and f8f6f4 one element of 8, 6 or 4 bits per byte.
constexpr unsigned containerBits(MmaKind kind) {
  switch (kind) {
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return 4;
  case MmaKind::MXF8F6F4:
  case MmaKind::F8F6F4:
  case MmaKind::I8:
    return 8;
  case MmaKind::F16:
    return 16;
  case MmaKind::TF32:
    break;
  }
  return 32;
}

/// Whether instructions of mxf8f6f4 with `k` elements read elements of 4 and 6
/// bits packed, as only the dense wide ones do (PTX ISA 9.4).
constexpr bool readsPacked(MmaKind kind, unsigned k, bool sparse) {
  constexpr unsigned kWideK = 64;
  return kind == MmaKind::MXF8F6F4 && k == kWideK && !sparse;
}

/// Bits that an element of `bits` takes in shared memory for such instructions.
constexpr unsigned storedBits(MmaKind kind, unsigned k, bool sparse,
                              unsigned bits) {
  return readsPacked(kind, k, sparse) ? bits : containerBits(kind);
}

/// What the elements of an A or B operand are: an element format; TF32, which
/// has no codec of its own because it is an f32 with low bits ignored; or
/// unsigned integers of 8 bits, which no scaled format has.
class OperandType {
public:
  constexpr OperandType(ElementFormat format)
      : index(static_cast<uint8_t>(format)) {}
  static constexpr OperandType tf32() { return OperandType(kTF32); }
  static constexpr OperandType uint8() { return OperandType(kUInt8); }

  /// The element format; empty for TF32 and unsigned integers.
  constexpr std::optional<ElementFormat> format() const {
    if (index >= kUInt8)
      return std::nullopt;
    return static_cast<ElementFormat>(index);
  }
  /// Lower-case name as in PTX: "e2m1", "tf32"; but "int8" and "uint8".
  std::string name() const;
  /// Width of the value in bits; TF32 counts its 32-bit container.
  unsigned bits() const;

  friend constexpr bool operator==(OperandType a, OperandType b) {
    return a.index == b.index;
  }
  friend constexpr bool operator!=(OperandType a, OperandType b) {
    return a.index != b.index;
  }
  friend std::size_t hash_value(OperandType type) { return type.index; }

private:
  friend class OperandTypeSet;
  static constexpr uint8_t kTF32 = 31, kUInt8 = 30;
  explicit constexpr OperandType(uint8_t index) : index(index) {}
  uint8_t index;
};

/// "e2m1", "tf32", ... and the spellings that Formats knows.
std::optional<OperandType> parseOperandType(std::string_view name);

/// A set of operand types.
class OperandTypeSet {
public:
  constexpr OperandTypeSet() = default;
  template <typename... Types>
  explicit constexpr OperandTypeSet(OperandType first, Types... rest)
      : mask((bit(first) | ... | bit(rest))) {}

  constexpr bool contains(OperandType type) const {
    return mask >> type.index & 1;
  }
  constexpr bool empty() const { return mask == 0; }
  /// Members in the order of the enum of formats.
  std::vector<OperandType> members() const;
  /// "e4m3, e5m2".
  std::string names() const;

private:
  static constexpr uint32_t bit(OperandType type) {
    return uint32_t(1) << type.index;
  }
  uint32_t mask = 0;
};

/// A set of "a" and "f" targets.
class TargetSet {
public:
  constexpr TargetSet() = default;
  template <typename... Targets>
  explicit constexpr TargetSet(Target first, Targets... rest)
      : mask((bit(first) | ... | bit(rest))) {}
  constexpr bool contains(Target target) const {
    return (mask & bit(target)) != 0;
  }
  constexpr TargetSet operator|(TargetSet other) const {
    TargetSet result;
    result.mask = mask | other.mask;
    return result;
  }
  /// Members in the order of allTargets().
  std::vector<Target> members() const;
  /// "sm_100a, sm_103a".
  std::string names() const;

private:
  static constexpr uint32_t bit(Target target) {
    return target.variant == TargetVariant::Plain
               ? 0
               : uint32_t(1) << (unsigned(target.chip) * 2 +
                                 (target.variant == TargetVariant::Family));
  }
  uint32_t mask = 0;
};

/// One row: an instruction with all that may vary in it.
struct MmaRow {
  MmaFamily family;
  MmaKind kind;
  bool sparse;
  OperandTypeSet a, b;
  /// A and B must be of one type.
  bool sameTypes;
  /// Type of both scales; empty for kinds without scales.
  std::optional<ElementFormat> scale;
  /// The number of PTX's `.block16`/`.block32`; 0 without scales. It is the
  /// count of *stored* elements of A that share a scale; see scaleSpan().
  unsigned block;
  /// Scales per row of A, and per column of B, that one instruction reads.
  unsigned scalesPerMma;
  unsigned k;
  /// CTAs that work together: 1 or 2. Always 1 for mma.sync.
  unsigned ctaGroup;
  unsigned m;
  unsigned nMin, nMax, nStep;
  /// Smallest N and step of N when B is MN-major with 8-bit elements.
  unsigned nStepMnMajorB;
  /// Types for which A (M-major) and B (N-major) need not be K-major.
  OperandTypeSet mnMajor;
  /// Bit i set: SFA_ID and SFB_ID (byte-id for mma.sync) may be i.
  unsigned scaleIds;
  /// Qualifier after `.kind::X`, e.g. ".block_scale.block32".
  std::string_view qualifier;
  /// Older spelling of the block on "a" targets, e.g. ".scale_vec::2X"; empty
  /// where there is none.
  std::string_view scaleVector;
  TargetSet targets;
  /// Oldest PTX version times ten for this spelling, target aside.
  unsigned minPtx;
  Source source;
  /// Sections of the PTX ISA that list such instructions, by the numbers of its
  /// editions 8.7 to 9.2; docs/sources.md has their titles. Of what came with
  /// 9.4 that edition and its tables.
  std::string_view sections;
  /// What is known of instructions that nobody here could run, each piece with
  /// its tag as docs/sources.md explains them under [rubin]: "[T] ..., [C]
  /// ...".
  std::string_view evidence;

  /// Logical elements along K under one scale: 64 for a sparse `.block32`.
  unsigned scaleSpan() const { return scalesPerMma ? k / scalesPerMma : 0; }
};

/// The whole table, in order of preference: packed 4-bit kinds before padded
/// ones, K-steps that every chip has before K = 96.
const std::vector<MmaRow> &allRows();

/// The rows that exist on `target`, for `kMaxPtxVersion` and older.
std::vector<const MmaRow *> rowsFor(Target target);

/// How `row` is known on `target`. For sm_110f and sm_121f we know no more than
/// that ptxas takes what it takes for sm_100f and sm_120f: inferred.
Source sourceOn(const MmaRow &row, Target target);

/// What is known of `row` on `target`, with tags; empty where `sourceOn` says
/// all.
std::string_view evidenceOn(const MmaRow &row, Target target);

/// Oldest PTX version times ten in which `row` can be written for `target`.
unsigned minPtxVersion(const MmaRow &row, Target target);

/// "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32" or
/// "mma.sync.aligned.m16n8k64.row.col.kind::mxf4...."; `a` and `b` are members
/// of the row's sets.
std::string ptxSpelling(const MmaRow &row, OperandType a, OperandType b);

/// A kind and the block of its scales.
struct Scheme {
  MmaKind kind;
  /// Number of PTX's `.blockN`.
  unsigned block;
  friend bool operator==(const Scheme &x, const Scheme &y) {
    return x.kind == y.kind && x.block == y.block;
  }
};

/// The schemes that multiply A by B with one scale of format `scale` for every
/// `scaleSpan` logical elements along K (without scales: no format and 0), best
/// first: for e2m1 x e2m1, ue8m0 and
/// 32 that is mxf4, mxf4nvf4, mxf8f6f4. Empty if no chip can. With `target`,
/// only what that target has. Note that `scaleSpan` is 64 where a sparse
/// instruction spells `.block32`.
std::vector<Scheme> findSchemes(OperandType a, OperandType b,
                                std::optional<ElementFormat> scale,
                                unsigned scaleSpan, bool sparse = false,
                                std::optional<Target> target = std::nullopt);

/// K of the ordinary (neither wide nor K = 96) instruction of `kind`.
unsigned instructionK(MmaKind kind, bool sparse);

/// The three K of a kind, as descriptors count them.
enum class KSize : uint8_t {
  Narrow, ///< instructionK()
  Long,   ///< 96 dense elements of 4 bits, 192 sparse
  Wide    ///< twice the narrow one
};

/// The size that `k` is for `kind`; empty if it is none.
std::optional<KSize> kSize(MmaKind kind, unsigned k, bool sparse);

/// Scales per row that one instruction reads; 0 if (kind, block, k, sparse) is
/// no instruction or has no scales.
unsigned scalesPerMma(MmaKind kind, unsigned block, unsigned k,
                      bool sparse = false);

/// A sparse A is stored in half as many elements as it has.
inline constexpr unsigned kSparseCompression = 2;

/// Logical elements along K that one scale of `.blockN` covers, of A and of a
/// dense B alike: the number of scales that an instruction reads is the same
/// with a sparse A, its K is twice as long (PTX ISA 9.7.16.10.7.1: the number
/// of blocks is K over that of `.scale_vec`).
constexpr unsigned scaleSpan(unsigned block, bool sparse) {
  return sparse ? kSparseCompression * block : block;
}

/// The ids that SFA_ID and SFB_ID may have; empty if there is no such row.
std::vector<unsigned> legalScaleIds(MmaKind kind, unsigned block, unsigned k,
                                    bool sparse = false);

/// Whether SFA_ID and SFB_ID may be `id` in instructions that read
/// `scalesPerMma` scales per row; false if there are none.
bool isScaleId(unsigned scalesPerMma, unsigned id);

/// N = min, min + step, ..., max.
struct NRange {
  unsigned min, max, step;
  constexpr bool contains(uint64_t n) const {
    return n >= min && n <= max && (n - min) % step == 0;
  }
};

/// The range of N in `row` for a B of type `b` that is contiguous along
/// `bMajor`.
NRange nRange(const MmaRow &row, OperandType b, OperandMajor bMajor);

/// What a target has or lacks besides the matrix instructions, as ptxas 13.0,
/// for PTX 9.4 that of CUDA 13.5, takes or refuses it (docs/sources.md,
/// [ptxas]).
enum class Feature : uint8_t {
  Tcgen05,               ///< alloc, cp, ld, st, commit, fence, wait.
  Tcgen05ScaleVector,    ///< `.scale_vec::NX` spellings.
  Tcgen05Shift,          ///< tcgen05.shift.
  Tcgen05LoadReduce,     ///< tcgen05.ld.red.
  TmaCtaGroup2,          ///< cp.async.bulk.tensor with `.cta_group::2`.
  TmaSubByteToCluster,   ///< Padded 4/6-bit TMA into `.shared::cluster`.
  AbsoluteLeadingOffset, ///< Bit 52 of the shared-memory descriptor.
  MmaSyncF8,             ///< mma.sync kind::f8f6f4 with e4m3, e5m2.
  MmaSyncF6F4,           ///< mma.sync kind::f8f6f4 with a 4- or 6-bit type.
  MmaSyncBlockScale,     ///< mma.sync with `.block_scale`.
  MmaSyncSparseMxf8f6f4, ///< mma.sp::ordered_metadata, mxf8f6f4.
  MmaSyncSparseFp4,      ///< mma.sp::ordered_metadata, mxf4 and mxf4nvf4.
  LdmatrixSubByte,       ///< ldmatrix b8, b4x16_p64, b6x16_p32; stmatrix b8.
  NarrowConvert,         ///< cvt to and from e2m1x2 ... ue8m0x2.
  StochasticConvert,     ///< cvt.rs.
  ReduxF32,              ///< redux.sync min/max on f32.
  PackedF32,             ///< add, mul, fma on f32x2.
  ClusterLaunchControl,  ///< clusterlaunchcontrol.try_cancel.
  TensorAllocExclusive,  ///< tcgen05.alloc and dealloc with `.exclusive`.
  RowPerLaneScales,      ///< Bit 26: scales of A, one row to a lane.
  CollectorB,            ///< tcgen05.mma `.collector::b::*` without `.ws`.
  CommitReadOfA,         ///< commit `.sync_restrict::shared::read::mma::a`.
  Multicast32,           ///< `.multicast::cluster::32b`.
  TensorMapOverride,     ///< cp.async.bulk.tensor `.override::*`.
  Ue5m3Convert,          ///< cvt to and from ue5m3x2; `.rz`, `.scaled::n1`.
  LutB,                  ///< tcgen05.mma `.decompress::lut::b`.
  KindTi16,              ///< tcgen05.mma kind::ti16.
  LoadCompressed,        ///< tcgen05.ld.spcompress.
  OversizedShared        ///< 327 KiB of shared memory that the launcher asks.
};

/// "tcgen05.shift" and the like.
std::string_view featureName(Feature feature);
const std::vector<Feature> &allFeatures();

/// Whether code for `target` may use `feature`. False for plain targets.
bool isAvailable(Feature feature, Target target);

/// Why code for `target` cannot use `feature`, with the targets that can; empty
/// if it may.
std::optional<Reason> whyNotFeature(Feature feature, Target target);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_MMA_H
