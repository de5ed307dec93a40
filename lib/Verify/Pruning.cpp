//===- Pruning.cpp - check a kernel that prunes ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedMemory.h"
#include "WrittenBytes.h"
#include "blockscale/Reference/Sparsity.h"

#include <cmath>

using namespace blockscale;
using namespace blockscale::verify;

namespace {
/// Numbers of 16 or 32 bits, by their codes.
struct Numbers {
  std::optional<ElementFormat> format;

  unsigned bits() const { return format ? 16 : 32; }
  uint32_t sign() const { return uint32_t(1) << (bits() - 1); }
  uint32_t infinity() const {
    return format == ElementFormat::F16    ? 0x7c00
           : format == ElementFormat::BF16 ? 0x7f80
                                           : 0x7f800000;
  }
  uint32_t one() const {
    return format == ElementFormat::F16    ? 0x3c00
           : format == ElementFormat::BF16 ? 0x3f80
                                           : 0x3f800000;
  }
  float valueOf(uint32_t code) const {
    float value = 0;
    if (format)
      return decode(*format, code);
    std::memcpy(&value, &code, sizeof value);
    return value;
  }
};
} // namespace

/// Zeros, NaNs and infinities of both signs, the magnitudes of the neighbour
/// and of the one but next again, and others.
static uint32_t codeOf(const Numbers &numbers,
                       const std::vector<uint32_t> &before, uint64_t random,
                       DataKind kind) {
  uint32_t sign = random >> 40 & 1 ? numbers.sign() : 0;
  uint32_t magnitude = uint32_t(random >> 3) & (numbers.sign() - 1);
  switch (random >> 50 & 15) {
  case 0:
    return sign;
  case 1:
    return sign | numbers.infinity();
  case 2:
    return sign | numbers.infinity() | (magnitude & 0x7f) | 1;
  case 3:
  case 4:
    return before.empty() ? sign : before.back() ^ sign;
  case 5:
  case 6:
    return before.size() < 2 ? sign : before[before.size() - 2] ^ sign;
  default:
    break;
  }
  // Near 1 in few steps, or anything.
  if (kind == DataKind::Exact)
    magnitude = numbers.one() + (magnitude & 7);
  return sign | magnitude;
}

static void putCode(std::vector<uint8_t> &memory, uint64_t number,
                    unsigned bytes, uint32_t code) {
  for (unsigned i = 0; i < bytes; ++i)
    memory[number * bytes + i] = uint8_t(code >> 8 * i);
}

Result<PruningRun> PruningRun::make(const plan::Kernel &kernel,
                                    const plan::Environment &sizes,
                                    DataKind kind, uint64_t seed,
                                    Conditions conditions) {
  const plan::Conversion &what = *kernel.conversion;
  const std::string in = "kernel '" + kernel.name + "': ";
  if (kernel.operands.size() != 2 || kernel.operands[0].operand != "x" ||
      kernel.operands[1].operand != "d")
    return Reason(in + "one that prunes has 'operands' 'x' and 'd'");
  const std::string &type = kernel.operands[0].type;
  Numbers numbers{parseFormat(type)};
  if (type != "f32" && numbers.format != ElementFormat::BF16 &&
      numbers.format != ElementFormat::F16)
    return Reason(in + "numbers of type '" + type + "'");
  uint64_t count = uint64_t(sizes.at("batch")) * uint64_t(sizes.at("M")) *
                   uint64_t(sizes.at("K"));
  uint64_t group = what.group;
  if (!group || what.keep >= group || uint64_t(sizes.at("K")) % group != 0)
    return Reason(in + std::to_string(what.keep) + " of " +
                  std::to_string(group) +
                  " elements, K = " + std::to_string(sizes.at("K")));
  unsigned bytes = numbers.bits() / 8;
  std::vector<uint32_t> codes;
  std::vector<uint8_t> memory(count * bytes);
  for (uint64_t i = 0; i < count; ++i) {
    codes.push_back(codeOf(numbers, codes, mix(mix(seed) + i), kind));
    putCode(memory, i, bytes, codes.back());
  }
  PruningRun run;
  bool isHarsh = conditions == Conditions::Harsh;
  putMemory(run.data, "x", memory.data(), memory.size(),
            kernel.operands[0].alignment, isHarsh);
  putMemory(run.data, "d", nullptr, memory.size(), kernel.operands[1].alignment,
            isHarsh);
  WrittenBytes result("d", memory.size());
  // A thread has 32 bytes, or a group if that is more.
  uint64_t elementsOfCta =
      std::max<uint64_t>(32 / bytes, group) * uint64_t(kernel.block[0]);
  for (uint64_t first = 0; first < count; first += group) {
    std::vector<float> values;
    for (uint64_t i = 0; i < group; ++i)
      values.push_back(numbers.valueOf(codes[first + i]));
    std::vector<bool> stays = reference::staying(values, what.keep, what.pairs);
    for (uint64_t i = first; i < first + group; ++i)
      for (uint64_t byte = i * bytes; byte < (i + 1) * bytes; ++byte)
        result.expect(byte, stays[i - first] ? memory[byte] : 0,
                      i / elementsOfCta);
  }
  run.results.push_back(std::move(result));
  return run;
}
