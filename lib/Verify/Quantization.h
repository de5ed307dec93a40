//===- Quantization.h - check a kernel that quantises -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZATION_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZATION_H

#include "blockscale/Reference/Quantize.h"
#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// One run of a kernel that quantises: its numbers, and its memory before it.
class QuantizationRun {
public:
  /// Exact data lie on and between the values of the element format; random
  /// ones have all exponents. Both have special values.
  static Result<QuantizationRun> make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes,
                                      DataKind kind, uint64_t seed,
                                      Conditions conditions);

  HostData data;

  /// Compares what CTAs of `sample` wrote, or all if there are none, bit for
  /// bit, and nothing else may have been written.
  void compare(const std::vector<uint64_t> &sample, Verdict &verdict) const;

private:
  friend class QuantizationMaker;
  /// A block along K, of any matrix.
  struct Place {
    uint64_t matrix, row, j;
  };
  /// A quantised matrix: of what the kernel reads, or of its transpose.
  struct Part {
    /// In front of its roles: "d" or "transposed".
    std::string operand;
    reference::Quantization quantization;
    /// In its own order of elements.
    std::vector<float> values;
    /// Elements along K that memory has a scale of, and how many rows and
    /// blocks share one.
    uint64_t rows = 0, k = 0, block = 0, rowTile = 1, tileBlocks = 1;
    uint64_t linePitch = 0, batchPitch = 0;
    /// Bytes of a scale, and whether they are those that instructions read.
    uint64_t scaleBytes = 1;
    bool isTiled = true;
    bool hasTensorScale = false;
    /// Of each matrix, if there are any; those that somebody gave may be the
    /// scales themselves.
    std::vector<reference::TensorScale> tensorScales;
    bool isScaleGiven = false;
    /// Whether a scale is for all of K, and for all rows as well.
    bool coversK = false, coversMatrix = false;
    /// Whether the kernel reads its transpose.
    bool isTurned = false;
    /// Threads that find the scale of a row together.
    uint64_t rowThreads = 32;

    uint64_t blocks() const { return k / block; }
    uint64_t tileElements() const { return block * tileBlocks; }
    uint64_t repetitions() const { return rowTile * tileBlocks; }
    uint64_t atoms() const { return (blocks() + 3) / 4; }
    uint64_t matrixBytes() const { return (rows + 127) / 128 * atoms() * 512; }
    /// The number of the tile of an element, and its own in there.
    std::pair<uint64_t, uint64_t> placeInTile(uint64_t element) const;
    uint64_t aloneIn(uint64_t tile) const;
    /// The block whose scale a byte is.
    Place placeOfByte(uint64_t byte) const;
    /// The byte of the plain scale of a block.
    uint64_t plainOffset(Place place) const;
    /// The thread that has a block, where they are threads of rows.
    uint64_t threadOf(Place place) const;
    uint64_t threadInAtom(uint64_t byte) const;
    std::vector<float> valuesOfTile(uint64_t matrix, uint64_t row,
                                    uint64_t j) const;
    uint32_t expectedScale(Place place) const;
  };

  bool isBothWays() const { return parts.size() == 2; }
  /// Whether a scale is for all of a row.
  bool hasLines() const;
  uint64_t ctaOf(const Part &part, Place place) const;
  /// Whether a CTA of the sample has the block; all are of one that is empty.
  bool isOf(const Part &part, Place place,
            const std::vector<uint64_t> &sample) const;
  /// Bytes of the part's tensor scales that are not what they should be.
  uint64_t wrongTensorScales(const Part &part,
                             const std::vector<uint64_t> &sample) const;
  void compare(const Part &part, const std::vector<uint64_t> &sample,
               Verdict &verdict) const;

  std::vector<Part> parts;
  uint64_t batch = 1, threads = 1;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZATION_H
