//===- Descriptor.h - instruction and matrix descriptors -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 32-bit instruction descriptors of tcgen05.mma (block-scaled and plain
// kinds) and the 64-bit shared-memory matrix descriptor that tcgen05.mma and
// tcgen05.cp read. PTX ISA 9.7.16.4 (matrix and instruction descriptors).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_DESCRIPTOR_H
#define BLOCKSCALE_HW_DESCRIPTOR_H

#include "blockscale/Formats/Format.h"
#include "blockscale/HW/BitField.h"
#include "blockscale/HW/Mma.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// Field lists
//===----------------------------------------------------------------------===//

/// Instruction descriptor of kind::mxf8f6f4.
inline constexpr std::array kMxf8f6f4InstrFields{
    Field{"sparse", 2, 1, "0 dense, 1 sparse A"},
    Field{"sfb_id", 4, 2, "byte of the word at which the scales of B start"},
    Field{"a_format", 7, 3, "e4m3 0, e5m2 1, e2m3 3, e3m2 4, e2m1 5"},
    Field{"b_format", 10, 3, "codes as a_format"},
    Field{"negate_a", 13, 1, "1 negates A"},
    Field{"negate_b", 14, 1, "1 negates B"},
    Field{"a_major", 15, 1, "0 K-major, 1 M-major (8-bit only)"},
    Field{"b_major", 16, 1, "0 K-major, 1 N-major (8-bit only)"},
    Field{"n_div_8", 17, 6, "N / 8"},
    Field{"scale_format", 23, 2, "1 ue8m0 for both operands"},
    Field{"sfa_layout", 26, 1,
          "scales of A: 0 in 32 lanes, four copies; 1 one row to a lane "
          "(sm_107)"},
    Field{"m_div_128", 27, 2, "M / 128"},
    Field{"sfa_id", 29, 2, "byte of the word at which the scales of A start"},
    Field{"k_size", 31, 1,
          "0 dense K=32 or sparse K=64, 1 dense K=64 or sparse K=128 (sm_107)"},
};

/// Instruction descriptor of kind::mxf4 and kind::mxf4nvf4.
inline constexpr std::array kMxf4InstrFields{
    Field{"sparse", 2, 1, "0 dense, 1 sparse A"},
    Field{"k_size_high", 3, 1,
          "with k_size: 0 dense K=64 or sparse K=128, 1 dense K=96 or sparse "
          "K=192, 2 dense K=128 (sm_107)"},
    Field{"sfb_id", 4, 2, "byte of the word at which the scales of B start"},
    Field{"a_format", 7, 3, "e2m1 1"},
    Field{"b_format", 10, 2, "e2m1 1"},
    Field{
        "sparsity_version", 12, 1,
        "sparse only: 0 metadata of pairs, 4:8; 1 of elements, 2:4 (sm_107a)"},
    Field{"negate_a", 13, 1, "1 negates A"},
    Field{"negate_b", 14, 1, "1 negates B"},
    Field{"n_div_8", 17, 6, "N / 8"},
    Field{"scale_format", 23, 2,
          "for both operands: 0 ue4m3, 1 ue8m0, 2 ue5m3 (sm_107)"},
    Field{"sfa_layout", 26, 1,
          "scales of A: 0 in 32 lanes, four copies; 1 one row to a lane "
          "(sm_107)"},
    Field{"m_div_128", 27, 2, "M / 128"},
    Field{"sfa_id", 29, 2, "byte of the word at which the scales of A start"},
    Field{"k_size", 31, 1, "the lower bit of K: see k_size_high"},
};

