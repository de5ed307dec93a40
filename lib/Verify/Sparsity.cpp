//===- Sparsity.cpp - check kernels that compress and densify -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Sparsity.h"
#include "QuantizedMemory.h"
#include "WrittenBytes.h"

using namespace blockscale;
using namespace blockscale::verify;

namespace {

/// Lines of codes in memory.
struct Lines {
  uint64_t pitch, batchPitch;
  std::vector<uint8_t> memory;
};

/// Every step returns what is wrong, or nothing.
class Maker {
public:
  Maker(const plan::Kernel &kernel, const plan::Environment &sizes,
        uint64_t seed, Conditions conditions)
      : kernel(kernel), sizes(sizes), seed(seed),
        isHarsh(conditions == Conditions::Harsh) {}

  std::optional<Reason> fill();

  SparsityRun run;

private:
  std::optional<Reason> readPlan();
  std::optional<Reason> addLines(const plan::DataPacking &data, Lines &lines);
  std::vector<bool> drawUsed(uint64_t chunk) const;
  uint32_t drawCode(uint64_t number, bool isUsed) const;
  void addChunk(uint64_t row, uint64_t chunk);
  void put(const std::string &role, const std::vector<uint8_t> *memory,
           uint64_t size) {
    putMemory(run.data, role, memory ? memory->data() : nullptr, size,
              kAlignment, isHarsh);
  }
  void expectLines(const std::string &role, const Lines &lines,
                   uint64_t elementsOfPiece);
  void expectMetadata();
  uint64_t padded() const { return (rows + 127) / 128 * 128; }
  uint64_t tiles() const { return (k / perByte + 15) / 16; }
  /// The CTA whose thread has a byte of metadata: one has four, in the order of
  /// tiles.
  uint64_t ctaOf(uint64_t byteOfTiles) const {
    return byteOfTiles / 4 / uint64_t(kernel.block[0]);
  }
  /// Tiles of 128 rows by 16 bytes, first along the rows (PTX ISA, layout of
  /// sparse metadata).
  uint64_t byteOfTiles(uint64_t row, uint64_t byte) const {
    uint64_t matrix = row / rows, r = row % rows;
    return ((matrix * tiles() + byte / 16) * padded() + r) * 16 + byte % 16;
  }
  uint64_t bytesOfTiles() const { return batch * tiles() * padded() * 16; }
  /// Without tiles there is a row after each row, and no padding.
  uint64_t metadataByte(uint64_t row, uint64_t byte) const {
    return isTiled ? byteOfTiles(row, byte) : row * (k / perByte) + byte;
  }

  static constexpr uint64_t kAlignment = 16;
  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  uint64_t seed;
  bool isHarsh;

  bool compresses = false, isInteger = false, isTiled = true;
  uint64_t batch = 1, rows = 0, k = 0, bits = 8, perByte = 8;
  /// Elements of a chunk, of a unit, units that are stored.
  uint64_t chunkSize = 4, unit = 1, kept = 2;
  /// What is read and what comes out.
  Lines before, behind;
  /// Elements with zeros as the kernel reads or writes them, without, and the
  /// bytes of metadata with padding.
  Lines *dense = nullptr, *sparse = nullptr;
  std::vector<uint8_t> metadata;
};

} // namespace

static void putBits(std::vector<uint8_t> &memory, uint64_t first, uint64_t bits,
                    uint32_t code) {
  for (uint64_t i = 0; i < bits; ++i) {
    uint8_t one = uint8_t(1 << (first + i) % 8);
    uint8_t &byte = memory[(first + i) / 8];
    byte = code >> i & 1 ? byte | one : byte & ~one;
  }
}

