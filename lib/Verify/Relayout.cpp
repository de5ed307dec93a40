//===- Relayout.cpp - check a kernel that moves scales --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relayout.h"
#include "QuantizedMemory.h"

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
/// A layout of the scales of a matrix, by its name in plans.
struct Placement {
  uint64_t rows, blocks;
  /// What rows and blocks are padded to.
  uint64_t rowStep = 1, blockStep = 1;

  uint64_t paddedRows() const {
    return (rows + rowStep - 1) / rowStep * rowStep;
  }
  uint64_t paddedBlocks() const {
    return (blocks + blockStep - 1) / blockStep * blockStep;
  }
  uint64_t matrixBytes() const { return paddedRows() * paddedBlocks(); }

  /// The byte of a scale. Atoms of 128 rows by 4 blocks are those of tcgen05,
  /// of 128 rows by 16 blocks row after row.
  uint64_t byteOf(uint64_t row, uint64_t block) const {
    uint64_t atoms = paddedBlocks() / blockStep;
    if (blockStep == 4)
      return scaleOffset(row, block, atoms);
    if (blockStep == 1)
      return row * blocks + block;
    return (row / 128 * atoms + block / 16) * 2048 + row % 128 * 16 +
           block % 16;
  }
};
} // namespace

static std::optional<Placement> placementOf(const std::string &layout,
                                            uint64_t rows, uint64_t blocks) {
  if (layout == "plain")
    return Placement{rows, blocks};
  if (layout == "tiled_128x4")
    return Placement{rows, blocks, 128, 4};
  if (layout == "tiled_128x16")
    return Placement{rows, blocks, 128, 16};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace blockscale::verify {
class RelayoutMaker {
public:
  RelayoutMaker(const plan::Kernel &kernel, const plan::Environment &sizes,
                uint64_t seed, bool isHarsh)
      : kernel(kernel), sizes(sizes), seed(seed), isHarsh(isHarsh) {}

  /// Sets what is in `run`, or says what is wrong.
  std::optional<Reason> fill();

  RelayoutRun run;

private:
  std::optional<Reason> readPlan();
  std::optional<Reason> addMemory(const plan::ScalePacking &scales,
                                  const std::string &role);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  uint64_t seed;
  bool isHarsh;
};
} // namespace blockscale::verify

std::optional<Reason> RelayoutMaker::readPlan() {
  if (kernel.scales.size() != 2 || kernel.scales[0].operand != "a" ||
      kernel.scales[1].operand != "d")
    return Reason("a kernel that moves scales has 'scales' of 'a' and of 'd'");
  uint64_t k = uint64_t(sizes.at("K")), block = kernel.scales[1].block;
  if (block == 0 || k % block != 0)
    return "K = " + std::to_string(k) + " in blocks of " +
           std::to_string(block);
  run.batch = uint64_t(sizes.at("batch"));
  run.rows = uint64_t(sizes.at("M"));
  run.blocks = k / block;
  run.layout = kernel.scales[1].layout;
  run.threads = uint64_t(kernel.block[0]);
  for (uint64_t i = 0; i < run.batch * run.rows * run.blocks; ++i)
    run.codes.push_back(uint8_t(mix(mix(seed) + i) >> 9));
  return std::nullopt;
}

/// Of the operand with codes among bytes of all kinds, of the result unwritten.
std::optional<Reason> RelayoutMaker::addMemory(const plan::ScalePacking &scales,
                                               const std::string &role) {
  std::optional<Placement> placement =
      placementOf(scales.layout, run.rows, run.blocks);
  if (!placement)
    return "scales in layout '" + scales.layout + "'";
  Result<uint64_t> bytes = evaluateSize(scales.bytes, sizes);
  if (!bytes)
    return bytes.why();
  uint64_t matrixBytes = placement->matrixBytes();
  if (run.batch * matrixBytes != *bytes)
    return "the plan has " + std::to_string(*bytes) + " bytes for '" + role +
           "', but " + std::to_string(run.batch * matrixBytes) + " are right";
  if (role == "d_scales") {
    putMemory(run.data, role, nullptr, *bytes, scales.alignment, isHarsh);
    return std::nullopt;
  }
  std::vector<uint8_t> memory(*bytes);
  for (uint64_t i = 0; i < *bytes; ++i)
    memory[i] = uint8_t(mix(seed ^ i) >> 8);
  for (uint64_t i = 0; i < run.codes.size(); ++i)
    memory[i / run.blocks / run.rows * matrixBytes +
           placement->byteOf(i / run.blocks % run.rows, i % run.blocks)] =
        run.codes[i];
  putMemory(run.data, role, memory.data(), *bytes, scales.alignment, isHarsh);
  return std::nullopt;
}

std::optional<Reason> RelayoutMaker::fill() {
  std::optional<Reason> why = readPlan();
  if (!why)
    why = addMemory(kernel.scales[0], "a_scales");
  if (!why)
    why = addMemory(kernel.scales[1], "d_scales");
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  return std::nullopt;
}

Result<RelayoutRun> RelayoutRun::make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes, DataKind,
                                      uint64_t seed, Conditions conditions) {
  RelayoutMaker maker(kernel, sizes, seed, conditions == Conditions::Harsh);
  if (std::optional<Reason> why = maker.fill())
    return *why;
  return std::move(maker.run);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

void RelayoutRun::compare(const std::vector<uint64_t> &sample,
                          Verdict &verdict) const {
  constexpr uint64_t kWord = 4;
  MemoryImage image(data, "d_scales");
  Placement placement = *placementOf(layout, rows, blocks);
  uint64_t words = (placement.paddedBlocks() + kWord - 1) / kWord;
  uint64_t lines = placement.paddedRows();
  for (uint64_t number = 0; number < batch * lines * words; ++number) {
    if (!sample.empty() &&
        !std::binary_search(sample.begin(), sample.end(), number / threads))
      continue;
    uint64_t matrix = number / words / lines, row = number / words % lines;
    for (uint64_t block = number % words * kWord;
         block <
         std::min((number % words + 1) * kWord, placement.paddedBlocks());
         ++block) {
      bool isInside = row < rows && block < blocks;
      uint8_t expected =
          isInside ? codes[(matrix * rows + row) * blocks + block] : 0;
      uint64_t byte =
          matrix * placement.matrixBytes() + placement.byteOf(row, block);
      *image.at(byte) = expected;
      ++verdict.comparison.compared;
      if (image.found(byte) != expected && verdict.diagnosis.empty())
        verdict.diagnosis = "matrix " + std::to_string(matrix) + ", row " +
                            std::to_string(row) + ", block " +
                            std::to_string(block) + ": expected " +
                            hex(expected) + ", found " + hex(image.found(byte));
    }
  }
  uint64_t wrong = image.differences();
  verdict.comparison.mismatches += wrong;
  if (wrong && verdict.diagnosis.empty())
    verdict.diagnosis = "bytes in front of the result, or of what was not run, "
                        "were written";
}
