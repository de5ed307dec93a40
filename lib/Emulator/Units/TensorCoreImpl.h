//===- TensorCoreImpl.h - operands and kernels of the tensor core -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCOREIMPL_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCOREIMPL_H

#include "TensorCore.h"

#include <vector>

namespace blockscale::emulator::detail {

/// Rows and columns of one micro-kernel block.
constexpr unsigned kBlockRows = 16;
constexpr unsigned kBlockColumns = 32;
/// Bytes of a row of codes and scales of a row that any instruction has.
constexpr unsigned kMaxCodeBytes = 128;
constexpr unsigned kMaxScales = 8;
/// Bytes of a row of B that a table decompresses: 128 indices of 3 bits.
constexpr unsigned kIndexBytes = 48;

/// How the elements of a row lie in its bytes.
enum class Container : uint8_t {
  Packed4,
  Padded4,
  Padded6,
  Packed6,
  Byte,
  ByteShifted4,
  Half,
  Word,
};

/// An operand row by row along logical K, scales beside it: as codes where
/// one table gives their values, else decoded.
struct Operand {
  unsigned rows = 0, k = 0, scaleCount = 0;
  std::vector<float> elements; ///< rows x k, unless `coded`
  std::vector<float> scales;   ///< rows x scaleCount
  bool coded = false;
  bool nibbles = false;   ///< two codes per byte
  bool negate = false;    ///< of a coded operand
  unsigned codeBytes = 0; ///< per row, a multiple of 16
  const float *table = nullptr;
  std::vector<uint8_t> codes; ///< rows x codeBytes

  void reset(unsigned rowCount, unsigned depth, unsigned scalesPerRow);
  /// Decodes a coded operand into `elements`.
  void expand();
  float *row(unsigned r) { return elements.data() + size_t(r) * k; }
  const float *row(unsigned r) const { return elements.data() + size_t(r) * k; }
  /// Whether folding the scales could leave the range of f32.
  bool extreme();
  /// Writes rows first..first+count-1 with scales folded in as panels of
  /// `width` rows: [row / width][k][row % width], padded with zeros.
  void pack(unsigned first, unsigned count, unsigned width,
            std::vector<float> &panel) const;

private:
  void packCodes(unsigned first, unsigned count, unsigned width,
                 std::vector<float> &panel) const;
};

/// Part of the accumulator whose lanes and columns are regular.
struct AccumulatorTile {
  unsigned lanes[128]; ///< lane of each row
  unsigned rows = 0;
  unsigned firstN = 0, countN = 0;
  unsigned column = 0; ///< of firstN
};

/// Parts of the accumulator of a CTA at most.
inline constexpr unsigned kMaxTiles = 4;

/// Reads the operands of one instruction; problems go to the report.
class OperandReader {
public:
  OperandReader(const MmaRequest &request, const InstructionDescriptor &idesc,
                TensorContext &context, TensorReport &report)
      : request(request), idesc(idesc), context(context), report(report) {}

  /// Rows of A of one CTA, sparse ones expanded to logical K.
  bool readA(unsigned cta, const unsigned *lanes, Operand &out);
  /// All N rows of B; zeros for those in `columns`.
  bool readB(const ZeroColumns &columns, Operand &out);
  /// Scales of rows that have been read.
  bool readScalesA(unsigned cta, Operand &out);
  bool readScalesB(unsigned cta, Operand &out);

private:
  struct Source {
    const TensorCta *cta;
    unsigned ctaIndex;
    unsigned row;
  };
  bool fail(TensorIssueKind kind, Hazard hazard, unsigned cta, uint32_t address,
            std::string message);
  bool sharedCodes(const SharedDescriptor &descriptor, Container container,
                   unsigned firstCta, unsigned perCta, unsigned firstRow,
                   unsigned bytes, Operand &out);
  void startCodes(Container container, Element type, bool negate,
                  unsigned bytes, Operand &out);
  bool sharedRow(const SharedDescriptor &descriptor, bool mnMajor,
                 const char *operand, Source source, unsigned elementBytes,
                 unsigned bytes, unsigned dataBytes, uint8_t *out);
  bool tensorRow(unsigned cta, unsigned lane, uint32_t address, unsigned bytes,
                 const char *operand, uint8_t *out);
  bool hasZeroBits(Element type, const uint8_t *raw, unsigned count,
                   unsigned cta, unsigned row, const char *operand);
  /// All rows of a B of indices, by the tables in tensor memory.
  bool readIndices(Operand &out);
  bool lookupTable(unsigned cta, unsigned lane, uint8_t table[8]);
  bool indexRow(const SharedDescriptor &descriptor, unsigned cta, unsigned row,
                const uint8_t table[8], uint8_t *codes);
  bool expandSparse(unsigned cta, unsigned lane, const float *stored,
                    float *out);
  bool scaleColumns(unsigned cta, uint32_t address, unsigned id,
                    const char *operand, bool anyColumn);
  /// Where the scales of a group of rows are: lane of the first row, copies in
  /// the lane quadrants, column of the first word, columns between words, byte.
  struct ScalePlace {
    unsigned firstLane, replicas, firstColumn, wordStride, firstByte;
  };
  /// The CTA whose scales are read, and their name for reports.
  struct ScaleSource {
    unsigned cta;
    const char *operand;
  };
  bool scaleRows(const ScaleSource &source, ScalePlace place, unsigned first,
                 unsigned rows, Operand &out);
  bool scaleRow(const ScaleSource &source, const ScalePlace &place,
                unsigned row, Operand &out);
  bool scaleWord(const ScaleSource &source, unsigned firstLane,
                 unsigned replicas, unsigned column, uint32_t mask,
                 uint32_t &word);
  bool signedScale(const ScaleSource &source, uint32_t address, unsigned row,
                   unsigned s, Operand &out);

  const MmaRequest &request;
  const InstructionDescriptor &idesc;
  TensorContext &context;
  TensorReport &report;
};

/// Reads `bytes` bytes of shared memory, of which the first `dataBytes` must
/// have been written (padded groups have a gap); on failure an issue is added.
bool readShared(const TensorCta &cta, unsigned ctaIndex, uint32_t address,
                unsigned bytes, unsigned dataBytes, const char *operand,
                uint8_t *out, TensorReport &report);

/// acc[16][columns] (+)= a * b for one block; `a` is [k][16], `b` is [k][32].
/// `d` has the 16 rows of 32 floats.
void multiplyBlock(const float *a, const float *b, unsigned k,
                   float *const d[kBlockRows], bool accumulate);

} // namespace blockscale::emulator::detail

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORCOREIMPL_H
