//===- RepeatedScales.cpp - check scales of shorter tiles -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedMemory.h"
#include "WrittenBytes.h"
#include "blockscale/Plan/Sizes.h"

using namespace blockscale;
using namespace blockscale::verify;

/// Why the plan does not have `right` numbers; empty if it does.
static std::optional<Reason> whyNotCount(const plan::VectorScales &scales,
                                         const plan::Environment &sizes,
                                         uint64_t right) {
  Result<uint64_t> count = evaluateSize(scales.elements, sizes);
  if (!count)
    return count.why();
  if (*count == right)
    return std::nullopt;
  return "the plan has " + std::to_string(*count) + " scales of '" +
         scales.operand + "', but " + std::to_string(right) + " are right";
}

std::optional<Reason> verify::addRepeatedScales(const plan::Kernel &kernel,
                                                const plan::Environment &sizes,
                                                uint64_t seed, bool isHarsh,
                                                uint64_t firstCta,
                                                WrittenRun &run) {
  if (kernel.vectorScales.size() != 2 || kernel.vectorScales[0].operand != "a")
    return Reason("a kernel that repeats scales has 'vectorScales' of 'a' and "
                  "of 'd'");
  const plan::VectorScales &from = kernel.vectorScales[0],
                           &to = kernel.vectorScales[1];
  uint64_t k = uint64_t(sizes.at("K")), m = uint64_t(sizes.at("M"));
  uint64_t width = plan::plainBytes(from.format);
  if (from.format != to.format || from.rows != to.rows || !width || !to.block ||
      from.block % to.block != 0 || !from.block || k % from.block != 0)
    return Reason("scales of 'd' that are not those of 'a' for shorter tiles");
  uint64_t rows = from.rows ? (m + from.rows - 1) / from.rows : 1;
  uint64_t lines = rows * uint64_t(sizes.at("batch"));
  uint64_t before = k / from.block, behind = k / to.block;
  for (auto [scales, count] : {std::pair(&from, before), {&to, behind}})
    if (auto why = whyNotCount(*scales, sizes, lines * count))
      return why;
  std::vector<uint8_t> codes(lines * before * width);
  for (uint64_t i = 0; i < codes.size(); ++i)
    codes[i] = uint8_t(mix(mix(seed) + i) >> 9);
  putMemory(run.data, "a_scales", codes.data(), codes.size(), from.alignment,
            isHarsh);
  WrittenBytes result("d_scales", lines * behind * width);
  putMemory(run.data, "d_scales", nullptr, result.bytes.size(), to.alignment,
            isHarsh);
  for (uint64_t i = 0; i < lines * behind; ++i) {
    uint64_t source = i / behind * before + i % behind * before / behind;
    for (uint64_t byte = 0; byte < width; ++byte)
      result.expect(i * width + byte, codes[source * width + byte],
                    firstCta + i / uint64_t(kernel.block[0]));
  }
  run.results.push_back(std::move(result));
  return std::nullopt;
}