/// Instruction descriptor of kind::tf32, kind::f16, kind::f8f6f4, kind::i8.
inline constexpr std::array kPlainInstrFields{
    Field{"sparsity_selector", 0, 2, "which metadata half, sparse only"},
    Field{"sparse", 2, 1, "0 dense, 1 sparse A"},
    Field{"saturate", 3, 1, "1 saturates, kind::i8 only"},
    Field{"d_format", 4, 2, "f16 0, f32 1, s32 2"},
    Field{"a_format", 7, 3,
          "tf32 2; f16 0, bf16 1; e4m3 0, e5m2 1, e2m3 3, e3m2 4, e2m1 5; "
          "u8 0, s8 1"},
    Field{"b_format", 10, 3, "codes as a_format"},
    Field{"negate_a", 13, 1, "1 negates A, not kind::i8"},
    Field{"negate_b", 14, 1, "1 negates B, not kind::i8"},
    Field{"a_major", 15, 1, "0 K-major, 1 M-major"},
    Field{"b_major", 16, 1, "0 K-major, 1 N-major"},
    Field{"n_div_8", 17, 6, "N / 8"},
    Field{"m_div_16", 24, 5, "M / 16"},
    Field{"k_size", 29, 1, "kind::f8f6f4: 1 dense K=64 (sm_107)"},
    Field{"max_shift", 30, 2, ".ws: largest shift of B 0, 8, 16, 32"},
};

/// Shared-memory matrix descriptor.
inline constexpr std::array kSmemFields{
    Field{"start", 0, 15,
          "start address / 16; the upper bit is sm_107's, else 0"},
    Field{
        "lbo", 16, 15,
        "leading-dimension byte offset / 16, or an absolute address / 16; the "
        "upper bit as in start"},
    Field{"sbo", 32, 14, "stride-dimension byte offset / 16"},
    Field{"version", 46, 3, "constant 1"},
    Field{"base_offset", 49, 3, "(pattern start / 128) mod 8"},
    Field{"lbo_absolute", 52, 1, "0 LBO is an offset, 1 an address (sm_103a)"},
    Field{"swizzle", 61, 3, "0 none, 1 128B/32B atoms, 2 128B, 4 64B, 6 32B"},
};

//===----------------------------------------------------------------------===//
// Instruction descriptors
//===----------------------------------------------------------------------===//

/// Which of the three layouts an instruction descriptor has.
enum class InstrVariant { MXF8F6F4, MXF4, Plain };

/// The layout that the instruction descriptors of a kind have.
InstrVariant instrVariant(MmaKind kind);

/// The fields of a layout, for printing and documentation.
FieldList instrFields(InstrVariant variant);

/// A block-scaled instruction descriptor in words. M and N are the values of
/// the instruction (of the CTA pair with cta_group::2).
struct BlockScaledInstr {
  /// MXF8F6F4, or MXF4 which also serves kind::mxf4nvf4.
  InstrVariant variant = InstrVariant::MXF8F6F4;
  ElementFormat a = ElementFormat::E4M3, b = ElementFormat::E4M3;
  /// UE8M0, or UE4M3 or UE5M3 (MXF4 layout only).
  ElementFormat scale = ElementFormat::UE8M0;
  bool sparse = false;
  bool negateA = false, negateB = false;
  /// True: M-major A or N-major B (MXF8F6F4 with 8-bit elements only).
  bool aMnMajor = false, bMnMajor = false;
  /// 128 or 256.
  unsigned m = 128;
  /// Multiple of 8, 8 .. 256.
  unsigned n = 8;
  /// Byte of the 32-bit scale word at which the scales start, 0 .. 3.
  unsigned sfaId = 0, sfbId = 0;
  /// Long in the MXF4 layout only.
  KSize kSize = KSize::Narrow;
  /// Scales of A with one row to a lane, sm_107 only.
  bool rowPerLaneA = false;
  /// Metadata of single elements, 2:4 (sparse, MXF4 layout only, sm_107a).
  bool elementMetadata = false;

  friend bool operator==(const BlockScaledInstr &x, const BlockScaledInstr &y);
};

/// The descriptor bits, or which field cannot be represented. Says nothing of
/// legality on a chip: that is Mma.h.
Result<std::uint32_t> encode(const BlockScaledInstr &instr);

/// The inverse of `encode`; refuses reserved bits and codes without a meaning.
/// `variant` must be MXF8F6F4 or MXF4.
Result<BlockScaledInstr> decodeBlockScaled(InstrVariant variant,
                                           std::uint32_t bits);

/// Operand and accumulator types of the plain kinds.
enum class PlainType {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E2M3,
  E3M2,
  E2M1,
  U8,
  S8,
  F32,
  S32
};

/// The operand type of that name; empty for types of block-scaled kinds only.
std::optional<PlainType> plainType(OperandType type);

