//===- Relayout.cpp - check a kernel that moves bytes ---------------------===//
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
/// A layout of the bytes of a matrix.
struct Placement {
  uint64_t rows = 0, blocks = 0;
  /// What rows and blocks are padded to.
  uint64_t rowStep = 1, blockStep = 1;
  /// Whether tiles follow each other along the rows first, as those of metadata
  /// do (PTX ISA, layout of sparse metadata).
  bool rowsFirst = false;

  uint64_t paddedRows() const {
    return (rows + rowStep - 1) / rowStep * rowStep;
  }
  uint64_t paddedBlocks() const {
    return (blocks + blockStep - 1) / blockStep * blockStep;
  }
  uint64_t matrixBytes() const { return paddedRows() * paddedBlocks(); }

  /// The byte of a block. Atoms of 128 rows by 4 blocks are those of tcgen05,
  /// of 128 rows by 16 blocks row after row.
  uint64_t byteOf(uint64_t row, uint64_t block) const {
    uint64_t atoms = paddedBlocks() / blockStep;
    if (blockStep == 4)
      return scaleOffset(row, block, atoms);
    if (blockStep == 1)
      return row * blocks + block;
    uint64_t tile = row / 128 * atoms + block / 16;
    if (rowsFirst)
      tile = block / 16 * (paddedRows() / 128) + row / 128;
    return tile * 2048 + row % 128 * 16 + block % 16;
  }
};

/// What moves: lines of bytes, or of zero points of several bytes.
struct Lines {
  /// "scales", "metadata" or "zeros".
  std::string part;
  uint64_t width = 1;
  uint64_t batch = 1, rows = 0;
  /// Of what is read, of which the result has `times` as many.
  uint64_t blocks = 0, times = 1;
  uint8_t padding = 0;
  unsigned alignment = 0;
  Placement from, to;
};
} // namespace

/// Scales in a layout by its name in plans.
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

