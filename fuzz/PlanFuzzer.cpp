//===- PlanFuzzer.cpp - hostile launch plans ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whatever comes and evaluates its formulas. What is read is printed, and
// read again and printed the same.
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Plan/Plan.h"

#include <cstdlib>

using namespace blockscale;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  fuzz::Random random(seed);
  if (random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data), size);
  fuzz::changeText(random, text);
  return fuzz::store(text, data, maxSize);
}

static void evaluateAll(const plan::Kernel &kernel) {
  const plan::Environment sizes = {
      {"M", 129}, {"N", 264}, {"K", 1056}, {"batch", 3}, {"num_sms", 148}};
  for (const std::string &extent : kernel.grid)
    (void)plan::evaluate(extent, sizes);
  for (const plan::DataPacking &data : kernel.data)
    for (const std::string &text :
         {data.lines, data.elements, data.linePitch, data.batchPitch})
      (void)plan::evaluate(text, sizes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto read = plan::parsePlan({reinterpret_cast<const char *>(data), size});
  if (!read)
    return 0;
  for (const plan::Kernel &kernel : read->kernels)
    evaluateAll(kernel);
  std::string text = plan::printPlan(*read);
  auto again = plan::parsePlan(text);
  if (!again || plan::printPlan(*again) != text)
    std::abort();
  return 0;
}