std::optional<Reason> Maker::readPlan() {
  compresses = kernel.conversion->op == "compress";
  if (kernel.data.size() != 2 || kernel.metadata.size() != 1 ||
      kernel.metadata[0].operand != (compresses ? "d" : "a"))
    return Reason("a kernel that " + kernel.conversion->op +
                  "s has 'data' of 'a' and of 'd' and one 'metadata'");
  const plan::MetadataPacking &packing = kernel.metadata[0];
  if (packing.pattern == "4:8 in pairs") {
    chunkSize = 8;
    unit = 2;
  } else if (packing.pattern == "1:2") {
    chunkSize = 2;
    kept = 1;
  } else if (packing.pattern != "2:4") {
    return "a pattern '" + packing.pattern + "'";
  }
  isTiled = packing.layout == "tiled_128x16";
  if (!isTiled && packing.layout != "plain")
    return "metadata in layout '" + packing.layout + "'";
  perByte = 2 * chunkSize;
  batch = uint64_t(sizes.at("batch"));
  rows = uint64_t(sizes.at("M"));
  k = uint64_t(sizes.at("K"));
  bits = kernel.data[0].bits;
  const std::string &format = kernel.data[0].format;
  isInteger = format == "int8" || format == "uint8";
  if (k % (4 * perByte) != 0)
    return "K = " + std::to_string(k) + " is not whole words of metadata";
  Result<uint64_t> bytes = evaluateSize(packing.bytes, sizes);
  if (!bytes)
    return bytes.why();
  metadata.assign(isTiled ? bytesOfTiles() : batch * rows * (k / perByte),
                  0x44);
  if (metadata.size() != *bytes)
    return "the plan has " + std::to_string(*bytes) +
           " bytes for the metadata, but " + std::to_string(metadata.size()) +
           " are right";
  return std::nullopt;
}

std::optional<Reason> Maker::addLines(const plan::DataPacking &data,
                                      Lines &lines) {
  Result<uint64_t> line = evaluateSize(data.linePitch, sizes),
                   matrix = evaluateSize(data.batchPitch, sizes),
                   elements = evaluateSize(data.elements, sizes);
  for (const Result<uint64_t> *one : {&line, &matrix, &elements})
    if (!*one)
      return one->why();
  bool isDense = (data.operand == "a") == compresses;
  if (*elements != (isDense ? k : k / 2) || *elements * bits > *line * 8 ||
      rows * *line > *matrix)
    return "the plan has " + std::to_string(*elements) + " elements in " +
           std::to_string(*line) + " bytes for '" + data.operand + "'";
  lines = {*line, *matrix, std::vector<uint8_t>(batch * *matrix)};
  for (uint64_t i = 0; i < lines.memory.size(); ++i)
    lines.memory[i] = uint8_t(mix(seed ^ i) >> 8);
  (isDense ? dense : sparse) = &lines;
  return std::nullopt;
}

/// Which units of a chunk are in use: every choice that the pattern allows
/// comes up.
std::vector<bool> Maker::drawUsed(uint64_t chunk) const {
  uint64_t units = chunkSize / unit, random = mix(mix(seed + 2) + chunk);
  std::vector<bool> used(units);
  for (uint64_t i = 0; i < kept && (random >> (40 + i) & 7); ++i)
    used[(random >> 8 * i) % units] = true;
  return used;
}

/// A code that is zero if it is not in use, of a float with any sign.
uint32_t Maker::drawCode(uint64_t number, bool isUsed) const {
  uint64_t random = mix(mix(seed + 3) + number);
  uint32_t sign = uint32_t(1) << (bits - 1);
  uint32_t all = sign | (sign - 1), code = uint32_t(random >> 5) & all;
  if (!isUsed)
    return isInteger ? 0 : code & sign;
  // The smallest ones, too.
  if (random >> 60 == 0)
    code = (code & sign) | 1;
  bool isZero = isInteger ? code == 0 : (code & (sign - 1)) == 0;
  return isZero ? code | 1 : code;
}

