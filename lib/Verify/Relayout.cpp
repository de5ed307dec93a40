//===- Relayout.cpp - check a kernel that moves scales --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedMemory.h"
#include "WrittenBytes.h"

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
/// A layout of the scales of a matrix, by its name in plans.
struct Placement {
  uint64_t rows = 0, blocks = 0;
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

namespace {
/// Every step returns what is wrong, or nothing.
class Maker {
public:
  Maker(const plan::Kernel &kernel, const plan::Environment &sizes,
        uint64_t seed, bool isHarsh, uint64_t firstCta, WrittenRun &run)
      : kernel(kernel), sizes(sizes), seed(seed), isHarsh(isHarsh),
        firstCta(firstCta), run(run) {}

  std::optional<Reason> fill();

private:
  std::optional<Reason> readPlan();
  std::optional<Reason> place(const plan::ScalePacking &scales,
                              const std::string &role, Placement &placement);
  uint64_t blocksOf(const plan::ScalePacking &scales) const {
    return uint64_t(sizes.at("K")) / scales.block;
  }
  void addOperand(const Placement &from);
  void addResult(const Placement &to);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  uint64_t seed;
  bool isHarsh;
  uint64_t firstCta;
  WrittenRun &run;
  /// Blocks of what is read, of which the result has `times` as many.
  uint64_t batch = 1, rows = 0, blocks = 0, times = 1;
  /// Of all rows of all matrices.
  std::vector<uint8_t> codes;
};
} // namespace

std::optional<Reason> Maker::readPlan() {
  if (kernel.scales.size() != 2 || kernel.scales[0].operand != "a" ||
      kernel.scales[1].operand != "d")
    return Reason("a kernel that moves scales has 'scales' of 'a' and of 'd'");
  uint64_t k = uint64_t(sizes.at("K")), block = kernel.scales[0].block,
           shorter = kernel.scales[1].block;
  if (block == 0 || shorter == 0 || k % block != 0 || block % shorter != 0)
    return "K = " + std::to_string(k) + " in blocks of " +
           std::to_string(block) + " and " + std::to_string(shorter);
  batch = uint64_t(sizes.at("batch"));
  rows = uint64_t(sizes.at("M"));
  blocks = k / block;
  times = block / shorter;
  for (uint64_t i = 0; i < batch * rows * blocks; ++i)
    codes.push_back(uint8_t(mix(mix(seed) + i) >> 9));
  return std::nullopt;
}

std::optional<Reason> Maker::place(const plan::ScalePacking &scales,
                                   const std::string &role,
                                   Placement &placement) {
  std::optional<Placement> found =
      placementOf(scales.layout, rows, blocksOf(scales));
  if (!found)
    return "scales in layout '" + scales.layout + "'";
  placement = *found;
  Result<uint64_t> bytes = evaluateSize(scales.bytes, sizes);
  if (!bytes)
    return bytes.why();
  uint64_t right = batch * placement.matrixBytes();
  if (right != *bytes)
    return "the plan has " + std::to_string(*bytes) + " bytes for '" + role +
           "', but " + std::to_string(right) + " are right";
  return std::nullopt;
}

/// Codes among bytes of all kinds.
void Maker::addOperand(const Placement &from) {
  std::vector<uint8_t> memory(batch * from.matrixBytes());
  for (uint64_t i = 0; i < memory.size(); ++i)
    memory[i] = uint8_t(mix(seed ^ i) >> 8);
  for (uint64_t i = 0; i < codes.size(); ++i)
    memory[i / blocks / rows * from.matrixBytes() +
           from.byteOf(i / blocks % rows, i % blocks)] = codes[i];
  putMemory(run.data, "a_scales", memory.data(), memory.size(),
            kernel.scales[0].alignment, isHarsh);
}

/// A thread has a word of a line; padding is 0.
void Maker::addResult(const Placement &to) {
  constexpr uint64_t kWord = 4;
  uint64_t lines = to.paddedRows(), places = to.paddedBlocks();
  uint64_t words = (places + kWord - 1) / kWord;
  WrittenBytes result("d_scales", batch * to.matrixBytes());
  putMemory(run.data, "d_scales", nullptr, result.bytes.size(),
            kernel.scales[1].alignment, isHarsh);
  for (uint64_t line = 0; line < batch * lines; ++line)
    for (uint64_t block = 0; block < places; ++block) {
      uint64_t matrix = line / lines, row = line % lines;
      bool isInside = row < rows && block < blocks * times;
      uint64_t thread = line * words + block / kWord;
      result.expect(
          matrix * to.matrixBytes() + to.byteOf(row, block),
          isInside ? codes[(matrix * rows + row) * blocks + block / times] : 0,
          firstCta + thread / uint64_t(kernel.block[0]));
    }
  run.results.push_back(std::move(result));
}

std::optional<Reason> Maker::fill() {
  Placement from, to;
  std::optional<Reason> why = readPlan();
  if (!why)
    why = place(kernel.scales[0], "a_scales", from);
  if (!why)
    why = place(kernel.scales[1], "d_scales", to);
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  addOperand(from);
  addResult(to);
  return std::nullopt;
}

std::optional<Reason> verify::addMovedScales(const plan::Kernel &kernel,
                                             const plan::Environment &sizes,
                                             uint64_t seed, bool isHarsh,
                                             uint64_t firstCta,
                                             WrittenRun &run) {
  return Maker(kernel, sizes, seed, isHarsh, firstCta, run).fill();
}

Result<RelayoutRun> RelayoutRun::make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes, DataKind,
                                      uint64_t seed, Conditions conditions) {
  RelayoutRun run;
  if (auto why =
          addMovedScales(kernel, sizes, seed, conditions == Conditions::Harsh,
                         /*firstCta=*/0, run))
    return *why;
  return run;
}