/// Sets `placement`, of what the plan calls `packing`.
template <typename Packing>
static std::optional<Reason>
place(const Packing &packing, const plan::Environment &sizes,
      const Lines &lines, uint64_t blocks, Placement &placement) {
  std::optional<Placement> found =
      placementOf(packing.layout, lines.rows, blocks);
  bool isMetadata = lines.part == "metadata";
  if (!found || (isMetadata && found->blockStep == 4))
    return lines.part + " in layout '" + packing.layout + "'";
  placement = *found;
  placement.rowsFirst = isMetadata;
  Result<uint64_t> bytes = evaluateSize(packing.bytes, sizes);
  if (!bytes)
    return bytes.why();
  uint64_t right = lines.batch * placement.matrixBytes();
  if (right != *bytes)
    return "the plan has " + std::to_string(*bytes) + " bytes for the " +
           lines.part + " of '" + packing.operand + "', but " +
           std::to_string(right) + " are right";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The lines of scales of a kernel, or what is wrong with its plan.
static Result<Lines> linesOfScales(const plan::Kernel &kernel,
                                   const plan::Environment &sizes) {
  if (kernel.scales.size() != 2 || kernel.scales[0].operand != "a" ||
      kernel.scales[1].operand != "d")
    return Reason("a kernel that moves scales has 'scales' of 'a' and of 'd'");
  const plan::ScalePacking &from = kernel.scales[0], &to = kernel.scales[1];
  uint64_t k = uint64_t(sizes.at("K")), block = from.block, shorter = to.block;
  if (block == 0 || shorter == 0 || k % block != 0 || block % shorter != 0 ||
      from.rows != to.rows)
    return Reason("K = " + std::to_string(k) + " in blocks of " +
                  std::to_string(block) + " and " + std::to_string(shorter));
  auto m = uint64_t(sizes.at("M"));
  Lines lines;
  lines.part = "scales";
  lines.batch = uint64_t(sizes.at("batch"));
  lines.rows = from.rows ? (m + from.rows - 1) / from.rows : 1;
  lines.blocks = k / block;
  lines.times = block / shorter;
  lines.alignment = from.alignment;
  if (auto why = place(from, sizes, lines, lines.blocks, lines.from))
    return *why;
  if (auto why = place(to, sizes, lines, k / shorter, lines.to))
    return *why;
  return lines;
}

/// A thread has a word of a line.
static uint64_t threadOfScale(const Lines &lines, uint64_t line,
                              uint64_t block) {
  uint64_t words = (lines.to.paddedBlocks() + 3) / 4;
  return line * words + block / 4;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static Result<Lines> linesOfMetadata(const plan::Kernel &kernel,
                                     const plan::Environment &sizes) {
  if (kernel.metadata.size() != 2 || kernel.metadata[0].operand != "a" ||
      kernel.metadata[1].operand != "d")
    return Reason(
        "a kernel that moves metadata has 'metadata' of 'a' and of 'd'");
  const plan::MetadataPacking &from = kernel.metadata[0],
                              &to = kernel.metadata[1];
  uint64_t elements = from.pattern == "4:8 in pairs" ? 16
                      : from.pattern == "1:2"        ? 4
                                                     : 8;
  if (from.pattern != to.pattern || from.elementsPerByte != elements ||
      to.elementsPerByte != elements)
    return Reason("metadata of a pattern '" + from.pattern + "' and of '" +
                  to.pattern + "'");
  Lines lines;
  lines.part = "metadata";
  lines.batch = uint64_t(sizes.at("batch"));
  lines.rows = uint64_t(sizes.at("M"));
  lines.blocks = (uint64_t(sizes.at("K")) + elements - 1) / elements;
  // Two groups of which no element stays, first positions named.
  lines.padding = 0x44;
  lines.alignment = from.alignment;
  if (auto why = place(from, sizes, lines, lines.blocks, lines.from))
    return *why;
  if (auto why = place(to, sizes, lines, lines.blocks, lines.to))
    return *why;
  return lines;
}

/// Bytes that a thread has: 16 if the types tell that lines have whole ones.
static uint64_t bytesOfThread(const plan::Kernel &kernel, const Lines &lines) {
  for (const plan::Size &size : kernel.sizes)
    if (size.name == "K" && size.value)
      return lines.blocks % 16 == 0 ? 16 : 4;
  return 4;
}

/// Groups of threads that have 32 bytes of a line.
static uint64_t sectorsOf(const Lines &lines) {
  return (lines.to.paddedBlocks() + 31) / 32;
}

/// They are those of one line after those of another, before the next sector.
static uint64_t threadOfMetadata(const Lines &lines, uint64_t bytes,
                                 uint64_t line, uint64_t block) {
  uint64_t all = lines.to.paddedRows(), matrix = line / all;
  uint64_t sector = matrix * sectorsOf(lines) + block / 32;
  return (sector * all + line % all) * (32 / bytes) + block % 32 / bytes;
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

/// Adds memory to `run`; `ctaOf` is the CTA that writes a block of a line of
/// all lines of the result, with padding.
template <typename CtaOf>
static void add(const Lines &lines, uint64_t seed, bool isHarsh,
                WrittenRun &run, CtaOf ctaOf) {
  uint64_t width = lines.width;
  std::vector<uint8_t> codes(lines.batch * lines.rows * lines.blocks * width);
  for (uint64_t i = 0; i < codes.size(); ++i)
    codes[i] = uint8_t(mix(mix(seed) + i) >> 9);
  // Codes among bytes of all kinds.
  std::vector<uint8_t> memory(lines.batch * lines.from.matrixBytes() * width);
  for (uint64_t i = 0; i < memory.size(); ++i)
    memory[i] = uint8_t(mix(seed ^ i) >> 8);
  for (uint64_t i = 0; i < codes.size(); ++i) {
    uint64_t number = i / width, row = number / lines.blocks;
    uint64_t place = row / lines.rows * lines.from.matrixBytes() +
                     lines.from.byteOf(row % lines.rows, number % lines.blocks);
    memory[place * width + i % width] = codes[i];
  }
  putMemory(run.data, "a_" + lines.part, memory.data(), memory.size(),
            lines.alignment, isHarsh);
  WrittenBytes result("d_" + lines.part,
                      lines.batch * lines.to.matrixBytes() * width);
  putMemory(run.data, result.role, nullptr, result.bytes.size(),
            lines.alignment, isHarsh);
  uint64_t all = lines.to.paddedRows();
  for (uint64_t line = 0; line < lines.batch * all; ++line)
    for (uint64_t block = 0; block < lines.to.paddedBlocks(); ++block) {
      uint64_t matrix = line / all, row = line % all;
      bool isInside = row < lines.rows && block < lines.blocks * lines.times;
      uint64_t from = (matrix * lines.rows + row) * lines.blocks +
                      block / lines.times,
               to = matrix * lines.to.matrixBytes() +
                    lines.to.byteOf(row, block);
      for (uint64_t i = 0; i < width; ++i)
        result.expect(to * width + i,
                      isInside ? codes[from * width + i] : lines.padding,
                      ctaOf(line, block));
    }
  run.results.push_back(std::move(result));
}

static Reason ofKernel(const plan::Kernel &kernel, const Reason &why) {
  return Reason("kernel '" + kernel.name + "': " + why.text);
}

std::optional<Reason> verify::addMovedScales(const plan::Kernel &kernel,
                                             const plan::Environment &sizes,
                                             uint64_t seed, bool isHarsh,
                                             uint64_t firstCta,
                                             WrittenRun &run) {
  Result<Lines> lines = linesOfScales(kernel, sizes);
  if (!lines)
    return ofKernel(kernel, lines.why());
  add(*lines, seed, isHarsh, run, [&](uint64_t line, uint64_t block) {
    return firstCta +
           threadOfScale(*lines, line, block) / uint64_t(kernel.block[0]);
  });
  return std::nullopt;
}

/// The same of metadata; `firstCta` becomes that behind them.
static std::optional<Reason> addMovedMetadata(const plan::Kernel &kernel,
                                              const plan::Environment &sizes,
                                              uint64_t seed, bool isHarsh,
                                              uint64_t &firstCta,
                                              WrittenRun &run) {
  Result<Lines> lines = linesOfMetadata(kernel, sizes);
  if (!lines)
    return ofKernel(kernel, lines.why());
  uint64_t bytes = bytesOfThread(kernel, *lines);
  auto perCta = uint64_t(kernel.block[0]);
  add(*lines, seed, isHarsh, run, [&](uint64_t line, uint64_t block) {
    return firstCta + threadOfMetadata(*lines, bytes, line, block) / perCta;
  });
  uint64_t threads =
      lines->batch * sectorsOf(*lines) * lines->to.paddedRows() * (32 / bytes);
  firstCta += (threads + perCta - 1) / perCta;
  return std::nullopt;
}

/// Adds the zero points beside scales, in CTAs behind those that move these, a
/// thread each.
static std::optional<Reason> addMovedZeros(const plan::Kernel &kernel,
                                           const plan::Environment &sizes,
                                           uint64_t seed, bool isHarsh,
                                           uint64_t firstCta, WrittenRun &run) {
  Result<Lines> lines = linesOfScales(kernel, sizes);
  if (!lines)
    return ofKernel(kernel, lines.why());
  const plan::PlainOperand &from = kernel.operands[0], &to = kernel.operands[1];
  if (from.operand != "a_zeros" || to.operand != "d_zeros" ||
      from.type != to.type)
    return ofKernel(kernel, Reason("zero points '" + from.operand + "' and '" +
                                   to.operand + "'"));
  lines->part = "zeros";
  lines->width = plan::plainBytes(from.type);
  lines->alignment = from.alignment;
  auto perCta = uint64_t(kernel.block[0]);
  uint64_t words = (lines->to.paddedBlocks() + 3) / 4,
           threads = lines->batch * lines->to.paddedRows() * words;
  firstCta += (threads + perCta - 1) / perCta;
  add(*lines, mix(seed + 1), isHarsh, run, [&](uint64_t line, uint64_t block) {
    return firstCta + (line * words * 4 + block) / perCta;
  });
  return std::nullopt;
}

Result<RelayoutRun> RelayoutRun::make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes, DataKind,
                                      uint64_t seed, Conditions conditions) {
  RelayoutRun run;
  bool isHarsh = conditions == Conditions::Harsh;
  uint64_t cta = 0;
  std::optional<Reason> why;
  if (!kernel.data.empty())
    why = addTransposedElements(kernel, sizes, seed, isHarsh, cta, run);
  if (!why && !kernel.metadata.empty())
    why = addMovedMetadata(kernel, sizes, seed, isHarsh, cta, run);
  if (!why && !kernel.scales.empty())
    why = addMovedScales(kernel, sizes, seed, isHarsh, cta, run);
  if (!why && kernel.operands.size() == 2)
    why = addMovedZeros(kernel, sizes, seed, isHarsh, cta, run);
  if (why)
    return *why;
  if (run.results.empty())
    return Reason("kernel '" + kernel.name +
                  "': the plan says of no part that it moves");
  return run;
}