/// Draws a chunk and puts it everywhere.
void Maker::addChunk(uint64_t row, uint64_t chunk) {
  uint64_t number = row * (k / chunkSize) + chunk;
  std::vector<bool> used = drawUsed(number);
  unsigned nibble =
      kept == 1 ? reference::nibbleOfTwo(used) : reference::nibbleOfFour(used);
  std::vector<uint64_t> places{nibble & 3u, nibble >> 2};
  if (kept == 1)
    places = {nibble == 0b1110 ? 1u : 0u};
  auto lineOf = [&](const Lines &lines) {
    return row / rows * lines.batchPitch + row % rows * lines.pitch;
  };
  for (uint64_t i = 0; i < chunkSize; ++i) {
    // One of a pair may be zero where the pair is not.
    uint64_t element = number * chunkSize + i;
    bool isAlone = unit == 2 && (mix(element / 2) & 7) == 0;
    bool isZero =
        !used[i / unit] || (isAlone && i % 2 == (mix(element / 2) >> 9 & 1));
    uint32_t code = drawCode(element, !isZero);
    uint32_t stored = used[i / unit] ? code : 0;
    putBits(dense->memory, lineOf(*dense) * 8 + (chunk * chunkSize + i) * bits,
            bits, compresses ? code : stored);
    for (uint64_t place = 0; place < places.size(); ++place)
      if (places[place] == i / unit)
        putBits(sparse->memory,
                lineOf(*sparse) * 8 +
                    (chunk * chunkSize / 2 + place * unit + i % unit) * bits,
                bits, stored);
  }
  uint8_t &byte = metadata[metadataByte(row, chunk / 2)];
  unsigned shift = chunk % 2 * 4;
  byte = uint8_t((byte & ~(0xf << shift)) | nibble << shift);
}

/// The lines of a result, of which each thread writes whole bytes.
void Maker::expectLines(const std::string &role, const Lines &lines,
                        uint64_t elementsOfPiece) {
  WrittenBytes result(role, lines.memory.size());
  uint64_t pieces = k / (4 * perByte), bytes = elementsOfPiece * bits / 8;
  for (uint64_t row = 0; row < batch * rows; ++row)
    for (uint64_t piece = 0; piece < pieces; ++piece)
      for (uint64_t i = 0; i < bytes; ++i) {
        uint64_t byte = row / rows * lines.batchPitch +
                        row % rows * lines.pitch + piece * bytes + i;
        result.expect(byte, lines.memory[byte],
                      ctaOf(byteOfTiles(row, piece * 4)));
      }
  run.results.push_back(std::move(result));
}

void Maker::expectMetadata() {
  WrittenBytes result("d_metadata", metadata.size());
  for (uint64_t byte = 0; isTiled && byte < metadata.size(); ++byte)
    result.expect(byte, metadata[byte], ctaOf(byte));
  for (uint64_t row = 0; !isTiled && row < batch * rows; ++row)
    for (uint64_t i = 0; i < k / perByte; ++i) {
      uint64_t byte = metadataByte(row, i);
      result.expect(byte, metadata[byte], ctaOf(byteOfTiles(row, i)));
    }
  run.results.push_back(std::move(result));
}

std::optional<Reason> Maker::fill() {
  std::optional<Reason> why = readPlan();
  if (!why)
    why = addLines(kernel.data[0], before);
  if (!why)
    why = addLines(kernel.data[1], behind);
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  for (uint64_t row = 0; row < batch * rows; ++row)
    for (uint64_t chunk = 0; chunk < k / chunkSize; ++chunk)
      addChunk(row, chunk);
  put("a_data", &before.memory, before.memory.size());
  put("d_data", nullptr, behind.memory.size());
  put(compresses ? "d_metadata" : "a_metadata",
      compresses ? nullptr : &metadata, metadata.size());
  expectLines("d_data", behind, compresses ? 2 * perByte : 4 * perByte);
  if (compresses)
    expectMetadata();
  if (!kernel.vectorScales.empty())
    return addRepeatedScales(kernel, sizes, seed, isHarsh,
                             ctaOf(bytesOfTiles()), run);
  if (kernel.scales.empty())
    return std::nullopt;
  return addMovedScales(kernel, sizes, seed, isHarsh, ctaOf(bytesOfTiles()),
                        run);
}

Result<SparsityRun> SparsityRun::make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes, DataKind,
                                      uint64_t seed, Conditions conditions) {
  Maker maker(kernel, sizes, seed, conditions);
  if (std::optional<Reason> why = maker.fill())
    return *why;
  return std::move(maker.run);
}
