//===- WrittenBytes.cpp - check what a kernel stores, byte by byte --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrittenBytes.h"
#include "QuantizedMemory.h"

using namespace blockscale;
using namespace blockscale::verify;

static void compareOne(const HostData &data, const WrittenBytes &result,
                       const std::vector<uint64_t> &sample, Verdict &verdict) {
  MemoryImage image(data, result.role);
  for (uint64_t byte = 0; byte < result.bytes.size(); ++byte) {
    uint64_t writer = result.writers[byte];
    if (writer == WrittenBytes::kNobody ||
        (!sample.empty() &&
         !std::binary_search(sample.begin(), sample.end(), writer)))
      continue;
    uint8_t expected = result.bytes[byte], found = image.found(byte);
    *image.at(byte) = expected;
    ++verdict.comparison.compared;
    if (found != expected && verdict.diagnosis.empty())
      verdict.diagnosis = "byte " + std::to_string(byte) + " of '" +
                          result.role + "': expected " + hex(expected) +
                          ", found " + hex(found);
  }
  uint64_t wrong = image.differences();
  verdict.comparison.mismatches += wrong;
  if (wrong && verdict.diagnosis.empty())
    verdict.diagnosis = "bytes of '" + result.role +
                        "' that are nobody's, or of what was not run, were "
                        "written";
}

void WrittenRun::compare(const std::vector<uint64_t> &sample,
                         Verdict &verdict) const {
  for (const WrittenBytes &result : results)
    compareOne(data, result, sample, verdict);
}
