//===- Transposition.cpp - check a kernel that changes orders -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedMemory.h"
#include "WrittenBytes.h"

using namespace blockscale;
using namespace blockscale::verify;

namespace {
/// Elements of a byte in memory.
struct Matrices {
  uint64_t lines = 0, elements = 0, pitch = 0, batchPitch = 0;
};
} // namespace

static Result<Matrices> matricesOf(const plan::DataPacking &data,
                                   const plan::Environment &sizes) {
  Matrices result;
  for (auto [text, size] : {std::pair(&data.lines, &result.lines),
                            {&data.elements, &result.elements},
                            {&data.linePitch, &result.pitch},
                            {&data.batchPitch, &result.batchPitch}}) {
    Result<uint64_t> value = evaluateSize(*text, sizes);
    if (!value)
      return value.why();
    *size = *value;
  }
  // Threads have 16 bytes of a line.
  bool isRight = data.bits == 8 && result.pitch % 16 == 0 &&
                 result.pitch >= result.elements &&
                 result.batchPitch >= result.lines * result.pitch;
  if (isRight)
    return result;
  return Reason("the plan has " + std::to_string(result.elements) +
                " elements in " + std::to_string(result.pitch) +
                " bytes for '" + data.operand + "'");
}

std::optional<Reason> verify::addTransposedElements(
    const plan::Kernel &kernel, const plan::Environment &sizes, uint64_t seed,
    bool isHarsh, uint64_t &firstCta, WrittenRun &run) {
  std::string inKernel = "kernel '" + kernel.name + "': ";
  if (kernel.data.size() != 2 || kernel.data[0].operand != "a" ||
      kernel.data[1].operand != "d" ||
      kernel.data[0].order == kernel.data[1].order)
    return Reason(inKernel + "a kernel that changes the order of elements has "
                             "'data' of 'a' in one and of 'd' in the other");
  Result<Matrices> from = matricesOf(kernel.data[0], sizes),
                   to = matricesOf(kernel.data[1], sizes);
  for (const Result<Matrices> *one : {&from, &to})
    if (!*one)
      return Reason(inKernel + one->why().text);
  auto m = uint64_t(sizes.at("M")), batch = uint64_t(sizes.at("batch"));
  bool isAlongK = kernel.data[0].order == "k_major";
  if (from->lines != to->elements || from->elements != to->lines ||
      (isAlongK ? from->lines : from->elements) != m)
    return Reason(inKernel + "lines of 'd' that are not as many as elements "
                             "of lines of 'a'");
  std::vector<uint8_t> memory(batch * from->batchPitch);
  for (uint64_t i = 0; i < memory.size(); ++i)
    memory[i] = uint8_t(mix(mix(seed + 1) + i) >> 9);
  putMemory(run.data, "a_data", memory.data(), memory.size(),
            kernel.data[0].alignment, isHarsh);
  WrittenBytes result("d_data", batch * to->batchPitch);
  putMemory(run.data, "d_data", nullptr, result.bytes.size(),
            kernel.data[1].alignment, isHarsh);
  // A CTA has 128 bytes of 256 lines; what it writes ends with whole 16 bytes.
  uint64_t along = (from->elements + 127) / 128,
           across = (from->lines + 255) / 256;
  for (uint64_t matrix = 0; matrix < batch; ++matrix)
    for (uint64_t line = 0; line < to->lines; ++line)
      for (uint64_t i = 0; i < (to->elements + 15) / 16 * 16; ++i) {
        uint64_t source = matrix * from->batchPitch + i * from->pitch + line;
        result.expect(matrix * to->batchPitch + line * to->pitch + i,
                      i < to->elements ? memory[source] : 0,
                      firstCta + (matrix * across + i / 256) * along +
                          line / 128);
      }
  firstCta += batch * across * along;
  run.results.push_back(std::move(result));
  return std::nullopt;
}