/// A plain instruction descriptor in words.
struct PlainInstr {
  /// One of the kinds without scales.
  MmaKind kind = MmaKind::F16;
  PlainType a = PlainType::F16, b = PlainType::F16, d = PlainType::F32;
  bool sparse = false;
  /// Sparse only, 0 .. 3.
  unsigned sparsitySelector = 0;
  /// Integer kinds only.
  bool saturate = false;
  /// Not for integer kinds.
  bool negateA = false, negateB = false;
  bool aMnMajor = false, bMnMajor = false;
  /// Multiple of 16, 16 .. 256.
  unsigned m = 128;
  /// Multiple of 8, 8 .. 256.
  unsigned n = 8;
  /// Largest shift of B for the .ws form: 0, 8, 16 or 32 columns.
  unsigned maxShift = 0;
  /// Dense kind::f8f6f4 of K=64, sm_107 only.
  bool isWide = false;

  friend bool operator==(const PlainInstr &x, const PlainInstr &y);
};

Result<std::uint32_t> encode(const PlainInstr &instr);
Result<PlainInstr> decodePlain(MmaKind kind, std::uint32_t bits);

//===----------------------------------------------------------------------===//
// Shared-memory descriptors
//===----------------------------------------------------------------------===//

/// Swizzle modes; the values are those of the descriptor.
enum class Swizzle { None = 0, B128Atom32 = 1, B128 = 2, B64 = 4, B32 = 6 };

/// Bits of a byte address of shared memory that descriptors hold: of all chips,
/// and of sm_107, whose shared memory is larger.
inline constexpr unsigned kSmemAddressBits = 18, kWideSmemAddressBits = 19;

/// The number for `chip`.
unsigned smemAddressBits(Chip chip);

/// A shared-memory descriptor in bytes.
struct SmemDescriptor {
  /// Byte address in shared memory, multiple of 16, of as many bits as the chip
  /// has.
  std::uint32_t start = 0;
  /// Bytes, multiples of 16; `lbo` of as many bits as an address, which it is
  /// if `lboAbsolute`, `sbo` below 2^18.
  std::uint32_t lbo = 0, sbo = 0;
  /// (start of the swizzle pattern / 128) mod 8; 0 at a natural boundary.
  unsigned baseOffset = 0;
  /// LBO is the absolute address of the next buffer: 128B swizzle and base
  /// offset 0 only, sm_103a.
  bool lboAbsolute = false;
  Swizzle swizzle = Swizzle::None;

  friend bool operator==(const SmemDescriptor &x, const SmemDescriptor &y);
};

Result<std::uint64_t> encode(const SmemDescriptor &descriptor,
                             unsigned addressBits = kSmemAddressBits);
Result<SmemDescriptor> decodeSmem(std::uint64_t bits,
                                  unsigned addressBits = kSmemAddressBits);

/// K of the long instructions of sm_103a. A group of eight covers 768 elements,
/// three 128-byte-wide buffers of nibbles.
inline constexpr unsigned kK96 = 96, kK96GroupSteps = 8, kK96GroupStages = 3;

/// Where MMA number `index` (0 .. 7) of a group of eight K=96 steps finds its
/// 48 bytes per row in three 128-byte-wide buffers.
struct K96Step {
  unsigned startBuffer, startByte;
  /// Buffer of the last byte: `startBuffer`, or the one after it.
  unsigned lboBuffer;
  bool crosses;
};
Result<K96Step> k96Step(unsigned index);

/// The descriptor of that step in absolute-LBO mode; `bufferBases` are byte
/// addresses of the three buffers, multiples of 1024.
Result<SmemDescriptor>
k96Descriptor(const std::array<std::uint32_t, 3> &bufferBases, unsigned index);

/// The source descriptor of tcgen05.cp for rows of 16 contiguous bytes (scale
/// atoms with 32x128b.warpx4, sparse metadata with 128x128b): no swizzle, eight
/// rows 128 bytes apart. LBO is not used and is encoded as 16 bytes.
Result<SmemDescriptor> copyDescriptor(std::uint32_t base,
                                      unsigned addressBits = kSmemAddressBits);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_DESCRIPTOR_H
